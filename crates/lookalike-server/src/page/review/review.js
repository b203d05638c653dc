// The review of groups. Shows one duplicate at a time next to its keeper. The user decides with
// keys or buttons.

import {
  allConfirmed,
  judged,
  keptAll,
  keptInstead,
  pairBeforeAll,
  pairName,
  roles,
} from "./actions.js";
import { agreement } from "./agreement.js";
import { compareTexts, isAbort } from "../client/api.js";
import { documentLink, figures, outcome, sides } from "../search/compare.js";
import { described, differingMetadata } from "../search/described.js";
import { at, button, field, idElement, make } from "../dom/dom.js";
import { SHORTCUTS, desk, folded, keyButtons, keyName } from "./desk.js";
import { DecisionLog, targetOf } from "./decision_log.js";
import { count, counted } from "../dom/format.js";
import { onSingleKey } from "../dom/keys.js";
import { problem } from "../client/problem.js";
import { contentOf, fillPart } from "../client/view.js";
import { bulkForm } from "./bulk.js";
import { NAMES, conflictBox } from "./conflicts.js";
import { EarlierPairs } from "./earlier_pairs.js";
import { exportLists } from "./export.js";
import { filterFold, filterOf, isFiltered } from "./filter.js";
import { MemberList } from "./member_list.js";
import { ReviewQueue } from "./queue.js";
import { address, forgetViews, reshow } from "../dom/router.js";

/** @import { Comparison, Duplicate, Keeper } from "../client/types.js" */
/** @import { MemberDecision } from "../client/types.js" */
/** @import { OwnConflict } from "./decision_log.js" */
/** @import { SeenPair } from "./pair_list.js" */
/** @import { Place, SeenGroup } from "./queue.js" */

/** Maximum number of cached comparisons. */
const KEPT = 60;
/** The keys that repeat their action while they are held down. */
const MOVING = new Set(["arrowleft", "arrowright"]);

/** @type {Review|null} */
let review = null;

const show = contentOf("review");

/**
 * The head of a text, with a sample of the mark for words that only this text contains.
 * @param {string} name
 * @param {string} id
 * @param {"del"|"ins"|null} mark null if no words differ
 */
const head = (name, id, mark) =>
  make(
    "span",
    {},
    make("span", { class: "head-name" }, `${name}: `),
    documentLink(id),
    " ",
    mark ? make(mark, { class: "head-mark" }, "only here") : null,
  );

/**
 * A link to the review with a filter.
 * @param {Record<string, string>} filter
 * @param {string} text
 */
const reviewLink = (filter, text) =>
  make("a", { class: "button", href: address("review", filter) }, text);

/** One visit of the view. */
export class Review {
  /**
   * @param {URLSearchParams} params
   * @param {AbortSignal} signal
   */
  constructor(params, signal) {
    this.params = params;
    this.filter = filterOf(params);
    this.signal = signal;
    this.queue = new ReviewQueue(this.filter, signal);
    this.log = new DecisionLog(
      () => this.drawProgress(),
      (error) => this.refused(error),
      (conflicts) => this.conflicting(conflicts),
    );
    /** @type {Map<string, Promise<Comparison>>} */
    this.compared = new Map();
    /**
     * The pairs that the page has shown.
     * @type {Set<Duplicate>}
     */
    this.seen = new Set();
    /**
     * The groups for which "Confirm all" has already shown the least similar pair.
     * @type {WeakSet<object>}
     */
    this.asked = new WeakSet();
    /** @type {EarlierPairs|null} */
    this.earlier = null;
    this.isLoadingEarlier = false;
    /** Whether the page is looking for new groups. */
    this.isLooking = false;
    /**
     * The actions by key; empty until the groups are loaded.
     * @type {Map<string, () => void>}
     */
    this.byKey = new Map();
    this.progress = make("div", { class: "review-progress" });
    this.problems = make("div");
    this.conflicts = make("div");
    this.stage = make("div", { class: "review-stage" });
    this.stage.tabIndex = -1;
    /**
     * The buttons that need a pair.
     * @type {HTMLButtonElement[]}
     */
    this.pairButtons = [];
    this.groupName = make("span");
    this.list = new MemberList((duplicate) =>
      this.goTo({ group: this.queue.place.group, duplicate }),
    );
    this.groupFold = folded("review-members", this.groupName, this.list.element);
    this.about = make("div");
    this.aboutFold = folded("review-about", "About this pair", this.about);
    this.filterFold = filterFold(params, signal);
    /**
     * Legend and figures of the shown comparison.
     * @type {HTMLElement[]}
     */
    this.found = [];
    this.note = make("input", { id: "review-note", autocomplete: "off", dir: "auto" });
    this.noteFold = folded(
      "review-noted",
      make("span", {}, "Note ", keyName("M")),
      field("Note for the next decision", this.note),
    );
  }

  /** Loads the first groups and shows the first pair. */
  async begin() {
    show("Loading the groups …", [this.filterFold]);
    try {
      await this.queue.begin(() => {
        this.say("The server computes the groups. This takes a while in a large index.");
      });
    } catch (error) {
      if (!isAbort(error)) show("", [problem(error, () => reshow("review"))]);
      return;
    }
    this.frame();
    const { isStale, isDone } = this.queue;
    if (isStale && isDone && !isFiltered(this.params)) await this.lookForNew();
    else this.draw("");
  }

  /** Looks for new groups while the page shows the end of the queue. */
  async lookForNew() {
    const { queue } = this;
    const end = queue.groups.length;
    this.isLooking = true;
    this.draw("");
    /** @type {unknown} */
    let failure;
    try {
      await queue.renew();
    } catch (error) {
      if (isAbort(error)) return;
      failure = error;
    }
    this.isLooking = false;
    // The user may be looking at an earlier pair.
    if (queue.place.group < end) this.drawProgress();
    else {
      queue.place = queue.undecidedAfter(queue.place);
      this.draw("");
    }
    if (failure) this.refused(failure);
  }

  /** Draws the parts that are the same for all groups: the desk and the folded forms below it. */
  frame() {
    this.groupFold.addEventListener("toggle", () => this.drawMembers());
    this.aboutFold.addEventListener("toggle", () => this.drawAbout());
    this.note.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === "Escape") this.stage.focus();
    });
    const keys = this.keys();
    for (const { key, act } of keys) this.byKey.set((SHORTCUTS[key] ?? key).toLowerCase(), act);
    this.byKey.set("m", () => {
      if (!this.queue.duplicate) return;
      this.noteFold.open = true;
      this.note.focus();
    });
    const buttons = keyButtons(keys);
    this.pairButtons = buttons.filter((_, at) => keys[at].needsPair);
    const stale = this.queue.documentsChanged
      ? make(
          "div",
          { class: "warning stale" },
          make("p", {}, "Documents have changed since the server computed these groups."),
          make(
            "div",
            { class: "buttons" },
            button("Load again", () => reshow("review")),
          ),
        )
      : "";
    const parts = {
      progress: this.progress,
      folds: [this.filterFold, this.groupFold, this.aboutFold, this.noteFold],
      stage: this.stage,
      notices: [stale, this.problems, this.conflicts],
      buttons,
    };
    at("review-results").replaceChildren(
      desk(parts, this.signal),
      bulkForm(this),
      exportLists(this.filter, this.signal),
      agreement(this.signal),
    );
  }

  /**
   * The buttons of the desk.
   * @returns {import("./desk.js").KeyButton[]}
   */
  keys() {
    return [
      { text: "Duplicate", key: "D", needsPair: true, act: () => this.pair("duplicate") },
      { text: "Not a duplicate", key: "N", needsPair: true, act: () => this.pair("not_duplicate") },
      { text: "Keep this one instead", key: "K", needsPair: true, act: () => this.keepInstead() },
      { text: "Keep all", key: "A", needsPair: true, act: () => this.keepAll() },
      { text: "Confirm all", key: "G", needsPair: true, act: () => this.confirmAll() },
      { text: "Undo", key: "U", act: () => this.undo() },
      { text: "Redo", key: "R", act: () => this.redo() },
      { text: "Previous", key: "←", act: () => this.move("before") },
      { text: "Next", key: "→", needsPair: true, act: () => this.move("after") },
    ];
  }

  /**
   * Shows the pair at the current place, or the end of the queue. Loads further groups if needed.
   * @param {string} message
   */
  draw(message) {
    const { queue } = this;
    const { group, duplicate } = queue;
    this.drawProgress();
    if (!group || !duplicate) {
      const loading = queue.ahead();
      if (loading) {
        loading.then(
          () => this.draw(message),
          (error) => this.refused(error),
        );
        return;
      }
      this.drawEnd(message);
      return;
    }
    this.setPairParts(true);
    queue.ahead()?.catch((error) => this.refused(error));
    const differences = make("div", { class: "review-differences" });
    this.stage.replaceChildren(differences);
    this.drawMembers();
    this.found = [];
    this.drawAbout();
    this.seen.add(duplicate);
    // The stored decision is announced only while it is the current one.
    const { earlier } = group;
    const stored = earlier?.decision === duplicate.decision ? (earlier?.message ?? "") : "";
    this.say(message || stored, pairName(group, duplicate));
    this.drawDifferences(differences, group, duplicate);
    this.compareAhead();
  }

  /**
   * Shows the result of an action, and names the shown pair.
   * @param {string} message
   * @param {string} pair
   */
  say(message, pair = "") {
    const name = pair ? [message ? " " : "", make("span", { class: "pair-name" }, pair)] : [];
    at("review-status").replaceChildren(message, ...name);
  }

  /**
   * Shows the end of the queue, and the reason why no pair is left.
   * @param {string} message
   */
  drawEnd(message) {
    const { total, decided, groups } = this.queue;
    const end = this.isLooking
      ? "Looking for new groups …"
      : total === 0
        ? "The index has no groups of near-duplicates."
        : decided >= total
          ? `All ${counted(total, "group")} are decided.`
          : groups.length === 0
            ? "No group matches the filters."
            : "This was the last of these groups.";
    this.say([message, end].filter(Boolean).join(" "));
    this.stage.replaceChildren(
      make(
        "p",
        { class: "buttons" },
        // Documents of a separated group can form a new group.
        button("Look for new groups", () => reshow("review")),
        isFiltered(this.params)
          ? reviewLink({}, "Clear the filters")
          : decided > 0
            ? reviewLink({ state: "decided" }, "Show decided groups")
            : null,
      ),
    );
    // A disabled button loses the focus.
    if (this.pairButtons.some((element) => element === document.activeElement)) this.stage.focus();
    this.setPairParts(false);
  }

  /**
   * Shows or hides the parts of the desk that describe a pair, and enables or disables its buttons.
   * @param {boolean} hasPair
   */
  setPairParts(hasPair) {
    for (const fold of [this.groupFold, this.aboutFold, this.noteFold]) fold.hidden = !hasPair;
    for (const pairButton of this.pairButtons) pairButton.disabled = !hasPair;
  }

  drawProgress() {
    const { queue, log } = this;
    const { decided } = queue;
    const unsent = log.unsent > 0 ? `, ${count(log.unsent)} not stored yet` : "";
    this.progress.replaceChildren(
      make("progress", {
        max: Math.max(queue.total, 1),
        value: decided,
        "aria-label": "Decided groups",
      }),
      make(
        "span",
        {},
        `${count(decided)} of ${counted(queue.total, "group")} decided, ` +
          `${counted(log.pairs, "pair")} in this visit${unsent}`,
      ),
    );
  }

  /** Names the group and the place in it, and shows its duplicates if the list is unfolded. */
  drawMembers() {
    const { group, place } = this.queue;
    if (!group) return;
    const number = place.duplicate + 1 + (group.duplicates_before ?? 0);
    const all = group.duplicates_total ?? group.duplicates.length;
    const decision = NAMES[group.duplicates[place.duplicate]?.decision ?? ""];
    this.groupName.replaceChildren(
      group.earlier ? "Earlier decision" : `Group: duplicate ${count(number)} of ${count(all)}`,
      ...(decision ? [" ", make("span", { class: "tag" }, decision)] : []),
    );
    this.list.show(group.duplicates, place.duplicate);
  }

  /** Shows figures and metadata of the pair if they are unfolded. */
  drawAbout() {
    const { group, duplicate } = this.queue;
    if (!this.aboutFold.open || !group || !duplicate) return;
    /**
     * @param {string} title
     * @param {Keeper|Duplicate} document
     */
    const half = (title, document) =>
      make(
        "div",
        { class: "about" },
        make("p", { class: "note" }, title),
        make("p", { class: "document-id" }, idElement(document.id)),
        ...described(document),
      );
    const metadata = differingMetadata(group.keeper, duplicate);
    const [left, right] = roles(group, duplicate);
    this.about.replaceChildren(
      ...this.found,
      make("div", { class: "abouts" }, half(left, group.keeper), half(right, duplicate)),
      ...(metadata ? [metadata] : []),
    );
  }

  /**
   * The comparison of two documents. The last comparisons are cached.
   * @param {string} a
   * @param {string} b
   * @returns {Promise<Comparison>}
   */
  comparison(a, b) {
    const key = JSON.stringify([a, b]);
    const cached = this.compared.get(key);
    if (cached) return cached;
    const asked = compareTexts({ id: a }, { id: b }, this.signal);
    asked.catch(() => this.compared.delete(key));
    this.compared.set(key, asked);
    const [oldest] = this.compared.keys();
    if (this.compared.size > KEPT) this.compared.delete(oldest);
    return asked;
  }

  /**
   * @param {HTMLElement} box
   * @param {SeenGroup} group
   * @param {Duplicate} duplicate
   */
  drawDifferences(box, group, duplicate) {
    const [a, b] = [group.keeper.id, duplicate.id];
    return fillPart(box, async () => {
      const compared = await this.comparison(a, b);
      const hasWords = (compared.difference_counts?.words ?? 0) > 0;
      const [left, right] = roles(group, duplicate);
      const parts = sides(compared, [
        head(left, a, hasWords ? "del" : null),
        head(right, b, hasWords ? "ins" : null),
      ]);
      const legend = parts.filter((part) => part.matches(".legend"));
      const message = make("span", { class: "note" }, outcome(compared));
      const walk = parts.find((part) => part.matches(".walk"));
      walk?.prepend(message);
      box.replaceChildren(
        ...(walk ? [] : [message]),
        ...parts.filter((part) => !legend.includes(part)),
      );
      // The page may show another pair by now.
      if (!box.isConnected) return;
      this.found = [...legend, figures(compared)];
      this.drawAbout();
    });
  }

  /** Requests the comparisons of the next two pairs in advance. */
  compareAhead() {
    let place = this.queue.place;
    for (let offset = 0; offset < 2; offset += 1) {
      place = this.queue.after(place);
      const group = this.queue.at(place.group);
      const duplicate = group?.duplicates[place.duplicate];
      if (group && duplicate) this.comparison(group.keeper.id, duplicate.id).catch(() => {});
    }
  }

  /** @param {"duplicate"|"not_duplicate"} decision */
  pair(decision) {
    const { group, duplicate } = this.queue;
    if (group && duplicate) this.decide(judged(group, duplicate, decision));
  }

  keepInstead() {
    const { group, duplicate } = this.queue;
    if (group && duplicate) this.decide(keptInstead(group, duplicate));
  }

  keepAll() {
    const { group } = this.queue;
    if (group) this.decide(keptAll(group));
  }

  confirmAll() {
    const { group } = this.queue;
    if (!group) return;
    const first = this.asked.has(group) ? undefined : pairBeforeAll(group, this.seen);
    if (first) {
      this.asked.add(group);
      const duplicate = group.duplicates.indexOf(first.duplicate);
      this.goTo({ group: this.queue.place.group, duplicate }, first.message);
      return;
    }
    const action = allConfirmed(group, this.seen);
    if (action) this.decide(action);
    else this.say("All pairs of this group are decided.");
  }

  /** @param {import("./actions.js").Action} action */
  decide({ decisions, changes, message }) {
    const { queue } = this;
    const { group, place } = queue;
    if (!group) return;
    const note = this.note.value.trim();
    if (note) for (const decision of decisions) decision.note = note;
    this.note.value = "";
    this.noteFold.open = false;
    const { keeper, seen } = group;
    this.log.make({ decisions, changes, place, keeper: keeper.id, seen });
    forgetViews(["groups"]);
    queue.place = queue.undecidedAfter(place);
    this.draw(message);
  }

  undo() {
    const action = this.log.undo();
    if (!action) {
      this.say("Nothing to undo in this visit. Previous shows earlier decisions.");
      return;
    }
    this.goTo(action.place, "Undone.");
  }

  redo() {
    const action = this.log.redo();
    if (!action) {
      this.say("Nothing to redo.");
      return;
    }
    this.queue.place = this.queue.undecidedAfter(action.place);
    this.draw("Decided again.");
  }

  /** @param {"before"|"after"} way */
  move(way) {
    const { queue } = this;
    const to = queue[way](queue.place);
    const isStart = to.group === queue.place.group && to.duplicate === queue.place.duplicate;
    if (isStart) this.moveToEarlier();
    else this.goTo(to);
  }

  /** Loads and shows the next older pair of earlier visits. */
  async moveToEarlier() {
    if (this.isLoadingEarlier) return;
    this.isLoadingEarlier = true;
    const { queue, signal } = this;
    const { lastDecision, groups } = queue;
    this.earlier ??= new EarlierPairs(lastDecision, groups, this.comparison.bind(this), signal);
    try {
      const from = queue.place;
      const group = await this.earlier.next();
      if (!group) this.say("No earlier decisions.");
      else {
        queue.earlier.push(group);
        // The user may have moved on in the meantime.
        if (queue.place === from) this.goTo({ group: -queue.earlier.length, duplicate: 0 });
      }
    } catch (error) {
      this.refused(error);
    } finally {
      this.isLoadingEarlier = false;
    }
  }

  /**
   * @param {Place} place
   * @param {string} message
   */
  goTo(place, message = "") {
    // The place after the last group shows the end of the queue, or loads a page that failed
    // before.
    if (place.group <= this.queue.groups.length) this.queue.place = place;
    this.draw(message);
  }

  /**
   * Shows decisions of others, and asks whether to decide again.
   * @param {OwnConflict[]} conflicts
   */
  conflicting(conflicts) {
    /** @param {OwnConflict} conflict */
    const ask = (conflict) =>
      conflictBox(
        conflict,
        () => {
          this.log.insist(conflict);
          this.draw("Decided again.");
          this.stage.focus();
        },
        () => this.stage.focus(),
      );
    this.conflicts.append(...conflicts.map(ask));
    this.draw("");
  }

  /**
   * Shows a stored decision about many pairs.
   * @param {SeenPair[]} pairs
   * @param {MemberDecision} decision undefined if the user revoked it
   */
  async decidedMany(pairs, decision) {
    for (const { documents, seen } of pairs) this.log.saw(documents, seen);
    const changed = new Set(pairs.map(({ documents }) => targetOf(documents)));
    const { queue } = this;
    for (const { keeper, duplicates } of [...queue.groups, ...queue.earlier]) {
      for (const duplicate of duplicates) {
        if (!changed.has(targetOf([keeper.id, duplicate.id]))) continue;
        duplicate.pairDecision = decision;
        if (duplicate.decision !== "keep") duplicate.decision = decision;
      }
    }
    forgetViews(["groups"]);
    queue.place = queue.undecidedAfter(queue.place);
    this.draw("");
    try {
      await queue.recount();
      this.drawProgress();
    } catch (error) {
      this.refused(error);
    }
  }

  /**
   * Shows an error. The retry sends unsent decisions and draws the current pair.
   * @param {unknown} error
   */
  refused(error) {
    if (isAbort(error)) return;
    const retry = async () => {
      this.problems.replaceChildren();
      await this.log.send();
      this.draw("");
    };
    this.problems.replaceChildren(problem(error, retry));
    this.drawProgress();
  }
}

/** Installs the handlers of keys, and the warning before the user leaves with unsent decisions. */
export const watchReview = () => {
  onSingleKey((key, isRepeated) => {
    const act = at("view-review").hidden ? undefined : review?.byKey.get(key);
    if (!isRepeated || MOVING.has(key)) act?.();
    return act !== undefined;
  });
  window.addEventListener("beforeunload", (event) => {
    if (review && review.log.unsent > 0) event.preventDefault();
  });
};

/** @type {import("../dom/router.js").Show} */
export const showReview = (params, signal) => {
  review = new Review(params, signal);
  review.begin();
};
