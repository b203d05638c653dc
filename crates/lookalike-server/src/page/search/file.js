// Sends a chosen or dropped file to the server, which reads it as the command line would.

import { request } from "../client/api.js";
import { size, visible } from "../dom/format.js";

/** Maximum size of a file, in bytes. */
const MOST_BYTES = 64 * 1024 * 1024;

/** @import { FileText, FileTexts } from "../client/types.js" */

const COMMAND = "Use the command line: lookalike query INDEX FILE.";

/**
 * Requests the texts of a file.
 * @param {File} file
 * @param {AbortSignal} signal
 * @returns {Promise<FileTexts>}
 * @throws {Error} with a message for the user if the file is too large or cannot be read
 * @throws {ApiError} if the request fails
 */
export const readFile = async (file, signal) => {
  const name = visible(file.name);
  if (file.size > MOST_BYTES) {
    throw new Error(
      `${name} has ${size(file.size)}; this page reads at most ` +
        `${size(MOST_BYTES)}. ${COMMAND}`,
    );
  }
  let bytes;
  try {
    bytes = await file.arrayBuffer();
  } catch {
    throw new Error(`Cannot read ${name}. If it is a folder, choose one of its files.`);
  }
  return request("POST", `v1/extract?name=${encodeURIComponent(file.name)}`, { bytes, signal });
};

/**
 * Names a part of a file by its place and kind, its title or subject, its author and its date.
 * @param {FileText} part
 * @returns {string}
 */
export const partTitle = ({ within, kind, fields }) => {
  const title = fields.title ?? fields.subject;
  const notes = [
    title && `“${visible(title)}”`,
    fields.from && `from ${visible(fields.from)}`,
    fields.date?.slice(0, 10),
  ].filter(Boolean);
  const place = within === "" ? kind : `${visible(within)} (${kind})`;
  return notes.length === 0 ? place : `${place}: ${notes.join(", ")}`;
};
