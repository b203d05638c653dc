// Saves files that the server or the page has made.

import { make } from "../dom/dom.js";

/**
 * Saves bytes under a name.
 * @param {Blob} blob
 * @param {string} name
 */
export const save = (blob, name) => {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
};
