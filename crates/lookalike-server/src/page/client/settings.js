"use strict";
// The settings of the index, requested once.

import { request } from "./api.js";
import { onToken } from "./token.js";

let asked = null;

/**
 * The settings of the index.
 * @returns {Promise<any>}
 */
export const settings = () => {
  if (!asked) {
    const mine = request("GET", "v1/settings");
    asked = mine;
    mine.catch(() => { if (asked === mine) asked = null; });
  }
  return asked;
};

/** Another token may give access to other settings. */
onToken(() => { asked = null; });
