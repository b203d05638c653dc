"use strict";
// The token: asked for when the server wants one, kept for this tab only.

import { at } from "./dom.js";

const KEY = "lookalike-token";
const listeners = [];
// What is kept where the browser keeps nothing for the page.
let held = "";
let asking = null;

/**
 * The token, empty where there is none.
 * @returns {string}
 */
export const token = () => {
  try {
    return sessionStorage.getItem(KEY) || held;
  } catch {
    return held;
  }
};

const keep = (value) => {
  held = value;
  try {
    if (value) sessionStorage.setItem(KEY, value); else sessionStorage.removeItem(KEY);
  } catch {
    // It is held until the page is left.
  }
  at("forget").hidden = !value;
  for (const listener of listeners) listener();
};

/**
 * Calls back whenever another token is used.
 * @param {() => void} listener
 */
export const onToken = (listener) => listeners.push(listener);

/**
 * Asks the person for a token, once for all who ask at the same time.
 * @param {boolean} refused whether one was sent and not taken
 * @returns {Promise<boolean>} whether there is another one now
 */
export const askForToken = (refused) => {
  asking ??= new Promise((resolve) => {
    const dialog = at("token"), field = at("token-value");
    at("token-why").textContent = refused
      ? "The token that was sent is not one of its tokens. Look whether it was copied as a whole."
      : "Its administrator has the tokens. Nothing that you have typed is lost.";
    field.value = "";
    // A header holds visible characters of ASCII only.
    field.oninput = () => field.setCustomValidity(/^\s*[\x21-\x7e]*\s*$/.test(field.value) ? ""
      : "A token has letters, digits and signs of ASCII, and no spaces.");
    let given = false;
    at("token-form").onsubmit = (event) => {
      event.preventDefault();
      given = true;
      keep(field.value.trim());
      dialog.close();
    };
    at("token-cancel").onclick = () => dialog.close();
    dialog.onclose = () => {
      asking = null;
      field.value = "";
      resolve(given);
    };
    dialog.showModal();
    field.focus();
  });
  return asking;
};

/** Sets the button that forgets the token to work. */
export const watchToken = () => {
  at("forget").hidden = !token();
  at("forget").addEventListener("click", () => {
    keep("");
    at("version").closest("footer").querySelector("a").focus();
  });
};
