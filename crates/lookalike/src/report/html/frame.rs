//! The beginning and the end of a page.

use super::escape::EscapedText;
use std::io::{self, Write};

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The style of all pages.
pub(super) const STYLE: &str = include_str!("page.css");
/// The policy of a page without scripts.
const NO_SCRIPTS: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// The style of texts on a page without scripts.
const PASSAGES: &str = ".passage{white-space:pre-wrap;overflow-wrap:anywhere}";

/// Writes the beginning of a page, up to its heading. `more_style` follows the style of all pages,
/// `skip` is a link to the content.
pub(super) fn head(
    out: &mut dyn Write,
    title: &str,
    policy: &str,
    more_style: &str,
    skip: &str,
) -> io::Result<()> {
    template!(
        out,
        "frame.html",
        policy = policy,
        title = EscapedText(title),
        style = STYLE,
        more_style = more_style,
        skip = skip,
        version = VERSION
    )
}

/// Writes the beginning of a page without scripts.
pub(super) fn begin(out: &mut dyn Write, title: &str) -> io::Result<()> {
    head(out, title, NO_SCRIPTS, PASSAGES, "")?;
    out.write_all(b"<main id=\"main\">\n")
}

/// Writes the end of a page without scripts.
pub(super) fn end(out: &mut dyn Write) -> io::Result<()> {
    end_with(out, "")
}

/// Writes the end of a page, with an element for the script.
pub(super) fn end_with(out: &mut dyn Write, script: &str) -> io::Result<()> {
    template!(out, "end.html", version = VERSION, script = script)
}
