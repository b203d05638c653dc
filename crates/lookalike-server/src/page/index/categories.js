// The view of categories. Shows the tree, or the documents of one category.

import { request, requestWhole } from "../client/api.js";
import { idElement, make, pageLinks, table } from "../dom/dom.js";
import { count, counted, size, visible } from "../dom/format.js";
import { loadedView } from "../client/view.js";
import { address } from "../dom/router.js";

/** @import { Categories, CategoryNode, Documents } from "../client/types.js" */
/** @import { Content } from "../client/view.js" */

/** Maximum number of documents on a page. */
const PAGE = 50;
/** The path that stands for documents without a category. */
const NONE = "none";
/** Words that documents of a category have in common, by the level of the category. */
const LEVELS = new Map([
  [0.2, "common vocabulary"],
  [0.5, "half of the words"],
  [0.8, "four of five words"],
]);

/** @param {string[]} label */
const words = (label) => (label.length > 0 ? label.map(visible).join(", ") : "no words");

/**
 * A link to the documents of a category.
 * @param {{path: string, label: string[]}} category
 * @returns {HTMLElement}
 */
export const categoryLink = ({ path, label }) =>
  make(
    "a",
    { href: address("categories", { path }) },
    `${visible(path)} `,
    make("bdi", { class: "category-label" }, words(label)),
  );

/** @param {CategoryNode} category */
const shares = (category) => LEVELS.get(category.level) ?? String(category.level);

/**
 * @param {CategoryNode[]} all
 * @param {string} caption
 */
const tree = (all, caption) =>
  make(
    "div",
    { class: "wide" },
    table(
      ["Category", "Documents", "Words in common"],
      all.map((category) => [
        categoryLink(category),
        count(category.documents),
        make("span", { class: "size" }, shares(category)),
      ]),
      caption,
    ),
  );

/**
 * The path of the parent of a category; undefined for a topic.
 * @param {CategoryNode[]} all
 * @param {string} path
 */
const parentOf = (all, path) => all.find((category) => category.path === path)?.parent ?? undefined;

/**
 * @param {CategoryNode[]} all
 * @param {string} path
 */
const titled = (all, path) => {
  if (path === NONE) return "Documents in no category";
  const found = all.find((category) => category.path === path);
  return found ? `Category ${visible(path)}: ${words(found.label)}` : `Category ${visible(path)}`;
};

/** @param {Documents} found */
const listed = (found) =>
  make(
    "div",
    { class: "wide" },
    table(
      ["Document", "Size"],
      found.documents.map(({ id, bytes }) => [
        make("a", { href: address("document", { id }) }, idElement(id)),
        make("span", { class: "size" }, size(bytes)),
      ]),
      "Documents of the category",
    ),
  );

/**
 * @param {Documents} found
 * @param {string} path
 * @param {string|null} after
 */
const pages = (found, path, after) => {
  /** @type {[string, string][]} */
  const links = [];
  if (after !== null) links.push(["First", address("categories", { path })]);
  if (found.next) links.push(["Next", address("categories", { path, after: found.next })]);
  return pageLinks("Pages of documents", links);
};

/**
 * @param {Categories} all
 * @returns {Content}
 */
const wholeTree = ({ categories, model, without_category: without }) => {
  if (model === null) {
    return [
      "The index has no categories.",
      [
        make(
          "p",
          {},
          "If the index stores texts, ",
          make("code", {}, "lookalike index categorise INDEX"),
          " creates them.",
        ),
      ],
    ];
  }
  const topics = categories.filter(({ parent }) => parent === null);
  const documents = topics.reduce((sum, topic) => sum + topic.documents, without);
  return [
    `${counted(documents, "document")} in ${counted(topics.length, "topic")}.`,
    [
      categories.length > 0 ? tree(categories, "Tree of categories") : null,
      without > 0
        ? make(
            "p",
            {},
            make(
              "a",
              { href: address("categories", { path: NONE }) },
              `${counted(without, "document")} in no category`,
            ),
          )
        : null,
    ],
  ];
};

/**
 * @param {Categories} all
 * @param {Documents} found
 * @param {string} path
 * @param {string|null} after
 * @returns {Content}
 */
const oneCategory = ({ categories }, found, path, after) => {
  const children = categories.filter(({ parent }) => parent === path);
  const up = parentOf(categories, path);
  return [
    "",
    [
      make("h2", {}, titled(categories, path)),
      make(
        "p",
        {},
        make(
          "a",
          { href: address("categories", { path: up }) },
          up === undefined ? "All categories" : `Up to category ${visible(up)}`,
        ),
      ),
      make(
        "p",
        {},
        make(
          "a",
          { href: address("review", { category: path }) },
          "Review the groups of this category",
        ),
      ),
      children.length > 0 ? tree(children, "Categories in this one") : null,
      found.documents.length > 0 ? listed(found) : make("p", {}, "The category is empty."),
      pages(found, path, after),
    ],
  ];
};

/**
 * @param {URLSearchParams} params
 * @param {AbortSignal} signal
 * @returns {Promise<Content>}
 */
const load = async (params, signal) => {
  const path = params.get("path");
  const after = params.get("after");
  const all = await requestWhole("v1/categories", "categories", { signal });
  if (path === null || all.model === null) return wholeTree(all);
  const query = new URLSearchParams({ category: path, limit: String(PAGE) });
  if (after !== null) query.set("after", after);
  const found = await request("GET", `v1/documents?${query}`, { signal });
  return oneCategory(all, found, path, after);
};

export const showCategories = loadedView("categories", "Loading the categories …", load, () => [
  make("a", { class: "button", href: address("categories") }, "All categories"),
]);
