// Titles and remedies of errors, for users.

import { ApiError } from "./api.js";
import { button, focusHeading, make } from "../dom/dom.js";
import { counted } from "../dom/format.js";

/** @param {ApiError} error */
const retryText = (error) =>
  error.wait > 0 ? `Try again in ${counted(error.wait, "second")}.` : "Try again in a moment.";

/**
 * Title and remedy by code.
 * @type {Record<string, (error: ApiError) => [string, string]>}
 */
const BY_CODE = {
  "no-answer": () => [
    "The server does not answer",
    "Check that the server is running and that this computer is connected. The page keeps what " +
      "you typed.",
  ],
  "no-json": () => [
    "The answer is not from lookalike",
    "A proxy or another program between this page and the server answered instead.",
  ],
  "no-address": () => [
    "No address can contain this id",
    "“.” and “..” have another meaning in addresses. Use the command line for this id.",
  ],
  "unknown-document": () => [
    "The index has no document with this id",
    "The document was removed or has expired, or the id is misspelled.",
  ],
  "unknown-index": () => [
    "The token does not open an index with this name",
    "The index has another name, or requires another token. Without a name in its address, the " +
      "page shows the first index that the token opens.",
  ],
  "other-index": () => [
    "The token opens other indexes",
    "Choose an index at the top of the page, or enter another token.",
  ],
  "read-only-token": () => [
    "The token does not permit this",
    "Ask the administrator for a token that permits it. Then choose “Forget the token” at the end " +
      "of the page, and enter the new token.",
  ],
  "decisions-full": () => [
    "The index has no room for further decisions",
    "Nothing was stored. The administrator can make room.",
  ],
  "id-taken": () => [
    "The index already has a document with this id",
    "Choose another id, or replace the document.",
  ],
  "cursor-expired": () => [
    "The server no longer has this list of groups",
    "The index may have changed. Start again with the first page.",
  ],
  "read-only": () => [
    "The server opened the index for reading only",
    "The administrator can start the server for writing.",
  ],
  timeout: () => [
    "The request took too long",
    "Search with a higher similarity or a shorter text, or try again later.",
  ],
  unreadable: () => ["The server cannot read the index", "The log of the server has the reason."],
  "disk-full": () => [
    "The disk of the server is full",
    "Nothing was stored. Free some space and try again.",
  ],
  "answer-too-large": () => ["The result is too large", "Request fewer documents."],
  "cross-origin": () => [
    "The server does not accept requests from this address",
    "Open the page with the address that the server listens on.",
  ],
  "body-too-large": () => [
    "The text is longer than the server accepts",
    "Search for a part of the text, or use the command line on the computer with the index: " +
      "lookalike query INDEX FILE.",
  ],
};

BY_CODE["text-too-large"] = BY_CODE["body-too-large"];
BY_CODE["unknown-host"] = BY_CODE["cross-origin"];

/**
 * Title and remedy by status, for responses without a known code.
 * @type {Record<number, (error: ApiError) => [string, string]>}
 */
const BY_STATUS = {
  401: () => ["The server requires a token", "Try again and enter the token."],
  403: () => ["The server does not permit this", "Ask the administrator of the server."],
  404: () => ["The server does not have this address", "The server may be older than this page."],
  413: BY_CODE["body-too-large"],
  429: (error) => ["Too many requests", retryText(error)],
  503: (error) => ["The server is busy, or cannot read the index", retryText(error)],
};

/**
 * Title and remedy of an error.
 * @param {unknown} error
 * @returns {[string, string]} the remedy is empty if unknown
 */
export const explained = (error) => {
  if (!(error instanceof ApiError)) {
    return ["This page has an error", `Reload the page. The error is: ${String(error)}`];
  }
  const describe = BY_CODE[error.code] || BY_STATUS[error.status];
  if (describe) return describe(error);
  if (error.status >= 500) return ["The server failed", "The log of the server has the reason."];
  return ["The server rejected the request", ""];
};

/**
 * A box with the error and its remedy.
 * @param {unknown} error
 * @param {() => void} [retry] retries
 * @param {...Node} more further actions
 * @returns {HTMLElement}
 */
export const problem = (error, retry, ...more) => {
  const [title, remedy] = explained(error);
  const box = make(
    "div",
    { class: "warning problem", role: "alert" },
    make("p", {}, make("strong", {}, title)),
    remedy ? make("p", {}, remedy) : null,
  );
  if (error instanceof ApiError && error.detail) {
    box.append(make("p", { class: "detail", dir: "auto" }, `The server says: ${error.detail}`));
  }
  if (retry) {
    more.unshift(
      button("Try again", () => {
        // The retry removes the button, so keyboard focus must move first.
        focusHeading();
        retry();
      }),
    );
  }
  if (more.length > 0) box.append(make("div", { class: "buttons" }, ...more));
  return box;
};
