// Draws long lists and texts in steps, so that the page stays responsive.

import { button, make } from "./dom.js";

/** Minimum and maximum duration of one step, in milliseconds. */
const SLICE = 12;
const MOST_SLICE = 100;

/** @typedef {{element: Node, cost: number}} Part */

/**
 * Draws the elements of an iterator: a first batch at once, the rest when the user requests it.
 * Returns a function that draws until its predicate accepts the next part, or all parts are drawn.
 * @param {HTMLElement} box the parent element
 * @param {Iterator<Part>} parts
 * @param {number} budget cost of a batch
 * @returns {(isEnough: (next: Part) => boolean) => void}
 */
export const gradually = (box, parts, budget) => {
  // An element with the role `rowgroup` may contain only rows.
  const inRows = box.getAttribute("role") === "rowgroup";
  const acts = make("div", { class: "buttons", role: inRows ? "cell" : undefined });
  const controls = inRows ? make("div", { role: "row" }, acts) : acts;
  let next = parts.next();
  /** @param {(part: Part) => boolean} enough */
  const appendSome = (enough) => {
    while (!next.done && !enough(next.value)) {
      box.append(next.value.element);
      next = parts.next();
    }
    if (next.done) controls.remove();
    else box.append(controls);
  };
  const batch = () => {
    let remaining = budget;
    appendSome((part) => {
      const enough = remaining <= 0;
      remaining -= part.cost;
      return enough;
    });
  };
  // Moves keyboard focus to the first new part.
  /** @param {() => void} act */
  const continuing = (act) => () => {
    const mark = controls.previousElementSibling;
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
      appendSome(() => performance.now() > until);
      if (next.done) return;
      // On a slow machine, a frame takes longer than a short step. A step as long as the last frame
      // leaves half of the time for new elements.
      const drawn = performance.now();
      setTimeout(() => {
        const frame = performance.now() - drawn;
        step(Math.min(Math.max(frame, SLICE), MOST_SLICE));
      }, 0);
    };
    step(SLICE);
  };
  acts.append(button("Show more", continuing(batch)), button("Show all", continuing(all)));
  batch();
  return appendSome;
};

/** Maximum length of a piece of text, in UTF-16 units. */
const PIECE = 8_000;

/**
 * Cuts a text into pieces: after a line end, or else after a space, if the piece is then longer
 * than a quarter of the maximum. Never cuts a surrogate pair.
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

/** Length of the text in one batch, in UTF-16 units. */
const TEXT_BUDGET = 24_000;

/**
 * Shows a text with its line ends, drawn in batches.
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
