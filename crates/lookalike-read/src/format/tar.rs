//! Tar archives: a record is an entry. An archive has an end mark, and names may repeat.

use crate::document::{DocumentContents, ReadBuffers, SourceSink};
use crate::error::{ReadError, SkipReason};
use crate::file::refused_in_archive;
use crate::format::embedded_files::{
    EmbeddedFiles, FILE_COPIES, FileRecords, RecordContent, RecordPlace, WholeRecordCount,
    continuation, failed, whole_records,
};
use crate::format::record::RecordBoundary;
use crate::format::{
    BlockRecords, Continuation, NextRecords, RecordAgain, RecordFormat, TakeText, WholeRecords,
};
use crate::options::{Format, SourceInfo};
use lookalike_extract::archive::{
    EntryKind, TarEntry, TarNext, lone_zeros, next_entry, zero_blocks,
};
use lookalike_extract::{ExtractError, FileKind, PartSink, UniqueNames};
use parking_lot::Mutex;
use std::collections::HashMap;

/// The format of a tar archive.
#[derive(Default)]
pub(crate) struct TarFormat {
    files: EmbeddedFiles,
    repeated: Mutex<RepeatedNames>,
}

/// Members with the name of an earlier member.
#[derive(Default)]
struct RepeatedNames {
    names: UniqueNames,
    /// The number of each repeated name, by block and position in the block.
    numbers: HashMap<(u32, u32), u32>,
    /// Whether all members were observed.
    complete: bool,
}

impl RepeatedNames {
    /// Adds the members of the next block; `None` at the end of the archive.
    fn add(&mut self, records: Option<&BlockRecords>) {
        let Some(records) = records else {
            self.complete = true;
            return;
        };
        for (start, name) in member_names(&records.buffer) {
            if let Some(number) = self.names.number(&name) {
                self.numbers.insert((records.index, start), number);
            }
        }
    }
}

impl RecordFormat for TarFormat {
    /// The archive is unclosed while its end mark is missing.
    fn cut(&self, bytes: &[u8]) -> RecordBoundary {
        let WholeRecordCount { whole, records, has_end } = whole_records(self, bytes);
        let rest = &bytes[whole..];
        let zeros = !rest.is_empty() && is_zeros(rest);
        RecordBoundary { whole, unclosed: !has_end && !zeros, records }
    }

    fn read(
        &self,
        records: &WholeRecords<'_>,
        scratch: &mut ReadBuffers,
        sink: &mut SourceSink<'_>,
    ) -> Result<(), ReadError> {
        let source = records.source;
        let is_damaged = self.files.read(self, records, scratch, sink)?;
        if records.index == 0 && is_zeros(records.bytes) {
            return sink.skipped(source.skipped(SkipReason::NoContent));
        }
        // One reason is sufficient.
        if records.unclosed && !is_damaged {
            let what = "the archive is cut off: it has no end mark".to_owned();
            let failure = ExtractError::Damaged { what };
            sink.skipped(source.skipped(SkipReason::NoText { failure, content: None }))?;
        }
        Ok(())
    }

    fn read_again(
        &self,
        record: &RecordAgain<'_>,
        scratch: &mut ReadBuffers,
        take: TakeText<'_>,
    ) -> Result<(), String> {
        EmbeddedFiles::read_again(self, record, scratch, take)
    }

    fn observe(&self, _: &SourceInfo, records: Option<&BlockRecords>) -> Result<(), ReadError> {
        let mut repeated = self.repeated.lock();
        if records.is_some_and(|records| records.index == 0) {
            // The archive is read from its start again.
            *repeated = RepeatedNames::default();
        }
        repeated.add(records);
        Ok(())
    }

    fn learn_header(&self, _: &SourceInfo, next: NextRecords<'_>) -> Result<(), ReadError> {
        if self.repeated.lock().complete {
            return Ok(());
        }
        let mut repeated = RepeatedNames::default();
        let mut is_begun = false;
        while !repeated.complete {
            match next() {
                Ok(records) => repeated.add(records.as_ref()),
                // No member after the damage was read.
                Err(_) if is_begun => repeated.complete = true,
                Err(error) => return Err(error),
            }
            is_begun = true;
        }
        *self.repeated.lock() = repeated;
        Ok(())
    }

    fn is_encoded(&self) -> bool {
        true
    }

    fn continuation(&self, partial: &[u8], _: bool) -> Continuation {
        continuation(self, partial)
    }

    fn copies(&self, _: bool) -> u64 {
        FILE_COPIES
    }

    fn reads_empty(&self, _: bool, unclosed: bool) -> bool {
        // Report an archive without its end mark.
        unclosed
    }
}

impl FileRecords for TarFormat {
    type Record<'a> = TarEntry<'a>;

    fn first<'a>(
        &self,
        bytes: &'a [u8],
        at_end: bool,
    ) -> Option<(usize, RecordContent<TarEntry<'a>>)> {
        first(bytes, at_end)
    }

    fn missing_bytes(&self, partial: &[u8]) -> Option<u64> {
        match next_entry(partial) {
            Ok(TarNext::More { at_least }) => at_least.checked_sub(partial.len() as u64),
            _ => None,
        }
    }

    fn extract<S: PartSink>(
        &self,
        entry: TarEntry<'_>,
        read: impl FnOnce(&str, &[u8], &mut S) -> Result<(), S::Error>,
        sink: &mut S,
    ) -> Result<(), S::Error> {
        if entry.kind == EntryKind::File {
            return match refused_in_archive(&entry.name) {
                None => read(&entry.name, entry.content, sink),
                Some(failure) => failed(&failure, entry.content, sink),
            };
        }
        match entry.kind.failure() {
            Some(failure) => failed(&failure, &[], sink),
            None => Ok(()),
        }
    }

    /// Folders are not members.
    fn is_member(&self, entry: &TarEntry<'_>) -> bool {
        entry.kind != EntryKind::Folder
    }

    /// The file in the archive.
    fn contents<'a>(&self, entry: &TarEntry<'a>, _: &'a [u8]) -> DocumentContents<'a> {
        let media_type = FileKind::of(&entry.name, entry.content).media_type_of(&entry.name);
        DocumentContents { bytes: entry.content, media_type, name: "" }
    }

    /// The path of the entry, with a number if it repeats an earlier one.
    fn id(&self, entry: &TarEntry<'_>, place: RecordPlace<'_>) -> String {
        let number = self.repeated.lock().numbers.get(&(place.block, place.start)).copied();
        let number = number.map_or_else(String::new, |number| format!("#{number}"));
        format!("{}/{}{number}", place.source.name, entry.name)
    }

    fn modified(&self, entry: &TarEntry<'_>, _: &SourceInfo) -> Option<u64> {
        entry.modified.and_then(|time| u64::try_from(time).ok())
    }
}

/// Removes the first entry from the bytes; see [`FileRecords::first`].
fn first(bytes: &[u8], at_end: bool) -> Option<(usize, RecordContent<TarEntry<'_>>)> {
    if !cfg!(feature = "archive") {
        return RecordContent::unsupported(Format::Tar, bytes);
    }
    if bytes.is_empty() {
        return None;
    }
    let content = match next_entry(bytes) {
        Ok(TarNext::Entry { entry, bytes }) => return Some((bytes, RecordContent::File(entry))),
        Ok(TarNext::More { .. }) if !at_end => return None,
        Ok(TarNext::More { .. }) if is_zeros(bytes) => RecordContent::End,
        Ok(TarNext::More { .. }) => {
            let what = "the archive ends within a file".to_owned();
            RecordContent::Damaged(ExtractError::Damaged { what })
        }
        Ok(TarNext::End) => return zeros(bytes, at_end),
        Err(failure) => RecordContent::Damaged(failure),
    };
    Some((bytes.len(), content))
}

/// Removes the blocks of zeros at the start. They are either the end mark, after which another
/// archive may follow, or replace a missing header.
fn zeros(bytes: &[u8], at_end: bool) -> Option<(usize, RecordContent<TarEntry<'static>>)> {
    const LONE: usize = 512;
    let length = zero_blocks(bytes);
    let rest = &bytes[length..];
    if is_zeros(rest) {
        // Keep the last two blocks, so that the next bytes do not begin with a lone block.
        let length = if at_end { bytes.len() } else { length.saturating_sub(2 * LONE) };
        return (length > 0).then_some((length, RecordContent::End));
    }
    if length > LONE {
        return Some((length, RecordContent::End));
    }
    // Keep a lone block together with the next entry. At the end of the bytes, it would look like
    // an end mark.
    if !at_end && matches!(next_entry(rest), Ok(TarNext::More { .. })) {
        return None;
    }
    Some((length, RecordContent::Damaged(lone_zeros())))
}

fn is_zeros(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// The names of the members in a piece of an archive, with their positions.
fn member_names(bytes: &[u8]) -> impl Iterator<Item = (u32, String)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        while let Some((length, content)) = first(&bytes[start..], true) {
            let at = start as u32;
            start += length.max(1);
            if let RecordContent::File(entry) = content
                && entry.kind != EntryKind::Folder
            {
                return Some((at, entry.name));
            }
        }
        None
    })
}
