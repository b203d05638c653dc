// Tests the page with a real server: the server understands the requests, and the page shows its
// answers.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { HOSTILE, words } from "./api.mjs";
import { findings } from "./access.mjs";
import { KEYS, pause } from "./driver.mjs";
import { summary, walk } from "./walk.mjs";

/** @import { Groups, StoredDecision } from "../../src/page/client/types.js" */
/** @import { Browser, Case } from "./driver.mjs" */

const LETTER = `${words(60, "word")}, and the meeting was held on Monday.\n${words(60, "more")}`;
const EDITED = LETTER.replace("Monday", "Thursday");
const SHORTER = LETTER.slice(0, LETTER.lastIndexOf(" more55"));
const IDS = ["letters/a b.txt", "letters/ä?#%.txt", HOSTILE];

/**
 * @param {Browser} browser
 * @param {string} id
 * @param {string} text
 */
const add = async (browser, id, text) => {
  await browser.run("location.hash = '#/add'");
  await browser.wait("!document.querySelector('#view-add').hidden");
  await browser.paste("#add-id", id);
  await browser.paste("#add-text", text);
  await browser.click("#add-form .main");
};

/**
 * @param {Browser} browser
 * @param {string} text
 */
const search = async (browser, text) => {
  await browser.run("location.hash = '#/'");
  await browser.wait("!document.querySelector('#view-query').hidden");
  await browser.paste("#query-text", text);
  await browser.click("#query-form .main");
};

/**
 * Asserts that no markup of the data ran, and that the browser logged no errors except failed
 * requests.
 * @param {Browser} browser
 */
const sound = async (browser) => {
  assert.equal(await browser.run("return window.hacked"), null);
  const problems = (await browser.complaints()).filter(
    (line) => !line.includes("Failed to load resource"),
  );
  assert.deepEqual(problems, []);
};

/**
 * The server sends every file of the page completely, without a token, and with a strict policy.
 * @type {Case}
 */
const served = async (_browser, { guarded }) => {
  const folder = new URL("../../src/page/", import.meta.url);
  const table = readFileSync(new URL("files.rs", folder), "utf8");
  const files = Array.from(table.matchAll(/\("(.*?)", \w+, include_str!\("(.*?)"\)\)/g));
  assert.ok(files.length > 20);
  for (const [, path, name] of files) {
    const answer = await fetch(new URL(path, guarded));
    assert.equal(answer.status, 200, path);
    assert.equal(await answer.text(), readFileSync(new URL(name, folder), "utf8"), path);
    const policy = answer.headers.get("content-security-policy") ?? "";
    assert.ok(!policy.includes("unsafe") && /(default|script)-src 'self'/.test(policy), policy);
    assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  }
};

/** @type {Case} */
const fromFirstToLast = async (browser, { open }) => {
  await browser.open(`${open}#/groups`);
  await browser.see("The 0 documents of the index have no near-duplicates.");
  for (const [place, text] of [LETTER, EDITED, SHORTER].entries()) {
    await add(browser, IDS[place], text);
    await browser.see("Added the document, with");
    await browser.wait("document.querySelector('#add-id').value === ''");
  }
  await add(browser, IDS[0], EDITED);
  await browser.see("The index already has a document with this id");

  // All three documents resemble the letter. The equal one is first.
  await search(browser, LETTER);
  await browser.wait("document.querySelectorAll('.match').length === 3");
  /** @type {[string, string][]} */
  const found = await browser.run(
    "return Array.from(document.querySelectorAll('.match'), one => " +
      "[one.querySelector('.match-id').textContent, one.querySelector('.figure').textContent])",
  );
  assert.deepEqual(found[0], [IDS[0], "1.000000"]);
  assert.deepEqual(
    found.map(([id]) => id).toSorted(),
    IDS.map((id) => id.replace("\u202e", "\\u{202e}")).toSorted(),
  );
  const edited = found.findIndex(([id]) => id === IDS[1]);
  await browser.run("document.querySelectorAll('.match .button')[arguments[0]].click()", edited);
  await browser.see("The texts differ in 1 place.");
  /** @type {string[]} */
  const marks = await browser.run(
    "return ['del', 'ins'].map(tag => " + "document.querySelector(`.rows ${tag}`).textContent)",
  );
  assert.deepEqual(
    marks.map((word) => word.replace(".", "")),
    ["Monday", "Thursday"],
  );

  // Another text contains a passage of the letter.
  await search(browser, `An unlike text that quotes: ${words(30, "word").toUpperCase()} and ends.`);
  await browser.see("Known passages of your text");
  await browser.click("#passages-form button");
  await browser.see("1 known passage in 3 documents; 3 documents compared word by word.");
  assert.ok(
    (await browser.run("return document.querySelector('.known').innerText")).includes(
      "30 words, from character 28 on, in 3 documents",
    ),
  );
  assert.deepEqual(await findings(browser), []);

  // A query by id does not find the document itself.
  await browser.run("location.hash = '#/'");
  await browser.paste("#query-id", IDS[1]);
  await browser.click("#id-form button");
  await browser.see(`Similar to ${IDS[1]}`);
  await browser.wait("document.querySelectorAll('.match').length === 2");

  await browser.open(`${open}#/groups`);
  await browser.wait("document.querySelector('#view-groups .warning button, .group')");
  for (
    let i = 0;
    i < 100 && !(await browser.run("return !!document.querySelector('.group')"));
    i++
  ) {
    await browser.run("document.querySelector('#view-groups .warning button')?.click()");
    await browser.wait("document.querySelector('#view-groups form')");
  }
  await browser.see("1 group with 2 duplicates among 3 documents.");
  await browser.click(".group summary");
  await browser.wait("document.querySelectorAll('.members tbody tr').length === 3");
  await browser.click(".members tr:nth-child(2) input");
  await browser.click(".members tr:nth-child(3) input");
  await browser.click(".choose button");
  await browser.see("The texts differ in");
  assert.deepEqual(await findings(browser), []);

  await browser.open(`${open}#/index`);
  await browser.see("Settings of the index");
  const rows = await browser.run(
    "return Array.from(document.querySelectorAll('#view-index " +
      "tbody tr'), row => row.innerText.replace(/\\s+/g, ' ')).join('\\n')",
  );
  for (const row of [
    "shingle words:5 ",
    "tokens words ",
    "bands 21 ",
    "store shingle sets, texts and",
  ]) {
    assert.ok(rows.includes(row), `${row} in ${rows}`);
  }
  await browser.see("Documents 3 ");
  assert.deepEqual(await findings(browser), []);

  // A removed document is not found again.
  await browser.open(`${open}#/document?id=${encodeURIComponent(HOSTILE)}`);
  await browser.see("word59");
  await browser.click("#view-document .danger");
  await browser.click("#confirm-yes");
  await browser.see("Removed the document from the index.");
  await search(browser, LETTER);
  await browser.wait("document.querySelectorAll('.match').length === 2");
  await browser.open(`${open}#/document?id=${encodeURIComponent(HOSTILE)}`);
  await browser.see("The index has no document with this id");
  await sound(browser);
};

/** @type {Case} */
const decisions = async (browser, { open }) => {
  await browser.open(`${open}#/review?order=size`);
  for (let i = 0; i < 200; i++) {
    await browser.wait("document.querySelector('.review-progress')");
    if (!(await browser.run("return !!document.querySelector('#view-review .stale')"))) break;
    await browser.click("#view-review .stale button");
    await pause(50);
  }
  await browser.wait("document.querySelector('.review-differences .sides')");
  await browser.see("0 of 1 group decided");
  await browser.press("n");
  await browser.see("1 of 1 group decided, 1 pair in this visit");
  await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
  /** @returns {Promise<StoredDecision[]>} */
  const log = async () => (await (await fetch(new URL("v1/decisions", open))).json()).decisions;
  assert.deepEqual(
    (await log()).map(({ decision }) => decision),
    ["not_duplicate"],
  );
  assert.deepEqual((await log())[0].documents.toSorted(), IDS.slice(0, 2).toSorted());
  await browser.press("u");
  await browser.see("Undone.");
  for (let i = 0; i < 200 && (await log()).length < 2; i++) await pause(20);
  assert.equal((await log())[1].decision, "undecided");
  // The user decides about many pairs, and revokes the decisions from the list of past actions.
  await browser.click(".review-bulk summary");
  await browser.paste("#bulk-least", "0.5");
  await browser.click(".review-bulk form button");
  await browser.see("1 pair of 1 group would become duplicates.");
  await browser.click(".review-bulk .buttons button");
  await browser.see("1 pair decided as duplicates (similarity 0.5 or more).");
  await browser.click(".past-bulk > summary");
  await browser.see("1 duplicate in force");
  await browser.click(".past-bulk .buttons button");
  await browser.see("1 decision taken back.");
  await browser.see("1 pair decided again or taken back since:");
  assert.deepEqual(
    (await log()).slice(2).map(({ decision }) => decision),
    ["duplicate", "undecided"],
  );
  assert.deepEqual(await findings(browser), []);
  await sound(browser);
};

/** Number of pairs that the walk adds and decides about. */
const PAIRS = 200;

/** @type {Case} */
const walked = async (browser, { open }) => {
  /**
   * @param {string} id
   * @param {string} text
   */
  const put = async (id, text) => {
    const answer = await fetch(new URL(`v1/documents/${id}`, open), {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ text, metadata: { source: "walk" } }),
    });
    assert.equal(answer.status, 201);
  };
  for (let pair = 0; pair < PAIRS; pair += 1) {
    const text = words(40, `walk${pair}x`);
    await Promise.all([put(`walk-${pair}-a`, `${text} and the end`), put(`walk-${pair}-b`, text)]);
  }
  // The list of groups is computed in the background.
  const query = new URL("v1/groups?filter=source%3Dwalk&limit=1000", open);
  /** @returns {Promise<Partial<Groups>>} an answer without groups while they are computed */
  const found = async () => (await fetch(query)).json();
  for (;;) {
    const { stale, groups = [] } = await found();
    if (stale === false && groups.length >= PAIRS) break;
    await pause(20);
  }
  /** @param {string[]} pair */
  const keyOf = ([, duplicate]) => (Number(duplicate.split("-")[1]) % 3 === 0 ? "n" : "d");
  const { decided, steps, answers } = await walk(
    browser,
    `${open}#/review?source=walk`,
    PAIRS,
    keyOf,
  );
  console.log(`until the next pair is shown: ${summary(steps)}\nanswers: ${summary(answers)}`);
  assert.equal(decided.length, PAIRS);
  assert.equal(new Set(decided.map(([, pair]) => String(pair))).size, PAIRS, "each pair once");
  // Each pair except the first one was measured.
  assert.equal(steps.length, PAIRS - 1);
  const log = await (await fetch(new URL("v1/decisions?limit=10000", open))).json();
  /** @type {StoredDecision[]} */
  const all = log.decisions;
  const stored = all.filter(({ documents }) => documents[0].startsWith("walk-"));
  /** @type {Record<string, string>} */
  const name = { n: "not_duplicate", d: "duplicate" };
  assert.deepEqual(
    stored.map(({ decision, documents }) => [decision, documents]),
    decided.map(([key, pair]) => [name[key], pair]),
  );
  await sound(browser);
};

/**
 * The page of the API with a real server: the server understands its requests, and refuses
 * operations that the token does not permit.
 * @type {Case}
 */
const triedApi = async (browser, { open, guarded, reading }) => {
  /** @param {string} id */
  const answered = (id) =>
    browser.wait(
      "document.querySelector(`#operation-${arguments[0]} .api-place strong`)?.textContent",
      id,
    );
  await browser.open(`${open}api#stats`);
  await browser.wait("document.querySelector('#operation-stats form .main')");
  await browser.click("#operation-stats form .main");
  assert.match(await answered("stats"), /^200/);
  await browser.open(`${guarded}api#delete`);
  await browser.wait("document.querySelector('#try-delete-id')");
  await browser.see("It needs a token that may write.");
  await browser.paste("#try-delete-id", "nothing/here");
  await browser.click("#operation-delete form .main");
  await browser.wait("document.querySelector('#token').open");
  await browser.type("#token-value", reading);
  await browser.press(KEYS.enter);
  assert.match(await answered("delete"), /^403/);
  await browser.see("read-only-token");
  assert.deepEqual(await findings(browser), []);
  await browser.click("#forget");
  await sound(browser);
};

/** @type {Case} */
const withTokens = async (browser, { guarded, reading, writing }) => {
  /** @param {string} token */
  const enter = async (token) => {
    await browser.wait("document.querySelector('#token').open");
    await browser.type("#token-value", token);
    await browser.press(KEYS.enter);
  };
  await browser.open(guarded);
  await enter("a-wrong-token-of-the-page-test");
  await browser.see("The server does not know this token.");
  await enter(reading);
  await browser.wait("!document.querySelector('#token').open");
  await browser.wait("document.querySelector('#place').textContent");
  await add(browser, "a", LETTER);
  await browser.see("The token does not permit this");
  assert.equal(await browser.run("return document.querySelector('#add-text').value"), LETTER);
  await browser.click("#forget");
  await enter(writing);
  await browser.wait("!document.querySelector('#token').open");
  await browser.click("#add-form .main");
  await browser.see("Added the document, with");

  // This index keeps signatures only, so similarities are estimates and there are no differences.
  await search(browser, EDITED);
  await browser.wait("document.querySelectorAll('.match').length === 1");
  assert.ok(await browser.run("return !!document.querySelector('.match .tag')"));
  await browser.click(".match .button");
  await browser.see("The page cannot show the differences");
  await browser.open(`${guarded}#/document?id=a`);
  await browser.see("The index does not store texts.");
  await sound(browser);
};

/** @type {Case} */
const refused = async (browser, { open }) => {
  await browser.open(`${open}#/compare?a=not-there&b=nor-this`);
  await browser.see("The index has no document with this id");
  await browser.open(`${open}#/groups?after=nonsense`);
  await browser.see("The server rejected the request");
  await browser.open(`${open}#/?id=not-there`);
  await browser.see("The index has no document with this id");
  await sound(browser);
};

/**
 * The page lists the versions of a document, compares them, and saves their originals.
 * @type {Case}
 */
const versionsOfADocument = async (browser, { open }) => {
  for (const text of [LETTER, EDITED]) {
    const answer = await fetch(new URL("v1/documents/page?name=page.html", open), {
      method: "PUT",
      headers: { "Content-Type": "text/html" },
      body: `<!doctype html><script>window.hacked = 1</script><p>${text}</p>`,
    });
    assert.ok(answer.ok);
  }
  await browser.open(`${open}#/document?id=page`);
  await browser.wait("document.querySelectorAll('#document-results tbody tr').length === 2");
  const row = await browser.run(
    "return document.querySelector('#document-results tbody tr').innerText",
  );
  assert.ok(row.startsWith("2") && row.includes("now") && row.includes("text/html"), row);
  assert.deepEqual(await findings(browser), []);
  await browser.click("[aria-label='What changed in version 2']");
  await browser.wait("document.querySelector('#document-results .rows ins')");
  const changed = await browser.run(
    "return ['del', 'ins'].map((tag) => " +
      "document.querySelector(`#document-results .rows ${tag}`).textContent)",
  );
  assert.ok(changed[0].includes("Monday") && changed[1].includes("Thursday"), String(changed));
  await browser.click("[aria-label='Save version 1']");
  await sound(browser);
};

/** All cases by name. */
export const CASES = {
  "the files of the page are served": served,
  "documents come, are found, compared, grouped, and go": fromFirstToLast,
  "decisions are stored": decisions,
  "200 groups are decided about by keyboard": walked,
  "the API is tried": triedApi,
  "tokens let in, for reading and for writing": withTokens,
  "versions are listed and compared": versionsOfADocument,
  "refusals of the server are shown": refused,
};
