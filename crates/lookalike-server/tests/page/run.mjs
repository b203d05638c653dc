"use strict";
// Runs the cases one after the other in one browser: `node run.mjs FOLDER [WORD]`. Pictures go to
// the folder; with a word, only cases whose name has it.

import { Browser } from "./driver.mjs";
import { CASES as LOOKS } from "./looks.mjs";
import { CASES as MOCKED } from "./mocked.mjs";

const [folder, word = ""] = process.argv.slice(2);
const cases = Object.entries({ ...MOCKED, ...LOOKS }).filter(([name]) => name.includes(word));
const browser = await Browser.start();
let failed = 0;
try {
  await browser.view(1280, 900, "light");
  for (const [name, act] of cases) {
    const start = performance.now();
    try {
      await act(browser, folder);
      console.log(`ok      ${name} (${Math.round(performance.now() - start)} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
  }
} finally {
  await browser.close();
}
if (cases.length === 0) console.log(`no case is called ${word}`);
console.log(`${cases.length - failed} of ${cases.length} cases hold`);
process.exitCode = failed > 0 || cases.length === 0 ? 1 : 0;
