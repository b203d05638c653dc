// Serves the page from its folder with mock data, for `cargo x page`. Each request reads the file
// again, so a reload shows an edit.
//
//     node serve.mjs [PORT] [FOLDER]

import { pathToFileURL } from "node:url";
import { answering, groups, LARGE_GROUP } from "./api.mjs";
import { mock } from "./mock.mjs";

/** @import { Act } from "./mock.mjs" */

/** One more than the port of `lookalike serve`. */
const PORT = 8378;
/** Number of groups in the list. The first one is large. */
const GROUPS = 120;

const [port = String(PORT), folder] = process.argv.slice(2);

/** @type {Record<string, Act>} */
const special = {
  "GET /v1/groups": ({ query }) => {
    const from = Number(query.get("after") ?? 0);
    const to = Math.min(from + Number(query.get("limit") ?? 50), GROUPS);
    const found = from === 0 ? [LARGE_GROUP, ...groups(1, to)] : groups(from, to);
    return {
      json: {
        groups: found,
        ...(to < GROUPS ? { next: String(to) } : {}),
        groups_total: GROUPS,
        groups_decided: 0,
        groups_dissolved: 0,
        duplicates_total: LARGE_GROUP.duplicates.length + 3 * (GROUPS - 1),
        documents: 12_345,
        version: 42,
        stale: false,
        documents_changed: false,
        last_decision: 0,
      },
    };
  },
  "PUT *": ({ path }) => ({
    status: 201,
    json: {
      id: decodeURIComponent(path.slice("/v1/documents/".length)),
      done: "added",
      shingles: 9,
    },
  }),
  "DELETE *": () => ({ status: 204 }),
  "GET /v1/review/decisions": () => ({ text: "" }),
  "GET /v1/review/removed": () => ({ text: "" }),
  "GET /v1/review/kept": () => ({ text: "" }),
};

const page = folder === undefined ? undefined : pathToFileURL(`${folder}/`);
try {
  const { url } = await mock(answering(special), Number(port), page);
  console.log(`The page with mock data: ${url}\nReload it after an edit. Ctrl+C ends it.`);
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error);
  console.error(`cannot serve the page: ${reason}; name another port: cargo x page PORT`);
  process.exitCode = 1;
}
