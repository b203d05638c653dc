// Lists earlier decisions about many pairs at once. Only the log of decisions records them: their
// notes begin with the same words, and name the time and the rule.

import { request } from "../client/api.js";
import { button, fold, make } from "../dom/dom.js";
import { count, counted, shortened, time, visible } from "../dom/format.js";
import { fillPart } from "../client/view.js";
import { conflictList } from "./conflicts.js";
import { targetOf, targets } from "./decision_log.js";
import { pairList } from "./pair_list.js";

/** @import { PresentDecision, StoredDecision } from "../client/types.js" */
/** @import { SeenPair } from "./pair_list.js" */

/** Maximum number of decisions in one response. */
const PAGE = "10000";
const MARK = "many at once";
const NOTE = new RegExp(`^${MARK}, (\\S+): (.*)$`, "s");

/**
 * The note that each decision of a bulk action contains.
 * @param {string} rule the condition that selected the pairs
 * @param {Date} now distinguishes actions with the same rule
 * @returns {string}
 */
export const bulkNote = (rule, now) => `${MARK}, ${now.toISOString()}: ${rule}`;

/**
 * Returns true if a decision is part of a bulk action.
 * @param {StoredDecision} decision
 */
export const isBulk = ({ note }) => NOTE.test(note ?? "");

/**
 * A bulk action. `pairs` are the pairs whose decision is still in force, `changed` the later
 * decisions about the other pairs.
 * @typedef {{rule: string, moment: string, who: string|undefined, pairs: SeenPair[],
 *   changed: PresentDecision[]}} BulkAction
 */

/**
 * Reads the whole log of decisions.
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<StoredDecision[], void>} its pages
 */
export async function* storedDecisions(signal) {
  const query = new URLSearchParams({ limit: PAGE });
  for (;;) {
    const { decisions, next } = await request("GET", `v1/decisions?${query}`, { signal });
    yield decisions;
    if (!next) return;
    query.set("after", next);
  }
}

/**
 * Finds the bulk actions in the log. Decisions with the same note and person form an action.
 * @param {AbortSignal} signal
 * @returns {Promise<BulkAction[]>} the newest first
 */
const bulkActions = async (signal) => {
  /** @type {Map<string, StoredDecision>} */
  const last = new Map();
  /**
   * @type {Map<string, {rule: string, moment: string, who?: string,
   *   decisions: StoredDecision[]}>}
   */
  const actions = new Map();
  for await (const decisions of storedDecisions(signal)) {
    for (const decision of decisions) {
      for (const target of targets(decision)) last.set(target, decision);
      const [, moment, rule] = NOTE.exec(decision.note ?? "") ?? [];
      if (rule === undefined || decision.decision === "undecided") continue;
      const name = JSON.stringify([decision.who, decision.note]);
      const action = actions.get(name) ?? { rule, moment, who: decision.who, decisions: [] };
      action.decisions.push(decision);
      actions.set(name, action);
    }
  }
  return Array.from(actions.values(), ({ decisions, rule, moment, who }) => {
    /** @param {StoredDecision} decision */
    const current = (decision) => last.get(targetOf(decision.documents));
    /** @param {StoredDecision} decision */
    const isChanged = (decision) => current(decision) !== decision;
    return {
      rule,
      moment,
      who,
      pairs: decisions
        .filter((decision) => !isChanged(decision))
        .map(({ documents, number }) => ({ documents, seen: number })),
      changed: decisions
        .filter(isChanged)
        .map((decision) => ({ documents: decision.documents, current: current(decision) })),
    };
  }).reverse();
};

/**
 * @param {BulkAction} action
 * @param {(pairs: SeenPair[]) => Promise<void>} takeBack
 */
const drawn = ({ rule, moment, who, pairs, changed }, takeBack) => {
  const by = who ? [" by ", make("bdi", {}, visible(shortened(who, 80)))] : [];
  /** @type {HTMLElement[]} */
  const nodes = [
    make(
      "p",
      {},
      make("strong", {}, time(moment).replace(/\.\d+/, "")),
      ...by,
      `: ${visible(rule)}`,
    ),
  ];
  if (pairs.length > 0) {
    nodes.push(
      fold(make("summary", {}, `${counted(pairs.length, "duplicate")} in force`), () =>
        pairList(pairs),
      ),
      make(
        "div",
        { class: "buttons" },
        button(`Take back ${count(pairs.length)}`, () => takeBack(pairs)),
      ),
    );
  }
  if (changed.length > 0) {
    nodes.push(
      make("p", {}, `${counted(changed.length, "pair")} decided again or taken back since:`),
      conflictList(changed),
    );
  }
  return make("li", {}, ...nodes);
};

/**
 * The folded list of past actions. It is loaded each time the user unfolds it.
 * @param {AbortSignal} signal
 * @param {(pairs: SeenPair[]) => Promise<void>} takeBack
 * @returns {{element: HTMLElement, reload: () => Promise<void>}}
 */
export const pastBulk = (signal, takeBack) => {
  const box = make("div", { role: "status" });
  const element = make(
    "details",
    { class: "fold past-bulk" },
    make("summary", {}, "Past decisions about many"),
    box,
  );
  const reload = async () => {
    if (!element.open) return;
    await fillPart(box, async () => {
      const actions = await bulkActions(signal);
      box.replaceChildren(
        actions.length === 0
          ? make("p", { class: "note" }, "There are none in this index.")
          : make("ol", { class: "actions" }, ...actions.map((action) => drawn(action, takeBack))),
      );
    });
  };
  element.addEventListener("toggle", reload);
  return { element, reload };
};
