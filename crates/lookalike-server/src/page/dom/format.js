// Formats numbers, sizes and ids.

const grouped = new Intl.NumberFormat("en-US");

// Control characters, bidirectional controls and other invisible characters.
const HIDDEN = new RegExp(
  "[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b\\u200e\\u200f" +
    "\\u2028-\\u202e\\u2060-\\u2064\\u2066-\\u2069\\ufeff]",
  "g",
);
/** @type {Record<string, string>} */
const NAMES = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Formats a count with commas between thousands.
 * @param {number} n
 * @returns {string}
 */
export const count = (n) => grouped.format(n);

/**
 * Formats a count of things: `1 group`, `2 groups`.
 * @param {number} n
 * @param {string} noun in the singular
 * @returns {string}
 */
export const counted = (n, noun) => `${count(n)} ${noun}${n === 1 ? "" : "s"}`;

/**
 * Formats a size with three digits and the full name of its decimal unit: `1.23 megabytes`.
 * @param {number} bytes
 * @returns {string}
 */
export const size = (bytes) => {
  if (bytes < 1000) return counted(bytes, "byte");
  const units = ["kilobytes", "megabytes", "gigabytes", "terabytes", "petabytes"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${units[unit]}`;
};

/**
 * Formats a similarity, as reports do.
 * @param {number} value 0 to 1
 * @returns {string} with six decimals
 */
export const similarity = (value) => value.toFixed(6);

/**
 * Formats a probability in percent. Uses up to eight decimals, so that a value below 1 does not
 * look like certainty.
 * @param {number} p 0 to 1
 * @returns {string}
 */
export const probability = (p) => {
  if (p <= 0 || p >= 1) return p <= 0 ? "0\u00a0%" : "100\u00a0%";
  if (1 - p < 1e-10) return "more than 99.99999999\u00a0%";
  if (p < 0.0001) return "less than 0.01\u00a0%";
  if (p < 0.001) return `${(p * 100).toFixed(2)}\u00a0%`;
  const needed = p > 0.99 ? Math.floor(-Math.log10(1 - p)) : 1;
  const decimals = Math.min(Math.max(needed, 1), 8);
  const factor = 10 ** decimals;
  // A value below 1 is never rounded up to 100 %.
  const percent = Math.min(Math.round(p * 100 * factor) / factor, 100 - 1 / factor);
  return `${Number(percent.toFixed(decimals))}\u00a0%`;
};

/**
 * Formats a time: `2026-11-20T10:00:00Z` becomes `2026-11-20 10:00:00 UTC`.
 * @param {string} moment RFC 3339 in UTC
 * @returns {string}
 */
export const time = (moment) => String(moment).replace("T", " ").replace(/Z$/, " UTC");

/**
 * Replaces the hidden characters of an id or a name with escapes, so that different ids never look
 * alike because of them.
 * @param {string|number} text
 * @returns {string}
 */
export const visible = (text) =>
  String(text).replace(HIDDEN, (c) => NAMES[c] || `\\u{${c.charCodeAt(0).toString(16)}}`);

/**
 * Returns the beginning of a text. Never cuts a surrogate pair.
 * @param {string} text
 * @param {number} most UTF-16 units
 * @returns {string}
 */
export const beginning = (text, most) => {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
};

/**
 * Shortens a text that is longer than `most`, and appends `…` to it.
 * @param {string} text
 * @param {number} most UTF-16 units, without the `…`
 * @returns {string}
 */
export const shortened = (text, most) => (text.length <= most ? text : `${beginning(text, most)}…`);
