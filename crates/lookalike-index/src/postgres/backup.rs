//! Backup of a snapshot to a folder, and restoring an index from one.
//!
//! `NAME.copy` contains the rows of the table `NAME` as the server copies them (COPY, binary), for
//! `docs` and each side table. `index.json` contains the version of the tables, the settings and
//! two counts. It is written last: a folder without it is incomplete. Restoring rebuilds the
//! postings.

use super::address::Address;
use super::failure::{failure, sending};
use super::pool::{ConnectionPool, PooledConnection};
use super::repair::{COUNT, fill};
use super::row::column;
use super::schema::{TABLES_VERSION, begin_new, fill_new};
use super::snapshot::PostgresSnapshot;
use crate::error::IndexError;
use crate::settings::IndexSettings;
use crate::tables::categories::{CATEGORIES, MEMBERS};
use crate::tables::decisions::DECISIONS;
use crate::tables::duplicates::DUPLICATES;
use crate::tables::originals::ORIGINALS;
use crate::tables::versions::VERSIONS;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

/// The side tables, each in a file with its name.
const TABLES: [&str; 6] =
    [DECISIONS.name, CATEGORIES.name, MEMBERS.name, ORIGINALS.name, VERSIONS.name, DUPLICATES.name];
/// The file with the rows of `docs`.
const ROWS: &str = "docs.copy";
const MANIFEST: &str = "index.json";
/// The value of `kind` in [`MANIFEST`].
const KIND: &str = "lookalike index, copied from PostgreSQL";

const COLUMNS: &str =
    "doc, bytes, added, modified, expires, fingerprint, id, sig, metadata, set, text, checksums";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BackupManifest {
    kind: String,
    /// [`TABLES_VERSION`].
    version: u32,
    last: i64,
    documents: u64,
    settings: serde_json::Value,
}

/// Copies an index into a new folder.
pub(super) fn backup(
    pool: &Arc<ConnectionPool>,
    settings: &IndexSettings,
    to: &Path,
) -> Result<(), IndexError> {
    let mut snapshot = PostgresSnapshot::new(pool, settings)?;
    match private_folder(to) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(IndexError::Exists { index: to.display().to_string() });
        }
        Err(error) => return Err(file_error(to, error)),
    }
    let result = copy(&mut snapshot, settings, to);
    if result.is_err() {
        // The folder was created above and is incomplete.
        let _ = fs::remove_dir_all(to);
    }
    result
}

/// Creates a folder that only this user can access, because its files contain texts.
fn private_folder(to: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "only Unix has modes"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(to)
}

/// Creates a file that only this user may read.
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
    let connection = snapshot.connection();
    let row = connection.query_one("SELECT last FROM state", &[], "its state")?;
    let last = column(&row, "state", 0)?;
    let rows = format!("SELECT {COLUMNS} FROM docs ORDER BY doc");
    copy_rows(connection, &rows, &to.join(ROWS))?;
    for name in TABLES {
        copy_rows(connection, &format!("SELECT * FROM {name}"), &to.join(copy_name(name)))?;
    }
    let name = to.join(MANIFEST);
    let write = || {
        let settings = serde_json::to_value(settings)?;
        let manifest = BackupManifest {
            kind: KIND.to_owned(),
            version: TABLES_VERSION,
            last,
            documents,
            settings,
        };
        let mut file = private_file(&name)?;
        file.write_all(serde_json::to_string_pretty(&manifest)?.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        File::open(to)?.sync_all()
    };
    write().map_err(|error| file_error(&name, error))
}

/// The name of the file with the rows of a table.
fn copy_name(table: &str) -> String {
    format!("{table}.copy")
}

/// Copies the rows of a query to a file.
fn copy_rows(
    connection: &mut PooledConnection,
    query: &str,
    name: &Path,
) -> Result<(), IndexError> {
    let pool = Arc::clone(connection.pool());
    let mut file = BufWriter::new(private_file(name).map_err(|e| file_error(name, e))?);
    let from = connection.session()?.client.copy_out(&format!("COPY ({query}) TO STDOUT BINARY"));
    let mut from = from.map_err(|error| pool.failure(&error))?;
    io::copy(&mut from, &mut file).map_err(|error| copy_error(&pool, name, error))?;
    drop(from);
    let file = file.into_inner().map_err(|error| file_error(name, error.into_error()))?;
    file.sync_all().map_err(|error| file_error(name, error))
}

/// Creates the tables of an index and fills them from a backup.
///
/// # Errors
/// As [`restore`](super::restore).
pub(super) fn restore(url: &str, from: &Path) -> Result<(), IndexError> {
    let manifest = read_manifest(from)?;
    let settings =
        IndexSettings::from_json(&manifest.settings.to_string(), &from.display().to_string())?;
    settings.params()?;
    let pool = Arc::new(ConnectionPool::new(Address::parse(url)?, false));
    let mut connection = begin_new(&pool)?;
    fill_new(&mut connection, &settings)?;
    copy_back(&mut connection, &from.join(ROWS), &format!("docs ({COLUMNS})"))?;
    for name in TABLES {
        copy_back(&mut connection, &from.join(copy_name(name)), name)?;
    }
    connection.execute("DROP INDEX bands_key")?;
    fill(&mut connection, &settings, "bands")?;
    connection.execute("CREATE INDEX bands_key ON bands (key, doc)")?;
    connection.query("UPDATE state SET last = $1", &[&manifest.last])?;
    connection.execute(COUNT)?;
    let row = connection.query_one("SELECT documents FROM state", &[], "its state")?;
    let got = column::<i64>(&row, "state", 0)?.cast_unsigned();
    if got != manifest.documents {
        let why = format!("it has {got} documents, {} were copied", manifest.documents);
        return Err(IndexError::damaged(from.join(ROWS).display().to_string(), why));
    }
    connection.commit()?.map_err(|error| failure(pool.name(), &error))
}

fn read_manifest(from: &Path) -> Result<BackupManifest, IndexError> {
    let not = |why: String| IndexError::not_an_index(from.display().to_string(), why);
    let name = from.join(MANIFEST);
    let text = match fs::read_to_string(&name) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = from.join("catalog.sqlite").exists();
            let hint = "; it is an index in a folder: name a folder to restore it to";
            let hint = if folder { hint } else { "" };
            return Err(not(format!("the copy is incomplete: {MANIFEST} is missing{hint}")));
        }
        Err(error) => return Err(file_error(&name, error)),
    };
    let manifest = serde_json::from_str::<BackupManifest>(&text);
    let manifest = manifest.map_err(|error| not(format!("{MANIFEST} cannot be read: {error}")))?;
    if manifest.kind != KIND {
        return Err(not(format!("{MANIFEST} is about {:?}", manifest.kind)));
    }
    if manifest.version != TABLES_VERSION {
        let index = from.display().to_string();
        let got = manifest.version;
        return Err(IndexError::Version { index, got, expected: TABLES_VERSION });
    }
    Ok(manifest)
}

fn copy_back(
    connection: &mut PooledConnection,
    name: &Path,
    table: &str,
) -> Result<(), IndexError> {
    let mut file = BufReader::new(File::open(name).map_err(|error| file_error(name, error))?);
    let pool = Arc::clone(connection.pool());
    let sql = format!("COPY {table} FROM STDIN BINARY");
    let to = connection.session()?.client.copy_in(&sql);
    let mut to = to.map_err(|error| pool.failure(&error))?;
    io::copy(&mut file, &mut to).map_err(|error| copy_error(&pool, name, error))?;
    to.finish().map(drop).map_err(|error| pool.failure(&error))
}

/// An error of the file or of the server.
fn copy_error(pool: &ConnectionPool, name: &Path, error: io::Error) -> IndexError {
    if error.get_ref().and_then(|inner| inner.downcast_ref::<postgres::Error>()).is_some() {
        return sending(pool.name(), &error);
    }
    file_error(name, error)
}

fn file_error(path: &Path, source: io::Error) -> IndexError {
    if source.kind() == io::ErrorKind::StorageFull {
        return IndexError::DiskFull { index: path.display().to_string() };
    }
    IndexError::io(path, source)
}
