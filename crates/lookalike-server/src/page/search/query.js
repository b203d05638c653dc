// The view of queries by a text or by a document of the index.

import { ApiError, isAbort, request } from "../client/api.js";
import { BEGINNING } from "./described.js";
import { at, button, inputAt, make } from "../dom/dom.js";
import { partTitle, readFile } from "./file.js";
import { beginning, counted, size, visible } from "../dom/format.js";
import { matches, nearest, summary } from "./matches.js";
import { passages } from "./passages.js";
import { keepProbe } from "./probe.js";
import { problem } from "../client/problem.js";
import { contentOf } from "../client/view.js";
import { address, forgetViews, go, shownAt } from "../dom/router.js";
import { settings } from "../client/settings.js";

/** Maximum UTF-16 units of a file's text in the text field. Longer texts make the field slow. */
const FIELD_CHARACTERS = 200_000;
/** UTF-16 units in the preview of a longer text. */
const SHOWN_CHARACTERS = 2_000;

/** @import { FileText, FileTexts, Query } from "../client/types.js" */

/** @typedef {{status: string, nodes: Node[]}} Shown a status and the elements below it */

/**
 * A long file whose preview replaces the text field.
 * @type {{name: string, text: string}|null}
 */
let file = null;
/**
 * The result of the last text, shown again after a search by id.
 * @type {Shown}
 */
let last = { status: "", nodes: [] };
/** @type {AbortController|null} */
let running = null;
/**
 * Aborts the reading of a file.
 * @type {AbortController|null}
 */
let reading = null;

const show = contentOf("query");

const text = () => (file ? file.text : at("query-text", HTMLTextAreaElement).value);

const showSize = () => {
  const content = text();
  at("query-size").textContent =
    content === ""
      ? ""
      : `${counted(content.length, "character")}, ${size(new Blob([content]).size)}`;
};

/** @returns {{nearest: number}|{threshold?: number, top?: number}} */
const requestedLimits = () => {
  const threshold = inputAt("query-threshold").value;
  const top = inputAt("query-top").value;
  if (inputAt("query-nearest").checked) return { nearest: top === "" ? 10 : Number(top) };
  return {
    ...(threshold === "" ? {} : { threshold: Number(threshold) }),
    ...(top === "" ? {} : { top: Number(top) }),
  };
};

/** Resolves to true if the index stores texts. The search for passages needs them. */
const hasTexts = () =>
  settings().then(
    ({ store }) => store === "texts" || store === "originals",
    () => false,
  );

/** Number of nearest documents to show if no document reaches the similarity. */
const NEAREST = 3;

/**
 * Sends a query and builds the elements of its answer. If nothing was found, adds the nearest
 * documents. If the index stores texts, a text query also gets the form for known passages. The
 * form searches immediately if the query found nothing.
 * @param {Query} body
 * @param {string|undefined} id of the queried document; undefined for a text
 * @param {AbortSignal} signal
 * @returns {Promise<Shown>}
 */
const found = async (body, id, signal) => {
  /** @param {Query} query */
  const send = (query) =>
    request("POST", "v1/query", { body: { ...query, beginning: BEGINNING }, signal });
  const [answer, texts] = await Promise.all([send(body), hasTexts()]);
  const isNothing = answer.found === 0 && answer.shingles !== 0;
  const nodes = matches(answer, id);
  if (isNothing && answer.nearest === undefined) {
    const nearestQuery = { ...body, threshold: undefined, top: undefined, nearest: NEAREST };
    nodes.push(...nearest(await send(nearestQuery), id));
  }
  if (typeof body.text === "string" && texts) nodes.push(passages(body.text, isNothing));
  return { status: summary(answer), nodes };
};

/**
 * Sends a query and shows its result below `file`.
 * @param {Query} body
 * @param {AbortSignal} signal
 * @param {string} [id] of the queried document; omitted for a text
 * @param {Shown} file the status and notes about the file that contains the text
 * @returns {Promise<Shown|null>} null if the page no longer needs it
 */
const ask = async (body, signal, id, file = { status: "", nodes: [] }) => {
  const results = at("query-results");
  show([file.status, "Searching …"].join(" ").trim(), file.nodes);
  results.setAttribute("aria-busy", "true");
  let answer;
  try {
    const { status, nodes } = await found(body, id, signal);
    if (signal.aborted) return null;
    answer = { status: [file.status, status].join(" ").trim(), nodes: [...file.nodes, ...nodes] };
  } catch (error) {
    if (isAbort(error)) return null;
    const retry = () =>
      ask(body, signal, id, file).then((later) => {
        if (later && id === undefined) last = later;
      });
    answer = { status: file.status, nodes: [...file.nodes, problem(error, retry)] };
  }
  results.removeAttribute("aria-busy");
  show(answer.status, answer.nodes);
  return answer;
};

/**
 * Searches the text of the text field or of the long file.
 * @param {Shown} [read] the status and notes about the file that contains the text
 */
const askText = async (read) => {
  const content = text();
  if (content.trim() === "") {
    shownAt("#/");
    show("Type or paste a text, or choose a file.", []);
    at("query-text").focus();
    return;
  }
  running?.abort();
  running = new AbortController();
  keepProbe(content, file ? file.name : "Your text");
  // The comparison view may show the earlier text.
  forgetViews(["compare"]);
  shownAt("#/");
  const answer = await ask(
    { text: content, ...requestedLimits() },
    running.signal,
    undefined,
    read,
  );
  if (answer) last = answer;
};

/** Removes the long file, and shows the text field. */
const drop = () => {
  file = null;
  at("query-file").hidden = true;
  at("query-file").replaceChildren();
  at("query-text").hidden = false;
  showSize();
};

/**
 * Replaces the text field with the preview of a long file.
 * @param {string} name
 * @param {string} content
 */
const hold = (name, content) => {
  file = { name, text: content };
  const hiddenCount = content.length - SHOWN_CHARACTERS;
  at("query-file").replaceChildren(
    make(
      "p",
      {},
      make("strong", {}, make("bdi", {}, visible(name))),
      " ",
      button("Remove the file", () => {
        drop();
        at("query-text").focus();
      }),
    ),
    make("p", { class: "pre excerpt", dir: "auto" }, `${beginning(content, SHOWN_CHARACTERS)}…`),
    make(
      "p",
      { class: "note" },
      `The search includes ${counted(hiddenCount, "further character")}.`,
    ),
  );
  at("query-file").hidden = false;
  at("query-text").hidden = true;
};

/**
 * Puts the text of a file, or of a part of it, into the text field. A long text gets a preview
 * instead.
 * @param {string} name
 * @param {string} content
 */
const takeText = (name, content) => {
  if (content.length > FIELD_CHARACTERS) {
    hold(name, content);
  } else {
    drop();
    at("query-text", HTMLTextAreaElement).value = content;
  }
  showSize();
};

/**
 * Lists the unreadable parts of a file. Adds the number of parts that the server left out of the
 * answer.
 * @param {FileTexts} read
 */
const unread = ({ failed, further }) => {
  const lines = failed.map(({ within, kind, reason }) =>
    make("li", {}, within === "" ? reason : `${visible(within)} (${kind}): ${reason}`),
  );
  if (further > 0) lines.push(make("li", {}, `${counted(further, "further part")} not shown`));
  return lines.length === 0 ? [] : [make("ul", { class: "note" }, ...lines)];
};

/**
 * Buttons for the texts of a file. Each button searches its text. The buttons remain above the
 * result.
 * @param {string} name
 * @param {FileTexts} read
 */
const choices = (name, read) => {
  const list = make("ul", { class: "parts" });
  /** @param {FileText} part */
  const choose = (part) =>
    button(partTitle(part), () => {
      takeText(`${name}/${part.within}`, part.text);
      askText({
        status: `${visible(part.within)}: ${partTitle(part)}.`,
        nodes: [list, ...unread(read)],
      });
    });
  list.append(...read.parts.map((part) => make("li", {}, choose(part))));
  return list;
};

/**
 * Reads a chosen or dropped file. Searches its text, or lists the texts if there are several.
 * Removes the earlier text, even if the file cannot be read.
 * @param {File} chosen
 * @returns {Promise<void>}
 */
const take = async (chosen) => {
  const name = visible(chosen.name);
  running?.abort();
  reading?.abort();
  reading = new AbortController();
  const { signal } = reading;
  takeText("", "");
  show(`Reading ${name} …`, []);
  let read;
  try {
    read = await readFile(chosen, signal);
  } catch (error) {
    if (isAbort(error)) return;
    show("", [
      error instanceof ApiError
        ? problem(error, () => take(chosen))
        : make(
            "div",
            { class: "warning", role: "alert" },
            make("p", {}, error instanceof Error ? error.message : String(error)),
          ),
    ]);
    return;
  }
  if (signal.aborted) return;
  const [first, second] = read.parts;
  if (first === undefined) {
    show("", [
      make(
        "div",
        { class: "warning", role: "alert" },
        make("p", {}, `${name} contains no text.`),
        ...unread(read),
      ),
    ]);
  } else if (second === undefined) {
    takeText(chosen.name, first.text);
    askText({ status: `${name}: ${partTitle(first)}.`, nodes: unread(read) });
  } else {
    show(`${name} contains ${counted(read.parts.length, "text")}; choose one.`, [
      choices(chosen.name, read),
      ...unread(read),
    ]);
  }
};

const watchFiles = () => {
  const choose = inputAt("query-choose");
  choose.addEventListener("change", () => {
    const [chosen] = choose.files ?? [];
    if (chosen) take(chosen);
    // Allows choosing the same file again.
    choose.value = "";
  });
  /** @param {DragEvent} event */
  const files = (event) => Array.from(event.dataTransfer?.types || []).includes("Files");
  /** @param {boolean} on */
  const mark = (on) => at("query-form").classList.toggle("over", on);
  // By default the browser opens a dropped file.
  document.addEventListener("dragover", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    mark(true);
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) mark(false);
  });
  document.addEventListener("drop", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    mark(false);
    if (at("view-query").hidden) go("#/");
    const [dropped, further] = event.dataTransfer?.files ?? [];
    if (further) show("Drop one file at a time.", []);
    else if (dropped) take(dropped);
  });
};

/** Installs the event handlers of the forms. */
export const watchQuery = () => {
  at("query-text").addEventListener("input", showSize);
  at("query-form").addEventListener("submit", (event) => {
    event.preventDefault();
    askText();
  });
  at("query-text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      at("query-form", HTMLFormElement).requestSubmit();
    }
  });
  at("id-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const id = inputAt("query-id").value;
    if (id === "") {
      show("Type an id.", []);
      at("query-id").focus();
    } else if (at("query-form", HTMLFormElement).reportValidity()) {
      go(address("query", { id, ...requestedLimits() }));
    }
  });
  const anySimilarity = inputAt("query-nearest");
  anySimilarity.addEventListener("change", () => {
    inputAt("query-threshold").disabled = anySimilarity.checked;
  });
  watchFiles();
  settings().then(
    ({ threshold }) => {
      const field = inputAt("query-threshold");
      if (field.value === "") field.value = String(threshold);
    },
    () => {},
  );
  showSize();
};

/** @type {import("../dom/router.js").Show} */
export const showQuery = (params, signal) => {
  running?.abort();
  const id = params.get("id");
  if (id === null) {
    show(last.status, last.nodes);
    return;
  }
  inputAt("query-id").value = id;
  const threshold = inputAt("query-threshold");
  const top = inputAt("query-top");
  const nearest = params.get("nearest");
  threshold.value = params.get("threshold") ?? threshold.value;
  top.value = nearest ?? params.get("top") ?? top.value;
  inputAt("query-nearest").checked = nearest !== null;
  threshold.disabled = nearest !== null;
  const body = { id, ...requestedLimits() };
  ask(body, signal, id);
};
