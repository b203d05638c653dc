//! Beginning and end of a page without scripts.

use super::{STYLE, VERSION};
use std::io::{self, Write};

/// Writes what is before the first section.
pub(super) fn begin(out: &mut dyn Write, title: &str) -> io::Result<()> {
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}\
         .passage{{white-space:pre-wrap;overflow-wrap:anywhere}}</style>\n</head>\n<body>\n\
         <header><p class=\"brand\">lookalike {VERSION}</p>\n<h1>{title}</h1></header>\n\
         <main id=\"main\">\n"
    )
}

/// Writes what is behind the last section.
pub(super) fn end(out: &mut dyn Write) -> io::Result<()> {
    write!(
        out,
        "</main>\n<footer><p>Made by lookalike {VERSION}. This page is complete in itself and \
         loads nothing.</p></footer>\n</body>\n</html>\n"
    )
}
