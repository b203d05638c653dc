"use strict";
// The choice of the index in the head of the page, where the server has several.

import { requestOfServer } from "./api.js";
import { at, make } from "./dom.js";
import { visible } from "./format.js";
import { chosenIndex, pageOf } from "./index_choice.js";

/** Shows which indexes the token opens; one that does not open the first goes to another one. */
export const showIndexes = async () => {
  let indexes;
  try {
    ({ indexes } = await requestOfServer("GET", "v1/indexes"));
  } catch {
    // The current view shows the error.
    return;
  }
  const first = indexes.find((one) => one.default), chosen = chosenIndex();
  if (chosen === "" && !first && indexes.length > 0) {
    location.replace(pageOf(indexes[0].name) + location.hash);
    return;
  }
  const current = chosen || first?.name;
  at("indexes-name").replaceChildren(...indexes.map(({ name }) =>
    make("option", { value: name, selected: name === current }, visible(name))));
  at("indexes").hidden = indexes.length < 2;
};

/** Installs the handler of the form: another index is another page, which begins at its start. */
export const watchIndexes = () => at("indexes").addEventListener("submit", (event) => {
  event.preventDefault();
  location.assign(`${pageOf(at("indexes-name").value)}#/`);
});
