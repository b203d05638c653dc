"use strict";
// Messages and remedies of errors.

import { ApiError } from "./api.js";
import { button, focusHeading, make } from "../dom/dom.js";
import { counted } from "../dom/format.js";

const soon = (error) => error.wait > 0
  ? `Try again in ${counted(error.wait, "second")}.` : "Try again in a moment.";

/** Title and remedy by code. */
const BY_CODE = {
  "no-answer": () => ["The server does not answer",
    "Look whether it still runs, and whether this machine is connected. What you have typed " +
    "is still here."],
  "no-json": () => ["The answer is not from lookalike",
    "Something between this page and the server, such as a proxy, has answered in its place."],
  "no-address": () => ["No address can name this id",
    "“.” and “..” mean something else in addresses; the command line takes them."],
  "unknown-document": () => ["There is no such document",
    "It may have been removed, or it has expired. Ids are compared letter by letter."],
  "unknown-index": () => ["The token opens no such index",
    "It may have another name now, or need another token. Without a name in its address the page " +
    "shows the first index that the token opens."],
  "other-index": () => ["The token opens other indexes",
    "Choose one at the top of the page, or enter another token."],
  "read-only-token": () => ["This token may not do this",
    "Ask for one that may; “Forget the token” at the end of the page, then enter it."],
  "decisions-full": () => ["No more decisions can be stored",
    "Nothing was stored. Its administrator can make room for more."],
  "id-taken": () => ["There is a document with this id",
    "Choose another id, or replace that document."],
  "cursor-expired": () => ["This list of groups is not kept any more",
    "The index may have changed since; begin again with the first page."],
  "read-only": () => ["The index is only read here",
    "Its administrator can start it for writing."],
  "timeout": () => ["It took the server too long",
    "Ask for less: a higher similarity or a shorter text. Or try again when it has less to do."],
  "unreadable": () => ["The server cannot read the index",
    "Its administrator finds the reason in its log."],
  "disk-full": () => ["The disk of the server is full",
    "Nothing was stored. Try again when there is room."],
  "answer-too-large": () => ["There is too much to show", "Ask for fewer documents at once."],
  "cross-origin": () => ["The server does not know this page as its own",
    "Open the page by the address that the server listens on."],
  "body-too-large": () => ["This text is longer than the server takes",
    "Search for a part of it, or use the command line on the machine with the index: " +
    "lookalike query INDEX FILE."],
};

BY_CODE["text-too-large"] = BY_CODE["body-too-large"];
BY_CODE["unknown-host"] = BY_CODE["cross-origin"];

/** The same by status, for responses without a known code. */
const BY_STATUS = {
  401: () => ["A token is needed", "Try again and enter it."],
  403: () => ["This is not allowed", "Ask the administrator of the server."],
  404: () => ["There is no such thing here", "The server may be an older one than this page."],
  413: BY_CODE["body-too-large"],
  429: (error) => ["Too many requests", soon(error)],
  503: (error) => ["The server is busy, or cannot read the index", soon(error)],
};

/**
 * Title and remedy of an error.
 * @param {unknown} error
 * @returns {[string, string]}
 */
export const explained = (error) => {
  if (!(error instanceof ApiError)) {
    return ["This page has made a mistake", `Reload it; what happened: ${String(error)}`];
  }
  const known = BY_CODE[error.code] || BY_STATUS[error.status];
  if (known) return known(error);
  if (error.status >= 500) return ["The server has failed", "Its own messages say more."];
  return ["The server has refused this", ""];
};

/**
 * A box with the error and its remedy.
 * @param {unknown} error
 * @param {(() => void)|undefined} again retries
 * @param {...Node} more further actions
 * @returns {HTMLElement}
 */
export const problem = (error, again, ...more) => {
  const [title, remedy] = explained(error);
  const box = make("div", { class: "warning problem", role: "alert" },
    make("p", {}, make("strong", {}, title)), remedy ? make("p", {}, remedy) : null);
  if (error instanceof ApiError && error.detail) {
    box.append(make("p", { class: "detail", dir: "auto" }, `The server says: ${error.detail}`));
  }
  if (again) {
    more.unshift(button("Try again", () => {
      // The button is removed; keyboard focus must move first.
      focusHeading();
      again();
    }));
  }
  if (more.length > 0) box.append(make("div", { class: "buttons" }, ...more));
  return box;
};
