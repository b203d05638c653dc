//! The description of a resumable run. It is stored in the folder of the run and compared when the
//! folder is opened again.

use super::difference::Difference;
use super::error::SpillError;
use super::private::{PrivateFolder, sync_folder};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// The file that marks a folder as the folder of a run.
const FILE: &str = "run.json";

/// Prefix of the name of that file while it is written.
const UNFINISHED: &str = ".unfinished-";

/// Version of the file formats of a run. A run of another version cannot be resumed.
const FORMAT_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct StoredDescription {
    format_version: Value,
    run: Value,
}

/// Stores the description in a new folder, or compares it with the stored one. The caller has
/// locked the file `lock` of the folder.
///
/// # Errors
/// See [`TempSpace::resumable`](super::TempSpace::resumable).
pub(super) fn check(
    private: &PrivateFolder,
    lock: &str,
    description: &Value,
) -> Result<(), SpillError> {
    let folder = private.path();
    let path = folder.join(FILE);
    let failed = |source| SpillError::Io { path: path.clone(), source };
    let damaged = |problem: String| SpillError::Damaged {
        path: path.clone(),
        problem,
        folder: Some(folder.to_owned()),
    };
    let text = text_of(description).map_err(|error| failed(error.into()))?;
    match private.read(FILE) {
        Ok(found) => {
            let stored: StoredDescription = serde_json::from_slice(&found).map_err(|error| {
                damaged(format!("a description of a run was expected, {error}"))
            })?;
            // Both descriptions are parsed from text, which makes their numbers comparable.
            let requested: StoredDescription =
                serde_json::from_slice(&text).map_err(|error| failed(error.into()))?;
            let mut differences = Vec::new();
            let versions = (Some(&stored.format_version), Some(&requested.format_version));
            compare("format_version", versions, &mut differences);
            compare("", (Some(&stored.run), Some(&requested.run)), &mut differences);
            if differences.is_empty() {
                return Ok(());
            }
            Err(SpillError::RunDiffers { path: folder.to_owned(), differences })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(other) = foreign(folder, lock).map_err(failed)? {
                return Err(damaged(format!("it is missing, but {other:?} exists")));
            }
            store(folder, &text).map_err(failed)
        }
        Err(error) => Err(failed(error)),
    }
}

fn text_of(description: &Value) -> serde_json::Result<Vec<u8>> {
    let stored =
        StoredDescription { format_version: FORMAT_VERSION.into(), run: description.clone() };
    let mut text = serde_json::to_vec_pretty(&stored)?;
    text.push(b'\n');
    Ok(text)
}

/// Writes the file. It appears only when it is complete.
fn store(folder: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(folder)?;
    file.write_all(text)?;
    file.as_file().sync_all()?;
    let _: fs::File = NamedTempFile::persist(file, folder.join(FILE)).map_err(|e| e.error)?;
    sync_folder(folder)
}

/// Finds a file that an interrupted start of a run cannot have left, in a folder without a
/// description.
fn foreign(folder: &Path, lock: &str) -> io::Result<Option<String>> {
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name != lock && !name.starts_with(UNFINISHED) {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Lists the differences of two descriptions.
pub(crate) fn differences(stored: &Value, requested: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", (Some(stored), Some(requested)), &mut found);
    found
}

/// Compares recursively, as long as both sides are objects or arrays.
fn compare(member: &str, sides: (Option<&Value>, Option<&Value>), found: &mut Vec<Difference>) {
    match sides {
        (stored, requested) if stored == requested => {}
        (Some(Value::Object(stored)), Some(Value::Object(requested))) => {
            let new = requested.keys().filter(|name| !stored.contains_key(*name));
            for name in stored.keys().chain(new) {
                let dot = if member.is_empty() { "" } else { "." };
                let inner = format!("{member}{dot}{name}");
                compare(&inner, (stored.get(name), requested.get(name)), found);
            }
        }
        (Some(Value::Array(stored)), Some(Value::Array(requested))) => {
            for at in 0..stored.len().max(requested.len()) {
                compare(&format!("{member}[{at}]"), (stored.get(at), requested.get(at)), found);
            }
        }
        (stored, requested) => found.push(Difference {
            member: if member.is_empty() { "the run" } else { member }.to_owned(),
            stored: stored.map(Value::to_string),
            wanted: requested.map(Value::to_string),
        }),
    }
}
