// Lists the indexes that the token opens at the top of the page, and determines the rights of the
// token for the shown index.

import { once, requestOfServer } from "./api.js";
import { at, make } from "../dom/dom.js";
import { visible } from "../dom/format.js";
import { chosenIndex, pageOf } from "./index_choice.js";

/** @import { ServedIndex } from "./types.js" */

/** Rights of each kind of token, in addition to reading, if the server may write the index. */
const RIGHTS = { read: [], decide: ["decide"], write: ["decide", "write"] };

/** The indexes that the token opens, requested once for each token. */
const opened = once(async () => (await requestOfServer("GET", "v1/indexes")).indexes);

/**
 * The name of the shown index.
 * @param {ServedIndex[]} indexes
 */
const currentName = (indexes) => chosenIndex() || indexes.find((index) => index.default)?.name;

/**
 * The rights of the token for the shown index, in addition to reading.
 * @returns {Promise<string[]>} `decide`, or `decide` and `write`; empty if the token may only read
 *   the index, or if its rights are unknown
 */
export const rights = async () => {
  try {
    const indexes = await opened();
    const current = currentName(indexes);
    const found = indexes.find(({ name }) => name === current);
    return found?.writable ? (RIGHTS[found.right] ?? []) : [];
  } catch {
    // The current view shows the error.
    return [];
  }
};

/**
 * Lists the indexes that the token opens. If the address names no index and the token does not open
 * the first index of the server, opens the page of the first index that the token opens.
 */
export const showIndexes = async () => {
  let indexes;
  try {
    indexes = await opened();
  } catch {
    // The current view shows the error.
    return;
  }
  const first = indexes.find((index) => index.default);
  const current = currentName(indexes);
  if (chosenIndex() === "" && !first && indexes.length > 0) {
    location.replace(pageOf(indexes[0].name) + location.hash);
    return;
  }
  at("indexes-name").replaceChildren(
    ...indexes.map(({ name }) =>
      make("option", { value: name, selected: name === current }, visible(name)),
    ),
  );
  at("indexes").hidden = indexes.length < 2;
};

/** Installs the handler of the form, which opens the first view of the selected index. */
export const watchIndexes = () =>
  at("indexes").addEventListener("submit", (event) => {
    event.preventDefault();
    location.assign(`${pageOf(at("indexes-name", HTMLSelectElement).value)}#/`);
  });
