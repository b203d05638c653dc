// The decisions of this visit: sent in the background in their order, undone and made again. Each
// goes with the number of the last decision that this page has shown of its pair or document, so
// that the server refuses those that would overwrite what others decided in the meantime.

import { isConflict, storeDecisions } from "../client/api.js";

/** @import { Conflict, Member, MemberDecision, NewDecision } from "../client/types.js" */

/** Decisions of a request. */
const BATCH = 10_000;
/**
 * Delay before decisions are sent, in ms: longer than a frame, so that the page shows the next pair
 * before it encodes the decisions, which can be thousands.
 */
const DELAY = 20;

/**
 * The decision about a member before and after an action; revoked if the action is about another
 * member, and ends a `keep` of this one.
 * @typedef {{member: Member, before?: MemberDecision, after: MemberDecision,
 *   isRevoked?: boolean}} Change
 */

/**
 * The decisions of an action; `seen` is the number of the last decision when its group was loaded.
 * Refused decisions are removed.
 * @typedef {{decisions: NewDecision[], changes: Change[], seen: number,
 *   place: import("./queue.js").Place, keeper: string}} Made
 */

/**
 * A decision to send; uncertain if the server may have stored it.
 * @typedef {{body: NewDecision, made: Made, isUndo: boolean, isUncertain?: boolean}} Item
 */

/**
 * A decision that others have decided about, or whose document is gone.
 * @typedef {{documents: string[], current?: Conflict["current"], item: Item}} OwnConflict
 */

/**
 * The key of a pair or a document.
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
 * The decision of a member of a group, as the list of groups has it.
 * @param {NewDecision["decision"]|undefined} decision
 * @returns {MemberDecision}
 */
const shown = (decision) =>
  decision === "undecided" ? undefined : decision === "keep_all" ? "keep" : decision;

/**
 * The decisions that undo an action.
 * @param {Made} made
 * @param {Made[]} earlier actions
 * @returns {NewDecision[]}
 */
const reversal = ({ decisions, changes }, earlier) => {
  const changed = new Map(changes.map((change) => [change.member.id, change]));
  /**
   * The decision about a pair before the action. A kept document does not show it.
   * @param {string[]} documents
   */
  const pairBefore = (documents) => {
    const change = changed.get(documents[1]);
    if (change?.before !== "keep") return change?.before;
    const target = targetOf(documents);
    const last = earlier
      .flatMap((made) => made.decisions)
      .findLast((one) => one.documents.length === 2 && targets(one).includes(target));
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
 * The changes of an action by its decisions that were not refused.
 * @param {Made} made
 */
const changesInForce = ({ decisions, changes }) => {
  const ids = new Set(decisions.flatMap(({ documents }) => documents));
  return changes.filter(({ member }) => ids.has(member.id));
};

/**
 * The changes of an action by one of its decisions. A decision about a pair does not change the
 * keeper.
 * @param {Made} made
 * @param {NewDecision} body
 * @param {string[]} documents of the decision
 */
const changesOf = ({ changes, keeper }, { decision }, documents) => {
  const isPair = decision === "duplicate" || decision === "not_duplicate";
  return changes.filter(
    ({ member: { id } }) => documents.includes(id) && !(isPair && id === keeper),
  );
};

/**
 * The members that an action decides about: no keeper, and none that it only revokes.
 * @param {Made} made
 * @returns {Member[]}
 */
const decidedBy = (made) =>
  changesInForce(made)
    .filter(({ member, isRevoked }) => member.id !== made.keeper && !isRevoked)
    .map(({ member }) => member);

/** Decisions of a visit, the unsent ones among them, and the history of undo and redo. */
export class DecisionLog {
  /**
   * @param {() => void} stored called when the server has stored decisions
   * @param {(error: unknown) => void} failed called where decisions could not be sent
   * @param {(conflicts: OwnConflict[]) => void} conflicting called where others decided in between
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
     * The last decision that this page has made or shown, by its pair or document.
     * @type {Map<string, number>}
     */
    this.numbers = new Map();
    /** @type {Promise<void>|null} */
    this.sending = null;
    /**
     * The members of the pairs that this visit has decided, with the number of actions.
     * @type {Map<Member, number>}
     */
    this.decided = new Map();
  }

  /** The number of pairs that this visit has decided. */
  get pairs() {
    return this.decided.size;
  }

  /** The number of pairs with decisions that the server has not acknowledged. */
  get unsent() {
    /** @type {Set<Member>} */
    const members = new Set();
    for (const made of new Set(this.waiting.map((item) => item.made))) {
      const own = this.waiting.filter((item) => item.made === made);
      const decisions = own.map(({ body }) => body);
      for (const member of decidedBy({ ...made, decisions })) members.add(member);
    }
    return this.waiting.length === 0 ? 0 : Math.max(members.size, 1);
  }

  /**
   * Counts members as decided once more, or once less.
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
   * Makes the decisions of an action.
   * @param {Made} made
   */
  make(made) {
    this.undone = [];
    this.apply(made);
  }

  /** @param {Made} made */
  apply(made) {
    for (const change of changesInForce(made)) {
      change.before = change.member.decision;
      change.member.decision = change.after;
    }
    this.done.push(made);
    this.count(decidedBy(made), 1);
    this.send(made.decisions.map((body) => ({ body, made, isUndo: false })));
  }

  /** Takes the last action back; returns it. */
  undo() {
    const made = this.done.pop();
    if (!made) return undefined;
    for (const { member, before } of changesInForce(made)) member.decision = before;
    this.undone.push(made);
    this.count(decidedBy(made), -1);
    this.send(reversal(made, this.done).map((body) => ({ body, made, isUndo: true })));
    return made;
  }

  /** Makes the action again that was taken back last; returns it. */
  redo() {
    const made = this.undone.pop();
    if (made) this.apply(made);
    return made;
  }

  /**
   * Decides in spite of what others decided, which the page has shown: an action of its own, which
   * can be undone. An undo that was refused is sent again.
   * @param {OwnConflict} conflict
   */
  insist({ item }) {
    const { body, made, isUndo } = item;
    const changes = changesOf(made, body, body.documents);
    if (!isUndo) {
      // Documents without a decision of others still show the refused one.
      for (const { member, before, after } of changes) {
        if (member.decision === after) member.decision = before;
      }
      this.apply({ ...made, decisions: [body], changes: changes.map((one) => ({ ...one })) });
      return;
    }
    for (const { member, before } of changes) member.decision = before;
    this.send([item]);
  }

  /**
   * Records that a decision of this page about a pair or document has a number.
   * @param {string[]} documents
   * @param {number} number
   */
  saw(documents, number) {
    this.numbers.set(targetOf(documents), number);
  }

  /**
   * Adds decisions to those that are sent; resolves when all are stored, or one is not.
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
   * The bodies of a decision, with the number that was seen. If the numbers of its documents
   * differ, each document has a body of its own.
   * @param {Item} item
   * @returns {NewDecision[]}
   */
  bodies({ body, made }) {
    const seen = targets(body).map((target) => this.numbers.get(target) ?? made.seen);
    if (seen.every((number) => number === seen[0])) return [{ ...body, seen: seen[0] }];
    return body.documents.map((id, at) => ({
      ...body,
      decision: "keep",
      documents: [id],
      seen: seen[at],
    }));
  }

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
            // The server may have stored them, and its answer is lost.
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
   * Removes decisions that would overwrite decisions of others; the rest is sent.
   * @param {Conflict[]} conflicts
   * @param {{item: Item, body: NewDecision}[]} sent
   */
  settle(conflicts, sent) {
    /** @type {Map<string, OwnConflict>} */
    const found = new Map();
    for (const { position, documents, current } of conflicts) {
      const { item, body } = sent[position];
      // Others decided the same, or the answer to this decision was lost on its way.
      const isSame = current && shown(current.decision) === shown(body.decision);
      if (current) this.saw(documents, current.number);
      if (!isSame) found.set(targetOf(documents), { documents, current, item });
      else if (targets(body).length === 1) {
        if (item.isUncertain) this.waiting = this.waiting.filter((one) => one !== item);
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
    const asked = Array.from(found.values(), (conflict) => this.outcome(conflict, dropped));
    this.conflicting(asked.filter((one) => one !== undefined));
  }

  /** @param {Item[]} items */
  drop(items) {
    const dropped = new Set(items);
    this.waiting = this.waiting.filter((item) => !dropped.has(item));
    const bodies = new Set(items.map(({ body }) => body));
    for (const made of new Set(items.map((item) => item.made))) {
      const isUndo = items.some((item) => item.isUndo && item.made === made);
      const before = decidedBy(made);
      made.decisions = isUndo ? [] : made.decisions.filter((body) => !bodies.has(body));
      const left = new Set(decidedBy(made));
      if (this.done.includes(made)) {
        this.count(
          before.filter((member) => !left.has(member)),
          -1,
        );
      }
    }
    /** @param {Made} made */
    const isLeft = ({ decisions }) => decisions.length > 0;
    this.done = this.done.filter(isLeft);
    this.undone = this.undone.filter(isLeft);
  }

  /**
   * Shows the decision of others; the page asks about the last of the own decisions.
   * @param {OwnConflict} conflict
   * @param {Item[]} dropped
   * @returns {OwnConflict|undefined}
   */
  outcome({ documents, current, item }, dropped) {
    const target = targetOf(documents);
    const own = dropped.filter((one) => one === item || targets(one.body).includes(target));
    const last = own.at(-1) ?? item;
    for (const { member } of changesOf(last.made, last.body, documents)) {
      member.decision = shown(current?.decision);
      if (documents.length === 2) member.pairDecision = member.decision;
    }
    // A decision that was undone before it was stored is none.
    const isNothing = last.isUndo && own.some((one) => one.made === last.made && !one.isUndo);
    return isNothing ? undefined : { documents, current, item: last };
  }
}
