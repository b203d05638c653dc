// Builds elements. Data of documents is inserted as text nodes, never as markup.

import { similarity, visible } from "./format.js";

/** @typedef {Record<string, unknown>} Attributes whose names never come from data */
/** @typedef {Node|string|undefined|null} Child strings become text nodes */
/** @typedef {Record<string, unknown>|null} Metadata null if the document was removed */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Sets attributes and appends children. Omits attributes that are false, undefined or null.
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 * @returns {E}
 */
const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
};

/**
 * The element with an id.
 * @template {HTMLElement} [E=HTMLElement]
 * @param {string} id
 * @param {{new (): E}} [kind] expected class; any HTML element if omitted
 * @returns {E}
 * @throws {Error} if the page has no such element
 */
export const at = (id, kind) => {
  const element = document.getElementById(id);
  if (element instanceof (kind ?? HTMLElement)) return /** @type {E} */ (element);
  throw new Error(`the page has no ${kind?.name ?? "element"} with the id ${id}`);
};

/**
 * The input field with an id.
 * @param {string} id
 */
export const inputAt = (id) => at(id, HTMLInputElement);

/**
 * Creates an HTML element.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export const make = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

/**
 * Splits a text into child nodes. Parts between backticks become `code` elements.
 * @param {string} text
 */
export const withCode = (text) =>
  visible(text)
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? make("code", {}, part) : part));

/**
 * Creates an SVG element.
 * @param {keyof SVGElementTagNameMap} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 * @returns {SVGElement}
 */
export const draw = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

/** Focuses the heading of the current view. */
export const focusHeading = () => {
  /** @type {HTMLElement|null} */
  const heading = document.querySelector("main > section:not([hidden]) h1");
  heading?.focus({ preventScroll: true });
};

/**
 * Creates a button.
 * @param {string} text
 * @param {(event: Event) => void} act
 * @param {Attributes} attributes
 * @returns {HTMLButtonElement}
 */
export const button = (text, act, attributes = {}) => {
  const element = make("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", act);
  return element;
};

/**
 * Creates the box of a form field with its label.
 * @param {string} label
 * @param {HTMLElement} input with an id
 * @param {string} name class
 * @returns {HTMLElement}
 */
export const field = (label, input, name = "field") =>
  make("div", { class: name }, make("label", { for: input.id }, label), input);

/**
 * Creates a folded part. Its content is created when the user opens it for the first time.
 * @param {Node} summary
 * @param {() => Node|null} content
 * @param {Attributes} attributes
 * @returns {HTMLDetailsElement}
 */
export const fold = (summary, content, attributes = { class: "fold" }) => {
  const details = make("details", attributes, summary);
  details.addEventListener("toggle", () => details.append(content() ?? ""), { once: true });
  return details;
};

/**
 * Creates links to other pages of a list; null if there are none.
 * @param {string} label
 * @param {Array<[string, string]>} links text and address
 * @returns {HTMLElement|null}
 */
export const pageLinks = (label, links) => {
  const anchors = links.map(([text, href]) => make("a", { class: "button", href }, text));
  return anchors.length > 0
    ? make("nav", { class: "pages", "aria-label": label }, ...anchors)
    : null;
};

/**
 * Installs the handler of the link that skips to the content. An ordinary link would change the
 * fragment of the address, which names the view.
 */
export const watchSkip = () =>
  at("skip").addEventListener("click", (event) => {
    event.preventDefault();
    focusHeading();
  });

/**
 * An id, isolated from the text direction of its surroundings.
 * @param {string} id
 * @param {string} name class
 * @returns {HTMLElement}
 */
export const idElement = (id, name = "full") => make("bdi", { class: name }, visible(id));

/** @param {string|undefined} text */
const tag = (text) => (text ? [" ", make("span", { class: "tag" }, text)] : []);

/**
 * Shows a similarity as a bar and a number.
 * @param {number} value 0 to 1
 * @param {boolean} estimated
 * @param {boolean|undefined} equalText whether the texts are equal; undefined if the shingles
 *   differ or the texts were not compared
 * @returns {HTMLElement}
 */
export const bar = (value, estimated = false, equalText = undefined) => {
  const width = Math.min(Math.max(value, 0), 1) * 100;
  const picture = draw(
    "svg",
    {
      class: "bar",
      viewBox: "0 0 100 8",
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    draw("rect", { width: 100, height: 8, class: "rest" }),
    draw("rect", { width: width.toFixed(2), height: 8 }),
  );
  const equality = equalText === undefined ? undefined : equalText ? "equal texts" : "texts differ";
  return make(
    "span",
    { class: "similarity" },
    picture,
    " ",
    make("span", { class: "figure" }, similarity(value)),
    ...tag(estimated ? "estimated" : equality),
  );
};

/**
 * Creates tiles that each show a name and a figure.
 * @param {Array<[string, string|Node, string?]>} rows name, figure, note
 * @returns {HTMLElement}
 */
export const tiles = (rows) =>
  make(
    "dl",
    { class: "tiles" },
    ...rows.map(([name, figure, note]) =>
      make(
        "div",
        {},
        make("dt", {}, name),
        make("dd", {}, figure, note ? make("span", { class: "note" }, note) : null),
      ),
    ),
  );

/**
 * Creates the head of a table.
 * @param {Array<string|[string, string]>} names of the columns, each alone or with a class
 * @returns {HTMLElement}
 */
export const tableHead = (names) =>
  make(
    "thead",
    {},
    make(
      "tr",
      {},
      ...names.map((name) => {
        const [text, kind] = [name].flat();
        return make("th", { scope: "col", class: kind }, text);
      }),
    ),
  );

/**
 * Creates a table. The first cell of each row is the header of the row.
 * @param {string[]} heads
 * @param {Array<Array<string|Node>>} rows
 * @param {string} caption
 * @returns {HTMLElement}
 */
export const table = (heads, rows, caption) => {
  const body = rows.map((cells) =>
    make(
      "tr",
      {},
      ...cells.map((cell, place) =>
        place === 0 ? make("th", { scope: "row" }, cell) : make("td", {}, cell),
      ),
    ),
  );
  return make(
    "table",
    {},
    make("caption", { class: "unseen" }, caption),
    tableHead(heads),
    make("tbody", {}, ...body),
  );
};

/** Values with more UTF-16 units than this are folded. */
const LONG = 200;
/** Number of members of metadata that are not folded. */
const MEMBERS = 6;

/** @param {unknown} data */
const value = (data) => {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  if (text.length <= LONG) return make("dd", { dir: "auto" }, visible(text));
  return make(
    "dd",
    {},
    fold(make("summary", {}, `${visible(text.slice(0, 60))}…`), () =>
      make("div", { class: "pre", dir: "auto" }, visible(text)),
    ),
  );
};

/** @param {Array<[string, unknown]>} entries */
const members = (entries) =>
  make(
    "dl",
    { class: "metadata" },
    ...entries.map(([name, data]) =>
      make("div", {}, make("dt", {}, make("bdi", {}, visible(name))), value(data)),
    ),
  );

/**
 * Shows metadata. Folds long values, and all members after the first ones.
 * @param {Metadata|undefined} metadata
 * @returns {HTMLElement|null} null without members
 */
export const metadata = (metadata) => {
  const entries = Object.entries(metadata || {});
  if (entries.length === 0) return null;
  const box = make("div", { class: "metadata-box" }, members(entries.slice(0, MEMBERS)));
  if (entries.length > MEMBERS) {
    const more = `${entries.length - MEMBERS} more members of the metadata`;
    box.append(fold(make("summary", {}, more), () => members(entries.slice(MEMBERS))));
  }
  return box;
};
