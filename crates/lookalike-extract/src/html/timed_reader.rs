//! The bytes of a page for the tokenizer, with time checks.

use crate::reading::{CHECK_INTERVAL_BYTES, ExtractError, LimitTracker};
use html5gum::{Readable as _, Reader};

/// Maximum bytes of one search for the next markup.
pub(super) const WINDOW: usize = 64 << 10;

/// Reads the bytes of a page within the time limit.
pub(super) struct TimedReader<'a> {
    pub(super) rest: &'a [u8],
    /// Length of `rest` at the next time check.
    next: usize,
    tracker: &'a LimitTracker<'a>,
}

impl<'a> TimedReader<'a> {
    pub(super) fn new(bytes: &'a [u8], tracker: &'a LimitTracker<'a>) -> Self {
        Self { rest: bytes, next: bytes.len().saturating_sub(CHECK_INTERVAL_BYTES), tracker }
    }

    #[expect(clippy::inline_always, reason = "called for every byte of a tag")]
    #[inline(always)]
    pub(super) fn advance(&mut self, length: usize) -> Result<(), ExtractError> {
        self.rest = &self.rest[length..];
        if self.rest.len() < self.next {
            self.next = self.rest.len().saturating_sub(CHECK_INTERVAL_BYTES);
            self.tracker.check_time()?;
        }
        Ok(())
    }
}

// Implemented for a reference, so that one tokenizer continues where another stopped.
impl Reader for &mut TimedReader<'_> {
    type Error = ExtractError;

    #[expect(clippy::inline_always, reason = "called for every byte of a tag")]
    #[inline(always)]
    fn read_byte(&mut self) -> Result<Option<u8>, ExtractError> {
        let Some(byte) = self.rest.first() else { return Ok(None) };
        self.advance(1)?;
        Ok(Some(*byte))
    }

    #[inline]
    fn try_read_string(&mut self, expected: &[u8], exactly: bool) -> Result<bool, ExtractError> {
        let Some(next) = self.rest.get(..expected.len()) else { return Ok(false) };
        if next != expected && (exactly || !next.eq_ignore_ascii_case(expected)) {
            return Ok(false);
        }
        self.advance(expected.len())?;
        Ok(true)
    }

    #[expect(clippy::inline_always, reason = "the search is built for its marks when compiled")]
    #[inline(always)]
    fn read_until<'b>(
        &'b mut self,
        marks: &[u8],
        room: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, ExtractError> {
        let rest = self.rest;
        let window = &rest[..rest.len().min(WINDOW)];
        let length = match window.to_reader().read_until(marks, room) {
            Ok(Some(bytes)) => bytes.len(),
            Ok(None) => return Ok(None),
        };
        self.advance(length)?;
        Ok(Some(&rest[..length]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{ExtractOptions, Limits};
    use std::time::Duration;

    #[test]
    fn time_is_checked_every_mebibyte() {
        let limits = Limits { time: Duration::from_millis(1), ..Limits::default() };
        let options = ExtractOptions { limits, ..ExtractOptions::default() };
        let tracker = LimitTracker::new(&options);
        std::thread::sleep(Duration::from_millis(2));
        let page = vec![b'a'; 3 * CHECK_INTERVAL_BYTES];
        let mut bytes = &mut TimedReader::new(&page, &tracker);
        let read = std::iter::repeat_with(|| bytes.read_byte()).take_while(Result::is_ok).count();
        assert_eq!(read, CHECK_INTERVAL_BYTES);
        let mut bytes = &mut TimedReader::new(&page, &tracker);
        let reads = std::iter::repeat_with(|| bytes.read_until(b"<", &mut [0; 4]).is_ok());
        assert_eq!(reads.take_while(|read| *read).count(), CHECK_INTERVAL_BYTES / WINDOW);
    }

    #[test]
    fn reads_cross_window_boundaries() {
        let options = ExtractOptions::default();
        let tracker = LimitTracker::new(&options);
        let page = vec![b'a'; WINDOW + 1];
        let mut bytes = &mut TimedReader::new(&page, &tracker);
        assert!(!bytes.try_read_string(b"AA", true).unwrap());
        assert!(bytes.try_read_string(b"AA", false).unwrap());
        let length = |bytes: Option<&[u8]>| bytes.map(<[u8]>::len);
        assert_eq!(length(bytes.read_until(b"<\r", &mut [0; 4]).unwrap()), Some(WINDOW - 1));
        assert_eq!(length(bytes.read_until(b"<\r", &mut [0; 4]).unwrap()), None);
        assert!(!bytes.try_read_string(b"a", true).unwrap());
        assert_eq!(bytes.read_byte().unwrap(), None);
    }
}
