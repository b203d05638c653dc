// Which index of the server the page is about: the one in the address, `?index=NAME`, or else the
// first one.

/**
 * The name of the index in the address; empty for the first index of the server.
 * @returns {string}
 */
export const chosenIndex = () => new URLSearchParams(location.search).get("index") ?? "";

/**
 * The path of a request about the index.
 * @param {string} path such as `v1/stats`
 * @returns {string} the same below the name of the index that is chosen
 */
export const ofIndex = (path) => {
  const name = chosenIndex();
  return name === "" ? path : path.replace(/^v1\//, `v1/indexes/${encodeURIComponent(name)}/`);
};

/**
 * The address of this page for another index.
 * @param {string} name
 * @returns {string}
 */
export const pageOf = (name) => `?${new URLSearchParams({ index: name })}`;
