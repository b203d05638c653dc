//! Checks of a folder before it is used. A folder may come from an untrusted source: none of its
//! contents is followed, executed or joined to a path before it is known to be valid.
//!
//! | part of the folder | accepted |
//! |---|---|
//! | its files | regular files; no links, devices or pipes |
//! | the journal | a write-ahead log: a rollback journal can name a file to delete |
//! | the schema | exactly the statements of `SCHEMA`: no trigger, no view |
//! | `segments.name` | ten digits or more and `.seg`, below `state.next_segment` |
//! | `segments.first`, `last`, `level`, `dropped` | ascending, disjoint, within `state` |

use crate::error::IndexError;
use crate::folder::catalogue::connection::Catalogue;
use crate::folder::catalogue::schema::SCHEMA;
use crate::folder::catalogue::state::CatalogueState;
use crate::folder::index_folder::IndexFolder;
use crate::folder::segments::segment::SegmentEntry;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use std::fs::FileType;
use std::io::ErrorKind;

/// Files of a folder that are opened by a fixed name.
const FILES: [&str; 6] = [
    "catalog.sqlite",
    "catalog.sqlite-wal",
    "catalog.sqlite-shm",
    "catalog.sqlite-journal",
    "lock",
    "reserve",
];
/// Maximum level. Even with a fan-out of 2, a segment of this level would need more documents than
/// there are document numbers.
const MAX_LEVEL: u32 = 64;

/// Checks the files that are opened by a fixed name, without opening them. Closing a file of a
/// database would release the locks that other connections of this process hold on the file.
///
/// # Errors
/// [`IndexError::NotAnIndex`] for invalid files.
pub(crate) fn check_files(place: &IndexFolder) -> Result<(), IndexError> {
    for name in FILES {
        let path = place.folder.join(name);
        match path.symlink_metadata() {
            Ok(data) if data.is_file() => {}
            Ok(data) => {
                let kind = kind(data.file_type());
                let why = format!("{name} is {kind}, expected a regular file");
                return Err(IndexError::not_an_index(&place.name, why));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(IndexError::io(&path, error)),
        }
    }
    let journal = place.folder.join("catalog.sqlite-journal");
    if journal.metadata().is_ok_and(|data| data.len() > 0) {
        return Err(IndexError::not_an_index(
            &place.name,
            "it has a rollback journal, catalog.sqlite-journal, which this program never writes: \
             restore a backup",
        ));
    }
    Ok(())
}

/// Checks that a connection for writing uses a write-ahead log.
///
/// # Errors
/// [`IndexError::NotAnIndex`] for a rollback journal.
pub(crate) fn check_mode(catalogue: Catalogue<'_>) -> Result<(), IndexError> {
    let mode = catalogue.run(|connection| {
        connection.query_row("PRAGMA journal_mode", [], |row| row.get::<_, String>(0))
    })?;
    if mode == "wal" {
        return Ok(());
    }
    let why = format!(
        "its catalog.sqlite has the journal mode {mode}, expected wal, the write-ahead log that \
         this program always sets"
    );
    Err(IndexError::not_an_index(&catalogue.place.name, why))
}

fn kind(kind: FileType) -> &'static str {
    if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_dir() {
        "a folder"
    } else {
        "a device or pipe"
    }
}

/// Disables features of SQLite that a database's schema could trigger.
pub(crate) fn harden(connection: &Connection) -> rusqlite::Result<()> {
    for (option, value) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
    ] {
        connection.set_db_config(option, value)?;
    }
    connection.execute_batch("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;")
}

/// Checks that the schema is the one this program creates.
///
/// # Errors
/// [`IndexError::NotAnIndex`] for any other schema.
pub(crate) fn check_schema(catalogue: Catalogue<'_>) -> Result<(), IndexError> {
    let place = catalogue.place;
    let read = |connection: &Connection| -> rusqlite::Result<Result<usize, String>> {
        let sql = "SELECT type, name, coalesce(sql, '') FROM sqlite_schema";
        let mut statement = connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            let [kind, name, sql]: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
            if !SCHEMA.contains(&sql.as_str()) {
                return Ok(Err(format!(
                    "its catalogue has the {kind} {name:?}, which this program does not create"
                )));
            }
            count += 1;
        }
        Ok(Ok(count))
    };
    match catalogue.run(read)? {
        Ok(count) if count == SCHEMA.len() => Ok(()),
        Ok(count) => {
            let expected = SCHEMA.len();
            let why = format!("its catalogue has {count} tables and indexes of {expected}");
            Err(IndexError::not_an_index(&place.name, why))
        }
        Err(why) => Err(IndexError::not_an_index(&place.name, why)),
    }
}

/// Checks the list of segments, which must be in ascending order of documents.
///
/// # Errors
/// [`IndexError::DamagedCatalogue`] for invalid rows.
pub(crate) fn check_segments(
    place: &IndexFolder,
    entries: &[SegmentEntry],
    head: &CatalogueState,
) -> Result<(), IndexError> {
    let mut end = 0;
    for SegmentEntry { name, first, last, level, dropped, .. } in entries {
        let wrong = |why: String| Err(place.damaged_catalogue(why));
        let Some(number) = segment_number(name) else {
            return wrong(format!("it lists the segment {name:?}; expected ten digits and .seg"));
        };
        if number >= head.next_segment {
            let next = head.next_segment;
            return wrong(format!("it lists {name}, expected segments before {next}"));
        }
        if *first <= end || last < first || *last > head.last {
            let most = head.last;
            return wrong(format!(
                "{name} covers documents {first} to {last}, expected a range from {} to {most}",
                u64::from(end) + 1
            ));
        }
        if *level > MAX_LEVEL || *dropped > head.changes {
            let changes = head.changes;
            return wrong(format!(
                "{name} has level {level} and change {dropped}, expected at most {MAX_LEVEL} and \
                 {changes}"
            ));
        }
        end = *last;
    }
    Ok(())
}

/// The name of a segment's file.
pub(crate) fn segment_name(number: u64) -> String {
    format!("{number:010}.seg")
}

/// The number in the name of a segment's file; `None` for any other name.
pub(crate) fn segment_number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".seg")?;
    let number = digits.parse().ok().filter(|_| digits.bytes().all(|b| b.is_ascii_digit()))?;
    (segment_name(number) == name).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_segments_are_accepted() {
        for number in [0, 1, 9_999_999_999, 10_000_000_000, u64::MAX] {
            assert_eq!(segment_number(&segment_name(number)), Some(number));
        }
        let others = [
            "",
            ".seg",
            "1.seg",
            "00000000001.seg",
            "000000001.seg",
            "+000000001.seg",
            "/0000000001.seg",
            "../0000000001.seg",
            "0000000001.SEG",
            "0000000001.seg/",
            "0000000001.seg\0",
            "99999999999999999999999.seg",
            "000000000\u{661}.seg",
        ];
        for name in others {
            assert_eq!(segment_number(name), None, "{name:?}");
        }
    }
}
