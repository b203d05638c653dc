// Incremental drawing, so that the page stays responsive.

import { button, make } from "./dom.js";

/** Least and most duration of one step, in milliseconds. */
const SLICE = 12;
const MOST_SLICE = 100;

/** @typedef {{element: Node, cost: number}} Part */

/**
 * Draws the elements of an iterator: a first part at once, the rest on request. The result draws
 * until a predicate of the next part holds, or all is drawn.
 * @param {HTMLElement} box the parent element
 * @param {Iterator<Part>} parts
 * @param {number} budget cost of the first part, and of each further one
 * @returns {(isEnough: (next: Part) => boolean) => void}
 */
export const gradually = (box, parts, budget) => {
  // A group of rows has rows only.
  const inRows = box.getAttribute("role") === "rowgroup";
  const acts = make("div", { class: "buttons", role: inRows ? "cell" : undefined });
  const rest = inRows ? make("div", { role: "row" }, acts) : acts;
  let next = parts.next();
  /** @param {(part: Part) => boolean} enough */
  const some = (enough) => {
    while (!next.done && !enough(next.value)) {
      box.append(next.value.element);
      next = parts.next();
    }
    if (next.done) rest.remove();
    else box.append(rest);
  };
  const batch = () => {
    let left = budget;
    some((part) => {
      const enough = left <= 0;
      left -= part.cost;
      return enough;
    });
  };
  // Keyboard focus moves to the first new part.
  /** @param {() => void} act */
  const goingOn = (act) => () => {
    const mark = rest.previousElementSibling;
    act();
    const first = /** @type {HTMLElement|null} */ (mark?.nextElementSibling);
    if (!first) return;
    first.tabIndex = -1;
    first.focus({ preventScroll: true });
  };
  const all = () => {
    batch();
    acts.replaceChildren(make("p", { class: "note", role: "status" }, "Drawing …"));
    /** @param {number} slice */
    const step = (slice) => {
      if (!box.isConnected) return;
      const until = performance.now() + slice;
      some(() => performance.now() > until);
      if (next.done) return;
      // On a slow machine, a frame takes longer than a short step. A step as long as the last frame
      // uses half of the time for drawing.
      const drawn = performance.now();
      setTimeout(() => {
        const frame = performance.now() - drawn;
        step(Math.min(Math.max(frame, SLICE), MOST_SLICE));
      }, 0);
    };
    step(SLICE);
  };
  acts.append(button("Show more", goingOn(batch)), button("Show all", goingOn(all)));
  batch();
  return some;
};

/** UTF-16 units of one piece of text. */
const PIECE = 8_000;

/**
 * Cuts a text into pieces, at line ends where there are any, never within a character.
 * @param {string} text
 * @yields {string}
 */
export function* pieces(text) {
  for (let from = 0; from < text.length; ) {
    let to = Math.min(from + PIECE, text.length);
    if (to < text.length) {
      const line = text.lastIndexOf("\n", to - 1) + 1;
      const blank = text.lastIndexOf(" ", to - 1) + 1;
      const unit = text.charCodeAt(to);
      if (line > from + PIECE / 4) to = line;
      else if (blank > from + PIECE / 4) to = blank;
      else if (unit >= 0xdc00 && unit < 0xe000) to -= 1;
    }
    yield text.slice(from, to);
    from = to;
  }
}

/** Cost of one drawing step of a text, in UTF-16 units. */
const TEXT_BUDGET = 24_000;

/**
 * A text with its line ends, drawn incrementally.
 * @param {string} text
 * @returns {HTMLElement}
 */
export const longText = (text) => {
  const box = make("div", { class: "text" });
  const parts = function* () {
    for (const piece of pieces(text)) {
      const shown = piece.replace(/\n$/, "");
      const element = make("p", { class: "pre", dir: "auto" }, shown === "" ? "\u00a0" : shown);
      yield { element, cost: piece.length };
    }
  };
  gradually(box, parts(), TEXT_BUDGET);
  return box;
};
