//! Writes counts of skipped items by kind, and the first thousand items, in one pass.

use super::escape::EscapedText;
use super::number::Count;
use super::page::PageSkipped;
use super::section;
use std::io::{self, Write};

/// The most items to list.
const LISTED: usize = 1000;
/// The most kinds to count separately.
const KINDS: usize = 50;

/// Writes the section. Keeps the listed items in memory. `option` is the option that lists all
/// items.
pub(super) fn write(
    out: &mut dyn Write,
    skipped: &mut dyn Iterator<Item = io::Result<PageSkipped>>,
    option: &str,
) -> io::Result<()> {
    let mut kinds: Vec<(String, u64)> = Vec::new();
    let mut listed = Vec::new();
    let mut other_count = 0;
    let mut all = 0u64;
    for each in skipped {
        let each = each?;
        all += 1;
        let kind = kind(&each.reason);
        let room = kinds.len() < KINDS;
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None if room => kinds.push((kind, 1)),
            None => other_count += 1,
        }
        if listed.len() < LISTED {
            listed.push(each);
        }
    }
    section::open(out, "skipped", "Files and records not read")?;
    if all == 0 {
        return out.write_all(b"<p>Nothing: every file and record was read.</p>\n</section>\n");
    }
    kinds.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts(out, &kinds, other_count)?;
    let more = all - listed.len() as u64;
    list(out, &listed, more)?;
    if more > 0 {
        writeln!(
            out,
            "<p class=\"note\">and {} more; <code>{option}</code> writes a list of \
             all.</p>",
            Count(more)
        )?;
    }
    out.write_all(b"</section>\n")
}

/// Returns the part of a reason that all records with the same problem share: `not UTF-8` from
/// `not UTF-8 at byte 7`, `more than … bytes` from `more than 512 bytes, …`.
fn kind(reason: &str) -> String {
    let end = reason.find([':', ',', ';', '(']).unwrap_or(reason.len());
    let head = reason.get(..end).unwrap_or(reason);
    let head = head.split(" at ").next().unwrap_or(head).trim();
    let numeral = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let words = head.split(' ').map(|word| if numeral(word) { "…" } else { word });
    let kind: String = words.collect::<Vec<_>>().join(" ").chars().take(60).collect();
    if kind.is_empty() { "other reasons".into() } else { kind }
}

fn counts(out: &mut dyn Write, kinds: &[(String, u64)], other_count: u64) -> io::Result<()> {
    out.write_all(
        b"<table><thead><tr><th scope=\"col\">Reason</th><th scope=\"col\" class=\"num\">Files or \
          records</th></tr></thead><tbody>\n",
    )?;
    let row = |out: &mut dyn Write, kind: &str, count: u64| {
        let kind = EscapedText(kind);
        let count = Count(count);
        writeln!(out, "<tr><th scope=\"row\">{kind}</th><td class=\"num\">{count}</td></tr>")
    };
    for (kind, count) in kinds {
        row(out, kind, *count)?;
    }
    if other_count > 0 {
        row(out, "further reasons", other_count)?;
    }
    out.write_all(b"</tbody></table>\n")
}

fn list(out: &mut dyn Write, listed: &[PageSkipped], more: u64) -> io::Result<()> {
    template!(
        out,
        "skipped_list.html",
        extent = if more > 0 { "the first" } else { "all" },
        count = Count(listed.len() as u64)
    )?;
    for PageSkipped { source, line, id, reason } in listed {
        let line = line.map(|line| Count(line).to_string()).unwrap_or_default();
        writeln!(
            out,
            "<tr><td><bdi class=\"full\">{}</bdi></td><td class=\"num\">{line}</td><td><bdi \
             class=\"full\">{}</bdi></td><td>{}</td></tr>",
            EscapedText(source),
            EscapedText(id.as_deref().unwrap_or_default()),
            EscapedText(reason)
        )?;
    }
    out.write_all(b"</tbody></table></div></details>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(count: usize, reason: impl Fn(usize) -> String) -> String {
        let each = |at| PageSkipped {
            source: format!("in<{at}>"),
            line: Some(7),
            id: None,
            reason: reason(at),
        };
        let mut out = Vec::new();
        let mut all = (0..count).map(|at| Ok(each(at)));
        write(&mut out, &mut all, "--skipped FILE.csv").unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn skip_kinds_are_counted_and_listed() {
        let html = render(1500, |at| match at % 3 {
            0 => "binary: it holds a NUL byte".into(),
            _ => format!("not JSON: expected a value at column {at}"),
        });
        assert!(html.contains("<th scope=\"row\">not JSON</th><td class=\"num\">1,000</td>"));
        assert!(html.contains("<th scope=\"row\">binary</th><td class=\"num\">500</td>"));
        assert_eq!(html.matches("in&lt;").count(), 1000);
        assert!(html.contains("and 500 more; <code>--skipped FILE.csv</code>"));
    }

    #[test]
    fn kinds_are_without_particulars() {
        for (reason, expected) in [
            ("not UTF-8 at byte 7", "not UTF-8"),
            (
                "the number of values differs from the header (3 instead of 4)",
                "the number of values differs from the header",
            ),
            ("no field \"text\"; the record has a, b", "no field \"text\""),
            ("more than 67108864 bytes, the maximum of a document", "more than … bytes"),
            ("hidden (--all-files reads it)", "hidden"),
            ("the id is already used at a:7", "the id is already used"),
            (": x", "other reasons"),
        ] {
            assert_eq!(kind(reason), expected);
        }
        assert_eq!(kind(&"ü".repeat(99)).chars().count(), 60);
    }

    #[test]
    fn excess_skip_kinds_are_combined() {
        let html = render(80, |at| format!("{}: x", "k".repeat(at + 1)));
        assert!(html.contains("<th scope=\"row\">further reasons</th>"), "{html}");
        assert!(render(0, |_| String::new()).contains("every file and record was read"));
        assert!(render(1, |_| String::new()).contains("Show all 1<"));
    }
}
