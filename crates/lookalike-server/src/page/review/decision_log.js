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
 * A decision and its members; `seen` is the number of the last decision when its group
 * was loaded.
 * @typedef {{decision: NewDecision, seen: number, place: import("./queue.js").Place,
 *   members: Member[], before?: MemberDecision[], keeper: string}} Made
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
 * The decisions that undo a decision.
 * @param {Made} made
 * @returns {NewDecision[]}
 */
const reversal = ({ decision, members, before = [], keeper }) => {
  if (decision.decision === "keep" || decision.decision === "keep_all") {
    return members.map((member, at) =>
      before[at] === "keep"
        ? { decision: "keep", documents: [member.id] }
        : { decision: "undecided", documents: [member.id] },
    );
  }
  const [earlier] = before;
  const documents = [keeper, members[0].id];
  const isPair = earlier === "duplicate" || earlier === "not_duplicate";
  return [{ decision: isPair ? earlier : "undecided", documents }];
};

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
  }

  /** How many decisions the server has not acknowledged. */
  get unsent() {
    return this.waiting.length;
  }

  /**
   * Makes a decision.
   * @param {Made} made
   */
  make(made) {
    this.undone = [];
    this.apply(made);
  }

  /** @param {Made} made */
  apply(made) {
    const {
      decision: { decision },
      members,
    } = made;
    made.before = members.map((member) => member.decision);
    for (const member of members) member.decision = shown(decision);
    this.done.push(made);
    this.send([{ body: made.decision, made, isUndo: false }]);
  }

  /** Takes the last decision back; returns it. */
  undo() {
    const made = this.done.pop();
    if (!made) return undefined;
    made.members.forEach((member, at) => {
      member.decision = made.before?.[at];
    });
    this.undone.push(made);
    this.send(reversal(made).map((body) => ({ body, made, isUndo: true })));
    return made;
  }

  /** Makes the decision again that was taken back last; returns it. */
  redo() {
    const made = this.undone.pop();
    if (made) this.apply(made);
    return made;
  }

  /**
   * Decides in spite of what others decided, which the page has shown.
   * @param {OwnConflict} conflict
   */
  insist({ item }) {
    const { body, made } = item;
    for (const member of made.members) {
      if (body.documents.includes(member.id)) member.decision = shown(body.decision);
    }
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
    this.waiting = this.waiting.filter((item) => !items.includes(item));
    const made = new Set(items.map((item) => item.made));
    this.done = this.done.filter((one) => !made.has(one));
    this.undone = this.undone.filter((one) => !made.has(one));
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
    const id = documents.length === 1 ? documents[0] : undefined;
    for (const member of last.made.members) {
      if (id === undefined || member.id === id) member.decision = shown(current?.decision);
    }
    // A decision that was undone before it was stored is none.
    const isNothing = last.isUndo && own.some((one) => one.made === last.made && !one.isUndo);
    return isNothing ? undefined : { documents, current, item: last };
  }
}
