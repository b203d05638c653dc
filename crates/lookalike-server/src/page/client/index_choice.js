// The index that the page shows. The address names it as `?index=NAME`; without a name it is the
// first index of the server.

/**
 * The name of the index in the address; empty if the address names none.
 * @returns {string}
 */
export const chosenIndex = () => new URLSearchParams(location.search).get("index") ?? "";

/**
 * The path of a request about the chosen index.
 * @param {string} path such as `v1/stats`
 * @returns {string} the path below `v1/indexes/NAME/`, unchanged if the address names no index
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
