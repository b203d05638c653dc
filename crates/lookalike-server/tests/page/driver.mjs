// Drives a real browser with the WebDriver protocol. Needs only chromedriver and Chromium.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/**
 * The arguments of the program: the folder for screenshots, the addresses of two servers, and two
 * tokens for the server at `guarded`.
 * @typedef {{folder: string, open: string, guarded: string, reading: string, writing: string}}
 *   Context
 */

/** @typedef {(browser: Browser, context: Context) => Promise<void>} Case */

const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";
/** Time limit of `wait`, in milliseconds. */
const PATIENCE_MS = 30_000;

/** The codes of keys in the protocol. */
export const KEYS = {
  tab: "\uE004",
  enter: "\uE007",
  escape: "\uE00C",
  space: " ",
  shift: "\uE008",
  control: "\uE009",
  left: "\uE012",
  right: "\uE014",
  down: "\uE015",
  home: "\uE011",
  end: "\uE010",
  pageUp: "\uE00E",
};

/**
 * Waits for a number of milliseconds.
 * @param {number} ms
 * @returns {Promise<void>}
 */
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Starts chromedriver on a free port. */
const launch = async () => {
  const child = spawn("chromedriver", ["--port=0"], { stdio: ["ignore", "pipe", "ignore"] });
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const port = /started successfully on port (\d+)/.exec(line)?.[1];
    if (port) return { child, base: `http://127.0.0.1:${port}` };
  }
  throw new Error("chromedriver has ended before it listened");
};

/** A browser with one tab. */
export class Browser {
  /**
   * @param {import("node:child_process").ChildProcess} child
   * @param {string} base address of the driver
   * @param {string} profile folder of the browser profile
   */
  constructor(child, base, profile) {
    this.child = child;
    this.base = base;
    this.profile = profile;
    /** The number of opened pages. */
    this.opened = 0;
  }

  /** Starts a browser with a profile of its own. */
  static async start() {
    const { child, base } = await launch();
    const browser = new Browser(child, base, mkdtempSync(join(tmpdir(), "lookalike-page-")));
    const args = [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-dev-shm-usage",
      "--hide-scrollbars",
      `--user-data-dir=${browser.profile}`,
    ];
    const { sessionId } = await browser.send("POST", "/session", {
      capabilities: {
        alwaysMatch: {
          "goog:chromeOptions": { args },
          "goog:loggingPrefs": { browser: "ALL" },
        },
      },
    });
    browser.base += `/session/${sessionId}`;
    return browser;
  }

  /**
   * Sends a command to the driver.
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   * @returns {Promise<any>} the value of the answer, whose type depends on the command
   */
  async send(method, path, body) {
    const response = await fetch(this.base + path, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const { value } = await response.json();
    if (value?.error) throw new Error(`${method} ${path}: ${value.error}: ${value.message}`);
    return value;
  }

  /** Ends the browser and deletes its profile. */
  async close() {
    await this.send("DELETE", "").catch(() => {});
    this.child.kill();
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  /**
   * Calls a method of the Chrome DevTools Protocol.
   * @param {string} cmd
   * @param {object} params
   */
  cdp(cmd, params = {}) {
    return this.send("POST", "/goog/cdp/execute", { cmd, params });
  }

  /**
   * Opens an address as a new page, even if only the part after `#` differs from the current
   * address.
   * @param {string} url
   */
  async open(url) {
    this.opened += 1;
    const [page, hash] = url.split(/#(.*)/s);
    const address = `${page}?opened=${this.opened}${hash === undefined ? "" : `#${hash}`}`;
    await this.send("POST", "/url", { url: address });
  }

  /**
   * Runs the body of a function on the page and returns its result. Waits for promises.
   * @param {string} body
   * @param {...unknown} args
   */
  run(body, ...args) {
    return this.send("POST", "/execute/sync", { script: body, args });
  }

  /**
   * Waits until an expression is truthy, and returns its value.
   * @param {string} expression
   * @param {...unknown} args
   */
  async wait(expression, ...args) {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const value = await this.run(`return ${expression}`, ...args);
      if (value) return value;
      if (Date.now() > end) {
        const text = await this.run("return document.body.innerText");
        throw new Error(`never true: ${expression} ${JSON.stringify(args)}; the page:\n${text}`);
      }
      await pause(15);
    }
  }

  /**
   * Waits until the page shows a text. All white space counts as equal.
   * @param {string} text
   */
  see(text) {
    return this.wait(
      "document.body.innerText.replace(/\\s+/g, ' ').includes(arguments[0])",
      text.replace(/\s+/g, " "),
    );
  }

  /** @param {string} selector */
  async find(selector) {
    const found = await this.send("POST", "/element", { using: "css selector", value: selector });
    return found[ELEMENT];
  }

  /**
   * Clicks as a person does. Fails if the element is hidden, or another one covers it.
   * @param {string} selector
   */
  async click(selector) {
    await this.send("POST", `/element/${await this.find(selector)}/click`, {});
  }

  /**
   * Types after the content of a field. For a file field, `text` is the path of the file.
   * @param {string} selector
   * @param {string} text
   */
  async type(selector, text) {
    await this.send("POST", `/element/${await this.find(selector)}/value`, { text });
  }

  /**
   * Replaces the content of a field at once, as pasting does.
   * @param {string} selector
   * @param {string} text
   */
  async paste(selector, text) {
    await this.run(
      "const f = document.querySelector(arguments[0]); f.focus(); " +
        "f.value = arguments[1]; f.dispatchEvent(new Event('input', {bubbles: true}));",
      selector,
      text,
    );
  }

  /**
   * Presses keys one after the other. The keys of an array are pressed in order and released in
   * reverse order.
   * @param {...(string|string[])} keys
   */
  async press(...keys) {
    for (const key of keys) {
      const all = Array.isArray(key) ? key : [key];
      const actions = [
        ...all.map((value) => ({ type: "keyDown", value })),
        ...all.toReversed().map((value) => ({ type: "keyUp", value })),
      ];
      await this.send("POST", "/actions", { actions: [{ type: "key", id: "keys", actions }] });
    }
  }

  /**
   * Sets the size of the window and the colour scheme.
   * @param {number} width
   * @param {number} height
   * @param {"light"|"dark"} scheme
   * @param {boolean} mobile whether the browser behaves like that of a telephone
   */
  async view(width, height, scheme, mobile = false) {
    await this.cdp("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: 1,
      mobile,
    });
    await this.cdp("Emulation.setEmulatedMedia", {
      media: "",
      features: [{ name: "prefers-color-scheme", value: scheme }],
    });
  }

  /**
   * Saves a screenshot of the whole page.
   * @param {string} path
   */
  async picture(path) {
    const { data } = await this.cdp("Page.captureScreenshot", { captureBeyondViewport: true });
    writeFileSync(path, Buffer.from(data, "base64"));
  }

  /**
   * The errors and warnings that the browser has logged since the last call.
   * @returns {Promise<string[]>}
   */
  async complaints() {
    /** @type {{level: string, message: string}[]} */
    const entries = await this.send("POST", "/se/log", { type: "browser" });
    return entries
      .filter(({ level }) => level === "SEVERE" || level === "WARNING")
      .map(({ message }) => message);
  }
}
