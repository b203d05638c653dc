"use strict";
// The view of categories: the tree, and the documents of one category.

import { request, requestWhole } from "../client/api.js";
import { at, make, shownId, table } from "../dom/dom.js";
import { count, counted, size, visible } from "../dom/format.js";
import { problem } from "../client/problem.js";
import { address, reshow } from "../dom/router.js";

/** Documents on a page. */
const PAGE = 50;
/** The parameter of documents that are in no category. */
const NONE = "none";
/** What the levels are, by their numbers. */
const LEVELS = new Map([[0.2, "common vocabulary"], [0.5, "half of the words"],
  [0.8, "four of five words"]]);

const show = (status, nodes) => {
  at("categories-status").textContent = status;
  at("categories-results").replaceChildren(...nodes.filter((part) => part));
};

const words = (label) => label.length > 0 ? label.map(visible).join(", ") : "without a label";

/**
 * A link to the documents of a category.
 * @param {{path: string, label: string[]}} category
 * @returns {HTMLElement}
 */
export const categoryLink = ({ path, label }) =>
  make("a", { href: address("categories", { path }) }, `${visible(path)} `,
    make("bdi", { class: "full" }, words(label)));

const shares = (category) => LEVELS.get(category.level) ?? String(category.level);

const tree = (all, caption) => make("div", { class: "wide" }, table(
  ["Category", "Documents", "In common"],
  all.map((category) => [categoryLink(category), count(category.documents),
    make("span", { class: "size" }, shares(category))]),
  caption));

/** The path of the category that one is in, or nothing. */
const above = (all, path) => all.find((category) => category.path === path)?.parent ?? undefined;

const titled = (all, path) => {
  if (path === NONE) return "Documents in no category";
  const found = all.find((category) => category.path === path);
  return found ? `Category ${visible(path)}: ${words(found.label)}` : `Category ${visible(path)}`;
};

const listed = (found) => make("div", { class: "wide" }, table(["Document", "Size"],
  found.documents.map(({ id, bytes }) => [
    make("a", { href: address("document", { id }) }, shownId(id)),
    make("span", { class: "size" }, size(bytes))]),
  "Documents of the category"));

const pages = (found, path, after) => {
  const links = make("nav", { class: "pages", "aria-label": "Pages of documents" });
  const link = (text, to) => links.append(make("a", { class: "button", href: to }, text));
  if (after !== null) link("First", address("categories", { path }));
  if (found.next) link("Next", address("categories", { path, after: found.next }));
  return links.children.length > 0 ? links : null;
};

const drawTree = ({ categories, model, without_category: without }) => {
  if (model === null) {
    show("The index has no categories.", [make("p", {}, "The command ",
      make("code", {}, "lookalike index categorise INDEX"), " makes them of an index that keeps " +
      "texts.")]);
    return;
  }
  const topics = categories.filter(({ parent }) => parent === null);
  const documents = topics.reduce((sum, topic) => sum + topic.documents, without);
  show(`${counted(documents, "document")} in ${counted(topics.length, "topic")}.`, [
    categories.length > 0 ? tree(categories, "Tree of categories") : null,
    without > 0 ? make("p", {}, make("a", { href: address("categories", { path: NONE }) },
      `${counted(without, "document")} in no category`)) : null]);
};

const drawOne = ({ categories }, found, path, after) => {
  const below = categories.filter(({ parent }) => parent === path);
  const up = above(categories, path);
  show("", [make("h2", {}, titled(categories, path)),
    make("p", {}, make("a", { href: address("categories", { path: up }) },
      up === undefined ? "All categories" : `Up to category ${visible(up)}`)),
    make("p", {}, make("a", { href: address("review", { category: path }) },
      "Decide about the groups of this category")),
    below.length > 0 ? tree(below, "Categories in this one") : null,
    found.documents.length > 0 ? listed(found) : make("p", {}, "There is no document in it."),
    pages(found, path, after)]);
};

/** @type {import("../dom/router.js").Show} */
export const showCategories = async (params, signal) => {
  const path = params.get("path"), after = params.get("after");
  show("Asking for the categories …", []);
  try {
    const all = await requestWhole("v1/categories", "categories", { signal });
    if (path === null || all.model === null) {
      if (!signal.aborted) drawTree(all);
      return;
    }
    const asked = new URLSearchParams({ category: path, limit: String(PAGE) });
    if (after !== null) asked.set("after", after);
    const found = await request("GET", `v1/documents?${asked}`, { signal });
    if (!signal.aborted) drawOne(all, found, path, after);
  } catch (error) {
    if (error.name === "AbortError") return;
    show("", [problem(error, () => reshow("categories"),
      make("a", { class: "button", href: address("categories") }, "All categories"))]);
  }
};
