// Finds the passages of a text that documents of the index also contain.

import { request } from "../client/api.js";
import { button, field, idElement, make } from "../dom/dom.js";
import { beginning, count, counted } from "../dom/format.js";
import { problem } from "../client/problem.js";
import { address } from "../dom/router.js";

/** @import { KnownPassage, KnownPassages } from "../client/types.js" */

/**
 * The passages of all answers by their byte ranges, and the number of compared documents and of
 * documents with passages.
 * @typedef {{passages: Map<string, KnownPassage>, compared: number, documents: number}} Found
 */

/** Default for the minimum number of words of a passage. */
const LEAST_WORDS = 20;
/** Maximum length of the shown part of a passage, in UTF-16 units. */
const SHOWN_CHARACTERS = 600;

/** @param {{id: string}} place */
const place = ({ id }) =>
  make("li", {}, make("a", { href: address("document", { id }) }, idElement(id)));

/**
 * @param {KnownPassage} passage
 * @param {Uint8Array} bytes of the text
 */
const item = (passage, bytes) => {
  const text = new TextDecoder().decode(bytes.subarray(passage.bytes[0], passage.bytes[1]));
  const more = text.length > SHOWN_CHARACTERS ? "…" : "";
  const hiddenCount = passage.documents - passage.places.length;
  return make(
    "li",
    { class: "known" },
    make(
      "p",
      { class: "note" },
      `${counted(passage.words, "word")}, from character ` +
        `${count(passage.chars[0])} on, in ${counted(passage.documents, "document")}:`,
    ),
    make("p", { class: "pre excerpt", dir: "auto" }, beginning(text, SHOWN_CHARACTERS) + more),
    make(
      "ul",
      {},
      ...passage.places.map(place),
      hiddenCount > 0 ? make("li", {}, `and ${count(hiddenCount)} more`) : null,
    ),
  );
};

/**
 * Adds the passages of a further answer.
 * @param {Found} found
 * @param {KnownPassages} answer
 */
const add = (found, answer) => {
  for (const passage of answer.passages) {
    const key = passage.bytes.join("-");
    const before = found.passages.get(key);
    if (before) {
      before.documents += passage.documents;
    } else {
      found.passages.set(key, passage);
    }
  }
  found.compared += answer.compared;
  found.documents += answer.documents;
};

/**
 * @param {Found} found
 * @param {string|undefined} next
 */
const summary = (found, next) => {
  const compared = counted(found.compared, "document");
  const passages =
    found.passages.size === 0
      ? "No known passage"
      : `${counted(found.passages.size, "known passage")} in ` +
        counted(found.documents, "document");
  const hint = next === undefined ? "" : " Some documents are not compared yet.";
  return `${passages}; ${compared} compared word by word.${hint}`;
};

/** @param {Found} found */
const inOrder = (found) =>
  Array.from(found.passages.values()).toSorted(
    (a, b) => a.bytes[0] - b.bytes[0] || b.bytes[1] - a.bytes[1],
  );

/**
 * A form that finds the known passages of a text, with its results.
 * @param {string} text
 * @param {boolean} isAtOnce whether to search before the user submits the form
 * @returns {Node}
 */
export const passages = (text, isAtOnce = false) => {
  const bytes = new TextEncoder().encode(text);
  const least = make("input", {
    type: "number",
    id: "passages-least",
    class: "short",
    min: 2,
    max: 1000000,
    step: 1,
    value: LEAST_WORDS,
    required: true,
    inputmode: "numeric",
  });
  const status = make("p", { class: "status", role: "status" });
  const results = make("div");
  /**
   * @param {Found} found
   * @param {number} minWords
   * @param {string} [after]
   */
  const search = async (found, minWords, after) => {
    status.textContent = "Comparing …";
    try {
      const body = { text, min_words: minWords, after };
      const answer = await request("POST", "v1/passages", { body });
      add(found, answer);
      status.textContent = summary(found, answer.next);
      results.replaceChildren(
        make("ol", { class: "matches" }, ...inOrder(found).map((passage) => item(passage, bytes))),
      );
      if (answer.next !== undefined) {
        results.append(
          make(
            "div",
            { class: "buttons" },
            button("Compare further documents", () => search(found, minWords, answer.next)),
          ),
        );
      }
      if (found.passages.size === 0 && answer.next === undefined) results.replaceChildren();
    } catch (error) {
      status.textContent = "";
      results.replaceChildren(problem(error, () => search(found, minWords, after)));
    }
  };
  const form = make(
    "form",
    { class: "controls", id: "passages-form" },
    field("Minimum words of a passage", least),
    make("button", { type: "submit" }, "Find known passages"),
  );
  const begin = () => {
    results.replaceChildren();
    search({ passages: new Map(), compared: 0, documents: 0 }, Number(least.value));
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    begin();
  });
  if (isAtOnce) begin();
  return make(
    "section",
    { id: "passages", "aria-labelledby": "passages-title" },
    make("h2", { id: "passages-title" }, "Known passages of your text"),
    make(
      "p",
      { class: "note" },
      "Word sequences that documents of the index also contain, even if " +
        "the documents differ otherwise. The server may read all documents for it.",
    ),
    form,
    status,
    results,
  );
};
