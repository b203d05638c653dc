"use strict";
// The text that was searched last, so that matches can be compared with it.

let held = null;

/**
 * Keeps the text that is searched.
 * @param {string} text
 * @param {string} name what to call it
 */
export const keepProbe = (text, name) => { held = { text, name }; };

/**
 * The text that was searched last.
 * @returns {{text: string, name: string}|null}
 */
export const probe = () => held;
