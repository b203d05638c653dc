// The view that adds a document.

import { documentPath, request } from "../client/api.js";
import { at, button, make, shownId } from "../dom/dom.js";
import { counted } from "../dom/format.js";
import { problem } from "../client/problem.js";
import { contentOf } from "../client/view.js";
import { address, forgetViews } from "../dom/router.js";

const show = contentOf("add");

const added = (id, { done, shingles }) => {
  forgetViews();
  show(
    `${done === "replaced" ? "Replaced" : "Added"} the document, with ` +
      `${counted(shingles, "shingle")}.`,
    [make("p", {}, make("a", { href: address("document", { id }) }, shownId(id)))],
  );
  // A form that was changed in the meantime keeps its content.
  if (at("add-id").value === id) at("add-form").reset();
};

/** Replaces an existing document only after confirmation. */
const add = async (id, text, mode) => {
  show("Adding …", []);
  try {
    added(id, await request("PUT", `${documentPath(id)}?mode=${mode}`, { body: { text } }));
  } catch (error) {
    if (error.name === "AbortError") return;
    const taken = error.code === "id-taken";
    const replace = button("Replace the document", () => add(id, text, "put"), { class: "danger" });
    show("", [
      taken ? problem(error, undefined, replace) : problem(error, () => add(id, text, mode)),
    ]);
  }
};

/** Installs the event handlers of the form. */
export const watchAdd = () => {
  at("add-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const missing = [at("add-id"), at("add-text")].find((field) => field.value.trim() === "");
    if (missing) {
      show(`Type ${missing === at("add-id") ? "an id" : "a text"}.`, []);
      missing.focus();
      return;
    }
    add(at("add-id").value, at("add-text").value, "add");
  });
};

/** @type {import("../dom/router.js").Show} */
export const showAdd = () => {};
