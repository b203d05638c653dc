//! The tables of the catalogue.

/// The statements that create the catalogue, as SQLite stores them. Members of categories have no
/// checksums, because they are derived from the model and the texts of documents.
pub(crate) const SCHEMA: [&str; 20] = [
    "CREATE TABLE settings(
  one INTEGER PRIMARY KEY CHECK(one = 1),
  json TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT",
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
  signature BLOB NOT NULL,
  checksum INTEGER NOT NULL,
  signature_checksum INTEGER NOT NULL
) STRICT",
    "CREATE INDEX docs_expires ON docs(expires) WHERE expires IS NOT NULL",
    "CREATE TABLE sets(
  doc INTEGER PRIMARY KEY,
  code BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT",
    "CREATE TABLE texts(
  doc INTEGER PRIMARY KEY,
  zstd BLOB NOT NULL,
  checksum INTEGER NOT NULL
) STRICT",
    "CREATE TABLE dead(doc INTEGER PRIMARY KEY, change INTEGER NOT NULL) STRICT",
    "CREATE TABLE segments(
  name TEXT PRIMARY KEY,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  level INTEGER NOT NULL,
  dropped INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT, WITHOUT ROWID",
    "CREATE TABLE decisions(
  number INTEGER PRIMARY KEY,
  json TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT",
    "CREATE TABLE categories(
  one INTEGER PRIMARY KEY CHECK(one = 1),
  number INTEGER NOT NULL,
  through INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  model BLOB NOT NULL
) STRICT",
    "CREATE TABLE category_members(doc INTEGER PRIMARY KEY, category INTEGER NOT NULL) STRICT",
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
    "CREATE TABLE duplicates(
  id_key INTEGER NOT NULL,
  id TEXT NOT NULL,
  keeper INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT",
    "CREATE INDEX duplicates_id ON duplicates(id_key)",
    "CREATE INDEX duplicates_keeper ON duplicates(keeper)",
];
