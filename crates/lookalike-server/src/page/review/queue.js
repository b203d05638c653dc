// The queue of groups to review, and the current place in it. Pairs of earlier visits come before
// the queue, with negative group indexes.

import { ApiError, later } from "../client/api.js";
import { groupPage } from "../client/group_page.js";

/** @import { Duplicate, Group, Groups, Member, MemberDecision } from "../client/types.js" */

/** Maximum number of groups in one response. */
const PAGE = 20;
/** If at most this many groups remain, including the current one, the queue loads the next page. */
const LEFT = 5;
/** Maximum number of requests for new groups, one each second. */
const TRIES = 60;

/** @typedef {{group: number, duplicate: number}} Place of a duplicate in the queue */
/**
 * A group, and the number of the last decision that it takes into account. A pair of an earlier
 * visit is a group with one duplicate: `earlier` describes its decision, and `others` are further
 * documents that can be kept instead of its keeper.
 * @typedef {Omit<Group, "duplicates"> & {duplicates: (Duplicate & Member)[], seen: number,
 *   earlier?: {message: string, decision: MemberDecision}, others?: Member[]}} SeenGroup
 */

/**
 * Returns a group without its removed documents, whose metadata is null. If the keeper was removed,
 * the group has no duplicates.
 * @param {Group} group
 * @param {number} seen the number of the last decision that the group takes into account
 * @returns {SeenGroup}
 */
const present = (group, seen) => ({
  ...group,
  seen,
  duplicates:
    group.keeper.metadata === null
      ? []
      : group.duplicates
          .filter(({ metadata }) => metadata !== null)
          .map((duplicate) => ({
            ...duplicate,
            pairDecision: duplicate.decision === "keep" ? undefined : duplicate.decision,
          })),
});

/** @param {Duplicate[]} duplicates */
const isDecided = (duplicates) => duplicates.every(({ decision }) => decision !== undefined);

/** The loaded groups, and the place of the current duplicate. */
export class ReviewQueue {
  /**
   * @param {URLSearchParams} filter the query that requests the groups
   * @param {AbortSignal} signal
   */
  constructor(filter, signal) {
    this.filter = filter;
    this.signal = signal;
    /** @type {SeenGroup[]} */
    this.groups = [];
    /**
     * Pairs of earlier visits, the newest first.
     * @type {SeenGroup[]}
     */
    this.earlier = [];
    /** The number of the last decision when this queue was loaded. */
    this.lastDecision = 0;
    /** @type {Place} */
    this.place = { group: 0, duplicate: 0 };
    this.total = 0;
    /** The number of groups that were decided before this queue was loaded. */
    this.decidedBefore = 0;
    /** Whether documents or decisions have changed since the groups were computed. */
    this.isStale = false;
    /** Whether documents have changed since the groups were computed. */
    this.documentsChanged = false;
    /** @type {string|undefined} */
    this.next = undefined;
    /** @type {Promise<Groups>|null} */
    this.loading = null;
  }

  /**
   * Loads the first page.
   * @param {() => void} pending called before each pause while the groups are computed
   */
  async begin(pending) {
    const found = await this.load(undefined, pending);
    this.isStale = found.stale;
    this.documentsChanged = found.documents_changed;
    this.lastDecision = found.last_decision ?? 0;
    this.count(found);
    if (this.isOfUndecided) this.place = this.undecidedAfter(this.place);
  }

  /**
   * Waits for new groups, and appends those with undecided duplicates. Decisions separate groups,
   * and their documents can form new ones.
   */
  async renew() {
    /** @type {Groups|undefined} */
    let found;
    const newer = new ReviewQueue(this.filter, this.signal);
    for (let tries = 0; tries < TRIES && newer.isDone && (found?.stale ?? true); tries += 1) {
      await later(1, this.signal);
      newer.groups = [];
      found = await newer.load();
    }
    if (!found) return;
    this.groups.push(...newer.groups.filter(({ duplicates }) => !isDecided(duplicates)));
    this.next = newer.next;
    this.count(found);
  }

  /** Whether all groups are loaded and all their duplicates are decided. */
  get isDone() {
    return this.next === undefined && this.groups.every(({ duplicates }) => isDecided(duplicates));
  }

  /** Whether the queue lists undecided groups only. */
  get isOfUndecided() {
    return this.filter.get("state") === "undecided";
  }

  /**
   * Updates the numbers of groups.
   * @param {Groups} found
   */
  count(found) {
    // A group that decisions have separated leaves the list, but counts as decided.
    this.total = found.groups_total + found.groups_dissolved;
    this.decidedBefore = found.groups_decided + found.groups_dissolved - this.decidedHere();
  }

  /** The number of decided groups. */
  get decided() {
    return Math.min(this.total, this.decidedBefore + this.decidedHere());
  }

  /** Requests the number of decided groups, after decisions about many pairs. */
  async recount() {
    const query = new URLSearchParams(this.filter);
    query.set("limit", "1");
    this.count(await groupPage(query, this.signal));
  }

  /** The number of loaded groups that became decided. 0 unless the queue lists undecided groups. */
  decidedHere() {
    if (!this.isOfUndecided) return 0;
    return this.groups.filter(({ duplicates }) => isDecided(duplicates)).length;
  }

  /**
   * Loads a page, and further pages until one of them has a new group.
   * @param {string} [after] the cursor of the page; the first page if omitted
   * @param {() => void} [pending] called before each pause while the groups are computed
   * @param {boolean} isRestarted whether the server has computed a new list, after the first one
   *   expired
   * @returns {Promise<Groups>}
   */
  async load(after, pending, isRestarted = false) {
    const query = new URLSearchParams(this.filter);
    query.set("limit", String(PAGE));
    if (after !== undefined) query.set("after", after);
    let found;
    try {
      found = await groupPage(query, this.signal, pending);
    } catch (error) {
      // The server no longer has the list, for example after a restart. The new list repeats the
      // loaded groups, so they are omitted below.
      const isExpired = error instanceof ApiError && error.code === "cursor-expired";
      if (!isExpired || after === undefined || isRestarted) throw error;
      return this.load(undefined, pending, true);
    }
    /** @param {Group} group */
    const nameOf = (group) => JSON.stringify([group.keeper.id, group.duplicates_before ?? 0]);
    const knownNames = new Set(isRestarted ? this.groups.map(nameOf) : []);
    const loaded = found.groups
      .map((group) => present(group, found.last_decision ?? 0))
      .filter((group) => group.duplicates.length > 0 && !knownNames.has(nameOf(group)));
    this.groups.push(...loaded);
    this.next = found.next;
    if (isRestarted && after === undefined) this.count(found);
    // The filter can exclude all groups of a page.
    if (loaded.length === 0 && found.next !== undefined) {
      return this.load(found.next, pending, isRestarted);
    }
    return found;
  }

  /** Loads the next page if few groups remain. Returns null if it loads nothing. */
  ahead() {
    if (this.next === undefined || this.groups.length - this.place.group > LEFT) return null;
    this.loading ??= this.load(this.next).finally(() => {
      this.loading = null;
    });
    return this.loading;
  }

  /**
   * The group at an index; undefined at the end of the queue.
   * @param {number} index
   * @returns {SeenGroup|undefined}
   */
  at(index) {
    return index < 0 ? this.earlier[-1 - index] : this.groups[index];
  }

  /** The current group. */
  get group() {
    return this.at(this.place.group);
  }

  /**
   * The current duplicate.
   * @returns {Duplicate|undefined}
   */
  get duplicate() {
    return this.group?.duplicates[this.place.duplicate];
  }

  /**
   * The place after another place: the next duplicate of the group, or the first of the next group.
   * @param {Place} place
   * @returns {Place}
   */
  after({ group, duplicate }) {
    const pairCount = this.at(group)?.duplicates.length ?? 0;
    if (duplicate + 1 < pairCount) return { group, duplicate: duplicate + 1 };
    return { group: group + 1, duplicate: 0 };
  }

  /**
   * The place before another place; the same place at the start of the loaded pairs.
   * @param {Place} place
   * @returns {Place}
   */
  before({ group, duplicate }) {
    if (duplicate > 0) return { group, duplicate: duplicate - 1 };
    const before = this.at(group - 1);
    if (!before) return { group, duplicate };
    return { group: group - 1, duplicate: before.duplicates.length - 1 };
  }

  /**
   * The first undecided place from a place on, or the end of the loaded groups.
   * @param {Place} place
   */
  undecidedAfter(place) {
    let at = place;
    while (this.at(at.group)?.duplicates[at.duplicate].decision !== undefined) {
      at = this.after(at);
    }
    return at;
  }
}
