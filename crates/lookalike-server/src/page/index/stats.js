"use strict";
// The view of the index: counts, predicted recall, settings.

import { request } from "../client/api.js";
import { curve } from "./curve.js";
import { make, table, tiles } from "../dom/dom.js";
import { count, counted, probability, size, visible } from "../dom/format.js";
import { loadedView } from "../client/view.js";
import { settings } from "../client/settings.js";

const counts = (stats) => tiles([
  ["Documents", count(stats.documents)],
  ["Without shingles", count(stats.without_shingles), "they resemble nothing"],
  ["On the disk", size(stats.catalogue_bytes + stats.segment_bytes)],
  ["Shingle sets", size(stats.set_bytes)],
  ["Texts", size(stats.text_bytes)],
  ["Postings", count(stats.postings),
    `${size(stats.segment_bytes)} in ${counted(stats.segments, "segment")}, ` +
    `${counted(stats.tail, "document")} not in one yet`],
]);

const STORED = {
  signatures: "signatures only: similarities are estimates",
  sets: "shingle sets: similarities are exact",
  texts: "shingle sets and texts: similarities are exact, differences can be shown",
  originals: "shingle sets and texts, and what documents were read from, of each version",
};

/** Descriptions of settings; unknown ones are shown without one. */
const ROWS = [
  ["threshold", "The least similarity, if a search does not say another"],
  ["recall", "The share of documents at the threshold that was to be found"],
  ["shingle", "What is compared: runs of that many"],
  ["tokens", "What a word is"],
  ["case", "Whether upper and lower case are the same"],
  ["frequencies", "Whether repeats count"],
  ["stop_words", "Words that are left out"],
  ["wording", "What is done to a text before it is cut"],
  ["num_hashes", "Values in a signature"],
  ["bands", "A shared band makes two documents candidates"],
  ["rows", "Values in a band"],
  ["scheme", "How signatures are computed"],
  ["seed", "Draws the hash functions"],
  ["store", "What is kept of a document"],
  ["containment", "Similarity is containment, and how candidates are found"],
  ["originals", "The most bytes of an original"],
  ["format", "The version of what is stored"],
];
const ELSEWHERE = ["name", "predicted_recall", "recall_caveat", "writable", "version",
  "exact", "token_needed"];

const value = (name, data) => {
  if (name === "stop_words") return data ? visible(data.name ?? data) : "none";
  if (name === "store") return STORED[data] || visible(data);
  if (name === "originals") return size(data.max_bytes);
  if (typeof data === "boolean") return data ? "yes" : "no";
  return visible(typeof data === "object" ? JSON.stringify(data) : data);
};

const chosen = (all) => {
  const known = ROWS.filter(([name]) => name in all);
  const others = Object.keys(all).filter((name) => !ELSEWHERE.includes(name) &&
    !ROWS.some(([known]) => known === name));
  const rows = [...known, ...others.map((name) => [name, ""])];
  return make("div", { class: "wide" }, table(["Setting", "Value", "What it does"],
    rows.map(([name, meaning]) => [visible(name.replaceAll("_", " ")), value(name, all[name]),
      meaning]), "Settings of the index"));
};

// Containment has the curve of one band per anchor.
const banding = (all) => all.containment ? { bands: all.containment.anchors, rows: 1 } : all;

const layout = ({ containment, bands, rows }) => containment
  ? `${counted(containment.anchors, "anchor")}: 1 − (1 − s)^${containment.anchors}`
  : `${counted(bands, "band")} of ${counted(rows, "row")}: 1 − (1 − s^${rows})^${bands}`;

const caveat = (all) =>
  make("p", { class: "warning" }, `Documents can be missing: ${visible(all.recall_caveat)}.`);

const sureness = (all) => make("div", { class: "beside" },
  make("div", {},
    make("p", { class: "lead" }, `A document with a similarity of exactly ${all.threshold} is ` +
      `found with a probability of ${probability(all.predicted_recall)}.`),
    make("p", {}, "More similar ones are found more surely, less similar ones less. What is " +
      "found is compared before it is shown, so nothing is shown that is not similar enough."),
    make("p", { class: "note" }, layout(all))),
  make("figure", {}, curve(banding(all).bands, banding(all).rows, all.threshold),
    make("figcaption", {}, "The shaded part is what a search asks for.")));

export const showIndex = loadedView("index", "Asking for the index …", async (params, signal) => {
  const [all, stats] = await Promise.all([settings(), request("GET", "v1/stats", { signal })]);
  return ["", [counts(stats), make("h2", {}, "How surely are documents found?"),
    all.recall_caveat ? caveat(all) : sureness(all),
    make("h2", {}, "Settings of the index"), chosen(all),
    make("p", { class: "note" }, `Program: lookalike ${visible(all.version)}. State of the ` +
      `index: ${visible(stats.version)}. ` +
      (all.writable ? "Documents may be added and removed here." : "It is only read here."))]];
});
