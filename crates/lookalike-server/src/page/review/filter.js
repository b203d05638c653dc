// The filter that selects the groups to review: its form, address and query.

import { isAbort, requestWhole } from "../client/api.js";
import { BEGINNING } from "../search/described.js";
import { field, make } from "../dom/dom.js";
import { folded } from "./desk.js";
import { visible } from "../dom/format.js";
import { address, go } from "../dom/router.js";
import { settings } from "../client/settings.js";

/**
 * A field of the form; `most` is the maximum of a number.
 * @typedef {{name: string, label: string, type?: string, most?: number,
 *   step?: string|number}} Field
 */

/**
 * Fields with numbers. Their names are parameters of the API.
 * @type {[Field, ...Field[]]}
 */
const NUMBERS = [
  { name: "threshold", label: "Minimum similarity of a group", most: 1, step: "any" },
  { name: "least", label: "Similarity of a duplicate, minimum", most: 1, step: "any" },
  { name: "most", label: "Maximum", most: 1, step: "any" },
  { name: "min_documents", label: "Documents, minimum", step: 1 },
  { name: "max_documents", label: "Maximum", step: 1 },
];
/**
 * Fields with conditions on metadata.
 * @type {(Field & {filter: (value: string) => string})[]}
 */
const TEXTS = [
  { name: "source", label: "Source contains", filter: (text) => `source~${text}` },
  { name: "language", label: "Language", filter: (text) => `language=${text}` },
  { name: "from", label: "Date from", type: "date", filter: (day) => `date>=${day}` },
  { name: "to", label: "Date to", type: "date", filter: (day) => `date<${dayAfter(day)}` },
];
/** @type {Field} */
const SEARCH = { name: "search", label: "Text, title or id contains" };
/** The field that selects a category of the index. */
const CATEGORY = { name: "category", label: "Category of the keeper" };
/**
 * The default choices. All other fields are empty by default.
 * @type {Record<string, string>}
 */
const DEFAULTS = { state: "undecided", order: "doubt" };
/** The names of all fields. */
const FIELDS = [
  ...Object.keys(DEFAULTS),
  ...[...NUMBERS, ...TEXTS, SEARCH, CATEGORY].map(({ name }) => name),
];

/**
 * Returns the next day. Dates of documents can contain a time of day, so a range of days ends
 * before the next day begins.
 * @param {string} day
 */
const dayAfter = (day) => {
  const time = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(time) ? day : new Date(time + 86_400_000).toISOString().slice(0, 10);
};

/**
 * The query that requests the groups of an address.
 * @param {URLSearchParams} params of the address
 * @returns {URLSearchParams}
 */
export const filterOf = (params) => {
  const filter = new URLSearchParams({
    state: params.get("state") ?? DEFAULTS.state,
    order: params.get("order") ?? DEFAULTS.order,
    beginning: String(BEGINNING),
  });
  for (const { name } of [...NUMBERS, SEARCH, CATEGORY]) {
    const value = params.get(name);
    if (value) filter.set(name, value);
  }
  for (const { name, filter: condition } of TEXTS) {
    const value = params.get(name);
    if (value) filter.append("filter", condition(value));
  }
  return filter;
};

/**
 * @param {[string, string][]} options value and text
 * @param {string} chosen
 */
const choices = (options, chosen) =>
  options.map(([value, text]) => make("option", { value, selected: value === chosen }, text));

/**
 * @param {string} name
 * @param {string} label
 * @param {[string, string][]} options
 * @param {string} chosen
 */
const choice = (name, label, options, chosen) =>
  field(label, make("select", { id: `review-${name}` }, ...choices(options, chosen)));

/**
 * @param {Field} one
 * @param {URLSearchParams} params
 */
const number = ({ name, label, most, step }, params) =>
  field(
    label,
    make("input", {
      type: "number",
      id: `review-${name}`,
      class: "short",
      min: most === 1 ? "0" : "1",
      max: most,
      step,
      inputmode: most === 1 ? "decimal" : "numeric",
      value: params.get(name) ?? "",
    }),
  );

/**
 * @param {Field} one
 * @param {URLSearchParams} params
 */
const typed = ({ name, label, type = "text" }, params) =>
  field(
    label,
    make("input", {
      type,
      id: `review-${name}`,
      dir: type === "text" ? "auto" : undefined,
      autocomplete: "off",
      value: params.get(name) ?? "",
    }),
  );

/**
 * The field that selects a category, and the function that loads the categories. An index without
 * categories hides the field.
 * @param {URLSearchParams} params
 * @param {AbortSignal} signal
 */
const categoryField = (params, signal) => {
  const chosen = params.get(CATEGORY.name) ?? "";
  /** @type {[string, string][]} */
  const options = [["", "any"]];
  if (chosen) options.push([chosen, visible(chosen)]);
  const box = choice(CATEGORY.name, CATEGORY.label, options, chosen);
  const fill = async () => {
    try {
      const { categories, model } = await requestWhole("v1/categories", "categories", { signal });
      box.hidden = model === null && chosen === "";
      /** @type {[string, string][]} */
      const named = categories.map(({ path, label }) => [
        path,
        [visible(path), ...label.map(visible)].join(" "),
      ]);
      const all = choices([options[0], ...named, ["none", "no category"]], chosen);
      box.querySelector("select")?.replaceChildren(...all);
    } catch (error) {
      // The list of groups reports the problem.
      if (!isAbort(error)) box.hidden = chosen === "";
    }
  };
  return { box, fill };
};

/**
 * The form of the filter. When the user submits it, it opens the address with the chosen values.
 * @param {URLSearchParams} params
 * @param {AbortSignal} signal
 */
const filterForm = (params, signal) => {
  const [threshold, ...numbers] = NUMBERS;
  const more = [...numbers, ...TEXTS, SEARCH, CATEGORY];
  const least = number(threshold, params);
  settings().then(
    (found) => {
      least.querySelector("input")?.setAttribute("placeholder", String(found.threshold));
    },
    () => {},
  );
  const category = categoryField(params, signal);
  const furtherFields = make(
    "details",
    { class: "fold more", open: more.some(({ name }) => params.get(name)) },
    make("summary", {}, "More filters"),
    make(
      "div",
      { class: "controls" },
      ...numbers.map((field) => number(field, params)),
      ...[...TEXTS, SEARCH].map((field) => typed(field, params)),
      category.box,
    ),
  );
  furtherFields.addEventListener("toggle", category.fill, { once: true });
  const box = make(
    "form",
    { class: "controls" },
    choice(
      "state",
      "Groups",
      [
        ["undecided", "undecided"],
        ["all", "all"],
        ["decided", "decided"],
      ],
      params.get("state") ?? DEFAULTS.state,
    ),
    choice(
      "order",
      "Order",
      [
        ["doubt", "least similar first"],
        ["similarity", "most similar first"],
        ["size", "largest first"],
      ],
      params.get("order") ?? DEFAULTS.order,
    ),
    least,
    furtherFields,
    make("button", { type: "submit" }, "Show"),
  );
  box.addEventListener("submit", (event) => {
    event.preventDefault();
    /** @type {Record<string, string>} */
    const chosen = {};
    for (const name of FIELDS) {
      /** @type {HTMLInputElement|HTMLSelectElement|null} */
      const field = box.querySelector(`#review-${name}`);
      const value = field?.value ?? "";
      chosen[name] = value === DEFAULTS[name] ? "" : value;
    }
    go(address("review", chosen));
  });
  return box;
};

/**
 * The names of the fields that differ from their defaults.
 * @param {URLSearchParams} params of the address
 */
const changed = (params) =>
  FIELDS.filter((name) => (params.get(name) || DEFAULTS[name]) !== DEFAULTS[name]);

/**
 * Returns true if the filter can exclude groups: if a field other than the order differs from its
 * default.
 * @param {URLSearchParams} params of the address
 */
export const isFiltered = (params) => changed(params).some((name) => name !== "order");

/**
 * The folded form of the filter.
 * @param {URLSearchParams} params of the address
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export const filterFold = (params, signal) => {
  const set = changed(params).length;
  return folded(
    "review-filter",
    set === 0 ? "Filters" : `Filters: ${set} set`,
    filterForm(params, signal),
  );
};
