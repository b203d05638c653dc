//! The journal of a run's finished steps. A step is one line, synced to the disk before the next
//! step begins.
//!
//! A line consists of 16 hexadecimal digits, a space, the step as JSON and `\n`. The digits are the
//! hash of the JSON's bytes, computed with the hash function of tokens.

use super::error::SpillError;
use super::folder::SpillFolder;
use super::temp_space::TempSpace;
use lookalike_core::hash::token_hash;
use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;

/// The number of digits of a checksum.
const DIGITS: usize = 16;

/// The finished steps of a resumable run. The journal of any other run does nothing.
#[derive(Debug)]
pub(crate) struct Journal<T> {
    file: Option<JournalFile>,
    steps: PhantomData<fn(&T)>,
}

#[derive(Debug)]
struct JournalFile {
    path: PathBuf,
    state: Mutex<JournalState>,
    /// Keeps the folder locked until the journal is dropped.
    _folder: Arc<SpillFolder>,
}

#[derive(Debug)]
struct JournalState {
    file: File,
    len: u64,
}

impl<T> Default for Journal<T> {
    /// Creates the journal of a run that cannot be resumed.
    fn default() -> Self {
        Self { file: None, steps: PhantomData }
    }
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// Opens the journal `name` of a resumable run and returns its steps in order. Creates the file
    /// if it does not exist. Cuts off invalid lines at the end, such as an incomplete line. If the
    /// run is not resumable, creates no file and returns no steps.
    ///
    /// # Errors
    /// [`SpillError::Damaged`] if an invalid line precedes a valid one, or if a step is not a `T`.
    /// [`SpillError::Io`] if the file cannot be opened, read or cut.
    pub(crate) fn open(temp: &TempSpace, name: &str) -> Result<(Self, Vec<T>), SpillError> {
        if !temp.is_resumable() {
            return Ok((Self::default(), Vec::new()));
        }
        let folder = Arc::clone(temp.folder()?);
        let (mut file, path) = temp.raw(name)?;
        let failed = |source| SpillError::Io { path: path.clone(), source };
        let damaged = |problem| folder.damaged(path.clone(), problem);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let good = whole_lines(&bytes).map_err(damaged)?;
        if good < bytes.len() {
            file.set_len(good as u64).and_then(|()| file.sync_data()).map_err(failed)?;
        }
        let steps = steps(&bytes[..good]).map_err(damaged)?;
        let state = Mutex::new(JournalState { file, len: good as u64 });
        let file = Some(JournalFile { path, state, _folder: folder });
        Ok((Self { file, steps: PhantomData }, steps))
    }

    /// Whether steps are written.
    pub(crate) fn is_active(&self) -> bool {
        self.file.is_some()
    }

    /// Appends a step, which is on the disk when this function returns. Steps refer to data in
    /// logs: call [`SpillLog::sync`](super::SpillLog::sync) first, because a resumed run relies on
    /// that data.
    ///
    /// # Errors
    /// [`SpillError::Io`]. The journal then lacks the step, unless truncating the file also fails.
    /// In that case, a resumed run may find the step and use its data, which the caller has synced.
    pub(crate) fn append(&self, step: &T) -> Result<(), SpillError> {
        let Some(JournalFile { path, state, .. }) = &self.file else { return Ok(()) };
        let failed = |source| SpillError::Io { path: path.clone(), source };
        let line = line(step).map_err(failed)?;
        let mut state = state.lock();
        let written = state.write(&line);
        if written.is_err() {
            // If truncating also fails, the next run accepts a complete line and cuts off an
            // incomplete one.
            let _ = state.file.set_len(state.len);
        }
        written.map_err(failed)
    }
}

impl JournalState {
    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.len))?;
        self.file.write_all(line)?;
        self.file.sync_data()?;
        self.len += line.len() as u64;
        Ok(())
    }
}

fn line<T: Serialize>(step: &T) -> io::Result<Vec<u8>> {
    let json = serde_json::to_string(step)?;
    Ok(format!("{:0DIGITS$x} {json}\n", token_hash(json.as_bytes())).into_bytes())
}

/// Returns the length of the valid lines. Only invalid lines may follow them, such as an incomplete
/// last line. Fails if a valid line follows an invalid one.
fn whole_lines(bytes: &[u8]) -> Result<usize, String> {
    let mut good = 0;
    let mut at = 0;
    let mut bad = None;
    for (number, line) in (1..).zip(bytes.split_inclusive(|&byte| byte == b'\n')) {
        at += line.len();
        match (json_of(line), bad) {
            (Some(_), None) => good = at,
            (Some(_), Some(bad)) => {
                return Err(format!("line {bad} does not match its checksum"));
            }
            (None, None) => bad = Some(number),
            (None, Some(_)) => {}
        }
    }
    Ok(good)
}

/// Returns the JSON of a line, if the line is valid.
fn json_of(line: &[u8]) -> Option<&[u8]> {
    let (digits, rest) = line.split_at_checked(DIGITS)?;
    let json = rest.strip_prefix(b" ")?.strip_suffix(b"\n")?;
    (digits == format!("{:0DIGITS$x}", token_hash(json)).as_bytes()).then_some(json)
}

fn steps<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>, String> {
    let lines = bytes.split_inclusive(|&byte| byte == b'\n').filter_map(json_of);
    let step = |(number, json)| {
        serde_json::from_slice(json)
            .map_err(|error| format!("line {number} is not a step of this version: {error}"))
    };
    (1u64..).zip(lines).map(step).collect()
}
