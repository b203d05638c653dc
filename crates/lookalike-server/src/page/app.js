// Starts the page.

import { showAdd, watchAdd } from "./index/add.js";
import { showCategories } from "./index/categories.js";
import { showCompare, watchCompare } from "./search/compare.js";
import { watchDifferences } from "./search/difference_walk.js";
import { showDocument } from "./index/document.js";
import { at, watchSkip } from "./dom/dom.js";
import { visible } from "./dom/format.js";
import { showGroups } from "./index/groups.js";
import { rights, showIndexes, watchIndexes } from "./client/indexes.js";
import { watchKeys } from "./dom/keys.js";
import { showQuery, watchQuery } from "./search/query.js";
import { showReview, watchReview } from "./review/review.js";
import { start } from "./dom/router.js";
import { settings } from "./client/settings.js";
import { showIndex } from "./index/stats.js";
import { onToken, watchToken } from "./client/token.js";

const showIndexName = () =>
  settings().then(
    ({ name, version }) => {
      at("place").textContent = visible(name);
      at("version").textContent = `lookalike ${visible(version)}`;
    },
    () => {
      // The current view shows the error.
    },
  );

/** Shows the links to the views that the token may use, and hides the others. */
const showViews = async () => {
  const allowed = await rights();
  /** @type {NodeListOf<HTMLElement>} */
  const limited = document.querySelectorAll("nav [data-right]");
  for (const element of limited) {
    element.hidden = !allowed.includes(element.dataset.right ?? "");
  }
};

watchSkip();
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
  query: showQuery,
  groups: showGroups,
  review: showReview,
  compare: showCompare,
  document: showDocument,
  categories: showCategories,
  index: showIndex,
  add: showAdd,
});
showIndexName();
showIndexes();
showViews();
