// The desk: the screen of a review with progress, folded details, both texts, and the buttons. It
// fills the window below the navigation. The texts take the height that the other parts leave.

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
 * A button of the desk: its text, its key, whether it works only if a pair is shown, and its
 * action.
 * @typedef {{text: string, key: string, needsPair?: boolean, act: () => void}} KeyButton
 */

/**
 * Creates buttons that show their keys.
 * @param {KeyButton[]} keys
 * @returns {HTMLButtonElement[]}
 */
export const keyButtons = (keys) =>
  keys.map(({ text, key, act }) => {
    const element = button(text, act, { "aria-keyshortcuts": SHORTCUTS[key] ?? key });
    element.append(" ", keyName(key));
    return element;
  });

/**
 * A part of the desk that is folded at first.
 * @param {string} name class
 * @param {string|Node} summary
 * @param {...Node} content
 * @returns {HTMLDetailsElement}
 */
export const folded = (name, summary, ...content) =>
  make("details", { class: `fold ${name}` }, make("summary", {}, summary), ...content);

/**
 * All keys with their actions. Touch screens hide the row with the class `for-keys`, because it
 * explains keys without a button.
 * @type {[string, string, string?][]}
 */
const KEYS = [
  ["D", "Duplicate: the right document is a duplicate of the kept one."],
  ["N", "Not a duplicate: both documents are kept, and this pair is not shown again."],
  [
    "K",
    "Keep this one instead: the pair is a duplicate, and the right document is kept instead of " +
      "the left one.",
  ],
  ["A", "Keep all: no document of the group is a duplicate."],
  [
    "G",
    "Confirm all: every undecided duplicate of the group is a duplicate. First shows the least " +
      "similar pair.",
  ],
  ["U", "Undo the last decision of this visit. Repeat it for earlier ones."],
  ["R", "Redo the decision that was undone last."],
  ["← →", "Previous and next pair. Before the first pair are the decisions of earlier visits."],
  ["F B", "Next and previous difference of the texts."],
  ["M", "Note for the next decision."],
  [
    "↑ ↓",
    "In the list of the group: another duplicate. Page Up, Page Down, Home and End too.",
    "for-keys",
  ],
];

const help = () =>
  folded(
    "review-help",
    "Help",
    make(
      "p",
      {},
      "The left text is kept. The right text is its duplicate until you decide otherwise. The " +
        "index stores each decision. Other documents of a group are compared with its new " +
        "keeper when you load the page again.",
    ),
    make(
      "dl",
      { class: "key-list" },
      ...KEYS.map(([key, does, name]) =>
        make("div", { class: name }, make("dt", {}, make("kbd", {}, key)), make("dd", {}, does)),
      ),
    ),
  );

/**
 * Sets `--above`, the height of the page above the desk, and updates it until the signal is
 * aborted. The style sheet computes the height of the desk from it.
 * @param {HTMLElement} desk
 * @param {AbortSignal} signal
 */
const fit = (desk, signal) => {
  const measure = () => {
    if (!desk.checkVisibility()) return;
    const top = desk.getBoundingClientRect().top + window.scrollY;
    desk.style.setProperty("--above", `${Math.round(top)}px`);
  };
  const observer = new ResizeObserver(measure);
  for (const element of document.querySelectorAll("header, nav, .review-head")) {
    observer.observe(element);
  }
  observer.observe(desk);
  signal.addEventListener("abort", () => observer.disconnect(), { once: true });
};

/**
 * Creates the desk.
 * @param {{progress: Node, folds: Node[], notices: (Node|string)[], stage: Node,
 *   buttons: Node[]}} parts
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
    make("div", { class: "buttons review-keys" }, ...buttons),
  );
  fit(element, signal);
  return element;
};
