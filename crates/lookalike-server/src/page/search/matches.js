// The list of matches of a query.

import { described } from "./described.js";
import { bar, idElement, make } from "../dom/dom.js";
import { count, counted, probability, shortened, size, visible } from "../dom/format.js";
import { address } from "../dom/router.js";

/** @import { Match, Matches } from "../client/types.js" */

/** @param {number} share */
const percent = (share) => `${Math.floor(share * 1000) / 10}\u00a0%`;

/**
 * A summary of the result in one or two sentences.
 * @param {Matches} answer
 * @returns {string}
 */
export const summary = (answer) => {
  if (answer.shingles === 0) {
    return "The text contains no word, so nothing can resemble it.";
  }
  if (answer.nearest !== undefined) {
    return answer.found === 0
      ? "No document of the index shares a shingle with it."
      : `The ${counted(answer.found, "most similar document")} of the index.`;
  }
  const least = `a similarity of ${answer.threshold} or more`;
  if (answer.found === 0) {
    return (
      `Nothing in the index has ${least}; ${counted(answer.candidates, "document")} ` +
      `${answer.candidates === 1 ? "was" : "were"} compared.`
    );
  }
  const matchCount = answer.matches.length;
  const limitNote =
    answer.found > matchCount ? `, the ${counted(matchCount, "most similar one")} below` : "";
  return (
    `${counted(answer.found, "document")} ${answer.found === 1 ? "has" : "have"} ` +
    `${least}${limitNote}.`
  );
};

/** Recall below which a warning is shown. */
const LOW = 0.9;

/** @param {Matches} answer */
const recall = (answer) => {
  const chance = probability(answer.predicted_recall);
  const least =
    answer.nearest === undefined
      ? `with a similarity of exactly ${answer.threshold}`
      : "as similar as the last one shown";
  const text =
    `A document ${least} is found with a ` +
    `probability of ${chance}, a more similar one with a higher probability.`;
  if (answer.recall_caveat) {
    return make("p", { class: "warning" }, `${text} But ${visible(answer.recall_caveat)}.`);
  }
  if (answer.predicted_recall >= LOW) return make("p", { class: "note" }, text);
  if (answer.nearest !== undefined) return make("p", { class: "note" }, text);
  return make("p", { class: "warning" }, `${text} The index is made for more similar documents.`);
};

/**
 * @param {Match} match
 * @param {string} whose names the text or document of the query
 */
const facts = (match, whose) => {
  const parts = [size(match.bytes)];
  if (match.shared !== null && match.shingles !== null) {
    parts.push(`${count(match.shared)} of its ${counted(match.shingles, "shingle")} shared`);
  }
  if (typeof match.containment_of_query === "number") {
    parts.push(`contains ${percent(match.containment_of_query)} of ${whose}`);
  }
  if (typeof match.containment_of_match === "number") {
    parts.push(`${percent(match.containment_of_match)} of it is in ${whose}`);
  }
  return make("p", { class: "note" }, parts.join(" · "));
};

/**
 * @param {Match} match
 * @param {string|undefined} queryId the id of the query; undefined for a text
 */
const item = (match, queryId) => {
  const named = shortened(visible(match.id), 80);
  const compare = make(
    "a",
    {
      class: "button",
      href: address("compare", { a: queryId, b: match.id }),
    },
    "Show the differences",
    make("span", { class: "unseen" }, ` to ${named}`),
  );
  return make(
    "li",
    { class: "match" },
    make(
      "div",
      { class: "match-head" },
      bar(match.similarity, match.estimated, match.equal_text),
      make(
        "a",
        { class: "match-id", href: address("document", { id: match.id }) },
        idElement(match.id),
      ),
    ),
    facts(match, queryId === undefined ? "your text" : "the other document"),
    ...described(match),
    make("div", { class: "buttons" }, compare),
  );
};

/**
 * The matches of an answer, and the probability that a similar document is found.
 * @param {Matches} answer
 * @param {string|undefined} queryId the id of the query; undefined for a text
 * @returns {Node[]}
 */
export const matches = (answer, queryId) => {
  if (answer.shingles === 0) return [];
  /** @type {HTMLElement[]} */
  const parts = [recall(answer)];
  if (answer.matches.length > 0) {
    const title =
      queryId === undefined
        ? ["Similar to your text"]
        : ["Similar to ", idElement(shortened(queryId, 300), "")];
    parts.unshift(make("h2", {}, ...title));
    parts.push(
      make("ol", { class: "matches" }, ...answer.matches.map((match) => item(match, queryId))),
    );
  }
  if (answer.matches.some((match) => match.estimated)) {
    parts.push(
      make(
        "p",
        { class: "note" },
        "The index stores only signatures, so similarities are estimates.",
      ),
    );
  }
  return parts;
};

/**
 * The most similar documents, for a query that found nothing.
 * @param {Matches} answer of a query for the nearest documents
 * @param {string|undefined} queryId the id of the query; undefined for a text
 * @returns {Node[]}
 */
export const nearest = (answer, queryId) =>
  answer.matches.length === 0
    ? []
    : [
        make("h2", {}, "The nearest documents"),
        make("p", { class: "note" }, "They are less similar than requested."),
        make(
          "ol",
          { class: "matches", id: "nearest" },
          ...answer.matches.map((match) => item(match, queryId)),
        ),
      ];
