// The pairs that earlier visits have decided, the newest decision first. Only the log of decisions
// lists these pairs. The queue omits decided groups, and no group contains a separated pair.

import { ApiError, documentPath, request } from "../client/api.js";
import { shortened, time, visible } from "../dom/format.js";
import { NAMES } from "./conflicts.js";
import { targetOf, targets } from "./decision_log.js";
import { isBulk, storedDecisions } from "./past_bulk.js";

/** @import { Comparison, Member, StoredDecision } from "../client/types.js" */
/** @import { SeenGroup } from "./queue.js" */

/** @typedef {(a: string, b: string) => Promise<Comparison>} Compare */
/** @typedef {{documents: [string, string], stored: StoredDecision}} EarlierPair */

/** @param {StoredDecision} decision */
const madeBy = ({ who, when }) =>
  [
    when ? ` of ${visible(shortened(time(when).replace(/\.\d+/, ""), 40))}` : "",
    who ? ` by ${visible(shortened(who, 80))}` : "",
  ].join("");

/** Walks backwards through the pairs of the log. */
export class EarlierPairs {
  /**
   * @param {number} last the number of the last decision to read
   * @param {SeenGroup[]} groups of the queue; their pairs are omitted
   * @param {Compare} compare
   * @param {AbortSignal} signal
   */
  constructor(last, groups, compare, signal) {
    this.last = last;
    this.groups = groups;
    this.compare = compare;
    this.signal = signal;
    /**
     * The decisions in force, by their pair or document. The newest is last.
     * @type {Map<string, StoredDecision>}
     */
    this.inForce = new Map();
    /**
     * The keepers and duplicates that `member` has returned, by their ids.
     * @type {Map<string, Member>}
     */
    this.members = new Map();
    /** @type {EarlierPair[]|null} */
    this.pairs = null;
  }

  /**
   * The next older pair whose decision is in force, as a group.
   * @returns {Promise<SeenGroup|undefined>} undefined if there is none
   */
  async next() {
    this.pairs ??= await this.read();
    const listed = new Set(
      this.groups.flatMap(({ keeper, duplicates }) =>
        duplicates.map(({ id }) => targetOf([keeper.id, id])),
      ),
    );
    while (this.pairs.length > 0) {
      const [pair] = this.pairs;
      // If a request fails, the pair remains in the list, so that the next call tries it again.
      const group = listed.has(targetOf(pair.documents)) ? undefined : await this.group(pair);
      this.pairs.shift();
      if (group) return group;
    }
    return undefined;
  }

  /**
   * Reads the log and lists its pairs, the newest decision first.
   * @returns {Promise<EarlierPair[]>}
   */
  async read() {
    const { inForce } = this;
    inForce.clear();
    for await (const decisions of storedDecisions(this.signal)) {
      for (const decision of decisions.filter(({ number }) => number <= this.last)) {
        for (const target of targets(decision)) {
          inForce.delete(target);
          inForce.set(target, decision);
        }
      }
    }
    /** @type {EarlierPair[]} */
    const pairs = [];
    for (const [target, stored] of Array.from(inForce).reverse()) {
      if (isBulk(stored) || stored.decision === "undecided") continue;
      const [first, second] = stored.documents;
      /** @type {string[]} */
      const ids = JSON.parse(target);
      // The first document of "Keep all" is the keeper, so each other document forms a pair with
      // it.
      const other = ids.length === 2 ? second : ids[0];
      if (other === first) continue;
      const pair = targetOf([first, other]);
      const judged = inForce.get(pair)?.decision ?? "undecided";
      const isOther = pair !== target && judged !== "undecided";
      if (!isOther) pairs.push({ documents: [first, other], stored });
    }
    return pairs;
  }

  /**
   * Whether a decision about the document keeps it.
   * @param {string} id
   * @returns {"keep"|undefined}
   */
  keep(id) {
    const { decision } = this.inForce.get(targetOf([id])) ?? {};
    return decision === "keep" || decision === "keep_all" ? "keep" : undefined;
  }

  /**
   * Returns a keeper, or the duplicate of a keeper. Calls with the same ids return the same object,
   * so all pairs of a keeper share the object of the keeper.
   * @param {string[]} documents the keeper and its duplicate, or the keeper only
   * @returns {Member}
   */
  member(...documents) {
    const key = JSON.stringify(documents);
    const cached = this.members.get(key);
    if (cached) return cached;
    const id = documents[documents.length - 1];
    const { decision } = this.inForce.get(targetOf(documents)) ?? {};
    const pairDecision =
      decision === "duplicate" || decision === "not_duplicate" ? decision : undefined;
    /** @type {Member} */
    const member = { id, decision: this.keep(id) ?? pairDecision, pairDecision };
    this.members.set(key, member);
    return member;
  }

  /**
   * The other documents that can be kept instead of a keeper: its duplicates, and documents that
   * were separated from it and that no decision keeps.
   * @param {string} keeper
   * @param {string} duplicate
   */
  others(keeper, duplicate) {
    /** @param {StoredDecision} stored */
    const isOther = ({ decision, documents: [first, second] }) =>
      first === keeper &&
      second !== duplicate &&
      (decision === "duplicate" || (decision === "not_duplicate" && !this.keep(second)));
    return Array.from(this.inForce.values())
      .filter(isOther)
      .map(({ documents }) => this.member(...documents));
  }

  /**
   * Requests the documents and the similarity of a pair.
   * @param {EarlierPair} pair
   * @returns {Promise<SeenGroup|undefined>} undefined if a document was removed
   */
  async group({ documents: [a, b], stored }) {
    const { signal } = this;
    try {
      const [keeper, duplicate, { jaccard }] = await Promise.all([
        request("GET", documentPath(a), { signal }),
        request("GET", documentPath(b), { signal }),
        this.compare(a, b),
      ]);
      const first = this.member(a);
      const kept = first.decision === "keep" ? first.decision : undefined;
      const decision = this.keep(b) ?? this.member(a, b).pairDecision;
      return {
        keeper: Object.assign(first, keeper, { decision: kept }),
        duplicates: [Object.assign(this.member(a, b), duplicate, { similarity: jaccard })],
        duplicates_before: 0,
        duplicates_total: 1,
        seen: this.last,
        earlier: { message: `Decision${madeBy(stored)}: ${NAMES[decision ?? ""]}.`, decision },
        others: this.others(a, b),
      };
    } catch (error) {
      if (error instanceof ApiError && error.code === "unknown-document") return undefined;
      throw error;
    }
  }
}
