// The actions of the deciding keys: decisions about the current pair or group, the changes of its
// members, and a sentence for the status line.

import { NAMES } from "./conflicts.js";
import { counted, shortened, visible } from "../dom/format.js";

/** @import { Duplicate, Group, NewDecision } from "../client/types.js" */
/** @import { Change } from "./decision_log.js" */

/** @typedef {{decisions: NewDecision[], changes: Change[], said: string}} Action */

/** @param {{id: string}} document */
const name = ({ id }) => visible(shortened(id, 80));

/**
 * Judges a pair.
 * @param {Group} group
 * @param {Duplicate} duplicate
 * @param {"duplicate"|"not_duplicate"} decision
 * @returns {Action}
 */
export const judged = ({ keeper }, duplicate, decision) => ({
  decisions: [{ decision, documents: [keeper.id, duplicate.id] }],
  changes: [{ member: duplicate, after: decision }],
  said: `${name(duplicate)}: ${NAMES[decision]}.`,
});

/**
 * Keeps a duplicate instead of its keeper: the pair is one of duplicates, and only the other
 * document is kept.
 * @param {Group} group
 * @param {Duplicate} duplicate
 * @returns {Action}
 */
export const keptInstead = ({ keeper }, duplicate) => {
  /** @type {Action} */
  const action = {
    decisions: [
      { decision: "duplicate", documents: [keeper.id, duplicate.id] },
      { decision: "keep", documents: [duplicate.id] },
    ],
    changes: [{ member: duplicate, after: "keep" }],
    said: `${name(duplicate)} is kept instead of ${name(keeper)}.`,
  };
  if (keeper.decision === "keep") {
    action.decisions.push({ decision: "undecided", documents: [keeper.id] });
    action.changes.push({ member: keeper, after: undefined });
  }
  return action;
};

/**
 * Keeps all documents of a group.
 * @param {Group} group
 * @returns {Action}
 */
export const keptAll = ({ keeper, duplicates }) => {
  const members = [keeper, ...duplicates];
  return {
    decisions: [{ decision: "keep_all", documents: members.map(({ id }) => id) }],
    changes: members.map((member) => ({ member, after: "keep" })),
    said: "Kept all documents.",
  };
};

/**
 * Confirms the undecided duplicates of a group.
 * @param {Group} group
 * @returns {Action|undefined} undefined if all are decided
 */
export const allConfirmed = ({ keeper, duplicates }) => {
  const open = duplicates.filter(({ decision }) => decision === undefined);
  if (open.length === 0) return undefined;
  return {
    decisions: open.map(({ id }) => ({ decision: "duplicate", documents: [keeper.id, id] })),
    changes: open.map((member) => ({ member, after: "duplicate" })),
    said: `Confirmed ${counted(open.length, "duplicate")} of the group.`,
  };
};
