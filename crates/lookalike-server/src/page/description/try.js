// A form that sends a request of an operation to this server, and shows the answer.

import { curl, requestOf } from "./operations.js";
import { save } from "../client/save.js";
import { button, field, make } from "../dom/dom.js";
import { size, visible } from "../dom/format.js";
import { askForToken, token } from "../client/token.js";

/** Maximum size of a shown body, in bytes. Longer and binary bodies can only be saved. */
const SHOWN_BYTES = 200_000;
/** The response headers to show. */
const HEADERS = ["content-type", "retry-after", "x-request-id", "idempotent-replayed", "etag"];

/** @import { Operation, JsonSchema, Parameter, SchemaReader } from "./types.js" */

/** @typedef {HTMLInputElement|HTMLTextAreaElement|HTMLSelectElement} Input */
/** @typedef {{type: string, text: string, file?: File}} GivenBody */
/** @typedef {{box: HTMLElement, read: () => GivenBody}} BodyField */

/**
 * @param {string} id
 * @param {string} label
 * @param {Input} input
 */
const named = (id, label, input) => field(label, Object.assign(input, { id }));

/**
 * @param {JsonSchema} schema
 * @returns {string[]|undefined}
 */
const values = (schema) =>
  schema.enum?.map(String) ?? (schema.type === "boolean" ? ["true", "false"] : undefined);

/**
 * @param {Operation} operation
 * @param {Parameter} parameter
 * @param {SchemaReader} schemas
 */
const parameterField = (operation, parameter, schemas) => {
  const { name, required, schema: declared = {} } = parameter;
  const schema = schemas.followed(declared);
  const choices = values(schema);
  const id = `try-${operation.id}-${name}`;
  const label = `${visible(name)}${required ? "" : " (optional)"}`;
  if (choices) {
    const options = required ? choices : ["", ...choices];
    return named(
      id,
      label,
      make(
        "select",
        { "data-name": name },
        ...options.map((value) => make("option", { value }, value === "" ? "–" : value)),
      ),
    );
  }
  // The field of a list contains one value on each line.
  const input =
    schema.type === "array"
      ? make("textarea", { rows: 2, class: "api-list" })
      : make("input", { type: "text", required });
  input.dataset.name = name;
  input.spellcheck = false;
  input.autocomplete = "off";
  return named(id, schema.type === "array" ? `${label}, one for each line` : label, input);
};

/** @param {string} type */
const isText = (type) => type.includes("json") || type.startsWith("text/");

/**
 * The fields of a form for the body: its type, and a text or a file. Null for an operation without
 * a body.
 * @param {Operation} operation
 * @param {SchemaReader} schemas
 * @returns {BodyField|null}
 */
const bodyField = ({ id, requestBody }, schemas) => {
  const content = requestBody?.content ?? {};
  const types = Object.keys(content);
  if (types.length === 0) return null;
  const type = make(
    "select",
    {},
    ...types.map((type) => make("option", { value: type }, visible(type))),
  );
  const text = make("textarea", { rows: 8, dir: "auto" });
  text.spellcheck = false;
  const file = make("input", { type: "file" });
  const fill = () => {
    const { schema } = content[type.value];
    const is = isText(type.value);
    textField.hidden = !is;
    const example = schemas.example(schema ?? {});
    const lines = type.value.includes("ndjson");
    text.value = !is
      ? ""
      : typeof example === "string"
        ? ""
        : JSON.stringify(example, undefined, lines ? undefined : 1) + (lines ? "\n" : "");
  };
  const textField = named(`try-${id}-body`, "Body", text);
  const box = make(
    "div",
    {},
    named(`try-${id}-type`, "Type of the body", type),
    textField,
    named(`try-${id}-file`, "Or a file", file),
  );
  type.addEventListener("change", fill);
  fill();
  return { box, read: () => ({ type: type.value, text: text.value, file: file.files?.[0] }) };
};

/**
 * Reads the values of the parameters, by name. Empty values are omitted.
 * @param {HTMLFormElement} form
 * @returns {Map<string, string[]>}
 */
const parametersOf = (form) => {
  /** @type {NodeListOf<Input>} */
  const inputs = form.querySelectorAll("[data-name]");
  return new Map(
    Array.from(inputs, (input) => {
      const all = input.matches("textarea") ? input.value.split("\n") : [input.value];
      return [input.dataset.name ?? "", all.filter((value) => value !== "")];
    }),
  );
};

/**
 * @param {string} text
 * @param {string} type
 */
const pretty = (text, type) => {
  if (!type.includes("json") || type.includes("ndjson")) return text;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 1);
  } catch {
    return text;
  }
};

/** @param {Blob} blob */
const saved = (blob) => button(`Save the answer (${size(blob.size)})`, () => save(blob, "answer"));

/**
 * @param {Response} response
 * @param {number} took milliseconds
 */
const answerOf = async (response, took) => {
  const blob = await response.blob();
  const type = response.headers.get("content-type") ?? "";
  const heads = HEADERS.filter((name) => response.headers.has(name)).map(
    (name) => `${name}: ${response.headers.get(name)}`,
  );
  /** @type {HTMLElement[]} */
  const parts = [
    make(
      "p",
      {},
      make("strong", {}, `${response.status} ${response.statusText}`),
      ` in ${Math.round(took)} ms`,
    ),
    make(
      "pre",
      { class: "api-answer", tabindex: 0, "aria-label": "Head of the answer" },
      visible(heads.join("\n")),
    ),
  ];
  const isShown = blob.size > 0 && blob.size <= SHOWN_BYTES && isText(type);
  if (isShown) {
    parts.push(
      make(
        "pre",
        { class: "api-answer", tabindex: 0, dir: "auto", "aria-label": "Body of the answer" },
        pretty(await blob.text(), type),
      ),
    );
  } else if (blob.size > 0) parts.push(saved(blob));
  return parts;
};

/**
 * Sends the request of the form, and shows the answer and the curl command. On status 401, asks the
 * user for a token and sends the request once more.
 * @param {Operation} operation
 * @param {HTMLFormElement} form
 * @param {BodyField|null} body
 * @param {HTMLElement} place for the answer
 */
const send = async (operation, form, body, place) => {
  const { url, headers } = requestOf(operation, parametersOf(form));
  const content = body?.read();
  /** @type {RequestInit} */
  const options = { method: operation.method, cache: "no-store" };
  if (content) {
    headers["content-type"] = content.type;
    options.body = content.file ?? content.text;
  }
  const absolute = new URL(url, document.baseURI);
  const command = () =>
    curl(
      operation.method,
      absolute.href,
      headers,
      { text: content?.text, file: content?.file?.name },
      token() !== "",
    );
  const fetched = () =>
    fetch(absolute, {
      ...options,
      credentials: "same-origin",
      headers: token() === "" ? headers : { ...headers, authorization: `Bearer ${token()}` },
    });
  place.replaceChildren("Sending …");
  const since = performance.now();
  try {
    let response = await fetched();
    if (response.status === 401 && (await askForToken(token() !== ""))) response = await fetched();
    place.replaceChildren(...(await answerOf(response, performance.now() - since)));
  } catch {
    place.replaceChildren(
      make(
        "p",
        { class: "warning" },
        "The server did not answer, or the " + "browser sent nothing.",
      ),
    );
  }
  place.append(
    make("pre", { class: "api-answer", tabindex: 0, "aria-label": "Command" }, command()),
  );
};

/**
 * The form of an operation, with the place for the answer below it.
 * @param {Operation} operation
 * @param {SchemaReader} schemas
 * @returns {HTMLElement}
 */
export const tryForm = (operation, schemas) => {
  const body = bodyField(operation, schemas);
  const place = make("div", { role: "status", class: "api-place" });
  const changes = operation.right === "write" && operation.method !== "GET";
  const form = make(
    "form",
    {},
    make(
      "div",
      { class: "controls" },
      ...operation.parameters.map((parameter) => parameterField(operation, parameter, schemas)),
    ),
    body?.box,
    changes ? make("p", { class: "note" }, "Sending this changes the index.") : null,
    make(
      "div",
      { class: "buttons" },
      make(
        "button",
        { type: "submit", class: "main" },
        "Send",
        make("span", { class: "unseen" }, ` ${operation.method} ${operation.path}`),
      ),
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(operation, form, body, place);
  });
  return make("div", {}, form, place);
};
