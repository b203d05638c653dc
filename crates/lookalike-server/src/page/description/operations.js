// The operations of a description of an API, each with all that is said of it.

/** @import { Description, HttpMethod, Operation } from "./types.js" */

/** @type {HttpMethod[]} */
const METHODS = ["get", "put", "post", "delete"];

/**
 * The operations, in the order of their paths.
 * @param {Description} description
 * @returns {Operation[]}
 */
export const operations = (description) =>
  Object.entries(description.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      return {
        ...operation,
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])],
        right: operation["x-right"],
      };
    }),
  );

/**
 * Builds the request of an operation from the values of its parameters.
 * @param {Operation} operation
 * @param {Map<string, string[]>} values of the parameters, by name; those without are left out
 * @returns {{url: string, headers: Object<string, string>}} relative to the server
 */
export const requestOf = ({ path, parameters }, values) => {
  const query = new URLSearchParams();
  /** @type {Record<string, string>} */
  const headers = {};
  let url = path.slice(1);
  for (const { name, in: place } of parameters) {
    for (const value of values.get(name) ?? []) {
      if (place === "path") url = url.replace(`{${name}}`, encodeURIComponent(value));
      else if (place === "query") query.append(name, value);
      else headers[name] = value;
    }
  }
  const text = query.toString();
  return { url: text === "" ? url : `${url}?${text}`, headers };
};

/**
 * A text as the shell takes it.
 * @param {string} text
 */
const quoted = (text) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/**
 * The command that sends a request.
 * @param {string} method
 * @param {string} url absolute
 * @param {Object<string, string>} headers without the token
 * @param {{text?: string, file?: string}} body
 * @param {boolean} hasToken
 * @returns {string}
 */
export const curl = (method, url, headers, { text, file }, hasToken) => {
  const parts = ["curl"];
  if (method !== "GET") parts.push("-X", method);
  parts.push(quoted(url));
  for (const [name, value] of Object.entries(headers))
    parts.push("-H", quoted(`${name}: ${value}`));
  if (hasToken) parts.push("-H", '"authorization: Bearer $TOKEN"');
  if (file !== undefined) parts.push("--data-binary", quoted(`@${file}`));
  else if (text !== undefined) parts.push("--data-binary", quoted(text));
  return parts.join(" ");
};
