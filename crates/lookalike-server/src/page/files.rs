//! The files of the web page, which go into the program as they are.
//!
//! They are written by hand, in HTML, CSS and modules of JavaScript, load nothing from elsewhere
//! and have no script or style in the markup, so that [`POLICY`] can be strict.

/// The path of the description of the API.
pub(crate) const DESCRIPTION: &str = "/openapi.json";

/// Whether a route is a file of the page or the description, which are public.
pub(crate) fn is_open(route: &str) -> bool {
    route == DESCRIPTION || FILES.iter().any(|(path, ..)| *path == route)
}

/// What a browser lets the page do (`Content-Security-Policy`): nothing but its own files and the
/// API next to them, no markup made of texts, no frame of another page around it.
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
    ("/add.js", JAVASCRIPT, include_str!("add.js")),
    ("/agreement.js", JAVASCRIPT, include_str!("agreement.js")),
    ("/api.js", JAVASCRIPT, include_str!("api.js")),
    ("/api_browser.js", JAVASCRIPT, include_str!("api_browser.js")),
    ("/api_operations.js", JAVASCRIPT, include_str!("api_operations.js")),
    ("/api_schema.js", JAVASCRIPT, include_str!("api_schema.js")),
    ("/api_try.js", JAVASCRIPT, include_str!("api_try.js")),
    ("/app.js", JAVASCRIPT, include_str!("app.js")),
    ("/categories.js", JAVASCRIPT, include_str!("categories.js")),
    ("/compare.js", JAVASCRIPT, include_str!("compare.js")),
    ("/curve.js", JAVASCRIPT, include_str!("curve.js")),
    ("/decision_log.js", JAVASCRIPT, include_str!("decision_log.js")),
    ("/described.js", JAVASCRIPT, include_str!("described.js")),
    ("/difference_walk.js", JAVASCRIPT, include_str!("difference_walk.js")),
    ("/differences.js", JAVASCRIPT, include_str!("differences.js")),
    ("/document.js", JAVASCRIPT, include_str!("document.js")),
    ("/dom.js", JAVASCRIPT, include_str!("dom.js")),
    ("/file.js", JAVASCRIPT, include_str!("file.js")),
    ("/format.js", JAVASCRIPT, include_str!("format.js")),
    ("/gradually.js", JAVASCRIPT, include_str!("gradually.js")),
    ("/groups.js", JAVASCRIPT, include_str!("groups.js")),
    ("/index_choice.js", JAVASCRIPT, include_str!("index_choice.js")),
    ("/indexes.js", JAVASCRIPT, include_str!("indexes.js")),
    ("/keys.js", JAVASCRIPT, include_str!("keys.js")),
    ("/matches.js", JAVASCRIPT, include_str!("matches.js")),
    ("/members.js", JAVASCRIPT, include_str!("members.js")),
    ("/passages.js", JAVASCRIPT, include_str!("passages.js")),
    ("/probe.js", JAVASCRIPT, include_str!("probe.js")),
    ("/problem.js", JAVASCRIPT, include_str!("problem.js")),
    ("/query.js", JAVASCRIPT, include_str!("query.js")),
    ("/review.js", JAVASCRIPT, include_str!("review.js")),
    ("/review_bulk.js", JAVASCRIPT, include_str!("review_bulk.js")),
    ("/review_conflicts.js", JAVASCRIPT, include_str!("review_conflicts.js")),
    ("/review_export.js", JAVASCRIPT, include_str!("review_export.js")),
    ("/review_filter.js", JAVASCRIPT, include_str!("review_filter.js")),
    ("/review_queue.js", JAVASCRIPT, include_str!("review_queue.js")),
    ("/router.js", JAVASCRIPT, include_str!("router.js")),
    ("/settings.js", JAVASCRIPT, include_str!("settings.js")),
    ("/stats.js", JAVASCRIPT, include_str!("stats.js")),
    ("/token.js", JAVASCRIPT, include_str!("token.js")),
    ("/versions.js", JAVASCRIPT, include_str!("versions.js")),
];
