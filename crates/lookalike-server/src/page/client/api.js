// The client of the API: requests, the token, and errors with a code.

import { ofIndex } from "./index_choice.js";
import { askForToken, onToken, token } from "./token.js";

/** The error of a request. */
export class ApiError extends Error {
  /**
   * @param {number} status of HTTP; 0 without a response
   * @param {string} code of the problem, such as `unknown-document`
   * @param {string} detail message of the server
   * @param {number} wait seconds until a retry; 0 if unknown
   * @param {any[]} conflicts decisions that were not recorded
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

/** Maximum delay of an automatic retry, in seconds. */
const MOST_WAIT = 60;

const waiting = (response) => {
  const seconds = Number(response.headers.get("Retry-After"));
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, MOST_WAIT) : 0;
};

const problem = async (response) => {
  const wait = waiting(response);
  try {
    const { code, detail, title, conflicts } = JSON.parse(await response.text());
    return new ApiError(
      response.status,
      String(code || ""),
      String(detail || title || ""),
      wait,
      conflicts,
    );
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return new ApiError(response.status, "", response.statusText, wait);
  }
};

/** Integers that exceed the precision of a double keep their text. */
const exact = (_name, value, context) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) ? (context?.source ?? value) : value;

const send = async (method, path, { body, bytes, signal }) => {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (bytes !== undefined) headers["Content-Type"] = "application/octet-stream";
  if (token()) headers.Authorization = `Bearer ${token()}`;
  const options = { method, headers, signal, cache: "no-store", credentials: "same-origin" };
  if (body !== undefined) options.body = JSON.stringify(body);
  if (bytes !== undefined) options.body = bytes;
  try {
    return await fetch(new URL(path, document.baseURI), options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "no-answer", "");
  }
};

/**
 * Sends a request about the server. If the server requires a token, the user enters it, and the
 * function sends the request again.
 * @param {string} method
 * @param {string} path below the page, such as `v1/indexes`
 * @param {{body?: unknown, bytes?: ArrayBuffer, blob?: boolean, signal?: AbortSignal}} options a
 *   body of JSON, or one of a file; whether the response is a file
 * @returns {Promise<any>} the JSON of the response, or its `Blob`; nothing for an empty one
 * @throws {ApiError}
 */
export const requestOfServer = async (method, path, options = {}) => {
  const { signal } = options;
  for (;;) {
    const sent = token();
    const response = await send(method, path, options);
    if (response.status === 401) {
      const refused = await problem(response);
      // Another request may have received a token in the meantime.
      if (token() !== sent || (await askForToken(sent !== ""))) {
        signal?.throwIfAborted();
        continue;
      }
      throw refused;
    }
    if (!response.ok) throw await problem(response);
    if (response.status === 204) return undefined;
    // The server still computes the list.
    if (options.blob && response.status === 202) throw await problem(response);
    if (options.blob) return response.blob();
    try {
      return JSON.parse(await response.text(), exact);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new ApiError(response.status, "no-json", "");
    }
  }
};

/**
 * Sends a request about the chosen index.
 * @param {string} method
 * @param {string} path such as `v1/stats`
 * @param {{body?: unknown, bytes?: ArrayBuffer, blob?: boolean, signal?: AbortSignal}} options
 * @returns {Promise<any>}
 * @throws {ApiError}
 */
export const request = (method, path, options = {}) =>
  requestOfServer(method, ofIndex(path), options);

/**
 * The whole of a list that comes page by page.
 * @param {string} path without parameters
 * @param {string} member the list in the answer
 * @param {{signal?: AbortSignal}} options
 * @returns {Promise<any>} the last answer, with the list of all
 * @throws {ApiError}
 */
export const requestWhole = async (path, member, options = {}) => {
  const all = [];
  for (let after = ""; ; ) {
    const query = after === "" ? "" : `?${new URLSearchParams({ after })}`;
    const page = await request("GET", path + query, options);
    for (const one of page[member]) all.push(one);
    if (page.next === undefined) return { ...page, [member]: all };
    after = page.next;
  }
};

/**
 * Compares two texts.
 * @param {{text?: string, id?: string, version?: number}} a
 * @param {{text?: string, id?: string, version?: number}} b
 * @param {AbortSignal} signal
 * @returns {Promise<any>}
 * @throws {ApiError}
 */
export const compareTexts = (a, b, signal) =>
  request("POST", "v1/compare", { body: { a, b, differences: true }, signal });

/**
 * Records decisions.
 * @param {any[]} decisions
 * @returns {Promise<number[]>} their numbers
 * @throws {ApiError} see {@link isConflict}
 */
export const storeDecisions = async (decisions) => {
  const { added, last } = await request("POST", "v1/decisions", { body: { decisions } });
  return decisions.map((_, place) => last - added + 1 + place);
};

/** Whether decisions were not recorded since others decided in the meantime. */
export const isConflict = (error) =>
  error.code === "decision-conflict" && error.conflicts.length > 0;

/**
 * Waits, until the signal is aborted at most.
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
 * A function that sends a request once for each token, and again after a failure.
 * @param {() => Promise<any>} ask
 * @returns {() => Promise<any>}
 */
export const once = (ask) => {
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
 * @returns {string}
 * @throws {ApiError} for ids that a URL cannot contain
 */
export const documentPath = (id) => {
  if (id === "." || id === "..") {
    throw new ApiError(0, "no-address", "");
  }
  return `v1/documents/${encodeURIComponent(id)}`;
};
