// Lists the operations of an OpenAPI description, and builds their requests and curl commands.

/** @import { Description, HttpMethod, Operation } from "./types.js" */

/** @type {HttpMethod[]} */
const METHODS = ["get", "put", "post", "delete"];

/**
 * Lists the operations in the order of the paths in the description.
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
 * @param {Map<string, string[]>} values of the parameters, by name; other parameters are omitted
 * @returns {{url: string, headers: Object<string, string>}} the URL is relative to the server
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
 * Quotes a text for a POSIX shell, if it needs quotes.
 * @param {string} text
 */
const quoted = (text) =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/**
 * The curl command that sends a request. It reads the token from `$TOKEN`.
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
