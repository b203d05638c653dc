// Moves from one difference of two texts to the next, with buttons and keys, and between the two
// places of a moved block.

import { button, make } from "../dom/dom.js";
import { count, shortened } from "../dom/format.js";
import { onSingleKey } from "../dom/keys.js";

/** @import { ChangeKind } from "./changes.js" */

/** @typedef {(isThere: () => boolean) => void} DrawUntil */

/** The keys for the next and the previous difference. */
const KEYS = new Map([
  ["f", 1],
  ["b", -1],
]);
/** Kinds of marked differences, the most important first. */
const KINDS = /** @type {ChangeKind[]} */ (["words", "written"]);
/** Maximum length of an announced text, in UTF-16 units. */
const SPOKEN = 80;

/**
 * The walks by their elements.
 * @type {WeakMap<Element, DifferenceWalk>}
 */
const walks = new WeakMap();

/** Whether white space is marked. The choice holds for all texts until the page is closed. */
let showsWhite = false;

/** Whether white space is marked. */
export const marksWhite = () => showsWhite;

/**
 * Scrolls the texts until a mark is in their middle. Scrolls the page only if the mark is still
 * outside of the window.
 * @param {HTMLElement} box of the texts
 * @param {HTMLElement} mark
 */
const scrollTo = (box, mark) => {
  const middle = () => {
    const { top, height } = mark.getBoundingClientRect();
    return top + Math.min(height, box.clientHeight) / 2;
  };
  box.scrollTop += middle() - (box.getBoundingClientRect().top + box.clientHeight / 2);
  // The buttons of a review cover the end of the window.
  const buttons = document.querySelector(".review-keys")?.getBoundingClientRect().top;
  if (middle() < 0 || middle() > (buttons || window.innerHeight)) {
    mark.scrollIntoView({ block: "center" });
  }
};

/**
 * The places that the keys visit: the differences of the most important kind that occurs, or all
 * differences while white space is marked.
 * @param {ChangeKind[]} kinds
 */
const visited = (kinds) => {
  const first = KINDS.find((kind) => kinds.includes(kind));
  return Array.from(kinds.keys()).filter((place) => showsWhite || kinds[place] === first);
};

/**
 * The announced text of a difference in one of the texts.
 * @param {Element[]} marks
 * @param {string} tag `del` for the first text, `ins` for the second
 */
const words = (marks, tag) => {
  const text = marks
    .filter((mark) => mark.localName === tag)
    .map((mark) => mark.textContent?.trim())
    .filter(Boolean)
    .join(" ");
  if (text === "") return null;
  const where = tag === "del" ? "first" : "second";
  return `“${shortened(text, SPOKEN)}” in the ${where}`;
};

/** A walk over the differences that are drawn in a box. */
export class DifferenceWalk {
  /**
   * @param {HTMLElement} box
   * @param {ChangeKind[]} kinds of the differences
   * @param {() => DrawUntil} draw draws the first differences, and returns a function that draws
   *   more
   */
  constructor(box, kinds, draw) {
    this.box = box;
    this.kinds = kinds;
    this.draw = draw;
    this.drawUntil = draw();
    this.places = visited(kinds);
    /** The position in the visited places. */
    this.current = -1;
    this.status = make("span", { role: "status", class: "note" });
    /**
     * @param {string} text
     * @param {string} name
     * @param {number} step
     */
    const key = (text, name, step) => {
      const element = button(text, () => this.move(step), { "aria-keyshortcuts": name });
      element.append(" ", make("kbd", { "aria-hidden": "true" }, name));
      return element;
    };
    this.white = kinds.includes("white")
      ? button("White space", () => this.setWhite(!showsWhite), {
          "aria-pressed": String(showsWhite),
        })
      : null;
    this.element = make(
      "div",
      { class: "buttons walk" },
      key("Previous difference", "B", -1),
      key("Next difference", "F", 1),
      this.white,
      this.status,
    );
    box.classList.toggle("shows-white", showsWhite);
    walks.set(this.element, this);
    box.addEventListener("click", ({ target }) => {
      const inside = target instanceof Element ? target : null;
      /** @type {HTMLElement|null|undefined} */
      const moved = inside?.closest(".moved-to");
      const [tag, number] = moved?.dataset.other?.split(" ") ?? [];
      if (number !== undefined) this.toOther(tag, number);
    });
  }

  /**
   * Shows or hides the marks of white space. Draws the texts again, because differences in white
   * space are folded only while their marks are hidden.
   * @param {boolean} isShown
   */
  setWhite(isShown) {
    showsWhite = isShown;
    this.white?.setAttribute("aria-pressed", String(isShown));
    this.box.classList.toggle("shows-white", isShown);
    const place = this.places[this.current];
    this.places = visited(this.kinds);
    this.current = this.places.indexOf(place);
    this.drawUntil = this.draw();
    if (this.current >= 0) this.goTo(place);
  }

  /**
   * The drawn marks of a difference.
   * @param {number} place
   * @returns {HTMLElement[]}
   */
  marks(place) {
    return Array.from(this.box.querySelectorAll(`[data-place="${place}"]`));
  }

  /**
   * Moves forward by a number of differences; a negative number moves back.
   * @param {number} way
   */
  move(way) {
    // If only white space differs, there is nothing to visit until white space is marked.
    if (this.places.length === 0) this.setWhite(true);
    const place = this.places[this.current + way];
    if (place === undefined) {
      this.status.textContent =
        way > 0 ? "This is the last difference." : "This is the first difference.";
      return;
    }
    this.goTo(place);
  }

  /** @param {number} place */
  goTo(place) {
    this.drawUntil(() => this.marks(place).length > 0);
    this.show(place);
  }

  /**
   * Marks a difference as the current one, scrolls to it, and announces it.
   * @param {number} place
   */
  show(place) {
    const marks = this.marks(place);
    if (marks.length === 0) return;
    for (const mark of this.box.querySelectorAll(".current")) mark.classList.remove("current");
    for (const mark of marks) mark.classList.add("current");
    this.current = this.places.indexOf(place);
    scrollTo(this.box, marks[0]);
    const changes = [words(marks, "del"), words(marks, "ins")].filter(Boolean).join(", ");
    const position = `Difference ${count(this.current + 1)} of ${count(this.places.length)}`;
    this.status.textContent = changes ? `${position}: ${changes}.` : `${position}.`;
  }

  /**
   * Moves to the place of a moved block in the other text.
   * @param {string} tag the element of its mark in the other text: `del` or `ins`
   * @param {string} moved the number of the block
   */
  toOther(tag, moved) {
    /** @returns {HTMLElement|null} */
    const find = () => this.box.querySelector(`${tag}[data-moved="${moved}"]`);
    this.drawUntil(() => find() !== null);
    const target = find();
    if (!target) return;
    this.show(Number(target.dataset.place));
    scrollTo(this.box, target);
    /** @type {HTMLElement|null|undefined} */
    const back = target.parentElement?.querySelector(`.moved-to[data-other$=" ${moved}"]`);
    back?.focus({ preventScroll: true });
  }
}

/** Installs the handler of keys, for the differences of the current view. */
export const watchDifferences = () =>
  onSingleKey((key) => {
    const step = KEYS.get(key);
    const current = document.querySelector("main > section:not([hidden]) .walk");
    const walk = current ? walks.get(current) : undefined;
    if (step === undefined || !walk) return false;
    walk.move(step);
    return true;
  });
