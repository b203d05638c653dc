// The view of two documents, or of the searched text and a document, side by side.

import { compareTexts } from "../client/api.js";
import { at, idElement, inputAt, make, tiles } from "../dom/dom.js";
import { differences } from "./differences.js";
import { count, counted, similarity, visible } from "../dom/format.js";
import { probe } from "./probe.js";
import { contentOf, loadedView } from "../client/view.js";
import { address, go } from "../dom/router.js";

/** @import { Child } from "../dom/dom.js" */
/** @import { Comparison } from "../client/types.js" */

const show = contentOf("compare");

/**
 * Describes how the similarity was computed. Texts with equal sets of shingles can differ.
 * @param {Comparison} found
 */
const kind = (found) => {
  if (found.estimated) return "estimated by signatures";
  if (found.jaccard < 1) return "exact Jaccard similarity";
  if (!found.difference_counts) return "exact: the sets of shingles are equal";
  const { words, same_words: sameWords } = found.difference_counts;
  return words + sameWords === 0
    ? "exact: the texts are equal"
    : "exact: the sets of shingles are equal, the texts are not";
};

/**
 * The figures of a comparison.
 * @param {Comparison} found
 * @returns {HTMLElement}
 */
export const figures = (found) => {
  /** @type {Array<[string, string, string?]>} */
  const rows = [["Similarity", similarity(found.jaccard), kind(found)]];
  if (found.shared !== null && found.shingles_a !== null && found.shingles_b !== null) {
    rows.push([
      "Shared shingles",
      count(found.shared),
      `of ${count(found.shingles_a)} and ${count(found.shingles_b)}`,
    ]);
  }
  if (found.containment_of_a !== null && found.containment_of_b !== null) {
    rows.push(
      ["Share of the first in the second", similarity(found.containment_of_a)],
      ["Share of the second in the first", similarity(found.containment_of_b)],
    );
  }
  return tiles(rows);
};

/**
 * A link to a document.
 * @param {string} id
 * @returns {HTMLElement}
 */
export const documentLink = (id) => make("a", { href: address("document", { id }) }, idElement(id));

/**
 * Both texts of a comparison side by side, or the reason why the page cannot show them.
 * @param {Comparison} found
 * @param {[Child, Child]} names of the texts
 * @returns {HTMLElement[]}
 */
export const sides = (found, names) => {
  if (found.differences) {
    const nodes = differences(found.differences, names);
    if (found.differences_cut_short) {
      nodes.unshift(
        make(
          "p",
          { class: "note" },
          "The texts are so different that the marks are " + "not the fewest possible.",
        ),
      );
    }
    return nodes;
  }
  return [
    make(
      "p",
      { class: "warning" },
      "The page cannot show the differences: " +
        (found.differences_missing || "the index does not store texts") +
        ".",
    ),
  ];
};

/**
 * A sentence with the number of differences of each kind.
 * @param {Comparison} found
 * @returns {string}
 */
export const outcome = (found) => {
  if (!found.differences || !found.difference_counts) return "Compared.";
  const { words, same_words: sameWords, moved } = found.difference_counts;
  /** @type {[string, number][]} */
  const places = [
    ["case", found.difference_counts.case],
    ["punctuation", found.difference_counts.punctuation],
    ["white space", found.difference_counts.white_space],
  ];
  const kinds = places
    .filter(([, places]) => places > 0)
    .map(([kind, places]) => `${kind} ${count(places)}`)
    .join(", ");
  const written = `${counted(sameWords, "place")} with the same words written differently`;
  if (words === 0 && sameWords === 0) return "The texts are equal.";
  if (words === 0) return `The words are equal; ${written} (${kinds}).`;
  const blocks = moved > 0 ? `, with ${counted(moved, "moved block")}` : "";
  const differ = `The texts differ in ${counted(words, "place")}${blocks}`;
  return sameWords === 0 ? `${differ}.` : `${differ}; ${written} (${kinds}).`;
};

const compare = loadedView("compare", "Comparing …", async (params, signal) => {
  const a = params.get("a");
  const b = params.get("b") ?? "";
  const ownText = a === null ? probe() : null;
  const first = ownText ? { text: ownText.text } : a === null ? null : { id: a };
  if (first === null) {
    return [
      "The address does not contain the text that you searched.",
      [make("p", {}, make("a", { href: "#/" }, "Search again"), " and choose the match.")],
    ];
  }
  const found = await compareTexts(first, { id: b }, signal);
  return [
    outcome(found),
    [
      figures(found),
      make("h2", {}, "Differences"),
      ...sides(found, [
        ownText ? make("bdi", {}, visible(ownText.name)) : documentLink(a ?? ""),
        documentLink(b),
      ]),
    ],
  ];
});

/** Installs the event handlers of the form. */
export const watchCompare = () => {
  at("compare-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const fields = [inputAt("compare-a"), inputAt("compare-b")];
    const missing = fields.find((field) => field.value === "");
    if (missing) {
      show("Type both ids.", []);
      missing.focus();
      return;
    }
    go(address("compare", { a: fields[0].value, b: fields[1].value }));
  });
};

/** @type {import("../dom/router.js").Show} */
export const showCompare = (params, signal) => {
  const a = params.get("a");
  const b = params.get("b");
  inputAt("compare-a").value = a ?? "";
  inputAt("compare-b").value = b ?? "";
  inputAt("compare-a").placeholder = a === null && b !== null ? visible(probe()?.name ?? "") : "";
  if (b === null) show("", []);
  else compare(params, signal);
};
