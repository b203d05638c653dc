"use strict";
// Shows two texts in columns, from their equal and different parts.

import { make } from "./dom.js";
import { count, counted } from "./format.js";
import { gradually, longText, pieces } from "./gradually.js";

/** Words that both texts share, shown before and after a difference. */
const CONTEXT_WORDS = 12;
/** The same where words are long or not divided by spaces. */
const CONTEXT_CHARACTERS = 160;
/** Minimum length of folded parts. */
const LEAST_FOLDED = 120;
/** Cost of one drawing step, in UTF-16 units. */
const BUDGET = 30_000;
/** Cost of a row in addition to its text. */
const ROW_COST = 100;
/** A row that costs more ends where both sides have the same, even within a line. */
const ROW_MOST = 1_500;

/** End of the context after a difference. */
const head = (text) => {
  const found = text.slice(0, CONTEXT_CHARACTERS).match(
    new RegExp(`^(?:\\s*\\S+){0,${CONTEXT_WORDS}}?(?=\\s*$)|^(?:\\s*\\S+){${CONTEXT_WORDS}}`));
  return whole(text, found ? found[0].length : Math.min(CONTEXT_CHARACTERS, text.length));
};

/** Start of the context before a difference. */
const tail = (text) => {
  let at = text.length, words = 0, inWord = false;
  const least = Math.max(0, text.length - CONTEXT_CHARACTERS);
  while (at > least) {
    const blank = /\s/.test(text[at - 1]);
    if (blank && inWord) {
      words += 1;
      if (words === CONTEXT_WORDS) break;
    }
    inWord = !blank;
    at -= 1;
  }
  return whole(text, at);
};

/** A position between characters. */
const whole = (text, place) => {
  const unit = text.charCodeAt(place);
  return unit >= 0xdc00 && unit < 0xe000 ? place - 1 : place;
};

const words = (text) => {
  const found = text.match(/\S+/g)?.length ?? 0;
  // Chinese and Thai have no spaces between words.
  return found * 20 < text.length ? `${count(text.length)} equal characters`
    : counted(found, "equal word");
};

const fold = (text) => {
  const details = make("details", { class: "fold" },
    make("summary", {}, `${words(text)} in both`));
  details.addEventListener("toggle", () => details.append(longText(text)), { once: true });
  return make("div", { class: "row-fold", role: "row" },
    make("div", { role: "cell", "aria-colspan": "2" }, details));
};

const SIGNS = { " ": "\u2423", "\n": "\u21b5\n", "\t": "\u21e5", "\r": "\u240d" };

/** White space as visible symbols. */
const signs = (text) => text.replace(/[^]/gu, (c) => SIGNS[c] ||
  `\\u{${c.codePointAt(0).toString(16)}}`);

/** Words are marked, the blanks around them are not; of the same words, whatever differs. */
const marked = (tag, text, sameWords) => {
  if (sameWords) {
    return [make(tag, { class: "same-words" }, text.trim() === "" ? signs(text) : text)];
  }
  const inner = text.trim();
  if (inner === "") return [make(tag, { class: "blank" }, text.replace(/\n/g, "↵\n"))];
  const from = text.indexOf(inner);
  return [text.slice(0, from), make(tag, {}, inner), text.slice(from + inner.length)];
};

/** What is side by side until a line ends or something is folded. */
class Row {
  constructor() {
    this.left = [];
    this.right = [];
    this.cost = ROW_COST;
    this.apart = false;
  }

  same(text) {
    // Empty lines before a row are space before it.
    if (this.empty && text === "\n") {
      this.apart = true;
      return;
    }
    this.left.push(text);
    this.right.push(text);
    this.add(text);
  }

  only(side, text, sameWords) {
    if (side === "a") this.left.push(...marked("del", text, sameWords));
    else this.right.push(...marked("ins", text, sameWords));
    this.add(text);
  }

  add(text) {
    this.cost += text.length;
  }

  get empty() {
    return this.left.length === 0 && this.right.length === 0;
  }

  element() {
    const cell = (name, parts) => make("div", { class: `side ${name}`, role: "cell", dir: "auto" },
      ...parts);
    return make("div", { class: this.apart ? "row apart" : "row", role: "row" },
      cell("first", this.left), cell("second", this.right));
  }
}

/** Draws rows one after the other. */
class Rows {
  constructor() {
    this.row = new Row();
  }

  * end() {
    if (!this.row.empty) yield { element: this.row.element(), cost: this.row.cost };
    this.row = new Row();
  }

  /** Both sides go on in a new row where a line ends in both, or much is in this one. */
  * shared(text) {
    for (const line of text.split(/(?<=\n)/)) {
      this.row.same(line);
      const full = line.endsWith("\n") || this.row.cost > ROW_MOST;
      if (full && !this.row.empty) yield* this.end();
    }
  }

  /** What is long goes over several rows. */
  * changed(a, b, sameWords) {
    const left = Array.from(pieces(a)), right = Array.from(pieces(b));
    const most = Math.max(left.length, right.length), lines = this.row.empty &&
      [a, b].every((text) => text === "" || text.endsWith("\n"));
    for (let i = 0; i < most; i += 1) {
      if (i > 0) yield* this.end();
      if (left[i]) this.row.only("a", left[i], sameWords);
      if (right[i]) this.row.only("b", right[i], sameWords);
    }
    if (lines && most > 0) yield* this.end();
  }

  * same(text, first, last) {
    const from = first ? 0 : head(text), to = last ? text.length : tail(text);
    if (to - from < LEAST_FOLDED) {
      yield* this.shared(text);
      return;
    }
    if (from > 0) yield* this.shared(text.slice(0, from));
    yield* this.end();
    yield { element: fold(text.slice(from, to)), cost: ROW_COST };
    if (to < text.length) yield* this.shared(text.slice(to));
  }
}

/** Parts of either text that follow each other are one change, unless of another kind. */
function* rows(parts) {
  const drawn = new Rows();
  let a = "", b = "", sameWords = false;
  for (const [place, part] of parts.entries()) {
    const { kind, text } = part;
    if (kind === "same" || Boolean(part.same_words) !== sameWords) {
      yield* drawn.changed(a, b, sameWords);
      a = "";
      b = "";
      sameWords = Boolean(part.same_words);
    }
    if (kind === "a") a += text;
    else if (kind === "b") b += text;
    else yield* drawn.same(text, place === 0, place === parts.length - 1);
  }
  yield* drawn.changed(a, b, sameWords);
  yield* drawn.end();
}

const legend = (changed, written) => make("p", { class: "note" }, ...changed ? [
  "Words that are only in the first are ", make("del", {}, "struck through"),
  ", those only in the second ", make("ins", {}, "underlined"), ". "] : [],
...written ? ["The same words in other case, punctuation or white space are ",
  make("ins", { class: "same-words" }, "dotted"), "."] : []);

/**
 * Both texts side by side.
 * @param {Array<{kind: "same"|"a"|"b", text: string, same_words?: boolean}>} parts in order
 * @param {[Node, Node]} names what to call the texts
 * @returns {Node[]}
 */
export const differences = (parts, names) => {
  const differing = parts.filter(({ kind }) => kind !== "same");
  const changed = differing.some((part) => !part.same_words);
  const written = differing.some((part) => part.same_words);
  const heads = names.map((name) =>
    make("div", { class: "head", role: "columnheader" }, name));
  const body = make("div", { class: "rows", role: "rowgroup" });
  gradually(body, rows(parts), BUDGET);
  const box = make("div", {
    class: "sides", role: "table", "aria-label": "Both texts side by side", tabindex: "0",
  }, make("div", { role: "rowgroup", class: "heads" },
    make("div", { class: "row", role: "row" }, ...heads)), body);
  return changed || written ? [legend(changed, written), box] : [box];
};
