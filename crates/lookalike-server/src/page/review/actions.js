// Builds the actions of the keys that decide. An action contains decisions about the current pair
// or group, the changes of its members, and a sentence for the status line.

import { NAMES } from "./conflicts.js";
import { count, counted, shortened, similarity, visible } from "../dom/format.js";

/** @import { Duplicate, Group, Member, MemberDecision, NewDecision } from "../client/types.js" */
/** @import { Change } from "./decision_log.js" */
/** @import { SeenGroup } from "./queue.js" */

/** @typedef {{decisions: NewDecision[], changes: Change[], message: string}} Action */

/** @param {{id: string}} document */
const name = ({ id }) => visible(shortened(id, 80));

/**
 * Adds the revocation of `keep` to an action.
 * @param {Action} action
 * @param {Member} member
 * @param {MemberDecision} after its decision without `keep`
 */
const revokeKeep = ({ decisions, changes }, member, after) => {
  decisions.push({ decision: "undecided", documents: [member.id] });
  if (!changes.some((change) => change.member === member)) {
    changes.push({ member, after, isRevoked: true });
  }
};

/** @param {Member} member */
const isKept = ({ decision }) => decision === "keep";

/**
 * Returns true if a duplicate is kept instead of the keeper. The group keeps its keeper until the
 * server computes the groups again.
 * @param {SeenGroup} group
 */
const isReplaced = ({ keeper, duplicates, others = [] }) =>
  !isKept(keeper) && [...duplicates, ...others].some(isKept);

/**
 * The roles of both documents of a pair.
 * @param {SeenGroup} group
 * @param {Duplicate} duplicate
 * @returns {[string, string]}
 */
export const roles = (group, { decision }) => [
  isReplaced(group) ? "Kept before" : "Kept",
  decision === "keep" ? "Kept" : decision === "not_duplicate" ? "Not a duplicate" : "Duplicate",
];

/**
 * The sentence that names both documents of a pair.
 * @param {SeenGroup} group
 * @param {Duplicate} duplicate
 */
export const pairName = (group, duplicate) => {
  const isDuplicate = [undefined, "duplicate"].includes(duplicate.decision);
  const role = isReplaced(group) ? "the former keeper " : isDuplicate ? "its keeper " : "";
  return `${name(duplicate)} and ${role}${name(group.keeper)}.`;
};

/**
 * Builds the action that decides whether a pair is a duplicate. `duplicate` also revokes the `keep`
 * of the duplicate.
 * @param {Group} group
 * @param {Duplicate} duplicate
 * @param {"duplicate"|"not_duplicate"} decision
 * @returns {Action}
 */
export const judged = ({ keeper }, duplicate, decision) => {
  /** @type {Action} */
  const action = {
    decisions: [{ decision, documents: [keeper.id, duplicate.id] }],
    changes: [{ member: duplicate, after: decision }],
    message: `${name(duplicate)}: ${NAMES[decision]}.`,
  };
  if (decision === "duplicate" && duplicate.decision === "keep") {
    revokeKeep(action, duplicate, decision);
  }
  return action;
};

/**
 * Builds the action that keeps a duplicate instead of its keeper. The pair becomes a duplicate. The
 * action revokes the `keep` of the keeper, or else of the duplicate that an earlier action kept
 * instead.
 * @param {SeenGroup} group
 * @param {Duplicate} duplicate
 * @returns {Action}
 */
export const keptInstead = ({ keeper, duplicates, others = [] }, duplicate) => {
  /** @type {Action} */
  const action = {
    decisions: [
      { decision: "duplicate", documents: [keeper.id, duplicate.id] },
      { decision: "keep", documents: [duplicate.id] },
    ],
    changes: [{ member: duplicate, after: "keep" }],
    message: `${name(duplicate)} is kept instead of ${name(keeper)}.`,
  };
  // If several duplicates are kept, "Keep all" kept them, so none of them replaces the keeper.
  const kept = duplicates.filter(isKept);
  const earlier = kept.length === 1 && kept[0] !== duplicate ? kept : others.filter(isKept);
  if (isKept(keeper)) revokeKeep(action, keeper, undefined);
  else if (earlier.length > 0) {
    for (const member of earlier) revokeKeep(action, member, "duplicate");
    const names = earlier.map(name).join(" and ");
    action.message = `${name(duplicate)} is kept instead of ${names}.`;
  }
  return action;
};

/**
 * Builds the action that keeps all documents of a group.
 * @param {Group} group
 * @returns {Action}
 */
export const keptAll = ({ keeper, duplicates }) => {
  const members = [keeper, ...duplicates];
  return {
    decisions: [{ decision: "keep_all", documents: members.map(({ id }) => id) }],
    changes: members.map((member) => ({ member, after: "keep" })),
    message: "Kept all documents.",
  };
};

/**
 * The undecided duplicates of a group.
 * @param {Group} group
 */
const undecided = ({ duplicates }) => duplicates.filter(({ decision }) => decision === undefined);

/** @param {Duplicate[]} duplicates */
const leastSimilar = (duplicates) =>
  duplicates.reduce((least, next) => (next.similarity < least.similarity ? next : least));

/**
 * The undecided pairs of a group that the page has not shown, without pairs of equal texts.
 * @param {Group} group
 * @param {Set<Duplicate>} seen
 */
const unseen = (group, seen) =>
  undecided(group).filter((duplicate) => !seen.has(duplicate) && duplicate.equal_text !== true);

/**
 * The pair to show before all pairs of a group are confirmed: the least similar undecided one.
 * @param {Group} group
 * @param {Set<Duplicate>} seen the pairs that the page has shown
 * @returns {{duplicate: Duplicate, message: string}|undefined} undefined if the page has shown the
 *   pair, or if its texts are equal
 */
export const pairBeforeAll = (group, seen) => {
  const hidden = unseen(group, seen);
  if (hidden.length === 0) return undefined;
  const open = undecided(group);
  const duplicate = leastSimilar(hidden);
  const isLeast = open.every(({ similarity }) => similarity >= duplicate.similarity);
  if (!isLeast) return undefined;
  const message =
    `${count(hidden.length)} of ${counted(open.length, "pair")} not shown yet; this is the least ` +
    `similar one (${similarity(duplicate.similarity)}). Confirm all again to confirm ` +
    `${counted(open.length, "pair")}.`;
  return { duplicate, message };
};

/**
 * Builds the action that confirms all undecided duplicates of a group.
 * @param {Group} group
 * @param {Set<Duplicate>} seen the pairs that the page has shown
 * @returns {Action|undefined} undefined if all are decided
 */
export const allConfirmed = (group, seen) => {
  const open = undecided(group);
  if (open.length === 0) return undefined;
  const hidden = unseen(group, seen).length;
  const rest = hidden > 0 ? `, ${count(hidden)} of them not shown` : "";
  return {
    decisions: open.map(({ id }) => ({ decision: "duplicate", documents: [group.keeper.id, id] })),
    changes: open.map((member) => ({ member, after: "duplicate" })),
    message: `Confirmed ${counted(open.length, "pair")} as duplicates${rest}.`,
  };
};
