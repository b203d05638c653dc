// Lists the duplicates of a group, one on each line. Draws only the lines in view, because a group
// can have thousands.

import { bar, idElement, make } from "../dom/dom.js";
import { size } from "../dom/format.js";
import { NAMES } from "./conflicts.js";
import { titleOf } from "../search/described.js";

/** @import { Duplicate } from "../client/types.js" */

/** Height of a line in rem, as in the style sheet. */
const LINE_REM = 2.25;
/** Lines drawn above and below the lines in view. */
const MARGIN = 4;

/**
 * The number of lines that each key moves by. Infinite numbers move to the first or last line.
 * @param {number} page the lines in view
 */
const steps = (page) =>
  new Map([
    ["ArrowUp", -1],
    ["ArrowDown", 1],
    ["PageUp", -page],
    ["PageDown", page],
    ["Home", -Infinity],
    ["End", Infinity],
  ]);

/** A list box with one current member. */
export class MemberList {
  /** @param {(place: number) => void} choose called with the place of a chosen member */
  constructor(choose) {
    /** @type {Duplicate[]} */
    this.members = [];
    /** Height of a line in pixels. */
    this.line = 1;
    this.current = 0;
    this.choose = choose;
    this.lines = make("div", { class: "member-lines", role: "presentation" });
    this.element = make(
      "div",
      {
        class: "member-list",
        role: "listbox",
        tabindex: "0",
        "aria-label": "Duplicates of this group",
      },
      this.lines,
    );
    this.element.addEventListener("scroll", () => this.draw());
    this.element.addEventListener("keydown", (event) => this.pressed(event));
    this.element.addEventListener("click", ({ target }) => {
      /** @type {HTMLElement|null} */
      const line = target instanceof Element ? target.closest("[data-at]") : null;
      if (line) this.choose(Number(line.dataset.at));
    });
  }

  /**
   * Shows members, with the current one in view.
   * @param {Duplicate[]} members
   * @param {number} current place of the current member
   */
  show(members, current) {
    this.members = members;
    this.current = current;
    // Nothing is drawn while the list is folded.
    if (!this.element.checkVisibility()) return;
    this.line = LINE_REM * parseFloat(getComputedStyle(document.documentElement).fontSize);
    this.lines.style.height = `${members.length * this.line}px`;
    const top = current * this.line;
    const room = this.element.clientHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + this.line > this.element.scrollTop + room) {
      this.element.scrollTop = top + this.line - room;
    }
    this.draw();
  }

  draw() {
    const { scrollTop, clientHeight } = this.element;
    const from = Math.max(0, Math.floor(scrollTop / this.line) - MARGIN);
    const to = Math.ceil((scrollTop + clientHeight) / this.line) + MARGIN;
    this.lines.replaceChildren(
      ...this.members.slice(from, to).map((member, at) => this.drawn(member, from + at)),
    );
    const isDrawn = this.current >= from && this.current < to;
    if (isDrawn) this.element.setAttribute("aria-activedescendant", `member-${this.current}`);
    else this.element.removeAttribute("aria-activedescendant");
  }

  /**
   * @param {Duplicate} member
   * @param {number} at
   */
  drawn(member, at) {
    const isCurrent = at === this.current;
    const title = titleOf(member);
    const tag = member.decision && NAMES[member.decision];
    const line = make(
      "div",
      {
        class: isCurrent ? "member shown" : "member",
        role: "option",
        id: `member-${at}`,
        "data-at": at,
        "aria-selected": String(isCurrent),
        "aria-setsize": this.members.length,
        "aria-posinset": at + 1,
      },
      idElement(member.id, "id"),
      title ? make("bdi", { class: "first-words" }, title) : null,
      tag ? make("span", { class: "tag" }, tag) : null,
      bar(member.similarity, false, member.equal_text),
      make("span", { class: "size" }, size(member.bytes)),
    );
    line.style.top = `${at * this.line}px`;
    return line;
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.line) - 1);
    const step = steps(page).get(event.key);
    if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const place = Math.min(Math.max(this.current + step, 0), this.members.length - 1);
    if (place !== this.current) this.choose(place);
  }
}
