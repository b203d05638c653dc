"use strict";
// The decisions of this visit: sent in the background in their order, undone and made again.

import { request } from "./api.js";

/** Decisions of a request. */
const BATCH = 10_000;

/**
 * A decision and what it was made about.
 * @typedef {{decision: {decision: string, documents: string[], note?: string},
 *   place: {group: number, duplicate: number}, members: any[], before: any[]}} Made
 */

/** What is decided about documents when a decision is taken back. */
const reversal = ({ decision, members, before, keeper }) => {
  if (decision.decision === "keep" || decision.decision === "keep_all") {
    return members.map((member, at) => before[at] === "keep"
      ? { decision: "keep", documents: [member.id] }
      : { decision: "undecided", documents: [member.id] });
  }
  const [earlier] = before, documents = [keeper, members[0].id];
  const isPair = earlier === "duplicate" || earlier === "not_duplicate";
  return [{ decision: isPair ? earlier : "undecided", documents }];
};

/** Decisions, what is still to be sent, and what can be undone. */
export class DecisionLog {
  /**
   * @param {() => void} stored called when the server has stored decisions
   * @param {(error: unknown) => void} failed called where decisions could not be sent
   */
  constructor(stored, failed) {
    this.stored = stored;
    this.failed = failed;
    this.done = [];
    this.undone = [];
    this.waiting = [];
    /** @type {Promise<void>|null} */
    this.sending = null;
  }

  /** How many decisions the server has not acknowledged. */
  get unsent() {
    return this.waiting.length;
  }

  /** Makes a decision. */
  make(made) {
    this.undone = [];
    this.apply(made);
  }

  apply(made) {
    const { decision: { decision }, members } = made;
    made.before = members.map((member) => member.decision);
    for (const member of members) member.decision = decision === "keep_all" ? "keep" : decision;
    this.done.push(made);
    this.send([made.decision]);
  }

  /** Takes the last decision back; returns it. */
  undo() {
    const made = this.done.pop();
    if (!made) return undefined;
    made.members.forEach((member, at) => {
      if (made.before[at] === undefined) delete member.decision;
      else member.decision = made.before[at];
    });
    this.undone.push(made);
    this.send(reversal(made));
    return made;
  }

  /** Makes the decision again that was taken back last; returns it. */
  redo() {
    const made = this.undone.pop();
    if (made) this.apply(made);
    return made;
  }

  /** Adds decisions to those that are sent; resolves when all are stored, or one is not. */
  send(decisions = []) {
    this.waiting.push(...decisions);
    this.sending ??= this.sendWaiting().finally(() => { this.sending = null; });
    return this.sending;
  }

  async sendWaiting() {
    try {
      while (this.waiting.length > 0) {
        const batch = this.waiting.slice(0, BATCH);
        await request("POST", "v1/decisions", { body: { decisions: batch } });
        this.waiting.splice(0, batch.length);
        this.stored();
      }
    } catch (error) {
      this.failed(error);
    }
  }
}
