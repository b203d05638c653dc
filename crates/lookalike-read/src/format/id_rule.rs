//! Whether the ids of a file of JSON are made of its lines, because its records have none.

use crate::error::{Field, SkipReason};
use crate::format::jsonl;
use crate::format::record::InvalidRecord;
use crate::options::{ReadOptions, SourceInfo};
use std::sync::OnceLock;

/// Number of records at the start of a file that are checked for an id.
const ASKED_RECORDS: usize = 100;

/// How the records of one source get their ids; known once its first block was observed.
#[derive(Default)]
pub(crate) struct IdRule {
    /// The options of reading with ids made of lines; `None` where records have ids.
    by_line: OnceLock<Option<Box<ReadOptions>>>,
}

impl IdRule {
    /// Decides by the records at the start of the source. Ids are made of lines where none of these
    /// has the field `id`, unless the options name another field.
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

    /// Takes the decision of an earlier run, so that the source is not read for it.
    pub(crate) fn restore(&self, source: &SourceInfo, is_by_line: bool) {
        self.by_line.get_or_init(|| is_by_line.then(|| line_id_options(source)));
    }

    /// The options that records of the source are parsed with.
    pub(crate) fn options<'a>(&'a self, source: &'a SourceInfo) -> &'a ReadOptions {
        let by_line = self.by_line.get().and_then(Option::as_deref);
        by_line.unwrap_or(&source.settings.options)
    }

    /// Whether the decision is made.
    pub(crate) fn is_known(&self) -> bool {
        self.by_line.get().is_some()
    }

    /// Whether ids are made of lines although the options ask for a field.
    pub(crate) fn is_by_line(&self) -> bool {
        self.by_line.get().is_some_and(Option::is_some)
    }
}

/// The options of the source with ids made of lines.
fn line_id_options(source: &SourceInfo) -> Box<ReadOptions> {
    Box::new(ReadOptions { line_ids: true, ..source.settings.options.clone() })
}

/// Whether records lack the field of the id: one at least, and all that are objects.
fn lack_ids<'r>(options: &ReadOptions, records: impl Iterator<Item = &'r [u8]>) -> bool {
    let mut id = String::new();
    let mut text = String::new();
    let mut are_lacking = false;
    for record in records.take(ASKED_RECORDS) {
        match jsonl::parse(record, options, &mut id, &mut text) {
            Err(InvalidRecord {
                reason: SkipReason::MissingField { field: Field::Id, .. },
                ..
            }) => are_lacking = true,
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
    are_lacking
}
