//! Escapes the user's texts in HTML and JSON, so that they are shown and have no other effect.
//!
//! Control characters, characters that reverse the direction of writing, and blanks without width
//! are shown as escapes (`\u{202e}`). The script of the page does the same. So an id can neither
//! break the page nor look like another id.

use crate::report::phrases::is_hidden;
use std::fmt::{self, Display, Formatter, Write};

/// A text as HTML, for use between tags and in attributes in double quotes. Line ends and tabs are
/// shown as escapes.
pub(super) struct EscapedText<'a>(pub(super) &'a str);

/// A text as HTML that keeps its line ends and tabs, for elements that preserve white space.
pub(super) struct EscapedLines<'a>(pub(super) &'a str);

/// Like [`EscapedLines`], but a text of only white space is shown as visible symbols, such as `␣`.
pub(super) struct VisibleText<'a>(pub(super) &'a str);

fn character(f: &mut Formatter<'_>, c: char) -> fmt::Result {
    match c {
        '<' => f.write_str("&lt;"),
        '>' => f.write_str("&gt;"),
        '&' => f.write_str("&amp;"),
        '"' => f.write_str("&quot;"),
        '\'' => f.write_str("&#39;"),
        c if is_hidden(c) => write!(f, "{}", c.escape_default()),
        c => f.write_char(c),
    }
}

impl Display for EscapedText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| character(f, c))
    }
}

impl Display for EscapedLines<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|c| match c {
            '\n' | '\t' => f.write_char(c),
            // Left out, because HTML would show a carriage return as a line end.
            '\r' => Ok(()),
            c => character(f, c),
        })
    }
}

impl Display for VisibleText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.contains(|c: char| !c.is_whitespace()) {
            return EscapedLines(self.0).fmt(f);
        }
        self.0.chars().try_for_each(|c| match c {
            ' ' => f.write_char('␣'),
            '\n' => f.write_str("↵\n"),
            '\t' => f.write_char('⇥'),
            '\r' => f.write_char('␍'),
            c => write!(f, "{}", c.escape_unicode()),
        })
    }
}

/// Appends a text as a JSON string for a script element. `<` becomes `\u003c`, so neither
/// `</script` nor `<!--` can occur.
pub(super) fn json(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' => out.push_str("\\u003c"),
            // Four digits are enough for every hidden character. The script of the page searches
            // for hidden characters in this form.
            c if is_hidden(c) => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hostile_texts_are_texts() {
        let escaped =
            EscapedText("</script><img src=x onerror='a()'> \"&\" \0\u{1b}[31m\n\u{202e}x👩‍👩‍👧");
        assert_eq!(
            escaped.to_string(),
            "&lt;/script&gt;&lt;img src=x onerror=&#39;a()&#39;&gt; &quot;&amp;&quot; \
             \\u{0}\\u{1b}[31m\\n\\u{202e}x👩‍👩‍👧"
        );
        assert_eq!(EscapedLines("a\r\n\tb\u{7}<").to_string(), "a\n\tb\\u{7}&lt;");
        let mut out = String::new();
        json(&mut out, "</script><!--\u{2028}\"\\");
        assert_eq!(out, "\"\\u003c/script>\\u003c!--\\u2028\\\"\\\\\"");
    }

    proptest! {
        #[test]
        fn json_parses_back_to_the_text(text in any::<String>()) {
            let mut out = String::new();
            json(&mut out, &text);
            prop_assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
            prop_assert!(!out.contains('<') && !out.contains('\n') && !out.contains('\0'));
        }

        #[test]
        fn escaped_text_contains_no_tags(text in any::<String>()) {
            let escaped = EscapedText(&text);
            let lines = EscapedLines(&text);
            let out = format!("{escaped}{lines}{}", VisibleText(&text));
            prop_assert!(!out.contains(['<', '>', '"', '\'', '\0', '\r']));
        }
    }
}
