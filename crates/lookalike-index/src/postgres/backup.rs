//! A copy of an index as it is at one moment, in a folder, and an index from it.
//!
//! `docs.copy` has the rows of `docs` as the server copies them (COPY, binary); `index.json` what
//! else there is to know. It is written last: a folder without it is no whole copy. Postings are
//! made again.

use super::address::Address;
use super::failure::{failure, sending};
use super::pool::{ConnectionPool, PooledConnection};
use super::repair::{COUNT, fill};
use super::schema::{begin_new, fill_new};
use super::snapshot::PostgresSnapshot;
use crate::error::IndexError;
use crate::settings::IndexSettings;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

const ROWS: &str = "docs.copy";
const REST: &str = "index.json";
/// What [`REST`] says it is.
const KIND: &str = "lookalike index, copied from PostgreSQL";

const COLUMNS: &str =
    "doc, bytes, added, modified, expires, fingerprint, id, sig, metadata, set, text, checksums";
/// The same in copies of version 1.
const COLUMNS_1: &str =
    "doc, bytes, added, modified, expires, fingerprint, id, sig, metadata, set, text";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BackupManifest {
    kind: String,
    last: i64,
    documents: u64,
    /// Whether rows have the column of checksums.
    #[serde(default)]
    checksums: bool,
    settings: serde_json::Value,
}

/// Copies an index into a new folder.
pub(super) fn backup(
    pool: &Arc<ConnectionPool>,
    settings: &IndexSettings,
    to: &Path,
) -> Result<(), IndexError> {
    let mut snapshot = PostgresSnapshot::new(pool)?;
    match private_folder(to) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(IndexError::Exists { index: to.display().to_string() });
        }
        Err(error) => return Err(broken(to, error)),
    }
    let result = copy(&mut snapshot, settings, to);
    if result.is_err() {
        // What is there is no copy, and it was made here.
        let _ = fs::remove_dir_all(to);
    }
    result
}

/// Makes a folder that only this user may look into: its files hold texts.
fn private_folder(to: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(to)
}

/// Makes a file that only this user may read.
fn private_file(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn copy(
    snapshot: &mut PostgresSnapshot,
    settings: &IndexSettings,
    to: &Path,
) -> Result<(), IndexError> {
    use crate::backend::Snapshot as _;
    let documents = snapshot.len();
    let lease = snapshot.lease();
    let pool = Arc::clone(lease.pool());
    let last = lease.query_one("SELECT last FROM state", &[], "its state")?.get(0);
    let name = to.join(ROWS);
    let mut file = BufWriter::new(private_file(&name).map_err(|e| broken(&name, e))?);
    let sql = format!("COPY (SELECT {COLUMNS} FROM docs ORDER BY doc) TO STDOUT BINARY");
    let from = lease.session()?.client.copy_out(&sql);
    let mut from = from.map_err(|error| pool.failure(&error))?;
    io::copy(&mut from, &mut file).map_err(|error| copying(&pool, &name, error))?;
    drop(from);
    let file = file.into_inner().map_err(|error| broken(&name, error.into_error()))?;
    file.sync_all().map_err(|error| broken(&name, error))?;
    let name = to.join(REST);
    let write = || {
        let settings = serde_json::to_value(settings)?;
        let rest =
            BackupManifest { kind: KIND.to_owned(), last, documents, checksums: true, settings };
        let mut file = private_file(&name)?;
        file.write_all(serde_json::to_string_pretty(&rest)?.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        File::open(to)?.sync_all()
    };
    write().map_err(|error| broken(&name, error))
}

/// Makes the tables of an index and fills them from a backup.
///
/// # Errors
/// As [`restore`](super::restore).
pub(super) fn restore(url: &str, from: &Path) -> Result<(), IndexError> {
    let rest = read_rest(from)?;
    let settings =
        IndexSettings::from_json(&rest.settings.to_string(), &from.display().to_string())?;
    settings.params()?;
    let pool = Arc::new(ConnectionPool::new(Address::parse(url)?, false));
    let mut lease = begin_new(&pool)?;
    fill_new(&mut lease, &settings)?;
    let columns = if rest.checksums { COLUMNS } else { COLUMNS_1 };
    copy_back(&mut lease, &from.join(ROWS), columns)?;
    lease.execute("DROP INDEX bands_key")?;
    fill(&mut lease, &settings, "bands")?;
    lease.execute("CREATE INDEX bands_key ON bands (key, doc)")?;
    lease.query("UPDATE state SET last = $1", &[&rest.last])?;
    lease.execute(COUNT)?;
    let row = lease.query_one("SELECT documents FROM state", &[], "its state")?;
    let got = row.get::<_, i64>(0).cast_unsigned();
    if got != rest.documents {
        let why = format!("it has {got} documents, {} were copied", rest.documents);
        return Err(IndexError::Damaged { what: from.join(ROWS).display().to_string(), why });
    }
    lease.commit()?.map_err(|error| failure(pool.name(), &error))?;
    Ok(())
}

fn read_rest(from: &Path) -> Result<BackupManifest, IndexError> {
    let not = |why: String| IndexError::NotAnIndex { index: from.display().to_string(), why };
    let name = from.join(REST);
    let text = match fs::read_to_string(&name) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = from.join("catalog.sqlite").exists();
            let hint = "; it is an index in a folder: name a folder to restore it to";
            let hint = if folder { hint } else { "" };
            return Err(not(format!("there is no whole copy in it: {REST} is missing{hint}")));
        }
        Err(error) => return Err(broken(&name, error)),
    };
    let rest = serde_json::from_str::<BackupManifest>(&text);
    let rest = rest.map_err(|error| not(format!("{REST} cannot be read: {error}")))?;
    if rest.kind == KIND { Ok(rest) } else { Err(not(format!("{REST} is about {:?}", rest.kind))) }
}

fn copy_back(lease: &mut PooledConnection, name: &Path, columns: &str) -> Result<(), IndexError> {
    let mut file = BufReader::new(File::open(name).map_err(|error| broken(name, error))?);
    let pool = Arc::clone(lease.pool());
    let sql = format!("COPY docs ({columns}) FROM STDIN BINARY");
    let to = lease.session()?.client.copy_in(&sql);
    let mut to = to.map_err(|error| pool.failure(&error))?;
    io::copy(&mut file, &mut to).map_err(|error| copying(&pool, name, error))?;
    to.finish().map(drop).map_err(|error| pool.failure(&error))
}

/// An error of the file or of the server.
fn copying(pool: &ConnectionPool, name: &Path, error: io::Error) -> IndexError {
    if error.get_ref().and_then(|inner| inner.downcast_ref::<postgres::Error>()).is_some() {
        return sending(pool.name(), &error);
    }
    broken(name, error)
}

fn broken(path: &Path, source: io::Error) -> IndexError {
    if source.kind() == io::ErrorKind::StorageFull {
        return IndexError::DiskFull { index: path.display().to_string() };
    }
    IndexError::Io { path: path.display().to_string(), source }
}
