//! Writes groups as data for the page's script, and the largest groups also as HTML. Counts groups
//! for the charts. Needs one pass, and holds one piece of the data in memory.
//!
//! A piece consists of three script elements of JSON, which contain the same groups:
//!
//! | class | content | read |
//! |---|---|---|
//! | `facts` | numbers of each group, for sorting | when the page opens |
//! | `ids` | a line per group: the ids, the keeper's first | as text when ids are searched |
//! | `rest` | a line per group: similarity, bytes, reason of each duplicate | when a group opens |
//!
//! The element `about` contains the heading, source, date and file of documents that were read
//! again for the page. These are documents of the largest groups. The script needs them because it
//! writes the rows again.
//!
//! A page with a million duplicates therefore opens by reading only a few numbers per group.
//! Browsers keep a text of up to 65,536 characters in one piece. The elements are usually shorter,
//! so their text is not copied.

use super::chart::{ShareBar, SimilarityHistogram, SimilaritySpan, SizeHistogram};
use super::differences;
use super::escape::{self, EscapedText};
use super::number::{ByteSize, Count, ExactSimilarity, Plural, Thousandths};
use super::page::{About, PageDuplicate, PageGroup};
use lookalike_core::params::ShingleRule;
use std::fmt::{self, Display, Formatter, Write as _};
use std::io::{self, Write};

/// Groups to write as HTML, for readers without scripts.
pub(super) const SHOWN: u64 = 50;
/// Duplicates to write for each of these groups.
const SHOWN_DUPLICATES: usize = 20;
/// A piece ends when its longest element reaches this number of bytes.
const PIECE: usize = 48 << 10;
/// The most bytes of data in a page. Up to this size, browsers respond quickly.
pub(super) const MOST_BYTES: usize = 96 << 20;

/// The totals of all groups.
#[derive(Debug, Clone, Default)]
pub(super) struct GroupTotals {
    /// The number of groups.
    pub(super) groups: u64,
    /// The number of groups with data in the page.
    pub(super) listed: u64,
    /// Duplicates by similarity.
    pub(super) similarities: SimilarityHistogram,
    /// Groups by size.
    pub(super) sizes: SizeHistogram,
}

/// Writes a list of the largest groups, and the data of all groups up to `most_bytes`.
pub(super) fn stream(
    out: &mut dyn Write,
    groups: &mut dyn Iterator<Item = io::Result<PageGroup>>,
    reasons: &[String],
    rule: &ShingleRule,
    most_bytes: usize,
) -> io::Result<GroupTotals> {
    let mut passed = GroupTotals::default();
    let mut chunk = GroupsChunk::default();
    let mut written = 0;
    let mut abouts = String::from("[");
    template!(out, "group_list.html")?;
    for group in groups {
        let group = group?;
        passed.groups += 1;
        passed.sizes.add(group.duplicates.len() as u64 + 1);
        group.duplicates.iter().for_each(|each| passed.similarities.add(each.similarity));
        if passed.groups <= SHOWN {
            item(out, passed.groups, &group, reasons, rule)?;
            add_about(&mut abouts, &group);
        }
        if written < most_bytes {
            chunk.add(&group);
            passed.listed += 1;
        }
        if chunk.longest() >= PIECE {
            written += chunk.write(out)?;
        }
    }
    chunk.write(out)?;
    write!(out, "</ol>\n<script type=\"application/json\" id=\"about\">{abouts}]</script>\n")?;
    Ok(passed)
}

/// Data of consecutive groups.
#[derive(Default)]
struct GroupsChunk {
    facts: String,
    ids: String,
    rest: String,
}

impl GroupsChunk {
    fn add(&mut self, group: &PageGroup) {
        let [facts, ids, rest] = [&mut self.facts, &mut self.ids, &mut self.rest];
        let PageGroup { keeper, bytes, reference, duplicates, .. } = group;
        let (least, most) = bounds(duplicates);
        let removed_bytes: u64 = duplicates.iter().map(|duplicate| duplicate.bytes).sum();
        for (text, start) in [(&mut *facts, "["), (&mut *ids, "[\n"), (&mut *rest, "[\n")] {
            text.push_str(if text.is_empty() { start } else { ",\n" });
        }
        // Writing to a string cannot fail.
        let size = duplicates.len() + 1;
        let _ =
            write!(facts, "{size},{least},{most},{removed_bytes},{bytes},{}", u8::from(*reference));
        ids.push('[');
        escape::json(ids, keeper);
        rest.push('[');
        for (at, duplicate) in duplicates.iter().enumerate() {
            ids.push(',');
            escape::json(ids, &duplicate.id);
            let comma = if at == 0 { "" } else { "," };
            let PageDuplicate { similarity, bytes, reason, .. } = duplicate;
            let _ = write!(rest, "{comma}{similarity},{bytes},{reason}");
        }
        ids.push(']');
        rest.push(']');
    }

    fn longest(&self) -> usize {
        self.ids.len().max(self.rest.len()).max(self.facts.len())
    }

    /// Writes and clears the data. Returns the number of written bytes.
    fn write(&mut self, out: &mut dyn Write) -> io::Result<usize> {
        let mut written = 0;
        for (class, text) in
            [("facts", &mut self.facts), ("ids", &mut self.ids), ("rest", &mut self.rest)]
        {
            if text.is_empty() {
                return Ok(0);
            }
            let end = if class == "facts" { "]" } else { "\n]" };
            writeln!(
                out,
                "<script type=\"application/json\" class=\"{class}\">{text}{end}</script>"
            )?;
            written += text.len();
            text.clear();
        }
        Ok(written)
    }
}

/// Appends the descriptions of a group's documents, the keeper first:
/// `[heading, source, date, file]` for each, or 0.
fn add_about(out: &mut String, group: &PageGroup) {
    if out.len() > 1 {
        out.push_str(",\n");
    }
    let duplicates = group.duplicates.iter().map(|duplicate| &duplicate.about);
    for (at, about) in
        [&group.about].into_iter().chain(duplicates.take(SHOWN_DUPLICATES)).enumerate()
    {
        out.push(if at == 0 { '[' } else { ',' });
        let Some(About { heading, source, date, file }) = about else {
            out.push('0');
            continue;
        };
        for (start, text) in [('[', heading), (',', source), (',', date), (',', file)] {
            out.push(start);
            escape::json(out, text);
        }
        out.push(']');
    }
    out.push(']');
}

/// Shows a document by its heading, with id, source and date below. If these are unknown, shows
/// only the id.
struct DocumentName<'a> {
    id: &'a str,
    about: Option<&'a About>,
    class: &'static str,
    /// Whether the id links to the file. A summary must not contain links.
    is_link: bool,
}

impl Display for DocumentName<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let id = EscapedText(self.id);
        let class = self.class;
        let Some(About { heading, source, date, file }) = self.about else {
            return write!(f, "<bdi{class}>{id}</bdi>");
        };
        write!(f, "<bdi class=\"heading\">{}</bdi><span class=\"about\">", EscapedText(heading))?;
        if self.is_link && !file.is_empty() {
            write!(f, "<a href=\"{}\"><bdi{class}>{id}</bdi></a>", EscapedText(file))?;
        } else {
            write!(f, "<bdi{class}>{id}</bdi>")?;
        }
        for part in [source, date] {
            if !part.is_empty() {
                write!(f, " · <bdi>{}</bdi>", EscapedText(part))?;
            }
        }
        f.write_str("</span>")
    }
}

/// The least and the highest similarity.
fn bounds(duplicates: &[PageDuplicate]) -> (u32, u32) {
    let similarities = || duplicates.iter().map(|duplicate| duplicate.similarity);
    (similarities().min().unwrap_or(0), similarities().max().unwrap_or(0))
}

/// Writes one group as an item that can be opened. The script of the page writes the same HTML.
fn item(
    out: &mut dyn Write,
    number: u64,
    group: &PageGroup,
    reasons: &[String],
    rule: &ShingleRule,
) -> io::Result<()> {
    let (least, most) = bounds(&group.duplicates);
    template!(
        out,
        "group.html",
        number = Count(number),
        name = DocumentName {
            id: &group.keeper,
            about: group.about.as_ref(),
            class: "",
            is_link: false,
        },
        documents = Plural(group.duplicates.len() as u64 + 1, "document"),
        similarity = SimilaritySpan(least, most),
        keeper = DocumentName {
            id: &group.keeper,
            about: group.about.as_ref(),
            class: " class=\"full\" tabindex=\"0\"",
            is_link: true,
        },
        bytes = ByteSize(group.bytes),
        tag = if group.reference { " <span class=\"tag\">Reference</span>" } else { "" }
    )?;
    let why = because(&group.duplicates, reasons);
    if !why.is_empty() {
        writeln!(out, "<p class=\"why\">Why it is kept: {}</p>", EscapedText(&why))?;
    }
    template!(out, "duplicates_head.html")?;
    for duplicate in group.duplicates.iter().take(SHOWN_DUPLICATES) {
        writeln!(
            out,
            "<tr><td>{}</td><td class=\"similarity\"><data value=\"{}\" title=\"{}\">{}</data> \
             {}</td><td class=\"num\">{}</td><td>{}</td></tr>",
            DocumentName {
                id: &duplicate.id,
                about: duplicate.about.as_ref(),
                class: " class=\"full\"",
                is_link: true,
            },
            ExactSimilarity(duplicate.similarity),
            ExactSimilarity(duplicate.similarity),
            Thousandths(duplicate.similarity),
            ShareBar(f64::from(duplicate.similarity) / 1e6),
            Count(duplicate.bytes),
            EscapedText(reasons.get(duplicate.reason).map_or("", String::as_str))
        )?;
    }
    out.write_all(b"</tbody></table>\n")?;
    let more = group.duplicates.len().saturating_sub(SHOWN_DUPLICATES) as u64;
    if more > 0 {
        writeln!(out, "<p class=\"note\">and {}</p>", Plural(more, "further duplicate"))?;
    }
    if let Some(sample) = &group.sample {
        differences::pair(out, sample, rule, false)?;
    }
    out.write_all(b"</div></details></li>\n")
}

/// Returns the reasons for a keeper, the most frequent first:
/// `it is the longer text (3), it comes first (1)`. A single reason has no count.
fn because(duplicates: &[PageDuplicate], reasons: &[String]) -> String {
    let mut counts = vec![0u64; reasons.len()];
    for duplicate in duplicates {
        if let Some(count) = counts.get_mut(duplicate.reason) {
            *count += 1;
        }
    }
    let mut counts: Vec<(u64, &String)> = counts.into_iter().zip(reasons).collect();
    counts.retain(|(count, _)| *count > 0);
    // The sort is stable, so equal counts keep the order of the reasons.
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    match counts.as_slice() {
        [(_, reason)] => (*reason).clone(),
        several => {
            let parts = several.iter().map(|(count, why)| format!("{why} ({})", Count(*count)));
            parts.collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(keeper: &str, duplicates: usize) -> PageGroup {
        let duplicate = |at| PageDuplicate {
            id: format!("{keeper}<{at}"),
            about: None,
            similarity: 900_000 + at as u32 % 100_000,
            bytes: 10,
            reason: at % 2,
        };
        PageGroup {
            keeper: keeper.into(),
            about: None,
            bytes: 99,
            reference: false,
            duplicates: (0..duplicates).map(duplicate).collect(),
            sample: None,
        }
    }

    fn streamed(groups: Vec<PageGroup>, most: usize) -> (String, GroupTotals) {
        let mut out = Vec::new();
        let mut groups = groups.into_iter().map(Ok);
        let reasons = ["a".into(), "b".into()];
        let rule = ShingleRule::default();
        let passed = stream(&mut out, &mut groups, &reasons, &rule, most).unwrap();
        (String::from_utf8(out).unwrap(), passed)
    }

    /// The JSON of all elements of a class.
    fn elements(html: &str, class: &str) -> Vec<serde_json::Value> {
        let start = format!("class=\"{class}\">");
        let texts = html.split(&start).skip(1).map(|text| text.split("</script>").next().unwrap());
        texts.map(|text| serde_json::from_str(text).unwrap()).collect()
    }

    #[test]
    fn pieces_hold_every_group_once() {
        let groups: Vec<PageGroup> =
            (0..3000).map(|at| group(&format!("k{at}"), 1 + at % 7)).collect();
        let (html, passed) = streamed(groups.clone(), MOST_BYTES);
        assert_eq!((passed.groups, passed.listed), (3000, 3000));
        let ids = elements(&html, "ids");
        assert!(ids.len() > 2);
        let lines: Vec<_> = ids.iter().flat_map(|piece| piece.as_array().unwrap()).collect();
        let rest = elements(&html, "rest");
        let rest: Vec<_> = rest.iter().flat_map(|piece| piece.as_array().unwrap()).collect();
        let facts = elements(&html, "facts");
        let facts: Vec<_> = facts.iter().flat_map(|piece| piece.as_array().unwrap()).collect();
        assert_eq!((lines.len(), rest.len(), facts.len()), (3000, 3000, 18_000));
        for (at, group) in groups.iter().enumerate() {
            assert_eq!(lines[at][0], group.keeper.as_str());
            assert_eq!(lines[at].as_array().unwrap().len(), group.duplicates.len() + 1);
            assert_eq!(rest[at].as_array().unwrap().len(), group.duplicates.len() * 3);
            assert_eq!(facts[at * 6], group.duplicates.len() as u64 + 1);
        }
        assert_eq!(html.matches("<li>").count(), 50);
        // Each group has its own line, so a line number is a position.
        let piece = html.split("class=\"ids\">").nth(1).unwrap();
        let piece = piece.split("</script>").next().unwrap();
        assert_eq!(piece.lines().count(), ids[0].as_array().unwrap().len() + 2);
    }

    #[test]
    fn omitted_groups_are_still_counted() {
        let groups = (0..3000).map(|at| group(&format!("k{at}"), 3)).collect();
        let (html, passed) = streamed(groups, 1);
        assert!(passed.listed < 3000 && passed.groups == 3000);
        let ids = elements(&html, "ids");
        let id_count: usize = ids.iter().map(|piece| piece.as_array().unwrap().len()).sum();
        assert_eq!(id_count as u64, passed.listed);
        assert_eq!(passed.similarities.unequal(), 9000);
    }

    #[test]
    fn empty_groups_render_an_empty_list() {
        let (html, passed) = streamed(Vec::new(), MOST_BYTES);
        assert!(html.contains("<ol class=\"groups\" id=\"list\">\n</ol>\n"), "{html}");
        assert_eq!(passed.groups, 0);
    }

    #[test]
    fn documents_show_heading_source_and_date() {
        let mut group = group("letters.jsonl:3", 2);
        let about = |heading: &str| {
            let source = "letters.jsonl, line 3".into();
            let (date, file) = ("2024-03-02".into(), "../a%20b".into());
            Some(About { heading: heading.into(), source, date, file })
        };
        (group.about, group.duplicates[0].about) = (about("Dear <Sir>"), about("Dear Madam"));
        let (html, _) = streamed(vec![group], MOST_BYTES);
        assert_eq!(html.matches("<a href=\"../a%20b\"><bdi class=\"full\"").count(), 2, "{html}");
        let expected = "<bdi class=\"heading\">Dear &lt;Sir&gt;</bdi><span class=\"about\">\
                     <bdi>letters.jsonl:3</bdi> · <bdi>letters.jsonl, line 3</bdi> · \
                     <bdi>2024-03-02</bdi></span>";
        assert!(html.contains(expected), "{html}");
        assert!(html.contains("<bdi class=\"heading\">Dear Madam</bdi>"), "{html}");
        assert!(html.contains("<bdi class=\"full\">letters.jsonl:3&lt;1</bdi>"), "{html}");
        let about = html.split("id=\"about\">").nth(1).unwrap().split("</script>").next().unwrap();
        let about: serde_json::Value = serde_json::from_str(about).unwrap();
        assert_eq!(about[0][0][0], "Dear <Sir>");
        assert_eq!((&about[0][1][2], &about[0][2]), (&"2024-03-02".into(), &0.into()));
        assert!(html.contains("title=\"0.900000\">0.900</data>"), "{html}");
    }

    #[test]
    fn reasons_are_counted() {
        let of = |duplicates| {
            because(&group("k", duplicates).duplicates, &["long".into(), "first".into()])
        };
        assert_eq!((of(1), of(3)), ("long".into(), "long (2), first (1)".into()));
        assert_eq!(because(&group("k", 3).duplicates, &[]), "");
    }

    #[test]
    fn group_errors_are_propagated() {
        let mut groups = [Ok(group("k", 1)), Err(io::Error::other("gone"))].into_iter();
        let rule = ShingleRule::default();
        let error = stream(&mut Vec::new(), &mut groups, &[], &rule, MOST_BYTES).unwrap_err();
        assert_eq!(error.to_string(), "gone");
    }
}
