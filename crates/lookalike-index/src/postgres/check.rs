//! Checks a snapshot: the rows of `docs`, their postings, the counts, the database indexes,
//! repeated ids and the other tables. Missing and surplus postings are problems.

use super::pool::{ConnectionPool, PooledConnection};
use super::postings::{BandPosting, Postings};
use super::repair::page_of_postings;
use super::row::{column, columns, later, length, record};
use super::snapshot::PostgresSnapshot;
use crate::backend::IndexProblem;
use crate::entry::{IndexRecord, shortened_id};
use crate::error::IndexError;
use crate::record_check::{EVERYTHING, RecordChecker};
use crate::settings::IndexSettings;
use crate::tables::check::checks;
use lookalike_core::hash::mix64;
use std::sync::Arc;

/// Number of documents that are checked at a time.
const CHUNK: i64 = 2_000;

/// Counts of the rows, which are compared with the counts in `state`.
#[derive(Default)]
struct CheckTotals {
    documents: i64,
    without_shingles: i64,
    set_bytes: i64,
    text_bytes: i64,
    last: i64,
    /// Expected postings.
    postings: PostingChecksum,
    /// Number of documents whose row cannot be read; their postings are unknown.
    unreadable: i64,
    problems: Vec<IndexProblem>,
}

/// An order-independent checksum of postings. Different postings collide with a probability of
/// about 2⁻¹²⁸.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct PostingChecksum {
    count: i64,
    halves: [u64; 2],
}

impl PostingChecksum {
    fn add(&mut self, posting: BandPosting) {
        self.count += 1;
        for (half, seed) in self.halves.iter_mut().zip([1, 2]) {
            let band = mix64(posting.band as u64 ^ seed << 32);
            let doc = mix64(posting.doc.cast_unsigned() ^ band);
            *half = half.wrapping_add(mix64(posting.key.cast_unsigned() ^ doc));
        }
    }
}

/// Checks everything and returns the problems.
pub(super) fn check(
    pool: &Arc<ConnectionPool>,
    settings: &IndexSettings,
) -> Result<Vec<IndexProblem>, IndexError> {
    let mut snapshot = PostgresSnapshot::new(pool, settings)?;
    let connection = snapshot.connection();
    let mut totals = CheckTotals::default();
    let mut checker = RecordChecker::new(settings)?;
    let mut from = i64::MIN;
    while let Some(last) = page(connection, settings, &mut checker, from, &mut totals)? {
        let last = later("docs", from.saturating_sub(1), last)?;
        let Some(next) = last.checked_add(1) else { break };
        from = next;
    }
    connection.execute("SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on")?;
    postings(connection, settings, &mut totals)?;
    counts(connection, &mut totals)?;
    indexes(connection, &mut totals)?;
    for check in checks(settings) {
        check(connection, &mut totals.problems)?;
    }
    Ok(totals.problems)
}

impl CheckTotals {
    fn problem(&mut self, place: String, what: String, repairable: bool) {
        self.problems.push(IndexProblem { place, what, repairable });
    }
}

/// Checks a page of documents. Returns the number of the last document; `None` for an empty page.
fn page(
    connection: &mut PooledConnection,
    settings: &IndexSettings,
    checker: &mut RecordChecker<'_>,
    from: i64,
    totals: &mut CheckTotals,
) -> Result<Option<i64>, IndexError> {
    let sql = format!(
        "SELECT {}, octet_length(set), octet_length(text) FROM docs \
         WHERE doc >= $1 ORDER BY doc LIMIT $2",
        columns(EVERYTHING)
    );
    let mut expected = Postings::new(settings);
    let mut last = None;
    let mut one = IndexRecord::default();
    connection.stream(&sql, &[&from, &CHUNK], |row| {
        let doc: i64 = column(row, "docs", 0)?;
        let id: &str = column(row, "docs", 1)?;
        last = Some(doc);
        totals.documents += 1;
        totals.last = totals.last.max(doc);
        totals.set_bytes += length(row, 12)?;
        totals.text_bytes += length(row, 13)?;
        let place = || format!("docs, doc = {doc}, id = {:?}", shortened_id(id));
        if let Err(error) = record(row, EVERYTHING, &mut one) {
            totals.unreadable += 1;
            totals.problem(place(), error.damage(), false);
            return Ok(());
        }
        totals.without_shingles += i64::from(one.signature.is_empty());
        if let Some(what) = checker.problem(&one) {
            totals.problem(place(), what, false);
        }
        expected.add(doc, &one.signature);
        Ok(())
    })?;
    for posting in &expected.all {
        totals.postings.add(*posting);
    }
    Ok(last)
}

/// The number of expected postings that are missing.
fn missing(connection: &mut PooledConnection, expected: &Postings<'_>) -> Result<i64, IndexError> {
    let keys: Vec<i64> = expected.all.iter().map(|posting| posting.key).collect();
    let docs: Vec<i64> = expected.all.iter().map(|posting| posting.doc).collect();
    let bands: Vec<i16> = expected.all.iter().map(|posting| posting.band).collect();
    let sql = "SELECT count(*) FROM unnest($1::bigint[], $2::bigint[], $3::smallint[]) \
               AS wanted (key, doc, band) WHERE NOT EXISTS (SELECT FROM bands \
               WHERE bands.key = wanted.key AND bands.doc = wanted.doc \
               AND bands.band = wanted.band)";
    let row = connection.query_one(sql, &[&keys, &docs, &bands], "its missing postings")?;
    column(&row, "bands", 0)
}

/// The checksum of the table `bands`.
fn sum(connection: &mut PooledConnection) -> Result<PostingChecksum, IndexError> {
    let mut sum = PostingChecksum::default();
    connection.stream("SELECT key, doc, band FROM bands", &[], |row| {
        let key = column(row, "bands", 0)?;
        let doc = column(row, "bands", 1)?;
        sum.add(BandPosting { key, doc, band: column(row, "bands", 2)? });
        Ok(())
    })?;
    Ok(sum)
}

/// Compares checksums. Only if they differ, looks up each posting.
fn postings(
    connection: &mut PooledConnection,
    settings: &IndexSettings,
    totals: &mut CheckTotals,
) -> Result<(), IndexError> {
    let stored = sum(connection)?;
    if stored == totals.postings {
        return Ok(());
    }
    let mut missing = 0;
    let mut from = i64::MIN;
    loop {
        let (postings, next) = page_of_postings(connection, settings, from)?;
        missing += self::missing(connection, &postings)?;
        match next {
            Some(next) => from = next,
            None => break,
        }
    }
    let stored = stored.count;
    let all = totals.postings.count;
    if missing > 0 {
        let what = format!("{missing} of {all} rows are missing: some documents are not found");
        totals.problem("bands".to_owned(), what, true);
    }
    let surplus = stored - (all - missing);
    if surplus > 0 && totals.unreadable == 0 {
        let what = format!("{surplus} rows belong to no document or occur twice");
        totals.problem("bands".to_owned(), what, true);
    }
    Ok(())
}

fn counts(connection: &mut PooledConnection, totals: &mut CheckTotals) -> Result<(), IndexError> {
    let sql = "SELECT documents, without_shingles, set_bytes, text_bytes, last FROM state";
    let row = connection.query_one(sql, &[], "its state")?;
    let counted = [
        ("documents", totals.documents),
        ("without_shingles", totals.without_shingles),
        ("set_bytes", totals.set_bytes),
        ("text_bytes", totals.text_bytes),
    ];
    for (at, (name, counted)) in counted.into_iter().enumerate() {
        let stored: i64 = column(&row, "state", at)?;
        let is_known = name != "without_shingles" || totals.unreadable == 0;
        if stored != counted && is_known {
            let what = format!("{name} is {stored} in the table, but the rows add up to {counted}");
            totals.problem("state".to_owned(), what, true);
        }
    }
    let last: i64 = column(&row, "state", 4)?;
    if last < totals.last {
        let what = format!("last is {last}, but a document has number {}", totals.last);
        totals.problem("state".to_owned(), what, true);
    }
    Ok(())
}

fn indexes(connection: &mut PooledConnection, totals: &mut CheckTotals) -> Result<(), IndexError> {
    for name in ["docs_pkey", "docs_id", "docs_expires", "bands_key"] {
        let sql = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)";
        let rows = connection.query(sql, &[&name])?;
        let what = match rows.first().map(|row| column(row, "pg_index", 0)).transpose()? {
            Some(true) => continue,
            Some(false) => "the index is not valid",
            None => "the index is missing",
        };
        totals.problem(name.to_owned(), what.to_owned(), name == "bands_key");
    }
    let rows = connection.query("SELECT id FROM docs GROUP BY id HAVING count(*) > 1", &[])?;
    for row in &rows {
        let id: &str = column(row, "docs", 0)?;
        let what = "more than one document has this id".to_owned();
        totals.problem(format!("docs, id = {:?}", shortened_id(id)), what, false);
    }
    Ok(())
}
