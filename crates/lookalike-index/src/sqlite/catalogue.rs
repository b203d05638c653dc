//! The catalogue: the database of documents, which is the truth, and its connections.

use super::fault::Place;
use super::reserve::LOG_PAGES;
use super::segment::Listed;
use super::trust;
use crate::checksum;
use crate::error::IndexError;
use crate::settings::Settings;
use rusqlite::{Connection, OpenFlags, Row, params};
use std::path::Path;
use std::time::Duration;

/// `application_id` of the database: the letters `LkAl`.
const APPLICATION: i64 = 0x4c6b_416c;
/// `user_version` of the database: 1 has no checksums of rows.
const CATALOGUE_VERSION: u32 = 2;

/// Statements that make the catalogue of version 1.
const SCHEMA: [&str; 8] = [
    "CREATE TABLE settings(one INTEGER PRIMARY KEY CHECK(one = 1), json TEXT NOT NULL) STRICT",
    "CREATE TABLE state(
  one INTEGER PRIMARY KEY CHECK(one = 1),
  changes INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  last INTEGER NOT NULL,
  next_segment INTEGER NOT NULL,
  documents INTEGER NOT NULL,
  without_shingles INTEGER NOT NULL,
  set_bytes INTEGER NOT NULL,
  text_bytes INTEGER NOT NULL
) STRICT",
    "CREATE TABLE docs(
  doc INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  bytes INTEGER NOT NULL,
  added INTEGER NOT NULL,
  modified INTEGER,
  expires INTEGER,
  metadata TEXT NOT NULL,
  signature BLOB NOT NULL
) STRICT",
    "CREATE INDEX docs_expires ON docs(expires) WHERE expires IS NOT NULL",
    "CREATE TABLE sets(doc INTEGER PRIMARY KEY, code BLOB NOT NULL) STRICT",
    "CREATE TABLE texts(doc INTEGER PRIMARY KEY, zstd BLOB NOT NULL) STRICT",
    "CREATE TABLE dead(doc INTEGER PRIMARY KEY, change INTEGER NOT NULL) STRICT",
    "CREATE TABLE segments(
  name TEXT PRIMARY KEY,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  level INTEGER NOT NULL,
  dropped INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID",
];

/// Columns of version 2: table, column, type. They are added to the tables of version 1 in new
/// catalogues, too, so that both have the same schema.
const CHECKSUMS: [(&str, &str, &str); 6] = [
    ("settings", "checksum", "INTEGER"),
    ("state", "unchecked", "INTEGER NOT NULL DEFAULT 0"),
    ("docs", "checksum", "INTEGER"),
    ("docs", "signature_checksum", "INTEGER"),
    ("sets", "checksum", "INTEGER"),
    ("texts", "checksum", "INTEGER"),
];

/// The statements that SQLite keeps for a catalogue of a version.
pub(super) fn schema(version: u32) -> Vec<String> {
    let mut statements = SCHEMA.map(str::to_owned);
    if version >= 2 {
        for (table, column, kind) in CHECKSUMS {
            let begin = format!("CREATE TABLE {table}(");
            for statement in statements.iter_mut().filter(|one| one.starts_with(&begin)) {
                let end = statement.rfind(')').unwrap_or(statement.len());
                statement.insert_str(end, &format!(", {column} {kind}"));
            }
        }
    }
    statements.into()
}

/// Adds the columns of version 2 to a catalogue of version 1.
fn add_checksums(connection: &Connection) -> rusqlite::Result<()> {
    for (table, column, kind) in CHECKSUMS {
        connection.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {column} {kind}"))?;
    }
    connection.execute_batch(&format!("PRAGMA user_version = {CATALOGUE_VERSION}"))
}

/// The row of `state`: what is there at a moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// Calls that changed documents.
    pub(super) changes: u64,
    /// Changes of the list of segments.
    pub(super) generation: u64,
    /// The greatest number that any document has had.
    pub(super) last: u32,
    /// What the next segment file is called.
    pub(super) next_segment: u64,
    /// Documents.
    pub(super) documents: u64,
    /// Those of them without shingles.
    pub(super) without_shingles: u64,
    /// Bytes of encoded sets.
    pub(super) set_bytes: u64,
    /// Bytes of compressed texts.
    pub(super) text_bytes: u64,
    /// Documents up to this number were stored by version 1 and may have no checksums.
    pub(super) unchecked: u64,
}

impl Head {
    /// Reads the row.
    ///
    /// # Errors
    /// What SQLite says, [`IndexError::DamagedCatalogue`] for counts that cannot be.
    pub(super) fn read(place: &Place, connection: &Connection) -> Result<Self, IndexError> {
        let head = Self::row(place, connection).map_err(|error| place.database(error))?;
        let most = i64::MAX as u64;
        let counts = [head.changes, head.generation, head.next_segment, head.documents];
        if counts.iter().any(|count| *count > most) {
            let file = place.catalogue().display().to_string();
            let why = "table `state` has a negative count".to_owned();
            return Err(IndexError::DamagedCatalogue { file, why });
        }
        Ok(head)
    }

    fn row(place: &Place, connection: &Connection) -> rusqlite::Result<Self> {
        let sql = place.sql(
            "SELECT changes, generation, last, next_segment, documents, without_shingles,
             set_bytes, text_bytes, unchecked FROM state",
        );
        let mut statement = connection.prepare_cached(&sql)?;
        statement.query_row([], |row| {
            let number = |at| row.get::<_, i64>(at).map(i64::cast_unsigned);
            Ok(Self {
                changes: number(0)?,
                generation: number(1)?,
                last: row.get(2)?,
                next_segment: number(3)?,
                documents: number(4)?,
                without_shingles: number(5)?,
                set_bytes: number(6)?,
                text_bytes: number(7)?,
                unchecked: row.get::<_, Option<i64>>(8)?.map_or(u64::MAX, i64::cast_unsigned),
            })
        })
    }

    /// Writes the row.
    ///
    /// # Errors
    /// What SQLite says.
    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "UPDATE state SET changes = ?1, generation = ?2, last = ?3, next_segment = ?4,
             documents = ?5, without_shingles = ?6, set_bytes = ?7, text_bytes = ?8,
             unchecked = ?9",
        )?;
        let number = u64::cast_signed;
        statement.execute(params![
            number(self.changes),
            number(self.generation),
            self.last,
            number(self.next_segment),
            number(self.documents),
            number(self.without_shingles),
            number(self.set_bytes),
            number(self.text_bytes),
            number(self.unchecked),
        ])?;
        Ok(())
    }
}

/// Makes an empty catalogue.
///
/// # Errors
/// What keeps it from being made.
pub(super) fn create(place: &Place, settings: &Settings) -> Result<(), IndexError> {
    place.new_file(&place.catalogue())?;
    let make = || -> rusqlite::Result<()> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(place.catalogue(), flags)?;
        let schema = SCHEMA.join(";\n");
        connection.execute_batch(&format!(
            "PRAGMA page_size = 16384; PRAGMA auto_vacuum = INCREMENTAL;
             PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             BEGIN; PRAGMA application_id = {APPLICATION}; {schema};
             INSERT INTO state VALUES(1, 0, 0, 0, 1, 0, 0, 0, 0);"
        ))?;
        add_checksums(&connection)?;
        let json = settings.to_json();
        let sum = checksum::content(0, json.as_bytes()).cast_signed();
        connection.execute("INSERT INTO settings VALUES(1, ?1, ?2)", params![json, sum])?;
        connection.execute_batch("COMMIT")
    };
    make().map_err(|error| place.database(error))
}

/// Opens the catalogue to write to it, whatever version it has.
///
/// # Errors
/// What SQLite says.
pub(super) fn connect(place: &Place) -> Result<Connection, IndexError> {
    let opened = open(&place.catalogue(), OpenFlags::SQLITE_OPEN_READ_WRITE, 32 << 10);
    opened.map_err(|error| place.database(error))
}

/// A connection whose cache has so many KiB.
///
/// # Errors
/// What SQLite says.
pub(super) fn open(path: &Path, flags: OpenFlags, kib: u32) -> rusqlite::Result<Connection> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_NO_MUTEX | flags)?;
    trust::harden(&connection)?;
    connection.busy_timeout(Duration::from_secs(20))?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.execute_batch(&format!(
        "PRAGMA cache_size = -{kib}; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY;
         PRAGMA journal_size_limit = 67108864; PRAGMA wal_autocheckpoint = {LOG_PAGES};"
    ))?;
    // Nothing was read so far; this looks into the file.
    connection.query_row("PRAGMA schema_version", [], |row| row.get::<_, i64>(0))?;
    Ok(connection)
}

/// Reads the version of a catalogue, 1 or 2.
///
/// # Errors
/// [`IndexError::NotAnIndex`], [`IndexError::Version`].
pub(super) fn version(place: &Place, connection: &Connection) -> Result<u32, IndexError> {
    let number = |pragma: &str| -> Result<i64, IndexError> {
        let got = connection.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0));
        got.map_err(|error| place.database(error))
    };
    if number("application_id")? != APPLICATION {
        let why = "its catalog.sqlite is a database of another program".to_owned();
        return Err(IndexError::NotAnIndex { index: place.name.clone(), why });
    }
    let version = number("user_version")?;
    match u32::try_from(version).unwrap_or(u32::MAX) {
        version @ 1..=CATALOGUE_VERSION => Ok(version),
        got => {
            let (index, expected) = (place.name.clone(), CATALOGUE_VERSION);
            Err(IndexError::Version { index, got, expected })
        }
    }
}

/// Brings a catalogue of version 1 to this version. Its rows get checksums when they are written
/// again, or by `repair`.
///
/// # Errors
/// What SQLite says.
pub(super) fn migrate(place: &Place, connection: &Connection) -> Result<(), IndexError> {
    let change = || -> rusqlite::Result<()> {
        let sql = "SELECT json FROM settings";
        let json: String = connection.query_row(sql, [], |row| row.get(0))?;
        let sum = checksum::content(0, json.as_bytes()).cast_signed();
        add_checksums(connection)?;
        connection.execute("UPDATE settings SET checksum = ?1", [sum])?;
        connection.execute("UPDATE state SET unchecked = last", [])?;
        connection.execute_batch("COMMIT")
    };
    let begun = connection.execute_batch("BEGIN IMMEDIATE");
    let done = begun.and_then(|()| change());
    if done.is_err() && !connection.is_autocommit() {
        let _ = connection.execute_batch("ROLLBACK");
    }
    done.map_err(|error| place.database(error))
}

/// Reads the settings.
///
/// # Errors
/// [`IndexError::NotAnIndex`], [`IndexError::DamagedCatalogue`] for a wrong checksum.
pub(super) fn settings(place: &Place, connection: &Connection) -> Result<Settings, IndexError> {
    let read = connection.query_row(&place.sql("SELECT json, checksum FROM settings"), [], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, Option<i64>>(1)?))
    });
    let (json, sum) = read.map_err(|error| place.database(error))?;
    let expected = checksum::content(0, json.as_bytes());
    if place.has_checksums && sum.map(i64::cast_unsigned) != Some(expected) {
        return Err(IndexError::DamagedCatalogue {
            file: place.catalogue().display().to_string(),
            why: "the checksum of its settings is wrong".to_owned(),
        });
    }
    let settings = Settings::from_json(&json, &place.name)?;
    settings.check_sketches(&place.name)?;
    Ok(settings)
}

/// The list of segments, by ascending numbers of documents, checked.
///
/// # Errors
/// What SQLite says, [`IndexError::DamagedCatalogue`] for rows that this program does not write.
pub(super) fn segments(
    place: &Place,
    connection: &Connection,
    head: &Head,
) -> Result<Vec<Listed>, IndexError> {
    let listed = segment_rows(connection).map_err(|error| place.database(error))?;
    trust::check_segments(place, &listed, head)?;
    Ok(listed)
}

fn segment_rows(connection: &Connection) -> rusqlite::Result<Vec<Listed>> {
    let mut statement = connection.prepare_cached(
        "SELECT name, first, last, level, dropped, checksum FROM segments ORDER BY first",
    )?;
    let rows = statement.query_map([], |row: &Row<'_>| {
        Ok(Listed {
            name: row.get(0)?,
            first: row.get(1)?,
            last: row.get(2)?,
            level: row.get(3)?,
            dropped: row.get::<_, i64>(4)?.cast_unsigned(),
            checksum: row.get::<_, i64>(5)?.cast_unsigned(),
        })
    })?;
    rows.collect()
}

/// Adds a segment to the list.
///
/// # Errors
/// What SQLite says.
pub(super) fn list_segment(connection: &Connection, listed: &Listed) -> rusqlite::Result<()> {
    let sql = "INSERT INTO segments VALUES(?1, ?2, ?3, ?4, ?5, ?6)";
    connection.prepare_cached(sql)?.execute(params![
        listed.name,
        listed.first,
        listed.last,
        listed.level,
        listed.dropped.cast_signed(),
        listed.checksum.cast_signed(),
    ])?;
    Ok(())
}

/// Takes a segment off the list.
///
/// # Errors
/// What SQLite says.
pub(super) fn unlist_segment(connection: &Connection, name: &str) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM segments WHERE name = ?1")?.execute([name])?;
    Ok(())
}

/// Numbers of documents in a range that are gone since at most `changes` changes, ascending.
///
/// # Errors
/// What SQLite says.
pub(super) fn dead(
    connection: &Connection,
    (first, last): (u32, u32),
    changes: u64,
) -> rusqlite::Result<Vec<u32>> {
    // A row of `docs` outweighs one of `dead`: postings of documents that are there stay.
    let sql = "SELECT doc FROM dead WHERE doc BETWEEN ?1 AND ?2 AND change <= ?3
        AND NOT EXISTS (SELECT 1 FROM docs WHERE docs.doc = dead.doc) ORDER BY doc";
    let mut statement = connection.prepare_cached(sql)?;
    let rows =
        statement.query_map(params![first, last, changes.cast_signed()], |row| row.get(0))?;
    rows.collect()
}

/// Forgets them: no segment has them any more.
///
/// # Errors
/// What SQLite says.
pub(super) fn forget_dead(
    connection: &Connection,
    (first, last): (u32, u32),
    changes: u64,
) -> rusqlite::Result<()> {
    let sql = "DELETE FROM dead WHERE doc BETWEEN ?1 AND ?2 AND change <= ?3";
    connection.prepare_cached(sql)?.execute(params![first, last, changes.cast_signed()])?;
    Ok(())
}
