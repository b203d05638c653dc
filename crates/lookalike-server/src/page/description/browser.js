// Shows every operation of the OpenAPI description, with a form to try it.

import { requestOfServer } from "../client/api.js";
import { operations } from "./operations.js";
import { schemaReader } from "./schema.js";
import { tryForm } from "./try.js";
import { at, fold, inputAt, make, table, watchSkip, withCode } from "../dom/dom.js";
import { counted, visible } from "../dom/format.js";
import { problem } from "../client/problem.js";
import { askForToken, watchToken } from "../client/token.js";

/** @import { Content, Description, Operation } from "./types.js" */
/** @import { Parameter, ResponseObject, SchemaReader } from "./types.js" */

/** @typedef {{operation: Operation, fold: HTMLElement}} Folded */

const RIGHTS = {
  read: "It needs a token that may read.",
  decide: "It needs a token that may decide or write.",
  write: "It needs a token that may write.",
};

/** @param {string} text */
const code = (text) => make("code", {}, visible(text));

/**
 * @param {Parameter[]} all
 * @param {SchemaReader} schemas
 */
const parameters = (all, schemas) =>
  all.length === 0
    ? []
    : [
        make("h4", {}, "Parameters"),
        make(
          "div",
          { class: "wide" },
          table(
            ["Name", "In", "Value", "Description"],
            all.map(({ name, in: place, required, schema, description }) => [
              code(name),
              visible(place),
              schemas.phrase(schema ?? {}) + (required ? ", required" : ""),
              make("span", {}, ...withCode(description ?? "")),
            ]),
            "Parameters",
          ),
        ),
      ];

/**
 * @param {Content|undefined} content
 * @param {SchemaReader} schemas
 */
const contents = (content, schemas) =>
  Object.entries(content ?? {}).map(([type, { schema }]) =>
    make(
      "div",
      { class: "api-content" },
      make("p", {}, code(type)),
      schemas.element(schema ?? {}, true),
    ),
  );

/**
 * @param {Operation["requestBody"]} requestBody
 * @param {SchemaReader} schemas
 */
const body = (requestBody, schemas) =>
  requestBody === undefined
    ? []
    : [
        make("h4", {}, "Body"),
        requestBody.description ? make("p", {}, ...withCode(requestBody.description)) : null,
        ...contents(requestBody.content, schemas),
      ];

/**
 * @param {Operation["responses"]} responses
 * @param {SchemaReader} schemas
 */
const answers = (responses, schemas) => {
  /** @type {[string, ResponseObject][]} */
  const entries = Object.entries(responses).map(([status, response]) => [
    status,
    schemas.followed(response),
  ]);
  const own = entries.filter(([status]) => Number(status) < 400);
  const failures = entries.filter(([status]) => Number(status) >= 400).map(([status]) => status);
  return [
    make("h4", {}, "Answers"),
    ...own.flatMap(([status, { description, content }]) => [
      make("p", {}, make("strong", {}, status), " ", ...withCode(description ?? "")),
      ...contents(content, schemas),
    ]),
    failures.length > 0
      ? make(
          "p",
          {},
          "Problems: ",
          make("strong", {}, failures.join(", ")),
          ", each with a code and a remedy",
        )
      : null,
  ];
};

/**
 * @param {Operation} operation
 * @param {SchemaReader} schemas
 */
const filled = (operation, schemas) => [
  operation.description ? make("p", {}, ...withCode(operation.description)) : null,
  operation.right ? make("p", { class: "note" }, RIGHTS[operation.right]) : null,
  ...parameters(operation.parameters, schemas),
  ...body(operation.requestBody, schemas),
  ...answers(operation.responses, schemas),
  make("h4", {}, "Try it"),
  tryForm(operation, schemas),
];

/**
 * A folded operation. Its content is created when the user opens it.
 * @param {Operation} operation
 * @param {SchemaReader} schemas
 */
const folded = (operation, schemas) => {
  const { method, path, summary, id } = operation;
  const head = make(
    "summary",
    {},
    make(
      "h3",
      {},
      make("span", { class: "api-method" }, method),
      " ",
      make("span", { class: "api-path" }, visible(path)),
      " ",
      make("span", { class: "api-summary" }, visible(summary ?? "")),
    ),
  );
  return fold(head, () => make("div", { class: "api-opened" }, ...filled(operation, schemas)), {
    class: "api-operation",
    id: `operation-${id}`,
  });
};

/** Opens the operation that the address names. */
const openNamed = () => {
  const fold = document.getElementById(`operation-${decodeURIComponent(location.hash.slice(1))}`);
  if (!(fold instanceof HTMLDetailsElement)) return;
  fold.open = true;
  fold.querySelector("summary")?.focus();
};

/**
 * Installs the search field, which shows the operations that contain all its words in their method,
 * path or summary.
 * @param {HTMLElement[]} sections
 * @param {Folded[]} all
 */
const watchSearch = (sections, all) => {
  const show = () => {
    const words = inputAt("api-words")
      .value.toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== "");
    let visibleCount = 0;
    for (const { operation, fold } of all) {
      const text = `${operation.method} ${operation.path} ${operation.summary}`.toLowerCase();
      fold.hidden = !words.every((word) => text.includes(word));
      if (!fold.hidden) visibleCount += 1;
    }
    for (const section of sections) {
      section.hidden = !section.querySelector("details:not([hidden])");
    }
    at("api-status").textContent =
      words.length === 0
        ? counted(all.length, "operation")
        : `${counted(visibleCount, "operation")} of ${all.length}`;
  };
  at("api-search").addEventListener("submit", (event) => event.preventDefault());
  at("api-words").addEventListener("input", show);
  show();
};

/** @param {Description} description */
const draw = (description) => {
  const schemas = schemaReader(description);
  const all = operations(description).map((operation) => ({
    operation,
    fold: folded(operation, schemas),
  }));
  /** @param {Folded} one */
  const isNamed = ({ operation }) => operation.path.startsWith("/v1/indexes/{index}");
  /**
   * @param {string} title
   * @param {Folded[]} ones
   */
  const section = (title, ones) =>
    ones.length === 0
      ? null
      : make("section", {}, make("h2", {}, title), ...ones.map(({ fold }) => fold));
  const sections = [
    section(
      "Operations of the server and its first index",
      all.filter((operation) => !isNamed(operation)),
    ),
    section("Operations of an index named in the address", all.filter(isNamed)),
  ].filter((part) => part !== null);
  at("api-results").replaceChildren(...sections);
  watchSearch(sections, all);
  openNamed();
};

const start = async () => {
  try {
    draw(/** @type {Description} */ (await requestOfServer("GET", "openapi.json")));
  } catch (error) {
    at("api-status").textContent = "";
    at("api-results").replaceChildren(problem(error, start));
  }
};

watchSkip();
watchToken();
at("api-token").addEventListener("click", () => askForToken(false));
window.addEventListener("hashchange", openNamed);
start();
