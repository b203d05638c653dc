// Draws the probability that a pair becomes a candidate, as a function of its similarity.

import { draw } from "../dom/dom.js";
import { probability } from "../dom/format.js";

const LEFT = 50;
const RIGHT = 468;
const TOP = 30;
const BOTTOM = 266;

/** @param {number} similarity */
const x = (similarity) => LEFT + similarity * (RIGHT - LEFT);
/** @param {number} chance */
const y = (chance) => BOTTOM - chance * (BOTTOM - TOP);
/** @param {number} value */
const short = (value) => value.toFixed(1);

/**
 * The probability that two documents share a bucket: 1 - (1 - s^r)^b.
 * @param {number} similarity s, 0 to 1
 * @param {number} bands b
 * @param {number} rows r
 * @returns {number}
 */
export const candidateProbability = (similarity, bands, rows) =>
  -Math.expm1(bands * Math.log1p(-(similarity ** rows)));

const axes = () => {
  const parts = [];
  for (let fifth = 0; fifth <= 5; fifth += 1) {
    const value = fifth / 5;
    const atX = short(x(value));
    const atY = y(value);
    parts.push(
      draw("path", {
        class: "grid",
        d: `M${atX} ${BOTTOM}V${TOP}M${LEFT} ${short(atY)}H${RIGHT}`,
      }),
      draw("text", { x: atX, y: BOTTOM + 19, "text-anchor": "middle" }, value.toFixed(1)),
      draw(
        "text",
        { x: LEFT - 7, y: short(atY + 4), "text-anchor": "end" },
        `${fifth * 20}\u00a0%`,
      ),
    );
  }
  parts.push(
    draw(
      "text",
      {
        x: short((LEFT + RIGHT) / 2),
        y: BOTTOM + 40,
        "text-anchor": "middle",
      },
      "Similarity of two documents",
    ),
  );
  return parts;
};

/**
 * @param {number} threshold
 * @param {number} chance
 */
const marks = (threshold, chance) => {
  const atX = short(x(threshold));
  const isLeft = threshold > 0.5;
  return [
    draw("path", { class: "threshold", d: `M${atX} ${TOP - 14}V${BOTTOM}` }),
    draw("circle", { class: "mark", cx: atX, cy: short(y(chance)), r: 5 }),
    draw(
      "text",
      {
        class: "label",
        x: short(x(threshold) + (isLeft ? -6 : 6)),
        y: TOP - 10,
        "text-anchor": isLeft ? "end" : "start",
      },
      `threshold ${threshold}: ${probability(chance)}`,
    ),
  ];
};

/**
 * The curve with the threshold marked.
 * @param {number} bands
 * @param {number} rows
 * @param {number} threshold 0 to 1
 * @returns {SVGElement}
 */
export const curve = (bands, rows, threshold) => {
  /** @param {number} similarity */
  const at = (similarity) => candidateProbability(similarity, bands, rows);
  const points = Array.from(
    { length: 201 },
    (_, step) => `${short(x(step / 200))},${short(y(at(step / 200)))}`,
  ).join(" ");
  return draw(
    "svg",
    {
      class: "chart",
      viewBox: "0 0 484 312",
      role: "img",
      "aria-labelledby": "curve-title curve-text",
    },
    draw("title", { id: "curve-title" }, "How probable it is that a similar document is found"),
    draw(
      "desc",
      { id: "curve-text" },
      "A curve that rises from 0 % at similarity 0 to 100 % at similarity 1. " +
        `At the threshold of ${threshold} it is at ${probability(at(threshold))}.`,
    ),
    draw("rect", {
      class: "reported",
      x: short(x(threshold)),
      y: TOP,
      width: short(RIGHT - x(threshold)),
      height: BOTTOM - TOP,
    }),
    ...axes(),
    draw("polyline", { class: "curve", points }),
    ...marks(threshold, at(threshold)),
  );
};
