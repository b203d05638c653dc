// The parts of a comparison as steps: text that both have, and changes. Parts of either text that
// follow each other are one change, unless only one of them has the same words.

/** @import { Difference } from "../client/types.js" */

/** @typedef {{text: string, moved?: number}} Segment a part of one text */
/**
 * The words differ, the same words are written differently, or only white space differs.
 * @typedef {"words"|"written"|"white"} ChangeKind
 */
/** @typedef {{a: Segment[], b: Segment[], kind: ChangeKind}} Change */
/** @typedef {{same: string}} Shared */

/** @param {Segment[]} segments */
const withoutWhite = (segments) =>
  segments
    .map(({ text }) => text)
    .join("")
    .replace(/\s+/gu, "");

/**
 * @param {Segment[]} a
 * @param {Segment[]} b
 * @param {boolean} sameWords
 * @returns {ChangeKind}
 */
const kindOf = (a, b, sameWords) => {
  if (sameWords) return withoutWhite(a) === withoutWhite(b) ? "white" : "written";
  // The words of "no where" and "nowhere" differ.
  return withoutWhite([...a, ...b]) === "" ? "white" : "words";
};

/**
 * @param {Difference[]} parts in order
 * @returns {Generator<Change|Shared, void>}
 */
export function* steps(parts) {
  /** @type {Segment[]} */
  let a = [];
  /** @type {Segment[]} */
  let b = [];
  let sameWords = false;
  const ended = () => {
    const change = { a, b, kind: kindOf(a, b, sameWords) };
    a = [];
    b = [];
    return change.a.length + change.b.length > 0 ? [change] : [];
  };
  for (const part of parts) {
    const { kind, text, moved } = part;
    if (kind === "same" || Boolean(part.same_words) !== sameWords) {
      yield* ended();
      sameWords = Boolean(part.same_words);
    }
    if (kind === "a") a.push({ text, moved });
    else if (kind === "b") b.push({ text, moved });
    else yield { same: text };
  }
  yield* ended();
}

/**
 * The kinds of the changes, in order.
 * @param {Difference[]} parts
 * @returns {ChangeKind[]}
 */
export const changeKinds = (parts) =>
  Array.from(steps(parts)).flatMap((step) => ("same" in step ? [] : [step.kind]));
