"use strict";
// Saves what a review comes to: the decisions, the documents that go, and those that stay.

import { later, request } from "../client/api.js";
import { button, make } from "../dom/dom.js";
import { size } from "../dom/format.js";
import { save } from "../client/save.js";
import { fillPart } from "../client/view.js";

/** What can be saved: path, name of the file, text of the button. */
const LISTS = [
  ["v1/review/decisions", "decisions.jsonl", "Save the decisions"],
  ["v1/review/removed", "removed.jsonl", "Save the list of what goes"],
  ["v1/review/kept", "kept.jsonl", "Save the list of what stays"],
];

/** A list; where groups are still computed it is asked for again. */
const list = async (path, signal, wait) => {
  for (;;) {
    try {
      return await request("GET", path, { blob: true, signal });
    } catch (error) {
      if (error.status !== 202) throw error;
      wait();
      await later(error.wait || 1, signal);
    }
  }
};

/**
 * The lists to save, folded.
 * @param {URLSearchParams} filter the threshold of the groups
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export const exportLists = (filter, signal) => {
  const said = make("div", { role: "status" });
  const ask = (path, name) => fillPart(said, async () => {
    const threshold = filter.get("threshold");
    const query = threshold && name !== "decisions.jsonl" ? `?${new URLSearchParams({ threshold })}` : "";
    said.replaceChildren("Asking …");
    const blob = await list(path + query, signal, () => said.replaceChildren("Groups are computed …"));
    save(blob, name);
    said.replaceChildren(`${name}: ${size(blob.size)}`);
  });
  return make("details", { class: "fold review-export" },
    make("summary", {}, "Save decisions and lists"),
    make("p", { class: "note" }, "All groups of the threshold, whatever else the filter says, with " +
      "the decisions that are stored."),
    make("div", { class: "buttons" }, ...LISTS.map(([path, name, text]) =>
      button(text, () => ask(path, name)))), said);
};
