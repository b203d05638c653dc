// The versions of a document, if the index keeps originals.

import { compareTexts, documentPath, request, requestWhole } from "../client/api.js";
import { differences } from "../search/differences.js";
import { button, make, table } from "../dom/dom.js";
import { count, size, time } from "../dom/format.js";
import { save } from "../client/save.js";
import { fillPart } from "../client/view.js";

/** Saves the original of a version under its name. */
const saveOriginal = (id, version, place) =>
  fillPart(place, async () => {
    place.replaceChildren();
    const path = `${documentPath(id)}/versions/${version.version}/original`;
    const original = await request("GET", path, { blob: true });
    save(original, version.name.split(/[/\\]/).pop() || `version-${version.version}`);
  });

/** Shows what differs between a version and the one before it. */
const compare = (id, number, place) =>
  fillPart(place, async () => {
    place.replaceChildren(make("p", {}, "Comparing …"));
    const found = await compareTexts({ id, version: number - 1 }, { id, version: number });
    const names = [`Version ${count(number - 1)}`, `Version ${count(number)}`];
    place.replaceChildren(...differences(found.differences, names));
  });

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
 * The versions of a document, the latest first, with their originals and differences.
 * @param {string} id
 * @param {AbortSignal} signal
 * @returns {Promise<Node[]>} a heading, a table, and a place for differences and problems
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
