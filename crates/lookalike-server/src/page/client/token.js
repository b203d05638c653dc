// Asks the user for a token when the server requires one, and keeps it for this tab only.

import { at } from "../dom/dom.js";

const KEY = "lookalike-token";
/** @type {(() => unknown)[]} */
const listeners = [];
// The token, if the browser denies storage to the page.
let kept = "";
/**
 * The result of the open dialog.
 * @type {Promise<boolean>|null}
 */
let asking = null;

/**
 * The token, empty if there is none.
 * @returns {string}
 */
export const token = () => {
  try {
    return sessionStorage.getItem(KEY) || kept;
  } catch {
    return kept;
  }
};

/** @param {string} value */
const keep = (value) => {
  kept = value;
  try {
    if (value) sessionStorage.setItem(KEY, value);
    else sessionStorage.removeItem(KEY);
  } catch {
    // `kept` holds the token until the page is closed.
  }
  at("forget").hidden = !value;
  for (const listener of listeners) listener();
};

/**
 * Registers a listener for changes of the token.
 * @param {() => unknown} listener
 */
export const onToken = (listener) => listeners.push(listener);

/**
 * Asks the user for a token. Concurrent calls share one dialog.
 * @param {boolean} refused whether the server rejected an earlier token
 * @returns {Promise<boolean>} true if the user entered a token
 */
export const askForToken = (refused) => {
  asking ??= new Promise((resolve) => {
    const dialog = at("token", HTMLDialogElement);
    const field = at("token-value", HTMLInputElement);
    at("token-why").textContent = refused
      ? "The server does not know this token. Check that you copied all of it."
      : "The administrator of the server has the tokens. The page keeps your other entries.";
    field.value = "";
    // A header contains visible ASCII characters only.
    field.oninput = () =>
      field.setCustomValidity(
        /^\s*[\x21-\x7e]*\s*$/.test(field.value)
          ? ""
          : "A token contains ASCII letters, digits and signs, without spaces.",
      );
    let isGiven = false;
    at("token-form").onsubmit = (event) => {
      event.preventDefault();
      isGiven = true;
      keep(field.value.trim());
      dialog.close();
    };
    at("token-cancel").onclick = () => dialog.close();
    dialog.onclose = () => {
      asking = null;
      field.value = "";
      resolve(isGiven);
    };
    dialog.showModal();
    field.focus();
  });
  return asking;
};

/** Installs the handler of the button that removes the token. */
export const watchToken = () => {
  at("forget").hidden = !token();
  at("forget").addEventListener("click", () => {
    keep("");
    at("version").closest("footer")?.querySelector("a")?.focus();
  });
};
