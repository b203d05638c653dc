"use strict";
// The view in which people decide about groups: one duplicate at a time next to its keeper, by keys.

import { agreement } from "./agreement.js";
import { compareTexts } from "../client/api.js";
import { figures, outcome, sides } from "../search/compare.js";
import { differingMetadata, memberCells } from "../search/described.js";
import { at, button, field, make, shownId, tableHead } from "../dom/dom.js";
import { DecisionLog, targetOf } from "./decision_log.js";
import { beginning, count, counted, visible } from "../dom/format.js";
import { onSingleKey } from "../dom/keys.js";
import { problem } from "../client/problem.js";
import { contentOf, fillPart } from "../client/view.js";
import { bulkForm } from "./bulk.js";
import { NAMES, conflictBox } from "./conflicts.js";
import { exportLists } from "./export.js";
import { filterForm, filterOf } from "./filter.js";
import { ReviewQueue } from "./queue.js";
import { address, forgetViews, reshow } from "../dom/router.js";

/** Comparisons that are kept. */
const KEPT = 60;

let review = null;

const show = contentOf("review");

/** One visit of the view. */
class Review {
  constructor(params, signal) {
    this.params = params;
    this.filter = filterOf(params);
    this.signal = signal;
    this.queue = new ReviewQueue(this.filter, signal);
    this.log = new DecisionLog(() => this.drawProgress(), (error) => this.refused(error),
      (conflicts) => this.conflicting(conflicts));
    this.compared = new Map();
    this.made = 0;
  }

  async begin() {
    show("Asking for the groups …", [filterForm(this.params, this.signal)]);
    try {
      await this.queue.begin(() => {
        show("The groups are being computed. This takes a while in a large index.",
          [filterForm(this.params, this.signal)]);
      });
    } catch (error) {
      if (error.name !== "AbortError") show("", [problem(error, () => reshow("review"))]);
      return;
    }
    this.frame();
    this.draw("");
  }

  /** What stays while the groups change. */
  frame() {
    this.progress = make("div", { class: "review-progress" });
    this.problems = make("div");
    this.conflicts = make("div");
    this.stage = make("div", { class: "review-stage" });
    this.note = make("input", { id: "review-note", autocomplete: "off", dir: "auto" });
    const keys = [["Duplicate", "D", () => this.pair("duplicate")],
      ["Not a duplicate", "N", () => this.pair("not_duplicate")],
      ["Keep this one", "K", () => this.keep()], ["Keep all", "A", () => this.keepAll()],
      ["Undo", "U", () => this.undo()], ["Redo", "R", () => this.redo()],
      ["Previous", "←", () => this.move("before")], ["Next", "→", () => this.move("after")]];
    this.byKey = new Map(keys.map(([, key, act]) => [key.toLowerCase(), act]));
    this.byKey.set("arrowleft", this.byKey.get("←")).set("arrowright", this.byKey.get("→"));
    this.byKey.set("m", () => this.note.focus());
    const buttons = make("div", { class: "buttons review-keys" },
      ...keys.map(([text, key, act]) => button(text, act, {
        "aria-keyshortcuts": { "←": "ArrowLeft", "→": "ArrowRight" }[key] ?? key,
      })));
    for (const [place, [, key]] of keys.entries()) {
      buttons.children[place].append(" ", make("kbd", { "aria-hidden": "true" }, key));
    }
    const noted = field("Note for the next decision (M)", this.note, "field grow");
    this.note.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === "Escape") this.stage.focus();
    });
    this.stage.tabIndex = -1;
    const stale = this.queue.stale ? make("div", { class: "warning stale" },
      make("p", {}, "The index has changed since these groups were computed."),
      make("div", { class: "buttons" }, button("Look again", () => reshow("review")))) : "";
    at("review-results").replaceChildren(filterForm(this.params, this.signal), stale, this.progress, this.problems,
      this.conflicts, buttons, noted, this.stage, bulkForm(this), exportLists(this.filter, this.signal),
      agreement(this.signal));
  }

  /** Shows the pair at the present place. */
  draw(said) {
    const { queue } = this;
    this.drawProgress();
    if (!queue.duplicate) {
      const rest = queue.ahead();
      if (rest) {
        rest.then(() => this.draw(said), (error) => this.refused(error));
        return;
      }
      const end = queue.groups.length === 0 ? "There is no such group."
        : "This was the last of these groups.";
      at("review-status").textContent = [said, end].filter(Boolean).join(" ");
      this.stage.replaceChildren(make("p", {}, make("a", { class: "button", href: address("groups") },
        "All groups")));
      return;
    }
    queue.ahead()?.catch((error) => this.refused(error));
    const { group, duplicate } = queue;
    const differences = make("div", { class: "review-differences" });
    const metadata = differingMetadata(group.keeper, duplicate);
    this.stage.replaceChildren(this.members(group, duplicate), ...metadata ? [metadata] : [],
      differences);
    const named = `${visible(beginning(duplicate.id, 80))} and its keeper ` +
      visible(beginning(group.keeper.id, 80));
    at("review-status").textContent = [said, `${named}.`].filter(Boolean).join(" ");
    this.drawDifferences(differences, group.keeper.id, duplicate.id);
    this.compareAhead();
  }

  drawProgress() {
    const { queue, made } = this;
    const decided = Math.min(queue.total, queue.decidedBefore + queue.decidedHere());
    const unsent = this.log.unsent > 0 ? `, ${count(this.log.unsent)} not stored yet` : "";
    this.progress.replaceChildren(
      make("progress", { max: Math.max(queue.total, 1), value: decided,
        "aria-label": "Groups that are decided" }),
      make("span", {}, `${count(decided)} of ${counted(queue.total, "group")} decided, ` +
        `${counted(made, "decision")} now${unsent}`));
  }

  members(group, shown) {
    const rows = [group.keeper, ...group.duplicates].map((member, place) => {
      const isShown = member === shown, isKeeper = place === 0;
      const name = isKeeper ? make("span", {}, shownId(member.id))
        : button("", () => this.goTo({ group: this.queue.place.group, duplicate: place - 1 }),
          { class: "link", "aria-current": isShown ? "true" : undefined });
      if (!isKeeper) name.append(shownId(member.id));
      const tag = isKeeper ? "Keeper" : NAMES[member.decision];
      return make("tr", { class: isShown ? "shown" : undefined },
        ...memberCells(member, name, tag, isKeeper));
    });
    const head = tableHead(["Document", "Similarity to the keeper", "Size"]);
    const all = (group.duplicates_total ?? group.duplicates.length) + 1;
    const caption = `Group ${count(this.queue.place.group + 1)}: ${counted(all, "document")}`;
    return make("div", { class: "opened review-members" }, make("table", { class: "members" },
      make("caption", {}, caption), head, make("tbody", {}, ...rows)));
  }

  /** The comparison of two documents, asked for once. */
  comparison(a, b) {
    const key = JSON.stringify([a, b]);
    if (!this.compared.has(key)) {
      const asked = compareTexts({ id: a }, { id: b }, this.signal);
      asked.catch(() => this.compared.delete(key));
      this.compared.set(key, asked);
      if (this.compared.size > KEPT) this.compared.delete(this.compared.keys().next().value);
    }
    return this.compared.get(key);
  }

  drawDifferences(box, a, b) {
    return fillPart(box, async () => {
      const found = await this.comparison(a, b);
      box.replaceChildren(make("p", { class: "note" }, outcome(found)), figures(found),
        ...sides(found, a, b, null));
    });
  }

  /** Asks for the next comparisons before they are needed. */
  compareAhead() {
    let place = this.queue.place;
    for (let ahead = 0; ahead < 2; ahead += 1) {
      place = this.queue.after(place);
      const group = this.queue.groups[place.group];
      const duplicate = group?.duplicates[place.duplicate];
      if (duplicate) this.comparison(group.keeper.id, duplicate.id).catch(() => {});
    }
  }

  pair(decision) {
    const { group, duplicate } = this.queue;
    if (!duplicate) return;
    this.decide({ decision, documents: [group.keeper.id, duplicate.id] }, [duplicate]);
  }

  keep() {
    const { duplicate } = this.queue;
    if (duplicate) this.decide({ decision: "keep", documents: [duplicate.id] }, [duplicate]);
  }

  keepAll() {
    const { group } = this.queue;
    if (!group) return;
    const members = [group.keeper, ...group.duplicates];
    this.decide({ decision: "keep_all", documents: members.map(({ id }) => id) }, members);
  }

  decide(decision, members) {
    const { queue } = this, note = this.note.value.trim();
    if (note) decision.note = note;
    this.note.value = "";
    const place = queue.place;
    const { keeper, seen } = queue.group;
    this.log.make({ decision, members, place, keeper: keeper.id, seen });
    this.made += 1;
    forgetViews(["groups"]);
    const said = decision.decision === "keep_all" ? "All are kept."
      : `${visible(beginning(members[0].id, 80))}: ${NAMES[decision.decision]}.`;
    queue.place = queue.undecidedAfter(place);
    this.draw(said);
  }

  undo() {
    const made = this.log.undo();
    if (!made) {
      at("review-status").textContent = "There is nothing to undo.";
      return;
    }
    this.made -= 1;
    this.goTo(made.place, "Undone.");
  }

  redo() {
    const made = this.log.redo();
    if (!made) {
      at("review-status").textContent = "There is nothing to redo.";
      return;
    }
    this.made += 1;
    this.queue.place = this.queue.undecidedAfter(made.place);
    this.draw("Decided again.");
  }

  move(way) {
    this.goTo(this.queue[way](this.queue.place));
  }

  goTo(place, said = "") {
    // After the last group nothing is shown; a page that could not be loaded is requested again.
    if (place.group <= this.queue.groups.length) this.queue.place = place;
    this.draw(said);
  }

  /** Shows decisions of others, and asks whether to decide again. */
  conflicting(conflicts) {
    this.made -= conflicts.filter(({ item }) => !item.isUndo).length;
    const ask = (conflict) => conflictBox(conflict, () => {
      if (!conflict.item.isUndo) this.made += 1;
      this.log.insist(conflict);
      this.draw("Decided again.");
      this.stage.focus();
    }, () => this.stage.focus());
    this.conflicts.append(...conflicts.map(ask));
    this.draw("");
  }

  /** Takes over a decision about many pairs; `decision` is undefined if it was taken back. */
  async decidedMany(pairs, decision) {
    for (const { documents, seen } of pairs) this.log.saw(documents, seen);
    const changed = new Set(pairs.map(({ documents }) => targetOf(documents)));
    for (const { keeper, duplicates } of this.queue.groups) {
      for (const one of duplicates) {
        if (changed.has(targetOf([keeper.id, one.id]))) one.decision = decision;
      }
    }
    forgetViews(["groups"]);
    this.queue.place = this.queue.undecidedAfter(this.queue.place);
    this.draw("");
    try {
      await this.queue.recount();
      this.drawProgress();
    } catch (error) {
      this.refused(error);
    }
  }

  refused(error) {
    if (error.name === "AbortError") return;
    const again = async () => {
      this.problems.replaceChildren();
      await this.log.send();
      this.draw("");
    };
    this.problems.replaceChildren(problem(error, again));
    this.drawProgress();
  }
}

/** Installs the handlers of keys, and of leaving the page. */
export const watchReview = () => {
  onSingleKey((key) => {
    const act = at("view-review").hidden ? undefined : review?.byKey?.get(key);
    act?.();
    return act !== undefined;
  });
  window.addEventListener("beforeunload", (event) => {
    if (review?.log.unsent > 0) event.preventDefault();
  });
};

/** @type {import("../dom/router.js").Show} */
export const showReview = (params, signal) => {
  review = new Review(params, signal);
  review.begin();
};
