// Accessibility checks that hold for any page.

/** Roles that must have a name. */
const NAMED = new Set([
  "button",
  "textbox",
  "link",
  "checkbox",
  "spinbutton",
  "dialog",
  "DisclosureTriangle",
  "table",
  "navigation",
  "img",
  "region",
  "searchbox",
  "combobox",
]);

/**
 * Runs in the browser, and returns the findings as sentences.
 * @returns {string[]}
 */
const onPage = () => {
  /** @type {string[]} */
  const findings = [];
  /** @param {Element} element */
  const seen = (element) =>
    element.checkVisibility({ visibilityProperty: true }) && element.getClientRects().length > 0;
  /** @param {Element} element */
  const name = (element) =>
    `<${element.tagName.toLowerCase()} class="${
      element.getAttribute("class") ?? ""
    }"> ${element.textContent?.trim().slice(0, 40)}`;
  const open = document.querySelector("dialog[open]");
  /** @param {Element} element */
  const within = (element) => !open || open.contains(element);

  // One first-level heading, and no skipped level.
  const levels = Array.from(document.querySelectorAll("h1,h2,h3,h4,h5,h6"))
    .filter((heading) => seen(heading) && !heading.closest("dialog"))
    .map((heading) => Number(heading.tagName[1]));
  if (levels.filter((level) => level === 1).length !== 1) findings.push(`h1: ${levels}`);
  levels.forEach((level, i) => {
    if (level > (levels[i - 1] ?? 0) + 1) findings.push(`heading skipped: ${levels}`);
  });

  // One of each landmark, a language and a title, unique ids, and attributes that refer to them.
  for (const one of ["main", "header", "footer", "nav[aria-label]"]) {
    if (document.querySelectorAll(`body > ${one}`).length !== 1) findings.push(`not one ${one}`);
  }
  if (!document.documentElement.lang || !document.title) findings.push("no language or title");
  const ids = Array.from(document.querySelectorAll("[id]"), (element) => element.id);
  for (const id of new Set(ids)) {
    if (ids.filter((other) => other === id).length > 1) findings.push(`id twice: ${id}`);
  }
  for (const attribute of ["for", "aria-labelledby", "aria-describedby"]) {
    for (const element of document.querySelectorAll(`[${attribute}]`)) {
      for (const id of element.getAttribute(attribute)?.split(" ") ?? []) {
        if (!document.getElementById(id)) findings.push(`${attribute} of nothing: ${id}`);
      }
    }
  }

  // Nothing is wider than the window.
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) {
    const wide = Array.from(document.querySelectorAll("main *")).filter(
      (element) => seen(element) && element.getBoundingClientRect().right > innerWidth + 1,
    );
    findings.push(
      `scrolls sideways: ${page.scrollWidth} > ${innerWidth}: ${wide.slice(0, 3).map(name)}`,
    );
  }

  // Contrast of each text, and contrast and size of each field and button, from the computed style.
  /** @typedef {{r: number, g: number, b: number, a: number}} Colour */
  /**
   * @param {string} colour
   * @returns {Colour}
   */
  const parse = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0, 0];
    return { r, g, b, a };
  };
  /**
   * @param {Colour} top
   * @param {Colour} below
   * @returns {Colour}
   */
  const over = (top, below) => {
    /** @param {"r"|"g"|"b"} channel */
    const mix = (channel) => top[channel] * top.a + below[channel] * (1 - top.a);
    return { r: mix("r"), g: mix("g"), b: mix("b"), a: 1 };
  };
  /** @param {Element|null} element */
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) {
      layers.push(parse(getComputedStyle(at).backgroundColor));
      if (layers.at(-1)?.a === 1) break;
    }
    const below = matchMedia("(prefers-color-scheme: dark)").matches ? 0 : 255;
    return layers.reduceRight((under, layer) => over(layer, under), {
      r: below,
      g: below,
      b: below,
      a: 1,
    });
  };
  /** @param {Colour} colour */
  const light = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((channel) => {
      const share = channel / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  /**
   * @param {Colour} one
   * @param {Colour} other
   */
  const contrast = (one, other) => {
    const [high, low] = [light(one), light(other)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!element || !walker.currentNode.nodeValue?.trim()) continue;
    if (!seen(element) || !within(element)) continue;
    if (element.closest(".unseen,.skip,noscript")) continue;
    const style = getComputedStyle(element);
    const below = ground(element);
    const ink = over(parse(element instanceof SVGElement ? style.fill : style.color), below);
    const points = parseFloat(style.fontSize);
    const large = points >= 24 || (points >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = contrast(ink, below);
    if (ratio < (large ? 3 : 4.5)) findings.push(`contrast ${ratio.toFixed(2)}: ${name(element)}`);
  }
  for (const field of document.querySelectorAll("input,textarea,button,.button")) {
    if (!seen(field) || !within(field)) continue;
    const style = getComputedStyle(field);
    const around = ground(field.parentElement);
    const inside = contrast(ground(field), around);
    const edge =
      parseFloat(style.borderTopWidth) > 0
        ? contrast(over(parse(style.borderTopColor), around), around)
        : 0;
    const plain = field.matches(".link, [type=checkbox]");
    if (Math.max(edge, inside) < 3 && !plain) {
      findings.push(`edge ${edge.toFixed(2)}: ${name(field)}`);
    }
    const { width, height } = (field.closest("label.target") ?? field).getBoundingClientRect();
    if (width < 24 || height < 24) findings.push(`small, ${width} × ${height}: ${name(field)}`);
  }
  for (const summary of document.querySelectorAll("summary")) {
    if (!seen(summary) || !within(summary)) continue;
    const { width, height } = summary.getBoundingClientRect();
    if (width < 24 || height < 24) findings.push(`small, ${width} × ${height}: ${name(summary)}`);
  }

  // Elements with table roles contain only the roles that belong in them.
  const parts = {
    table: ["rowgroup", "row"],
    rowgroup: ["row"],
    row: ["cell", "columnheader", "rowheader"],
  };
  for (const [role, allowed] of Object.entries(parts)) {
    for (const one of document.querySelectorAll(`[role="${role}"] > *`)) {
      if (!allowed.includes(one.getAttribute("role") ?? ""))
        findings.push(`in a ${role}: ${name(one)}`);
    }
  }

  // A label contains the visible text, because users of speech input say what they see.
  /** @param {string} text */
  const plain = (text) =>
    text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, " ")
      .trim();
  /** @type {NodeListOf<HTMLElement>} */
  const labelled = document.querySelectorAll("button[aria-label], a[aria-label]");
  for (const one of labelled) {
    if (!seen(one) || !within(one)) continue;
    const label = one.getAttribute("aria-label") ?? "";
    if (!plain(label).includes(plain(one.innerText))) {
      findings.push(`label without its text: ${label}: ${name(one)}`);
    }
  }
  if (document.getAnimations().length > 0) findings.push("something moves");
  return findings;
};

/**
 * Finds elements without a name in the accessibility tree, which screen readers read.
 * @param {import("./driver.mjs").Browser} browser
 * @returns {Promise<string[]>}
 */
const nameless = async (browser) => {
  /**
   * @type {{nodes: {ignored?: boolean, role: {value: string}, name?: {value?: string},
   *   properties?: unknown}[]}}
   */
  const { nodes } = await browser.cdp("Accessibility.getFullAXTree");
  return nodes
    .filter((node) => !node.ignored && NAMED.has(node.role?.value))
    .filter((node) => !node.name?.value?.trim())
    .map((node) => `no name: ${node.role.value} ${JSON.stringify(node.properties ?? [])}`);
};

/**
 * The findings about the current state of the page.
 * @param {import("./driver.mjs").Browser} browser
 * @returns {Promise<string[]>}
 */
export const findings = async (browser) => [
  ...(await browser.run(`return (${onPage})()`)),
  ...(await nameless(browser)),
];
