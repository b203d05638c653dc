// Shows decisions that other people made in the meantime, and asks whether to decide again.

import { button, idElement, make } from "../dom/dom.js";
import { counted, shortened, visible } from "../dom/format.js";

/** @import { PresentDecision } from "../client/types.js" */

/**
 * Names of decisions about one document.
 * @type {Record<string, string>}
 */
export const NAMES = { duplicate: "duplicate", not_duplicate: "not a duplicate", keep: "kept" };
/**
 * Names of decisions in sentences about all their documents.
 * @type {Record<string, string>}
 */
const SAID = {
  ...NAMES,
  duplicate: "duplicates",
  not_duplicate: "no duplicates",
  keep_all: "kept",
  undecided: "undecided",
};
/** Maximum number of listed conflicts. */
const LISTED = 20;

/** @param {string[]} documents */
const ids = (documents) => documents.flatMap((id, at) => [at > 0 ? " and " : "", idElement(id)]);

/**
 * The current decision about documents, who made it, and when.
 * @param {PresentDecision} decision
 */
const present = ({ documents, current }) => {
  if (!current) return [...ids(documents), ": no longer in the index"];
  const who = current.who ? ["by ", make("bdi", {}, visible(shortened(current.who, 80)))] : [];
  const when = current.when ? ` (${visible(shortened(current.when, 40))})` : "";
  return [...ids(documents), `: ${SAID[current.decision] ?? current.decision} `, ...who, when];
};

/**
 * Lists the first conflicts, and counts the others.
 * @param {PresentDecision[]} conflicts
 * @returns {HTMLElement}
 */
export const conflictList = (conflicts) =>
  make(
    "ul",
    { class: "conflicts" },
    ...conflicts.slice(0, LISTED).map((conflict) => make("li", {}, ...present(conflict))),
    conflicts.length > LISTED
      ? make("li", {}, `and ${counted(conflicts.length - LISTED, "other")}`)
      : null,
  );

/**
 * The box of a conflict, with buttons to decide again or to accept the other decision.
 * @param {import("./decision_log.js").OwnConflict} conflict
 * @param {() => void} insist decides again
 * @param {() => void} leave called if the user does not decide again
 * @returns {HTMLElement}
 */
export const conflictBox = (conflict, insist, leave) => {
  const { current, item } = conflict;
  const own = SAID[item.body.decision];
  const box = make("div", { class: "warning conflict", role: "alert" });
  /** @param {() => void} act */
  const closing = (act) => () => {
    box.remove();
    act();
  };
  const acts = current
    ? [button(`Decide again: ${own}`, closing(insist)), button("Leave it", closing(leave))]
    : [button("Understood", closing(leave))];
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
