//! Reads a file of decisions.

use super::decision::ReviewDecision;
use super::error::{DecisionError, DecisionProblem};
use super::fields::DecisionFields;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// The maximum length of a line. The longest decision has a few MiB if every character is escaped.
const MAX_LINE: u64 = 8 << 20;

/// Reads the decisions of a file in order. Skips empty lines.
///
/// # Errors
/// The file cannot be read, or a line of it is not a decision.
pub fn read_file(path: &Path) -> Result<Vec<ReviewDecision>, DecisionError> {
    let file =
        File::open(path).map_err(|source| DecisionError::Read { path: path.to_owned(), source })?;
    read(BufReader::new(file), path)
}

/// Reads decisions like [`read_file`]. Errors contain `path`.
///
/// # Errors
/// Errors of [`read_file`].
pub fn read(mut lines: impl BufRead, path: &Path) -> Result<Vec<ReviewDecision>, DecisionError> {
    let mut decisions = Vec::new();
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let read = lines.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes);
        if read.map_err(|source| DecisionError::Read { path: path.to_owned(), source })? == 0 {
            break;
        }
        let is_cut = bytes.len() as u64 == MAX_LINE && !bytes.ends_with(b"\n");
        let parsed = if is_cut {
            Err(DecisionProblem::LongLine { most: MAX_LINE })
        } else {
            decision(&bytes, line)
        };
        let parsed = parsed.map_err(|problem| DecisionError::Line {
            path: path.to_owned(),
            line,
            problem,
        })?;
        decisions.extend(parsed);
    }
    Ok(decisions)
}

/// Reads the decision of a line; `None` for an empty line.
pub(super) fn decision(bytes: &[u8], line: u64) -> Result<Option<ReviewDecision>, DecisionProblem> {
    let bytes =
        if line == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    let fields: Result<DecisionFields, _> = serde_json::from_slice(bytes);
    let fields = fields.map_err(|error| DecisionProblem::Json { error: error.to_string() })?;
    fields.check(line).map(Some)
}

#[cfg(test)]
mod tests {
    use super::super::decision::Judgment;
    use super::super::fields::MAX_NOTE_BYTES;
    use super::*;

    fn problem(text: &str) -> DecisionProblem {
        let path = Path::new("decisions.jsonl");
        match read(text.as_bytes(), path) {
            Err(DecisionError::Line { problem, .. }) => problem,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_are_decisions() {
        let text = "\u{feff}{\"decision\":\"duplicate\",\"documents\":[\"a\",\"b\"],\
                    \"who\":\"ann\",\"when\":\"2026-11-25\",\"note\":\"ok\",\"x\":1}\n\n  \r\n\
                    {\"decision\":\"keep_all\",\"documents\":[\"c\"],\"contents\":[null]}";
        let found = read(text.as_bytes(), Path::new("d.jsonl")).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].judgment, found[0].line), (Judgment::Duplicate, 1));
        assert_eq!((found[0].who.as_deref(), found[0].note.as_deref()), (Some("ann"), Some("ok")));
        assert_eq!((found[1].judgment, found[1].line), (Judgment::KeepAll, 4));
        assert_eq!(found[1].contents, [None]);
    }

    #[test]
    fn invalid_decision_lines_are_errors() {
        type Problem = DecisionProblem;
        assert!(matches!(problem("nonsense"), Problem::Json { .. }));
        assert!(matches!(problem("{\"decision\":\"keep\"}"), Problem::Json { .. }));
        let keep = |documents: &str| format!("{{\"decision\":\"keep\",\"documents\":{documents}}}");
        assert!(matches!(problem(&keep("[]")), Problem::Documents { got: 0, .. }));
        assert!(matches!(problem(&keep("[\"a\",\"b\"]")), Problem::Documents { got: 2, .. }));
        let same = "{\"decision\":\"duplicate\",\"documents\":[\"a\",\"a\"]}";
        assert!(matches!(problem(same), Problem::RepeatedDocument { .. }));
        let other = "{\"decision\":\"maybe\",\"documents\":[\"a\"]}";
        assert!(matches!(problem(other), Problem::Judgment { .. }));
        let hash = "{\"decision\":\"keep\",\"documents\":[\"a\"],\"contents\":[\"12\"]}";
        assert!(matches!(problem(hash), Problem::Hash { .. }));
        let note = "n".repeat(MAX_NOTE_BYTES);
        let noted = |more: &str| {
            let line = "{\"decision\":\"keep\",\"documents\":[\"a\"],\"note\":";
            read(format!("{line}\"{note}{more}\"}}").as_bytes(), Path::new("d.jsonl"))
        };
        assert_eq!(noted("").unwrap().len(), 1);
        let long = noted("n").unwrap_err();
        assert!(long.to_string().contains("note has 65537 bytes"), "{long}");
        let ids: Vec<String> = (0..10_001).map(|id| format!("\"{id}\"")).collect();
        let many = format!("{{\"decision\":\"keep_all\",\"documents\":[{}]}}", ids.join(","));
        assert!(matches!(problem(&many), Problem::Documents { got: 10_001, .. }));
        let few = "{\"decision\":\"keep\",\"documents\":[\"a\"],\"contents\":[null,null]}";
        assert!(matches!(problem(few), Problem::Contents { got: 2, expected: 1 }));
    }
}
