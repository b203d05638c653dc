//! The commands for an index that a service has open. They send requests to the service.

mod sending;
mod upkeep;

pub(super) use sending::{RemoteAdd, add, originals};
pub(super) use upkeep::{backup, check, compact};

use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::output::terminal;
use crate::service::service_client::{ClientBody, ServiceClient, ServiceRequest};
use lookalike::index::RemovedCounts;
use lookalike::report::phrases::count;
use lookalike::report::{Output, OutputFormat, Target};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

/// Maximum bytes of the last line of an export, which has the number of lines before it.
const COUNT_BYTES: usize = 64;

/// Writes the lines that the service returns for a path to standard output or to a file. There is a
/// line for each document, and a last line with their number. The file is replaced only if all
/// lines have arrived.
pub(super) fn export(service: &ServiceClient, path: &str, output: Option<&Path>) -> CommandResult {
    let mut lines = service.stream(path)?;
    let Some(path) = output else {
        let mut out = BufWriter::with_capacity(1 << 16, terminal::stdout().json());
        copy(service, &mut lines, &mut out)?;
        out.flush()?;
        return Ok(ExitCode::SUCCESS);
    };
    let target = Target::new(path, &[OutputFormat::Jsonl]);
    let target = target.map_err(|error| CommandError::Usage(format!("--output: {error}")))?;
    crate::termination::clean_up(std::iter::once(target.path()))?;
    let mut written = 0;
    let mut early_end = None;
    let finished = Output::create(&target)?.finish(|out| {
        written = copy(service, &mut lines, out).map_err(|error| match error {
            CommandError::Print(error) => error,
            error => {
                early_end = Some(error);
                io::Error::from(io::ErrorKind::UnexpectedEof)
            }
        })?;
        Ok(())
    });
    if let Some(error) = early_end {
        return Err(error);
    }
    finished?;
    let written = count(written, "document");
    terminal::stderr().message(&format!("{}: {written}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Copies all lines but the last one, which has their number, and returns this number.
///
/// # Errors
/// The answer ends early: the last line has no number or another number.
fn copy(
    service: &ServiceClient,
    lines: &mut impl Read,
    out: &mut dyn Write,
) -> Result<u64, CommandError> {
    let cut_off = |why: &str| {
        let address = service.address();
        CommandError::Data(format!(
            "{address}: the export came to an early end: {why}; run it again"
        ))
    };
    let mut piece = vec![0; 64 << 10];
    let mut pending = Vec::new();
    let mut count = 0;
    let mut write = |bytes: &[u8]| {
        count += bytes.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        out.write_all(bytes)
    };
    // Holds back the last bytes, because only the end of the answer shows which line is the last
    // one.
    loop {
        let read = lines.read(&mut piece).map_err(|error| cut_off(&error.to_string()))?;
        if read == 0 {
            break;
        }
        pending.extend_from_slice(&piece[..read]);
        let before = pending.len().saturating_sub(COUNT_BYTES);
        write(&pending[..before])?;
        pending.drain(..before);
    }
    let Some(pending) = pending.strip_suffix(b"\n") else {
        return Err(cut_off("the last line is incomplete"));
    };
    let start = pending.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    write(&pending[..start])?;
    let last: Option<Value> = serde_json::from_slice(&pending[start..]).ok();
    match last.and_then(|last| last["documents"].as_u64()) {
        Some(documents) if documents == count => Ok(count),
        Some(documents) => Err(cut_off(&format!("{count} of {documents} documents arrived"))),
        None => Err(cut_off("the number of documents is missing in the last line")),
    }
}

/// Removes documents by their ids.
pub(super) fn remove<'a>(
    service: &ServiceClient,
    ids: impl Iterator<Item = &'a str>,
) -> Result<RemovedCounts, CommandError> {
    let mut counts = RemovedCounts { removed: 0, absent: Vec::new() };
    for id in ids {
        let path = format!("/documents/{}", encoded(id));
        let method = "DELETE";
        let body = ClientBody::None;
        let answer = service.answer(ServiceRequest { method, path: &path, body, success: 204 })?;
        match (answer.status, answer.body["code"].as_str()) {
            (200..300, _) => counts.removed += 1,
            (404, Some("unknown-document")) => counts.absent.push(id.to_owned()),
            _ => return Err(service.problem(&answer)),
        }
    }
    Ok(counts)
}

/// The characters to encode in a segment of a path. The dot is one of them, because the segments
/// `.` and `..` are steps in a path and not ids.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~');

/// Encodes an id as one segment of a path.
fn encoded(id: &str) -> String {
    utf8_percent_encode(id, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_percent_encoded() {
        assert_eq!(encoded("a-b_c~1"), "a-b_c~1");
        assert_eq!(encoded(".."), "%2E%2E");
        assert_eq!(encoded("a/b c?é%\0"), "a%2Fb%20c%3F%C3%A9%25%00");
    }
}
