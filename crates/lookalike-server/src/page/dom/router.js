// Shows the view that the address names after `#/`. Returning to a view restores its content,
// scroll position and focus.

import { at, focusHeading } from "./dom.js";

/**
 * The function that shows a view. Its arguments are the parameters of the address, and a signal
 * that the router aborts when it replaces the content of the view.
 * @typedef {(params: URLSearchParams, signal: AbortSignal) => void} Show
 */

/**
 * The state of a view. `key` is the query that the view shows; null if the view must load again.
 * @typedef {{show: Show, key: string|null, abort: AbortController|null, scroll: number,
 *   focus: HTMLElement|null}} View
 */

/** @type {Map<string, View>} */
const views = new Map();
let current = "";

/**
 * The address of a view.
 * @param {string} view name of the view
 * @param {Object<string, string|number|undefined>} params parameters without a value are omitted
 * @returns {string} a fragment for `href`
 */
export const address = (view, params = {}) => {
  const present = Object.entries(params).filter(([, value]) => value !== undefined && value !== "");
  const query = new URLSearchParams(present.map(([name, value]) => [name, String(value)]));
  return `#/${view === "query" ? "" : view}${present.length > 0 ? `?${query}` : ""}`;
};

/**
 * @param {string} name of a registered view
 * @returns {View}
 */
const viewOf = (name) => {
  const view = views.get(name);
  if (view) return view;
  throw new Error(`the page has no view ${name}`);
};

/**
 * Aborts the earlier requests of a view, and shows the view with a query.
 * @param {View} view
 * @param {string} query
 */
const load = (view, query) => {
  view.abort?.abort();
  view.abort = new AbortController();
  view.show(new URLSearchParams(query), view.abort.signal);
};

const parsed = () => {
  const hash = location.hash.replace(/^#\/?/, "");
  const cut = hash.indexOf("?");
  const name = cut < 0 ? hash : hash.slice(0, cut);
  const query = cut < 0 ? "" : hash.slice(cut + 1);
  return { name: views.has(name) ? name : "query", query };
};

const leave = () => {
  const view = views.get(current);
  if (!view) return;
  view.scroll = window.scrollY;
  const active = document.activeElement;
  const isInside = active instanceof HTMLElement && at(`view-${current}`).contains(active);
  view.focus = isInside ? active : null;
};

/** @param {string} name */
const enter = (name) => {
  for (const other of views.keys()) at(`view-${other}`).hidden = other !== name;
  /** @type {NodeListOf<HTMLElement>} */
  const links = document.querySelectorAll("nav a");
  for (const link of links) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const heading = at(`${name}-title`);
  document.title = `${heading.textContent} – lookalike`;
  return heading;
};

/**
 * Shows the view of the address.
 * @param {boolean} first whether the page has just loaded; if so, the focus and the scroll position
 *   stay
 */
const move = (first) => {
  const { name, query } = parsed();
  const view = viewOf(name);
  const isSame = view.key === query;
  const isCurrent = name === current;
  if (!isCurrent) leave();
  const heading = enter(name);
  current = name;
  if (!isSame) {
    view.key = query;
    load(view, query);
  }
  if (first || (isCurrent && isSame)) return;
  const focus = isSame && view.focus?.isConnected ? view.focus : heading;
  focus.focus({ preventScroll: true });
  window.scrollTo({ top: isSame ? view.scroll : 0, behavior: "instant" });
};

/**
 * Opens an address. If it is the current address, reloads its view.
 * @param {string} to from {@link address}
 */
export const go = (to) => {
  if (location.hash === to || (to === "#/" && location.hash === "")) reshow(parsed().name);
  else location.hash = to;
};

/**
 * Loads a view again with its last query.
 * @param {string} name
 */
export const reshow = (name) => {
  const view = viewOf(name);
  load(view, view.key ?? "");
  // The view may have removed the focused element.
  if (name === current && document.activeElement === document.body) focusHeading();
};

/**
 * Sets the address of the current view. Adds it to the history, unless the address was empty or
 * equal. The caller shows the content. Aborts the earlier requests of the view.
 * @param {string} to an address of the current view
 */
export const shownAt = (to) => {
  if (location.hash === "") history.replaceState(null, "", to);
  else if (location.hash !== to) history.pushState(null, "", to);
  const view = viewOf(current);
  view.abort?.abort();
  view.key = parsed().query;
};

/**
 * Makes views load again when the user opens them next, except the current view.
 * @param {string[]} names all if omitted
 */
export const forgetViews = (names = Array.from(views.keys())) => {
  for (const name of names) if (name !== current) viewOf(name).key = null;
};

/**
 * Registers the views, and shows the view that the address names.
 * @param {Object<string, Show>} all by name
 */
export const start = (all) => {
  for (const [name, show] of Object.entries(all)) {
    views.set(name, { show, key: null, abort: null, scroll: 0, focus: null });
  }
  history.scrollRestoration = "manual";
  window.addEventListener("hashchange", () => move(false));
  move(true);
};
