// Shows how often people who judged the same pairs agree.

import { request } from "../client/api.js";
import { button, idElement, make, table } from "../dom/dom.js";
import { count, counted, shortened, visible } from "../dom/format.js";
import { fillPart } from "../client/view.js";
import { address } from "../dom/router.js";

/** @import { Agreements } from "../client/types.js" */

/**
 * @param {number} part
 * @param {number} total
 */
const percent = (part, total) => `${((100 * part) / total).toFixed(1)} %`;

/** @param {Agreements["people"][number]} pair */
const row = (pair) => {
  const [first, second] = pair.people.map((name) => visible(shortened(name, 80)));
  const agreed = pair.both_duplicate + pair.both_not_duplicate;
  return [
    make("span", {}, make("bdi", {}, first), " and ", make("bdi", {}, second)),
    count(pair.pairs),
    `${count(agreed)} (${percent(agreed, pair.pairs)})`,
    count(pair.only_first_duplicate),
    count(pair.only_second_duplicate),
    pair.kappa === null ? "none" : pair.kappa.toFixed(3),
  ];
};

/** @param {Agreements["disputed"][number]} pair */
const disputed = ({ documents: [a, b], duplicate, not_duplicate: not }) => {
  /** @param {string[]} names */
  const people = (names) => names.map(visible).join(", ");
  return make(
    "li",
    {},
    make("a", { href: address("compare", { a, b }) }, idElement(a), " and ", idElement(b)),
    ` – duplicates: ${people(duplicate)}; not: ${people(not)}`,
  );
};

/**
 * The button that loads further pairs. The last page of pairs removes it.
 * @param {HTMLElement} list
 * @param {string} next
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
const further = (list, next, signal) => {
  const place = make("div");
  const ask = () =>
    fillPart(place, async () => {
      const query = new URLSearchParams({ after: next });
      const found = await request("GET", `v1/agreement?${query}`, { signal });
      const items = found.disputed.map(disputed);
      list.append(...items);
      items[0]?.querySelector("a")?.focus();
      place.replaceChildren(...(found.next ? [further(list, found.next, signal)] : []));
    });
  place.append(button("More pairs", ask));
  return place;
};

/**
 * @param {Agreements} found
 * @param {AbortSignal} signal
 */
const draw = (found, signal) => {
  if (found.people.length === 0) {
    return [
      make(
        "p",
        { class: "note" },
        "No two people have judged the same pair yet. The name of " +
          "a person is the name of the token.",
      ),
    ];
  }
  const heads = [
    "Two people",
    "Pairs judged by both",
    "Same decision",
    "Duplicates only for the first",
    "Duplicates only for the second",
    "Kappa",
  ];
  /** @type {HTMLElement[]} */
  const parts = [
    make("div", { class: "wide" }, table(heads, found.people.map(row), "Agreement of people")),
  ];
  if (found.disputed_total > 0) {
    const list = make("ul", {}, ...found.disputed.map(disputed));
    parts.push(
      make("p", {}, `People disagree about ${counted(found.disputed_total, "pair")}:`),
      list,
    );
    if (found.next) parts.push(further(list, found.next, signal));
  }
  return parts;
};

/**
 * The folded table of agreement. It is loaded each time the user unfolds it.
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export const agreement = (signal) => {
  const box = make("div", { role: "status" });
  const ask = () =>
    fillPart(box, async () => {
      box.replaceChildren("Counting …");
      box.replaceChildren(...draw(await request("GET", "v1/agreement", { signal }), signal));
    });
  const fold = make(
    "details",
    { class: "fold review-agreement" },
    make("summary", {}, "Agreement between people"),
    box,
  );
  fold.addEventListener("toggle", () => {
    if (fold.open) ask();
  });
  return fold;
};
