// The pairs that earlier visits have decided, the newest decision first. The log of decisions is
// their only list: decided groups are not in the queue, and separated pairs are in no group.

import { ApiError, documentPath, request } from "../client/api.js";
import { shortened, time, visible } from "../dom/format.js";
import { targetOf, targets } from "./decision_log.js";
import { isBulk } from "./past_bulk.js";

/** @import { Comparison, StoredDecision } from "../client/types.js" */
/** @import { SeenGroup } from "./queue.js" */

/** Decisions of a request. */
const PAGE = 100;

/** @typedef {(a: string, b: string) => Promise<Comparison>} Compare */
/** @typedef {{documents: [string, string], stored: StoredDecision}} EarlierPair */

/** @param {StoredDecision} decision */
const madeBy = ({ who, when }) =>
  [
    when ? ` of ${visible(shortened(time(when).replace(/\.\d+/, ""), 40))}` : "",
    who ? ` by ${visible(shortened(who, 80))}` : "",
  ].join("");

/** Walks backward through the log. */
export class EarlierPairs {
  /**
   * @param {number} last the number of the last decision to read
   * @param {Compare} compare
   * @param {AbortSignal} signal
   */
  constructor(last, compare, signal) {
    this.last = last;
    this.compare = compare;
    this.signal = signal;
    /** The decisions up to this number are not read. */
    this.unread = last;
    /**
     * The pairs and documents with a decision that was read, which replaces older ones.
     * @type {Set<string>}
     */
    this.met = new Set();
    /**
     * The documents that are kept.
     * @type {Set<string>}
     */
    this.kept = new Set();
    /** @type {EarlierPair[]} */
    this.pairs = [];
  }

  /**
   * The next older pair that is in force, as a group. Undefined if there is none.
   * @returns {Promise<SeenGroup|undefined>}
   */
  async next() {
    for (;;) {
      const pair = this.pairs.shift();
      if (pair) {
        const group = await this.group(pair);
        if (group) return group;
      } else if (this.unread <= 0) return undefined;
      else await this.read();
    }
  }

  /** Reads the decisions before those that were read. */
  async read() {
    const { signal, unread } = this;
    const start = Math.max(0, unread - PAGE);
    /** @type {StoredDecision[]} */
    const read = [];
    const query = new URLSearchParams({ after: String(start), limit: String(PAGE) });
    for (;;) {
      const page = await request("GET", `v1/decisions?${query}`, { signal });
      read.push(...page.decisions.filter(({ number }) => number <= unread));
      if (page.next === undefined || Number(page.next) >= unread) break;
      query.set("after", page.next);
    }
    for (const stored of read.reverse()) this.meet(stored);
    this.unread = start;
  }

  /** @param {StoredDecision} stored */
  meet(stored) {
    const { decision, documents } = stored;
    const isPair = decision === "duplicate" || decision === "not_duplicate";
    const fresh = targets(stored).filter((target) => !this.met.has(target));
    for (const target of fresh) this.met.add(target);
    if (decision === "undecided" || fresh.length === 0) return;
    const [first, ...others] = documents;
    const current = isPair ? others : others.filter((id) => fresh.includes(targetOf([id])));
    if (!isPair) for (const id of [first, ...current]) this.kept.add(id);
    if (isBulk(stored)) return;
    for (const id of current) {
      if (isPair || !this.met.has(targetOf([first, id]))) {
        this.pairs.push({ documents: [first, id], stored });
      }
    }
  }

  /**
   * @param {EarlierPair} pair
   * @returns {Promise<SeenGroup|undefined>} undefined if a document was removed
   */
  async group({ documents: [a, b], stored }) {
    const { signal } = this;
    /** @param {string} id */
    const keep = (id) => (this.kept.has(id) ? "keep" : undefined);
    const judged = stored.decision === "duplicate" ? "duplicate" : "not_duplicate";
    try {
      const [keeper, duplicate, { jaccard }] = await Promise.all([
        request("GET", documentPath(a), { signal }),
        request("GET", documentPath(b), { signal }),
        this.compare(a, b),
      ]);
      return {
        keeper: { ...keeper, decision: keep(a) },
        duplicates: [{ ...duplicate, similarity: jaccard, decision: keep(b) ?? judged }],
        duplicates_before: 0,
        duplicates_total: 1,
        seen: this.last,
        earlier: `Decision${madeBy(stored)}`,
      };
    } catch (error) {
      if (error instanceof ApiError && error.code === "unknown-document") return undefined;
      throw error;
    }
  }
}
