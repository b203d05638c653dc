// The review of groups as a newcomer uses it: each key says its result, and no unseen pair is
// decided without a warning.

import assert from "node:assert/strict";
import { answering, comparison, groups, words } from "./api.mjs";
import { KEYS, pause } from "./driver.mjs";
import { decided, hasNoFindings, logged, withMock } from "./mocked.mjs";
import { refusal } from "./mock.mjs";

/** @import { Browser, Case } from "./driver.mjs" */
/** @import { Act, MockServer } from "./mock.mjs" */
/** @import { Difference, Group, NewDecision } from "../../src/page/client/types.js" */

/**
 * Returns a function that answers with these groups.
 * @param {Group[]} found
 * @param {object} more
 * @returns {Act}
 */
const listing =
  (found, more = {}) =>
  () => ({
    json: {
      groups: found,
      groups_total: found.length,
      groups_decided: 0,
      groups_dissolved: 0,
      duplicates_total: found.length,
      documents: 99,
      version: 1,
      stale: false,
      documents_changed: false,
      last_decision: 0,
      ...more,
    },
  });

/**
 * Waits until all decisions are stored.
 * @param {Browser} browser
 */
const stored = (browser) =>
  browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");

/**
 * The heads of both texts.
 * @param {Browser} browser
 * @returns {Promise<string[]>}
 */
const heads = async (browser) => {
  await browser.wait("document.querySelector('.review-differences .head')");
  return browser.run(
    "return Array.from(document.querySelectorAll('.review-differences .head'), " +
      "head => head.textContent.replace(/ only here$/, ''))",
  );
};

/** "Confirm all" first shows the least similar pair of the group, once. */
const confirmingUnseen = withMock(
  {
    "GET /v1/groups": (call) => {
      const all = groups(0, 4, 12);
      for (const one of all[1].duplicates) Object.assign(one, { similarity: 1, equal_text: true });
      // All pairs have the same similarity, and no texts are equal.
      for (const one of all[2].duplicates) one.similarity = 0.9;
      return listing(all)(call);
    },
  },
  async (browser, server) => {
    await browser.open(`${server.url}#/review`);
    await browser.see("0 of 4 groups decided");
    await browser.press("g");
    await browser.see("11 of 12 pairs not shown yet; this is the least similar one (0.842500).");
    assert.equal((await heads(browser))[1], "Duplicate: group-0/copy-11.txt");
    // A held key does not confirm.
    await browser.run(
      "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'g', repeat: true }))",
    );
    await pause(50);
    assert.deepEqual(decided(server), []);
    await browser.press("g");
    await browser.see("Confirmed 12 pairs as duplicates, 10 of them not shown.");
    await browser.see("1 of 4 groups decided, 12 pairs in this visit");
    // Pairs of equal texts need not be shown. If all pairs have the same similarity, one is shown.
    await browser.press("g");
    await browser.see("Confirmed 12 pairs as duplicates.");
    await browser.press("g");
    await browser.see("11 of 12 pairs not shown yet");
    await browser.press("g");
    await browser.see("3 of 4 groups decided, 36 pairs in this visit");
    // A user who has seen the least similar pair is not asked.
    for (let at = 0; at < 11; at += 1) await browser.press(KEYS.right);
    await browser.press("g");
    await browser.see("All 4 groups are decided.");
    await browser.see("48 pairs in this visit");
  },
);

/** The second choice of a document to keep replaces the first, and the page says so. */
const keepingAnother = withMock({}, async (browser, server) => {
  const [k, x, y] = ["letter", "copy-0", "copy-1"].map((name) => `group-0/${name}.txt`);
  await browser.run("location.hash = '#/review'");
  await browser.see("7 of 120 groups decided");
  await browser.press("k");
  assert.equal(
    await browser.run("return document.querySelector('#review-status').textContent"),
    `${x} is kept instead of ${k}. ${y} and the former keeper ${k}.`,
  );
  assert.deepEqual(await heads(browser), [`Kept before: ${k}`, `Duplicate: ${y}`]);
  await browser.press("k");
  await browser.see(`${y} is kept instead of ${x}.`);
  await stored(browser);
  assert.deepEqual(decided(server), [
    `duplicate ${k} ${x}`,
    `keep ${x}`,
    `duplicate ${k} ${y}`,
    `keep ${y}`,
    `undecided ${x}`,
  ]);
  await browser.press(KEYS.left, KEYS.left);
  assert.deepEqual(await heads(browser), [`Kept before: ${k}`, `Duplicate: ${x}`]);
  await browser.press(KEYS.right);
  assert.deepEqual(await heads(browser), [`Kept before: ${k}`, `Kept: ${y}`]);
  await browser.see("2 pairs in this visit");
  // The decision "duplicate" revokes the `keep` of the document.
  await browser.press("d");
  assert.deepEqual(await heads(browser), [`Kept: ${k}`, "Duplicate: group-0/copy-2.txt"]);
  await stored(browser);
  assert.deepEqual(decided(server).slice(5), [`duplicate ${k} ${y}`, `undecided ${y}`]);
  await browser.press("u", "u");
  await stored(browser);
  assert.deepEqual(decided(server).slice(7), [
    `duplicate ${k} ${y}`,
    `keep ${y}`,
    `undecided ${k} ${y}`,
    `undecided ${y}`,
    `keep ${x}`,
  ]);
  await browser.see("1 pair in this visit");
});

/**
 * Pairs that earlier visits have decided precede the queue, the newest first.
 * @type {Case}
 */
const earlierVisits = async (browser) => {
  const { log, add, answers } = logged();
  add(
    [
      { decision: "not_duplicate", documents: ["a", "b"], note: "two editions" },
      { decision: "duplicate", documents: ["a", "c"] },
      { decision: "keep", documents: ["c"] },
      { decision: "keep_all", documents: ["d", "e", "gone"] },
      { decision: "duplicate", documents: ["f", "g"], note: "many at once, 2026-11-20T09: rule" },
      { decision: "duplicate", documents: ["h", "i"] },
      { decision: "undecided", documents: ["i", "h"] },
      { decision: "duplicate", documents: ["group-0/copy-0.txt", "group-0/letter.txt"] },
    ],
    "bob",
  );
  /** @type {Record<string, Act>} */
  const special = {
    ...answers,
    "GET /v1/groups": listing(groups(0, 2, 1), { last_decision: log.length }),
    "GET /v1/documents/gone": () => refusal(404, "unknown-document", "no document has this id"),
  };
  await withMock(special, async (browser, server) => {
    await browser.open(`${server.url}#/review`);
    await browser.see("0 of 2 groups decided");
    await browser.press("u");
    await browser.see("Nothing to undo in this visit. Previous shows earlier decisions.");
    await browser.press(KEYS.left);
    await browser.see("Decision of 2026-11-28 10:00:00 UTC by bob: kept.");
    assert.deepEqual(await heads(browser), ["Kept: d", "Kept: e"]);
    await browser.press(KEYS.left);
    await browser.see("c and the former keeper a.");
    assert.deepEqual(await heads(browser), ["Kept before: a", "Kept: c"]);
    await browser.press(KEYS.left);
    await browser.see("Decision of 2026-11-28 10:00:00 UTC by bob: not a duplicate.");
    assert.deepEqual(await heads(browser), ["Kept before: a", "Not a duplicate: b"]);
    await browser.see("Earlier decision not a duplicate");
    await browser.click(".review-about summary");
    await hasNoFindings(browser);
    await browser.view(1280, 900, "light");
    await browser.press(KEYS.left);
    await browser.see("No earlier decisions.");
    // After the decision, the queue continues.
    await browser.press("d");
    await browser.see("b: duplicate. group-0/copy-0.txt and its keeper");
    await browser.see("0 of 2 groups decided, 1 pair in this visit");
    await stored(browser);
    assert.deepEqual(decided(server), ["duplicate a b"]);
    assert.equal(server.last("/v1/decisions").body.decisions[0].seen, 8);
    await browser.press("u");
    await browser.see("Undone.");
    await stored(browser);
    assert.deepEqual(decided(server), ["duplicate a b", "not_duplicate a b"]);
    await browser.press(KEYS.right, KEYS.right, KEYS.right);
    await browser.see("group-0/copy-0.txt and its keeper");
  })(browser);
};

/**
 * Returns a case that opens the pair of the newest decision of an earlier visit.
 * @param {NewDecision[]} stored
 * @param {(browser: Browser, server: MockServer) => Promise<void>} act
 * @param {Record<string, Act>} more answers
 * @returns {Case}
 */
const withEarlier =
  (stored, act, more = {}) =>
  async (browser) => {
    const { log, add, answers } = logged();
    add(stored, "bob");
    const special = {
      ...answers,
      "GET /v1/groups": listing(groups(0, 2, 1), { last_decision: log.length }),
      ...more,
    };
    await withMock(special, async (browser, server) => {
      await browser.open(`${server.url}#/review`);
      await browser.see("0 of 2 groups decided");
      await browser.press(KEYS.left);
      await act(browser, server);
    })(browser);
  };

/** Undoing a decision about a kept document restores the stored decision about its pair. */
const earlierPairUndone = withEarlier(
  [
    { decision: "duplicate", documents: ["a", "c"] },
    { decision: "keep", documents: ["c"] },
  ],
  async (browser, server) => {
    await browser.see("c and the former keeper a.");
    await browser.press("d");
    await browser.see("c: duplicate.");
    await stored(browser);
    await browser.press("u");
    await browser.see("Undone.");
    await stored(browser);
    assert.deepEqual(decided(server), ["duplicate a c", "undecided c", "duplicate a c", "keep c"]);
  },
);

/** The status names the decision of another person only while it is the current one. */
const earlierDecidedAgain = withEarlier(
  [{ decision: "not_duplicate", documents: ["a", "b"] }],
  async (browser) => {
    await browser.see("by bob: not a duplicate.");
    await browser.press("d");
    await browser.see("b: duplicate.");
    await browser.press(KEYS.left);
    await browser.see("b and its keeper a.");
    const statusScript = "return document.querySelector('#review-status').textContent";
    assert.equal(await browser.run(statusScript), "b and its keeper a.");
    await browser.press("u");
    await browser.press(KEYS.right, KEYS.left);
    await browser.see("by bob: not a duplicate.");
  },
);

let failures = 1;

/** A pair of an earlier visit that could not be loaded is requested again. */
const earlierPairFailed = withEarlier(
  [
    { decision: "duplicate", documents: ["a", "b"] },
    { decision: "duplicate", documents: ["c", "d"] },
  ],
  async (browser) => {
    await browser.see("The server failed");
    await browser.press(KEYS.left);
    await browser.see("d and its keeper c.");
    await browser.press(KEYS.left);
    await browser.see("b and its keeper a.");
  },
  {
    "GET /v1/documents/c": (call) => {
      failures -= 1;
      return failures < 0 ? answering()(call) : refusal(500, "", "broken");
    },
  },
);

/**
 * A new choice instead of a keeper of earlier visits replaces the document that was kept before.
 */
const earlierKeptInstead = withEarlier(
  [
    { decision: "duplicate", documents: ["a", "c"] },
    { decision: "keep", documents: ["c"] },
    { decision: "duplicate", documents: ["a", "b"] },
  ],
  async (browser, server) => {
    await browser.see("b and the former keeper a.");
    await browser.press("k");
    await browser.see("b is kept instead of c.");
    await stored(browser);
    assert.deepEqual(decided(server), ["duplicate a b", "keep b", "undecided c"]);
    await browser.press(KEYS.left);
    await browser.see("Earlier decision kept");
    await browser.press(KEYS.left);
    await browser.see("c and the former keeper a.");
    assert.deepEqual(await heads(browser), ["Kept before: a", "Duplicate: c"]);
    await browser.press("k");
    await browser.see("c is kept instead of b.");
    await stored(browser);
    assert.deepEqual(decided(server).slice(3), ["duplicate a c", "keep c", "undecided b"]);
    await browser.press("u", "u");
    await stored(browser);
    assert.deepEqual(decided(server).slice(6), [
      "duplicate a c",
      "undecided c",
      "keep b",
      "duplicate a b",
      "undecided b",
      "keep c",
    ]);
  },
);

/** A decision about many pairs also changes pairs of earlier visits. */
const earlierDecidedByMany = withEarlier(
  [{ decision: "not_duplicate", documents: ["group-5/letter.txt", "group-5/copy-0.txt"] }],
  async (browser) => {
    await browser.see("Earlier decision not a duplicate");
    await browser.click(".review-bulk summary");
    await browser.paste("#bulk-least", "0.96");
    await browser.click(".review-bulk form button");
    await browser.see("1 pair of 1 group would become");
    await browser.click(".review-bulk .buttons button");
    await browser.see("1 pair decided as duplicates");
    await browser.press(KEYS.left);
    await browser.see("Earlier decision duplicate");
  },
  {
    "GET /v1/groups": (call) => {
      const isBulk = call.query.get("limit") !== "20";
      return listing(isBulk ? groups(5, 6, 1) : groups(0, 2, 1), { last_decision: 1 })(call);
    },
  },
);

/** The queue begins at the first undecided pair. */
const firstUndecided = withMock(
  {
    "GET /v1/groups": (call) => {
      const all = groups(0, 1, 3);
      all[0].duplicates[0].decision = "duplicate";
      return listing(all)(call);
    },
  },
  async (browser, server) => {
    await browser.open(`${server.url}#/review`);
    await browser.see("group-0/copy-1.txt and its keeper");
    await browser.see("Group: duplicate 2 of 3");
  },
);

/** The page counts the filters that differ from their defaults, and clears them. */
const clearingFilters = withMock(
  {
    "GET /v1/groups": (call) =>
      listing(call.query.get("search") ? [] : groups(0, 1, 1), { groups_total: 3 })(call),
  },
  async (browser, server) => {
    const summary = () =>
      browser.run("return document.querySelector('.review-filter summary').textContent");
    await browser.open(`${server.url}#/review?state=undecided&order=doubt`);
    await browser.see("0 of 3 groups decided");
    assert.equal(await summary(), "Filters");
    await browser.click(".review-filter summary");
    await browser.click("#view-review .more summary");
    await browser.paste("#review-search", "budget");
    await browser.run("document.querySelector('#view-review form').requestSubmit()");
    await browser.see("No group matches the filters.");
    assert.equal(await summary(), "Filters: 1 set");
    assert.equal(await browser.run("return location.hash"), "#/review?search=budget");
    await browser.click(".review-stage a");
    await browser.wait("document.querySelector('.review-differences .sides')");
    assert.equal(await browser.run("return location.hash"), "#/review");
    assert.equal(await summary(), "Filters");
    await browser.press("d");
    await browser.see("This was the last of these groups.");
    await browser.click(".review-stage a");
    await browser.wait("location.hash === '#/review?state=decided'");
    await browser.wait("document.querySelector('.review-differences .sides')");
    assert.equal(await summary(), "Filters: 1 set");
  },
);

/**
 * Texts with differences in every line.
 * @type {Difference[]}
 */
const FAR = Array.from(
  { length: 20 },
  (_, at) =>
    /** @type {Difference[]} */ ([
      { kind: "same", text: `${words(20, `w${at}-`)}\n` },
      { kind: "a", text: `old${at}` },
      { kind: "b", text: `new${at}` },
    ]),
).flat();

/** The keys of differences scroll the texts, not the page. The status line is complete. */
const onTelephone = withMock(
  { "POST /v1/compare": () => ({ json: comparison(FAR) }) },
  async (browser, server) => {
    await browser.cdp("Emulation.setTouchEmulationEnabled", { enabled: true });
    await browser.view(390, 844, "light", true);
    await browser.open(`${server.url}#/review`);
    await browser.wait("document.querySelector('.review-differences .walk')");
    for (let step = 0; step < 20; step += 1) {
      await browser.press("f");
      await browser.wait(
        "(() => { const mark = document.querySelector('.current').getBoundingClientRect(), " +
          "box = document.querySelector('.sides').getBoundingClientRect(); " +
          "return mark.top >= box.top && mark.bottom <= box.bottom; })()",
      );
      assert.equal(await browser.run("return window.scrollY"), 0, `difference ${step + 1}`);
    }
    await browser.press("g");
    const line = await browser.run(
      "const line = document.querySelector('#review-status'); return line.scrollHeight <= " +
        "line.clientHeight && getComputedStyle(line).whiteSpace === 'normal' && line.innerText",
    );
    assert.match(line, /^2 of 3 pairs not shown yet; .* to confirm 3 pairs\./);
    await hasNoFindings(browser, [[390, "light"]]);
  },
);

/** Words that are joined or split count as other words. */
const joinedWords = withMock(
  {
    "POST /v1/compare": () => ({
      json: comparison([
        { kind: "same", text: "It is " },
        { kind: "a", text: "no where" },
        { kind: "b", text: "nowhere" },
        { kind: "same", text: " to be found" },
        { kind: "b", text: "\n", same_words: true },
      ]),
    }),
  },
  async (browser, server) => {
    await browser.open(`${server.url}#/compare?a=a&b=b`);
    await browser.see("The texts differ in 1 place");
    const marks = await browser.run(
      "return Array.from(document.querySelectorAll('.rows del, .rows ins'), " +
        "mark => [mark.className, mark.textContent])",
    );
    assert.deepEqual(marks, [
      ["", "no where"],
      ["", "nowhere"],
      ["white", "\n"],
    ]);
    await browser.press("f");
    await browser.see("Difference 1 of 1: “no where” in the first, “nowhere” in the second.");
  },
);

/**
 * Parts of two texts with the same words. The second has line ends where the first has spaces.
 * @param {string} name
 * @returns {Difference[]}
 */
const wrapped = (name) =>
  Array.from(
    { length: 10 },
    (_, at) =>
      /** @type {Difference[]} */ ([
        { kind: "same", text: words(8, `${name}${at}-`) },
        { kind: "a", text: " ", same_words: true },
        { kind: "b", text: "\n", same_words: true },
      ]),
  ).flat();

/** Equal words with other line ends are folded, unless white space is marked. */
const foldedWhite = withMock(
  {
    "POST /v1/compare": ({ body }) => ({
      json: comparison(
        body.a.id === "white"
          ? wrapped("w")
          : [
              ...wrapped("first"),
              { kind: "a", text: "Monday " },
              { kind: "b", text: "Thursday " },
              ...wrapped("then"),
            ],
      ),
    }),
  },
  async (browser, server) => {
    const folds = () =>
      browser.run(
        "return Array.from(document.querySelectorAll('.row-fold summary'), one => one.textContent)",
      );
    const status = () =>
      browser.run("return document.querySelector('.walk [role=status]').textContent");
    const sides = () =>
      browser.run(
        "return ['.first', '.second'].map((side) => Array.from(document.querySelectorAll(" +
          "`.rows ${side}`), (part) => part.textContent).join(' ').match(/\\S+/g).length)",
      );
    await browser.open(`${server.url}#/compare?a=a&b=b`);
    await browser.see("The texts differ in 1 place");
    assert.deepEqual(await folds(), ["68 equal words in both", "68 equal words in both"]);
    assert.deepEqual(await sides(), [25, 25]);
    await browser.press("f");
    assert.match(await status(), /^Difference 1 of 1: “Monday”/);
    await browser.click(".walk [aria-pressed]");
    assert.deepEqual(await folds(), []);
    assert.match(await status(), /^Difference 11 of 21: “Monday”/);
    assert.deepEqual(await sides(), [161, 161]);
    await browser.press("b");
    assert.equal(await status(), "Difference 10 of 21.");
    await browser.click(".walk [aria-pressed]");
    assert.equal((await folds()).length, 2);
    // If only white space differs, F marks it.
    await browser.open(`${server.url}#/compare?a=white&b=b`);
    await browser.see("The words are equal; 10 places");
    assert.deepEqual(await folds(), ["80 equal words in both"]);
    await browser.press("f");
    assert.equal(await status(), "Difference 1 of 10.");
    assert.deepEqual(await folds(), []);
    await hasNoFindings(browser);
    await browser.view(1280, 900, "light");
    await browser.click(".walk [aria-pressed]");
  },
);

/**
 * At the end of the queue, the page waits for new groups that separated documents form.
 * @type {Case}
 */
const newGroups = async (browser) => {
  let requestCount = 0;
  const all = groups(0, 1, 1);
  await withMock(
    {
      "GET /v1/groups": (call) => {
        requestCount += 1;
        const isNew = requestCount === 4;
        return listing(isNew ? all : [], { groups_total: 1, stale: requestCount < 4 })(call);
      },
    },
    async (browser, server) => {
      await browser.open(`${server.url}#/review`);
      await browser.see("Looking for new groups …");
      await browser.click(".review-filter summary");
      await browser.click("#view-review .more summary");
      await browser.paste("#review-search", "budget");
      await browser.see("group-0/copy-0.txt and its keeper");
      await browser.see("0 of 1 group decided");
      assert.equal(requestCount, 4);
      assert.equal(
        await browser.run("return document.querySelector('#review-search').value"),
        "budget",
      );
    },
  )(browser);
};

/** With a filter, the page does not wait for new groups. */
const noNewGroups = withMock(
  {
    "GET /v1/groups": (call) => {
      const all = groups(0, 1, 1);
      all[0].duplicates[0].decision = "duplicate";
      const isFound = call.query.get("state") === "decided";
      return listing(isFound ? all : [], { groups_total: 2, stale: true })(call);
    },
  },
  async (browser, server) => {
    for (const [filter, expected] of [
      ["state=decided", "group-0/copy-0.txt and its keeper"],
      ["search=budget", "No group matches the filters."],
    ]) {
      await browser.open(`${server.url}#/review?${filter}`);
      await browser.see(expected);
      await pause(1500);
      assert.equal(server.calls.filter(({ path }) => path === "/v1/groups").length, 1);
      server.calls.length = 0;
    }
    // Another view ends the search for new groups.
    await browser.run("location.hash = '#/review'");
    await browser.see("Looking for new groups …");
    await browser.click(".review-stage button");
    await browser.run("location.hash = '#/review?state=decided'");
    await browser.see("group-0/copy-0.txt and its keeper");
    const requestCount = server.calls.length;
    await pause(1500);
    assert.equal(server.calls.length, requestCount);
  },
);

/**
 * All cases by name.
 * @type {Record<string, Case>}
 */
export const CASES = {
  "the least similar pair is shown before a group is confirmed": confirmingUnseen,
  "the second kept document replaces the first": keepingAnother,
  "decisions of earlier visits precede the queue": earlierVisits,
  "undo restores the pair of a document kept earlier": earlierPairUndone,
  "an earlier decision is named while it is shown": earlierDecidedAgain,
  "an earlier pair that failed is requested again": earlierPairFailed,
  "keeping replaces the document kept earlier": earlierKeptInstead,
  "many decisions change earlier pairs": earlierDecidedByMany,
  "a queue begins at an undecided pair": firstUndecided,
  "filters are counted and cleared": clearingFilters,
  "a finished queue waits for new groups": newGroups,
  "a filtered queue does not wait for new groups": noNewGroups,
  "differences scroll the texts only": onTelephone,
  "joined words are other words": joinedWords,
  "equal words fold whatever their white space is": foldedWhite,
};
