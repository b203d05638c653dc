// Saves files that the server has sent.

import { make } from "../dom/dom.js";

/**
 * Saves bytes under a name.
 * @param {Blob} blob
 * @param {string} name
 */
export const save = (blob, name) => {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  // After a minute, the browser has started to save the file.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
};
