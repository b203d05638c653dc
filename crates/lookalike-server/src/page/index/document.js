// The view of one document of the index, with a button that removes it.

import { documentPath, request } from "../client/api.js";
import { categoryLink } from "./categories.js";
import { at, button, idElement, make, metadata, tiles } from "../dom/dom.js";
import { count, counted, size, time, visible } from "../dom/format.js";
import { longText } from "../dom/gradually.js";
import { rights } from "../client/indexes.js";
import { contentOf, fillPart, loadedView } from "../client/view.js";
import { address, forgetViews } from "../dom/router.js";
import { settings } from "../client/settings.js";
import { versions } from "./versions.js";

/** @import { IndexDocument } from "../client/types.js" */
/** @import { Content } from "../client/view.js" */

const show = contentOf("document");

/**
 * Asks the user to confirm the removal. The Cancel button has the focus.
 * @param {string} id
 * @returns {Promise<boolean>}
 */
const confirmed = (id) =>
  new Promise((resolve) => {
    const dialog = at("confirm", HTMLDialogElement);
    at("confirm-id").textContent = visible(id);
    at("confirm-text").textContent =
      "The index loses the document for all its users, and this page " +
      "cannot restore it. The original file is not changed.";
    let isConfirmed = false;
    at("confirm-no").onclick = () => dialog.close();
    at("confirm-yes").onclick = () => {
      isConfirmed = true;
      dialog.close();
    };
    dialog.onclose = () => resolve(isConfirmed);
    dialog.showModal();
    at("confirm-no").focus();
  });

/**
 * Removes a document after the user has confirmed.
 * @param {string} id
 * @param {HTMLElement} message place for an error
 */
const remove = (id, message) =>
  fillPart(message, async () => {
    if (!(await confirmed(id))) return;
    message.replaceChildren();
    await request("DELETE", documentPath(id));
    forgetViews();
    show("Removed the document from the index.", [
      make("p", {}, idElement(id)),
      make("p", {}, make("a", { href: "#/" }, "Search")),
    ]);
    at("document-title").focus();
  });

/** @param {IndexDocument} found */
const facts = (found) => {
  /** @type {[string, string|Node][]} */
  const rows = [["Size", size(found.bytes)]];
  if (found.shingles !== null) rows.push(["Shingles", count(found.shingles)]);
  rows.push(["Added", time(found.added)]);
  if (found.modified) rows.push(["Last changed", time(found.modified)]);
  if (found.expires) rows.push(["Expires", time(found.expires)]);
  // Counts the document itself and the duplicates that `dedup --add` recorded.
  if (found.group_size !== undefined && found.group_size > 1)
    rows.push(["Represents", counted(found.group_size, "document")]);
  if (found.category) rows.push(["Category", categoryLink(found.category)]);
  return tiles(rows);
};

/**
 * @param {string} id
 * @param {IndexDocument} found
 * @param {boolean} writable
 * @param {Node[]} former the section with the versions
 */
const content = (id, found, writable, former) => {
  const message = make("div");
  const acts = make(
    "div",
    { class: "buttons" },
    make("a", { class: "button", href: address("query", { id }) }, "Find similar documents"),
  );
  if (writable) acts.append(button("Remove …", () => remove(id, message), { class: "danger" }));
  const text =
    typeof found.text === "string"
      ? longText(found.text)
      : make("p", { class: "note" }, "The index does not store texts.");
  const data = metadata(found.metadata);
  return [
    make("p", { class: "document-id" }, idElement(id)),
    facts(found),
    acts,
    message,
    ...(data ? [make("h2", {}, "Metadata"), data] : []),
    ...former,
    make("h2", {}, "Text"),
    text,
  ];
};

/**
 * @param {URLSearchParams} params
 * @param {AbortSignal} signal
 * @returns {Promise<Content>}
 */
const load = async (params, signal) => {
  const id = params.get("id") ?? "";
  if (id === "") {
    const search = make("a", { href: "#/" }, "Search");
    return ["The address does not name a document.", [make("p", {}, search)]];
  }
  const found = await request("GET", `${documentPath(id)}?text=true`, { signal });
  const { store } = await settings();
  const writable = (await rights()).includes("write");
  const former = store === "originals" ? await versions(id, signal) : [];
  return ["", content(id, found, writable, former)];
};

export const showDocument = loadedView("document", "Loading the document …", load, (params) => [
  make(
    "a",
    { class: "button", href: address("query", { id: params.get("id") ?? "" }) },
    "Search by this id",
  ),
]);
