// Shows the schemas of an OpenAPI description as a phrase, as a tree to unfold, and as an example.

import { fold, make, withCode } from "../dom/dom.js";
import { visible } from "../dom/format.js";

/** @import { Description, JsonSchema } from "./types.js" */

/** Maximum number of nested levels in an example. */
const DEPTH = 4;

/** @param {JsonSchema} schema */
const range = ({ minimum, maximum, exclusiveMinimum, minLength, maxLength }) => {
  const least = minimum ?? exclusiveMinimum;
  const prefix = minimum === undefined ? "above " : "";
  if (least !== undefined && maximum !== undefined) return `, ${prefix}${least} to ${maximum}`;
  if (least !== undefined) return prefix ? `, above ${least}` : `, ${least} or more`;
  if (maximum !== undefined) return `, at most ${maximum}`;
  if (maxLength !== undefined) return `, ${minLength ?? 0} to ${maxLength} characters`;
  return "";
};

/** @param {JsonSchema} schema */
const choices = ({ enum: values, const: only, default: first }) => {
  const all = values ?? (only === undefined ? [] : [only]);
  const list = all.length > 0 ? `: ${all.map((value) => JSON.stringify(value)).join(", ")}` : "";
  return list + (first === undefined ? "" : `, ${JSON.stringify(first)} by default`);
};

/**
 * Returns functions that read and show the schemas of a description.
 * @param {Description} description
 */
export const schemaReader = (description) => {
  /**
   * Follows a reference to a part of the description. Returns other schemas unchanged.
   * @template {{$ref?: string}} T
   * @param {T|undefined} reference
   * @returns {T}
   */
  const followed = (reference) => {
    const names = reference?.$ref?.replace(/^#\//, "").split("/");
    // A valid reference names a part of the same type, which the compiler cannot know.
    /** @type {any} */
    let part = names ? description : reference;
    for (const name of names ?? []) part = part?.[name];
    return part ?? {};
  };
  /** @param {JsonSchema} schema */
  const name = (schema) => schema.$ref?.split("/").pop();
  /** @param {JsonSchema} schema */
  const branches = (schema) => schema.oneOf ?? schema.anyOf ?? schema.allOf;

  /**
   * @param {JsonSchema} unresolved
   * @returns {string}
   */
  const phrase = (unresolved) => {
    const schema = followed(unresolved);
    const parts = branches(schema);
    const named = name(unresolved);
    if (named) return named;
    if (parts) return parts.map(phrase).join(schema.allOf ? " and " : " or ");
    const types = [schema.type ?? "any"].flat();
    const type = types
      .map((type) => (type === "array" ? `list of ${phrase(schema.items ?? {})}` : type))
      .join(" or ");
    return type + range(schema) + choices(schema);
  };

  /**
   * @param {JsonSchema} schema
   * @returns {boolean}
   */
  const isFolded = (schema) =>
    Boolean(
      schema.properties || branches(schema) || (schema.items && isFolded(followed(schema.items))),
    );

  /**
   * The content of a folded schema: its branches, its members, or the items of a list.
   * @param {JsonSchema} unresolved
   */
  const inner = (unresolved) => {
    const schema = followed(unresolved);
    const parts = branches(schema);
    if (parts) return make("ul", {}, ...parts.map((part) => make("li", {}, element(part))));
    if (schema.properties) return members(schema);
    return schema.items ? element(schema.items) : null;
  };

  /**
   * @param {JsonSchema} unresolved
   * @param {boolean} open
   * @returns {HTMLElement}
   */
  const element = (unresolved, open = false) => {
    const schema = followed(unresolved);
    const text = schema.description
      ? make("p", { class: "note" }, ...withCode(schema.description))
      : null;
    if (!isFolded(schema)) return make("div", {}, make("span", {}, phrase(unresolved)), text);
    // Schemas may contain themselves, so the content is created when the user opens it.
    const details = fold(make("summary", {}, phrase(unresolved)), () => inner(unresolved));
    details.open = open;
    return make("div", {}, text, details);
  };

  /** @param {JsonSchema} schema */
  const members = ({ properties = {}, required = [] }) =>
    make(
      "dl",
      { class: "api-members" },
      ...Object.entries(properties).map(([member, schema]) =>
        make(
          "div",
          {},
          make(
            "dt",
            {},
            make("code", {}, visible(member)),
            required.includes(member) ? " required" : "",
          ),
          make("dd", {}, element(schema)),
        ),
      ),
    );

  /**
   * @param {JsonSchema|undefined} unresolved
   * @param {number} depth
   * @returns {unknown}
   */
  const example = (unresolved, depth = DEPTH) => {
    const schema = followed(unresolved);
    const parts = branches(schema);
    if (schema.examples?.length) return schema.examples[0];
    if (schema.example !== undefined) return schema.example;
    if (parts) return example(parts[0], depth);
    if (schema.enum) return schema.enum[0];
    if (schema.const !== undefined) return schema.const;
    if (schema.default !== undefined) return schema.default;
    const type = [schema.type].flat()[0];
    if (type === "object" || schema.properties) {
      const names = depth > 0 ? (schema.required ?? []) : [];
      return Object.fromEntries(
        names.map((key) => [key, example(schema.properties?.[key], depth - 1)]),
      );
    }
    if (type === "array")
      return depth > 0 && schema.items ? [example(schema.items, depth - 1)] : [];
    if (type === "boolean") return false;
    if (type === "number" || type === "integer") return schema.minimum ?? schema.maximum ?? 1;
    return "text";
  };

  return { followed, phrase, element, example };
};
