// Requests pages of groups. The server computes the groups after the first request.

import { later, request } from "./api.js";

/** @import { Groups } from "./types.js" */

/** Interval between requests, in seconds, if the server names none. */
const WAIT = 1;
/**
 * Maximum interval in seconds. It must be shorter than the server's `LEASE`, after which a
 * computation without requests ends.
 */
const MOST_WAIT = 30;

/**
 * Requests a page of groups until the server has computed it.
 * @param {URLSearchParams} query
 * @param {AbortSignal} signal
 * @param {(seconds: number) => void} [pending] called before each pause, with its length
 * @returns {Promise<Groups>}
 */
export const groupPage = async (query, signal, pending = () => {}) => {
  for (;;) {
    signal.throwIfAborted();
    const found = await request("GET", `v1/groups?${query}`, { signal });
    if (!("status" in found)) return found;
    const wait = Math.min(found.retry_after || WAIT, MOST_WAIT);
    pending(wait);
    await later(wait, signal);
  }
};
