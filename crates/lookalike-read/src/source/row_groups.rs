//! Parquet files: each row group is a lane of its own.

use crate::bytes::{Compression, PooledBuffer, Spool};
use crate::error::ReadError;
use crate::format::{BlockRecords, ParquetFile, RowGroup};
use crate::measure::Stamp;
use crate::options::{Format, SourceInfo};
use crate::source::records::{RecordBlock, RecordInput, RecordSource};
use crate::source::retained_state::RetainedState;
use crate::source::{BlockContent, LaneReader, Source};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A Parquet file.
pub(crate) struct ParquetSource {
    records: Arc<RecordSource>,
    /// Number of row groups, at least 1.
    lanes: u32,
    /// Lanes that are not finished.
    lanes_left: AtomicU32,
    /// The open file, from the first block until the last lane is finished.
    table: Mutex<Option<Arc<ParquetFile>>>,
}

impl ParquetSource {
    /// Counts the row groups and checks the columns.
    ///
    /// # Errors
    /// Read errors of the footer, and [`ReadError::Table`] for a missing column.
    pub(crate) fn open(info: Arc<SourceInfo>) -> Result<Self, ReadError> {
        let table = ParquetFile::open(&info.path, &info.display_name, &info.settings.options)?;
        let lanes = u32::try_from(table.groups().max(1)).unwrap_or(u32::MAX);
        let origin = RecordInput::File(Compression::None);
        let records = RecordSource::new(info, Format::Parquet, origin);
        Ok(Self {
            records: Arc::new(records),
            lanes,
            lanes_left: AtomicU32::new(lanes),
            table: Mutex::new(None),
        })
    }

    /// The number of lower bits of a block's number that count the blocks of its lane.
    fn block_bits(&self) -> u32 {
        self.lanes.saturating_sub(1).leading_zeros()
    }

    /// The file, which is opened unless it is already open.
    fn table(&self) -> Result<Arc<ParquetFile>, ReadError> {
        let mut open = self.table.lock();
        if let Some(table) = &*open {
            return Ok(Arc::clone(table));
        }
        let info = self.info();
        let table = ParquetFile::open(&info.path, &info.display_name, &info.settings.options)?;
        if table.groups().max(1) != self.lanes as usize {
            return Err(ReadError::Changed {
                source_name: info.display_name.clone(),
                line: None,
                what: format!("{} row groups, were {}", table.groups(), self.lanes),
            });
        }
        Ok(Arc::clone(open.insert(Arc::new(table))))
    }
}

impl Source for ParquetSource {
    fn info(&self) -> &Arc<SourceInfo> {
        self.records.info()
    }

    fn lanes(&self) -> u32 {
        self.lanes
    }

    /// The upper bits contain the lane, the lower bits count its blocks.
    fn first_block(&self, lane: u32) -> u32 {
        (u64::from(lane) << self.block_bits()) as u32
    }

    fn open_lane(self: Arc<Self>, lane: u32) -> Result<Box<dyn LaneReader>, ReadError> {
        let table = self.table()?;
        let rows = match table.groups() {
            0 => None,
            _ => Some(RowGroup::open(&table, lane as usize, &self.info().display_name)?),
        };
        Ok(Box::new(RowGroupLane { source: self, lane, rows, blocks: 0 }))
    }

    /// Counts the lane's share of the bytes as read. Closes the file after the last lane.
    fn finish_lane(&self, lane: u32) {
        let bytes = self.info().stamp.map_or(0, |stamp| stamp.bytes);
        let bytes_before = |lane: u32| {
            let share = u128::from(bytes) * u128::from(lane) / u128::from(self.lanes);
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        let share = bytes_before(lane + 1) - bytes_before(lane);
        self.info().settings.consumed.fetch_add(share, Ordering::Relaxed);
        if self.lanes_left.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.table.lock().take();
        }
    }

    fn rewind(&self) {
        self.lanes_left.store(self.lanes, Ordering::Relaxed);
    }

    fn restore(
        self: Arc<Self>,
        state: &RetainedState,
        spool: Option<&Arc<Spool>>,
    ) -> Option<Box<dyn BlockContent>> {
        Arc::clone(&self.records).restore(state, spool)
    }

    fn format(&self) -> Option<Format> {
        Some(Format::Parquet)
    }

    fn stamps(&self) -> Box<dyn Iterator<Item = (&Path, Stamp)> + '_> {
        self.records.stamps()
    }
}

/// Reads a row group.
struct RowGroupLane {
    source: Arc<ParquetSource>,
    lane: u32,
    /// `None` for a file without row groups.
    rows: Option<RowGroup>,
    /// Number of blocks returned so far.
    blocks: u32,
}

impl LaneReader for RowGroupLane {
    fn next(&mut self) -> Result<Option<Box<dyn BlockContent>>, ReadError> {
        let info = self.source.info();
        let Some(rows) = &mut self.rows else { return Ok(None) };
        let settings = &info.settings;
        let mut buffer = settings.pool.take();
        buffer.clear();
        let first = rows.next(&mut buffer, settings.block_bytes, &info.display_name)?;
        if buffer.is_empty() {
            return Ok(None);
        }
        if u64::from(self.blocks) >> self.source.block_bits() > 0 {
            let lane = self.lane;
            let lanes = self.source.lanes;
            return Err(ReadError::Parquet {
                source_name: info.display_name.clone(),
                problem: format!("row group {lane} of {lanes} has too much text"),
            });
        }
        let length = buffer.len();
        let longest_kept = settings.block_bytes.saturating_mul(4);
        let buffer = PooledBuffer::new(buffer, length, longest_kept, &settings.pool);
        let index = self.source.first_block(self.lane) + self.blocks;
        let first_line = first + 1;
        self.blocks += 1;
        let records = BlockRecords {
            buffer,
            index,
            offset: 0,
            first_line,
            unclosed: false,
            records_before: 0,
        };
        Ok(Some(RecordBlock::of(&self.source.records, records)))
    }
}
