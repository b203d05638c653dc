// The view of queries by a text or by a document of the index.

import { request } from "../client/api.js";
import { BEGINNING } from "./described.js";
import { at, button, make } from "../dom/dom.js";
import { partTitle, readFile } from "./file.js";
import { beginning, counted, size, visible } from "../dom/format.js";
import { matches, nearest, summary } from "./matches.js";
import { passages } from "./passages.js";
import { keepProbe } from "./probe.js";
import { problem } from "../client/problem.js";
import { contentOf } from "../client/view.js";
import { address, forgetViews, go, shownAt } from "../dom/router.js";
import { settings } from "../client/settings.js";

/** Maximum length of a file in the text field; longer ones would make it slow. */
const FIELD_CHARACTERS = 200_000;
/** Length of their preview. */
const SHOWN_CHARACTERS = 2_000;

// A long file that replaces the field, as {name, text}.
let file = null;
// The result of the last text, shown again after a search by id.
let last = { status: "", nodes: [] };
let running = null;
// The reading of a file.
let reading = null;

const show = contentOf("query");

const text = () => (file ? file.text : at("query-text").value);

const showSize = () => {
  const given = text();
  at("query-size").textContent =
    given === "" ? "" : `${counted(given.length, "character")}, ${size(new Blob([given]).size)}`;
};

const asked = () => {
  const threshold = at("query-threshold").value;
  const top = at("query-top").value;
  if (at("query-nearest").checked) return { nearest: top === "" ? 10 : Number(top) };
  const body = {};
  if (threshold !== "") body.threshold = Number(threshold);
  if (top !== "") body.top = Number(top);
  return body;
};

/** Whether the index stores texts, in which passages are found. */
const hasTexts = () =>
  settings().then(
    ({ store }) => store === "texts" || store === "originals",
    () => false,
  );

/** Documents that are shown where nothing reaches the similarity. */
const NEAREST = 3;

/**
 * The parts of an answer, and where nothing was found the nearest documents and known passages.
 * @param {any} body of the query
 * @param {string|undefined} id of the queried document; none for a text
 * @param {AbortSignal} signal
 */
const found = async (body, id, signal) => {
  const query = (query) =>
    request("POST", "v1/query", { body: { ...query, beginning: BEGINNING }, signal });
  const [answer, texts] = await Promise.all([query(body), hasTexts()]);
  const isNothing = answer.found === 0 && answer.shingles > 0;
  const nodes = matches(answer, id);
  if (isNothing && answer.nearest === undefined) {
    const { text, id: asked } = body;
    nodes.push(...nearest(await query({ text, id: asked, nearest: NEAREST }), id));
  }
  if (body.text !== undefined && texts) nodes.push(passages(body.text, isNothing));
  return { status: summary(answer), nodes };
};

/** Asks the server and shows the result, below the `file` that the text is from. */
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
    if (error.name === "AbortError") return null;
    const again = () =>
      ask(body, signal, id, file).then((later) => {
        if (later && id === undefined) last = later;
      });
    answer = { status: file.status, nodes: [...file.nodes, problem(error, again)] };
  }
  results.removeAttribute("aria-busy");
  show(answer.status, answer.nodes);
  return answer;
};

/** Searches the text of the field or of the file; `read` reports on the file. */
const askText = async (read) => {
  const given = text();
  if (given.trim() === "") {
    shownAt("#/");
    show("Type or paste a text, or choose a file.", []);
    at("query-text").focus();
    return;
  }
  running?.abort();
  running = new AbortController();
  keepProbe(given, file ? file.name : "Your text");
  // The view compared another text.
  forgetViews(["compare"]);
  shownAt("#/");
  const answer = await ask({ text: given, ...asked() }, running.signal, undefined, read);
  if (answer) last = answer;
};

const drop = () => {
  file = null;
  at("query-file").hidden = true;
  at("query-file").replaceChildren();
  at("query-text").hidden = false;
  showSize();
};

const hold = (name, content) => {
  file = { name, text: content };
  const rest = content.length - SHOWN_CHARACTERS;
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
    make("p", { class: "note" }, `The search includes ${counted(rest, "further character")}.`),
  );
  at("query-file").hidden = false;
  at("query-text").hidden = true;
};

/** Takes the text of a file, or of a part of one. */
const takeText = (name, content) => {
  if (content.length > FIELD_CHARACTERS) {
    hold(name, content);
  } else {
    drop();
    at("query-text").value = content;
  }
  showSize();
};

/** The parts of a file that could not be read. */
const unread = ({ failed, further }) => {
  const lines = failed.map(({ within, kind, reason }) =>
    make("li", {}, within === "" ? reason : `${visible(within)} (${kind}): ${reason}`),
  );
  if (further > 0) lines.push(make("li", {}, `${counted(further, "further part")} not shown`));
  return lines.length === 0 ? [] : [make("ul", { class: "note" }, ...lines)];
};

/** Buttons for the texts of a file. Each searches its text; the buttons remain above the result. */
const choices = (name, read) => {
  const list = make("ul", { class: "parts" });
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

/** Reads a chosen or dropped file and searches its text. Removes the earlier text, even if the file
 * cannot be read. */
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
    if (error.name === "AbortError") return;
    show("", [
      error.code === undefined
        ? make("div", { class: "warning", role: "alert" }, make("p", {}, error.message))
        : problem(error, () => take(chosen)),
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
  const choose = at("query-choose");
  choose.addEventListener("change", () => {
    if (choose.files[0]) take(choose.files[0]);
    // Allows choosing the same file again.
    choose.value = "";
  });
  const files = (event) => Array.from(event.dataTransfer?.types || []).includes("Files");
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
    const dropped = event.dataTransfer.files;
    if (dropped.length > 1) show("Drop one file at a time.", []);
    else if (dropped[0]) take(dropped[0]);
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
      at("query-form").requestSubmit();
    }
  });
  at("id-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const id = at("query-id").value;
    if (id === "") {
      show("Type an id.", []);
      at("query-id").focus();
    } else if (at("query-form").reportValidity()) {
      go(address("query", { id, ...asked() }));
    }
  });
  at("query-nearest").addEventListener("change", (event) => {
    at("query-threshold").disabled = event.target.checked;
  });
  watchFiles();
  settings().then(
    ({ threshold }) => {
      if (at("query-threshold").value === "") at("query-threshold").value = threshold;
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
  at("query-id").value = id;
  for (const name of ["threshold", "top"]) {
    if (params.has(name)) at(`query-${name}`).value = params.get(name);
  }
  if (params.has("nearest")) at("query-top").value = params.get("nearest");
  at("query-nearest").checked = params.has("nearest");
  at("query-threshold").disabled = at("query-nearest").checked;
  const body = { id, ...asked() };
  ask(body, signal, id);
};
