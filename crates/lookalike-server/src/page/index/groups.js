// The view of groups. Each group on the page can be unfolded.

import { ApiError, isAbort } from "../client/api.js";
import { groupPage } from "../client/group_page.js";
import { BEGINNING, briefly } from "../search/described.js";
import { at, button, field, fold, make, pageLinks } from "../dom/dom.js";
import { count, counted, similarity } from "../dom/format.js";
import { members } from "./members.js";
import { problem } from "../client/problem.js";
import { contentOf } from "../client/view.js";
import { address, go, reshow } from "../dom/router.js";
import { settings } from "../client/settings.js";

/** @import { Duplicate, Group, Groups } from "../client/types.js" */

/** Maximum number of groups on a page. */
const PAGE = 50;

/**
 * The addresses of previous pages, by the address of the page that follows.
 * @type {Map<string, string>}
 */
const before = new Map();

const show = contentOf("groups");

/**
 * The range of similarities of duplicates.
 * @param {Duplicate[]} duplicates
 */
const spanOf = (duplicates) => {
  let least = Infinity;
  let most = 0;
  for (const { similarity: one } of duplicates) {
    least = Math.min(least, one);
    most = Math.max(most, one);
  }
  if (duplicates.length === 0) return "";
  const low = similarity(least);
  const high = similarity(most);
  return low === high ? low : `${low} to ${high}`;
};

/**
 * Returns true if a group continues on the next page.
 * @param {Group|undefined} group
 */
const isContinued = (group) =>
  group !== undefined && group.duplicates_before + group.duplicates.length < group.duplicates_total;

/**
 * Formats the number of documents. The server may split a group with much metadata, so that the
 * page shows a part of it.
 * @param {Group} group
 */
const sizeOf = ({ duplicates, duplicates_before: before = 0, duplicates_total: all }) => {
  if (!before && !(duplicates.length < all)) return counted(duplicates.length + 1, "document");
  return `${counted(all + 1, "document")}, here ${count(duplicates.length)} after ${count(before)}`;
};

/**
 * @param {Group} group
 * @param {number} number
 */
const item = (group, number) => {
  const summary = make(
    "summary",
    {},
    make("span", { class: "n" }, count(number)),
    make("span", { class: "brief" }, ...briefly(group.keeper)),
    make("span", { class: "size" }, sizeOf(group)),
    make(
      "span",
      { class: "span" },
      make("span", { class: "unseen" }, "similarity "),
      spanOf(group.duplicates),
    ),
  );
  return make(
    "li",
    {},
    fold(summary, () => members(group), { class: "group" }),
  );
};

/**
 * @param {Groups} found
 * @param {number} from
 */
const counts = (found, from) => {
  if (found.groups_total === 0) {
    return `The ${counted(found.documents, "document")} of the index have no near-duplicates.`;
  }
  const to = from + found.groups.length - 1;
  const limit =
    found.groups.length < found.groups_total ? `, here ${count(from)} to ${count(to)}` : "";
  return (
    `${counted(found.groups_total, "group")} with ` +
    `${counted(found.duplicates_total, "duplicate")} among ` +
    `${counted(found.documents, "document")}${limit}.`
  );
};

/**
 * @param {Groups} found
 * @param {number} from
 * @param {URLSearchParams} params
 */
const pages = (found, from, params) => {
  const after = params.get("after");
  const threshold = params.get("threshold") ?? undefined;
  /** @type {[string, string][]} */
  const links = [];
  if (after !== null) {
    links.push(["First", address("groups", { threshold })]);
    const previous = before.get(location.hash);
    if (previous !== undefined) links.push(["Previous", previous]);
  }
  if (found.next) {
    const groupCount = from + found.groups.length - (isContinued(found.groups.at(-1)) ? 1 : 0);
    const next = address("groups", { after: found.next, from: groupCount, threshold });
    before.set(next, location.hash);
    links.push(["Next", next]);
  }
  return pageLinks("Pages of groups", links);
};

/** @param {URLSearchParams} params */
const form = (params) => {
  const least = make("input", {
    type: "number",
    id: "groups-threshold",
    class: "short",
    min: "0.01",
    max: "1",
    step: "any",
    inputmode: "decimal",
    value: params.get("threshold") ?? "",
  });
  settings().then(
    ({ threshold }) => {
      least.placeholder = String(threshold);
    },
    () => {},
  );
  const box = make(
    "form",
    { class: "controls" },
    field("Minimum similarity", least),
    make("button", { type: "submit" }, "Group"),
  );
  box.addEventListener("submit", (event) => {
    event.preventDefault();
    go(address("groups", { threshold: least.value }));
  });
  return box;
};

const stale = () =>
  make(
    "div",
    { class: "warning" },
    make(
      "p",
      {},
      "The index has changed since the server computed these groups. The server " +
        "computes them again; until then, the list can contain removed documents.",
    ),
    make(
      "div",
      { class: "buttons" },
      button("Load again", () => reshow("groups")),
    ),
  );

/**
 * @param {Groups} found
 * @param {URLSearchParams} params
 */
const draw = (found, params) => {
  const from = Math.max(1, Math.floor(Number(params.get("from"))) || 1);
  const list = make(
    "ol",
    { class: "groups", role: "list" },
    ...found.groups.map((group, place) => item(group, from + place)),
  );
  const heads = make(
    "p",
    { class: "list-head", "aria-hidden": "true" },
    ...["", "", "Keeper", "Documents", "Similarity"].map((text) => make("span", {}, text)),
  );
  show(counts(found, from), [
    form(params),
    found.stale ? stale() : null,
    found.groups.length > 0 ? heads : null,
    list,
    pages(found, from, params),
  ]);
};

/**
 * Shows an error. If the cursor has expired, offers the first page instead of a retry.
 * @param {unknown} error
 * @param {URLSearchParams} params
 */
const refused = (error, params) => {
  const isExpired = error instanceof ApiError && error.code === "cursor-expired";
  if (!isExpired) return problem(error, () => reshow("groups"));
  const threshold = params.get("threshold") ?? undefined;
  return problem(
    error,
    undefined,
    make(
      "a",
      {
        class: "button",
        href: address("groups", { threshold }),
      },
      "First page",
    ),
  );
};

/** @type {import("../dom/router.js").Show} */
export const showGroups = async (params, signal) => {
  const query = new URLSearchParams({ limit: String(PAGE), beginning: String(BEGINNING) });
  for (const name of ["after", "threshold"]) {
    const value = params.get(name);
    if (value !== null) query.set(name, value);
  }
  show("Loading the groups …", []);
  /** @param {number} wait */
  const pending = (wait) => {
    const message =
      "The server computes the groups. This takes a while in a large index. This " +
      `page checks every ${counted(wait, "second")}.`;
    // Screen readers announce the message once, not at every request.
    if (at("groups-status").textContent !== message) show(message, []);
  };
  try {
    draw(await groupPage(query, signal, pending), params);
  } catch (error) {
    if (!isAbort(error)) show("", [refused(error, params)]);
  }
};
