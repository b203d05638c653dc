"use strict";
// Reads a chosen or dropped file.

import { size, visible } from "./format.js";

/** Maximum size of a file, in bytes. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Text formats with markup. */
const MARKED_UP = /\.(html?|xhtml|xml|eml|mbox|mht|rtf|svg|tex|csv|jsonl|json|ipynb)$/i;

const COMMAND = "The command line reads it: lookalike query INDEX FILE. Or copy its text and " +
  "paste it here.";

/**
 * Reads a file of UTF-8 text.
 * @param {File} file
 * @returns {Promise<{text: string, note: string}>}
 * @throws {Error} with a message for the user
 */
export const readText = async (file) => {
  const name = visible(file.name);
  if (file.size > MOST_BYTES) {
    throw new Error(`${name} has ${size(file.size)}; this page reads ${size(MOST_BYTES)} at ` +
      `most. ${COMMAND}`);
  }
  let bytes;
  try {
    bytes = new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new Error(`${name} cannot be read: if it is a folder, choose one of its files.`);
  }
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Error(`${name} is not UTF-8 text. ${COMMAND}`);
  }
  if (text.includes("\0") || text.startsWith("%PDF-")) {
    throw new Error(`${name} is no file of plain text. ${COMMAND}`);
  }
  const note = MARKED_UP.test(file.name)
    ? "It is taken as it is, with its markup; the command line takes its text out first."
    : "";
  return { text, note };
};
