//! A content security policy that allows only the script and the style of the page.
//!
//! The policy names them by their SHA-256, so mark-up inserted into the page by a bug cannot run.
//! The policy is computed when the page is written, so it always matches the files.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lookalike_read::Content;

/// Returns the content of the meta element: no requests, no forms, no frames, no base address.
pub(super) fn content_security_policy(script: &str, style: &str) -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        source(script),
        source(style)
    )
}

/// `sha256-` and the digest in base 64.
fn source(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Content::of(text.as_bytes()).bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        // From FIPS 180-4, appendix; and the empty text.
        assert_eq!(source("abc"), "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
        assert_eq!(source(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }
}
