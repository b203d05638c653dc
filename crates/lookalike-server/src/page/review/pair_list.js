// A list of pairs of documents. It is drawn in batches, because it can have thousands.

import { idElement, make } from "../dom/dom.js";
import { similarity } from "../dom/format.js";
import { gradually } from "../dom/gradually.js";
import { address } from "../dom/router.js";

/**
 * A pair, and the number of the last decision about it that this page has seen.
 * @typedef {{documents: string[], seen: number, similarity?: number}} SeenPair
 */

/** Pairs drawn at first, and by each "Show more". */
const BUDGET = 50;

/** @param {SeenPair} pair */
const row = ({ documents: [a, b], similarity: value }) =>
  make(
    "div",
    { class: "pair", role: "row" },
    make(
      "span",
      { role: "cell" },
      make("a", { href: address("compare", { a, b }) }, idElement(a), " and ", idElement(b)),
    ),
    make("span", { role: "cell", class: "figure" }, value === undefined ? "" : similarity(value)),
  );

/**
 * The list, with a link to the comparison of each pair.
 * @param {SeenPair[]} pairs
 * @returns {HTMLElement}
 */
export const pairList = (pairs) => {
  const body = make("div", { role: "rowgroup" });
  const parts = function* () {
    for (const pair of pairs) yield { element: row(pair), cost: 1 };
  };
  gradually(body, parts(), BUDGET);
  return make("div", { class: "pairs", role: "table", "aria-label": "Pairs", tabindex: "0" }, body);
};
