//! A sequence of values in memory or in a temporary file. It can continue the file of an earlier
//! run.
//!
//! ```text
//! append → in memory ─ above its share → file        position = number of values before
//!          range, each_record ◄── both, the file first
//! ```

use super::error::{SpillError, SpillPosition};
use super::file::SpillFile;
use super::temp_space::TempSpace;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The number of bytes per read or write.
const PIECE_BYTES: usize = 1 << 18;

/// A value with a fixed number of bytes in a file.
pub(crate) trait LogValue: Copy {
    /// The number of bytes.
    const BYTES: usize;

    /// Appends the bytes of `values`.
    fn write(values: &[Self], out: &mut Vec<u8>);

    /// Appends the values decoded from `bytes`, which contain complete values.
    fn read(bytes: &[u8], out: &mut Vec<Self>);
}

impl LogValue for u8 {
    const BYTES: usize = 1;

    fn write(values: &[Self], out: &mut Vec<u8>) {
        out.extend_from_slice(values);
    }

    fn read(bytes: &[u8], out: &mut Vec<Self>) {
        out.extend_from_slice(bytes);
    }
}

macro_rules! log_numbers {
    ($($number:ty),*) => {$(
        impl LogValue for $number {
            const BYTES: usize = size_of::<Self>();

            fn write(values: &[Self], out: &mut Vec<u8>) {
                out.reserve(Self::BYTES * values.len());
                for value in values {
                    out.extend_from_slice(&value.to_le_bytes());
                }
            }

            fn read(bytes: &[u8], out: &mut Vec<Self>) {
                out.extend(bytes.as_chunks().0.iter().map(|value| Self::from_le_bytes(*value)));
            }
        }
    )*};
}

log_numbers!(u32, u64, u128);

/// A key and a document.
impl<D: Into<u32> + From<u32> + Copy> LogValue for (u64, D) {
    const BYTES: usize = 12;

    fn write(values: &[Self], out: &mut Vec<u8>) {
        for (key, document) in values {
            out.extend_from_slice(&key.to_le_bytes());
            out.extend_from_slice(&(*document).into().to_le_bytes());
        }
    }

    fn read(bytes: &[u8], out: &mut Vec<Self>) {
        out.extend(bytes.as_chunks::<12>().0.iter().map(|value| {
            let [a, b, c, d, e, f, g, h, document @ ..] = *value;
            (u64::from_le_bytes([a, b, c, d, e, f, g, h]), u32::from_le_bytes(document).into())
        }));
    }
}

/// Values in order, each with its position. The values in memory follow those in the file.
#[derive(Debug)]
pub(crate) struct SpillLog<T> {
    /// `None` if all values stay in memory.
    temp: Option<Arc<TempSpace>>,
    name: &'static str,
    share: usize,
    /// Whether the file can continue an earlier run and can be continued by a later one.
    is_stored: bool,
    file: Option<SpillFile>,
    /// The number of values in the file.
    written: u64,
    /// The values that are not in the file, with the position of the first value of each append.
    unwritten: Vec<(u64, Vec<T>)>,
    held_bytes: usize,
    len: u64,
}

impl<T> Default for SpillLog<T> {
    /// Creates a log without a temporary file.
    fn default() -> Self {
        Self {
            temp: None,
            name: "values",
            share: usize::MAX,
            is_stored: false,
            file: None,
            written: 0,
            unwritten: Vec::new(),
            held_bytes: 0,
            len: 0,
        }
    }
}

impl<T: LogValue> SpillLog<T> {
    /// Creates an empty log for this process only. Values beyond `share` bytes go to a file in
    /// `temp`.
    pub(crate) fn scratch(temp: &Arc<TempSpace>, name: &'static str, share: usize) -> Self {
        Self { temp: Some(Arc::clone(temp)), name, share, ..Self::default() }
    }

    /// Creates a log like [`scratch`](Self::scratch). In the folder of a resumable run, the log
    /// continues after the `len` values of an earlier run, and each append is written to the file
    /// immediately.
    ///
    /// # Errors
    /// [`SpillError::Damaged`] if the file has fewer values, [`SpillError::Io`] if it cannot be
    /// opened.
    pub(crate) fn stored(
        temp: &Arc<TempSpace>,
        name: &'static str,
        share: usize,
        len: u64,
    ) -> Result<Self, SpillError> {
        let log = Self::scratch(temp, name, share);
        if !temp.is_resumable() {
            return Ok(log);
        }
        let file = Some(temp.open(name, len.saturating_mul(T::BYTES as u64))?);
        Ok(Self { file, written: len, len, share: 0, is_stored: true, ..log })
    }

    /// The number of values.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The number of bytes of values in memory.
    pub(crate) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Appends values and returns their range.
    ///
    /// # Errors
    /// [`SpillError::TempDir`] and [`SpillError::Io`] if the values in memory exceed the share and
    /// cannot be written.
    pub(crate) fn append(&mut self, values: Vec<T>) -> Result<Range<u64>, SpillError> {
        let start = self.len;
        if !values.is_empty() {
            self.len += values.len() as u64;
            self.held_bytes += size_of::<T>() * values.len();
            self.unwritten.push((start, values));
        }
        if self.held_bytes > self.share {
            self.spill()?;
        } else if let Some((_, values)) = self.unwritten.last_mut() {
            // A growing vector may have doubled its capacity.
            values.shrink_to_fit();
        }
        Ok(start..self.len)
    }

    /// Writes the values in memory to the file.
    ///
    /// # Errors
    /// See [`append`](Self::append).
    pub(crate) fn spill(&mut self) -> Result<(), SpillError> {
        let Some(temp) = self.temp.as_ref().filter(|_| !self.unwritten.is_empty()) else {
            return Ok(());
        };
        let file = match &mut self.file {
            Some(file) => file,
            slot => slot.insert(temp.scratch(self.name)?),
        };
        let mut bytes = Vec::new();
        for (_, values) in self.unwritten.drain(..) {
            for some in values.chunks(PIECE_BYTES / T::BYTES) {
                T::write(some, &mut bytes);
                if bytes.len() >= PIECE_BYTES / 2 {
                    file.append(&bytes)?;
                    bytes.clear();
                }
            }
        }
        file.append(&bytes)?;
        self.written = self.len;
        self.held_bytes = 0;
        Ok(())
    }

    /// Syncs all values to the disk, so that a later run can continue after them.
    ///
    /// # Errors
    /// See [`append`](Self::append).
    pub(crate) fn sync(&mut self) -> Result<(), SpillError> {
        if !self.is_stored {
            return Ok(());
        }
        self.spill()?;
        self.file.as_ref().map_or(Ok(()), SpillFile::sync)
    }

    /// Returns the values of a range, which must lie within the range of one append.
    ///
    /// # Errors
    /// [`SpillError::Io`] if the file cannot be read, [`SpillError::Altered`] for another range.
    pub(crate) fn range(&self, range: Range<u64>) -> Result<Cow<'_, [T]>, SpillError> {
        let count = range.end.saturating_sub(range.start) as usize;
        if count == 0 {
            return Ok(Cow::Borrowed(&[]));
        }
        let in_file = |_: &&SpillFile| range.end <= self.written;
        if let Some(file) = self.file.as_ref().filter(in_file) {
            let mut bytes = vec![0; count * T::BYTES];
            let mut values = Vec::with_capacity(count);
            file.read_at(&mut bytes, range.start * T::BYTES as u64)?;
            T::read(&bytes, &mut values);
            return Ok(Cow::Owned(values));
        }
        let place = self.unwritten.partition_point(|(start, _)| *start <= range.start);
        let found = self.unwritten[..place].last().and_then(|(start, values)| {
            let from = (range.start - start) as usize;
            values.get(from..from.checked_add(count)?)
        });
        found.map(Cow::Borrowed).ok_or_else(|| self.damaged(range.start))
    }

    /// Passes every record to `take`, in the order of positions. `length` returns the number of
    /// values of the record at the start of a slice. If the slice is shorter, `length` is called
    /// again with more values. No record spans two appended ranges.
    ///
    /// # Errors
    /// [`SpillError::Io`] if the file cannot be read, [`SpillError::Altered`] if it ends inside a
    /// record, and errors of `take`.
    pub(crate) fn each_record<E: From<SpillError>>(
        &self,
        length: impl Fn(&[T]) -> usize,
        mut take: impl FnMut(&[T]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut take_whole = |values: &[T]| {
            let mut rest = values;
            while !rest.is_empty()
                && let Some((record, after)) = rest.split_at_checked(length(rest).max(1))
            {
                take(record)?;
                rest = after;
            }
            Ok(values.len() - rest.len())
        };
        let mut bytes = Vec::new();
        let mut values = Vec::new();
        let mut at = 0;
        if let Some(file) = &self.file {
            while at < self.written {
                let more = (self.written - at).min((PIECE_BYTES / T::BYTES) as u64);
                bytes.resize(more as usize * T::BYTES, 0);
                file.read_at(&mut bytes, at * T::BYTES as u64)?;
                T::read(&bytes, &mut values);
                at += more;
                let count: Result<usize, E> = take_whole(&values);
                values.drain(..count?);
            }
        }
        let mut is_whole = values.is_empty();
        let end = at - values.len() as u64;
        for (_, values) in &self.unwritten {
            is_whole &= take_whole(values)? == values.len();
        }
        if is_whole { Ok(()) } else { Err(self.damaged(end).into()) }
    }

    /// The error of missing values from a position on.
    fn damaged(&self, at: u64) -> SpillError {
        let path = self.file.as_ref().map(|file| file.path().to_owned());
        let position = path.as_ref().map(|_| SpillPosition::Byte(at * T::BYTES as u64));
        SpillError::Altered { what: self.name.to_owned(), path, position }
    }
}
