// Keeps the last query text, so that the user can compare it with matches.

/** @type {{text: string, name: string}|null} */
let kept = null;

/**
 * Keeps a query text.
 * @param {string} text
 * @param {string} name shown to the user
 */
export const keepProbe = (text, name) => {
  kept = { text, name };
};

/**
 * The last query text; null before the first search.
 * @returns {{text: string, name: string}|null}
 */
export const probe = () => kept;
