//! The lanes of a source: parts of it that are read side by side.

use crate::decompress::Compression;
use crate::error::ReadError;
#[cfg(feature = "parquet")]
use crate::format::parquet::{RowGroup, Table};
use crate::options::Format;
#[cfg(feature = "parquet")]
use crate::source::Progress;
#[cfg(feature = "parquet")]
use crate::source::records::{Piece, Records};
use crate::source::{Kind, Origin, Source};
#[cfg(feature = "parquet")]
use crate::table_problem::TableProblem;
use std::sync::atomic::Ordering;
#[cfg(feature = "parquet")]
use std::sync::{Arc, PoisonError};

impl Source {
    /// Counts the row groups of a Parquet file and checks its columns.
    pub(crate) fn find_lanes(&mut self) -> Result<(), ReadError> {
        match &self.kind {
            #[cfg(feature = "parquet")]
            Kind::Records { format: Format::Parquet, origin } => {
                if !matches!(origin, Origin::File(Compression::None, _)) {
                    return Err(ReadError::Table {
                        source_name: self.shown.clone(),
                        problem: TableProblem::ParquetStream,
                    });
                }
                let table = Table::open(&self.path, &self.shown, &self.settings.fields)?;
                self.lanes = u32::try_from(table.groups().max(1)).unwrap_or(u32::MAX);
                self.lanes_left.store(self.lanes, Ordering::Relaxed);
                Ok(())
            }
            #[cfg(not(feature = "parquet"))]
            Kind::Records { format: Format::Parquet, .. } => Err(ReadError::Table {
                source_name: self.shown.clone(),
                problem: TableProblem::NoParquet,
            }),
            _ => Ok(()),
        }
    }

    /// The number of the first block of a lane: the lane in the upper bits, its blocks in the
    /// lower.
    pub(crate) fn first_block(&self, lane: u32) -> u32 {
        (u64::from(lane) << self.block_bits()) as u32
    }

    /// Bits of a block's number that count the blocks of its lane.
    pub(crate) fn block_bits(&self) -> u32 {
        self.lanes.saturating_sub(1).leading_zeros()
    }

    /// A lane gives no more blocks. Of a Parquet file its share of the bytes counts as read, and
    /// with the last one the file is closed.
    pub(crate) fn finish(&self, lane: u32) {
        if let Kind::Records { format: Format::Parquet, origin: Origin::File(_, stamp) } =
            &self.kind
        {
            let until = |lane: u32| {
                let share = u128::from(stamp.bytes) * u128::from(lane) / u128::from(self.lanes);
                u64::try_from(share).unwrap_or(u64::MAX)
            };
            let share = until(lane + 1) - until(lane);
            self.settings.consumed.fetch_add(share, Ordering::Relaxed);
        }
        if self.lanes_left.fetch_sub(1, Ordering::AcqRel) == 1 {
            #[cfg(feature = "parquet")]
            self.table.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }
}

#[cfg(feature = "parquet")]
impl Source {
    /// Opens a row group; the file too, where none is open.
    pub(crate) fn open_rows(&self, lane: u32) -> Result<Progress, ReadError> {
        let table = {
            let mut open = self.table.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(table) = &*open {
                Arc::clone(table)
            } else {
                let table = Table::open(&self.path, &self.shown, &self.settings.fields)?;
                if table.groups().max(1) != self.lanes as usize {
                    return Err(ReadError::Changed {
                        source_name: self.shown.clone(),
                        line: None,
                        what: format!("{} row groups, were {}", table.groups(), self.lanes),
                    });
                }
                Arc::clone(open.insert(Arc::new(table)))
            }
        };
        if table.groups() == 0 {
            // No rows at all: nothing to go on with.
            return Ok(Progress::Ended);
        }
        let rows = RowGroup::open(&table, lane as usize, &self.shown)?;
        Ok(Progress::Rows(Box::new(rows)))
    }

    /// The next rows of a row group.
    pub(crate) fn next_rows(
        &self,
        lane: u32,
        rows: &mut RowGroup,
    ) -> Result<Option<Records>, ReadError> {
        let settings = &self.settings;
        let mut buffer = settings.pool.take();
        buffer.clear();
        let first = rows.next(&mut buffer, settings.block_bytes, &self.shown)?;
        if buffer.is_empty() {
            return Ok(None);
        }
        let index = self.first_block(lane) | rows.blocks;
        if u64::from(rows.blocks) >> self.block_bits() > 0 {
            return Err(ReadError::Parquet {
                source_name: self.shown.clone(),
                problem: format!("row group {lane} of {} has too much text", self.lanes),
            });
        }
        rows.blocks += 1;
        let usual = settings.block_bytes.saturating_mul(4);
        Ok(Some(Records {
            piece: Piece::whole(buffer, usual, &settings.pool),
            index,
            offset: 0,
            first_line: first + 1,
            unclosed: false,
        }))
    }
}
