"use strict";
// The view of one document of the index, with its removal.

import { documentPath, request } from "../client/api.js";
import { categoryLink } from "./categories.js";
import { at, button, make, metadata, shownId, tiles } from "../dom/dom.js";
import { count, counted, size, time, visible } from "../dom/format.js";
import { longText } from "../dom/gradually.js";
import { rights } from "../client/indexes.js";
import { contentOf, fillPart, loadedView } from "../client/view.js";
import { address, forgetViews } from "../dom/router.js";
import { settings } from "../client/settings.js";
import { versions } from "./versions.js";

const show = contentOf("document");

/** Asks for confirmation of the removal; Cancel has the focus. */
const confirmed = (id) => new Promise((resolve) => {
  const dialog = at("confirm");
  at("confirm-id").textContent = visible(id);
  at("confirm-text").textContent = "It is taken out of the index for all who use it, and this " +
    "page cannot bring it back. The file it came from stays as it is.";
  let yes = false;
  at("confirm-no").onclick = () => dialog.close();
  at("confirm-yes").onclick = () => { yes = true; dialog.close(); };
  dialog.onclose = () => resolve(yes);
  dialog.showModal();
  at("confirm-no").focus();
});

const remove = (id, message) => fillPart(message, async () => {
  if (!await confirmed(id)) return;
  message.replaceChildren();
  await request("DELETE", documentPath(id));
  forgetViews();
  show("The document has been removed from the index.", [
    make("p", {}, shownId(id)), make("p", {}, make("a", { href: "#/" }, "To the search"))]);
  at("document-title").focus();
});

const facts = (found) => {
  const rows = [["Size", size(found.bytes)], ["Shingles", count(found.shingles)],
    ["Added", time(found.added)]];
  if (found.modified) rows.push(["Last changed", time(found.modified)]);
  if (found.expires) rows.push(["Counts as removed from", time(found.expires)]);
  // The document represents that many, itself and those that went as its duplicates.
  if (found.group_size > 1) rows.push(["Represents", counted(found.group_size, "document")]);
  if (found.category) rows.push(["Category", categoryLink(found.category)]);
  return tiles(rows);
};

const content = (id, found, writable, former) => {
  const message = make("div");
  const acts = make("div", { class: "buttons" },
    make("a", { class: "button", href: address("query", { id }) }, "Find what resembles it"));
  if (writable) acts.append(button("Remove …", () => remove(id, message), { class: "danger" }));
  const text = typeof found.text === "string" ? longText(found.text)
    : make("p", { class: "note" }, "The index keeps no texts.");
  const data = metadata(found.metadata);
  return [make("p", { class: "document-id" }, shownId(id)), facts(found), acts, message,
    ...(data ? [make("h2", {}, "Metadata"), data] : []), ...former, make("h2", {}, "Text"), text];
};

const load = async (params, signal) => {
  const id = params.get("id") ?? "";
  if (id === "") {
    const search = make("a", { href: "#/" }, "To the search");
    return ["The address names no document.", [make("p", {}, search)]];
  }
  const found = await request("GET", `${documentPath(id)}?text=true`, { signal });
  const { store } = await settings(), writable = (await rights()).includes("write");
  const former = store === "originals" ? await versions(id, signal) : [];
  return ["", content(id, found, writable, former)];
};

export const showDocument = loadedView("document", "Asking for the document …", load, (params) =>
  [make("a", { class: "button", href: address("query", { id: params.get("id") }) },
    "Search by this id")]);
