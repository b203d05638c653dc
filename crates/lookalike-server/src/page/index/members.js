// The table of the documents of a group: the keeper and its duplicates.

import { memberCells } from "../search/described.js";
import { button, idElement, make, tableHead } from "../dom/dom.js";
import { count, counted, shortened, visible } from "../dom/format.js";
import { address, go } from "../dom/router.js";

/** @import { Duplicate, Group, Keeper } from "../client/types.js" */

/** @typedef {(id: string, isChosen: boolean) => void} Chosen */

/** Number of duplicates shown at first, and added by each click on the button. */
const FIRST = 100;
const MORE = 500;

/**
 * @param {Group} group
 * @param {Keeper|Duplicate} member
 * @param {Chosen} chosen
 */
const row = (group, member, chosen) => {
  const keeper = member === group.keeper;
  const named = shortened(visible(member.id), 80);
  const box = make("input", { type: "checkbox", "aria-label": `Choose ${named}` });
  box.addEventListener("change", () => chosen(member.id, box.checked));
  const links = make("td", { class: "do" });
  if (!keeper) {
    links.append(
      make(
        "a",
        { href: address("compare", { a: group.keeper.id, b: member.id }) },
        "Compare",
        make("span", { class: "unseen" }, ` ${named} with the keeper`),
      ),
    );
  }
  const name = make("a", { href: address("document", { id: member.id }) }, idElement(member.id));
  return make(
    "tr",
    {},
    make("td", { class: "pick" }, make("label", { class: "target" }, box)),
    ...memberCells(member, name, keeper ? "Keeper" : undefined),
    links,
  );
};

/** @type {(string|[string, string])[]} */
const HEADS = [
  ["Choose", "pick"],
  "Document",
  "Similarity to the keeper",
  ["Size", "num"],
  "Side by side",
];

/** Creates the button that compares two chosen documents, and the function that chooses one. */
const chooser = () => {
  const ids = new Set();
  const status = make("p", { class: "note", role: "status" });
  const tell = () => {
    status.textContent =
      ids.size === 0
        ? "Choose two documents to see them side by side."
        : `${counted(ids.size, "document")} chosen.`;
  };
  const compare = button("Compare the chosen two", () => {
    const [a, b] = ids;
    if (ids.size === 2) go(address("compare", { a, b }));
    else status.textContent = `Choose two documents; you chose ${count(ids.size)}.`;
  });
  tell();
  /** @type {Chosen} */
  const chosen = (id, on) => {
    if (on) ids.add(id);
    else ids.delete(id);
    tell();
  };
  return { chosen, element: make("div", { class: "choose" }, compare, status) };
};

/**
 * The documents of a group in a table.
 * @param {Group} group
 * @returns {HTMLElement}
 */
export const members = (group) => {
  const { chosen, element } = chooser();
  const body = make("tbody");
  const more = button("", () => draw(MORE));
  let listed = 0;
  /** @param {number} most */
  const draw = (most) => {
    const next = group.duplicates.slice(listed, listed + most);
    const rows = next.map((member) => row(group, member, chosen));
    body.append(...rows);
    if (listed > 0) rows[0]?.querySelector("input")?.focus();
    listed += next.length;
    const remaining = group.duplicates.length - listed;
    more.hidden = remaining === 0;
    more.textContent =
      `Show ${count(Math.min(MORE, remaining))} of ` + `${counted(remaining, "further duplicate")}`;
  };
  body.append(row(group, group.keeper, chosen));
  draw(FIRST);
  return make(
    "div",
    { class: "opened" },
    make(
      "table",
      { class: "members" },
      make("caption", { class: "unseen" }, "Documents of this group"),
      tableHead(HEADS),
      body,
    ),
    more,
    element,
  );
};
