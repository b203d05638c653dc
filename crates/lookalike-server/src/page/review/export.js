// Saves the results of a review: the decisions, the removed documents and the kept documents.

import { ApiError, later, requestFile } from "../client/api.js";
import { button, make } from "../dom/dom.js";
import { size } from "../dom/format.js";
import { save } from "../client/save.js";
import { fillPart } from "../client/view.js";

/** @typedef {`v1/review/${"decisions"|"removed"|"kept"}`} ListPath */

/**
 * Files to save: path, name of the file, text of the button.
 * @type {[ListPath, string, string][]}
 */
const LISTS = [
  ["v1/review/decisions", "decisions.jsonl", "Save the decisions"],
  ["v1/review/removed", "removed.jsonl", "Save the removed documents"],
  ["v1/review/kept", "kept.jsonl", "Save the kept documents"],
];

/**
 * Requests a list until the server has computed its groups.
 * @param {ListPath|`${ListPath}?${string}`} path
 * @param {AbortSignal} signal
 * @param {() => void} wait called before each pause
 */
const list = async (path, signal, wait) => {
  for (;;) {
    try {
      return await requestFile(path, signal);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 202) throw error;
      wait();
      await later(error.wait || 1, signal);
    }
  }
};

/**
 * The folded buttons that save the lists.
 * @param {URLSearchParams} filter of the review; only its threshold is used
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export const exportLists = (filter, signal) => {
  const status = make("div", { role: "status" });
  /**
   * @param {ListPath} path
   * @param {string} name
   */
  const ask = (path, name) =>
    fillPart(status, async () => {
      const threshold = filter.get("threshold");
      const isLimited = threshold !== null && path !== "v1/review/decisions";
      const query = new URLSearchParams(isLimited ? { threshold } : {});
      status.replaceChildren("Loading …");
      const blob = await list(`${path}?${query}`, signal, () =>
        status.replaceChildren("The server computes the groups …"),
      );
      save(blob, name);
      status.replaceChildren(`${name}: ${size(blob.size)}`);
    });
  return make(
    "details",
    { class: "fold review-export" },
    make("summary", {}, "Save decisions and lists"),
    make(
      "p",
      { class: "note" },
      "The lists contain all groups of the threshold, with the stored " +
        "decisions. Other filters do not apply.",
    ),
    make(
      "div",
      { class: "buttons" },
      ...LISTS.map(([path, name, text]) => button(text, () => ask(path, name))),
    ),
    status,
  );
};
