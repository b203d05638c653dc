//! The commands for an index that a service has open: they ask the service.

mod sending;
mod upkeep;

pub(super) use sending::{RemoteAdd, add, originals};
pub(super) use upkeep::{backup, check, compact};

use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::service_client::{ClientBody, ServiceClient};
use crate::terminal;
use lookalike::index::RemovedCounts;
use lookalike::report::phrases::count;
use lookalike::report::{Output, OutputFormat, Target};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

/// The lines that the service has at a path, a document each, on standard output or in a file.
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
    Output::create(&target)?.finish(|out| {
        written = copy(service, &mut lines, out).map_err(|error| match error {
            CommandError::Print(error) => error,
            other => io::Error::other(other.to_string()),
        })?;
        Ok(())
    })?;
    let written = count(written, "document");
    terminal::stderr().message(&format!("{}: {written}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Copies lines, and counts them.
fn copy(
    service: &ServiceClient,
    lines: &mut impl Read,
    out: &mut dyn Write,
) -> Result<u64, CommandError> {
    let (mut piece, mut count) = (vec![0; 64 << 10], 0);
    loop {
        let read = lines.read(&mut piece).map_err(|error| {
            let address = service.address();
            CommandError::Data(format!("{address}: the export came to an early end: {error}"))
        })?;
        if read == 0 {
            return Ok(count);
        }
        count += piece[..read].iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
        out.write_all(&piece[..read])?;
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
        let answer = service.answer("DELETE", &path, ClientBody::None)?;
        match (answer.status, answer.body["code"].as_str()) {
            (200..300, _) => counts.removed += 1,
            (404, Some("unknown-document")) => counts.absent.push(id.to_owned()),
            _ => return Err(service.problem(&answer)),
        }
    }
    Ok(counts)
}

/// What is encoded in a piece of a path. A dot is: `.` and `..` are no ids but steps.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~');

/// An id as a piece of a path.
fn encoded(id: &str) -> String {
    utf8_percent_encode(id, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_one_piece_of_a_path() {
        assert_eq!(encoded("a-b_c~1"), "a-b_c~1");
        assert_eq!(encoded(".."), "%2E%2E");
        assert_eq!(encoded("a/b c?é%\0"), "a%2Fb%20c%3F%C3%A9%25%00");
    }
}
