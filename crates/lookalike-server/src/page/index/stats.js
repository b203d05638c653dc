// The view of the index: counts, predicted recall, settings.

import { request } from "../client/api.js";
import { curve } from "./curve.js";
import { make, table, tiles } from "../dom/dom.js";
import { count, counted, probability, size, visible } from "../dom/format.js";
import { loadedView } from "../client/view.js";
import { settings } from "../client/settings.js";

/** @import { Settings, Stats } from "../client/types.js" */

/** @param {Stats} stats */
const counts = (stats) =>
  tiles([
    ["Documents", count(stats.documents)],
    ["Without shingles", count(stats.without_shingles), "without near-duplicates"],
    ["On disk", size(stats.catalogue_bytes + stats.segment_bytes)],
    ["Shingle sets", size(stats.set_bytes)],
    ["Texts", size(stats.text_bytes)],
    [
      "Postings",
      count(stats.postings),
      `${size(stats.segment_bytes)} in ${counted(stats.segments, "segment")}, ` +
        `${counted(stats.tail, "document")} outside of segments`,
    ],
  ]);

/** @type {Record<string, string>} */
const STORED = {
  signatures: "signatures only: similarities are estimates",
  sets: "shingle sets: similarities are exact",
  texts: "shingle sets and texts: similarities are exact, differences can be shown",
  originals: "shingle sets, texts and original files of each version",
};

/**
 * Settings and their descriptions, in the order of the table. Other settings follow without a
 * description.
 * @type {[keyof Settings, string][]}
 */
const ROWS = [
  ["threshold", "Default minimum similarity of a search"],
  ["recall", "Wanted share of found documents at the threshold"],
  ["shingle", "Unit of comparison: sequences of this many"],
  ["tokens", "Definition of a word"],
  ["case", "Treatment of upper and lower case"],
  ["frequencies", "Repeated shingles count"],
  ["stop_words", "Words that the index ignores"],
  ["wording", "Changes to a text before the index cuts it into shingles"],
  ["num_hashes", "Values in a signature"],
  ["bands", "A shared band makes two documents candidates"],
  ["rows", "Values in a band"],
  ["scheme", "Method of computing signatures"],
  ["seed", "Selects the hash functions"],
  ["store", "Stored parts of a document"],
  ["containment", "Similarity is containment; method of finding candidates"],
  ["originals", "Maximum size of an original"],
  ["format", "Version of the stored data"],
];
/**
 * Settings that the table omits, because the page shows them elsewhere or not at all.
 * @type {string[]}
 */
const ELSEWHERE = [
  "name",
  "predicted_recall",
  "recall_caveat",
  "writable",
  "version",
  "exact",
  "token_needed",
];

/**
 * The value of a setting.
 * @param {Settings} all
 * @param {string} name
 */
const value = (all, name) => {
  if (name === "stop_words") return all.stop_words ? visible(all.stop_words.name) : "none";
  if (name === "store") return STORED[all.store] || visible(all.store);
  if (name === "originals" && all.originals) return size(all.originals.max_bytes);
  const data = new Map(Object.entries(all)).get(name);
  if (typeof data === "boolean") return data ? "yes" : "no";
  return visible(typeof data === "object" ? JSON.stringify(data) : String(data));
};

/** @param {Settings} all */
const chosen = (all) => {
  const knownRows = ROWS.filter(([name]) => name in all);
  const otherNames = Object.keys(all).filter(
    (name) => !ELSEWHERE.includes(name) && !ROWS.some(([rowName]) => rowName === name),
  );
  const rows = [...knownRows, ...otherNames.map((name) => [name, ""])];
  return make(
    "div",
    { class: "wide" },
    table(
      ["Setting", "Value", "Description"],
      rows.map(([name, meaning]) => [
        visible(name.replaceAll("_", " ")),
        value(all, name),
        meaning,
      ]),
      "Settings of the index",
    ),
  );
};

/**
 * The bands and rows of the curve. With containment, each anchor is a band of one row.
 * @param {Settings} all
 */
const banding = (all) => (all.containment ? { bands: all.containment.anchors, rows: 1 } : all);

/** @param {Settings} all */
const layout = ({ containment, bands, rows }) =>
  containment
    ? `${counted(containment.anchors, "anchor")}: 1 − (1 − s)^${containment.anchors}`
    : `${counted(bands, "band")} of ${counted(rows, "row")}: 1 − (1 − s^${rows})^${bands}`;

/** @param {string} reason */
const caveat = (reason) =>
  make("p", { class: "warning" }, `Results can be incomplete: ${visible(reason)}.`);

/** @param {Settings} all */
const sureness = (all) =>
  make(
    "div",
    { class: "beside" },
    make(
      "div",
      {},
      make(
        "p",
        { class: "lead" },
        `A document with a similarity of exactly ${all.threshold} is ` +
          `found with a probability of ${probability(all.predicted_recall)}.`,
      ),
      make(
        "p",
        {},
        "The probability is higher for more similar documents and lower for others. " +
          "The server compares each candidate, so every result has the requested similarity.",
      ),
      make("p", { class: "note" }, layout(all)),
    ),
    make(
      "figure",
      {},
      curve(banding(all).bands, banding(all).rows, all.threshold),
      make("figcaption", {}, "A search requests the shaded part."),
    ),
  );

export const showIndex = loadedView("index", "Loading the index …", async (_params, signal) => {
  const [all, stats] = await Promise.all([settings(), request("GET", "v1/stats", { signal })]);
  return [
    "",
    [
      counts(stats),
      make("h2", {}, "How complete are the results?"),
      all.recall_caveat ? caveat(all.recall_caveat) : sureness(all),
      make("h2", {}, "Settings of the index"),
      chosen(all),
      make(
        "p",
        { class: "note" },
        `Program: lookalike ${visible(all.version)}. State of the ` +
          `index: ${visible(stats.version)}. ` +
          (all.writable
            ? "You can add and remove documents here."
            : "The server opened it for reading only."),
      ),
    ],
  ];
});
