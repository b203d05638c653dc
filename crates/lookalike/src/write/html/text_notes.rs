//! What was done to texts before they were compared → a section, where there is something to say.

use super::escape::Text;
use super::number::Count;
use super::page::TextNotes;
use super::section;
use std::io::{self, Write};

/// Writes the section; nothing where there are no notes.
pub(super) fn write(out: &mut dyn Write, notes: &TextNotes<'_>) -> io::Result<()> {
    if notes.is_empty() {
        return Ok(());
    }
    section::open(out, "texts", "How texts were read")?;
    if !notes.sentences.is_empty() {
        out.write_all(b"<ul>\n")?;
        for sentence in notes.sentences {
            writeln!(out, "<li>{}</li>", Text(sentence))?;
        }
        out.write_all(b"</ul>\n")?;
    }
    if !notes.empty_copies.is_empty() {
        empty_copies(out, notes)?;
    }
    out.write_all(b"</section>\n")
}

fn empty_copies(out: &mut dyn Write, notes: &TextNotes<'_>) -> io::Result<()> {
    let listed = notes.empty_copies.len() as u64;
    write!(
        out,
        "<details><summary>{} without a word and with the text of an earlier one</summary>\n<div \
         class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Documents without a word and \
         with the text of an earlier one\"><table><thead><tr><th scope=\"col\">Document</th><th \
         scope=\"col\">Same text as</th></tr></thead><tbody>\n",
        super::number::Plural(listed + notes.more_empty_copies, "document")
    )?;
    for (id, same_text_as) in notes.empty_copies {
        writeln!(
            out,
            "<tr><td><bdi class=\"full\">{}</bdi></td><td><bdi class=\"full\">{}</bdi></td></tr>",
            Text(id),
            Text(same_text_as)
        )?;
    }
    out.write_all(b"</tbody></table></div></details>\n")?;
    if notes.more_empty_copies > 0 {
        writeln!(
            out,
            "<p class=\"note\">and {} more; <code>--skipped FILE.csv</code> writes a list of \
             all.</p>",
            Count(notes.more_empty_copies)
        )?;
    }
    Ok(())
}
