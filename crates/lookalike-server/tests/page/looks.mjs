// Checks every view with `access.mjs`: light and dark, wide, narrow and zoomed. Saves a screenshot
// of each for people.

import assert from "node:assert/strict";
import { join } from "node:path";
import { findings } from "./access.mjs";
import { answering, HOSTILE } from "./api.mjs";
import { mock, refusal } from "./mock.mjs";

/** @import { Browser, Case } from "./driver.mjs" */
/** @import { Reply } from "./mock.mjs" */

/**
 * Name, width, height, and colour scheme. A window of 1,280 pixels has 640 at a zoom of 200 %.
 * @type {[string, number, number, "light"|"dark"][]}
 */
const VIEWS = [
  ["light", 1280, 900, "light"],
  ["dark", 1280, 900, "dark"],
  ["narrow", 320, 700, "dark"],
  ["zoomed", 640, 450, "light"],
];

/**
 * Returns a function that waits for an element and clicks it.
 * @param {string} selector
 * @returns {(browser: Browser) => Promise<void>}
 */
const click = (selector) => async (browser) => {
  await browser.wait("document.querySelector(arguments[0])", selector);
  await browser.click(selector);
};

/**
 * The states: address, actions after loading, and the expression that is true in the state.
 * @type {Record<string, [string, ((browser: Browser) => Promise<void>)|null, string]>}
 */
const STATES = {
  query: ["#/?id=letters", null, "document.querySelectorAll('.match').length === 3"],
  passages: [
    "#/",
    async (browser) => {
      await browser.paste("#query-text", "The meeting was held on Monday in the large hall.");
      await browser.click("#query-form .main");
      await click("#passages-form button")(browser);
    },
    "document.querySelector('.known')",
  ],
  compare: [
    "#/compare?a=letters%2Fa.txt&b=letters%2Fb.txt",
    null,
    "document.querySelector('.sides')",
  ],
  groups: ["#/groups", click(".group summary"), "document.querySelector('.members')"],
  review: ["#/review", null, "document.querySelector('.review-differences .sides')"],
  unfolded: [
    "#/review",
    async (browser) => {
      await browser.wait("document.querySelector('.review-differences .sides')");
      await browser.run(
        "for (const fold of document.querySelectorAll('#view-review details')) " +
          "fold.open = true",
      );
    },
    "document.querySelector('.review-agreement li')",
  ],
  document: [
    `#/document?id=${encodeURIComponent(HOSTILE)}`,
    null,
    "document.querySelector('#view-document .text')",
  ],
  categories: ["#/categories", null, "document.querySelector('#view-categories table')"],
  category: [
    "#/categories?path=1.1",
    null,
    "document.querySelectorAll('#view-categories table').length === 2",
  ],
  index: ["#/index", null, "document.querySelector('.chart')"],
  add: ["#/add", null, "!document.querySelector('#view-add').hidden"],
  api: ["api", null, "document.querySelector('.api-operation')"],
  operation: ["api#compare", null, "document.querySelector('#operation-compare form .main')"],
  refused: ["#/groups?after=refused", null, "document.querySelector('.problem')"],
  token: ["#/groups?after=token", null, "document.querySelector('#token').open"],
  confirm: [
    "#/document?id=a",
    click("#view-document .danger"),
    "document.querySelector('#confirm').open",
  ],
};

/** @type {Record<string, Reply>} */
const refusals = {
  refused: refusal(429, "busy", "32 requests wait already", { "Retry-After": "7" }),
  token: refusal(401, "token-needed", "a token is needed", { "WWW-Authenticate": "Bearer" }),
};

/**
 * Calls a function in each state, at each of the named window sizes and colour schemes.
 * @param {Browser} browser
 * @param {string[]} views names of entries of `VIEWS`
 * @param {(name: string) => Promise<void>} check takes the names of the state and the view
 */
export const inEveryState = async (browser, views, check) => {
  const server = await mock((call) => refusals[call.query.get("after") ?? ""] ?? answering()(call));
  try {
    for (const [name, [address, act, there]] of Object.entries(STATES)) {
      await browser.open(server.url + address);
      if (act) await act(browser);
      await browser.wait(there);
      await browser.wait("document.querySelector('#place').textContent");
      for (const [view, width, height, scheme] of VIEWS) {
        if (!views.includes(view)) continue;
        await browser.view(width, height, scheme);
        await check(`${name}-${view}`);
      }
    }
  } finally {
    server.close();
    await browser.view(1280, 900, "light");
  }
};

/** @type {Case} */
const states = (browser, { folder }) =>
  inEveryState(browser, ["light", "dark", "narrow", "zoomed"], async (name) => {
    await browser.picture(join(folder, `page-${name}.png`));
    assert.deepEqual(await findings(browser), [], name);
  });

/**
 * Each check finds the error that this case adds to the page.
 * @type {Case}
 */
const checks = async (browser) => {
  const server = await mock(answering());
  /** @type {[string, string, string, string[]?][]} */
  const wrongs = [
    ["h4", "", "heading skipped"],
    ["h1", "", "h1: "],
    ["button", "", "no name: button"],
    ["p", "color:#999", "contrast 2.85"],
    ["div", "width:3000px", "scrolls sideways"],
    ["button", "border-color:#eee;background:#fff", "edge 1."],
    ["button", "padding:0;height:9px", "small, "],
    ["summary", "height:9px", "small, "],
    ["button", "", "in a rowgroup: ", ["role", "rowgroup"]],
    ["button", "", "label without its text: ", ["aria-label", "Right"]],
  ];
  try {
    for (const [tag, style, expected, attribute] of wrongs) {
      await browser.open(server.url);
      await browser.wait("!document.querySelector('#view-query').hidden");
      await browser.run(
        "const made = document.createElement(arguments[0]); " +
          "made.style.cssText = arguments[1]; made.textContent = arguments[2]; " +
          "const [name, value] = arguments[3] ?? ['class', 'wrong']; const box = name === 'role' ? " +
          "document.createElement('div') : made; box.setAttribute(name, value); if (box !== made) " +
          "box.append(made); document.querySelector('#view-query').append(box)",
        tag,
        style,
        expected.startsWith("no name") ? "" : "Wrong",
        attribute ?? null,
      );
      const found = await findings(browser);
      assert.ok(
        found.some((finding) => finding.startsWith(expected)),
        `${expected}: ${found}`,
      );
    }
  } finally {
    server.close();
  }
};

/** All cases by name. */
export const CASES = {
  "every view can be used, however it is looked at": states,
  "the checks find what is wrong": checks,
};
