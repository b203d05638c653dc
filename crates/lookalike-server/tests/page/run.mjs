// Runs test cases one after the other in one browser:
//
//     node run.mjs mocked|looks|axe FOLDER
//     node run.mjs walk FOLDER URL
//     node run.mjs real FOLDER OPEN-URL GUARDED-URL READ-TOKEN WRITE-TOKEN
//
// Screenshots are written to FOLDER. If the environment variable CASE is set, only cases whose name
// contains it are run.

import { Browser } from "./driver.mjs";
import { CASES as AXE } from "./axe.mjs";
import { CASES as LOOKS } from "./looks.mjs";
import { CASES as MOCKED } from "./mocked.mjs";
import { CASES as REAL } from "./real.mjs";
import { CASES as REVIEW } from "./review.mjs";
import { CASES as WALK } from "./walk.mjs";

const [which, folder, open, guarded, reading, writing] = process.argv.slice(2);
const mocked = { ...MOCKED, ...REVIEW };
const all = { axe: AXE, mocked, looks: LOOKS, real: REAL, walk: WALK }[which] ?? {};
const word = process.env.CASE ?? "";
const cases = Object.entries(all).filter(([name]) => name.includes(word));
const browser = await Browser.start();
let failed = 0;
try {
  await browser.view(1280, 900, "light");
  for (const [name, act] of cases) {
    const start = performance.now();
    try {
      await act(browser, { folder, open, guarded, reading, writing });
      console.log(`ok      ${name} (${Math.round(performance.now() - start)} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}\n${error instanceof Error ? error.stack : error}`);
    }
  }
} finally {
  await browser.close();
}
console.log(`${cases.length - failed} of ${cases.length} cases hold`);
// A run without cases fails.
process.exitCode = failed > 0 || cases.length === 0 ? 1 : 0;
