// The queue of groups to review, and the current place in it.

import { groupPage } from "../client/group_page.js";

/** Groups of a request. */
const PAGE = 20;
/** If fewer groups remain, the queue loads the next page. */
const LEFT = 5;

/** @typedef {{keeper: any, duplicates: any[], duplicates_before: number, seen: number}} Group */

/** A group without documents that were removed since, which have no metadata; empty without keeper.
 * `seen` is the number of the last decision that it shows. */
const present = (group, seen) => ({
  ...group,
  seen,
  duplicates:
    group.keeper.metadata === null
      ? []
      : group.duplicates.filter(({ metadata }) => metadata !== null),
});

/** The loaded groups, and the place of the current duplicate. */
export class ReviewQueue {
  /**
   * @param {URLSearchParams} filter state, order and threshold
   * @param {AbortSignal} signal
   */
  constructor(filter, signal) {
    this.filter = filter;
    this.signal = signal;
    /** @type {Group[]} */
    this.groups = [];
    this.place = { group: 0, duplicate: 0 };
    this.total = 0;
    /** Groups decided about before this queue was loaded. */
    this.decidedBefore = 0;
    /** Whether the index has changed since the groups were computed. */
    this.stale = false;
    this.next = undefined;
    this.loading = null;
  }

  /** Loads the first page. */
  async begin(pending) {
    const found = await this.load(undefined, pending);
    this.stale = found.stale;
    this.count(found);
  }

  count(found) {
    this.total = found.groups_total;
    this.decidedBefore = found.groups_decided - this.decidedHere();
  }

  /** Asks how many groups are decided about, after a change of many. */
  async recount() {
    const query = new URLSearchParams(this.filter);
    query.set("limit", "1");
    this.count(await groupPage(query, this.signal));
  }

  /** Groups of this visit in which something is decided about each duplicate. */
  decidedHere() {
    if (this.filter.get("state") !== "undecided") return 0;
    const isDecided = ({ duplicates }) => duplicates.every((one) => one.decision !== undefined);
    return this.groups.filter(isDecided).length;
  }

  /** Loads a page, and further ones until there is a group that is new. */
  async load(after, pending, isRestarted = false) {
    const query = new URLSearchParams(this.filter);
    query.set("limit", String(PAGE));
    if (after !== undefined) query.set("after", after);
    let found;
    try {
      found = await groupPage(query, this.signal, pending);
    } catch (error) {
      // The server does not keep the list any more, such as after a restart. The new list repeats
      // the groups that are loaded; the page leaves them out.
      if (error.code !== "cursor-expired" || after === undefined || isRestarted) throw error;
      return this.load(undefined, pending, true);
    }
    const nameOf = (group) => JSON.stringify([group.keeper.id, group.duplicates_before ?? 0]);
    const known = new Set(isRestarted ? this.groups.map(nameOf) : []);
    const loaded = found.groups
      .map((group) => present(group, found.last_decision ?? 0))
      .filter((group) => group.duplicates.length > 0 && !known.has(nameOf(group)));
    this.groups.push(...loaded);
    this.next = found.next;
    if (isRestarted && after === undefined) this.count(found);
    // The filter can exclude all groups of a page.
    if (loaded.length === 0 && found.next !== undefined) {
      return this.load(found.next, pending, isRestarted);
    }
    return found;
  }

  /** Loads the next page where it will be needed soon. */
  ahead() {
    if (this.next === undefined || this.groups.length - this.place.group > LEFT) return null;
    this.loading ??= this.load(this.next).finally(() => {
      this.loading = null;
    });
    return this.loading;
  }

  /** The group that is shown. */
  get group() {
    return this.groups[this.place.group];
  }

  /** The duplicate that is shown. */
  get duplicate() {
    return this.group?.duplicates[this.place.duplicate];
  }

  /** The place after another one: the next duplicate, then the next group. */
  after({ group, duplicate }) {
    const rest = this.groups[group]?.duplicates.length ?? 0;
    if (duplicate + 1 < rest) return { group, duplicate: duplicate + 1 };
    return { group: group + 1, duplicate: 0 };
  }

  /** The place before another one; itself at the start. */
  before({ group, duplicate }) {
    if (duplicate > 0) return { group, duplicate: duplicate - 1 };
    if (group === 0) return { group, duplicate };
    return { group: group - 1, duplicate: this.groups[group - 1].duplicates.length - 1 };
  }

  /** The next undecided place, or the end of the loaded groups. */
  undecidedAfter(place) {
    let at = place;
    while (this.groups[at.group]?.duplicates[at.duplicate].decision !== undefined) {
      at = this.after(at);
    }
    return at;
  }
}
