// Handles single-key shortcuts. People who dictate, or press keys by accident, can turn them off.

import { at } from "./dom.js";

const STORED = "lookalike-keys-off";

/**
 * @template T
 * @param {(kept: Storage) => T} act
 */
const storage = (act) => {
  try {
    return act(localStorage);
  } catch {
    // Without storage, the checkbox keeps the choice until the page is closed.
    return null;
  }
};

/**
 * Returns true if single-key shortcuts are on.
 * @returns {boolean}
 */
export const keysAreOn = () => at("single-keys", HTMLInputElement).checked;

/**
 * Calls a function for each key that is pressed without Ctrl, Alt or Meta, outside of fields and
 * dialogs, while single-key shortcuts are on.
 * @param {(key: string, isRepeated: boolean) => boolean} act takes the name in lower case, and
 *   whether the key is held down; returns true if it acted
 */
export const onSingleKey = (act) =>
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !keysAreOn()) return;
    const { target } = event;
    if (target instanceof Element && target.closest("input, textarea, select, dialog")) return;
    if (act(event.key.toLowerCase(), event.repeat)) event.preventDefault();
  });

/**
 * Installs the handler of the switch. The browser stores the choice for all pages of this server.
 */
export const watchKeys = () => {
  const box = at("single-keys", HTMLInputElement);
  box.checked = storage((kept) => kept.getItem(STORED)) !== "yes";
  box.addEventListener("change", () =>
    storage((kept) => (box.checked ? kept.removeItem(STORED) : kept.setItem(STORED, "yes"))),
  );
};
