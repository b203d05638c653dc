// Default answers of the mock: an index of letters. One id, its metadata and its text contain
// markup that would run if the page inserted it as HTML.

import { readFileSync } from "node:fs";
import { refusal, SETTINGS, STATS } from "./mock.mjs";

/** @import { CategoryNode, Comparison, Difference } from "../../src/page/client/types.js" */
/** @import { FileText, Group, IndexDocument, Match } from "../../src/page/client/types.js" */
/** @import { Act } from "./mock.mjs" */

/** Markup that would run as HTML, or would end an attribute. */
export const HOSTILE =
  '"\'><img src=x onerror="window.hacked=1"><script>window.hacked=1' +
  "</script><svg onload=window.hacked=1>javascript:hacked=1 \u202e</bdi>&lt;b&gt;";

/**
 * Returns `n` different words that begin with `name`.
 * @param {number} n
 * @param {string} name
 */
export const words = (n, name) => Array.from({ length: n }, (_, i) => `${name}${i}`).join(" ");

/**
 * A match of a query.
 * @param {string} id
 * @param {number} similarity
 * @param {Partial<Match>} more
 * @returns {Match}
 */
export const match = (id, similarity, more = {}) => ({
  id,
  similarity,
  estimated: false,
  shared: 240,
  shingles: 262,
  containment_of_query: 0.97,
  containment_of_match: 0.91,
  bytes: 1834,
  metadata: { source: "letters", language: "en", time: "2024-03-02" },
  ...more,
});

/**
 * Parts of two letters that differ in three places.
 * @type {Difference[]}
 */
export const STRETCHES = [
  { kind: "same", text: `${words(60, "word")} and then the meeting was held on ` },
  { kind: "a", text: "Monday" },
  { kind: "b", text: "Thursday" },
  { kind: "same", text: " in the large hall.\n\nEverybody came who could.\n" },
  { kind: "b", text: "Nobody had to stand.\n" },
  { kind: "same", text: `${words(200, "more")}\nWith kind regards\n` },
  { kind: "a", text: "The board" },
];

/**
 * Parts of two letters. The first sentence of the first letter is at the end of the second.
 * @type {Difference[]}
 */
export const MOVED = [
  { kind: "a", text: "This sentence of eight words is a block.", moved: 1 },
  { kind: "a", text: "\nThe first one only. " },
  { kind: "same", text: `${words(9_000, "word")}\nand so on ` },
  { kind: "b", text: "and on\n" },
  { kind: "b", text: "This sentence of eight words is a block", moved: 1 },
];

/**
 * Counts the places that differ. Consecutive parts form one place if they agree in `same_words`.
 * @param {Difference[]} parts
 */
const counted = (parts) => {
  /** @param {boolean} hasSameWords */
  const starts = (hasSameWords) =>
    parts.filter(
      (part, place) =>
        part.kind !== "same" &&
        Boolean(part.same_words) === hasSameWords &&
        (place === 0 ||
          parts[place - 1].kind === "same" ||
          Boolean(parts[place - 1].same_words) !== hasSameWords),
    ).length;
  return {
    words: starts(false),
    same_words: starts(true),
    case: starts(true),
    punctuation: 0,
    white_space: 0,
    moved: parts.filter(({ kind, moved }) => kind === "a" && moved).length,
  };
};

/**
 * The answer of a comparison.
 * @param {Difference[]|undefined} differences
 * @param {Partial<Comparison>} more
 * @returns {Comparison}
 */
export const comparison = (differences, more = {}) => ({
  jaccard: 0.871234,
  containment_of_a: 0.93,
  containment_of_b: 0.91,
  shared: 240,
  shingles_a: 262,
  shingles_b: 254,
  estimated: false,
  differences,
  ...(differences ? { difference_counts: counted(differences) } : {}),
  ...more,
});

/**
 * Groups of equal size with the numbers `from` to `to - 1`.
 * @param {number} from
 * @param {number} to
 * @param {number} duplicates number in each group
 * @returns {Group[]}
 */
export const groups = (from, to, duplicates = 3) =>
  Array.from({ length: to - from }, (_, place) => ({
    keeper: {
      id: `group-${from + place}/letter.txt`,
      bytes: 2000,
      metadata: { source: "post" },
      beginning: `The letter number ${from + place}, which begins like this.`,
    },
    duplicates_before: 0,
    duplicates_total: duplicates,
    duplicates: Array.from({ length: duplicates }, (_, copy) => ({
      id: `group-${from + place}/copy-${copy}.txt`,
      similarity: 0.98 - copy / 80,
      bytes: 1990 + copy,
      metadata: { source: "mail", subject: `Copy ${copy}`, pages: copy },
    })),
  }));

/** Number of duplicates in the large group. */
const MANY = 4_999;

/**
 * A group of 5,000 documents.
 * @type {Group}
 */
export const LARGE_GROUP = {
  ...groups(0, 1)[0],
  duplicates_total: MANY,
  duplicates: Array.from({ length: MANY }, (_, at) => ({
    id: `copies/${at}.txt`,
    similarity: 0.99 - at / 50_000,
    bytes: 2000 + at,
    metadata: { source: "mail", subject: `Copy ${at}`, pages: at },
    beginning: `The copy ${at} of the letter.`,
  })),
};

/**
 * A tree of categories, with Arabic words, markup and an empty label.
 * @type {CategoryNode[]}
 */
const CATEGORIES = [
  { path: "1", parent: null, level: 0.2, label: ["window", "motif", "server"], documents: 1063 },
  { path: "1.1", parent: "1", level: 0.5, label: ["لوحة", HOSTILE], documents: 12 },
  { path: "1.1.1", parent: "1.1", level: 0.8, label: [], documents: 5 },
  { path: "2", parent: null, level: 0.2, label: ["sale", "shipping", "offer"], documents: 919 },
];

/** @type {Record<string, Act>} */
const ANSWERS = {
  "GET /openapi.json": () => ({
    text: readFileSync(new URL("../../src/openapi.json", import.meta.url), "utf8"),
  }),
  "GET /v1/indexes": () => ({
    json: {
      indexes: [
        {
          name: "letters",
          address: "/v1/indexes/letters",
          default: true,
          right: "write",
          writable: true,
        },
      ],
    },
  }),
  "GET /v1/settings": () => ({ json: SETTINGS }),
  "GET /v1/stats": () => ({ json: STATS }),
  "POST /v1/query": ({ body }) => ({
    json: {
      matches: [
        match("letters/press-release final.txt", 0.963211),
        match("رسائل/رسالة.txt", 0.87),
        match(HOSTILE, 0.812, { metadata: { [HOSTILE]: HOSTILE, note: words(80, "long") } }),
      ],
      found: 5,
      candidates: 31,
      shingles: 250,
      threshold: body.threshold ?? 0.8,
      predicted_recall: 0.998347,
    },
  }),
  // Two answers: `after` requests the second one.
  "POST /v1/passages": ({ body }) => ({
    json: {
      passages: [
        {
          words: 8,
          bytes: [4, 33],
          chars: [4, 33],
          documents: body.after ? 1 : 12,
          places: body.after
            ? []
            : [
                { id: HOSTILE, bytes: [0, 29], chars: [0, 29] },
                { id: "letters/copy.txt", bytes: [7, 36], chars: [6, 35] },
              ],
        },
      ],
      words: 11,
      known_words: 8,
      documents: body.after ? 1 : 12,
      compared: 100,
      ...(body.after ? {} : { next: "100" }),
    },
  }),
  // The extension of the name selects the answer: an encrypted PDF, an archive with two texts and
  // an unreadable file, a Word file, or a plain text.
  "POST /v1/extract": ({ query, body }) => {
    const name = query.get("name") ?? "";
    const text = body.toString().replace("\uFEFF", "");
    /**
     * @param {string} within
     * @param {string} kind
     * @param {string} text
     * @param {Record<string, string>} fields
     * @returns {FileText}
     */
    const part = (within, kind, text, fields = {}) => ({ within, kind, text, fields });
    const emptyText = { parts: [], failed: [], further: 0 };
    if (name.endsWith(".pdf")) {
      const failed = [{ within: "", kind: "a PDF", reason: "encrypted: it opens with a password" }];
      return { json: { ...emptyText, failed } };
    }
    if (name.endsWith(".zip")) {
      const parts = [
        part("a.txt", "a text", "The first one."),
        part(HOSTILE, "a message", "The second one.", {
          subject: HOSTILE,
          from: "ada@example.org",
          date: "2024-03-02T08:00:00Z",
        }),
      ];
      const failed = [{ within: "c.bin", kind: "a binary file", reason: "binary" }];
      return { json: { parts, failed, further: 3 } };
    }
    if (name.endsWith(".docx")) {
      const fields = { title: "A letter" };
      return { json: { ...emptyText, parts: [part("", "a Word file", "Of a letter.", fields)] } };
    }
    return { json: { ...emptyText, parts: [part("", "a text", text)] } };
  },
  "GET /v1/agreement": ({ query }) => ({
    json:
      query.get("after") === "next"
        ? {
            people: [],
            disputed: [
              { documents: ["c.txt", "d.txt"], duplicate: ["ann"], not_duplicate: ["bob"] },
            ],
            disputed_total: 15,
          }
        : {
            people: [
              {
                people: ["ann", HOSTILE],
                pairs: 50,
                both_duplicate: 20,
                both_not_duplicate: 15,
                only_first_duplicate: 5,
                only_second_duplicate: 10,
                kappa: 0.4,
              },
            ],
            disputed: [
              { documents: [HOSTILE, "b.txt"], duplicate: ["ann"], not_duplicate: [HOSTILE] },
            ],
            disputed_total: 15,
            next: "next",
          },
  }),
  "GET /v1/categories": () => ({ json: { categories: CATEGORIES, model: 3, without_category: 7 } }),
  "GET /v1/documents": ({ query }) => {
    const from = Number(query.get("after") ?? 0);
    return {
      json: {
        documents: Array.from({ length: 50 }, (_, place) =>
          documentOf(place === 0 ? HOSTILE : `letters/${from + place}.txt`),
        ),
        ...(from === 0 ? { next: "50" } : {}),
      },
    };
  },
  "POST /v1/compare": () => ({ json: comparison(STRETCHES) }),
  "GET /v1/groups": ({ query }) => {
    const from = Number(query.get("after") ?? 0);
    const to = Math.min(from + 50, 120);
    return {
      json: {
        groups: groups(from, to),
        next: to < 120 ? String(to) : undefined,
        groups_total: 120,
        groups_decided: 7,
        groups_dissolved: 0,
        duplicates_total: 360,
        documents: 12345,
        version: 42,
        stale: false,
        documents_changed: false,
        last_decision: 3,
      },
    };
  },
};

/** A decision about many pairs. Another person has decided about one of them again. */
ANSWERS["GET /v1/decisions"] = () => {
  const note = "many at once, 2026-11-20T09:00:00.000Z: similarity 0.9 or more";
  const decisions = [
    ["a", HOSTILE, "duplicate", note],
    ["a", "c", "duplicate", note],
    ["c", "a", "not_duplicate"],
  ].map(([a, b, decision, said], at) => ({
    number: at + 1,
    decision,
    documents: [a, b],
    who: at < 2 ? "ann" : HOSTILE,
    when: "2026-11-20T09:00:01Z",
    ...(said ? { note: said } : {}),
  }));
  return { json: { decisions } };
};

/** Acknowledges all decisions. */
ANSWERS["POST /v1/decisions"] = ({ body: { decisions } }) => ({
  json: { added: decisions.length, unknown: 0, last: decisions.length },
});

/**
 * @param {string} id
 * @returns {IndexDocument}
 */
const documentOf = (id) => ({
  id,
  bytes: 1834,
  shingles: 262,
  metadata: { source: "letters", [HOSTILE]: HOSTILE },
  category: { path: "1.1", label: ["window", HOSTILE] },
  added: "2026-11-20T10:00:00Z",
  modified: "2024-03-02T08:00:00Z",
  text: `${HOSTILE}\n${words(300, "text")}`,
});

/**
 * Returns a function that answers requests. `special` has answers by method and path, which replace
 * the default ones.
 * @param {Record<string, Act>} special
 * @returns {Act}
 */
export const answering =
  (special = {}) =>
  (call) => {
    const name = `${call.method} ${call.path}`;
    const act = special[name] ?? ANSWERS[name];
    if (act) return act(call);
    const any = special[`${call.method} *`];
    if (any) return any(call);
    if (call.method === "GET" && call.path.startsWith("/v1/documents/")) {
      return { json: documentOf(decodeURIComponent(call.path.slice("/v1/documents/".length))) };
    }
    return refusal(404, "unknown-path", "this path does not exist");
  };
