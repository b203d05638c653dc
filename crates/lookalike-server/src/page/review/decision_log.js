// Keeps the decisions of this visit, sends them in the background in their order, and undoes and
// redoes them. Each decision is sent with the number of the last decision about its pair or
// document that this page has shown. If there is a newer one, the server rejects the decision, so
// it does not overwrite a decision of another person.

import { isConflict, storeDecisions } from "../client/api.js";

/** @import { Conflict, Member, MemberDecision, NewDecision } from "../client/types.js" */

/** Maximum number of queued decisions in one request. */
const BATCH = 10_000;
/**
 * Delay before decisions are sent, in ms: longer than a frame, so that the page shows the next pair
 * before it encodes the decisions, which can be thousands.
 */
const DELAY = 20;

/**
 * The decision about a member before and after an action. `isRevoked` marks a member that only
 * loses its `keep`, because the action decides about another member.
 * @typedef {{member: Member, before?: MemberDecision, after: MemberDecision,
 *   isRevoked?: boolean}} Change
 */

/**
 * The decisions of an action, without those that the server rejected. `seen` is the number of the
 * last decision when the page loaded the group.
 * @typedef {{decisions: NewDecision[], changes: Change[], seen: number,
 *   place: import("./queue.js").Place, keeper: string}} Made
 */

/**
 * A decision to send. `isUncertain` means that the server may have stored it already.
 * @typedef {{body: NewDecision, action: Made, isUndo: boolean, isUncertain?: boolean}} Item
 */

/**
 * A rejected decision of this page. `current` is the decision of others about its documents;
 * undefined if a document was removed.
 * @typedef {{documents: string[], current?: Conflict["current"], item: Item}} OwnConflict
 */

/**
 * The key of a pair or a document, independent of the order of the documents.
 * @param {string[]} documents
 * @returns {string}
 */
export const targetOf = (documents) => JSON.stringify(documents.toSorted());

/**
 * The targets of a decision: its pair, or each of its documents.
 * @param {Pick<NewDecision, "decision"|"documents">} decision
 * @returns {string[]}
 */
export const targets = ({ decision, documents }) =>
  decision === "keep" || decision === "keep_all"
    ? documents.map((id) => targetOf([id]))
    : [targetOf(documents)];

/**
 * Converts a decision to the form that the list of groups has for a member.
 * @param {NewDecision["decision"]|undefined} decision
 * @returns {MemberDecision}
 */
const visibleDecision = (decision) =>
  decision === "undecided" ? undefined : decision === "keep_all" ? "keep" : decision;

/**
 * The decisions that undo an action.
 * @param {Made} action
 * @param {Made[]} earlier actions of this visit
 * @returns {NewDecision[]}
 */
const reversal = ({ decisions, changes }, earlier) => {
  const changed = new Map(changes.map((change) => [change.member.id, change]));
  /**
   * The decision about a pair before the action. The change of a kept document does not contain it,
   * so it comes from the earlier actions or from the member.
   * @param {string[]} documents
   */
  const pairBefore = (documents) => {
    const change = changed.get(documents[1]);
    if (change?.before !== "keep") return change?.before;
    const target = targetOf(documents);
    const last = earlier
      .flatMap((action) => action.decisions)
      .findLast((body) => body.documents.length === 2 && targets(body).includes(target));
    return last?.decision ?? change.member.pairDecision;
  };
  /**
   * @param {NewDecision} one
   * @returns {NewDecision[]}
   */
  const reverse = ({ decision, documents }) => {
    if (decision === "duplicate" || decision === "not_duplicate") {
      return [{ decision: pairBefore(documents) ?? "undecided", documents }];
    }
    return documents.map((id) => ({
      decision: changed.get(id)?.before === "keep" ? "keep" : "undecided",
      documents: [id],
    }));
  };
  return decisions.flatMap(reverse);
};

/**
 * The changes of an action by decisions that the server has not rejected.
 * @param {Made} action
 */
const changesInForce = ({ decisions, changes }) => {
  const ids = new Set(decisions.flatMap(({ documents }) => documents));
  return changes.filter(({ member }) => ids.has(member.id));
};

/**
 * The changes of some documents by one decision of an action. A decision about a pair does not
 * change the keeper.
 * @param {Made} action
 * @param {NewDecision} body the decision
 * @param {string[]} documents ids
 */
const changesOf = ({ changes, keeper }, { decision }, documents) => {
  const isPair = decision === "duplicate" || decision === "not_duplicate";
  return changes.filter(
    ({ member: { id } }) => documents.includes(id) && !(isPair && id === keeper),
  );
};

/**
 * The members that an action decides about, without the keeper and without members that only lose
 * their `keep`.
 * @param {Made} action
 * @returns {Member[]}
 */
const decidedBy = (action) =>
  changesInForce(action)
    .filter(({ member, isRevoked }) => member.id !== action.keeper && !isRevoked)
    .map(({ member }) => member);

/** The decisions of a visit, the queue of decisions to send, and the history for undo and redo. */
export class DecisionLog {
  /**
   * @param {() => void} stored called when the server has stored decisions
   * @param {(error: unknown) => void} failed called if a request fails
   * @param {(conflicts: OwnConflict[]) => void} conflicting called if the server rejects decisions,
   *   with the conflicts to ask about
   */
  constructor(stored, failed, conflicting) {
    this.stored = stored;
    this.failed = failed;
    this.conflicting = conflicting;
    /** @type {Made[]} */
    this.done = [];
    /** @type {Made[]} */
    this.undone = [];
    /** @type {Item[]} */
    this.waiting = [];
    /**
     * The number of the last decision that this page has stored or shown, by its pair or document.
     * @type {Map<string, number>}
     */
    this.numbers = new Map();
    /** @type {Promise<void>|null} */
    this.sending = null;
    /**
     * The members that this visit has decided about, each with the number of actions.
     * @type {Map<Member, number>}
     */
    this.decided = new Map();
  }

  /** The number of pairs that this visit has decided about. */
  get pairs() {
    return this.decided.size;
  }

  /**
   * The number of pairs with decisions that the server has not acknowledged. At least 1 if any
   * decision waits.
   */
  get unsent() {
    /** @type {Set<Member>} */
    const members = new Set();
    for (const action of new Set(this.waiting.map((item) => item.action))) {
      const own = this.waiting.filter((item) => item.action === action);
      const decisions = own.map(({ body }) => body);
      for (const member of decidedBy({ ...action, decisions })) members.add(member);
    }
    return this.waiting.length === 0 ? 0 : Math.max(members.size, 1);
  }

  /**
   * Adds 1 to the number of actions that decide about members, or subtracts 1.
   * @param {Member[]} members
   * @param {1|-1} by
   */
  count(members, by) {
    for (const member of members) {
      const times = (this.decided.get(member) ?? 0) + by;
      if (times > 0) this.decided.set(member, times);
      else this.decided.delete(member);
    }
  }

  /**
   * Makes the decisions of a new action. Undone actions can no longer be redone.
   * @param {Made} action
   */
  make(action) {
    this.undone = [];
    this.apply(action);
  }

  /**
   * Changes the members, adds the action to the history, and sends its decisions.
   * @param {Made} action
   */
  apply(action) {
    for (const change of changesInForce(action)) {
      change.before = change.member.decision;
      change.member.decision = change.after;
    }
    this.done.push(action);
    this.count(decidedBy(action), 1);
    this.send(action.decisions.map((body) => ({ body, action, isUndo: false })));
  }

  /** Undoes the last action. Returns it, or undefined if there is none. */
  undo() {
    const action = this.done.pop();
    if (!action) return undefined;
    for (const { member, before } of changesInForce(action)) member.decision = before;
    this.undone.push(action);
    this.count(decidedBy(action), -1);
    this.send(reversal(action, this.done).map((body) => ({ body, action, isUndo: true })));
    return action;
  }

  /** Repeats the action that was undone last. Returns it, or undefined if there is none. */
  redo() {
    const action = this.undone.pop();
    if (action) this.apply(action);
    return action;
  }

  /**
   * Repeats a rejected decision, after the user has seen the decision of others. The repetition is
   * an action of its own, which can be undone. A rejected undo is sent again.
   * @param {OwnConflict} conflict
   */
  insist({ item }) {
    const { body, action, isUndo } = item;
    const changes = changesOf(action, body, body.documents);
    if (!isUndo) {
      // Documents without a conflict still show the rejected decision.
      for (const { member, before, after } of changes) {
        if (member.decision === after) member.decision = before;
      }
      this.apply({
        ...action,
        decisions: [body],
        changes: changes.map((change) => ({ ...change })),
      });
      return;
    }
    for (const { member, before } of changes) member.decision = before;
    this.send([item]);
  }

  /**
   * Records the number of the last decision about a pair or document.
   * @param {string[]} documents
   * @param {number} number
   */
  saw(documents, number) {
    this.numbers.set(targetOf(documents), number);
  }

  /**
   * Appends decisions to the queue and sends it. Resolves when the queue is empty, or when a
   * request has failed.
   * @param {Item[]} items
   */
  send(items = []) {
    this.waiting.push(...items);
    this.sending ??= this.sendWaiting().finally(() => {
      this.sending = null;
    });
    return this.sending;
  }

  /**
   * The decisions to send for an item, with the number of the last decision in `seen`. If the
   * numbers of its documents differ, each document gets a `keep` of its own.
   * @param {Item} item
   * @returns {NewDecision[]}
   */
  bodies({ body, action }) {
    const numbers = targets(body).map((target) => this.numbers.get(target) ?? action.seen);
    if (numbers.every((number) => number === numbers[0])) return [{ ...body, seen: numbers[0] }];
    return body.documents.map((id, at) => ({
      ...body,
      decision: "keep",
      documents: [id],
      seen: numbers[at],
    }));
  }

  /** Sends the queue in batches. Decisions stay in it until the server stores or rejects them. */
  async sendWaiting() {
    try {
      await new Promise((resolve) => setTimeout(resolve, DELAY));
      while (this.waiting.length > 0) {
        const items = this.waiting.slice(0, BATCH);
        const sent = items.flatMap((item) => this.bodies(item).map((body) => ({ item, body })));
        const decisions = sent.map(({ body }) => body);
        try {
          const numbers = await storeDecisions(decisions);
          decisions.forEach((decision, at) => {
            for (const target of targets(decision)) this.numbers.set(target, numbers[at]);
          });
          this.waiting.splice(0, items.length);
        } catch (error) {
          if (!isConflict(error)) {
            // The server may have stored the decisions although its answer was lost.
            for (const item of items) item.isUncertain = true;
            throw error;
          }
          this.settle(error.conflicts, sent);
        }
        this.stored();
      }
    } catch (error) {
      this.failed(error);
    }
  }

  /**
   * Removes from the queue the decisions that conflict with decisions of others, and later ones
   * about the same pairs or documents. Passes the conflicts to `conflicting`.
   * @param {Conflict[]} conflicts
   * @param {{item: Item, body: NewDecision}[]} sent the decisions of the rejected request
   */
  settle(conflicts, sent) {
    /** @type {Map<string, OwnConflict>} */
    const found = new Map();
    for (const { position, documents, current } of conflicts) {
      const { item, body } = sent[position];
      // Others made the same decision, or the server stored this one and its answer was lost.
      const isSame =
        current && visibleDecision(current.decision) === visibleDecision(body.decision);
      if (current) this.saw(documents, current.number);
      if (!isSame) found.set(targetOf(documents), { documents, current, item });
      else if (targets(body).length === 1) {
        if (item.isUncertain) this.waiting = this.waiting.filter((other) => other !== item);
        else this.drop([item]);
      }
    }
    const refused = new Set(Array.from(found.values(), ({ item }) => item));
    // Later decisions about the same target build on the refused one, so they are not sent either.
    /** @param {Item} item */
    const isRefused = (item) =>
      refused.has(item) || targets(item.body).some((target) => found.has(target));
    const dropped = this.waiting.filter(isRefused);
    this.drop(dropped);
    const outcomes = Array.from(found.values(), (conflict) => this.outcome(conflict, dropped));
    this.conflicting(outcomes.filter((conflict) => conflict !== undefined));
  }

  /**
   * Removes items from the queue, and their decisions from the history.
   * @param {Item[]} items
   */
  drop(items) {
    const dropped = new Set(items);
    this.waiting = this.waiting.filter((item) => !dropped.has(item));
    const bodies = new Set(items.map(({ body }) => body));
    for (const action of new Set(items.map((item) => item.action))) {
      const isUndo = items.some((item) => item.isUndo && item.action === action);
      const before = decidedBy(action);
      action.decisions = isUndo ? [] : action.decisions.filter((body) => !bodies.has(body));
      const remaining = new Set(decidedBy(action));
      if (this.done.includes(action)) {
        this.count(
          before.filter((member) => !remaining.has(member)),
          -1,
        );
      }
    }
    /** @param {Made} action */
    const isLeft = ({ decisions }) => decisions.length > 0;
    this.done = this.done.filter(isLeft);
    this.undone = this.undone.filter(isLeft);
  }

  /**
   * Shows the decision of others. Returns the conflict of the last own decision about the same
   * documents, which the page asks about.
   * @param {OwnConflict} conflict
   * @param {Item[]} dropped
   * @returns {OwnConflict|undefined} undefined if there is nothing to ask
   */
  outcome({ documents, current, item }, dropped) {
    const target = targetOf(documents);
    const own = dropped.filter((other) => other === item || targets(other.body).includes(target));
    const last = own.at(-1) ?? item;
    for (const { member } of changesOf(last.action, last.body, documents)) {
      member.decision = visibleDecision(current?.decision);
      if (documents.length === 2) member.pairDecision = member.decision;
    }
    // If the user undid the decision before it was stored, there is nothing to decide again.
    const isNothing =
      last.isUndo && own.some((other) => other.action === last.action && !other.isUndo);
    return isNothing ? undefined : { documents, current, item: last };
  }
}
