// The versions of a document, if the index keeps originals.

import { compareTexts, documentPath, requestFile, requestWhole } from "../client/api.js";
import { sides } from "../search/compare.js";
import { button, make, table } from "../dom/dom.js";
import { count, size, time } from "../dom/format.js";
import { save } from "../client/save.js";
import { fillPart } from "../client/view.js";

/** @import { Version } from "../client/types.js" */

/**
 * Saves the original file of a version under the name of the file.
 * @param {string} id
 * @param {Version} version
 * @param {HTMLElement} place for an error
 */
const saveOriginal = (id, version, place) =>
  fillPart(place, async () => {
    place.replaceChildren();
    const original = await requestFile(`${documentPath(id)}/versions/${version.version}/original`);
    save(original, version.name.split(/[/\\]/).pop() || `version-${version.version}`);
  });

/**
 * Shows the differences between a version and the previous version.
 * @param {string} id
 * @param {number} number
 * @param {HTMLElement} place
 */
const compare = (id, number, place) =>
  fillPart(place, async () => {
    place.replaceChildren(make("p", {}, "Comparing …"));
    const found = await compareTexts({ id, version: number - 1 }, { id, version: number });
    place.replaceChildren(
      ...sides(found, [`Version ${count(number - 1)}`, `Version ${count(number)}`]),
    );
  });

/**
 * @param {string} id
 * @param {Version} version
 * @param {HTMLElement} place
 */
const row = (id, version, place) => {
  const { version: number, added, ended, bytes, type } = version;
  const acts = [
    button("Save", () => saveOriginal(id, version, place), {
      "aria-label": `Save version ${number}`,
    }),
  ];
  if (number > 1) {
    acts.push(
      button("What changed", () => compare(id, number, place), {
        "aria-label": `What changed in version ${number}`,
      }),
    );
  }
  return [
    count(number),
    time(added),
    ended ? time(ended) : "now",
    size(bytes),
    type,
    make("span", { class: "buttons" }, ...acts),
  ];
};

/**
 * The versions of a document, the latest first, with buttons to save their originals and to compare
 * them.
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<Node[]>} a heading, a table, and a place for differences and errors
 */
export const versions = async (id, signal) => {
  const found = await requestWhole(`${documentPath(id)}/versions`, "versions", { signal });
  const place = make("div", { "aria-live": "polite" });
  const rows = [...found.versions].reverse().map((version) => row(id, version, place));
  return [
    make("h2", {}, "Versions"),
    table(["Version", "From", "To", "Size", "Type", "Original"], rows, "Versions of the document"),
    place,
  ];
};
