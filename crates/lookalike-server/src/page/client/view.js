// Shows the content of views: a status, results, or an error with a button to retry.

import { at } from "../dom/dom.js";
import { reshow } from "../dom/router.js";
import { isAbort } from "./api.js";
import { problem } from "./problem.js";

/** @typedef {[string, Array<Node|null>]} Content status and nodes of a view */

/**
 * Returns the function that shows the content of a view.
 * @param {string} name
 * @returns {(status: string, nodes: Array<Node|null>) => void}
 */
export const contentOf = (name) => (status, nodes) => {
  at(`${name}-status`).textContent = status;
  at(`${name}-results`).replaceChildren(...nodes.filter((node) => node !== null));
};

/**
 * Returns the function that requests and shows the content of a view.
 * @param {string} name
 * @param {string} message shown during the request
 * @param {(params: URLSearchParams, signal: AbortSignal) => Promise<Content>} load
 * @param {(params: URLSearchParams) => Node[]} actions shown after an error, next to the retry
 * @returns {import("../dom/router.js").Show}
 */
export const loadedView =
  (name, message, load, actions = () => []) =>
  async (params, signal) => {
    const show = contentOf(name);
    show(message, []);
    try {
      const [status, nodes] = await load(params, signal);
      if (!signal.aborted) show(status, nodes);
    } catch (error) {
      if (isAbort(error)) return;
      show("", [problem(error, () => reshow(name), ...actions(params))]);
    }
  };

/**
 * Runs the function that fills a part of a view. If it fails, shows the error in that part.
 * @param {HTMLElement} place
 * @param {() => Promise<void>} work
 */
export const fillPart = async (place, work) => {
  try {
    await work();
  } catch (error) {
    if (isAbort(error)) return;
    place.replaceChildren(problem(error, () => fillPart(place, work)));
  }
};
