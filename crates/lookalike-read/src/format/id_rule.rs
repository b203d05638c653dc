//! The rule for ids of JSON records: a field, or line numbers if the records have no id.

use crate::error::{Field, SkipReason};
use crate::format::jsonl;
use crate::format::record::InvalidRecord;
use crate::options::{ReadOptions, SourceInfo};
use std::sync::OnceLock;

/// Number of records at the start of a file that are checked for an id.
const ASKED_RECORDS: usize = 100;

/// The rule for the ids of a source's records. Known after its first block was observed.
#[derive(Default)]
pub(crate) struct IdRule {
    /// The options for reading with line numbers as ids; `None` if records have ids.
    by_line: OnceLock<Option<Box<ReadOptions>>>,
}

impl IdRule {
    /// Decides by the records at the start of the source. Ids are line numbers if none of these
    /// records has the field `id`, unless the options name another field.
    pub(crate) fn observe<'r>(
        &self,
        source: &SourceInfo,
        records: impl FnOnce() -> Box<dyn Iterator<Item = &'r [u8]> + 'r>,
    ) {
        self.by_line.get_or_init(|| {
            let options = &source.settings.options;
            let is_named = options.id_field != ReadOptions::default().id_field;
            let by_line = !options.line_ids && !is_named && lack_ids(options, records());
            by_line.then(|| line_id_options(source))
        });
    }

    /// Sets the decision of an earlier run, so that the source is not read for it.
    pub(crate) fn restore(&self, source: &SourceInfo, is_by_line: bool) {
        self.by_line.get_or_init(|| is_by_line.then(|| line_id_options(source)));
    }

    /// The options for parsing records of the source.
    pub(crate) fn options<'a>(&'a self, source: &'a SourceInfo) -> &'a ReadOptions {
        let by_line = self.by_line.get().and_then(Option::as_deref);
        by_line.unwrap_or(&source.settings.options)
    }

    /// Returns true if the decision was made.
    pub(crate) fn is_known(&self) -> bool {
        self.by_line.get().is_some()
    }

    /// Returns true if ids are line numbers although the options name a field.
    pub(crate) fn is_by_line(&self) -> bool {
        self.by_line.get().is_some_and(Option::is_some)
    }
}

/// The options of the source with line numbers as ids.
fn line_id_options(source: &SourceInfo) -> Box<ReadOptions> {
    Box::new(ReadOptions { line_ids: true, ..source.settings.options.clone() })
}

/// Returns true if there is at least one object, and if all objects lack the field of the id.
fn lack_ids<'r>(options: &ReadOptions, records: impl Iterator<Item = &'r [u8]>) -> bool {
    let mut id = String::new();
    let mut text = String::new();
    let mut has_missing = false;
    for record in records.take(ASKED_RECORDS) {
        match jsonl::parse(record, options, &mut id, &mut text) {
            Err(InvalidRecord {
                reason: SkipReason::MissingField { field: Field::Id, .. },
                ..
            }) => has_missing = true,
            Err(InvalidRecord {
                reason:
                    SkipReason::NotUtf8 { .. }
                    | SkipReason::BrokenJson { .. }
                    | SkipReason::NotAnObject { .. },
                ..
            }) => {}
            _ => return false,
        }
    }
    has_missing
}
