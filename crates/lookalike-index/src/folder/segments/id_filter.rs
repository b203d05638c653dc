//! Bloom filter of ids, so that most new ids need no search in the segments.
//!
//! A Bloom filter (Bloom 1970) that keeps all bits of a key in one word (Putze, Sanders, Singler,
//! *Cache-, hash- and space-efficient Bloom filters*, 2007). It is built from the lists of ids as
//! soon as look-ups pay for it, and takes 1 to 1.5 bytes per document.
//!
//! A crate such as `fastbloom` would hash keys that are already hashes; the filter itself takes a
//! few dozen lines.

use crate::error::IndexError;
use crate::folder::segments::posting::{Posting, PostingList};
use crate::folder::segments::posting_cursor::PostingCursor;
use crate::folder::segments::posting_view::PostingView;

/// The filter is built when the number of look-ups times this factor reaches the number of
/// documents.
const PAYS: u64 = 8;
/// Number of ids per read.
const BATCH: u64 = 1 << 14;

/// The filter of a writer, which adds every id that it writes.
#[derive(Default)]
pub(crate) struct IdFilter {
    filter: Option<BloomFilter>,
    /// Look-ups since the filter was built.
    looked_up: u64,
}

impl IdFilter {
    /// Builds the filter before `ids` look-ups, if there have been enough look-ups to outweigh the
    /// cost of the filter.
    pub(crate) fn prepare(&mut self, view: &PostingView, ids: usize) {
        self.looked_up += ids as u64;
        let documents = view.documents();
        let is_full = self.filter.as_ref().is_none_or(|filter| filter.left == 0);
        if is_full && self.looked_up * PAYS >= documents && !view.segments.is_empty() {
            self.filter = None;
            self.looked_up = 0;
            // Ignore damaged segments: without a filter, the look-ups that read them report the
            // damage.
            self.filter = BloomFilter::of(view, documents + documents / 2).ok();
        }
    }

    /// Returns true if an id with this key may exist. `false` is certain.
    pub(crate) fn may_have(&self, key: u64) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.may_have(key))
    }

    /// Adds the key of an id.
    pub(crate) fn add(&mut self, key: u64) {
        if let Some(filter) = &mut self.filter {
            filter.add(key);
        }
    }
}

/// A Bloom filter with eight bits per key.
struct BloomFilter {
    words: Vec<u64>,
    /// Remaining capacity in keys; beyond it, the rate of false positives increases.
    left: u64,
}

impl BloomFilter {
    fn new(room: u64) -> Self {
        Self { words: vec![0; room.div_ceil(8) as usize + 1], left: room }
    }

    /// A filter of all ids.
    fn of(view: &PostingView, room: u64) -> Result<Self, IndexError> {
        let mut filter = Self::new(room);
        let mut postings: Vec<Posting> = Vec::new();
        for segment in &view.segments {
            let mut cursor = PostingCursor::new(segment, PostingList::Ids);
            let pieces = segment.documents().div_ceil(BATCH).max(1);
            for piece in 1..=pieces {
                let end = (u128::from(piece) << 64) / u128::from(pieces);
                let most = u64::try_from(end).unwrap_or(u64::MAX);
                cursor.take_up_to(most, |_| false, &mut postings)?;
                postings.drain(..).for_each(|(key, _)| filter.add(key));
            }
        }
        for run in &view.runs {
            run.ids.iter().for_each(|(key, _)| filter.add(*key));
        }
        Ok(filter)
    }

    fn add(&mut self, key: u64) {
        let (word, bits) = self.place(key);
        self.words[word] |= bits;
        self.left = self.left.saturating_sub(1);
    }

    fn may_have(&self, key: u64) -> bool {
        let (word, bits) = self.place(key);
        self.words[word] & bits == bits
    }

    /// Returns the position of a word and a mask of three bits in the word. The upper bits of the
    /// key select the word, and the lower bits select the mask.
    fn place(&self, key: u64) -> (usize, u64) {
        let word = (u128::from(key) * self.words.len() as u128) >> 64;
        let bits = [key, key >> 6, key >> 12].map(|part| 1 << (part & 63));
        (word as usize, bits[0] | bits[1] | bits[2])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::index_state::IndexState;
    use crate::folder::segments::posting::{PostingRun, id_key};
    use crate::folder::{Tuning, test_index};
    use std::sync::Arc;

    fn key(number: u64) -> u64 {
        id_key(&number.to_le_bytes())
    }

    #[test]
    fn bloom_filter_has_few_false_positives() {
        let mut filter = BloomFilter::new(30_000);
        (0..20_000).for_each(|number| filter.add(key(number)));
        assert!((0..20_000).all(|number| filter.may_have(key(number))));
        let invented = |filter: &BloomFilter| {
            (100_000..200_000).filter(|number| filter.may_have(key(*number))).count()
        };
        // Each key sets three of the 64 bits of a word. A word has 5.3 keys here, and 8 keys later.
        assert!((500..2_500).contains(&invented(&filter)), "{}", invented(&filter));
        (20_000..30_000).for_each(|number| filter.add(key(number)));
        assert_eq!(filter.left, 0);
        assert!((2_000..6_000).contains(&invented(&filter)), "{}", invented(&filter));
    }

    #[test]
    fn every_place_is_in_range() {
        for room in [0, 1, 8, 9] {
            let mut filter = BloomFilter::new(room);
            for key in [0, 1, u64::MAX, 1 << 63] {
                filter.add(key);
                assert!(filter.may_have(key));
            }
        }
    }

    #[test]
    fn id_filter_has_no_false_negatives() {
        let ids = (0..1000).map(|number| (key(number), number as u32)).collect();
        let view = PostingView {
            runs: vec![Arc::new(PostingRun::sorted(vec![], ids))],
            ..PostingView::default()
        };
        let mut known = IdFilter::default();
        // Without segments there is nothing to save.
        known.prepare(&view, 5000);
        assert!((0..2000).all(|number| known.may_have(key(number))));
        known.filter = Some(BloomFilter::of(&view, 1500).unwrap());
        known.add(key(5000));
        assert!((0..1000).chain([5000]).all(|number| known.may_have(key(number))));
        assert!((1000..2000).filter(|number| known.may_have(key(*number))).count() < 100);
    }

    #[test]
    fn damaged_segments_disable_the_id_filter() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("index");
        let tuning = Tuning { tail: 1, fan_out: 4, background: false };
        let state = test_index::state(&path, tuning);
        (0..8).for_each(|number| test_index::put(&state, &number.to_string()));
        let known =
            |state: &IndexState| state.writer.lock().as_ref().unwrap().id_filter.filter.is_some();
        assert!(known(&state));
        drop(state);
        let broken = path.join("0000000001.seg");
        let bytes = std::fs::read(&broken).unwrap();
        let state = test_index::opened(&path, tuning);
        let mut flipped = bytes.clone();
        flipped[4096] ^= 1;
        std::fs::write(&broken, flipped).unwrap();
        // This block is the last of its list, so it is also searched for all greater keys: some of
        // these ids meet the damage.
        let ids = (100..200).map(|number| number.to_string());
        let results = ids.map(|id| test_index::try_put(&state, &id).is_ok());
        assert!(!known(&state) && results.filter(|is_stored| *is_stored).count() < 100);
        std::fs::write(&broken, bytes).unwrap();
        drop(state);
        let state = test_index::opened(&path, tuning);
        (200..300).for_each(|number| test_index::put(&state, &number.to_string()));
        assert!(known(&state));
    }
}
