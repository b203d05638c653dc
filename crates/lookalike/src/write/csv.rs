//! Findings as comma-separated values: `\n` ends a line, a value is quoted where it must be.

use crate::read::Skipped;
use crate::run::{Findings, Pairs};
use ::csv::{QuoteStyle, Terminator, Writer, WriterBuilder};
use std::io::{self, Write};

fn writer<W: Write>(out: W) -> Writer<W> {
    WriterBuilder::new()
        .terminator(Terminator::Any(b'\n'))
        .quote_style(QuoteStyle::Necessary)
        .from_writer(out)
}

/// One line per document of a group: `group,id,role,keeper,jaccard`. The role is `keeper` or
/// `duplicate`, the similarity that with the keeper, with six decimals, and none for the keeper.
///
/// # Errors
/// Those of `out`.
pub fn groups(out: &mut dyn Write, findings: &Findings) -> io::Result<()> {
    let mut csv = writer(out);
    csv.write_record(["group", "id", "role", "keeper", "jaccard"])?;
    for (number, group) in (1u64..).zip(&findings.groups) {
        let (number, keeper) = (number.to_string(), group.keeper.as_str());
        let number = number.as_str();
        csv.write_record([number, keeper, "keeper", keeper, ""])?;
        for duplicate in &group.duplicates {
            let jaccard = duplicate.overlap.six_decimals();
            csv.write_record([number, &duplicate.id, "duplicate", keeper, &jaccard])?;
        }
    }
    csv.flush()
}

/// One line per verified pair: `id_a,id_b,jaccard` with `id_a` < `id_b` byte by byte, sorted, six
/// decimals.
///
/// # Errors
/// Those of `out`.
pub fn pairs(out: &mut dyn Write, pairs: &Pairs) -> io::Result<()> {
    let mut csv = writer(out);
    csv.write_record(["id_a", "id_b", "jaccard"])?;
    for pair in pairs.iter() {
        csv.write_record([pair.a, pair.b, &pair.overlap.six_decimals()])?;
    }
    csv.flush()
}

/// One line per file or record that was not read, then one per empty document:
/// `source,line,id,reason`. An empty document has neither source nor line, and the reason
/// [`EMPTY`](super::EMPTY).
///
/// # Errors
/// Those of `out`.
pub fn skipped(out: &mut dyn Write, findings: &Findings) -> io::Result<()> {
    let mut csv = writer(out);
    csv.write_record(["source", "line", "id", "reason"])?;
    for Skipped { source, line, id, reason } in &findings.skipped {
        let line = line.map(|line| line.to_string()).unwrap_or_default();
        let id = id.as_deref().unwrap_or_default();
        csv.write_record([source, &line, id, &reason.to_string()])?;
    }
    for id in &findings.empty {
        csv.write_record(["", "", id, super::EMPTY])?;
    }
    csv.flush()
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    fn text(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn groups_name_each_document_once() {
        assert_eq!(
            text(|out| groups(out, &findings())),
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
            text(|out| pairs(out, findings().pairs.as_ref().unwrap())),
            "id_a,id_b,jaccard\n\"a,b\",\"say \"\"x\"\"\",1.000000\nk,ü,0.900000\n"
        );
    }

    #[test]
    fn skipped_records_and_empty_documents_are_listed() {
        assert_eq!(
            text(|out| skipped(out, &findings())),
            "source,line,id,reason\n\
             in.jsonl,7,,\"expected a JSON object such as {\"\"id\"\":…}, got an array\"\n\
             ,,nothing,empty: no tokens\n"
        );
    }
}
