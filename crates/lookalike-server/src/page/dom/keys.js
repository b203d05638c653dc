"use strict";
// Whether single keys act: people who dictate, or press keys by accident, switch them off.

import { at } from "./dom.js";

const STORED = "lookalike-keys-off";

const storage = (act) => {
  try {
    return act(localStorage);
  } catch {
    // A browser without storage for the page keeps the choice until the page is closed.
    return null;
  }
};

/**
 * Whether keys without a modifier act.
 * @returns {boolean}
 */
export const keysAreOn = () => at("single-keys").checked;

/** Installs the handler of the switch, which is kept for all pages of this server. */
export const watchKeys = () => {
  const box = at("single-keys");
  box.checked = storage((kept) => kept.getItem(STORED)) !== "yes";
  box.addEventListener("change", () => storage((kept) => box.checked
    ? kept.removeItem(STORED) : kept.setItem(STORED, "yes")));
};
