//! The tables of the catalogue.

/// Statements that create the catalogue of version 1.
pub(super) const SCHEMA: [&str; 8] = [
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
pub(super) const CHECKSUMS: [(&str, &str, &str); 6] = [
    ("settings", "checksum", "INTEGER"),
    ("state", "unchecked", "INTEGER NOT NULL DEFAULT 0"),
    ("docs", "checksum", "INTEGER"),
    ("docs", "signature_checksum", "INTEGER"),
    ("sets", "checksum", "INTEGER"),
    ("texts", "checksum", "INTEGER"),
];

/// The table that version 3 adds.
pub(super) const DECISIONS: &str = "CREATE TABLE decisions(
  number INTEGER PRIMARY KEY,
  json TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT";

/// The tables that version 4 adds. Members are derived from the model and the texts of documents,
/// so that they have no checksums.
pub(super) const CATEGORIES: [&str; 2] = [
    "CREATE TABLE categories(
  one INTEGER PRIMARY KEY CHECK(one = 1),
  number INTEGER NOT NULL,
  through INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  model BLOB NOT NULL
) STRICT",
    "CREATE TABLE category_members(doc INTEGER PRIMARY KEY, category INTEGER NOT NULL) STRICT",
];

/// The tables that version 5 adds, for an index that keeps originals.
pub(super) const ARCHIVE: [&str; 6] = [
    "CREATE TABLE originals(
  original INTEGER PRIMARY KEY,
  sha256 BLOB NOT NULL,
  bytes INTEGER NOT NULL,
  base INTEGER,
  zstd BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT",
    "CREATE UNIQUE INDEX originals_sha256 ON originals(sha256)",
    "CREATE INDEX originals_base ON originals(base) WHERE base IS NOT NULL",
    "CREATE TABLE versions(
  doc INTEGER PRIMARY KEY,
  id_key INTEGER NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  original INTEGER NOT NULL,
  added INTEGER NOT NULL,
  ended INTEGER,
  modified INTEGER,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT",
    "CREATE INDEX versions_id ON versions(id_key)",
    "CREATE INDEX versions_original ON versions(original)",
];

/// The table that version 6 adds: the ids of documents that went as duplicates, by their keepers.
pub(super) const DUPLICATES: [&str; 3] = [
    "CREATE TABLE duplicates(
  id_key INTEGER NOT NULL,
  id TEXT NOT NULL,
  keeper INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT",
    "CREATE INDEX duplicates_id ON duplicates(id_key)",
    "CREATE INDEX duplicates_keeper ON duplicates(keeper)",
];

/// The statements that SQLite stores for a catalogue of `version`.
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
    let mut statements = Vec::from(statements);
    statements.extend((version >= 3).then(|| DECISIONS.to_owned()));
    if version >= 4 {
        statements.extend(CATEGORIES.map(str::to_owned));
    }
    if version >= 5 {
        statements.extend(ARCHIVE.map(str::to_owned));
    }
    if version >= 6 {
        statements.extend(DUPLICATES.map(str::to_owned));
    }
    statements
}
