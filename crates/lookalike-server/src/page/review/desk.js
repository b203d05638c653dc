// The screen of a review: progress, folded details, both texts, and the buttons. It fills the
// window below the navigation; the texts take the room that the rest leaves.

import { button, make } from "../dom/dom.js";

/**
 * Keys that have another name in `aria-keyshortcuts`.
 * @type {Record<string, string>}
 */
export const SHORTCUTS = { "←": "ArrowLeft", "→": "ArrowRight" };

/**
 * The name of a key on a button. Touch screens hide it.
 * @param {string} name
 * @returns {HTMLElement}
 */
export const keyName = (name) => make("kbd", { "aria-hidden": "true" }, name);

/**
 * Buttons that show their keys.
 * @param {Array<[string, string, () => void]>} keys text, key and action
 * @returns {HTMLElement}
 */
export const keyButtons = (keys) =>
  make(
    "div",
    { class: "buttons review-keys" },
    ...keys.map(([text, key, act]) => {
      const made = button(text, act, { "aria-keyshortcuts": SHORTCUTS[key] ?? key });
      made.append(" ", keyName(key));
      return made;
    }),
  );

/**
 * A part of the desk that is folded at first.
 * @param {string} name class
 * @param {string|Node} summary
 * @param {...Node} content
 * @returns {HTMLDetailsElement}
 */
export const folded = (name, summary, ...content) =>
  make("details", { class: `fold ${name}` }, make("summary", {}, summary), ...content);

const help = () =>
  folded(
    "review-help",
    "Help",
    make(
      "p",
      {},
      "The page shows one duplicate at a time next to the keeper of its group, the document " +
        "to keep. The index stores each decision.",
    ),
    make(
      "p",
      { class: "for-keys" },
      "Press the key on a button instead of the button. In the list " +
        "of the group, arrows, Home and End choose a duplicate.",
    ),
  );

/**
 * Keeps the height of the desk: the window without the part of the page above it.
 * @param {HTMLElement} desk
 * @param {AbortSignal} signal
 */
const fit = (desk, signal) => {
  const measure = () => {
    if (!desk.checkVisibility()) return;
    const above = desk.getBoundingClientRect().top + window.scrollY;
    desk.style.setProperty("--above", `${Math.round(above)}px`);
  };
  const observer = new ResizeObserver(measure);
  for (const element of document.querySelectorAll("header, nav, .review-head")) {
    observer.observe(element);
  }
  observer.observe(desk);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
};

/**
 * The desk.
 * @param {{progress: Node, folds: Node[], notices: (Node|string)[], stage: Node,
 *   buttons: Node}} parts
 * @param {AbortSignal} signal aborted when the desk is replaced
 * @returns {HTMLElement}
 */
export const desk = ({ progress, folds, notices, stage, buttons }, signal) => {
  const element = make(
    "div",
    { class: "review-desk" },
    make("div", { class: "review-bar" }, progress, ...folds, help()),
    ...notices,
    stage,
    buttons,
  );
  fit(element, signal);
  return element;
};
