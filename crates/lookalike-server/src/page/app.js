"use strict";
// Starts the page.

import { showAdd, watchAdd } from "./add.js";
import { showCategories } from "./categories.js";
import { showCompare, watchCompare } from "./compare.js";
import { watchDifferences } from "./difference_walk.js";
import { showDocument } from "./document.js";
import { at, focusHeading } from "./dom.js";
import { visible } from "./format.js";
import { showGroups } from "./groups.js";
import { showIndexes, watchIndexes } from "./indexes.js";
import { showQuery, watchQuery } from "./query.js";
import { showReview, watchReview } from "./review.js";
import { start } from "./router.js";
import { settings } from "./settings.js";
import { showIndex } from "./stats.js";
import { onToken, watchToken } from "./token.js";

const showIndexName = () => settings().then(({ name, version, writable }) => {
  at("place").textContent = visible(name);
  at("version").textContent = `lookalike ${visible(version)}`;
  for (const element of document.querySelectorAll("nav .writable")) element.hidden = !writable;
}, () => {
  // The current view shows the error.
});

at("skip").addEventListener("click", (event) => {
  // The views use the address.
  event.preventDefault();
  focusHeading();
});

watchToken();
onToken(showIndexName);
watchIndexes();
onToken(showIndexes);
watchQuery();
watchCompare();
watchDifferences();
watchAdd();
watchReview();
start({
  query: showQuery, groups: showGroups, review: showReview, compare: showCompare, document: showDocument,
  categories: showCategories, index: showIndex, add: showAdd,
});
showIndexName();
showIndexes();
