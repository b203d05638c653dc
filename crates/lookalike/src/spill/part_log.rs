//! Values that belong to numbered parts, in memory or in a temporary file. Threads add values to
//! any part. Each part is read as a whole.

use super::error::SpillError;
use super::log::{LogValue, SpillLog};
use super::temp_space::TempSpace;
use parking_lot::Mutex;
use std::ops::Range;
use std::sync::Arc;

/// Limits of [`PartLog::gathered`].
const MOST_GATHERED: usize = 1024;
const LEAST_GATHERED: usize = 128;

/// The most values that one call of `push` adds.
const MOST_PUSHED: usize = 2;

/// Bytes of a line. A thread first collects the values of each part in a line, because all lines
/// together fit in the cache.
const LINE_BYTES: usize = 256;

/// The values of all parts.
pub(crate) struct PartLog<T> {
    growing: Mutex<GrowingParts<T>>,
    /// The most values of a part that a thread gathers before it adds them.
    gathered: usize,
}

struct GrowingParts<T> {
    /// The values that do not fit in memory.
    log: SpillLog<T>,
    /// Bytes of values that still fit in memory.
    room: usize,
    chunks: Vec<Vec<Chunk<T>>>,
}

/// Values of one part.
enum Chunk<T> {
    Held(Vec<T>),
    /// A range of the log.
    Stored(Range<u64>),
}

impl<T: LogValue + Default> PartLog<T> {
    /// The number of slots of a line.
    const LINE: usize = LINE_BYTES / size_of::<T>();

    /// Creates empty parts. Values beyond `share` bytes go to a file in `temp`. The buffers of
    /// writers count as part of `share`.
    pub(crate) fn new(
        temp: &Arc<TempSpace>,
        name: &'static str,
        share: usize,
        parts: usize,
        writers: usize,
    ) -> Self {
        let log = SpillLog::scratch(temp, name, 0);
        let chunks = std::iter::repeat_with(Vec::new).take(parts).collect();
        const { assert!(MOST_PUSHED <= Self::LINE && Self::LINE <= LEAST_GATHERED) };
        // All writers together may use a quarter of the share.
        let bytes = (share / 4 / (parts * writers).max(1)).saturating_sub(LINE_BYTES);
        let gathered = (bytes / size_of::<T>()).clamp(LEAST_GATHERED, MOST_GATHERED);
        Self {
            growing: Mutex::new(GrowingParts { log, room: share, chunks }),
            gathered: gathered / Self::LINE * Self::LINE,
        }
    }

    /// Returns a writer, with which one thread adds values.
    pub(crate) fn writer(&self) -> PartLogWriter<'_, T> {
        let mut growing = self.growing.lock();
        let parts = growing.chunks.len();
        let reserved = growing.room.min(parts * (self.gathered * size_of::<T>() + LINE_BYTES));
        growing.room -= reserved;
        PartLogWriter {
            log: self,
            reserved,
            lines: vec![T::default(); parts * Self::LINE],
            lengths: vec![0; parts],
            gathered: std::iter::repeat_with(Vec::new).take(parts).collect(),
        }
    }

    /// Returns the complete parts.
    pub(crate) fn finish(self) -> CompleteParts<T> {
        let GrowingParts { log, room, chunks } = self.growing.into_inner();
        CompleteParts { log, room, chunks: chunks.into_iter().map(Mutex::new).collect() }
    }
}

/// The values that one thread gathers, by part.
pub(crate) struct PartLogWriter<'a, T> {
    log: &'a PartLog<T>,
    /// Bytes of the share for `lines` and `gathered`.
    reserved: usize,
    /// The line of each part: [`PartLog::LINE`] slots. The first `lengths[part]` are in use.
    lines: Vec<T>,
    lengths: Vec<u16>,
    /// At least one line still fits.
    gathered: Vec<Vec<T>>,
}

impl<T: LogValue + Default> PartLogWriter<'_, T> {
    /// Adds at most [`MOST_PUSHED`] values to a part. [`CompleteParts::each`] passes them in the
    /// same slice. Returns true if the next values of this part begin a new slice.
    ///
    /// # Errors
    /// [`SpillError::TempDir`] and [`SpillError::Io`] if the values cannot be written.
    #[inline]
    pub(crate) fn push<const N: usize>(
        &mut self,
        part: usize,
        values: [T; N],
    ) -> Result<bool, SpillError> {
        const { assert!(N <= MOST_PUSHED) };
        let length = &mut self.lengths[part];
        let start = part * PartLog::<T>::LINE + usize::from(*length);
        // In contrast to `copy_from_slice`, this calls no function.
        for (slot, value) in self.lines[start..start + N].iter_mut().zip(values) {
            *slot = value;
        }
        *length += N as u16;
        if usize::from(*length) + MOST_PUSHED <= PartLog::<T>::LINE {
            return Ok(false);
        }
        self.gather(part)
    }

    /// Empties the line of a part. Returns true if the next values of this part begin a new slice.
    #[inline(never)]
    fn gather(&mut self, part: usize) -> Result<bool, SpillError> {
        let most = self.log.gathered;
        let line = &self.lines[part * PartLog::<T>::LINE..][..usize::from(self.lengths[part])];
        let gathered = &mut self.gathered[part];
        let needed = gathered.len() + line.len();
        if gathered.capacity() < needed {
            gathered.reserve_exact((2 * needed).min(most) - gathered.len());
        }
        gathered.extend_from_slice(line);
        self.lengths[part] = 0;
        if needed + PartLog::<T>::LINE <= most {
            return Ok(false);
        }
        // A part that filled up once probably fills up again: reserve the memory at once.
        let values = std::mem::replace(gathered, Vec::with_capacity(most));
        self.add(part, values)?;
        Ok(true)
    }

    fn add(&self, part: usize, values: Vec<T>) -> Result<(), SpillError> {
        let mut parts = self.log.growing.lock();
        let bytes = size_of::<T>() * values.capacity();
        let chunk = if let Some(room) = parts.room.checked_sub(bytes) {
            parts.room = room;
            Chunk::Held(values)
        } else {
            Chunk::Stored(parts.log.append(values)?)
        };
        parts.chunks[part].push(chunk);
        Ok(())
    }

    /// Adds the remaining values.
    ///
    /// # Errors
    /// As for [`push`](Self::push).
    pub(crate) fn finish(mut self) -> Result<(), SpillError> {
        // The values leave the buffers, so the reserved bytes are free for them.
        self.log.growing.lock().room += self.reserved;
        let lines = self.lines.chunks(PartLog::<T>::LINE).zip(&self.lengths);
        for (values, (line, length)) in self.gathered.iter_mut().zip(lines) {
            values.reserve_exact(usize::from(*length));
            values.extend_from_slice(&line[..usize::from(*length)]);
            values.shrink_to_fit();
        }
        let gathered = std::mem::take(&mut self.gathered);
        let mut parts = gathered.into_iter().enumerate().filter(|(_, values)| !values.is_empty());
        parts.try_for_each(|(part, values)| self.add(part, values))
    }
}

/// Parts to which nothing is added any more.
pub(crate) struct CompleteParts<T> {
    log: SpillLog<T>,
    room: usize,
    chunks: Vec<Mutex<Vec<Chunk<T>>>>,
}

impl<T: LogValue> CompleteParts<T> {
    /// The number of parts.
    pub(crate) fn len(&self) -> usize {
        self.chunks.len()
    }

    /// Bytes of the share that no value uses.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// The number of values of a part.
    pub(crate) fn values(&self, part: usize) -> usize {
        let length = |chunk: &Chunk<T>| match chunk {
            Chunk::Held(values) => values.len(),
            Chunk::Stored(range) => (range.end - range.start) as usize,
        };
        self.chunks[part].lock().iter().map(length).sum()
    }

    /// Passes all values of a part to `take`, slice by slice. Other threads cannot read this part
    /// at the same time.
    ///
    /// # Errors
    /// [`SpillError::Io`] if the file cannot be read.
    pub(crate) fn each(&self, part: usize, mut take: impl FnMut(&[T])) -> Result<(), SpillError> {
        self.chunks[part].lock().iter().try_for_each(|chunk| {
            match chunk {
                Chunk::Held(values) => take(values),
                Chunk::Stored(range) => take(&self.log.range(range.clone())?),
            }
            Ok(())
        })
    }

    /// Passes the slices of a part that are in memory to `take`, which may change them.
    pub(crate) fn each_held(&self, part: usize, mut take: impl FnMut(&mut Vec<T>)) {
        for chunk in self.chunks[part].lock().iter_mut() {
            if let Chunk::Held(values) = chunk {
                take(values);
            }
        }
    }

    /// Passes the slices of a part that are in the file to `take`.
    ///
    /// # Errors
    /// As for [`each`](Self::each).
    pub(crate) fn each_stored(
        &self,
        part: usize,
        mut take: impl FnMut(&[T]),
    ) -> Result<(), SpillError> {
        self.chunks[part].lock().iter().try_for_each(|chunk| {
            if let Chunk::Stored(range) = chunk {
                take(&self.log.range(range.clone())?);
            }
            Ok(())
        })
    }

    /// Removes all values of a part, and releases their memory.
    pub(crate) fn clear(&self, part: usize) {
        *self.chunks[part].lock() = Vec::new();
    }
}
