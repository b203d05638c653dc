// Shows two texts in columns, from their equal and different parts.

import { changeKinds, steps } from "./changes.js";
import { DifferenceWalk, marksWhite } from "./difference_walk.js";
import { button, fold, make } from "../dom/dom.js";
import { count, counted } from "../dom/format.js";
import { gradually, longText, pieces } from "../dom/gradually.js";

/** @import { Difference } from "../client/types.js" */
/** @import { Child } from "../dom/dom.js" */
/** @import { Change, ChangeKind, Segment, Shared } from "./changes.js" */

/** @typedef {{number: number, kind: ChangeKind}} Place of a difference */
/** @typedef {Generator<{element: HTMLElement, cost: number}, void>} Drawn rows to draw */

/** Number of shared words shown before and after a difference. */
const CONTEXT_WORDS = 12;
/** Maximum UTF-16 units of shared text before and after a difference, for texts with few spaces. */
const CONTEXT_CHARACTERS = 160;
/** Minimum length of a folded part, in UTF-16 units. */
const LEAST_FOLDED = 120;
/** Cost of one batch, in UTF-16 units. */
const BUDGET = 30_000;
/** Cost of a row in addition to its text. */
const ROW_COST = 100;
/** A row that costs more ends after its next shared text, even within a line. */
const ROW_MOST = 1_500;

/** @param {string} unit */
const isBlank = (unit) => /\s/.test(unit);

/**
 * The end of the context after a difference, at a word end if possible. Reads only the beginning of
 * the text.
 * @param {string} text
 */
const head = (text) => {
  const most = Math.min(CONTEXT_CHARACTERS, text.length);
  let end = 0;
  let at = 0;
  for (let words = 0; words < CONTEXT_WORDS; words += 1) {
    while (at < most && isBlank(text[at])) at += 1;
    if (at === most) break;
    while (at < most && !isBlank(text[at])) at += 1;
    end = at;
  }
  return wholeCharacter(text, end);
};

/**
 * The start of the context before a difference, at a word start if possible. Reads only the end of
 * the text.
 * @param {string} text
 */
const tail = (text) => {
  let at = text.length;
  let words = 0;
  let inWord = false;
  const least = Math.max(0, text.length - CONTEXT_CHARACTERS);
  while (at > least) {
    const blank = isBlank(text[at - 1]);
    if (blank && inWord) {
      words += 1;
      if (words === CONTEXT_WORDS) break;
    }
    inWord = !blank;
    at -= 1;
  }
  return wholeCharacter(text, at);
};

/**
 * Moves a position that is within a surrogate pair to the start of the pair.
 * @param {string} text
 * @param {number} place
 */
const wholeCharacter = (text, place) => {
  const unit = text.charCodeAt(place);
  return unit >= 0xdc00 && unit < 0xe000 ? place - 1 : place;
};

/** @param {string} text */
const words = (text) => {
  const found = text.match(/\S+/g)?.length ?? 0;
  // Chinese and Thai have no spaces between words.
  return found * 20 < text.length
    ? `${count(text.length)} equal characters`
    : counted(found, "equal word");
};

/** @param {string} text */
const foldedRow = (text) =>
  make(
    "div",
    { class: "row-fold", role: "row" },
    make(
      "div",
      { role: "cell", "aria-colspan": "2" },
      fold(make("summary", {}, `${words(text)} in both`), () => longText(text)),
    ),
  );

/** @type {Record<string, string>} */
const SIGNS = { " ": "\u2423", "\n": "\u21b5\n", "\t": "\u21e5", "\r": "\u240d" };

/**
 * Replaces white space with visible symbols.
 * @param {string} text
 */
const signs = (text) =>
  text.replace(/./gsu, (c) => SIGNS[c] || `\\u{${c.codePointAt(0)?.toString(16)}}`);

/**
 * Marks a segment of one text. If words differ, the white space around them stays unmarked;
 * otherwise the whole segment is marked. The style sheet hides marks of the class `white` until the
 * user shows them.
 * @param {"del"|"ins"} tag
 * @param {Segment} piece
 * @param {Place} place
 * @returns {Child[]}
 */
const marked = (tag, { text, moved }, { number, kind }) => {
  /**
   * @param {string|undefined} name class
   * @param {string} inner
   * @param {string} [shownSigns] the symbols of white space
   */
  const mark = (name, inner, shownSigns) =>
    make(
      tag,
      { class: name, "data-place": number, "data-moved": moved, "data-signs": shownSigns },
      inner,
    );
  if (kind === "white") {
    const shownSigns = text.trim() === "" ? signs(text).replaceAll("\n", "") : undefined;
    return [mark("white", text, shownSigns)];
  }
  if (kind === "written") return [mark("same-words", text.trim() === "" ? signs(text) : text)];
  const inner = text.trim();
  if (inner === "") return [mark("blank", text.replace(/\n/g, "↵\n"))];
  const from = text.indexOf(inner);
  /** @type {Child[]} */
  const parts = [
    text.slice(0, from),
    mark(moved === undefined ? undefined : "moved", inner),
    text.slice(from + inner.length),
  ];
  if (moved !== undefined) parts.splice(1, 0, movedButton(tag, moved), " ");
  return parts;
};

/**
 * The button that leads to the other place of a moved block. `DifferenceWalk` handles its clicks.
 * @param {"del"|"ins"} tag
 * @param {number} moved
 */
const movedButton = (tag, moved) => {
  const other = tag === "del" ? "second" : "first";
  return button(`Moved ${count(moved)}`, () => {}, {
    class: "link moved-to",
    "data-other": `${tag === "del" ? "ins" : "del"} ${moved}`,
    "aria-label": `Moved ${count(moved)}: go to its place in the ${other} text`,
  });
};

/** A row of both texts. It ends at a line end, at a folded part, or when it is full. */
class Row {
  constructor() {
    /** @type {Child[]} */
    this.left = [];
    /** @type {Child[]} */
    this.right = [];
    this.cost = ROW_COST;
    this.apart = false;
  }

  /** @param {string} text */
  same(text) {
    // Empty lines before a row become space above it.
    if (this.empty && text === "\n") {
      this.apart = true;
      return;
    }
    this.left.push(text);
    this.right.push(text);
    this.add(text);
  }

  /**
   * @param {"a"|"b"} side
   * @param {Segment} piece
   * @param {Place} place
   */
  only(side, piece, place) {
    if (side === "a") this.left.push(...marked("del", piece, place));
    else this.right.push(...marked("ins", piece, place));
    this.add(piece.text);
  }

  /** @param {string} text */
  add(text) {
    this.cost += text.length;
  }

  get empty() {
    return this.left.length === 0 && this.right.length === 0;
  }

  element() {
    /**
     * @param {string} name class
     * @param {Child[]} parts
     */
    const cell = (name, parts) =>
      make("div", { class: `side ${name}`, role: "cell", dir: "auto" }, ...parts);
    return make(
      "div",
      { class: this.apart ? "row apart" : "row", role: "row" },
      cell("first", this.left),
      cell("second", this.right),
    );
  }
}

/**
 * Cuts the long segments of one side of a difference into pieces.
 * @param {Segment[]} segments
 * @returns {Segment[]}
 */
const cut = (segments) =>
  segments.flatMap(({ text, moved }) =>
    Array.from(pieces(text), (piece) => ({ text: piece, moved })),
  );

/** Draws rows one after the other. */
class Rows {
  constructor() {
    this.row = new Row();
    /** The number of differences so far, including folded ones. */
    this.places = 0;
  }

  /** @returns {Drawn} */
  *end() {
    if (!this.row.empty) yield { element: this.row.element(), cost: this.row.cost };
    this.row = new Row();
  }

  /**
   * Adds shared text. The row ends after each line end, and after the text if the row is full.
   * @param {string} text
   * @returns {Drawn}
   */
  *shared(text) {
    for (const line of text.split(/(?<=\n)/)) {
      this.row.same(line);
      const full = line.endsWith("\n") || this.row.cost > ROW_MOST;
      if (full && !this.row.empty) yield* this.end();
    }
  }

  /**
   * Adds a change. The first pieces of both sides continue the row; each further piece of a side
   * has a new row, with the piece of the other side that has the same index.
   * @param {Change} change
   * @returns {Drawn}
   */
  *changed({ a, b, kind }) {
    const left = cut(a);
    const right = cut(b);
    const place = { number: this.places, kind };
    const most = Math.max(left.length, right.length);
    const lines =
      this.row.empty &&
      [a, b].every((segments) => segments.length === 0 || segments.at(-1)?.text.endsWith("\n"));
    this.places += 1;
    for (let i = 0; i < most; i += 1) {
      if (i > 0) yield* this.end();
      if (left[i]) this.row.only("a", left[i], place);
      if (right[i]) this.row.only("b", right[i], place);
    }
    if (lines) yield* this.end();
  }

  /**
   * @param {Step[]} all
   * @returns {Drawn}
   */
  *plain(all) {
    for (const step of all) yield* "same" in step ? this.shared(step.same) : this.changed(step);
  }

  /**
   * Adds a part with the same words in both texts. Folds its middle, with its differences in white
   * space.
   * @param {Step[]} all
   * @param {boolean} isFirst whether the texts begin with the part
   * @param {boolean} isLast whether the texts end with the part
   * @returns {Drawn}
   */
  *equal(all, isFirst, isLast) {
    const text = firstText(all);
    const from = isFirst ? 0 : head(text);
    const to = isLast ? text.length : tail(text);
    if (to - from < LEAST_FOLDED) {
      yield* this.plain(all);
      return;
    }
    const [before, middle, after] = divided(all, from, to);
    yield* this.plain(before);
    yield* this.end();
    yield { element: foldedRow(firstText(middle)), cost: ROW_COST };
    this.places += middle.filter((step) => !("same" in step)).length;
    yield* this.plain(after);
  }
}

/** @typedef {Change|Shared} Step */

/**
 * The part of the first text that steps consist of.
 * @param {Step[]} all
 */
const firstText = (all) =>
  all.flatMap((step) => ("same" in step ? [step.same] : step.a.map(({ text }) => text))).join("");

/**
 * Divides steps into three parts at two positions of the first text. Changes are not divided.
 * @param {Step[]} all
 * @param {number} from
 * @param {number} to
 * @returns {[Step[], Step[], Step[]]}
 */
const divided = (all, from, to) => {
  /** @type {[Step[], Step[], Step[]]} */
  const parts = [[], [], []];
  let end = 0;
  for (const step of all) {
    const start = end;
    end += firstText([step]).length;
    if (!("same" in step)) {
      parts[start < from ? 0 : end <= to ? 1 : 2].push(step);
      continue;
    }
    const [first, second] = [from, to].map((place) =>
      Math.min(Math.max(place - start, 0), step.same.length),
    );
    const texts = [
      step.same.slice(0, first),
      step.same.slice(first, second),
      step.same.slice(second),
    ];
    for (const [at, same] of texts.entries()) if (same) parts[at].push({ same });
  }
  return parts;
};

/**
 * Yields the rows of a comparison. While white space is not marked, its differences belong to the
 * parts with the same words.
 * @param {Difference[]} parts
 * @returns {Drawn}
 */
function* rows(parts) {
  const drawn = new Rows();
  const foldsWhite = !marksWhite();
  let isFirst = true;
  /** @type {Step[]} */
  let equal = [];
  for (const step of steps(parts)) {
    if ("same" in step || (step.kind === "white" && foldsWhite)) {
      equal.push(step);
      continue;
    }
    if (equal.length > 0) yield* drawn.equal(equal, isFirst, false);
    isFirst = false;
    equal = [];
    yield* drawn.changed(step);
  }
  if (equal.length > 0) yield* drawn.equal(equal, isFirst, true);
  yield* drawn.end();
}

/**
 * @param {Set<ChangeKind>} kinds
 * @param {boolean} moved
 */
const legend = (kinds, moved) =>
  make(
    "p",
    { class: "note legend" },
    ...(kinds.has("words")
      ? [
          "Words of the first text only are ",
          make("del", {}, "struck through"),
          ", words of the second text only ",
          make("ins", {}, "underlined"),
          ". ",
        ]
      : []),
    ...(kinds.has("written")
      ? [
          "Words that differ only in case or punctuation are ",
          make("ins", { class: "same-words" }, "dotted"),
          ". ",
        ]
      : []),
    ...(moved
      ? [
          "A block ",
          make("ins", { class: "moved" }, "in a frame"),
          " is at different places of the texts.",
        ]
      : []),
  );

/**
 * Both texts side by side.
 * @param {Difference[]} parts in order
 * @param {[Child, Child]} names of the texts, for the heads of the columns
 * @returns {HTMLElement[]} the legend and the buttons, if the texts differ, and the texts
 */
export const differences = (parts, names) => {
  const kinds = changeKinds(parts);
  const moved = parts.some((part) => part.moved !== undefined);
  const heads = names.map((name) => make("div", { class: "head", role: "columnheader" }, name));
  let body = make("div", { class: "rows", role: "rowgroup" });
  const box = make(
    "div",
    {
      class: "sides",
      role: "table",
      "aria-label": "Both texts side by side",
      tabindex: "0",
    },
    make(
      "div",
      { role: "rowgroup", class: "heads" },
      make("div", { class: "row", role: "row" }, ...heads),
    ),
    body,
  );
  const drawRows = () => {
    // Rows of the old body stop drawing when it leaves the page.
    const empty = make("div", { class: "rows", role: "rowgroup" });
    body.replaceWith(empty);
    body = empty;
    return gradually(body, rows(parts), BUDGET);
  };
  if (kinds.length === 0) {
    drawRows();
    return [box];
  }
  const walk = new DifferenceWalk(box, kinds, drawRows);
  return [legend(new Set(kinds), moved), walk.element, box];
};
