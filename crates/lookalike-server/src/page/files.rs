//! The files of the web page, embedded unchanged.
//!
//! The files are HTML, CSS and JavaScript modules, written by hand. They load nothing from
//! elsewhere and have no script or style in the markup, so that [`POLICY`] can be strict.

/// The path of the description of the API.
pub(crate) const DESCRIPTION: &str = "/openapi.json";

/// Whether a route is a file of the page or the description, which are public.
pub(crate) fn is_open(route: &str) -> bool {
    route == DESCRIPTION || FILES.iter().any(|(path, ..)| *path == route)
}

/// The `Content-Security-Policy` of the page. It permits only the files of the page and the API, no
/// markup made of texts, and no frame in another page.
pub(crate) const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'; \
    trusted-types 'none'";

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

/// Path, content type and content of each file. The page itself is `/`.
pub(crate) const FILES: &[(&str, &str, &str)] = &[
    ("/", HTML, include_str!("index.html")),
    ("/api", HTML, include_str!("api.html")),
    ("/app.css", CSS, include_str!("app.css")),
    ("/icon.svg", SVG, include_str!("icon.svg")),
    ("/app.js", JAVASCRIPT, include_str!("app.js")),
    ("/client/api.js", JAVASCRIPT, include_str!("client/api.js")),
    ("/client/index_choice.js", JAVASCRIPT, include_str!("client/index_choice.js")),
    ("/client/indexes.js", JAVASCRIPT, include_str!("client/indexes.js")),
    ("/client/problem.js", JAVASCRIPT, include_str!("client/problem.js")),
    ("/client/settings.js", JAVASCRIPT, include_str!("client/settings.js")),
    ("/client/group_page.js", JAVASCRIPT, include_str!("client/group_page.js")),
    ("/client/save.js", JAVASCRIPT, include_str!("client/save.js")),
    ("/client/view.js", JAVASCRIPT, include_str!("client/view.js")),
    ("/client/token.js", JAVASCRIPT, include_str!("client/token.js")),
    ("/description/browser.js", JAVASCRIPT, include_str!("description/browser.js")),
    ("/description/operations.js", JAVASCRIPT, include_str!("description/operations.js")),
    ("/description/schema.js", JAVASCRIPT, include_str!("description/schema.js")),
    ("/description/try.js", JAVASCRIPT, include_str!("description/try.js")),
    ("/dom/dom.js", JAVASCRIPT, include_str!("dom/dom.js")),
    ("/dom/format.js", JAVASCRIPT, include_str!("dom/format.js")),
    ("/dom/gradually.js", JAVASCRIPT, include_str!("dom/gradually.js")),
    ("/dom/keys.js", JAVASCRIPT, include_str!("dom/keys.js")),
    ("/dom/router.js", JAVASCRIPT, include_str!("dom/router.js")),
    ("/index/add.js", JAVASCRIPT, include_str!("index/add.js")),
    ("/index/categories.js", JAVASCRIPT, include_str!("index/categories.js")),
    ("/index/curve.js", JAVASCRIPT, include_str!("index/curve.js")),
    ("/index/document.js", JAVASCRIPT, include_str!("index/document.js")),
    ("/index/groups.js", JAVASCRIPT, include_str!("index/groups.js")),
    ("/index/members.js", JAVASCRIPT, include_str!("index/members.js")),
    ("/index/stats.js", JAVASCRIPT, include_str!("index/stats.js")),
    ("/index/versions.js", JAVASCRIPT, include_str!("index/versions.js")),
    ("/review/actions.js", JAVASCRIPT, include_str!("review/actions.js")),
    ("/review/agreement.js", JAVASCRIPT, include_str!("review/agreement.js")),
    ("/review/bulk.js", JAVASCRIPT, include_str!("review/bulk.js")),
    ("/review/conflicts.js", JAVASCRIPT, include_str!("review/conflicts.js")),
    ("/review/decision_log.js", JAVASCRIPT, include_str!("review/decision_log.js")),
    ("/review/desk.js", JAVASCRIPT, include_str!("review/desk.js")),
    ("/review/earlier_pairs.js", JAVASCRIPT, include_str!("review/earlier_pairs.js")),
    ("/review/export.js", JAVASCRIPT, include_str!("review/export.js")),
    ("/review/filter.js", JAVASCRIPT, include_str!("review/filter.js")),
    ("/review/member_list.js", JAVASCRIPT, include_str!("review/member_list.js")),
    ("/review/pair_list.js", JAVASCRIPT, include_str!("review/pair_list.js")),
    ("/review/past_bulk.js", JAVASCRIPT, include_str!("review/past_bulk.js")),
    ("/review/queue.js", JAVASCRIPT, include_str!("review/queue.js")),
    ("/review/review.js", JAVASCRIPT, include_str!("review/review.js")),
    ("/search/changes.js", JAVASCRIPT, include_str!("search/changes.js")),
    ("/search/compare.js", JAVASCRIPT, include_str!("search/compare.js")),
    ("/search/described.js", JAVASCRIPT, include_str!("search/described.js")),
    ("/search/difference_walk.js", JAVASCRIPT, include_str!("search/difference_walk.js")),
    ("/search/differences.js", JAVASCRIPT, include_str!("search/differences.js")),
    ("/search/file.js", JAVASCRIPT, include_str!("search/file.js")),
    ("/search/matches.js", JAVASCRIPT, include_str!("search/matches.js")),
    ("/search/passages.js", JAVASCRIPT, include_str!("search/passages.js")),
    ("/search/probe.js", JAVASCRIPT, include_str!("search/probe.js")),
    ("/search/query.js", JAVASCRIPT, include_str!("search/query.js")),
];
