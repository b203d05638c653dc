// The view that adds a document.

import { ApiError, documentPath, isAbort, request } from "../client/api.js";
import { at, button, idElement, inputAt, make } from "../dom/dom.js";
import { counted } from "../dom/format.js";
import { problem } from "../client/problem.js";
import { contentOf } from "../client/view.js";
import { address, forgetViews } from "../dom/router.js";

/** @import { Schema } from "../client/types.js" */

const show = contentOf("add");

const idField = () => inputAt("add-id");
const textField = () => at("add-text", HTMLTextAreaElement);

/**
 * @param {string} id
 * @param {Schema<"Done">} answer
 */
const added = (id, { done, shingles }) => {
  forgetViews();
  show(
    `${done === "replaced" ? "Replaced" : "Added"} the document, with ` +
      `${counted(shingles, "shingle")}.`,
    [make("p", {}, make("a", { href: address("document", { id }) }, idElement(id)))],
  );
  // If the user has typed another id in the meantime, the form keeps its content.
  if (idField().value === id) at("add-form", HTMLFormElement).reset();
};

/**
 * Adds a document. If the id exists, mode `add` stores nothing and offers to replace the document;
 * mode `put` replaces it.
 * @param {string} id
 * @param {string} text
 * @param {"add"|"put"} mode
 * @returns {Promise<void>}
 */
const add = async (id, text, mode) => {
  show("Adding …", []);
  try {
    added(id, await request("PUT", `${documentPath(id)}?mode=${mode}`, { body: { text } }));
  } catch (error) {
    if (isAbort(error)) return;
    const isTaken = error instanceof ApiError && error.code === "id-taken";
    const replace = button("Replace the document", () => add(id, text, "put"), { class: "danger" });
    show("", [
      isTaken ? problem(error, undefined, replace) : problem(error, () => add(id, text, mode)),
    ]);
  }
};

/** Installs the event handlers of the form. */
export const watchAdd = () => {
  at("add-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const missing = [idField(), textField()].find((field) => field.value.trim() === "");
    if (missing) {
      show(`Type ${missing === idField() ? "an id" : "a text"}.`, []);
      missing.focus();
      return;
    }
    add(idField().value, textField().value, "add");
  });
};

/** @type {import("../dom/router.js").Show} */
export const showAdd = () => {};
