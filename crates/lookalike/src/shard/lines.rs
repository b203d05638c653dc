//! Writes sorted rows as the bytes of reports.

use super::decide::{MemberRole, MemberRow, PairRow};
use crate::engine::{DocumentNumber, Duplicate, Group, Keeper};
use crate::report::csv::{self, CellRule, Decimals};
use crate::report::jsonl;
use ::csv::{IntoInnerError, Writer};
use lookalike_core::params::Measure;
use std::io;

/// Writes the rows of groups as `find -o` does. The outputs for consecutive ranges of rows can be
/// concatenated, if only the first has a header.
pub struct GroupLines {
    measure: Measure,
    next: u64,
    group: Option<Group>,
    out: LineFormat,
}

enum LineFormat {
    Csv(Box<Writer<Vec<u8>>>),
    Jsonl(Vec<u8>),
}

impl GroupLines {
    /// Creates a writer of CSV. The first group has the number `first`, from 1. The header precedes
    /// the lines if `header` is true.
    ///
    /// # Errors
    /// None, as the lines are held in memory.
    pub fn csv(measure: Measure, first: u64, header: bool) -> io::Result<Self> {
        let mut csv = csv::writer(Vec::new());
        if header {
            csv::groups_header(&mut csv, measure, false)?;
        }
        Ok(Self { measure, next: first, group: None, out: LineFormat::Csv(Box::new(csv)) })
    }

    /// Creates a writer of JSON lines. The first group has the number `first`, from 1.
    pub fn jsonl(measure: Measure, first: u64) -> Self {
        Self { measure, next: first, group: None, out: LineFormat::Jsonl(Vec::new()) }
    }

    /// Adds a row. A group is written when it is complete.
    ///
    /// # Errors
    /// If a duplicate does not follow its keeper: the rows are not sorted, or a group is divided.
    pub fn push(&mut self, row: &MemberRow<'_>) -> io::Result<()> {
        let (MemberRole::Duplicate, Some(overlap)) = (row.role, row.overlap) else {
            self.end_group()?;
            let keeper = Keeper {
                id: row.id.to_owned(),
                document: DocumentNumber::default(),
                bytes: 0,
                reference: row.reference,
                by_decision: false,
                unit: None,
            };
            self.group = Some(Group { keeper, duplicates: Vec::new() });
            return Ok(());
        };
        let group = self.group.as_mut().filter(|group| group.keeper.id == row.keeper);
        let group = group.ok_or_else(|| {
            io::Error::other(format!(
                "the row of {:?} does not follow its keeper {:?}; sort the rows by size \
                 (descending), keeper, role (descending), rank (descending) and id",
                row.id, row.keeper
            ))
        })?;
        group.duplicates.push(Duplicate {
            id: row.id.to_owned(),
            document: DocumentNumber::default(),
            bytes: 0,
            overlap,
            decided_by: None,
            unit: None,
        });
        Ok(())
    }

    fn end_group(&mut self) -> io::Result<()> {
        let Some(group) = self.group.take() else { return Ok(()) };
        match &mut self.out {
            LineFormat::Csv(out) => {
                csv::group(out, self.next, &group, self.measure, CellRule::Exact)?;
            }
            LineFormat::Jsonl(out) => {
                jsonl::group(out, self.next, &group, self.measure, None)?;
                out.push(b'\n');
            }
        }
        self.next += 1;
        Ok(())
    }

    /// Returns all lines.
    ///
    /// # Errors
    /// None, as the lines are held in memory.
    pub fn finish(mut self) -> io::Result<Vec<u8>> {
        self.end_group()?;
        match self.out {
            LineFormat::Csv(out) => out.into_inner().map_err(IntoInnerError::into_error),
            LineFormat::Jsonl(out) => Ok(out),
        }
    }
}

/// Writes pairs as `find --pairs` does. The outputs can be concatenated as for [`GroupLines`].
pub struct PairLines {
    measure: Measure,
    decimals: Decimals,
    out: Vec<u8>,
}

impl PairLines {
    /// Creates a writer of CSV, with a header if `header` is true.
    pub fn new(measure: Measure, header: bool) -> Self {
        let mut out = Vec::new();
        if header {
            csv::pairs_header(&mut out, measure, false, false);
        }
        Self { measure, decimals: Decimals::new(), out }
    }

    /// Adds a pair.
    pub fn push(&mut self, row: &PairRow<'_>) {
        let PairRow { a, b, overlap } = row;
        csv::pair(&mut self.out, a, b, overlap, self.measure, &mut self.decimals);
        self.out.push(b'\n');
    }

    /// Returns all lines.
    pub fn finish(self) -> Vec<u8> {
        self.out
    }
}
