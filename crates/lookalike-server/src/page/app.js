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
import { rights, showIndexes, watchIndexes } from "./indexes.js";
import { watchKeys } from "./keys.js";
import { showQuery, watchQuery } from "./query.js";
import { showReview, watchReview } from "./review.js";
import { start } from "./router.js";
import { settings } from "./settings.js";
import { showIndex } from "./stats.js";
import { onToken, watchToken } from "./token.js";

const showIndexName = () => settings().then(({ name, version }) => {
  at("place").textContent = visible(name);
  at("version").textContent = `lookalike ${visible(version)}`;
}, () => {
  // The current view shows the error.
});

/** Only views that the token may use are offered. */
const showViews = async () => {
  const allowed = await rights();
  for (const element of document.querySelectorAll("nav [data-right]")) {
    element.hidden = !allowed.includes(element.dataset.right);
  }
};

at("skip").addEventListener("click", (event) => {
  // The views use the address.
  event.preventDefault();
  focusHeading();
});

watchToken();
watchKeys();
onToken(showIndexName);
watchIndexes();
onToken(showIndexes);
onToken(showViews);
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
showViews();
