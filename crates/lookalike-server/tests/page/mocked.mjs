// Tests the page with a mock server, which can be put into any state: each function of the page, by
// mouse and keyboard, and its messages for errors.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import {
  answering,
  comparison,
  groups,
  HOSTILE,
  LARGE_GROUP,
  match,
  MOVED,
  STRETCHES,
  words,
} from "./api.mjs";
import { findings } from "./access.mjs";
import { KEYS, pause } from "./driver.mjs";
import { mock, refusal, SETTINGS } from "./mock.mjs";

/** @import { Browser, Case } from "./driver.mjs" */
/** @import { Conflict, Difference } from "../../src/page/client/types.js" */
/** @import { NewDecision, ServedIndex, StoredDecision } from "../../src/page/client/types.js" */
/** @import { Act, Call, MockServer, Reply } from "./mock.mjs" */

const TEXT = "The meeting was held on Monday in the large hall.";
const visibleText = "document.querySelector('main > section:not([hidden])').innerText";
const focused =
  "document.activeElement.id || document.activeElement.className || " +
  "document.activeElement.tagName";

/**
 * @param {Browser} browser
 * @param {string} text
 */
const search = async (browser, text = TEXT) => {
  await browser.paste("#query-text", text);
  await browser.click("#query-form .main");
};

/**
 * Asserts that `access.mjs` finds nothing in windows of these widths and colour schemes.
 * @param {Browser} browser
 * @param {[number, "light"|"dark"][]} views
 */
export const hasNoFindings = async (
  browser,
  views = [
    [1280, "light"],
    [390, "dark"],
  ],
) => {
  for (const [width, scheme] of views) {
    await browser.view(width, 800, scheme);
    assert.deepEqual(await findings(browser), [], `${width} ${scheme}`);
  }
};

/**
 * Starts a mock, runs a case, and asserts that no markup of the data ran and that the browser
 * logged no errors.
 * @param {Record<string, Act>} special
 * @param {(browser: Browser, server: MockServer) => Promise<void>} act
 * @returns {(browser: Browser) => Promise<void>}
 */
export const withMock = (special, act) => async (browser) => {
  const server = await mock(answering(special));
  try {
    await browser.complaints();
    await browser.open(server.url);
    await act(browser, server);
    assert.equal(await browser.run("return window.hacked"), null);
    assert.equal(
      await browser.run("return document.querySelectorAll('script,main img').length"),
      1,
      "nothing has become an element that should be a text",
    );
    // The browser logs each failed request.
    const problems = (await browser.complaints()).filter(
      (line) => !line.includes("Failed to load resource"),
    );
    assert.deepEqual(problems, []);
  } finally {
    server.close();
    await browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: false });
    await browser.view(1280, 900, "light");
  }
};

const searching = withMock({}, async (browser, server) => {
  await browser.wait("document.querySelector('#query-threshold').value === '0.8'");
  await search(browser);
  await browser.see("5 documents have a similarity of 0.8 or more, the 3 most similar ones below");
  const requested = server.last("/v1/query").body;
  assert.deepEqual(requested, { text: TEXT, threshold: 0.8, top: 10, beginning: 160 });
  const first = await browser.run("return document.querySelector('.match').innerText");
  for (const part of [
    "0.963211",
    "letters/press-release final.txt",
    "1.83 kilobytes",
    "240 of its 262 shingles",
    "language",
    "en",
  ]) {
    assert.ok(first.includes(part), first);
  }
  const width = "return document.querySelector('.match rect:last-child').getAttribute('width')";
  assert.equal(await browser.run(width), "96.32");

  // The chosen match is shown side by side. Back restores the list, with the focus on the match.
  await browser.click(".match .button");
  await browser.see("The texts differ in 3 places.");
  const compared = server.last("/v1/compare").body;
  assert.deepEqual(compared, {
    a: { text: TEXT },
    b: { id: "letters/press-release final.txt" },
    differences: true,
  });
  assert.equal(await browser.run(`return ${focused}`), "compare-title");
  await browser.run("history.back()");
  await browser.wait("!document.querySelector('#view-query').hidden");
  assert.equal(
    await browser.run("return document.activeElement.textContent"),
    "Show the differences to letters/press-release final.txt",
  );
  assert.equal(await browser.run("return document.querySelector('#query-text').value"), TEXT);
  assert.equal(server.calls.filter(({ path }) => path === "/v1/query").length, 1);

  // A comparison of another text with the same document is requested again.
  await search(browser, "Another text.");
  await browser.wait("document.querySelectorAll('.match').length === 3");
  await browser.click(".match .button");
  await browser.see("The texts differ in 3 places.");
  await browser.wait("true");
  assert.equal(server.last("/v1/compare").body.a.text, "Another text.");
});

const knownPassages = withMock({}, async (browser, server) => {
  await search(browser);
  await browser.see("Known passages of your text");
  assert.equal(server.calls.filter(({ path }) => path === "/v1/passages").length, 0);
  await browser.click("#passages-form button");
  await browser.see(
    "1 known passage in 12 documents; 100 documents compared word by word. " +
      "Some documents are not compared yet.",
  );
  const requested = () => server.last("/v1/passages").body;
  assert.deepEqual(requested(), { text: TEXT, min_words: 20 });
  assert.equal(
    await browser.run("return document.querySelector('.known .excerpt').textContent"),
    "meeting was held on Monday in",
  );
  const places = "return Array.from(document.querySelectorAll('.known li'), li => li.textContent)";
  assert.deepEqual((await browser.run(places)).slice(1), ["letters/copy.txt", "and 10 more"]);
  await browser.click("#passages .buttons button");
  await browser.see("1 known passage in 13 documents; 200 documents compared word by word.");
  assert.deepEqual(requested(), { text: TEXT, min_words: 20, after: "100" });
  assert.ok(!(await browser.run("return !!document.querySelector('#passages .buttons')")));
  // A query by id has no passages.
  await browser.type("#query-id", "a");
  await browser.click("#id-form button");
  await browser.see("Similar to a");
  assert.ok(!(await browser.run("return !!document.querySelector('#passages')")));
});

const noPassages = withMock(
  {
    "GET /v1/settings": () => ({ json: { ...SETTINGS, store: "sets" } }),
  },
  async (browser) => {
    await search(browser);
    await browser.wait("document.querySelectorAll('.match').length === 3");
    assert.ok(!(await browser.run("return !!document.querySelector('#passages')")));
  },
);

const searchingById = withMock({}, async (browser, server) => {
  await browser.wait("document.querySelector('#query-threshold').value === '0.8'");
  await browser.type("#query-id", "a/b ?#&=%.txt");
  await browser.click("#id-form button");
  await browser.wait("document.querySelectorAll('.match').length === 3");
  const requested = () => server.last("/v1/query").body;
  assert.deepEqual(requested(), { id: "a/b ?#&=%.txt", threshold: 0.8, top: 10, beginning: 160 });
  // The address leads to the same result in another window.
  const hash = await browser.run("return location.hash");
  await browser.open(server.url + hash);
  await browser.wait("document.querySelectorAll('.match').length === 3");
  assert.equal(requested().id, "a/b ?#&=%.txt");
  const link = await browser.run("return document.querySelector('.match .button').hash");
  assert.equal(new URLSearchParams(link.split("?")[1]).get("a"), "a/b ?#&=%.txt");

  // The search of a text has the address `#/`. Back returns to the search by id, Forward to that of
  // the text.
  await search(browser);
  await browser.see("Similar to your text");
  assert.equal(await browser.run("return location.hash"), "#/");
  await browser.run("history.back()");
  await browser.see("Similar to a/b ?#&=%.txt");
  await browser.run("history.forward()");
  await browser.see("Similar to your text");
});

/**
 * A query by similarity finds nothing. A query for the nearest documents finds as many as
 * requested.
 * @type {Record<string, Act>}
 */
const NOTHING = {
  "POST /v1/query": ({ body }) => ({
    json:
      body.nearest === undefined
        ? {
            matches: [],
            found: 0,
            candidates: 1,
            shingles: (body.text ?? "text").length > 3 ? 9 : 0,
            threshold: body.threshold,
            predicted_recall: 0.41,
          }
        : {
            matches: Array.from({ length: body.nearest }, (_, at) =>
              match(`near-${at}`, 0.5 - at / 10),
            ),
            found: body.nearest,
            candidates: 9,
            shingles: 9,
            nearest: body.nearest,
            predicted_recall: 0.9,
          },
  }),
};

const nothingFound = withMock(NOTHING, async (browser, server) => {
  await search(browser);
  await browser.see(
    "Nothing in the index has a similarity of 0.8 or more; 1 document was compared.",
  );
  await browser.see("The index is made for more similar documents.");
  // The page shows the nearest three documents and known passages without a click.
  await browser.see("The nearest documents");
  const nearest =
    "return Array.from(document.querySelectorAll('#nearest .match-id'), " +
    "one => one.textContent)";
  assert.deepEqual(await browser.run(nearest), ["near-0", "near-1", "near-2"]);
  await browser.see("1 known passage in 12 documents");
  assert.deepEqual(server.last("/v1/query").body, {
    text: TEXT,
    nearest: 3,
    beginning: 160,
  });
  await hasNoFindings(browser);
  await browser.view(1280, 900, "light");
  await search(browser, "!!!");
  await browser.see("The text contains no word");
  assert.deepEqual(await browser.run(nearest), []);
  await search(browser, "  ");
  await browser.see("Type or paste a text");
  assert.equal(await browser.run(`return ${focused}`), "query-text");
  // A query by id also has nearest documents, but no passages.
  await browser.type("#query-id", "a");
  await browser.click("#id-form button");
  await browser.see("The nearest documents");
  assert.ok(!(await browser.run("return !!document.querySelector('#passages')")));
});

const CAVEAT = "the predicted recall does not hold for the scheme xor";

/** If the predicted recall does not hold, the page says so. */
const recallCaveat = withMock(
  {
    "GET /v1/settings": () => ({ json: { ...SETTINGS, scheme: "xor", recall_caveat: CAVEAT } }),
    "POST /v1/query": ({ body }) => ({
      json: {
        matches: [match("found", 0.9)],
        found: 1,
        candidates: 1,
        shingles: 9,
        threshold: body.threshold,
        predicted_recall: 0.99,
        recall_caveat: CAVEAT,
      },
    }),
  },
  async (browser, server) => {
    await search(browser);
    await browser.see(`with a higher probability. But ${CAVEAT}.`);
    await browser.open(`${server.url}#/index`);
    await browser.see(`Results can be incomplete: ${CAVEAT}.`);
    const text = await browser.run(`return ${visibleText}`);
    assert.ok(!text.includes("with a probability of"), text);
  },
);

const byKeyboard = withMock({}, async (browser) => {
  /** @param {string} expected */
  const on = async (expected) => assert.equal(await browser.run(`return ${focused}`), expected);
  await browser.press(KEYS.tab);
  await on("skip");
  await browser.press(KEYS.enter);
  await on("query-title");
  assert.equal(await browser.run("return location.hash"), "");
  await browser.press(KEYS.tab);
  await on("query-text");
  const outline = await browser.run(
    "return getComputedStyle(document.activeElement).outlineStyle + " +
      "getComputedStyle(document.activeElement).outlineWidth",
  );
  assert.equal(outline, "solid3px", "the focus is seen");
  await browser.press("H", "i", [KEYS.control, KEYS.enter]);
  await browser.wait("document.querySelectorAll('.match').length === 3");
  await on("query-text");
  // Tab leads to the first match.
  for (let i = 0; i < 12; i += 1) {
    await browser.press(KEYS.tab);
    if (await browser.run("return document.activeElement.matches('.match .button')")) break;
  }
  await browser.press(KEYS.enter);
  await browser.see("The texts differ in 3 places.");
  await on("compare-title");
  // A key opens the folded part.
  for (let i = 0; i < 9; i += 1) {
    await browser.press(KEYS.tab);
    if (await browser.run("return document.activeElement.matches('.fold summary')")) break;
  }
  await browser.press(KEYS.enter);
  await browser.wait("document.querySelector('.fold[open] .text')");

  // Opens a group, chooses two documents, and compares them.
  await browser.run("document.querySelector('nav [data-view=groups]').focus()");
  await browser.press(KEYS.enter);
  await browser.wait("document.querySelectorAll('.group').length === 50");
  await on("groups-title");
  for (let i = 0; i < 4; i += 1) {
    await browser.press(KEYS.tab);
    if (await browser.run("return document.activeElement.matches('.group summary')")) break;
  }
  await browser.press(KEYS.enter);
  await browser.wait("document.querySelector('.group[open] .members')");
  await browser.press(KEYS.tab, KEYS.space, KEYS.tab, KEYS.tab, KEYS.space);
  await browser.see("2 documents chosen.");
  await browser.run("document.querySelector('.choose button').focus()");
  await browser.press(KEYS.enter);
  await browser.wait("location.hash.startsWith('#/compare?a=group-0')");
});

const sideBySide = withMock({}, async (browser, server) => {
  await browser.open(`${server.url}#/compare?a=letters%2Fa.txt&b=b`);
  await browser.see("The texts differ in 3 places.");
  /** @type {[string, string][]} */
  const rows = await browser.run(
    "return Array.from(document.querySelectorAll('.rows > .row'), " +
      "row => Array.from(row.children, cell => cell.innerHTML.replaceAll(/ data-place=\"\\d+\"/g, '')))",
  );
  const changed = rows.find(([left]) => left.includes("Monday")) ?? ["", ""];
  assert.ok(changed[0].endsWith("held on <del>Monday</del> in the large hall.\n"), changed[0]);
  assert.ok(changed[1].endsWith("held on <ins>Thursday</ins> in the large hall.\n"), changed[1]);
  assert.deepEqual(
    rows.find(([, right]) => right.includes("Nobody")),
    ["", "<ins>Nobody had to stand.</ins>\n"],
    "a new line is next to nothing",
  );
  assert.deepEqual(rows.at(-1), ["<del>The board</del>", ""]);
  const marks = await browser.run(
    "return ['del', 'ins'].map(tag => getComputedStyle(" +
      "document.querySelector('.rows ' + tag)).textDecorationLine)",
  );
  assert.deepEqual(marks, ["line-through", "underline"], "marked by more than colour");

  // The columns contain both texts completely once the folded parts are open.
  await browser.run("document.querySelectorAll('.fold').forEach(fold => { fold.open = true; })");
  await browser.wait("document.querySelectorAll('.fold .text').length === 2");
  const sides = await browser.run(
    "return ['.first', '.second'].map(side => " +
      "Array.from(document.querySelectorAll(`.rows ${side}, .rows .text`), part => " +
      "part.textContent).join(' '))",
  );
  /** @param {"a"|"b"} only */
  const expected = (only) =>
    STRETCHES.filter(({ kind }) => kind === "same" || kind === only)
      .map(({ text }) => text)
      .join("")
      .match(/\S+/g);
  assert.deepEqual(sides[0].match(/\S+/g), expected("a"));
  assert.deepEqual(sides[1].match(/\S+/g), expected("b"));
});

/** Equal words with other case, punctuation or white space are shown as each text writes them. */
const sameWords = withMock(
  {
    "POST /v1/compare": () => ({
      json: comparison([
        { kind: "same", text: "paid " },
        { kind: "a", text: "FOR -", same_words: true },
        { kind: "b", text: "for ", same_words: true },
        { kind: "same", text: "5" },
        { kind: "a", text: ".", same_words: true },
        { kind: "b", text: ",", same_words: true },
        { kind: "same", text: "20 EUR" },
        { kind: "b", text: "\n", same_words: true },
      ]),
    }),
  },
  async (browser, server) => {
    await browser.open(`${server.url}#/compare?a=a&b=b`);
    await browser.see(
      "The words are equal; 3 places with the same words written differently (case 3).",
    );
    const row = await browser.run(
      "return Array.from(document.querySelector('.rows > .row').children, " +
        "cell => cell.textContent)",
    );
    assert.deepEqual(row, ["paid FOR -5.20 EUR", "paid for 5,20 EUR\n"]);
    const marks = await browser.run(
      "return Array.from(document.querySelectorAll('.rows del, " +
        ".rows ins'), mark => [mark.tagName, mark.className, mark.textContent])",
    );
    assert.deepEqual(marks, [
      ["DEL", "same-words", "FOR -"],
      ["DEL", "same-words", "."],
      ["INS", "same-words", "for "],
      ["INS", "same-words", ","],
      ["INS", "white", "\n"],
    ]);
    const lighter = await browser.run(
      "return getComputedStyle(document.querySelector('.rows ins'))" + ".textDecorationStyle",
    );
    assert.equal(lighter, "dotted");
  },
);

/** White space is not marked, and its differences are not visited, until the user asks for both. */
const whiteSpace = withMock(
  {
    "POST /v1/compare": () => ({
      json: comparison([
        { kind: "a", text: "one\ntwo", same_words: true },
        { kind: "b", text: "one two", same_words: true },
        { kind: "same", text: " and then " },
        { kind: "a", text: "Monday" },
        { kind: "b", text: "Thursday" },
        { kind: "same", text: " came" },
        { kind: "b", text: "\n", same_words: true },
      ]),
    }),
  },
  async (browser, server) => {
    await browser.open(`${server.url}#/compare?a=a&b=b`);
    await browser.see("The texts differ in 1 place");
    const status = () =>
      browser.run("return document.querySelector('.walk [role=status]').textContent");
    await browser.press("f");
    assert.match(await status(), /^Difference 1 of 1: “Monday”/);
    const colours = () =>
      browser.run(
        "return ['.rows del.white', '.rows .side'].map(one => " +
          "getComputedStyle(document.querySelector(one)).color)",
      );
    const [plain, ink] = await colours();
    assert.equal(plain, ink);
    await browser.click(".walk [aria-pressed]");
    const [marked] = await colours();
    assert.notEqual(marked, ink);
    await browser.press("b");
    assert.match(await status(), /^Difference 1 of 3: /);
    await browser.press("f", "f");
    assert.equal(await status(), "Difference 3 of 3.");
    await hasNoFindings(browser);
    await browser.view(1280, 900, "light");
    await browser.click(".walk [aria-pressed]");
  },
);

/** Texts have their own direction, which does not affect the ids and numbers around them. */
const rightToLeft = withMock(
  {
    "POST /v1/compare": () => ({
      json: comparison([
        { kind: "same", text: "הישיבה התקיימה ביום " },
        { kind: "a", text: "שני" },
        { kind: "b", text: "Thursday" },
      ]),
    }),
  },
  async (browser, server) => {
    await browser.open(`${server.url}#/compare?a=${encodeURIComponent("מכתב.txt")}&b=b`);
    await browser.see("The texts differ in 1 place.");
    const ways =
      "return ['.rows .first', '.heads bdi', '#compare-a', '#compare-b', 'main']" +
      ".map(one => getComputedStyle(document.querySelector(one)).direction)";
    assert.deepEqual(await browser.run(ways), ["rtl", "rtl", "rtl", "ltr", "ltr"]);
  },
);

const noDifferences = withMock(
  {
    "POST /v1/compare": ({ body }) => ({
      json:
        body.a.id === "same"
          ? comparison([{ kind: "same", text: "equal words" }])
          : comparison(undefined, { differences_missing: "the index keeps signatures only" }),
    }),
  },
  async (browser, server) => {
    await browser.open(`${server.url}#/compare?a=a&b=b`);
    await browser.see("The page cannot show the differences: the index keeps signatures only.");
    await browser.open(`${server.url}#/compare?a=same&b=b`);
    await browser.see("The texts are equal.");
    await browser.open(`${server.url}#/compare?b=b`);
    await browser.see("The address does not contain the text that you searched.");
  },
);

const largeTexts = withMock(
  {
    "POST /v1/compare": ({ body }) => {
      /** @type {Difference[]} */
      const stretches = [];
      for (let i = 0; i < 3_000; i += 1) {
        stretches.push(
          { kind: "same", text: words(9, `s${i}-`) },
          { kind: "a", text: ` old${i} ` },
          { kind: "b", text: ` new${i} ` },
        );
      }
      /** @type {Difference[]} */
      const longStretches = [
        { kind: "a", text: words(50_000, "a") },
        { kind: "b", text: "b" },
        { kind: "same", text: words(50_000, "c") },
      ];
      return { json: comparison(body.a.id === "one" ? longStretches : stretches) };
    },
    "GET /v1/documents/long": () => ({
      json: {
        id: "long",
        bytes: 1,
        shingles: 1,
        metadata: {},
        added: "2026-11-20T10:00:00Z",
        group_size: 3,
        text: words(50_000, "w"),
      },
    }),
  },
  async (browser, server) => {
    const drawn = "return document.querySelector('.rows').textContent.length";
    await browser.open(`${server.url}#/compare?a=many&b=b`);
    await browser.see("The texts differ in 3,000 places.");
    assert.ok((await browser.run(drawn)) < 60_000, "a part at first");
    await browser.click(".rows .buttons button:first-child");
    assert.ok((await browser.run(drawn)) < 120_000, "a part more");
    assert.ok(await browser.run("return document.activeElement.matches('.rows > .row')"));
    assert.deepEqual(await findings(browser), []);
    await browser.click(".rows .buttons button:last-child");
    await browser.wait("!document.querySelector('.rows .buttons')");
    const marks =
      "return [document.querySelectorAll('.rows del').length, " +
      "document.querySelectorAll('.rows ins').length]";
    assert.deepEqual(await browser.run(marks), [3_000, 3_000]);

    await browser.open(`${server.url}#/compare?a=one&b=b`);
    await browser.see("The texts differ in 1 place.");
    assert.ok((await browser.run(drawn)) < 60_000);
    await browser.click(".rows .buttons button:last-child");
    await browser.wait("!document.querySelector('.rows .buttons')");
    const old = await browser.run(
      "return Array.from(document.querySelectorAll('.rows del'), " +
        "part => part.textContent).join(' ').split(/\\s+/).length",
    );
    assert.equal(old, 50_000);

    await browser.open(`${server.url}#/document?id=long`);
    await browser.see("Show all");
    await browser.see("Represents");
    await browser.see("3 documents");
    await browser.click(".text .buttons button:last-child");
    await browser.wait("!document.querySelector('.text .buttons')");
    const all = await browser.run(
      "return Array.from(document.querySelectorAll('.text .pre'), " +
        "part => part.textContent).join('').split(' ').length",
    );
    assert.equal(all, 50_000);
  },
);

const grouped = withMock({}, async (browser, server) => {
  await browser.open(`${server.url}#/groups`);
  await browser.see("120 groups with 360 duplicates among 12,345 documents, here 1 to 50.");
  await browser.click(".group summary");
  await browser.wait("document.querySelectorAll('.members tbody tr').length === 4");
  const rows = await browser.run(
    "return Array.from(document.querySelectorAll('.members tbody " +
      "tr'), row => row.innerText.replace(/\\s+/g, ' '))",
  );
  const keeper = /letter.txt\s*Keeper post The letter number 0, .* like this. 2.00 kilobytes/;
  assert.ok(keeper.test(rows[0]), rows[0]);
  const copy = /copy-1.txt Copy 1 mail pages:? ?1 0.967500 1.99 kilobytes Compare/;
  assert.ok(copy.test(rows[2]), rows[2]);

  // The user can compare any two documents, but not one.
  await browser.click(".members tr:nth-child(2) input");
  await browser.click(".choose button");
  await browser.see("Choose two documents; you chose 1.");
  await browser.click(".members tr:nth-child(3) input");
  await browser.click(".choose button");
  await browser.see("The texts differ in 3 places.");
  assert.deepEqual(server.last("/v1/compare").body.b, {
    id: "group-0/copy-1.txt",
  });
  await browser.run("history.back()");
  await browser.wait("document.querySelectorAll('.group[open] input:checked').length === 2");

  // Pages forward, and back with the link and with the history.
  await browser.run("[...document.querySelectorAll('.pages a')].at(-1).click()");
  await browser.see("here 51 to 100.");
  await browser.run("[...document.querySelectorAll('.pages a')].at(-1).click()");
  await browser.see("here 101 to 120.");
  const links = await browser.run(
    "return [...document.querySelectorAll('.pages a')]" + ".map(a => a.textContent)",
  );
  assert.deepEqual(links, ["First", "Previous"]);
  await browser.run("document.querySelectorAll('.pages a')[1].click()");
  await browser.see("here 51 to 100.");
  await browser.run("history.back()");
  await browser.see("here 101 to 120.");
  await browser.type("#groups-threshold", "0.9");
  await browser.click("#view-groups form button");
  await browser.see("here 1 to 50.");
  assert.equal(server.last().query.get("threshold"), "0.9");
});

const categories = withMock({}, async (page, server) => {
  const documents = () => server.last("/v1/documents").query;
  await page.open(`${server.url}#/categories`);
  await page.see("1,989 documents in 2 topics.");
  await page.see("1 window, motif, server");
  assert.ok(!server.calls.some(({ path }) => path === "/v1/documents"));
  await page.click("#view-categories tbody a");
  await page.see("Category 1: window, motif, server");
  await page.wait("document.querySelectorAll('#view-categories table').length === 2");
  assert.equal(documents().get("category"), "1");
  await page.click("#view-categories .pages a");
  await page.wait("document.querySelector('#view-categories .pages a')?.textContent === 'First'");
  assert.equal(documents().get("after"), "50");
  await page.run("location.hash = '#/categories?path=1.1'");
  await page.see("Up to category 1");
  await page.run("location.hash = '#/categories?path=none'");
  await page.see("Documents in no category");
  assert.equal(documents().get("category"), "none");
  await page.open(`${server.url}#/document?id=a`);
  await page.wait("document.querySelector('#view-document a[href=\"#/categories?path=1.1\"]')");
  // A telephone shows the longest label completely.
  const label = Array.from({ length: 5 }, (_, at) => `${"word".repeat(9)}-${at}xy`);
  const long = {
    "GET /v1/categories": () => ({
      json: {
        model: 3,
        without_category: 0,
        categories: [{ path: "1", parent: null, level: 0.2, label, documents: 2_154 }],
      },
    }),
  };
  await withMock(long, async (other, server) => {
    await other.view(390, 844, "light");
    await other.open(`${server.url}#/categories`);
    await other.wait("document.querySelector('.category-label')");
    assert.ok(
      await other.run(
        `const shown = document.querySelector('.category-label');
      const boxes = Array.from(shown.getClientRects()), clipped = (element) => element !== null &&
        (element.scrollHeight > element.clientHeight + 1 && getComputedStyle(element).overflowY !==
        "visible" || clipped(element.parentElement));
      return boxes.every(({ left, right }) => left >= 0 && right <= 390) &&
        !clipped(shown.closest("tr")) && shown.innerText === arguments[0]`,
        label.join(", "),
      ),
    );
    await hasNoFindings(other, [[390, "light"]]);
  })(page);
  const none = {
    "GET /v1/categories": () => ({ json: { categories: [], model: null, without_category: 0 } }),
  };
  await withMock(none, async (other, empty) => {
    await other.open(`${empty.url}#/categories`);
    await other.see("The index has no categories.");
  })(page);
});

/** @type {Case} */
const groupStates = async (browser) => {
  let state = "pending";
  let requestCount = 0;
  const answer = () => {
    requestCount += 1;
    if (state === "pending" && requestCount > 2) state = "stale";
    if (state === "pending") {
      return { status: 202, json: { status: "pending", retry_after: 1, detail: "not yet" } };
    }
    const found = state === "none" ? [] : groups(0, 1, 250);
    return {
      json: {
        groups: found,
        groups_total: found.length,
        duplicates_total: found.length * 250,
        documents: 9,
        version: 1,
        stale: state === "stale",
        documents_changed: state === "stale",
      },
    };
  };
  await withMock({ "GET /v1/groups": answer }, async (page, server) => {
    await page.open(`${server.url}#/groups`);
    await page.see("The server computes the groups.");
    await page.see("The index has changed since the server computed these groups.");
    assert.equal(requestCount, 3);
    state = "fresh";
    await page.click("#view-groups .warning button");
    await page.wait("!document.querySelector('#view-groups .warning')");
    assert.equal(await page.run(`return ${focused}`), "groups-title");
    // A large group is shown in parts.
    await page.wait("document.querySelector('.group summary')");
    await page.click(".group summary");
    await page.wait("document.querySelectorAll('.members tbody tr').length === 101");
    await page.click(".opened > button");
    await page.wait("document.querySelectorAll('.members tbody tr').length === 251");
    state = "none";
    await page.click("#view-groups form button");
    await page.see("The 9 documents of the index have no near-duplicates.");
  })(browser);
};

const theIndex = withMock(
  {
    // A double cannot represent this seed exactly.
    "GET /v1/settings": () => ({
      text: JSON.stringify(SETTINGS).replace('"seed":1', '"seed":18446744073709551615'),
    }),
  },
  async (browser, server) => {
    await browser.open(`${server.url}#/index`);
    await browser.see("12,345");
    await browser.see("found with a probability of 99.83 %");
    const points = await browser.run(
      "return document.querySelector('.curve')" +
        ".getAttribute('points').split(' ').map(point => point.split(',').map(Number))",
    );
    assert.equal(points.length, 201);
    for (const [step, [x, y]] of points.entries()) {
      const s = step / 200;
      const chance = 1 - (1 - s ** SETTINGS.rows) ** SETTINGS.bands;
      assert.ok(
        Math.abs(x - (50 + s * 418)) < 0.06 && Math.abs(y - (266 - chance * 236)) < 0.06,
        `${step}: ${x} ${y}`,
      );
    }
    const mark = await browser.run("return document.querySelector('.mark').getAttribute('cx')");
    assert.equal(Number(mark), 384.4);
    for (const part of [
      "words:5",
      "differences can be shown",
      "State of the index: 42",
      "18446744073709551615",
    ]) {
      await browser.see(part);
    }
  },
);

const hostile = withMock(
  {
    "GET /v1/settings": () => ({
      json: { ...SETTINGS, name: HOSTILE, wording: HOSTILE, [HOSTILE]: HOSTILE },
    }),
    "POST /v1/compare": () => ({
      json: comparison([
        { kind: "same", text: HOSTILE },
        { kind: "a", text: HOSTILE },
        { kind: "b", text: HOSTILE },
      ]),
    }),
    "GET /v1/groups": () => {
      const found = groups(0, 1, 1);
      for (const member of [found[0].keeper, found[0].duplicates[0]]) {
        member.id = HOSTILE;
        member.metadata = { [HOSTILE]: HOSTILE };
      }
      return {
        json: { groups: found, groups_total: 1, duplicates_total: 1, documents: 2, version: 1 },
      };
    },
    "DELETE *": () => refusal(400, HOSTILE, HOSTILE),
  },
  async (browser) => {
    const displayed = HOSTILE.replace("\u202e", "\\u{202e}");
    await search(browser);
    await browser.see(displayed);
    const named = await browser.run("return document.querySelectorAll('.match-id')[2].hash");
    assert.ok(named.startsWith("#/document?id="), "every link stays on the page");
    await browser.run("document.querySelectorAll('.match .button')[2].click()");
    await browser.see("The texts differ in 1 place.");
    const old = await browser.run("return document.querySelector('.rows del').textContent");
    assert.equal(old, HOSTILE, "texts are as they are");
    await browser.run("location.hash = '#/groups'");
    await browser.wait("document.querySelector('.group summary')");
    await browser.click(".group summary");
    await browser.see(displayed);
    await browser.run(
      "location.hash = arguments[0]",
      `#/document?id=${encodeURIComponent(HOSTILE)}`,
    );
    await browser.see(displayed);
    await browser.see("text299");
    await browser.click("#view-document button.danger");
    await browser.click("#confirm-yes");
    await browser.see(`The server says: ${HOSTILE.replace("\u202e", "").slice(0, 30)}`);
    await browser.run("location.hash = '#/index'");
    await browser.see(displayed);
    for (const hash of [
      `#/${HOSTILE}`,
      `#/compare?a=${encodeURIComponent(HOSTILE)}&b=x`,
      "#/groups?from=<b>&after=%00",
      "#/document",
      "#/document?id=..",
      "#/?id=%F0%28",
    ]) {
      await browser.run("location.hash = arguments[0]", hash);
      await browser.wait(`${visibleText}.length > 20 && !${visibleText}.includes('Loading')`);
    }
  },
);

/** @type {Case} */
const tokens = async (browser) => {
  /** @type {(act: Act) => Act} */
  const guarded = (act) => (call) =>
    call.token === "Bearer right"
      ? act(call)
      : refusal(401, "token-needed", "a token is needed", { "WWW-Authenticate": "Bearer" });
  const healthy = answering();
  const all = ["GET /v1/settings", "GET /v1/stats", "POST /v1/query", "GET /v1/groups"];
  const special = Object.fromEntries(all.map((name) => [name, guarded(healthy)]));
  await withMock(special, async (page, server) => {
    /** @param {string} token */
    const type = async (token) => {
      await page.wait("document.querySelector('#token').open");
      assert.equal(await page.run(`return ${focused}`), "token-value");
      await page.type("#token-value", token);
      await page.press(KEYS.enter);
    };
    // The user cancels: the page stays, and keeps the typed text.
    await page.wait("document.querySelector('#token').open");
    await page.press(KEYS.escape);
    await page.wait("!document.querySelector('#token').open");
    await page.paste("#query-text", TEXT);
    await page.click("#query-form .main");
    await page.wait("document.querySelector('#token').open");
    await page.click("#token-cancel");
    await page.see("The server requires a token");
    assert.equal(await page.run("return document.querySelector('#query-text').value"), TEXT);
    await page.click("#query-results .problem button");
    await type("wrong");
    await page.see("The server does not know this token.");
    await type("right");
    await page.wait("document.querySelectorAll('.match').length === 3");
    await page.wait("document.querySelector('#place').textContent === 'letters.lookalike'");
    assert.equal(server.calls.filter(({ token }) => token === "Bearer wrong").length > 0, true);

    // The token is kept for this tab only, and removed on request.
    const kept = await page.run(
      "return [sessionStorage.length, localStorage.length, " +
        "document.cookie, location.href.includes('right')]",
    );
    assert.deepEqual(kept, [1, 0, "", false]);
    await page.open(`${server.url}#/groups`);
    await page.wait("document.querySelectorAll('.group').length === 50");
    await page.click("#forget");
    await page.wait("document.querySelector('#token').open");
    assert.equal(await page.run("return sessionStorage.length"), 0);
    await page.press(KEYS.escape);
    await page.wait("!document.querySelector('#token').open");
  })(browser);
};

/** @type {Case} */
const refusals = async (browser) => {
  /** @type {Reply|null} */
  let next = null;
  /** @type {Record<string, Act>} */
  const special = { "POST /v1/query": (call) => next ?? answering()(call) };
  await withMock(special, async (page, server) => {
    /** @type {[Reply, string[]][]} */
    const cases = [
      [
        refusal(413, "body-too-large", "it has 70 MB, 64 MiB are taken"),
        ["longer than the server accepts", "lookalike query INDEX FILE", "it has 70 MB"],
      ],
      [
        refusal(429, "busy", "32 requests wait", { "Retry-After": "7" }),
        ["Too many requests", "Try again in 7 seconds."],
      ],
      [
        refusal(503, "busy", "the queue is full", { "Retry-After": "1" }),
        ["The server is busy", "Try again in 1 second."],
      ],
      [refusal(503, "timeout", "30 s are over"), ["The request took too long", "30 s are over"]],
      [
        refusal(403, "read-only-token", "no"),
        ["The token does not permit this", "Forget the token"],
      ],
      [
        refusal(404, "unknown-document", "no document has this id"),
        ["The index has no document with this id", "no document has this id"],
      ],
      [
        refusal(400, "threshold", "expected more than 0 and at most 1, got 7"),
        ["The server rejected the request", "got 7"],
      ],
      [refusal(500, "", "broken"), ["The server failed"]],
      [{ status: 502, json: "a proxy" }, ["The server failed"]],
      [{ status: 200 }, ["The answer is not from lookalike"]],
    ];
    await page.wait("document.querySelector('#query-threshold').value === '0.8'");
    for (const [answer, expected] of cases) {
      next = answer;
      await search(page);
      await page.wait("document.querySelector('#query-results [role=alert]')");
      for (const part of expected) await page.see(part);
      assert.equal(await page.run("return document.querySelector('#query-text').value"), TEXT);
      // The retry removes the error, so that the next iteration cannot find it.
      next = null;
      await page.click("#query-results .problem button");
      await page.wait("document.querySelectorAll('.match').length === 3");
      assert.equal(await page.run(`return ${focused}`), "query-title");
    }
    server.close();
    await search(page);
    await page.see("The server does not answer");
    assert.equal(await page.run("return document.querySelector('#query-text').value"), TEXT);
  })(browser);
};

/**
 * The page shows the answer of the later of two searches, even if the earlier one ends last.
 * @type {Case}
 */
const lateAnswers = async (browser) => {
  let release = () => {};
  /** @type {Promise<void>} */
  const pending = new Promise((done) => {
    release = done;
  });
  await withMock(
    {
      "POST /v1/query": ({ body }) => ({
        after: body.text === "slow" ? pending : undefined,
        json: {
          matches: [match(`for ${body.text}`, 0.9)],
          found: 1,
          candidates: 1,
          shingles: 9,
          threshold: 0.8,
          predicted_recall: 0.99,
        },
      }),
    },
    async (page) => {
      await search(page, "slow");
      await page.see("Searching …");
      await search(page, "quick");
      await page.see("for quick");
      release();
      await pause(100);
      assert.ok(!(await page.run(`return ${visibleText}`)).includes("for slow"));
    },
  )(browser);
};

/** @type {Case} */
const writing = async (browser) => {
  const stored = new Map([["taken", "old"]]);
  /** @param {Call} call */
  const id = (call) => decodeURIComponent(call.path.slice("/v1/documents/".length));
  await withMock(
    {
      "PUT *": (call) => {
        const isStored = stored.has(id(call));
        if (isStored && call.query.get("mode") === "add") {
          return refusal(409, "id-taken", "a document with this id exists");
        }
        stored.set(id(call), call.body.text);
        return {
          status: isStored ? 200 : 201,
          json: { id: id(call), done: isStored ? "replaced" : "added", shingles: 5 },
        };
      },
      "DELETE *": (call) =>
        stored.delete(id(call))
          ? { status: 204 }
          : refusal(404, "unknown-document", "no document has this id"),
    },
    async (page, server) => {
      await page.wait("!document.querySelector('nav [data-right=write]').hidden");
      await page.click("nav a[data-view=add]");
      await page.click("#add-form .main");
      await page.see("Type an id.");
      assert.equal(await page.run(`return ${focused}`), "add-id");
      await page.paste("#add-id", "new/ä b.txt");
      await page.paste("#add-text", TEXT);
      await page.click("#add-form .main");
      await page.see("Added the document, with 5 shingles.");
      assert.equal(stored.get("new/ä b.txt"), TEXT);
      // An existing document is replaced only after the user confirms.
      await page.paste("#add-id", "taken");
      await page.paste("#add-text", "new");
      await page.click("#add-form .main");
      await page.see("The index already has a document with this id");
      assert.equal(stored.get("taken"), "old");
      assert.equal(await page.run("return document.querySelector('#add-text').value"), "new");
      await page.click("#add-results .danger");
      await page.see("Replaced the document");
      assert.equal(stored.get("taken"), "new");

      // The page asks before it removes a document. Enter cancels.
      await page.click("#add-results a");
      await page.see("Remove …");
      await page.click("#view-document .danger");
      assert.equal(await page.run(`return ${focused}`), "confirm-no");
      await page.press(KEYS.enter);
      await page.wait("!document.querySelector('#confirm').open");
      assert.ok(stored.has("taken"));
      await page.click("#view-document .danger");
      await page.click("#confirm-yes");
      await page.see("Removed the document from the index.");
      assert.ok(!stored.has("taken"));
      assert.equal(await page.run(`return ${focused}`), "document-title");

      // An id that no address can contain is reported, and nothing is requested.
      const before = server.calls.length;
      await page.run("location.hash = '#/add'");
      await page.paste("#add-id", "..");
      await page.paste("#add-text", TEXT);
      await page.click("#add-form .main");
      await page.see("No address can contain this id");
      assert.deepEqual(
        server.calls.slice(before).filter(({ method }) => method !== "GET"),
        [],
      );
    },
  )(browser);
  await withMock(
    {
      "GET /v1/settings": () => ({ json: { ...SETTINGS, writable: false } }),
      "GET /v1/indexes": () => indexesFor("write", false),
    },
    async (page, server) => {
      await page.open(`${server.url}#/document?id=a`);
      await page.see("text299");
      assert.equal(
        await page.run("return document.querySelectorAll('#view-document .danger')" + ".length"),
        0,
      );
      assert.equal(
        await page.run("return document.querySelector('nav [data-right=write]').hidden"),
        true,
      );
    },
  )(browser);
};

/**
 * The list of indexes for a token with a right for the only index.
 * @param {ServedIndex["right"]} right
 * @param {boolean} writable
 * @returns {Reply}
 */
const indexesFor = (right, writable = true) => ({
  json: {
    indexes: [{ name: "letters", address: "/v1/indexes/letters", default: true, right, writable }],
  },
});

/**
 * The navigation offers only views that the token may use.
 * @type {Case}
 */
const views = async (browser) => {
  const visibleLinks =
    "return Array.from(document.querySelectorAll('nav [data-right]'))" +
    ".filter(one => !one.hidden).map(one => one.textContent)";
  /** @type {[ServedIndex["right"], string[]][]} */
  const cases = [
    ["read", []],
    ["decide", ["Review"]],
    ["write", ["Review", "Add"]],
  ];
  for (const [right, expected] of cases) {
    await withMock({ "GET /v1/indexes": () => indexesFor(right) }, async (page, server) => {
      await page.open(`${server.url}#/document?id=a`);
      await page.see("text299");
      assert.deepEqual(await page.run(visibleLinks), expected, right);
      assert.equal(
        await page.run("return document.querySelectorAll('#view-document .danger')" + ".length"),
        right === "write" ? 1 : 0,
      );
    })(browser);
  }
};

/**
 * The script that drops a file on the page. Returns true if the page handled the drop.
 * @param {string} name
 * @param {number[]} bytes
 */
const dropped = (name, bytes) => `const file = new File([new Uint8Array(${JSON.stringify(bytes)})],
  ${JSON.stringify(name)}); const data = new DataTransfer(); data.items.add(file);
  const event = new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true});
  document.body.dispatchEvent(event); return event.defaultPrevented`;

const files = withMock({}, async (browser, server) => {
  /** @param {string} text */
  const bytes = (text) => Array.from(Buffer.from(text));
  const typed = () => browser.run("return document.querySelector('#query-text').value");
  const searched = () => server.last("/v1/query").body.text;
  const found = async () => {
    await browser.wait("document.querySelectorAll('.match').length === 3");
    await browser.see("5 documents have a similarity of 0.8 or more");
  };
  // The search runs without a click.
  assert.equal(await browser.run(dropped("letter.txt", bytes("\uFEFFGrüße aus Łódź"))), true);
  await browser.see("letter.txt: a text. 5 documents have");
  await found();
  assert.equal(searched(), "Grüße aus Łódź");
  assert.equal(await typed(), "Grüße aus Łódź");
  await browser.see("14 characters, 19 bytes");
  await browser.run(dropped("letter.docx", [0x50, 0x4b, 3, 4, 0xff, 0]));
  await browser.see("letter.docx: a Word file: “A letter”. 5 documents have");
  assert.equal(await typed(), "Of a letter.");
  const sent = server.last("/v1/extract").body;
  assert.deepEqual(Array.from(sent), [0x50, 0x4b, 3, 4, 0xff, 0]);

  // A file that cannot be read removes the earlier text, so that nobody searches it by mistake.
  await browser.run(dropped("scan.pdf", [0x25, 0x50, 0x44, 0x46, 0x2d, 0x31, 0x0a]));
  await browser.see("scan.pdf contains no text.");
  await browser.see("encrypted: it opens with a password");
  assert.equal(await typed(), "");
  assert.equal(searched(), "Of a letter.");

  // The user chooses one file of an archive, then another one.
  await browser.run(dropped("all.zip", [0x50, 0x4b, 3, 4]));
  await browser.see("all.zip contains 2 texts; choose one.");
  await browser.see("c.bin (a binary file): binary");
  await browser.see("3 further parts not shown");
  await browser.click("#query-results .parts li:nth-child(2) button");
  await browser.see("from ada@example.org, 2024-03-02. 5 documents have");
  await found();
  assert.equal(searched(), "The second one.");
  await browser.click("#query-results .parts li:nth-child(1) button");
  await browser.see("a.txt: a.txt (a text). 5 documents have");
  assert.equal(searched(), "The first one.");

  // A long text is shown as a preview, and searched as a whole.
  const long = words(40_000, "word");
  await browser.run(
    `const data = new DataTransfer();
    data.items.add(new File([arguments[0]], "long.txt"));
    document.body.dispatchEvent(new DragEvent("drop",
      {dataTransfer: data, bubbles: true, cancelable: true}))`,
    long,
  );
  await browser.see("The search includes");
  await browser.see("long.txt: a text. 5 documents have");
  assert.equal(searched(), long);
  await browser.click("#query-file button");
  assert.equal(await browser.run(`return ${focused}`), "query-text");
});

/**
 * The requests that store decisions.
 * @param {MockServer} server
 * @returns {NewDecision[][]}
 */
const posted = (server) =>
  server.calls
    .filter(({ method, path }) => method === "POST" && path === "/v1/decisions")
    .map(({ body }) => body.decisions);

/**
 * The sent decisions, each as `decision id id note`.
 * @param {MockServer} server
 */
export const decided = (server) =>
  posted(server)
    .flat()
    .map(({ decision, documents, note }) =>
      [decision, ...documents, ...(note ? [note] : [])].join(" "),
    );

const reviewing = withMock({}, async (browser, server) => {
  await browser.run("location.hash = '#/review'");
  await browser.see("7 of 120 groups decided, 0 pairs in this visit");
  await browser.see("The texts differ in 3 places.");
  const requested = server.last("/v1/groups").query;
  assert.deepEqual([requested.get("state"), requested.get("order")], ["undecided", "doubt"]);
  const displayed = () =>
    browser.wait(
      "document.querySelector('.review-differences .head:last-child a')?.innerText.trim()",
    );
  assert.deepEqual(
    await browser.run(
      "return Array.from(document.querySelectorAll('.review-differences .head'), " +
        "head => head.innerText.replace(/\\s+/g, ' ').trim())",
    ),
    ["Kept: group-0/letter.txt only here", "Duplicate: group-0/copy-0.txt only here"],
  );
  assert.equal(await displayed(), "group-0/copy-0.txt");
  await browser.press("d");
  await browser.see("group-0/copy-0.txt: duplicate.");
  assert.equal(await displayed(), "group-0/copy-1.txt");
  await browser.press("n", "k");
  await browser.see("group-0/copy-2.txt is kept instead of group-0/letter.txt.");
  await browser.see("8 of 120 groups decided, 3 pairs in this visit");
  assert.equal(await displayed(), "group-1/copy-0.txt");
  // Keys in the note are text. The note is stored with the next decision.
  await browser.press("m", "d", "u", "n", KEYS.enter, "a");
  await browser.see("Kept all documents.");
  assert.equal(await browser.run("return document.querySelector('.review-noted').open"), false);
  await browser.press("u");
  await browser.see("Undone.");
  assert.equal(await displayed(), "group-1/copy-0.txt");
  await browser.press("u", "r", KEYS.right, KEYS.left);
  const [k, a] = ["group-0/letter.txt", "group-1/letter.txt"];
  const all = `${a} group-1/copy-0.txt group-1/copy-1.txt group-1/copy-2.txt`;
  await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
  assert.deepEqual(decided(server), [
    `duplicate ${k} group-0/copy-0.txt`,
    `not_duplicate ${k} group-0/copy-1.txt`,
    `duplicate ${k} group-0/copy-2.txt`,
    "keep group-0/copy-2.txt",
    `keep_all ${all} dun`,
    `undecided ${a}`,
    "undecided group-1/copy-0.txt",
    "undecided group-1/copy-1.txt",
    "undecided group-1/copy-2.txt",
    `undecided ${k} group-0/copy-2.txt`,
    "undecided group-0/copy-2.txt",
    `duplicate ${k} group-0/copy-2.txt`,
    "keep group-0/copy-2.txt",
  ]);
  // With the mouse, the user can decide in any order.
  await browser.click(".review-members summary");
  await browser.wait("document.querySelectorAll('.member').length === 3");
  await browser.click(".member:nth-child(3)");
  assert.equal(await displayed(), "group-1/copy-2.txt");
  await browser.click(".review-keys button");
  await browser.see("group-1/copy-2.txt: duplicate.");
});

/** One key confirms all undecided duplicates of a group, and one undo revokes them. */
const reviewingGroup = withMock({}, async (browser, server) => {
  await browser.run("location.hash = '#/review'");
  await browser.see("7 of 120 groups decided");
  await browser.press("n", "g");
  await browser.see(
    "1 of 2 pairs not shown yet; this is the least similar one (0.955000). " +
      "Confirm all again to confirm 2 pairs. group-0/copy-2.txt and its keeper",
  );
  await browser.see("7 of 120 groups decided, 1 pair in this visit");
  await browser.press("g");
  await browser.see("Confirmed 2 pairs as duplicates. group-1/copy-0.txt and its keeper");
  await browser.see("8 of 120 groups decided, 3 pairs in this visit");
  await browser.press(KEYS.left, "g");
  await browser.see("All pairs of this group are decided.");
  await browser.press("u");
  await browser.see("7 of 120 groups decided, 1 pair in this visit");
  await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
  const pairs = [1, 2].map((copy) => `group-0/letter.txt group-0/copy-${copy}.txt`);
  assert.deepEqual(decided(server), [
    "not_duplicate group-0/letter.txt group-0/copy-0.txt",
    ...pairs.map((pair) => `duplicate ${pair}`),
    ...pairs.map((pair) => `undecided ${pair}`),
  ]);
  // A new choice of the kept document revokes the earlier choice.
  await browser.press("a", KEYS.left, KEYS.left, "k");
  await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
  assert.equal(decided(server).at(-1), "undecided group-0/letter.txt");
  await browser.press("u");
  await browser.see("Undone.");
  await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
  assert.deepEqual(decided(server).slice(-2), [
    "keep group-0/copy-1.txt",
    "keep group-0/letter.txt",
  ]);
  await browser.click(".review-help summary");
  for (const key of ["D", "N", "K", "A", "G", "U", "R", "← →", "F B", "M", "↑ ↓"]) {
    assert.ok(
      await browser.run(
        "return Array.from(document.querySelectorAll('.key-list kbd'))" +
          ".some(key => key.textContent === arguments[0] && key.checkVisibility())",
        key,
      ),
      key,
    );
  }
});

/**
 * The page warns only if documents have changed, not if decisions have.
 * @type {Case}
 */
const reviewStale = async (browser) => {
  let documentsChanged = false;
  /** @type {Record<string, Act>} */
  const special = {
    "GET /v1/groups": (call) => {
      const found = /** @type {{json: object}} */ (answering()(call));
      return { json: { ...found.json, stale: true, documents_changed: documentsChanged } };
    },
  };
  await withMock(special, async (browser, server) => {
    await browser.open(`${server.url}#/review`);
    await browser.see("7 of 120 groups decided");
    assert.equal(await browser.run("return document.querySelector('.stale')"), null);
    documentsChanged = true;
    await browser.open(`${server.url}#/review?order=size`);
    await browser.see("Documents have changed since the server computed these groups.");
    await browser.click(".stale button");
  })(browser);
};

/**
 * At the end of the queue, the page says so and disables the buttons that need a pair.
 * @type {Case}
 */
const reviewFinished = async (browser) => {
  let isStarted = false;
  /** @type {Record<string, Act>} */
  const special = {
    "GET /v1/groups": () => ({
      json: {
        groups: isStarted ? [] : groups(0, 1, 1),
        groups_total: 3,
        groups_decided: isStarted ? 3 : 2,
        groups_dissolved: 2,
        duplicates_total: 3,
        documents: 9,
        version: 1,
        stale: false,
        documents_changed: false,
        last_decision: 0,
      },
    }),
  };
  await withMock(special, async (browser, server) => {
    await browser.open(`${server.url}#/review`);
    await browser.see("4 of 5 groups decided");
    await browser.click(".review-keys button");
    const isFinished = async () => {
      await browser.see("All 5 groups are decided.");
      await browser.see("5 of 5 groups decided");
      assert.deepEqual(
        await browser.run(
          "return Array.from(document.querySelectorAll('.review-keys button'))" +
            ".filter(button => !button.disabled).map(button => button.innerText)",
        ),
        ["Undo U", "Redo R", "Previous ←"],
      );
      assert.deepEqual(
        await browser.run(
          "return Array.from(document.querySelectorAll('.review-bar summary'))" +
            ".filter(one => one.checkVisibility()).map(one => one.innerText.split(':')[0])",
        ),
        ["Filters", "Help"],
      );
      await hasNoFindings(browser);
      await browser.view(1280, 900, "light");
    };
    await isFinished();
    await browser.press("d", "g", "u");
    await browser.see("group-0/copy-0.txt and its keeper");
    isStarted = true;
    await browser.open(`${server.url}#/review?order=size`);
    await isFinished();
  })(browser);
};

const reviewFilter = withMock({}, async (browser, server) => {
  await browser.run("location.hash = '#/review'");
  await browser.see("7 of 120 groups decided");
  // The page shows the first words and the title of the documents, and the metadata that differ.
  await browser.click(".review-about summary");
  await browser.see("The letter number 0, which begins like this.");
  await browser.see("Copy 0");
  const differing = await browser.run(
    "return Array.from(document.querySelectorAll(" +
      "'.differing tbody tr'), row => Array.from(row.cells, cell => cell.textContent).join('|'))",
  );
  assert.deepEqual(differing, ["source|post|mail", "subject|none|Copy 0", "pages|none|0"]);
  await browser.click(".review-filter summary");
  await browser.click("#view-review .more summary");
  /** @type {Record<string, string>} */
  const fields = {
    least: "0.9",
    most: "0.99",
    min_documents: "3",
    source: "mail",
    language: "en",
    from: "2024-01-01",
    to: "2024-02-29",
    search: "budget & more",
  };
  for (const [name, value] of Object.entries(fields)) {
    await browser.run(
      "document.getElementById(arguments[0]).value = arguments[1]",
      `review-${name}`,
      value,
    );
  }
  await browser.run("document.querySelector('#view-review form').requestSubmit()");
  await browser.wait("location.hash.includes('budget')");
  await browser.see("7 of 120 groups decided");
  const requested = server.last("/v1/groups").query;
  assert.deepEqual(requested.getAll("filter"), [
    "source~mail",
    "language=en",
    "date>=2024-01-01",
    "date<2024-03-01",
  ]);
  for (const name of ["least", "most", "min_documents", "search"]) {
    assert.equal(requested.get(name), fields[name]);
  }
  assert.equal(
    await browser.run("return document.querySelector('#review-to').value"),
    "2024-02-29",
  );
  assert.equal(await browser.run("return document.querySelector('#view-review .more').open"), true);
});

/** A beginning that the server cut ends with an ellipsis, even if it contains white space. */
const cutBeginnings = withMock(
  {
    "GET /v1/groups": () => {
      const [group] = groups(0, 1, 1);
      group.keeper.beginning = `A line.\n\n${"word ".repeat(40)}`.slice(0, 160);
      group.duplicates[0].beginning = "A short text.";
      return {
        json: {
          groups: [group],
          groups_total: 1,
          groups_decided: 0,
          groups_dissolved: 0,
          duplicates_total: 1,
          documents: 2,
          version: 1,
          stale: false,
          documents_changed: false,
          last_decision: 0,
        },
      };
    },
  },
  async (browser, server) => {
    await browser.open(`${server.url}#/review`);
    await browser.see("0 of 1 group decided");
    await browser.click(".review-about summary");
    await browser.wait("document.querySelectorAll('.about .first-words').length === 2");
    assert.deepEqual(
      await browser.run(
        "return Array.from(document.querySelectorAll('.about .first-words'), " +
          "one => one.innerText.at(-1))",
      ),
      ["…", "."],
    );
  },
);

const agreeing = withMock({}, async (browser) => {
  await browser.run("location.hash = '#/review'");
  await browser.see("7 of 120 groups decided");
  await browser.click(".review-agreement summary");
  await browser.see("People disagree about 15 pairs:");
  const cells = await browser.run(
    "return Array.from(document.querySelectorAll(" +
      "'.review-agreement td'), cell => cell.textContent)",
  );
  assert.deepEqual(cells, ["50", "35 (70.0 %)", "5", "10", "0.400"]);
  // The button loads further pairs, and the first of them gets the focus.
  await browser.run(
    "Array.from(document.querySelectorAll('.review-agreement button'))" +
      ".find(button => button.textContent === 'More pairs').click()",
  );
  await browser.wait("document.querySelectorAll('.review-agreement li').length === 2");
  assert.equal(await browser.run("return document.activeElement.textContent"), "c.txt and d.txt");
  assert.equal(
    await browser.run("return document.querySelectorAll('.review-agreement button').length"),
    0,
  );
});

/**
 * If the filter excludes all groups of an answer, the page requests the next one.
 * @type {Case}
 */
const reviewSparse = async (browser) => {
  const rest = {
    groups_total: 9,
    groups_decided: 0,
    groups_dissolved: 0,
    duplicates_total: 9,
    documents: 99,
    version: 1,
    stale: false,
    documents_changed: false,
  };
  /** @type {Record<string, Act>} */
  const special = {
    "GET /v1/groups": ({ query }) => ({
      json:
        query.get("after") === "1.5"
          ? { groups: groups(0, 1), ...rest }
          : { groups: [], next: "1.5", ...rest },
    }),
  };
  await withMock(special, async (page) => {
    await page.run("location.hash = '#/review'");
    await page.see("group-0/copy-0.txt and its keeper");
  })(browser);
};

/** Answers of a mock that stores decisions in a log, its log, and a function that adds to it. */
export const logged = () => {
  /** @type {StoredDecision[]} */
  const log = [];
  /**
   * @param {NewDecision[]} decisions
   * @param {string} who
   */
  const add = (decisions, who, when = "2026-11-28T10:00:00Z") => {
    for (const { decision, documents, note } of decisions) {
      log.push({
        decision,
        documents,
        ...(note ? { note } : {}),
        number: log.length + 1,
        who,
        when,
      });
    }
  };
  /** @type {Record<string, Act>} */
  const answers = {
    "POST /v1/decisions": ({ body: { decisions } }) => {
      add(decisions, "ann");
      return { json: { added: decisions.length, unknown: 0, last: log.length } };
    },
    "GET /v1/decisions": ({ query }) => {
      const from = Number(query.get("after") ?? 0);
      const to = from + 100;
      return {
        json: {
          decisions: log.slice(from, to),
          ...(to < log.length ? { next: String(to) } : {}),
        },
      };
    },
  };
  return { log, add, answers };
};

/** @type {Case} */
const reviewingMany = async (browser) => {
  const { log, add, answers } = logged();
  await withMock(answers, async (browser, server) => {
    await browser.run("location.hash = '#/review'");
    await browser.see("7 of 120 groups decided");
    await browser.click(".review-bulk summary");
    await browser.paste("#bulk-least", "0.96");
    await browser.click(".review-bulk form button");
    await browser.see("240 pairs of 120 groups would become duplicates. Nothing is stored yet.");
    // The page lists the pairs before it stores decisions.
    assert.deepEqual(decided(server), []);
    // The browser lays out rows in view only.
    await browser.wait("document.querySelector('.pair').innerText");
    const rows =
      "return Array.from(document.querySelectorAll('.pair'), row => " +
      "row.innerText.replace(/\\s+/g, ' ').trim())";
    assert.equal(
      (await browser.run(rows))[0],
      "group-0/letter.txt and group-0/copy-0.txt 0.980000",
    );
    assert.equal((await browser.run(rows)).length, 50);
    await hasNoFindings(browser);
    await browser.view(1280, 900, "light");
    await browser.click(".pairs .buttons button:last-child");
    await browser.wait("document.querySelectorAll('.pair').length === 240");
    await browser.click(".review-bulk .buttons button");
    await browser.see("240 pairs decided as duplicates (similarity 0.96 or more).");
    assert.equal(log.length, 240);
    assert.match(
      decided(server)[0],
      new RegExp(
        "^duplicate group-0/letter.txt group-0/copy-0.txt " +
          "many at once, 20[-0-9T:.]+Z: similarity 0.96 or more$",
      ),
    );
    await browser.click(".review-bulk .buttons button");
    await browser.see("240 decisions taken back.");
    assert.equal(log.filter(({ decision }) => decision === "undecided").length, 240);
    // An action of an earlier day. Another person has decided about one of its pairs again.
    const pairs = [0, 1, 2].map((copy) => ["group-3/letter.txt", `group-3/copy-${copy}.txt`]);
    const note = "many at once, 2026-11-20T09:00:00.000Z: similarity 0.9 or more";
    add(
      pairs.map((documents) => ({ decision: "duplicate", documents, note })),
      "ann",
    );
    add([{ decision: "not_duplicate", documents: pairs[1].toReversed() }], "bob");
    await browser.open(`${server.url}#/review`);
    await browser.see("7 of 120 groups decided");
    await browser.click(".review-bulk summary");
    await browser.click(".past-bulk > summary");
    await browser.see("2026-11-20 09:00:00 UTC by ann: similarity 0.9 or more");
    await browser.see("1 pair decided again or taken back since:");
    await browser.see("group-3/letter.txt and group-3/copy-1.txt: no duplicates by bob");
    await browser.see("240 pairs decided again or taken back since:");
    await browser.click(".actions > li:first-child .fold summary");
    await browser.wait("document.querySelectorAll('.pair').length === 2");
    await hasNoFindings(browser);
    await browser.view(1280, 900, "light");
    await browser.click(".actions > li:first-child .buttons button");
    await browser.see("2 decisions taken back.");
    await browser.see("3 pairs decided again or taken back since:");
    assert.deepEqual(
      sent(server).at(-1),
      [0, 2].map((copy) => `undecided ${pairs[copy].join(" ")} ${481 + copy}`),
    );
  })(browser);
};

/** @type {Case} */
const reviewRefused = async (browser) => {
  let isFull = true;
  /** @type {Record<string, Act>} */
  const special = {
    "POST /v1/decisions": ({ body }) =>
      isFull
        ? refusal(507, "disk-full", "the disk is full")
        : { json: { added: body.decisions.length, unknown: 0, last: 1 } },
  };
  await withMock(special, async (browser, server) => {
    await browser.run("location.hash = '#/review'");
    await browser.see("7 of 120 groups decided");
    await browser.press("d", "n");
    await browser.see("The disk of the server is full");
    await browser.see("2 not stored yet");
    isFull = false;
    const before = decided(server).length;
    await browser.click(".problem button");
    await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
    assert.deepEqual(
      decided(server)
        .slice(before)
        .map((line) => line.split(" ")[0]),
      ["duplicate", "not_duplicate"],
    );
  })(browser);
};

/**
 * The answer to decisions that conflict with decisions of others.
 * @param {...Conflict} conflicts
 * @returns {Reply}
 */
const conflict = (...conflicts) => ({
  status: 409,
  json: {
    code: "decision-conflict",
    title: "Others decided in the meantime",
    detail: "no decision was added",
    status: 409,
    type: "",
    conflicts,
    conflicts_total: conflicts.length,
  },
});

/** @type {NonNullable<Conflict["current"]>} */
const BOB = { number: 9, decision: "not_duplicate", who: "bob", when: "2026-11-28T10:00:00Z" };

/**
 * The sent decisions by request, each as `decision id id seen`.
 * @param {MockServer} server
 */
const sent = (server) =>
  posted(server).map((decisions) =>
    decisions.map(({ decision, documents, seen }) => [decision, ...documents, seen].join(" ")),
  );

/**
 * Another person decides about the pair before the own decision arrives, and before its undo.
 * @type {Case}
 */
const reviewConflicts = async (browser) => {
  const pair = ["group-0/copy-0.txt", "group-0/letter.txt"];
  /** @type {Reply[]} */
  const answers = [];
  /** @type {Record<string, Act>} */
  const special = { "POST /v1/decisions": () => answers.shift() ?? {} };
  await withMock(special, async (browser, server) => {
    await browser.run("location.hash = '#/review'");
    await browser.see("7 of 120 groups decided");
    await browser.click(".review-members summary");
    answers.push(conflict({ position: 0, documents: pair, current: BOB }));
    await browser.press("d");
    await browser.see("Another person decided in the meantime");
    await browser.see("no duplicates by bob");
    await browser.see("0 pairs in this visit");
    const k = "group-0/letter.txt";
    const d = "group-0/copy-0.txt";
    assert.deepEqual(sent(server), [[`duplicate ${k} ${d} 3`]]);
    assert.ok(
      (await browser.run("return document.querySelector('.review-members').innerText")).includes(
        "not a duplicate",
      ),
    );
    await hasNoFindings(browser, [[1280, "light"]]);
    // The page asks again until no other person decides in the meantime.
    const renewed = { ...BOB, number: 10, who: "eve" };
    answers.push(conflict({ position: 0, documents: pair, current: renewed }));
    await browser.click(".conflict button");
    await browser.see("no duplicates by eve");
    await browser.see("0 pairs in this visit");
    assert.deepEqual(sent(server).at(-1), [`duplicate ${k} ${d} 9`]);
    answers.push({ json: { added: 1, unknown: 0, last: 12 } });
    await browser.click(".conflict button");
    await browser.wait("!document.querySelector('.conflict')");
    await browser.see("1 pair in this visit");
    await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
    assert.deepEqual(sent(server).at(-1), [`duplicate ${k} ${d} 10`]);
    // The repeated decision can be undone and redone.
    answers.push({ json: { added: 1, unknown: 0, last: 13 } });
    await browser.press("u");
    await browser.see("0 pairs in this visit");
    await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
    assert.deepEqual(sent(server).at(-1), [`not_duplicate ${k} ${d} 12`]);
    answers.push({ json: { added: 1, unknown: 0, last: 14 } });
    await browser.press("r");
    await browser.see("1 pair in this visit");
    await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
    // The page does not undo an own decision that others have replaced.
    answers.push({ json: { added: 1, unknown: 0, last: 15 } });
    await browser.press("n");
    await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
    const second = ["group-0/copy-1.txt", k];
    answers.push(
      conflict({
        position: 0,
        documents: second,
        current: { ...BOB, number: 20, decision: "duplicate" },
      }),
    );
    await browser.press("u");
    await browser.see("duplicates by bob");
    assert.deepEqual(sent(server).at(-1), [`undecided ${k} group-0/copy-1.txt 15`]);
    const calls = sent(server).length;
    await browser.click(".conflict button:last-child");
    await browser.wait("!document.querySelector('.conflict')");
    assert.equal(sent(server).length, calls);
    // A stored decision whose answer was lost can be undone.
    answers.push(
      refusal(500, "", "broken"),
      conflict({
        position: 0,
        documents: second,
        current: { ...BOB, number: 31, decision: "not_duplicate" },
      }),
      { json: { added: 1, unknown: 0, last: 32 } },
    );
    await browser.click(".member:nth-child(2)");
    await browser.press("n");
    await browser.see("The server failed");
    await browser.click(".problem button");
    await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
    assert.equal(await browser.run("return document.querySelector('.conflict')"), null);
    await browser.press("u");
    await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
    assert.deepEqual(sent(server).at(-1), [`duplicate ${k} group-0/copy-1.txt 31`]);
    // "Keep all" conflicts in one document. The user decides again about all, and undoes it.
    const last = "group-0/copy-2.txt";
    answers.push(
      conflict({
        position: 0,
        documents: [last],
        current: { ...BOB, number: 40, decision: "undecided" },
      }),
    );
    await browser.press("a");
    await browser.see("undecided by bob");
    answers.push({ json: { added: 4, unknown: 0, last: 44 } });
    await browser.click(".conflict button");
    await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
    const group = [k, d, "group-0/copy-1.txt", last];
    assert.deepEqual(
      sent(server).at(-1),
      group.map((id) => `keep ${id} ${id === last ? 40 : 3}`),
    );
    answers.push({ json: { added: 4, unknown: 0, last: 48 } });
    await browser.press("u");
    await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
    assert.deepEqual(
      sent(server).at(-1),
      group.map((id, at) => `undecided ${id} ${41 + at}`),
    );
  })(browser);
};

/**
 * Decisions about many pairs, and their revocation, leave the decisions of others unchanged.
 * @type {Case}
 */
const reviewManyConflicts = async (browser) => {
  /** @type {Reply[]} */
  const answers = [];
  let decidedGroups = 7;
  /** @type {Record<string, Act>} */
  const special = {
    "POST /v1/decisions": ({ body: { decisions } }) =>
      answers.shift() ?? { json: { added: decisions.length, unknown: 0, last: 1000 } },
    "GET /v1/groups": (call) => {
      const found = /** @type {{json: object}} */ (answering()(call));
      return { json: { ...found.json, groups_decided: decidedGroups } };
    },
  };
  await withMock(special, async (browser, server) => {
    await browser.run("location.hash = '#/review'");
    await browser.see("7 of 120 groups decided");
    await browser.click(".review-bulk summary");
    await browser.paste("#bulk-least", "0.96");
    await browser.click(".review-bulk form button");
    await browser.see("240 pairs of 120 groups would become duplicates.");
    const first = ["group-0/copy-0.txt", "group-0/letter.txt"];
    answers.push(conflict({ position: 0, documents: first, current: BOB }));
    await browser.click(".review-bulk .buttons button");
    await browser.see("Other people decided 1 pair in the meantime; their decisions remain:");
    await browser.see("no duplicates by bob");
    assert.equal(sent(server).at(-1)?.[0], "duplicate group-0/letter.txt group-0/copy-0.txt 3");
    decidedGroups = 50;
    await browser.click(".review-bulk .buttons button");
    await browser.see("239 pairs decided as duplicates (similarity 0.96 or more).");
    assert.equal(sent(server).at(-1)?.length, 239);
    assert.equal(sent(server).at(-1)?.[0], "duplicate group-0/letter.txt group-0/copy-1.txt 3");
    // The page updates the progress, and shows the decisions in the groups.
    await browser.see("50 of 120 groups decided");
    await browser.press(KEYS.right);
    assert.ok(
      (await browser.run("return document.querySelector('.review-members').innerText")).includes(
        "duplicate",
      ),
    );
    // Another person has decided about one of the pairs in the meantime.
    answers.push(
      conflict({
        position: 1,
        documents: ["group-1/copy-0.txt", "group-1/letter.txt"],
        current: BOB,
      }),
    );
    decidedGroups = 7;
    await browser.click(".review-bulk .buttons button");
    await browser.see("0 decisions taken back. Other people decided 1 pair in the meantime");
    assert.deepEqual(sent(server).at(-1)?.slice(0, 2), [
      "undecided group-0/letter.txt group-0/copy-1.txt 762",
      "undecided group-1/letter.txt group-1/copy-0.txt 763",
    ]);
    await browser.click(".review-bulk .buttons button");
    await browser.see("238 decisions taken back.");
    await browser.see("7 of 120 groups decided");
  })(browser);
};

/** The user switches single-key shortcuts off for all pages of the server, and on again. */
const keysOff = withMock({}, async (browser, server) => {
  await browser.run("location.hash = '#/review'");
  await browser.see("7 of 120 groups decided");
  await browser.click("#single-keys");
  await browser.run("document.activeElement.blur()");
  await browser.press("d", "f");
  await browser.open(`${server.url}#/review`);
  await browser.see("7 of 120 groups decided");
  assert.equal(await browser.run("return document.querySelector('#single-keys').checked"), false);
  await browser.press("d");
  assert.deepEqual(decided(server), []);
  await hasNoFindings(browser);
  await browser.view(1280, 900, "light");
  await browser.click("#single-keys");
  await browser.run("document.activeElement.blur()");
  await browser.press("d");
  await browser.see("1 pair in this visit");
});

/**
 * The server restarts while the page is open. No decision is lost. The cursor of the list is
 * invalid, so the page continues with the undecided groups of a new list.
 * @type {Case}
 */
const reviewRestarted = async (browser) => {
  let cursors = true;
  /** @type {Record<string, Act>} */
  const special = {
    "GET /v1/groups": ({ query }) => {
      if (query.get("after") && !cursors)
        return refusal(410, "cursor-expired", "the list is not kept");
      const from = cursors ? 0 : 20;
      return {
        json: {
          groups: groups(from, from + 3, 1),
          ...(cursors ? { next: "1.3" } : {}),
          groups_total: 120,
          last_decision: 0,
          groups_decided: cursors ? 7 : 10,
          groups_dissolved: 0,
          duplicates_total: 120,
          documents: 9000,
          version: 1,
          stale: false,
          documents_changed: false,
        },
      };
    },
  };
  let server = await mock(answering(special));
  const port = Number(new URL(server.url).port);
  try {
    await browser.open(`${server.url}#/review`);
    await browser.see("7 of 120 groups decided");
    server.close();
    await browser.press("d", "d");
    await browser.see("2 not stored yet");
    cursors = false;
    server = await mock(answering(special), port);
    await browser.click(".problem button");
    await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
    assert.equal(decided(server).length, 2);
    // After the loaded groups, the page continues with the new list.
    for (
      let step = 0;
      step < 20 &&
      !(await browser.run(
        "return document.querySelector(" +
          "'.review-differences')?.innerText.includes('group-20/')",
      ));
      step += 1
    ) {
      await browser.press(KEYS.right);
      await pause(50);
    }
    await browser.see("group-20/copy-0.txt and its keeper");
    await browser.see("10 of 120 groups decided");
    await browser.press("n");
    await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
    assert.equal(decided(server).at(-1), "not_duplicate group-20/letter.txt group-20/copy-0.txt");
    assert.deepEqual(await findings(browser), []);
  } finally {
    server.close();
  }
};

const walking = withMock({}, async (browser, server) => {
  const status = () =>
    browser.run("return document.querySelector('.walk [role=status]').textContent");
  const current = () =>
    browser.run(
      "return Array.from(document.querySelectorAll('.current'), " +
        "mark => mark.textContent).join(' ')",
    );
  // The browser computes the heights of rows only near the visible part, so positions can change.
  const inView = () =>
    browser.wait(
      "(({top, bottom}) => top >= 0 && bottom <= innerHeight)" +
        "(document.querySelector('.current').getBoundingClientRect())",
    );
  await browser.open(`${server.url}#/compare?a=a.txt&b=b.txt`);
  await browser.see("The texts differ in 3 places.");
  await browser.view(390, 700, "light");
  await browser.press("f");
  assert.equal(
    await status(),
    "Difference 1 of 3: “Monday” in the first, “Thursday” in the second.",
  );
  assert.equal(await current(), "Monday Thursday");
  await inView();
  await browser.press("f", "F");
  assert.equal(await current(), "The board");
  await inView();
  await browser.press("f");
  assert.equal(await status(), "This is the last difference.");
  assert.equal(await current(), "The board");
  await browser.press("b");
  assert.equal(await status(), "Difference 2 of 3: “Nobody had to stand.” in the second.");
  // The buttons do the same, and keep the focus.
  await browser.click(".walk button");
  await browser.press(KEYS.enter);
  assert.equal(await status(), "This is the first difference.");
  await browser.click(".walk button:nth-child(2)");
  assert.equal(await current(), "Nobody had to stand.");
  // A key in a field is text.
  await browser.type("#compare-a", "f");
  assert.equal(await current(), "Nobody had to stand.");
  await browser.view(1280, 900, "light");
  await browser.run("location.hash = '#/review'");
  await browser.wait("document.querySelector('.review-differences .walk')");
  await browser.press("f", "f");
  assert.equal(
    await browser.run(
      "return document.querySelector('.review-differences .current')" + ".textContent",
    ),
    "Nobody had to stand.",
  );
  assert.deepEqual(decided(server), []);
});

/** Around a difference, the page shows twelve shared words, even long ones. */
const longWords = withMock(
  {
    "POST /v1/compare": () => ({
      json: comparison([
        { kind: "a", text: "first" },
        { kind: "same", text: ` ${words(60, "territory")} ` },
        { kind: "b", text: "last" },
      ]),
    }),
  },
  async (browser, server) => {
    await browser.open(`${server.url}#/compare?a=a.txt&b=b.txt`);
    await browser.see("The texts differ in 2 places.");
    /** @type {string[]} */
    const displayed = await browser.run(
      "return Array.from(document.querySelectorAll('.rows .first'), " + "cell => cell.textContent)",
    );
    assert.deepEqual(
      displayed.map((text) => text.trim().split(" ").length),
      [13, 12],
    );
  },
);

const moving = withMock(
  {
    "POST /v1/compare": () => ({ json: comparison(MOVED) }),
  },
  async (browser, server) => {
    await browser.open(`${server.url}#/compare?a=a.txt&b=b.txt`);
    await browser.see("The texts differ in 2 places, with 1 moved block.");
    await browser.see("is at different places of the texts.");
    const text = "This sentence of eight words is a block";
    const blocks = () =>
      browser.run(
        "return Array.from(document.querySelectorAll('.rows .moved'), " +
          "mark => `${mark.localName} ${mark.textContent}`)",
      );
    assert.deepEqual(await blocks(), [`del ${text}.`, `ins ${text}`]);
    assert.equal(
      await browser.run("return document.querySelectorAll('.rows del:not(.moved)').length"),
      1,
    );
    // Enter moves to the other place of the block, and back.
    await browser.run("document.querySelector('.moved-to').focus()");
    await browser.press(KEYS.enter);
    const place = "document.activeElement.getAttribute('aria-label')";
    assert.equal(
      await browser.run(`return ${place}`),
      "Moved 1: go to its place in the first text",
    );
    assert.equal(
      await browser.run("return document.querySelector('.walk [role=status]').textContent"),
      `Difference 2 of 2: “and on ${text}” in the second.`,
    );
    await browser.press(KEYS.enter);
    assert.equal(
      await browser.run(`return ${place}`),
      "Moved 1: go to its place in the second text",
    );
    assert.deepEqual(await findings(browser), []);
    await browser.view(390, 700, "dark");
    assert.deepEqual(await findings(browser), []);
    await browser.view(1280, 900, "light");
  },
);

/** If the sets of shingles are equal, the page says whether the texts are equal. */
const equalSets = withMock(
  {
    "POST /v1/compare": ({ body }) => ({
      json: comparison(body.b.id === "same" ? [{ kind: "same", text: "All of it." }] : STRETCHES, {
        jaccard: 1,
      }),
    }),
    "POST /v1/query": ({ body }) => ({
      json: {
        matches: [
          match("one", 1, { equal_text: true }),
          match("other", 1, { equal_text: false }),
          match("near", 0.999999),
        ],
        found: 3,
        candidates: 3,
        shingles: 9,
        threshold: body.threshold,
        predicted_recall: 0.99,
      },
    }),
    "GET /v1/groups": () => {
      const [group] = groups(0, 1, 2);
      for (const [place, duplicate] of group.duplicates.entries()) {
        Object.assign(duplicate, { similarity: 1, equal_text: place === 1 });
      }
      return {
        json: {
          groups: [group],
          groups_total: 1,
          groups_decided: 0,
          groups_dissolved: 0,
          duplicates_total: 2,
          documents: 3,
          version: 1,
          stale: false,
          documents_changed: false,
        },
      };
    },
  },
  async (browser, server) => {
    await search(browser);
    await browser.wait("document.querySelectorAll('.match').length === 3");
    /** @param {string} inside */
    const tags = (inside) =>
      browser.run(
        "return Array.from(document.querySelectorAll(arguments[0]), " +
          "one => one.innerText.replace(/\\s+/g, ' ').trim())",
        `${inside} .similarity`,
      );
    assert.deepEqual(await tags(".match"), [
      "1.000000 equal texts",
      "1.000000 texts differ",
      "0.999999",
    ]);
    await browser.open(`${server.url}#/compare?a=a&b=same`);
    await browser.see("The texts are equal.");
    await browser.see("exact: the texts are equal");
    await browser.open(`${server.url}#/compare?a=a&b=other`);
    await browser.see("exact: the sets of shingles are equal, the texts are not");
    await browser.open(`${server.url}#/review`);
    await browser.wait("document.querySelector('.review-members')");
    await browser.click(".review-members summary");
    await browser.wait("document.querySelector('.member')");
    assert.deepEqual(await tags(".review-members"), [
      "1.000000 texts differ",
      "1.000000 equal texts",
    ]);
    await browser.open(`${server.url}#/groups`);
    await browser.wait("document.querySelector('.group summary')");
    await browser.click(".group summary");
    await browser.wait("document.querySelector('.group .members')");
    assert.deepEqual(await tags(".group .members"), [
      "1.000000 texts differ",
      "1.000000 equal texts",
    ]);
  },
);

const byCategory = withMock({}, async (browser, server) => {
  await browser.open(`${server.url}#/categories?path=1.1`);
  await browser.see("Review the groups of this category");
  await browser.run(
    "Array.from(document.querySelectorAll('#view-categories a'))" +
      ".find(link => link.textContent.startsWith('Review the')).click()",
  );
  await browser.see("7 of 120 groups decided");
  const requested = () => server.last("/v1/groups").query;
  assert.equal(requested().get("category"), "1.1");
  // The form shows the filter, and offers all categories.
  await browser.wait("document.querySelectorAll('#review-category option').length === 6");
  assert.equal(await browser.run("return document.querySelector('#review-category').value"), "1.1");
  await browser.run("document.querySelector('#review-category').value = '2'");
  await browser.run("document.querySelector('#view-review form').requestSubmit()");
  await browser.wait("location.hash.includes('category=2')");
  await browser.see("7 of 120 groups decided");
  assert.equal(requested().get("category"), "2");
  assert.deepEqual(await findings(browser), []);
});

/** If the index has no categories, the form has no field for them. */
const noCategories = withMock(
  {
    "GET /v1/categories": () => ({ json: { categories: [], model: null, without_category: 0 } }),
  },
  async (browser, server) => {
    await browser.run("location.hash = '#/review'");
    await browser.see("7 of 120 groups decided");
    assert.equal(server.calls.filter(({ path }) => path === "/v1/categories").length, 0);
    await browser.click(".review-filter summary");
    await browser.click("#view-review .more summary");
    await browser.wait("document.querySelector('#review-category').closest('.field').hidden");
  },
);

const ENTRY = { right: "write", writable: true };
/** @param {...string} names */
const listed = (...names) => ({
  json: {
    indexes: names.map((name, at) => ({
      ...ENTRY,
      name,
      address: `/v1/indexes/${name}`,
      default: at === 0,
    })),
  },
});

/**
 * The page saves the lists of a review as files. If the server is still computing a list, the page
 * requests it again.
 * @type {Case}
 */
const savingLists = async (browser) => {
  let requestCount = 0;
  const server = await mock(
    answering({
      "GET /v1/review/removed": () => {
        requestCount += 1;
        return requestCount === 1
          ? {
              status: 202,
              headers: { "Retry-After": "1" },
              json: { status: "pending", retry_after: 1, detail: "the groups are being computed" },
            }
          : { text: '{"id":"a"}\n' };
      },
      "GET /v1/review/decisions": () => refusal(503, "unreadable", "the index cannot be read"),
    }),
  );
  try {
    await browser.open(`${server.url}#/review?threshold=0.9`);
    await browser.see("7 of 120 groups decided");
    await browser.run(
      "window.saved = []; const click = HTMLAnchorElement.prototype.click; " +
        "HTMLAnchorElement.prototype.click = function () { if (this.download) " +
        "window.saved.push(this.download); else click.call(this); }",
    );
    await browser.click(".review-export summary");
    /** @param {string} text */
    const press = (text) =>
      browser.run(
        "Array.from(document.querySelectorAll('.review-export button'))" +
          ".find(button => button.textContent === arguments[0]).click()",
        text,
      );
    await press("Save the removed documents");
    await browser.wait("window.saved.length === 1");
    assert.deepEqual(await browser.run("return window.saved"), ["removed.jsonl"]);
    assert.equal(requestCount, 2);
    assert.equal(server.last().query.get("threshold"), "0.9");
    await press("Save the decisions");
    await browser.see("the index cannot be read");
    await hasNoFindings(browser);
  } finally {
    server.close();
    await browser.view(1280, 900, "light");
  }
};

/**
 * After the user chooses another index by keyboard, all requests are about it.
 * @type {Case}
 */
const choosingIndex = async (browser) => {
  const answer = answering({ "GET /v1/indexes": () => listed("letters", "mail.old") });
  const server = await mock((call) => {
    const path = call.path.replace("/v1/indexes/mail.old/", "/v1/");
    const found = answer({ ...call, path });
    return path === "/v1/settings" && path !== call.path
      ? { json: { ...SETTINGS, name: "mail.old" } }
      : found;
  });
  try {
    await browser.open(server.url);
    await browser.wait("!document.querySelector('#indexes').hidden");
    assert.equal(
      await browser.run("return document.querySelector('#indexes-name').value"),
      "letters",
    );
    await browser.run("document.querySelector('#indexes-name').focus()");
    await browser.press(KEYS.down);
    await browser.press(KEYS.tab);
    await browser.press(KEYS.enter);
    await browser.wait("location.search === '?index=mail.old'");
    await browser.see("mail.old");
    await browser.wait("document.querySelector('#indexes-name').value === 'mail.old'");
    server.calls.length = 0;
    await browser.run("location.hash = '#/categories'");
    await browser.wait("document.querySelector('#view-categories table')");
    await browser.run("location.hash = '#/document?id=a'");
    await browser.wait("document.querySelector('#view-document .text')");
    const paths = server.calls.map(({ path }) => path);
    assert.ok(paths.includes("/v1/indexes/mail.old/categories"), paths.join());
    assert.ok(
      paths.every((path) => path.startsWith("/v1/indexes/mail.old/")),
      paths.join(),
    );
    await hasNoFindings(browser);
  } finally {
    server.close();
    await browser.view(1280, 900, "light");
  }
};

/**
 * On the page of the API, the user finds an operation by words, unfolds it, and tries it.
 * @type {Case}
 */
const apiPage = async (browser) => {
  const description = JSON.parse(
    readFileSync(new URL("../../src/openapi.json", import.meta.url), "utf8"),
  );
  description.paths["/v1/documents/{id}"].delete["x-right"] = "write";
  let needs = true;
  const server = await mock((call) => {
    if (call.path === "/openapi.json") return { json: description };
    if (needs && call.token !== "Bearer secret-token") {
      return refusal(401, "token-needed", "a token is needed");
    }
    return { json: { matches: [], asked: call.body ?? null, hostile: HOSTILE } };
  });
  try {
    await browser.complaints();
    await browser.open(`${server.url}api`);
    const count = Object.values(description.paths).flatMap((item) =>
      Object.keys(item).filter((name) => name !== "parameters"),
    ).length;
    await browser.see(`${count} operations`);
    await browser.paste("#api-words", "post compare");
    await browser.see(`1 operation of ${count}`);
    // Tab leads from the search field to the operation, and Enter opens it.
    await browser.press(KEYS.tab, KEYS.tab, KEYS.enter);
    await browser.wait("document.querySelector('#operation-compare').open");
    await browser.see("difference_counts");
    const displayed = await browser.run(
      "return document.querySelector('#operation-compare').innerText",
    );
    assert.ok(!displayed.includes("`"), "code is marked");
    await browser.paste("#try-compare-body", '{"a": {"id": "x"}, "b": {"id": "y"}}');
    await browser.run("document.querySelector('#operation-compare form .main').focus()");
    await browser.press(KEYS.enter);
    await browser.wait("document.querySelector('#token').open");
    await browser.type("#token-value", "secret-token");
    await browser.press(KEYS.enter);
    await browser.wait(
      "document.querySelector('#operation-compare .api-place strong')?.textContent.startsWith('200')",
    );
    assert.deepEqual(server.last().body, { a: { id: "x" }, b: { id: "y" } });
    const answered = await browser.run(
      "return document.querySelector('#operation-compare .api-place').innerText",
    );
    for (const part of [HOSTILE.slice(4, 20), "curl -X POST", "authorization: Bearer $TOKEN"]) {
      assert.ok(answered.includes(part), `${part} in ${answered}`);
    }
    assert.ok(!answered.includes("secret-token"), "the token is not shown");
    // The address opens one operation, which has parameters of the path and of the query.
    needs = false;
    await browser.open(`${server.url}api#get`);
    await browser.wait("document.querySelector('#operation-get').open");
    await browser.paste("#try-get-id", "a/b ä");
    await browser.run("document.querySelector('#try-get-text').value = 'true'");
    await browser.click("#operation-get form .main");
    await browser.wait("document.querySelector('#operation-get .api-place strong')");
    const last = server.last();
    assert.equal(`${last.path}?${last.query}`, "/v1/documents/a%2Fb%20%C3%A4?text=true");
    await hasNoFindings(browser, [
      [1280, "light"],
      [1280, "dark"],
      [390, "dark"],
      [320, "light"],
    ]);
    // Every operation can be opened without findings.
    await browser.view(1280, 900, "light");
    await browser.run(
      "document.querySelectorAll('.api-operation').forEach(fold => { fold.open = true; })",
    );
    await browser.wait(`document.querySelectorAll('.api-opened').length === ${count}`);
    assert.deepEqual(await findings(browser), []);
    assert.equal(await browser.run("return window.hacked"), null);
    const problems = (await browser.complaints()).filter(
      (line) => !line.includes("Failed to load resource"),
    );
    assert.deepEqual(problems, []);
  } finally {
    server.close();
    await browser.view(1280, 900, "light");
  }
};

/**
 * If the token does not open the first index, the page goes to an index that it opens.
 * @type {Case}
 */
const openedIndex = async (browser) => {
  const answer = answering({
    "GET /v1/indexes": () => ({
      json: { indexes: [{ ...ENTRY, name: "mail", address: "/v1/indexes/mail", default: false }] },
    }),
  });
  const server = await mock((call) => {
    const path = call.path.replace("/v1/indexes/mail/", "/v1/");
    if (call.path.startsWith("/v1/indexes/gone/")) {
      return refusal(404, "unknown-index", 'index "gone" does not exist for this token');
    }
    return path === call.path && path !== "/v1/indexes"
      ? refusal(403, "other-index", "the token does not open the index at this address")
      : answer({ ...call, path });
  });
  try {
    await browser.open(`${server.url}#/index`);
    await browser.wait("location.search === '?index=mail' && location.hash === '#/index'");
    await browser.see("How complete are the results?");
    assert.equal(await browser.run("return document.querySelector('#indexes').hidden"), true);
    // If no index has the name, the page says so and suggests what to do.
    await browser.run("location.assign('?index=gone#/index')");
    await browser.see("The token does not open an index with this name");
  } finally {
    server.close();
  }
};

/** Returns positions of the texts and buttons of a review, and whether they are in the window. */
const REVIEWED = `return (() => {
  const inView = ({ top, bottom, left, right }) => top >= 0 && bottom <= innerHeight &&
    left >= 0 && right <= innerWidth;
  const boxes = (selector) => Array.from(document.querySelectorAll(selector),
    (one) => one.getBoundingClientRect());
  const texts = [".first", ".second"].map((side) => boxes(".review-differences .rows " + side)[0]);
  const sides = boxes(".review-differences .sides")[0], buttons = boxes(".review-keys button");
  return { tops: texts.map(({ top }) => top), height: sides.height, innerHeight,
    textsInView: texts.every(({ top, left }) => inView({ top, bottom: top + 20, left, right: left })),
    sidesInView: inView(sides), buttons: buttons.length, buttonsInView: buttons.every(inView) };
})()`;

/**
 * Long texts that differ in their first word.
 * @type {Difference[]}
 */
const LONG = [
  { kind: "a", text: "Monday" },
  { kind: "b", text: "Thursday" },
  ...Array.from(
    { length: 60 },
    (_, at) =>
      /** @type {Difference[]} */ ([
        { kind: "same", text: ` ${words(30, `w${at}-`)}\n` },
        { kind: "b", text: `new${at}` },
      ]),
  ).flat(),
];

const fillsScreen = withMock(
  {
    "POST /v1/compare": () => ({ json: comparison(LONG) }),
  },
  async (browser, server) => {
    for (const [width, height] of [
      [1280, 900],
      [390, 844],
    ]) {
      const isTouch = width < 1000;
      await browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: isTouch });
      await browser.view(width, height, "light", isTouch);
      await browser.open(`${server.url}#/review`);
      await browser.wait("document.querySelector('.review-differences .sides')");
      await browser.wait("document.querySelector('#place').textContent");
      const opened = await browser.run(REVIEWED);
      console.log(
        `review at ${width} × ${height}: texts from y = ${opened.tops.map(Math.round)}, ` +
          `box of ${Math.round(opened.height)} px`,
      );
      assert.ok(
        opened.textsInView && opened.sidesInView && opened.buttonsInView,
        JSON.stringify(opened),
      );
      assert.equal(opened.buttons, 9);
      assert.ok(opened.height > 0.4 * height, JSON.stringify(opened));
      // The texts scroll in their box, the buttons stay.
      await browser.run("document.querySelector('.sides').scrollTop = 1e6");
      const scrolled = await browser.run(REVIEWED);
      assert.ok(
        scrolled.sidesInView && scrolled.buttonsInView && scrolled.tops[0] < 0,
        JSON.stringify(scrolled),
      );
      // Unfolded parts make the desk higher. The buttons stay in the window.
      await browser.run(
        "for (const fold of document.querySelectorAll('.review-bar > details')) " +
          "fold.open = true",
      );
      await browser.see("Metadata that differs");
      assert.ok((await browser.run(REVIEWED)).buttonsInView);
      const hasKeys = await browser.run(
        "return Array.from(document.querySelectorAll('kbd'))" +
          ".some((key) => key.checkVisibility())",
      );
      assert.equal(hasKeys, !isTouch, "touch users see no names of keys");
      assert.deepEqual(await findings(browser), []);
    }
  },
);

/** Every key is fast in a group of thousands, because the page draws only the lines in view. */
const manyMembers = withMock(
  {
    "GET /v1/groups": () => ({
      json: {
        groups: [LARGE_GROUP, ...groups(1, 4)],
        groups_total: 4,
        groups_decided: 0,
        groups_dissolved: 0,
        duplicates_total: 5_008,
        documents: 9_000,
        version: 1,
        stale: false,
        documents_changed: false,
        last_decision: 0,
      },
    }),
  },
  async (browser, server) => {
    await browser.open(`${server.url}#/review`);
    await browser.wait("document.querySelector('.review-differences .sides')");
    await browser.click(".review-members summary");
    await browser.see("Group: duplicate 1 of 4,999");
    // Measures the time from each key until the frame with its changes.
    await browser.run(
      "window.times = []; addEventListener('keydown', () => { " +
        "const from = performance.now(); requestAnimationFrame(() => setTimeout(() => " +
        "window.times.push(performance.now() - from))); }, true)",
    );
    const inView = `(() => {
    const line = document.querySelector('.member[aria-selected=true]').getBoundingClientRect();
    const list = document.querySelector('.member-list').getBoundingClientRect();
    return line.top >= list.top - 1 && line.bottom <= list.bottom + 1;
  })()`;
    /** @type {Record<string, number[]>} */
    const times = {};
    /**
     * @param {string} name
     * @param {string} key
     */
    const press = async (name, key, presses = 5) => {
      for (let at = 0; at < presses; at += 1) {
        const before = await browser.run("return window.times.length");
        await browser.press(key);
        await browser.wait("window.times.length > arguments[0]", before);
        assert.ok(await browser.run(`return ${inView}`), `${name}: the current line is in view`);
        const nodes = await browser.run("return document.querySelectorAll('*').length");
        assert.ok(nodes < 700, `${name}: ${nodes} nodes`);
        times[name] = [...(times[name] ?? []), await browser.run("return window.times.at(-1)")];
      }
    };
    const at = () =>
      browser.run("return document.querySelector('[aria-selected=true]').dataset.at");
    await browser.run("document.querySelector('.member-list').focus()");
    await press("ArrowDown", KEYS.down);
    assert.equal(await at(), "5");
    await press("End", KEYS.end, 1);
    assert.equal(await at(), "4998");
    await press("PageUp", KEYS.pageUp);
    await press("Home", KEYS.home, 1);
    assert.equal(await at(), "0");
    await browser.run("document.activeElement.blur()");
    await press("→", KEYS.right);
    for (const key of ["d", "n", "k", "u", "r"]) await press(key, key, key === "u" ? 3 : 5);
    for (const key of ["a", "u", "g", "u", "a", "u", "g", "u"]) await press(key, key, 1);
    const nodes = await browser.run("return document.querySelectorAll('*').length");
    console.log(
      `a group of 5,000 (${nodes} nodes), longest ms from key to frame: ` +
        Object.entries(times)
          .map(([name, all]) => `${name} ${Math.max(...all).toFixed(1)}`)
          .join(", "),
    );
    // A busy machine delays some presses, so the fastest press of each key counts.
    for (const [name, all] of Object.entries(times)) {
      assert.ok(Math.min(...all) < 250, `${name}: ${all} ms`);
    }
    await hasNoFindings(browser);
  },
);

/** All cases by name. */
export const CASES = {
  "a text is searched, and a match compared": searching,
  "known passages of a text are found": knownPassages,
  "an index without texts has no passages": noPassages,
  "a document is searched by its id": searchingById,
  "nothing found is shown with what that means": nothingFound,
  "a prediction that does not hold has its caveat": recallCaveat,
  "everything goes by keyboard": byKeyboard,
  "texts stand side by side": sideBySide,
  "the same words are shown as each text has them": sameWords,
  "texts that run from right to left do": rightToLeft,
  "missing differences are reported": noDifferences,
  "large texts are drawn in parts": largeTexts,
  "groups are browsed": grouped,
  "categories are browsed, with their documents": categories,
  "groups that are pending, stale, large or none": groupStates,
  "groups are decided about by keys, with undo and redo": reviewing,
  "groups are confirmed by a key": reviewingGroup,
  "changed documents are announced, decisions are not": reviewStale,
  "a finished review says so": reviewFinished,
  "groups to decide about are filtered": reviewFilter,
  "cut beginnings end with an ellipsis": cutBeginnings,
  "white space is marked on request": whiteSpace,
  "texts and buttons of a review fill the screen": fillsScreen,
  "keys are fast in a group of 5,000": manyMembers,
  "where two people judged the same, it is shown": agreeing,
  "a filter that leaves few groups is followed": reviewSparse,
  "many pairs are decided about at once, and taken back": reviewingMany,
  "decisions that could not be stored are kept and sent again": reviewRefused,
  "decisions of others are not overwritten": reviewConflicts,
  "decisions of others stay where many are decided about": reviewManyConflicts,
  "single keys are switched off": keysOff,
  "views are offered by the right of the token": views,
  "a page is left open while the server is started again": reviewRestarted,
  "differences are gone through by keys and buttons": walking,
  "texts of long words are drawn": longWords,
  "moved blocks are marked, and gone between": moving,
  "equal shingles are distinguished from equal texts": equalSets,
  "groups to decide about are those of a category": byCategory,
  "an index without categories has no filter by them": noCategories,
  "the API is shown and tried": apiPage,
  "decisions and lists are saved": savingLists,
  "another index is chosen": choosingIndex,
  "a token for another index leads there": openedIndex,
  "the index is shown": theIndex,
  "hostile ids, texts and metadata are texts": hostile,
  "the token": tokens,
  "refusals are shown, and what was typed stays": refusals,
  "late answers are not shown": lateAnswers,
  "documents are added, replaced and removed": writing,
  "files are read by the service": files,
};
