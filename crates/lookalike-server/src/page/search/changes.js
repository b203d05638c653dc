// Converts the parts of a comparison to steps: text that both documents share, and changes.
// Consecutive parts of either text form one change. Parts marked `same_words` and parts without
// this mark form separate changes.

/** @import { Difference } from "../client/types.js" */

/** @typedef {{text: string, moved?: number}} Segment a part of one text */
/**
 * `words`: the words differ. `written`: the same words are written differently. `white`: only white
 * space differs.
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
 * Yields the steps of a comparison.
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
