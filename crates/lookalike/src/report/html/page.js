"use strict";
// Lists, searches and sorts the groups. The page contains their data in pieces. Each piece has a
// script `facts` with six numbers per group, and scripts `ids` and `rest` with a line per group.
(() => {
  /** @param {string} selector */
  const all = (selector) => Array.from(document.querySelectorAll(selector));
  /**
   * @template {HTMLElement} [E=HTMLElement]
   * @param {string} id
   * @param {{new (): E}} [kind]
   * @returns {E}
   */
  const at = (id, kind) => {
    const element = document.getElementById(id);
    if (element instanceof (kind ?? HTMLElement)) return /** @type {E} */ (element);
    throw new Error(`the page has no element ${id}`);
  };
  // A link to a folded section unfolds the section.
  const unfold = () => {
    const named = document.getElementById(location.hash.slice(1));
    /** @type {HTMLDetailsElement|null|undefined} */
    const folded = named?.querySelector(":scope > .folded");
    if (folded) folded.open = true;
  };
  addEventListener("hashchange", unfold);
  unfold();
  if (!document.getElementById("controls")) return;
  const controls = at("controls");
  const list = at("list");
  const pageControls = at("pages");
  const queryField = at("query", HTMLInputElement);
  const orderField = at("order", HTMLSelectElement);

  const PAGE = 50;
  const MORE = 500;
  const FIRST = 100;
  const SLICE = 10;
  const SHORT = 160;
  const FACTS = 6;
  const SIZE = 0;
  const LEAST = 1;
  const MOST = 2;
  const GOES = 3;
  const BYTES = 4;
  const REFERENCE = 5;
  /** @param {Element} script */
  const parsed = (script) => JSON.parse(script.textContent ?? "");
  /** @type {number[][]} */
  const facts = all("script.facts").map(parsed);
  const elements = { ids: all("script.ids"), rest: all("script.rest") };
  /** @type {string[]} */
  const reasons = parsed(at("reasons"));
  /**
   * Heading, source, date and file of the documents of the largest groups. The keeper is first.
   * @type {string[][][]}
   */
  const about = parsed(at("about"));
  // Two texts side by side for some of these groups, shown when the user opens the group.
  const sides = all("#list > li").map((li) => li.querySelector(".pair"));
  // The first group of each piece, then the number of groups.
  const starts = [0];
  for (const piece of facts) starts.push(starts[starts.length - 1] + piece.length / FACTS);
  const count = starts[starts.length - 1];

  const number = new Intl.NumberFormat("en-US");
  /** @type {(n: number, noun: string) => string} */
  const counted = (n, noun) => `${number.format(n)} ${noun}${n === 1 ? "" : "s"}`;
  /** @param {number} millionths */
  const six = (millionths) => (millionths / 1e6).toFixed(6);
  /**
   * Rounds down, so that only a similarity of 1 becomes 1.000.
   * @param {number} millionths
   */
  const three = (millionths) => (Math.floor(millionths / 1e3) / 1e3).toFixed(3);
  /** @param {number} group */
  const pieceOf = (group) => {
    let low = 0;
    let high = starts.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= group) low = middle;
      else high = middle;
    }
    return low;
  };
  /** @type {(group: number, which: number) => number} */
  const fact = (group, which) => {
    const piece = pieceOf(group);
    return facts[piece][(group - starts[piece]) * FACTS + which];
  };

  /**
   * The lines of pieces. Keeps the lines of the pieces that were split last.
   * @type {Map<string, string[]>}
   */
  const texts = new Map();
  /** @type {(kind: "ids"|"rest", piece: number) => string[]} */
  const lines = (kind, piece) => {
    const key = kind + piece;
    let found = texts.get(key);
    if (!found) {
      found = (elements[kind][piece].textContent ?? "").split("\n");
      const [oldest] = texts.keys();
      if (texts.size > 16) texts.delete(oldest);
      texts.set(key, found);
    }
    return found;
  };
  /** @type {(kind: "ids"|"rest", group: number) => any} */
  const line = (kind, group) => {
    const piece = pieceOf(group);
    // The first line of a piece opens the JSON list.
    return JSON.parse(lines(kind, piece)[group - starts[piece] + 1].replace(/,$/, ""));
  };

  // Characters that are shown as escapes, as in the Rust code.
  const HIDDEN = new RegExp(
    "[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b\\u200e\\u200f" +
      "\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u2069\\ufeff]",
    "g",
  );
  /** @type {Record<string, string>} */
  const NAMES = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  /** @param {string} text */
  const visible = (text) =>
    text.replace(HIDDEN, (c) => NAMES[c] || `\\u{${c.charCodeAt(0).toString(16)}}`);
  /**
   * @template {keyof HTMLElementTagNameMap} Tag
   * @param {Tag} tag
   * @param {string} [name]
   * @param {string} [text]
   */
  const make = (tag, name, text) => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
  };
  /**
   * An id with marks around the searched text. An id longer than `limit` is cut; 0 means no limit.
   * @type {(id: string, name: string, query: string, limit: number) => HTMLElement}
   */
  const idElement = (id, name, query, limit) => {
    const element = make("bdi", name);
    const low = id.toLowerCase();
    // If lower case changes the length, positions in it do not fit the id.
    let place = query && low.length === id.length ? low.indexOf(query) : -1;
    let from = 0;
    let to = id.length;
    if (limit && id.length > limit) {
      from = Math.max(0, Math.min(place - 40, to - limit));
      to = from + limit;
    }
    if (from > 0) element.append("…");
    let position = from;
    while (place >= 0 && place < to) {
      const end = Math.min(place + query.length, to);
      element.append(
        visible(id.slice(position, place)),
        make("mark", "", visible(id.slice(place, end))),
      );
      position = end;
      place = low.indexOf(query, end);
    }
    element.append(visible(id.slice(position, to)));
    if (to < id.length) element.append("…");
    return element;
  };
  /**
   * A document by its heading, with its id, source and date below; by its id alone if nothing else
   * is known. With `link`, the id is a link to the file.
   * @type {(group: number, place: number, id: HTMLElement, link?: boolean) => HTMLElement[]}
   */
  const named = (group, place, id, link) => {
    const found = (about[group] || [])[place];
    if (!found) return [id];
    const below = make("span", "about");
    const file = found[3];
    if (link && file) {
      const anchor = make("a");
      anchor.href = file;
      anchor.append(id);
      below.append(anchor);
    } else {
      below.append(id);
    }
    for (const part of found.slice(1, 3)) {
      if (part) below.append(" · ", make("bdi", "", visible(part)));
    }
    return [make("bdi", "heading", visible(found[0])), below];
  };
  /** @type {(least: number, most: number) => HTMLElement} */
  const spread = (least, most) => {
    const from = three(least);
    const to = three(most);
    const data = make("data", "", from === to ? from : `${from} to ${to}`);
    data.value = six(least);
    data.title = most > least ? `${six(least)} to ${six(most)}` : six(least);
    return data;
  };
  /** @param {number} millionths */
  const bar = (millionths) => {
    const ns = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(ns, "svg");
    svg.setAttribute("class", "bar");
    svg.setAttribute("viewBox", "0 0 100 8");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("aria-hidden", "true");
    for (const width of [100, millionths / 1e4]) {
      const rect = document.createElementNS(ns, "rect");
      rect.setAttribute("width", String(width));
      rect.setAttribute("height", "8");
      svg.append(rect);
    }
    svg.firstElementChild?.setAttribute("class", "rest");
    return svg;
  };
  /** @param {number} bytes */
  const size = (bytes) => {
    if (bytes < 1000) return counted(bytes, "byte");
    let value = bytes / 1000;
    let unit = 0;
    const units = ["kilobytes", "megabytes", "gigabytes", "terabytes", "petabytes"];
    while (value >= 999.5 && unit < 4) {
      value /= 1000;
      unit += 1;
    }
    return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${units[unit]}`;
  };

  /**
   * The groups that a search has found so far: as a list in the order of their numbers, and as a
   * set. `sorted` contains the first `length` of them, sorted by `order`.
   * @typedef {{list: number[], set: Uint8Array, order?: string, length?: number,
   *   sorted?: Uint32Array}} Found
   */

  // The state of the list: the query, the order, the found groups (null for all), and the page.
  let query = "";
  let order = "number";
  /** @type {Found|null} */
  let found = null;
  let page = 0;
  let searching = 0;

  /** @type {(row: HTMLElement, name: string, ...content: (Node|string)[]) => void} */
  const cell = (row, name, ...content) => {
    const td = make("td", name);
    td.append(...content);
    row.append(td);
  };
  /** @param {number[]} rest */
  const why = (rest) => {
    const counts = reasons.map((text) => ({ text, n: 0 }));
    for (let i = 2; i < rest.length; i += 3) if (counts[rest[i]]) counts[rest[i]].n += 1;
    const used = counts.filter(({ n }) => n > 0).sort((a, b) => b.n - a.n);
    if (used.length === 1) return used[0].text;
    return used.map(({ text, n }) => `${text} (${number.format(n)})`).join(", ");
  };
  /**
   * @param {HTMLElement} body
   * @param {number} group
   * @param {string[]} ids
   * @param {number[]} rest similarity, bytes and reason of each duplicate
   * @param {number[]} places the duplicates to add
   * @param {string} filter
   */
  const members = (body, group, ids, rest, places, filter) => {
    const rows = document.createDocumentFragment();
    for (const place of places) {
      const row = make("tr");
      const similarity = rest[place * 3];
      cell(row, "", ...named(group, place + 1, idElement(ids[place + 1], "full", filter, 0), true));
      cell(row, "similarity", spread(similarity, similarity), " ", bar(similarity));
      cell(row, "num", number.format(rest[place * 3 + 1]));
      cell(row, "", visible(reasons[rest[place * 3 + 2]] || ""));
      rows.append(row);
    }
    body.append(rows);
  };
  /** @type {(details: HTMLElement, group: number, filter: string) => void} */
  const open = (details, group, filter) => {
    /** @type {string[]} */
    const ids = line("ids", group);
    /** @type {number[]} */
    const rest = line("rest", group);
    const box = make("div", "opened");
    const kept = make("p", "kept");
    const full = idElement(ids[0], "full", filter, 0);
    full.tabIndex = 0;
    kept.append(
      make("span", "tag", "Kept"),
      " ",
      ...named(group, 0, full, true),
      " ",
      make("span", "bytes", size(fact(group, BYTES))),
    );
    if (fact(group, REFERENCE)) kept.append(" ", make("span", "tag", "Reference"));
    box.append(kept);
    const reason = why(rest);
    if (reason) box.append(make("p", "why", `Why it is kept: ${visible(reason)}`));
    const table = make("table", "members");
    const head = make("tr");
    const body = make("tbody");
    for (const name of ["Duplicate", "Similarity", "Bytes", "Why the other is kept"]) {
      const th = make("th", name === "Bytes" ? "num" : "", name);
      th.scope = "col";
      head.append(th);
    }
    const heads = make("thead");
    heads.append(head);
    table.append(heads, body);
    box.append(table);
    // Ids that contain the searched text come first.
    let places = Array.from({ length: ids.length - 1 }, (_, i) => i);
    if (filter) {
      /** @param {number} place */
      const hit = (place) => ids[place + 1].toLowerCase().includes(filter);
      places = places.filter(hit).concat(places.filter((place) => !hit(place)));
    }
    let listed = FIRST;
    members(body, group, ids, rest, places.slice(0, listed), filter);
    if (listed < places.length) {
      const more = make("button", "");
      more.type = "button";
      const name = () => {
        const remaining = places.length - listed;
        const next = number.format(Math.min(MORE, remaining));
        more.textContent = `Show ${next} of ${counted(remaining, "further duplicate")}`;
      };
      name();
      more.addEventListener("click", () => {
        members(body, group, ids, rest, places.slice(listed, listed + MORE), filter);
        listed += MORE;
        if (listed < places.length) name();
        else more.remove();
      });
      box.append(more);
    }
    const pair = sides[group];
    if (pair) box.append(pair);
    details.append(box);
  };
  /** @param {number} group */
  const item = (group) => {
    /** @type {string[]} */
    const ids = line("ids", group);
    const filter = query;
    const li = make("li");
    const details = make("details", "group");
    const summary = make("summary");
    const id = make("span", "id");
    id.append(...named(group, 0, idElement(ids[0], "", filter, SHORT)));
    const least = fact(group, LEAST);
    const most = fact(group, MOST);
    const span = make("span", "span");
    span.append(make("span", "unseen", "similarity "), spread(least, most));
    summary.append(
      make("span", "n", number.format(group + 1)),
      id,
      make("span", "size", counted(fact(group, SIZE), "document")),
      span,
    );
    if (filter && !ids[0].toLowerCase().includes(filter)) {
      const hit = make("span", "hit");
      const other = ids.find((each) => each.toLowerCase().includes(filter));
      hit.append("duplicate: ", idElement(other || "", "", filter, SHORT));
      summary.append(hit);
    }
    details.append(summary);
    details.addEventListener("toggle", () => {
      if (details.open && !details.querySelector(".opened")) open(details, group, filter);
    });
    li.append(details);
    return li;
  };

  /** @type {Record<string, (group: number) => number>} */
  const KEYS = {
    small: (g) => fact(g, SIZE),
    unlike: (g) => fact(g, LEAST),
    alike: (g) => -fact(g, LEAST),
    bytes: (g) => -fact(g, GOES),
  };
  const numbers = Uint32Array.from({ length: count }, (_, i) => i);
  /** @type {Map<string, Uint32Array>} */
  const orders = new Map([["number", numbers]]);
  /** @param {string} name */
  const ordered = (name) => {
    const cached = orders.get(name);
    if (cached) return cached;
    const keys = Float64Array.from(numbers, KEYS[name]);
    const sorted = numbers.slice().sort((a, b) => keys[a] - keys[b] || a - b);
    orders.set(name, sorted);
    return sorted;
  };
  // The groups to list, in the current order.
  const chosen = () => {
    if (!found) return ordered(order);
    if (order === "number") return found.list;
    const { set, list, sorted } = found;
    if (sorted && found.order === order && found.length === list.length) return sorted;
    found.order = order;
    found.length = list.length;
    found.sorted = ordered(order).filter((group) => set[group]);
    return found.sorted;
  };
  /** @param {boolean} busy */
  const status = (busy) => {
    const n = found ? found.list.length : count;
    const last = Math.min((page + 1) * PAGE, n);
    let text = counted(n, "group");
    if (found) text += ` ${n === 1 ? "has" : "have"} an id with “${visible(query)}”`;
    if (found && n === 0) text = busy ? "Searching" : `No id holds “${visible(query)}”`;
    else if (n > PAGE) text += `, here ${number.format(page * PAGE + 1)} to ${number.format(last)}`;
    at("status").textContent = text + (busy ? " …" : ".");
  };
  /** @param {boolean} busy */
  const render = (busy) => {
    const groups = chosen();
    const rows = document.createDocumentFragment();
    for (const group of groups.slice(page * PAGE, (page + 1) * PAGE)) rows.append(item(group));
    list.replaceChildren(rows);
    status(busy);
    first.disabled = back.disabled = page === 0;
    goto.value = String(page + 1);
    showPages();
  };
  const pagesOf = () => Math.max(1, Math.ceil(chosen().length / PAGE));
  const showPages = () => {
    const pages = pagesOf();
    pageControls.hidden = pages < 2;
    next.disabled = page >= pages - 1;
    goto.max = String(pages);
    of.textContent = `of ${number.format(pages)}`;
  };
  /** @param {number} to */
  const turn = (to) => {
    page = to;
    render(searching !== 0);
    list.querySelector("summary")?.focus({ preventScroll: true });
    controls.scrollIntoView({ block: "start" });
  };

  /**
   * Searches the pieces a few milliseconds at a time, so that typing stays responsive.
   * @param {string} typed
   */
  const search = (typed) => {
    query = typed.toLowerCase();
    page = 0;
    clearTimeout(searching);
    searching = 0;
    if (!query) {
      found = null;
      render(false);
      return;
    }
    /** @type {Found} */
    const hits = { list: [], set: new Uint8Array(count) };
    found = hits;
    // The query as the data contain it, with JSON escapes.
    const written = query
      .replace(/["\\]/g, "\\$&")
      .replace(/</g, "\\u003c")
      .replace(HIDDEN, (c) => NAMES[c] || `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
    let piece = 0;
    let drawn = -1;
    const step = () => {
      const until = performance.now() + SLICE;
      while (piece < elements.ids.length && performance.now() < until) {
        const text = elements.ids[piece].textContent ?? "";
        if (text.toLowerCase().includes(written)) {
          const split = text.split("\n");
          for (let i = 1; i < split.length - 1; i += 1) {
            if (!split[i].toLowerCase().includes(written)) continue;
            // The text that matches may span two ids, or be part of an escape.
            /** @type {string[]} */
            const ids = JSON.parse(split[i].replace(/,$/, ""));
            if (!ids.some((id) => id.toLowerCase().includes(query))) continue;
            const group = starts[piece] + i - 1;
            hits.list.push(group);
            hits.set[group] = 1;
          }
        }
        piece += 1;
      }
      const busy = piece < elements.ids.length;
      searching = busy ? window.setTimeout(step, 0) : 0;
      // A full page is drawn again only at the end of the search, and only if the list is sorted.
      const full = drawn >= PAGE || drawn === hits.list.length;
      if (!full || (!busy && (order !== "number" || drawn < 0))) {
        drawn = hits.list.length;
        render(busy);
      } else if (!busy) {
        finish();
      } else {
        status(true);
      }
    };
    step();
  };
  // Ends a search, when the number of pages is known. If the user has opened a group or has the
  // focus in the list, the list is not drawn again.
  const finish = () => {
    const opened = list.querySelector("details[open]");
    if (opened || list.contains(document.activeElement)) {
      showPages();
      status(false);
    } else {
      render(false);
    }
  };

  /** @type {(text: string, act: () => void) => HTMLButtonElement} */
  const button = (text, act) => {
    const element = make("button", "", text);
    element.type = "button";
    element.addEventListener("click", act);
    return element;
  };
  const first = button("First", () => turn(0));
  const back = button("Previous", () => turn(page - 1));
  const next = button("Next", () => turn(page + 1));
  const goto = make("input");
  const of = make("span", "note");
  const label = make("label", "", "Page ");
  goto.type = "number";
  goto.min = "1";
  goto.addEventListener("change", () => {
    turn(Math.min(Math.max(1, Math.floor(Number(goto.value)) || 1), pagesOf()) - 1);
  });
  label.append(goto);
  pageControls.append(first, back, next, label, of);
  controls.addEventListener("submit", (event) => event.preventDefault());
  queryField.addEventListener("input", () => search(queryField.value));
  orderField.addEventListener("change", () => {
    order = orderField.value;
    page = 0;
    render(searching !== 0);
  });
  controls.hidden = false;
  // After a reload, the browser fills in the earlier query.
  order = orderField.value;
  if (queryField.value) search(queryField.value);
  else render(false);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
