// Walks through the queue of groups: presses a key for each pair as soon as the page shows its
// differences, and measures times.

/**
 * Runs in the browser. Measures the time from each key until the differences of the next pair are
 * drawn, as entries "step" of the performance timeline.
 */
const WATCH = () => {
  performance.clearMeasures("step");
  performance.clearResourceTimings();
  performance.setResourceTimingBufferSize(10_000);
  const shown = () => document.querySelector(".review-differences .sides");
  let last = shown();
  document.addEventListener("keydown", () => performance.mark("key"), { capture: true });
  new MutationObserver(() => {
    const now = shown();
    if (now === last) return;
    last = now;
    if (now) performance.measure("step", "key");
  }).observe(/** @type {Node} */ (document.querySelector("#review-results")), {
    childList: true,
    subtree: true,
  });
};

/** Waits for the differences of a pair and returns its ids; null at the end of the queue. */
const SHOWN = `return new Promise((done) => {
  const look = () => {
    const ids = Array.from(document.querySelectorAll(".review-differences .head .full"),
      (id) => id.textContent);
    if (document.querySelector(".review-differences .sides") && ids.length > 1) done(ids);
    else if (document.querySelector("#review-status").textContent.includes("last of these groups"))
      done(null);
    else setTimeout(look, 2);
  };
  look();
})`;

/** The times that were measured on the page, in ms. */
const MEASURED = `return {
  steps: performance.getEntriesByName("step").map(({ duration }) => duration),
  answers: performance.getEntriesByType("resource").filter(({ name }) => /v1\\/(compare|groups)/
    .test(name)).map(({ duration }) => duration),
}`;

/**
 * Decides about the pairs of a queue, until `most` groups are decided or the queue ends.
 * @param {import("./driver.mjs").Browser} browser
 * @param {string} url of the view, with its filter
 * @param {number} most maximum number of groups
 * @param {(pair: string[]) => string} keyOf returns the key for a pair
 * @returns {Promise<{decided: Array<[string, string[]]>, steps: number[], answers: number[]}>} the
 *   keys and pairs; the times until the next pair was drawn, and the response times, in ms
 */
export const walk = async (browser, url, most, keyOf) => {
  await browser.open(url);
  await browser.wait("document.querySelector('.review-differences .sides')");
  await browser.run(`(${WATCH})()`);
  const decided = [];
  const keepers = new Set();
  for (;;) {
    const pair = await browser.run(SHOWN);
    if (pair === null || keepers.add(pair[0]).size > most) break;
    const key = keyOf(pair);
    decided.push([key, pair]);
    await browser.press(key);
  }
  await browser.wait("!document.querySelector('.review-progress').innerText.includes('stored')");
  return { decided, ...(await browser.run(MEASURED)) };
};

/**
 * Summarizes times in one line.
 * @param {number[]} times in ms
 * @returns {string}
 */
export const summary = (times) => {
  const sorted = times.toSorted((a, b) => a - b);
  /** @param {number} share */
  const at = (share) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(1);
  const over = times.filter((time) => time > 100).length;
  return (
    `median ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms, ${over} over 100 ms ` +
    `of ${times.length}`
  );
};

/**
 * Decides about 200 groups of a running server, and prints the times.
 * @type {import("./driver.mjs").Case}
 */
const served = async (browser, { open }) => {
  const { decided, steps, answers } = await walk(
    browser,
    `${open}#/review`,
    200,
    ([, duplicate]) => (duplicate.length % 3 === 0 ? "n" : "d"),
  );
  console.log(`${decided.length} pairs decided about by keyboard`);
  console.log(`until the next pair is shown: ${summary(steps)}`);
  console.log(`answers of the network: ${summary(answers)}`);
};

/** All cases by name. */
export const CASES = { "groups of a service are decided about by keyboard": served };
