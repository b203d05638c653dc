//! Tests of office files, RTF and archives: files with known texts, and damaged or malicious files.
#![cfg(all(feature = "office", feature = "archive"))]
#![allow(clippy::unwrap_used, reason = "a test")]

mod archives;
mod golden;
mod hostile;
mod zipped;

use lookalike_extract::archive::{self, ZipEntries};
use lookalike_extract::{
    ExtractError, ExtractOptions, ExtractedPart, Extractor, FailedPart, Limits, PartSink,
};
use std::convert::Infallible;
use std::io::{Read, Seek};
use std::time::Duration;

/// The results of a file: the name and the text of each part, with its fields before the text, and
/// the name and the error of each failed part.
#[derive(Default, Debug)]
struct Got {
    parts: Vec<(String, String)>,
    failures: Vec<(String, ExtractError)>,
}

impl PartSink for Got {
    type Error = Infallible;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), Infallible> {
        let mut text = String::new();
        for name in lookalike_extract::Fields::NAMES {
            if let Some(value) = part.fields.get(name) {
                text.extend([name, ": ", value, "\n"]);
            }
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text += part.text;
        self.parts.push((part.within.to_owned(), text));
        Ok(())
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), Infallible> {
        self.failures.push((failed.within.to_owned(), failed.failure.clone()));
        Ok(())
    }
}

impl Got {
    fn bytes(&self) -> usize {
        self.parts.iter().map(|(_, text)| text.len()).sum()
    }

    /// Returns the text of the only part, and panics if there are other parts or failures.
    fn text(&self) -> &str {
        assert!(self.failures.is_empty() && self.parts.len() == 1, "{self:?}");
        &self.parts[0].1
    }

    /// Returns the only failure, and panics if there are other failures or parts.
    fn failure(&self) -> &ExtractError {
        assert!(self.failures.len() == 1 && self.parts.is_empty(), "{self:?}");
        &self.failures[0].1
    }
}

fn extract(name: &str, bytes: &[u8]) -> Got {
    extract_with(&ExtractOptions::default(), name, bytes)
}

fn extract_with(options: &ExtractOptions, name: &str, bytes: &[u8]) -> Got {
    let mut got = Got::default();
    let Ok(()) = Extractor::new(options).extract(name, bytes, &mut got);
    got
}

/// Reads a file of `fixtures/extract/office/`.
fn fixture(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/extract/office/");
    std::fs::read(format!("{folder}{name}")).unwrap()
}

/// Lists the entries of an archive, without limits on their number and on time.
fn zip_entries(archive: impl Read + Seek) -> Result<ZipEntries, ExtractError> {
    let limits = Limits { members: u32::MAX, time: Duration::MAX, ..Limits::default() };
    archive::zip_entries(archive, &limits)
}
