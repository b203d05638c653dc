//! Groups as JSON, one object per line.

use crate::engine::{Group, GroupCategories, Groups};
use crate::read::UnitRange;
use crate::read::unit::parent_id;
use crate::report::csv::UNIT_COLUMNS;
use lookalike_core::params::Measure;
use std::io::{self, Write};

/// Writes one line per group:
///
/// ```json
/// {"group":1,"keeper":"id","size":3,"duplicates":[{"id":"other","jaccard":0.912345}]}
/// ```
///
/// If containment is the measure, `"containment":0.987654` follows the similarity.
/// `"reference":true` follows a keeper of a reference collection. A keeper or duplicate that is a
/// unit has `"parent":"DOC","start":0,"end":9,"start_char":0,"end_char":9`. Groups of an index with
/// categories end with the category of the keeper, `"category":{"path":"2.1","label":["word"]}`, or
/// with `"category":null`.
///
/// # Errors
/// Errors of `out`, and of temporary files that hold groups.
pub fn groups(out: &mut dyn Write, groups: &Groups, measure: Measure) -> io::Result<()> {
    for (number, each) in (1u64..).zip(groups.iter()) {
        group(out, number, &each?, measure, groups.categories())?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes one group without a line end. Similarities are written as six decimal digits, without
/// conversion to a binary fraction.
pub(crate) fn group(
    out: &mut dyn Write,
    number: u64,
    group: &Group,
    measure: Measure,
    categories: Option<&GroupCategories>,
) -> io::Result<()> {
    write!(out, "{{\"group\":{number},\"keeper\":")?;
    serde_json::to_writer(&mut *out, &group.keeper.id)?;
    if group.keeper.reference {
        out.write_all(b",\"reference\":true")?;
    }
    unit(out, &group.keeper.id, group.keeper.unit)?;
    write!(out, ",\"size\":{},\"duplicates\":[", group.duplicates.len() + 1)?;
    for (i, duplicate) in group.duplicates.iter().enumerate() {
        out.write_all(if i == 0 { b"{\"id\":" } else { b",{\"id\":" })?;
        serde_json::to_writer(&mut *out, &duplicate.id)?;
        write!(out, ",\"jaccard\":{}", duplicate.overlap.six_decimals())?;
        if measure == Measure::Containment {
            let containment = duplicate.overlap.six_decimals_of(measure);
            write!(out, ",\"containment\":{containment}")?;
        }
        unit(out, &duplicate.id, duplicate.unit)?;
        out.write_all(b"}")?;
    }
    out.write_all(b"]")?;
    if let Some(categories) = categories {
        out.write_all(b",\"category\":")?;
        serde_json::to_writer(&mut *out, &categories.of_group(number))?;
    }
    out.write_all(b"}")
}

/// Writes the members of a unit; none for a document.
fn unit(out: &mut dyn Write, id: &str, unit: Option<UnitRange>) -> io::Result<()> {
    let Some(unit) = unit else { return Ok(()) };
    let [parent, names @ ..] = UNIT_COLUMNS;
    write!(out, ",\"{parent}\":")?;
    serde_json::to_writer(&mut *out, parent_id(id))?;
    for (name, number) in names.iter().zip(unit.to_numbers()) {
        write!(out, ",\"{name}\":{number}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::groups as some;
    use super::*;

    #[test]
    fn a_line_is_a_group() {
        let mut bytes = Vec::new();
        groups(&mut bytes, &some(), Measure::Jaccard).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert_eq!(
            text,
            "{\"group\":1,\"keeper\":\"a,b\",\"size\":3,\"duplicates\":[\
             {\"id\":\"say \\\"x\\\"\",\"jaccard\":1.000000},\
             {\"id\":\"two\\nlines\",\"jaccard\":0.900000}]}\n\
             {\"group\":2,\"keeper\":\"k\",\"size\":2,\"duplicates\":[\
             {\"id\":\"ü\",\"jaccard\":0.900000}]}\n"
        );
        for line in text.lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert!(value["duplicates"][0]["jaccard"].is_f64());
        }
    }
}
