"use strict";
// Decides about all duplicates above a similarity at once: counted first, then applied, revocable.

import { request } from "./api.js";
import { button, make } from "./dom.js";
import { count, counted } from "./format.js";
import { problem } from "./problem.js";
import { groupPage } from "./review_queue.js";

/** Groups of a request, and decisions of one. */
const PAGE = 1_000;
const BATCH = 10_000;

/** The pairs of undecided groups that a decision would be made about. */
const pairsAbove = async (filter, least, sameTitle, signal) => {
  const pairs = [], query = new URLSearchParams(filter);
  query.set("state", "undecided");
  query.delete("beginning");
  query.set("limit", String(PAGE));
  let groups = 0;
  for (;;) {
    const found = await groupPage(query, signal);
    for (const { keeper, duplicates } of found.groups) {
      const fits = ({ similarity, decision, metadata }) => decision === undefined &&
        similarity >= least &&
        (!sameTitle || (metadata?.title && metadata.title === keeper.metadata?.title));
      const these = duplicates.filter(fits).map(({ id }) => [keeper.id, id]);
      if (these.length > 0) groups += 1;
      pairs.push(...these);
    }
    if (!found.next) return { pairs, groups };
    query.set("after", found.next);
  }
};

const record = async (decision, pairs, note) => {
  for (let from = 0; from < pairs.length; from += BATCH) {
    const batch = pairs.slice(from, from + BATCH);
    const decisions = batch.map((documents) => ({ decision, documents, ...note ? { note } : {} }));
    await request("POST", "v1/decisions", { body: { decisions } });
  }
};

/**
 * The form of decisions about many pairs.
 * @param {{filter: URLSearchParams, signal: AbortSignal}} review
 * @returns {HTMLElement}
 */
export const bulkForm = ({ filter, signal }) => {
  const least = make("input", {
    type: "number", id: "bulk-least", class: "short", min: "0", max: "1", step: "any", value: "0.98",
    inputmode: "decimal", required: true,
  });
  const title = make("input", { type: "checkbox", id: "bulk-title" });
  const said = make("p", { class: "status", role: "status" }), acts = make("div");
  const guarded = async (work) => {
    try {
      await work();
    } catch (error) {
      if (error.name === "AbortError") return;
      said.textContent = "";
      acts.replaceChildren(problem(error));
    }
  };
  const applied = (pairs, least) => {
    said.textContent = `${counted(pairs.length, "pair")} of similarity ${least} or more decided as ` +
      "duplicates.";
    acts.replaceChildren(make("div", { class: "buttons" }, button("Take it back",
      () => guarded(async () => {
        said.textContent = "Taking it back …";
        acts.replaceChildren();
        await record("undecided", pairs);
        said.textContent = `${counted(pairs.length, "decision")} taken back.`;
      }))));
  };
  const preview = () => guarded(async () => {
    said.textContent = "Counting …";
    acts.replaceChildren();
    const value = Number(least.value);
    const { pairs, groups } = await pairsAbove(filter, value, title.checked, signal);
    said.textContent = pairs.length === 0 ? "No undecided pair is that similar."
      : `${counted(pairs.length, "pair")} of ${counted(groups, "group")} would be decided as ` +
        "duplicates. Nothing is stored yet.";
    if (pairs.length === 0) return;
    acts.replaceChildren(make("div", { class: "buttons" },
      button(`Decide ${count(pairs.length)} as duplicates`, () => guarded(async () => {
        said.textContent = "Storing …";
        acts.replaceChildren();
        await record("duplicate", pairs, `all of similarity ${value} or more`);
        applied(pairs, value);
      })), button("Cancel", () => { said.textContent = ""; acts.replaceChildren(); })));
  });
  const form = make("form", { class: "controls" },
    make("div", { class: "field" }, make("label", { for: "bulk-least" },
      "All pairs of at least this similarity"), least),
    make("div", { class: "field" }, make("label", { for: "bulk-title" },
      "Only with equal titles"), title),
    make("button", { type: "submit" }, "Count them"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    preview();
  });
  return make("details", { class: "fold review-bulk" },
    make("summary", {}, "Decide about many at once"), form, said, acts);
};
