// The settings of the index, requested once for each token.

import { once, request } from "./api.js";

/** The settings of the index. */
export const settings = once(() => request("GET", "v1/settings"));
