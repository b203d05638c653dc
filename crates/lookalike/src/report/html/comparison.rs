//! The page of two texts, side by side with marked differences.

use super::differences::hunks;
use super::escape::EscapedText;
use super::frame;
use crate::difference::Differences;
use std::io::{self, Write};

/// The content of the page of two texts.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonPage<'a> {
    /// Its title.
    pub title: &'a str,
    /// The name of each text.
    pub names: [&'a str; 2],
    /// Sentences before the texts, a paragraph each.
    pub sentences: &'a [String],
    /// The differences between the texts.
    pub differences: &'a Differences<'a>,
}

/// Writes the page, which contains both texts completely.
///
/// ```
/// use lookalike::core::params::ShingleRule;
/// use lookalike::difference::Differences;
/// use lookalike::report::html::{self, ComparisonPage};
///
/// let differences = Differences::between("one two", "one 2", &ShingleRule::default(), None);
/// let (title, names) = ("Two texts", ["draft", "final"]);
/// let page = ComparisonPage { title, names, sentences: &[], differences: &differences };
/// let mut out = Vec::new();
/// html::comparison(&mut out, &page)?;
/// let page = String::from_utf8(out)?;
/// assert!(page.contains("one <del class=\"changed\">two</del>"));
/// assert!(page.contains("one <ins class=\"changed\">2</ins>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of `out`.
pub fn comparison(out: &mut dyn Write, page: &ComparisonPage<'_>) -> io::Result<()> {
    frame::begin(out, page.title)?;
    for sentence in page.sentences {
        writeln!(out, "<p>{}</p>", EscapedText(sentence))?;
    }
    let [first, second] = page.names.map(EscapedText);
    template!(out, "comparison_legend.html", first = first, second = second)?;
    hunks(out, page.differences)?;
    out.write_all(b"</div>\n")?;
    frame::end(out)
}
