// Decides about all pairs of at least a given similarity at once. The user sees the pairs first,
// and can revoke the decisions immediately or later.

import { isAbort, isConflict, storeDecisions } from "../client/api.js";
import { button, field, make } from "../dom/dom.js";
import { count, counted } from "../dom/format.js";
import { problem } from "../client/problem.js";
import { conflictList } from "./conflicts.js";
import { pairList } from "./pair_list.js";
import { bulkNote, pastBulk } from "./past_bulk.js";
import { groupPage } from "../client/group_page.js";

/** Maximum number of groups in one response, and of decisions in one request. */
const PAGE = 1_000;
const BATCH = 10_000;

/** @import { Conflict, DecisionKind, Duplicate, MemberDecision } from "../client/types.js" */
/** @import { SeenPair } from "./pair_list.js" */

/** @typedef {[string, () => unknown]} Act text and action of a button */

/**
 * Requests the undecided pairs of a similarity of at least `least`, and counts their groups.
 * @param {URLSearchParams} filter
 * @param {number} least
 * @param {boolean} sameTitle omits pairs without equal titles
 * @param {AbortSignal} signal
 */
const pairsAbove = async (filter, least, sameTitle, signal) => {
  /** @type {SeenPair[]} */
  const pairs = [];
  const query = new URLSearchParams(filter);
  query.set("state", "undecided");
  query.delete("beginning");
  query.set("limit", String(PAGE));
  let groups = 0;
  for (;;) {
    const found = await groupPage(query, signal);
    const seen = found.last_decision ?? 0;
    for (const { keeper, duplicates } of found.groups) {
      /** @param {Duplicate} duplicate */
      const fits = ({ similarity, decision, metadata }) =>
        decision === undefined &&
        similarity >= least &&
        (!sameTitle || (metadata?.title && metadata.title === keeper.metadata?.title));
      const groupPairs = duplicates
        .filter(fits)
        .map(({ id, similarity }) => ({ documents: [keeper.id, id], similarity, seen }));
      if (groupPairs.length > 0) groups += 1;
      pairs.push(...groupPairs);
    }
    if (!found.next) return { pairs, groups };
    query.set("after", found.next);
  }
};

/**
 * Stores a decision about pairs. Stops at the first request with a pair that other people decided
 * in the meantime.
 * @param {DecisionKind} decision
 * @param {SeenPair[]} pairs
 * @param {SeenPair[]} stored receives the stored pairs, with the numbers of their decisions
 * @param {string} note
 * @returns {Promise<{conflicts: Conflict[], rest: SeenPair[]}>} the decisions of others, and the
 *   pairs that are not stored and have no conflict
 */
const record = async (decision, pairs, stored, note = "") => {
  for (let from = 0; from < pairs.length; from += BATCH) {
    const batch = pairs.slice(from, from + BATCH);
    const decisions = batch.map(({ documents, seen }) => ({
      decision,
      documents,
      seen,
      ...(note ? { note } : {}),
    }));
    try {
      const numbers = await storeDecisions(decisions);
      stored.push(...batch.map(({ documents }, at) => ({ documents, seen: numbers[at] })));
    } catch (error) {
      if (!isConflict(error)) throw error;
      const refused = new Set(error.conflicts.map(({ position }) => from + position));
      return {
        conflicts: error.conflicts,
        rest: pairs.filter((_, at) => at >= from && !refused.has(at)),
      };
    }
  }
  return { conflicts: [], rest: [] };
};

/** The form and its results. */
class BulkForm {
  /** @param {import("./review.js").Review} review */
  constructor(review) {
    this.review = review;
    this.least = make("input", {
      type: "number",
      id: "bulk-least",
      class: "short",
      min: "0",
      max: "1",
      step: "any",
      value: "0.98",
      inputmode: "decimal",
      required: true,
    });
    this.title = make("input", { type: "checkbox", id: "bulk-title" });
    this.status = make("p", { class: "status", role: "status" });
    this.acts = make("div");
    this.form = make(
      "form",
      { class: "controls" },
      field("All pairs of at least this similarity", this.least),
      field("Only with equal titles", this.title),
      make("button", { type: "submit" }, "List the pairs"),
    );
    this.past = pastBulk(review.signal, (pairs) => this.guarded(() => this.takeBack(pairs, [])));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.guarded(() => this.preview());
    });
  }

  /**
   * @param {string} text
   * @param {...Node} nodes
   */
  say(text, ...nodes) {
    this.status.textContent = text;
    this.acts.replaceChildren(...nodes);
  }

  /** @param {...Act} all */
  buttons(...all) {
    return make(
      "div",
      { class: "buttons" },
      ...all.map(([text, act]) => button(text, () => this.guarded(act))),
    );
  }

  /**
   * Runs an action, and shows its error.
   * @param {() => unknown} work
   */
  async guarded(work) {
    try {
      await work();
    } catch (error) {
      if (!isAbort(error)) this.say("", problem(error));
    }
  }

  /** Lists the pairs that match the form, with a button that decides about them. */
  async preview() {
    const { filter, signal, log } = this.review;
    const least = Number(this.least.value);
    const rule = `similarity ${least} or more${this.title.checked ? ", equal titles" : ""}`;
    this.say("Counting …");
    // Pairs that this page has decided must be stored first, or the server lists them as undecided.
    await log.send();
    const { pairs, groups } = await pairsAbove(filter, least, this.title.checked, signal);
    if (pairs.length === 0) {
      this.say("No undecided pair is that similar.");
      return;
    }
    const note = bulkNote(rule, new Date());
    this.say(
      `${counted(pairs.length, "pair")} of ${counted(groups, "group")} would become ` +
        "duplicates. Nothing is stored yet.",
      this.buttons(
        [`Decide ${count(pairs.length)} as duplicates`, () => this.decide(pairs, rule, note, [])],
        ["Cancel", () => this.say("")],
      ),
      pairList(pairs),
    );
  }

  /**
   * Decides that pairs are duplicates. Offers to revoke the decisions, and to continue after
   * conflicts.
   * @param {SeenPair[]} pairs
   * @param {string} rule
   * @param {string} note
   * @param {SeenPair[]} stored pairs of earlier calls; receives the stored pairs
   * @returns {Promise<void>}
   */
  async decide(pairs, rule, note, stored) {
    const before = stored.length;
    this.say("Storing …");
    try {
      const { conflicts, rest } = await record("duplicate", pairs, stored, note);
      const outcome = `${counted(stored.length, "pair")} decided as duplicates (${rule}).`;
      /** @type {Act[]} */
      const back =
        stored.length === 0
          ? []
          : [[`Take back ${count(stored.length)}`, () => this.takeBack(stored, [])]];
      if (conflicts.length === 0) this.say(outcome, this.buttons(...back));
      else {
        this.asking(
          conflicts,
          outcome,
          rest.length === 0
            ? back
            : [
                [
                  `Decide the other ${count(rest.length)}`,
                  () => this.decide(rest, rule, note, stored),
                ],
                ...back,
              ],
        );
      }
    } finally {
      await this.changed(stored.slice(before), "duplicate");
    }
  }

  /**
   * Revokes the decisions about pairs.
   * @param {SeenPair[]} pairs
   * @param {SeenPair[]} revoked pairs of earlier calls; receives the revoked pairs
   * @returns {Promise<void>}
   */
  async takeBack(pairs, revoked) {
    const before = revoked.length;
    this.say("Taking back …");
    try {
      const { conflicts, rest } = await record("undecided", pairs, revoked);
      const outcome = `${counted(revoked.length, "decision")} taken back.`;
      if (conflicts.length === 0) this.say(outcome);
      else {
        this.asking(
          conflicts,
          outcome,
          rest.length === 0
            ? []
            : [[`Take back the other ${count(rest.length)}`, () => this.takeBack(rest, revoked)]],
        );
      }
    } finally {
      await this.changed(revoked.slice(before), undefined);
    }
  }

  /**
   * Shows stored decisions in the queue and in the list of past actions.
   * @param {SeenPair[]} pairs
   * @param {MemberDecision} decision
   */
  async changed(pairs, decision) {
    if (pairs.length === 0) return;
    await this.review.decidedMany(pairs, decision);
    await this.past.reload();
  }

  /**
   * Shows the decisions of others, which remain in force, and asks about the other pairs.
   * @param {Conflict[]} conflicts
   * @param {string} done
   * @param {Act[]} choices
   */
  asking(conflicts, done, choices) {
    const others = `Other people decided ${counted(conflicts.length, "pair")} in the meantime`;
    this.say(
      `${done} ${others}; their decisions remain:`,
      conflictList(conflicts),
      this.buttons(...choices, ["Close", () => this.say(done)]),
    );
  }
}

/**
 * The folded form that decides about many pairs at once.
 * @param {import("./review.js").Review} review
 * @returns {HTMLElement}
 */
export const bulkForm = (review) => {
  const { form, status, acts, past } = new BulkForm(review);
  return make(
    "details",
    { class: "fold review-bulk" },
    make("summary", {}, "Decide about many at once"),
    form,
    status,
    acts,
    past.element,
  );
};
