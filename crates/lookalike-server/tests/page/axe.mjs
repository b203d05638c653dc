// Checks every state of the page with axe-core, which `cargo x lint` installs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { answering } from "./api.mjs";
import { inEveryState } from "./looks.mjs";
import { mock } from "./mock.mjs";

/** @import { Browser, Case } from "./driver.mjs" */

const AXE = new URL("../../../../target/page/node_modules/axe-core/axe.min.js", import.meta.url);

/**
 * The violations that axe finds, each with its rule and element.
 * @param {Browser} browser
 * @returns {Promise<string[]>}
 */
const violations = async (browser) => {
  if (await browser.run("return !window.axe")) await browser.run(readFileSync(AXE, "utf8"));
  return browser.run(
    "return axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(" +
      "({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`)))",
  );
};

/** @type {Case} */
const states = (browser) =>
  inEveryState(browser, ["light", "dark", "narrow"], async (name) => {
    assert.deepEqual(await violations(browser), [], name);
  });

/** @type {Case} */
const wrongElement = async (browser) => {
  const server = await mock(answering());
  try {
    await browser.open(server.url);
    await browser.wait("!document.querySelector('#view-query').hidden");
    await browser.run(
      "document.querySelector('#view-query').append(document.createElement('button'))",
    );
    assert.deepEqual(await violations(browser), ["button-name: <button></button>"]);
  } finally {
    server.close();
  }
};

/** All cases by name. */
export const CASES = {
  "axe finds nothing in any state": states,
  "axe finds a button without a name": wrongElement,
};
