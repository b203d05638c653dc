// Sends requests to the API, with the token, and converts failures to errors with a code.

import { ofIndex } from "./index_choice.js";
import { askForToken, onToken, token } from "./token.js";

/** @import { Address, Answer, Body, Conflict, Method, NewDecision, Schema } from "./types.js" */

/** The error of a request. */
export class ApiError extends Error {
  /**
   * @param {number} status HTTP status; 0 without a response
   * @param {string} code of the problem, such as `unknown-document`
   * @param {string} detail message of the server
   * @param {number} wait seconds until a retry; 0 if unknown
   * @param {Conflict[]} conflicts decisions that the server did not record
   */
  constructor(status, code, detail, wait = 0, conflicts = []) {
    super(detail);
    this.conflicts = conflicts;
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.wait = wait;
  }
}

/** Maximum delay that the page takes from `Retry-After`, in seconds. */
const MOST_WAIT = 60;

/** @param {Response} response */
const waiting = (response) => {
  const seconds = Number(response.headers.get("Retry-After"));
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, MOST_WAIT) : 0;
};

/**
 * Returns true if the page aborted the request because it no longer needs the answer.
 * @param {unknown} error
 */
export const isAbort = (error) => error instanceof Error && error.name === "AbortError";

/**
 * @param {Response} response
 * @returns {Promise<ApiError>}
 */
const problem = async (response) => {
  const wait = waiting(response);
  try {
    /** @type {Partial<Schema<"Problem">>} */
    const { code, detail, title, conflicts } = JSON.parse(await response.text());
    return new ApiError(
      response.status,
      String(code || ""),
      String(detail || title || ""),
      wait,
      conflicts,
    );
  } catch (error) {
    if (isAbort(error)) throw error;
    return new ApiError(response.status, "", response.statusText, wait);
  }
};

/**
 * Keeps the source text of an integer that a double cannot represent exactly, and all other values
 * unchanged.
 * @param {string} _name
 * @param {unknown} value
 * @param {{source?: string}} [context] omitted by older browsers, which keep the rounded number
 */
const exact = (_name, value, context) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? (context?.source ?? value) : value;

/**
 * `body` is sent as JSON, `bytes` as the content of a file.
 * @typedef {{body?: unknown, bytes?: ArrayBuffer, signal?: AbortSignal}} Options
 */

/**
 * @param {string} method
 * @param {string} path
 * @param {Options} options
 */
const send = async (method, path, { body, bytes, signal }) => {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (bytes !== undefined) headers["Content-Type"] = "application/octet-stream";
  if (token()) headers.Authorization = `Bearer ${token()}`;
  /** @type {RequestInit} */
  const options = { method, headers, signal, cache: "no-store", credentials: "same-origin" };
  if (body !== undefined) options.body = JSON.stringify(body);
  if (bytes !== undefined) options.body = bytes;
  try {
    return await fetch(new URL(path, document.baseURI), options);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError(0, "no-answer", "");
  }
};

/**
 * Sends a request. On status 401, asks the user for a token and sends the request again.
 * @param {string} method
 * @param {string} path
 * @param {Options} options
 * @returns {Promise<Response>} a successful response
 * @throws {ApiError} for any other response, or without a response
 */
const exchange = async (method, path, options) => {
  for (;;) {
    const sent = token();
    const response = await send(method, path, options);
    if (response.ok) return response;
    const refused = await problem(response);
    if (response.status !== 401) throw refused;
    // Another request may have received a token in the meantime.
    if (token() === sent && !(await askForToken(sent !== ""))) throw refused;
    options.signal?.throwIfAborted();
  }
};

/**
 * @param {Response} response
 * @returns {Promise<any>} the parsed body, whose type the caller knows
 */
const json = async (response) => {
  if (response.status === 204) return undefined;
  try {
    return JSON.parse(await response.text(), exact);
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new ApiError(response.status, "no-json", "");
  }
};

/**
 * Sends a request about the server.
 * @template {Method} M
 * @template {Address} A
 * @param {M} method
 * @param {A} path below the page, such as `v1/indexes`
 * @param {{body?: Body<M, A>, bytes?: ArrayBuffer, signal?: AbortSignal}} options
 * @returns {Promise<Answer<M, A>>} undefined for status 204
 * @throws {ApiError}
 */
export const requestOfServer = async (method, path, options = {}) =>
  json(await exchange(method, path, options));

/**
 * Sends a request about the chosen index.
 * @template {Method} M
 * @template {Address} A
 * @param {M} method
 * @param {A} path such as `v1/stats`
 * @param {{body?: Body<M, A>, bytes?: ArrayBuffer, signal?: AbortSignal}} options
 * @returns {Promise<Answer<M, A>>}
 * @throws {ApiError}
 */
export const request = async (method, path, options = {}) =>
  json(await exchange(method, ofIndex(path), options));

/**
 * Requests a file about the chosen index.
 * @template {Address} A
 * @param {A} path
 * @param {AbortSignal} [signal]
 * @returns {Promise<Blob>}
 * @throws {ApiError} with the status 202 while the server computes the file
 */
export const requestFile = async (path, signal) => {
  const response = await exchange("GET", ofIndex(path), { signal });
  if (response.status === 202) throw await problem(response);
  return response.blob();
};

/**
 * Requests all pages of a list.
 * @template {Address} A
 * @template {string & keyof Answer<"GET", A>} Member
 * @param {A} path without parameters
 * @param {Member} member name of the list in the answer
 * @param {{signal?: AbortSignal}} options
 * @returns {Promise<Answer<"GET", A>>} the last answer, with the entries of all pages
 * @throws {ApiError}
 */
export const requestWhole = async (path, member, options = {}) => {
  const all = [];
  for (let after = ""; ; ) {
    const query = after === "" ? "" : `?${new URLSearchParams({ after })}`;
    const page = await json(await exchange("GET", ofIndex(path + query), options));
    for (const item of page[member]) all.push(item);
    if (page.next === undefined) return { ...page, [member]: all };
    after = page.next;
  }
};

/**
 * Compares two texts.
 * @param {Schema<"Side">} a
 * @param {Schema<"Side">} b
 * @param {AbortSignal} [signal]
 * @throws {ApiError}
 */
export const compareTexts = (a, b, signal) =>
  request("POST", "v1/compare", { body: { a, b, differences: true }, signal });

/**
 * Records decisions.
 * @param {NewDecision[]} decisions
 * @returns {Promise<number[]>} the number that the server gave each decision
 * @throws {ApiError} see {@link isConflict}
 */
export const storeDecisions = async (decisions) => {
  const { added, last } = await request("POST", "v1/decisions", { body: { decisions } });
  return decisions.map((_, place) => last - added + 1 + place);
};

/**
 * Returns true if the server recorded no decision of a request because other users had decided
 * about, or removed, some of its documents in the meantime.
 * @param {unknown} error
 * @returns {error is ApiError}
 */
export const isConflict = (error) =>
  error instanceof ApiError && error.code === "decision-conflict" && error.conflicts.length > 0;

/**
 * Waits for a number of seconds, or until the signal is aborted.
 * @param {number} seconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
export const later = (seconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });

/**
 * Returns a function that sends a request and caches the answer. It sends the request again if the
 * token has changed or the last request has failed.
 * @template T
 * @param {() => Promise<T>} ask
 * @returns {() => Promise<T>}
 */
export const once = (ask) => {
  /** @type {Promise<T>|null} */
  let answer = null;
  onToken(() => {
    answer = null;
  });
  return () => {
    if (!answer) {
      const own = ask();
      answer = own;
      own.catch(() => {
        if (answer === own) answer = null;
      });
    }
    return answer;
  };
};

/**
 * The path of a document.
 * @param {string} id
 * @returns {`v1/documents/${string}`}
 * @throws {ApiError} for the ids `.` and `..`, which a URL cannot contain
 */
export const documentPath = (id) => {
  if (id === "." || id === "..") {
    throw new ApiError(0, "no-address", "");
  }
  return `v1/documents/${encodeURIComponent(id)}`;
};
