// Decisions that others made in the meantime: the page shows them and asks whether to decide again.

import { button, make, shownId } from "../dom/dom.js";
import { counted, shortened, visible } from "../dom/format.js";

/** @import { PresentDecision } from "../client/types.js" */

/**
 * Names of decisions.
 * @type {Record<string, string>}
 */
export const NAMES = { duplicate: "duplicate", not_duplicate: "not a duplicate", keep: "kept" };
/** @type {Record<string, string>} */
const SAID = {
  ...NAMES,
  duplicate: "duplicates",
  not_duplicate: "no duplicates",
  keep_all: "kept",
  undecided: "undecided",
};
/** Conflicts that are listed. */
const LISTED = 20;

/** @param {string[]} documents */
const ids = (documents) => documents.flatMap((id, at) => [at > 0 ? " and " : "", shownId(id)]);

/**
 * The present decision, and who made it.
 * @param {PresentDecision} decision
 */
const present = ({ documents, current }) => {
  if (!current) return [...ids(documents), ": no longer in the index"];
  const who = current.who ? ["by ", make("bdi", {}, visible(shortened(current.who, 80)))] : [];
  const when = current.when ? ` (${visible(shortened(current.when, 40))})` : "";
  return [...ids(documents), `: ${SAID[current.decision] ?? current.decision} `, ...who, when];
};

/**
 * Conflicts of many decisions, the first ones listed.
 * @param {PresentDecision[]} conflicts
 * @returns {HTMLElement}
 */
export const conflictList = (conflicts) =>
  make(
    "ul",
    { class: "conflicts" },
    ...conflicts.slice(0, LISTED).map((one) => make("li", {}, ...present(one))),
    conflicts.length > LISTED
      ? make("li", {}, `and ${counted(conflicts.length - LISTED, "other")}`)
      : null,
  );

/**
 * The box of a conflict, with the question whether to decide again.
 * @param {import("./decision_log.js").OwnConflict} conflict
 * @param {() => void} insist decides again
 * @param {() => void} leave called when nothing is decided
 * @returns {HTMLElement}
 */
export const conflictBox = (conflict, insist, leave) => {
  const { current, item } = conflict;
  const own = SAID[item.body.decision];
  const box = make("div", { class: "warning conflict", role: "alert" });
  /** @param {() => void} act */
  const done = (act) => () => {
    box.remove();
    act();
  };
  const acts = current
    ? [button(`Decide again: ${own}`, done(insist)), button("Leave it", done(leave))]
    : [button("Understood", done(leave))];
  box.append(
    make(
      "p",
      {},
      make(
        "strong",
        {},
        current ? "Another person decided in the meantime" : "A document was removed",
      ),
    ),
    make("p", {}, ...present(conflict)),
    make("p", {}, `Your decision (${own}) is not stored.`),
    make("div", { class: "buttons" }, ...acts),
  );
  return box;
};
