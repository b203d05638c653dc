// Saves the results of a review: the decisions, the removed documents and the kept documents.

import { later, request } from "../client/api.js";
import { button, make } from "../dom/dom.js";
import { size } from "../dom/format.js";
import { save } from "../client/save.js";
import { fillPart } from "../client/view.js";

/** Files to save: path, name of the file, text of the button. */
const LISTS = [
  ["v1/review/decisions", "decisions.jsonl", "Save the decisions"],
  ["v1/review/removed", "removed.jsonl", "Save the removed documents"],
  ["v1/review/kept", "kept.jsonl", "Save the kept documents"],
];

/** Requests a list until the server has computed its groups. */
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
  const ask = (path, name) =>
    fillPart(said, async () => {
      const threshold = filter.get("threshold");
      const query =
        threshold && name !== "decisions.jsonl" ? `?${new URLSearchParams({ threshold })}` : "";
      said.replaceChildren("Loading …");
      const blob = await list(path + query, signal, () =>
        said.replaceChildren("The server computes the groups …"),
      );
      save(blob, name);
      said.replaceChildren(`${name}: ${size(blob.size)}`);
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
    said,
  );
};
