//! Writes findings as comma-separated values. Lines end in `\n`, and values are quoted only if
//! necessary.

use crate::engine::{
    ESTIMATE_COLUMNS, Group, Groups, IdList, PairRef, Pairs, SkippedRecords, TextlessCopies,
};
use crate::read::unit::parent_id;
use crate::read::{SkippedItem, UnitRange};
use ::csv::{QuoteStyle, Terminator, Writer, WriterBuilder};
use lookalike_core::parameter::NamesParameters;
use lookalike_core::params::Measure;
use lookalike_core::verify::Overlap;
use std::borrow::Cow;
use std::io::{self, Write};

/// How texts from the input are written in cells: ids, sources, paths, reasons.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CellRule {
    /// Unchanged.
    #[default]
    Exact,
    /// With a leading `'` if a spreadsheet would read the text as a formula: if it begins with `=`,
    /// `+`, `-`, `@`, their full-width forms, a tab, a carriage return or a line feed.
    FormulaSafe,
}

impl CellRule {
    /// Returns the text to write.
    pub(crate) fn text(self, text: &str) -> Cow<'_, str> {
        const FORMULAS: [char; 11] =
            ['=', '+', '-', '@', '\t', '\r', '\n', '\u{FF1D}', '\u{FF0B}', '\u{FF0D}', '\u{FF20}'];
        if self == Self::FormulaSafe && text.starts_with(FORMULAS) {
            Cow::Owned(format!("'{text}"))
        } else {
            Cow::Borrowed(text)
        }
    }
}

pub(crate) fn writer<W: Write>(out: W) -> Writer<W> {
    WriterBuilder::new()
        .terminator(Terminator::Any(b'\n'))
        .quote_style(QuoteStyle::Necessary)
        .from_writer(out)
}

/// Writes one line per document of a group: `group,id,role,keeper,jaccard`, followed by
/// `containment` if that is the measure. The role is `keeper` or `duplicate`. The similarity with
/// the keeper has six decimals, and is empty for the keeper. Units have
/// `parent,start,end,start_char,end_char` at the end: the id of their document and their range in
/// it.
///
/// # Errors
/// Errors of `out`, and of temporary files that hold groups.
pub fn groups(
    out: &mut dyn Write,
    groups: &Groups,
    measure: Measure,
    cells: CellRule,
) -> io::Result<()> {
    let mut csv = writer(out);
    groups_header(&mut csv, measure, groups.has_units())?;
    for (number, each) in (1u64..).zip(groups.iter()) {
        group(&mut csv, number, &each?, measure, cells)?;
    }
    csv.flush()
}

/// Writes the first line of a file of groups.
pub(crate) fn groups_header<W: Write>(
    csv: &mut Writer<W>,
    measure: Measure,
    has_units: bool,
) -> io::Result<()> {
    let names = ["group", "id", "role", "keeper", "jaccard", "containment"];
    let units = if has_units { &UNIT_COLUMNS[..] } else { &[] };
    Ok(csv.write_record(names[..columns(measure) + 4].iter().chain(units))?)
}

/// Names of the columns of a unit: the id of its document, and its range in it.
pub(crate) const UNIT_COLUMNS: [&str; 5] = ["parent", "start", "end", "start_char", "end_char"];

/// Returns the cells of a unit; none for a document.
fn unit_cells(id: &str, unit: Option<UnitRange>, cells: CellRule) -> Vec<String> {
    let Some(unit) = unit else { return Vec::new() };
    let mut values = vec![cells.text(parent_id(id)).into_owned()];
    values.extend(unit.to_numbers().map(|number| number.to_string()));
    values
}

/// Writes the lines of a group.
pub(crate) fn group<W: Write>(
    csv: &mut Writer<W>,
    number: u64,
    group: &Group,
    measure: Measure,
    cells: CellRule,
) -> io::Result<()> {
    let width = columns(measure) + 4;
    let number = number.to_string();
    let keeper = cells.text(&group.keeper.id);
    let number = number.as_str();
    let keeper = &*keeper;
    let unit = unit_cells(&group.keeper.id, group.keeper.unit, cells);
    let row = [number, keeper, "keeper", keeper, "", ""];
    csv.write_record(row[..width].iter().copied().chain(unit.iter().map(String::as_str)))?;
    for duplicate in &group.duplicates {
        let [jaccard, containment] = similarities(&duplicate.overlap);
        let id = cells.text(&duplicate.id);
        let unit = unit_cells(&duplicate.id, duplicate.unit, cells);
        let row = [number, &id, "duplicate", keeper, &jaccard, &containment];
        csv.write_record(row[..width].iter().copied().chain(unit.iter().map(String::as_str)))?;
    }
    Ok(())
}

/// The number of similarities in a line.
fn columns(measure: Measure) -> usize {
    if measure == Measure::Containment { 2 } else { 1 }
}

fn similarities(overlap: &Overlap) -> [String; 2] {
    [Measure::Jaccard, Measure::Containment].map(|measure| overlap.six_decimals_of(measure))
}

/// Writes one line per verified pair: `id_a,id_b,jaccard`. `id_a` is before `id_b` in byte order.
/// Lines are sorted, and similarities have six decimals. `containment` follows if that is the
/// measure, then `estimated_jaccard,error,standard_error` for pairs with estimates. Pairs of units
/// end with the columns of both units, whose names have the suffixes `_a` and `_b`.
///
/// # Errors
/// Errors of `out`, and of temporary files that hold pairs.
pub fn pairs(
    out: &mut dyn Write,
    pairs: &Pairs,
    measure: Measure,
    cells: CellRule,
) -> io::Result<()> {
    let mut lines = Vec::with_capacity(LINES_BYTES + 256);
    pairs_header(&mut lines, measure, pairs.has_estimates(), pairs.has_units());
    let mut decimals = Decimals::new();
    let mut cursor = pairs.cursor();
    while let Some(PairRef { a, b, overlap, estimate, units }) = cursor.next_pair()? {
        pair(&mut lines, &cells.text(a), &cells.text(b), &overlap, measure, &mut decimals);
        for text in estimate.iter().flat_map(|estimate| estimate.six_decimals(&overlap)) {
            lines.push(b',');
            lines.extend_from_slice(text.as_bytes());
        }
        for (id, unit) in units.iter().flat_map(|units| [a, b].into_iter().zip(*units)) {
            for cell in unit_cells(id, Some(unit), cells) {
                lines.push(b',');
                quoted(b',', &cell, &mut lines);
            }
        }
        lines.push(b'\n');
        if lines.len() >= LINES_BYTES {
            out.write_all(&lines)?;
            lines.clear();
        }
    }
    out.write_all(&lines)?;
    out.flush()
}

/// Writes the first line of a file of pairs.
pub(crate) fn pairs_header(
    lines: &mut Vec<u8>,
    measure: Measure,
    has_estimates: bool,
    has_units: bool,
) {
    let names = ["id_a", "id_b", "jaccard", "containment"];
    lines.extend_from_slice(names[..columns(measure) + 2].join(",").as_bytes());
    if has_estimates {
        for name in ESTIMATE_COLUMNS {
            lines.push(b',');
            lines.extend_from_slice(name.as_bytes());
        }
    }
    for document in if has_units { &["a", "b"][..] } else { &[] } {
        for name in UNIT_COLUMNS {
            lines.extend_from_slice(format!(",{name}_{document}").as_bytes());
        }
    }
    lines.push(b'\n');
}

/// Writes the line of a pair, without its estimate and its line end.
pub(crate) fn pair(
    lines: &mut Vec<u8>,
    a: &str,
    b: &str,
    overlap: &Overlap,
    measure: Measure,
    decimals: &mut Decimals,
) {
    quoted(b',', a, lines);
    lines.push(b',');
    quoted(b',', b, lines);
    for measure in &[Measure::Jaccard, Measure::Containment][..columns(measure)] {
        lines.push(b',');
        lines.extend_from_slice(decimals.of(overlap, *measure));
    }
}

/// Bytes of lines per write.
const LINES_BYTES: usize = 1 << 16;

/// Appends a value with the quotes that [`writer`] would use for this delimiter. The value must not
/// be the only one of its line.
pub(crate) fn quoted(delimiter: u8, text: &str, line: &mut Vec<u8>) {
    let special = |byte| matches!(byte, b'"' | b'\n' | b'\r') || byte == delimiter;
    if !text.bytes().any(special) {
        return line.extend_from_slice(text.as_bytes());
    }
    line.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    line.push(b'"');
}

/// A cache of formatted similarities, since pairs of the same text often have the same overlap.
pub(crate) struct Decimals(Vec<Option<(Overlap, Measure, String)>>);

impl Decimals {
    const SLOTS: u64 = 1 << 10;

    pub(crate) fn new() -> Self {
        Self(vec![None; Self::SLOTS as usize])
    }

    fn of(&mut self, overlap: &Overlap, measure: Measure) -> &[u8] {
        let Overlap { intersection, left, right } = *overlap;
        let mixed = [left, right, measure as u64]
            .into_iter()
            .fold(intersection, |sum, number| sum.wrapping_mul(31).wrapping_add(number));
        let Some(slot) = self.0.get_mut((mixed % Self::SLOTS) as usize) else { return b"" };
        match slot {
            Some((known, by, _)) if known == overlap && *by == measure => {}
            _ => *slot = Some((*overlap, measure, overlap.six_decimals_of(measure))),
        }
        slot.as_ref().map_or(b"", |(_, _, text)| text.as_bytes())
    }
}

/// Writes one line per file or record that was not read, then one per empty document:
/// `source,line,id,reason`. An empty document has neither source nor line. Its reason is
/// [`EMPTY`](super::EMPTY), with the first document of the same text.
///
/// # Errors
/// Errors of `out`, and of temporary files that hold records or ids.
pub fn skipped(
    out: &mut dyn Write,
    skipped: &SkippedRecords,
    textless_copies: &TextlessCopies,
    empty: &IdList,
    cells: CellRule,
) -> io::Result<()> {
    let mut csv = writer(out);
    csv.write_record(["source", "line", "id", "reason"])?;
    for record in skipped.iter() {
        let record = record?;
        let SkippedItem { source, line, id, reason } = &record;
        let line = line.map(|line| line.to_string()).unwrap_or_default();
        let id = id.as_deref().unwrap_or_default();
        let twin = textless_copies
            .first_of(&record)
            .map(|first| format!("; the same bytes as {first}"))
            .unwrap_or_default();
        let reason = reason.spelled(super::option_name) + &twin;
        csv.write_record([&*cells.text(source), &line, &cells.text(id), &cells.text(&reason)])?;
    }
    for each in textless_copies.empty_copies().join(empty.iter()) {
        let (id, first) = each?;
        let twin = first.map(|first| format!("; the same text as {first}")).unwrap_or_default();
        let reason = format!("{}{twin}", super::EMPTY);
        csv.write_record(["", "", &cells.text(&id), &cells.text(&reason)])?;
    }
    csv.flush()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{empty, groups as some, pairs as two, skipped as one};
    use super::*;
    use crate::engine::Pair;

    const EQUAL: Overlap = Overlap { intersection: 1, left: 1, right: 1 };

    fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn groups_name_each_document_once() {
        assert_eq!(
            text(|out| groups(out, &some(), Measure::Jaccard, CellRule::Exact)),
            "group,id,role,keeper,jaccard\n\
             1,\"a,b\",keeper,\"a,b\",\n\
             1,\"say \"\"x\"\"\",duplicate,\"a,b\",1.000000\n\
             1,\"two\nlines\",duplicate,\"a,b\",0.900000\n\
             2,k,keeper,k,\n\
             2,ü,duplicate,k,0.900000\n"
        );
    }

    #[test]
    fn pair_csv_uses_the_truth_header() {
        assert_eq!(
            text(|out| pairs(out, &two(), Measure::Jaccard, CellRule::Exact)),
            "id_a,id_b,jaccard\n\"a,b\",\"say \"\"x\"\"\",1.000000\nk,ü,0.900000\n"
        );
    }

    #[test]
    fn skipped_and_empty_documents_are_listed() {
        assert_eq!(
            text(|out| skipped(out, &one(), &TextlessCopies::default(), &empty(), CellRule::Exact)),
            "source,line,id,reason\n\
             in.jsonl,7,,\"expected a JSON object such as {\"\"id\"\":…}, got an array\"\n\
             ,,nothing,empty: no tokens\n"
        );
    }

    #[test]
    fn formula_cells_are_escaped_on_request() {
        let formulas =
            ["=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "\n=1", "\u{FF1D}1", "-", "=\"a\",b"];
        for id in formulas {
            assert_eq!(CellRule::FormulaSafe.text(id), format!("'{id}"));
            assert_eq!(CellRule::Exact.text(id), id);
        }
        for id in ["", "a=1", "1-2", " =1", "'=1", "ü", "\"=1"] {
            assert_eq!(CellRule::FormulaSafe.text(id), id);
        }
        let pair = Pair {
            a: "=a,b".to_owned(),
            b: "x".to_owned(),
            overlap: EQUAL,
            estimate: None,
            units: None,
        };
        let pairs_of = |cells| {
            text(|out| {
                pairs(
                    out,
                    &Pairs::of(std::slice::from_ref(&pair)).unwrap(),
                    Measure::Jaccard,
                    cells,
                )
            })
        };
        assert_eq!(pairs_of(CellRule::Exact), "id_a,id_b,jaccard\n\"=a,b\",x,1.000000\n");
        assert_eq!(pairs_of(CellRule::FormulaSafe), "id_a,id_b,jaccard\n\"'=a,b\",x,1.000000\n");
    }

    #[test]
    fn containment_is_next_to_the_similarity() {
        let text = text(|out| pairs(out, &two(), Measure::Containment, CellRule::Exact));
        assert!(text.starts_with("id_a,id_b,jaccard,containment\n"), "{text}");
        assert!(text.ends_with("\nk,ü,0.900000,1.000000\n"), "{text}");
        let text = text_of_groups();
        assert!(text.contains("\n1,\"a,b\",keeper,\"a,b\",,\n"), "{text}");
        assert!(text.contains("\n2,ü,duplicate,k,0.900000,1.000000\n"), "{text}");
    }

    /// Pairs of all ids that need quotes, and more overlaps than the cache holds.
    #[test]
    fn pair_csv_matches_the_csv_writer() {
        let ids = ["", " ", "\"", "a,b", "\r", "x\ny", "plain", "'", "\\", "\u{0}", "\t", "ü#"];
        let mut listed = Vec::new();
        for (i, a) in ids.iter().enumerate() {
            for (j, b) in ids.iter().enumerate().filter(|(_, b)| *b > a) {
                let left = 100 + 17 * i as u64;
                let right = 3_000 + 13 * j as u64;
                let overlap = Overlap { intersection: 90 + (i * j) as u64, left, right };
                listed.push(Pair {
                    a: (*a).to_owned(),
                    b: (*b).to_owned(),
                    overlap,
                    estimate: None,
                    units: None,
                });
            }
        }
        for n in 0..5_000 {
            let overlap = Overlap { intersection: n + 1, left: n + 7, right: n % 7 + 2 * n };
            listed.push(Pair {
                a: "~".to_owned(),
                b: format!("~{n:05}"),
                overlap,
                estimate: None,
                units: None,
            });
        }
        listed.sort_by(|x, y| (&x.a, &x.b).cmp(&(&y.a, &y.b)));
        let mut csv = writer(Vec::new());
        csv.write_record(["id_a", "id_b", "jaccard", "containment"]).unwrap();
        for Pair { a, b, overlap, .. } in &listed {
            csv.write_record([a, b, &similarities(overlap)[0], &similarities(overlap)[1]]).unwrap();
        }
        let expected = String::from_utf8(csv.into_inner().unwrap()).unwrap();
        let all = Pairs::of(&listed).unwrap();
        assert_eq!(all.iter().map(Result::unwrap).collect::<Vec<_>>(), listed);
        assert_eq!(text(|out| pairs(out, &all, Measure::Containment, CellRule::Exact)), expected);
    }

    fn text_of_groups() -> String {
        text(|out| groups(out, &some(), Measure::Containment, CellRule::Exact))
    }
}
