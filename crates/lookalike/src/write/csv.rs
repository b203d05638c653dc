//! Findings as comma-separated values: `\n` ends a line, a value is quoted where it must be.

use crate::read::Skipped;
use crate::run::{Groups, Ids, Pairs};
use ::csv::{QuoteStyle, Terminator, Writer, WriterBuilder};
use lookalike_core::params::Measure;
use lookalike_core::verify::Overlap;
use std::io::{self, Write};

fn writer<W: Write>(out: W) -> Writer<W> {
    WriterBuilder::new()
        .terminator(Terminator::Any(b'\n'))
        .quote_style(QuoteStyle::Necessary)
        .from_writer(out)
}

/// One line per document of a group: `group,id,role,keeper,jaccard`, and `containment` behind it
/// where that is the measure. The role is `keeper` or `duplicate`, the similarity that with the
/// keeper, with six decimals, and none for the keeper.
///
/// # Errors
/// Those of `out`, and of temporary files that hold groups.
pub fn groups(out: &mut dyn Write, groups: &Groups, measure: Measure) -> io::Result<()> {
    let mut csv = writer(out);
    let width = columns(measure);
    csv.write_record(&["group", "id", "role", "keeper", "jaccard", "containment"][..width + 4])?;
    for (number, group) in (1u64..).zip(groups.iter()) {
        let group = group?;
        let (number, keeper) = (number.to_string(), group.keeper.id.as_str());
        let number = number.as_str();
        csv.write_record(&[number, keeper, "keeper", keeper, "", ""][..width + 4])?;
        for duplicate in &group.duplicates {
            let [jaccard, containment] = similarities(&duplicate.overlap);
            let line = [number, &duplicate.id, "duplicate", keeper, &jaccard, &containment];
            csv.write_record(&line[..width + 4])?;
        }
    }
    csv.flush()
}

/// How many similarities stand in a line.
fn columns(measure: Measure) -> usize {
    if measure == Measure::Containment { 2 } else { 1 }
}

fn similarities(overlap: &Overlap) -> [String; 2] {
    [Measure::Jaccard, Measure::Containment].map(|measure| overlap.six_decimals_of(measure))
}

/// One line per verified pair: `id_a,id_b,jaccard` with `id_a` < `id_b` byte by byte, sorted, six
/// decimals; and `containment` behind it where that is the measure.
///
/// # Errors
/// Those of `out`, and of temporary files that hold pairs.
pub fn pairs(out: &mut dyn Write, pairs: &Pairs, measure: Measure) -> io::Result<()> {
    let mut csv = writer(out);
    let width = columns(measure);
    csv.write_record(&["id_a", "id_b", "jaccard", "containment"][..width + 2])?;
    for pair in pairs.iter() {
        let pair = pair?;
        let [jaccard, containment] = similarities(&pair.overlap);
        csv.write_record(&[&pair.a, &pair.b, &jaccard, &containment][..width + 2])?;
    }
    csv.flush()
}

/// One line per file or record that was not read, then one per empty document:
/// `source,line,id,reason`. An empty document has neither source nor line, and the reason
/// [`EMPTY`](super::EMPTY).
///
/// # Errors
/// Those of `out`, and of temporary files that hold ids.
pub fn skipped(out: &mut dyn Write, skipped: &[Skipped], empty: &Ids) -> io::Result<()> {
    let mut csv = writer(out);
    csv.write_record(["source", "line", "id", "reason"])?;
    for Skipped { source, line, id, reason } in skipped {
        let line = line.map(|line| line.to_string()).unwrap_or_default();
        let id = id.as_deref().unwrap_or_default();
        csv.write_record([source, &line, id, &reason.to_string()])?;
    }
    for id in empty.iter() {
        csv.write_record(["", "", &id?, super::EMPTY])?;
    }
    csv.flush()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{empty, groups as some, pairs as two, skipped as one};
    use super::*;

    fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn groups_name_each_document_once() {
        assert_eq!(
            text(|out| groups(out, &some(), Measure::Jaccard)),
            "group,id,role,keeper,jaccard\n\
             1,\"a,b\",keeper,\"a,b\",\n\
             1,\"say \"\"x\"\"\",duplicate,\"a,b\",1.000000\n\
             1,\"two\nlines\",duplicate,\"a,b\",0.900000\n\
             2,k,keeper,k,\n\
             2,ü,duplicate,k,0.900000\n"
        );
    }

    #[test]
    fn pairs_have_the_header_of_the_truth_files() {
        assert_eq!(
            text(|out| pairs(out, &two(), Measure::Jaccard)),
            "id_a,id_b,jaccard\n\"a,b\",\"say \"\"x\"\"\",1.000000\nk,ü,0.900000\n"
        );
    }

    #[test]
    fn skipped_records_and_empty_documents_are_listed() {
        assert_eq!(
            text(|out| skipped(out, &one(), &empty())),
            "source,line,id,reason\n\
             in.jsonl,7,,\"expected a JSON object such as {\"\"id\"\":…}, got an array\"\n\
             ,,nothing,empty: no tokens\n"
        );
    }

    #[test]
    fn containment_stands_beside_the_similarity() {
        let text = text(|out| pairs(out, &two(), Measure::Containment));
        assert!(text.starts_with("id_a,id_b,jaccard,containment\n"), "{text}");
        assert!(text.ends_with("\nk,ü,0.900000,1.000000\n"), "{text}");
        let text = text_of_groups();
        assert!(text.contains("\n1,\"a,b\",keeper,\"a,b\",,\n"), "{text}");
        assert!(text.contains("\n2,ü,duplicate,k,0.900000,1.000000\n"), "{text}");
    }

    fn text_of_groups() -> String {
        text(|out| groups(out, &some(), Measure::Containment))
    }
}
