// A server with the API of `lookalike serve`, for states that a test cannot easily cause on a real
// server: pending and stale groups, errors, answers of any size, and any ids and texts.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";

/** @import { IncomingMessage, ServerResponse } from "node:http" */
/** @import { Settings, Stats } from "../../src/page/client/types.js" */

/**
 * A request to the mock.
 * @typedef {{method: string, path: string, query: URLSearchParams, body: any, token: string}} Call
 */

/**
 * `after` delays the answer.
 * @typedef {{status?: number, headers?: Record<string, string>, json?: unknown, text?: string,
 *   after?: Promise<void>}} Reply
 */

/** @typedef {(call: Call) => Reply} Act answers requests */
/**
 * `last` is the last request, to a path if one is given.
 * @typedef {{url: string, calls: Call[], last: (path?: string) => Call, close: () => void}}
 *   MockServer
 */

const PAGE = new URL("../../src/page/", import.meta.url);

/**
 * Reads the list of files and the content security policy from the Rust code of the server.
 * @param {URL} folder of the page
 */
const table = (folder) => {
  const source = readFileSync(new URL("files.rs", folder), "utf8");
  const types = Object.fromEntries(
    Array.from(source.matchAll(/const (\w+): &str = "(.*?)"/g), (m) => [m[1], m[2]]),
  );
  const files = new Map(
    Array.from(source.matchAll(/\("(.*?)", (\w+), include_str!\("(.*?)"\)\)/g), (m) => [
      m[1],
      { type: types[m[2]], url: new URL(m[3], folder) },
    ]),
  );
  const [, policy = ""] = /POLICY: &str =\s*"([^"]*)"/.exec(source) ?? [];
  return { files, policy: policy.replace(/\\\n\s*/g, "") };
};

/** @param {IncomingMessage} request */
const body = async (request) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const bytes = Buffer.concat(parts);
  if (request.headers["content-type"] === "application/octet-stream") return bytes;
  const text = bytes.toString();
  return text === "" ? undefined : JSON.parse(text);
};

/**
 * Sends the current content of a file of the page.
 * @param {ServerResponse} response
 * @param {string} path
 * @param {URL} folder
 * @returns {boolean} whether the page has a file at this path
 */
const sendFile = (response, path, folder) => {
  const { files, policy } = table(folder);
  const file = files.get(path);
  if (!file) return false;
  const text = readFileSync(file.url);
  response.writeHead(200, {
    "Content-Type": file.type,
    "Content-Security-Policy": policy,
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Length": text.length,
  });
  response.end(text);
  return true;
};

/**
 * Starts a mock.
 * @param {Act} act
 * @param {number} port 0 for a free one
 * @param {URL} folder of the page, whose files are read at each request
 * @returns {Promise<MockServer>}
 */
export const mock = async (act, port = 0, folder = PAGE) => {
  /** @type {Call[]} */
  const calls = [];
  /** @type {(request: IncomingMessage, response: ServerResponse) => Promise<void>} */
  const serve = async (request, response) => {
    const url = new URL(request.url ?? "", "http://localhost");
    if (sendFile(response, url.pathname, folder)) return;
    const call = {
      method: request.method ?? "",
      path: url.pathname,
      query: url.searchParams,
      body: await body(request),
      token: request.headers.authorization ?? "",
    };
    calls.push(call);
    const { status = 200, headers = {}, json, text, after } = act(call);
    await after;
    const type = status < 400 ? "application/json" : "application/problem+json";
    const bytes = Buffer.from(json === undefined ? (text ?? "") : JSON.stringify(json));
    const described = { "Content-Type": type, "Content-Length": bytes.length };
    response.writeHead(status, status === 204 ? headers : { ...described, ...headers });
    response.end(bytes);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error) => {
      console.error(error);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });
  await new Promise((ready, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", () => ready(undefined));
  });
  /** @param {string} [path] */
  const last = (path) => {
    const found = calls.findLast((call) => path === undefined || call.path === path);
    if (!found) throw new Error(`no request to ${path ?? "the mock"}`);
    return found;
  };
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${address.port}/`, calls, last, close };
};

/**
 * An error response of the API.
 * @param {number} status
 * @param {string} code
 * @param {string} detail
 * @param {Record<string, string>} headers
 * @returns {Reply}
 */
export const refusal = (status, code, detail, headers = {}) => ({
  status,
  headers,
  json: { type: "about:blank", title: code, status, code, detail },
});

/**
 * Settings of an index that stores texts.
 * @type {Settings}
 */
export const SETTINGS = {
  format: 1,
  version: "0.1.0",
  shingle: "words:5",
  tokens: "words",
  case: "fold",
  frequencies: false,
  stop_words: null,
  wording: "as it stands",
  scheme: "fss",
  seed: 1,
  num_hashes: 128,
  bands: 21,
  rows: 6,
  threshold: 0.8,
  recall: 0.99,
  store: "texts",
  name: "letters.lookalike",
  predicted_recall: 0.998347,
  writable: true,
  exact: true,
  token_needed: false,
};

/**
 * Counts and sizes of an index.
 * @type {Stats}
 */
export const STATS = {
  documents: 12345,
  without_shingles: 3,
  postings: 259182,
  segments: 2,
  tail: 7,
  catalogue_bytes: 20000000,
  set_bytes: 9000000,
  text_bytes: 8000000,
  segment_bytes: 3300000,
  version: 42,
};
