// Keeps the last query text for comparison with matches.

/** @type {{text: string, name: string}|null} */
let held = null;

/**
 * Keeps a query text.
 * @param {string} text
 * @param {string} name its name
 */
export const keepProbe = (text, name) => {
  held = { text, name };
};

/**
 * The last query text.
 * @returns {{text: string, name: string}|null}
 */
export const probe = () => held;
