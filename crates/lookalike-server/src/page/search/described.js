// Describes a document for people by its title, author, date and first words.

import { bar, idElement, make, metadata, tableHead } from "../dom/dom.js";
import { size, visible } from "../dom/format.js";

/** @import { Duplicate, Keeper } from "../client/types.js" */
/** @import { Metadata } from "../dom/dom.js" */

/** @typedef {{metadata?: Metadata, beginning?: string|null}} Described */

/** Members of metadata to show first. Only the first existing member of each list is shown. */
const TITLE = ["title", "subject"];
const FACTS = [["from", "author"], ["date", "time"], ["source"]];

/** Number of characters to request from the beginning of a text. */
export const BEGINNING = 160;

/**
 * The first member of metadata that is a string or a number.
 * @param {Metadata|undefined} data
 * @param {string[]} names
 */
const text = (data, names) => {
  const name = names.find((key) => ["string", "number"].includes(typeof data?.[key]));
  return name === undefined ? "" : String(data?.[name]);
};

/**
 * The title or subject of a document.
 * @param {Described} document
 * @returns {string} empty if the document has none
 */
export const titleOf = ({ metadata: data }) => text(data, TITLE);

/**
 * The first words of a document in one line.
 * @param {Described} document
 */
const words = ({ beginning }) => {
  const all = beginning ?? "";
  const line = all.trim().replace(/\s+/g, " ");
  // The server counts characters before white space is removed.
  return Array.from(all).length < BEGINNING ? line : `${line}…`;
};

/**
 * A document in one line: its title or id, and its first words.
 * @param {Described & {id: string}} document
 * @returns {Node[]}
 */
export const briefly = (document) => {
  const title = titleOf(document);
  const first = words(document);
  return [
    title ? make("bdi", { class: "title" }, visible(title)) : idElement(document.id, "id"),
    first ? make("bdi", { class: "first-words" }, visible(first)) : null,
  ].filter((part) => part !== null);
};

/**
 * A document in several lines: title, facts, first words, and the rest of its metadata.
 * @param {Described} document
 * @returns {Node[]}
 */
export const described = (document) => {
  const data = document.metadata ?? {};
  const title = titleOf(document);
  const first = words(document);
  const facts = FACTS.map((names) => text(data, names)).filter(Boolean);
  const displayed = new Set([TITLE, ...FACTS].map((names) => names.find((name) => name in data)));
  const rest = Object.fromEntries(
    Object.entries(data).filter(
      ([name, value]) => !displayed.has(name) || typeof value === "object",
    ),
  );
  const parts = [];
  if (title) parts.push(make("p", { class: "title", dir: "auto" }, visible(title)));
  if (facts.length > 0) {
    parts.push(
      make(
        "p",
        { class: "note" },
        ...facts.flatMap((fact, place) => [place > 0 ? " · " : "", make("bdi", {}, visible(fact))]),
      ),
    );
  }
  if (first) parts.push(make("p", { class: "first-words", dir: "auto" }, visible(first)));
  const furtherMetadata = metadata(rest);
  return furtherMetadata ? [...parts, furtherMetadata] : parts;
};

/**
 * The table cells of a document of a group: the document, its similarity to the keeper, its size.
 * @param {Keeper|Duplicate} member
 * @param {Node} name
 * @param {string|undefined} tag
 * @returns {HTMLElement[]}
 */
export const memberCells = (member, name, tag) => [
  make(
    "td",
    { class: "who" },
    name,
    tag ? make("span", { class: "tag" }, tag) : null,
    ...described(member),
  ),
  make(
    "td",
    { class: "how" },
    "similarity" in member ? bar(member.similarity, false, member.equal_text) : "",
  ),
  make("td", { class: "num" }, size(member.bytes)),
];

/** @param {unknown} value */
const shownValue = (value) =>
  value === undefined ? "none" : visible(typeof value === "string" ? value : JSON.stringify(value));

/**
 * The members of the metadata in which two documents differ.
 * @param {Described} a
 * @param {Described} b
 * @returns {HTMLElement|null} null if no member differs
 */
export const differingMetadata = (a, b) => {
  const [left, right] = [a.metadata ?? {}, b.metadata ?? {}];
  const names = Array.from(new Set([...Object.keys(left), ...Object.keys(right)])).filter(
    (name) => JSON.stringify(left[name]) !== JSON.stringify(right[name]),
  );
  if (names.length === 0) return null;
  /** @param {unknown} value */
  const cell = (value) => make("td", { dir: "auto" }, shownValue(value));
  /** @param {string} name */
  const row = (name) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("bdi", {}, visible(name))),
      cell(left[name]),
      cell(right[name]),
    );
  return make(
    "table",
    { class: "differing" },
    make("caption", {}, "Metadata that differs"),
    tableHead(["Member", "Keeper", "This one"]),
    make("tbody", {}, ...names.map(row)),
  );
};
