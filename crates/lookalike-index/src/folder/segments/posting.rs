//! Postings: the documents with each key, in sorted lists.

/// A key and the number of a document with this key.
pub(crate) type Posting = (u64, u32);

/// The two lists of every part of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PostingList {
    /// Bucket keys of signatures.
    Bands,
    /// Hashes of ids.
    Ids,
}

impl PostingList {
    pub(crate) const BOTH: [Self; 2] = [Self::Bands, Self::Ids];
}

/// The key of an id: the frozen hash of `docs/reference/signature.md`.
pub(crate) fn id_key(id: &[u8]) -> u64 {
    lookalike_core::hash::token_hash(id)
}

/// The expected position of a key among `len` evenly distributed hashes.
pub(crate) fn guess(len: usize, key: u64) -> usize {
    ((u128::from(key) * len as u128) >> 64) as usize
}

/// The number of keys less than `key` among the `len` ascending keys that `at` returns. The search
/// starts around a guess, with an initial distance of `step`. The result does not depend on guess
/// and step.
pub(crate) fn lower_bound(
    len: usize,
    key: u64,
    guess: usize,
    step: usize,
    at: impl Fn(usize) -> u64,
) -> usize {
    if len == 0 {
        return 0;
    }
    let guess = guess.min(len - 1);
    let mut step = step.max(1);
    // All keys before `low` are less than `key`; all keys from `high` on are not.
    let mut low = 0;
    let mut high = len;
    if at(guess) < key {
        low = guess + 1;
        while low < high {
            let next = (low + step).min(len - 1);
            if at(next) >= key {
                high = next;
                break;
            }
            low = next + 1;
            step *= 2;
        }
    } else {
        high = guess;
        while low < high {
            let next = high.saturating_sub(step);
            if at(next) < key {
                low = next + 1;
                break;
            }
            high = next;
            step *= 2;
        }
    }
    while low < high {
        let middle = low.midpoint(high);
        if at(middle) < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Postings of documents that are in no segment yet.
#[derive(Debug, Default)]
pub(crate) struct PostingRun {
    pub(crate) bands: Vec<Posting>,
    pub(crate) ids: Vec<Posting>,
}

impl PostingRun {
    /// Sorts postings that were collected in any order.
    pub(crate) fn sorted(bands: Vec<Posting>, ids: Vec<Posting>) -> Self {
        Self { bands: sorted(bands), ids: sorted(ids) }
    }

    /// Merges the postings of both runs.
    pub(crate) fn merged(&self, other: &Self) -> Self {
        Self { bands: merged(&self.bands, &other.bands), ids: merged(&self.ids, &other.ids) }
    }

    /// The number of documents.
    pub(crate) fn documents(&self) -> usize {
        self.ids.len()
    }

    pub(crate) fn list(&self, list: PostingList) -> &[Posting] {
        match list {
            PostingList::Bands => &self.bands,
            PostingList::Ids => &self.ids,
        }
    }

    /// Calls `each` with the place of a key and a document with this key, for all keys in order.
    pub(crate) fn find(&self, list: PostingList, keys: &[u64], mut each: impl FnMut(usize, u32)) {
        let postings = self.list(list);
        let count = postings.len();
        let step = postings.len().isqrt() / 4;
        for (at, key) in keys.iter().enumerate() {
            let start = lower_bound(count, *key, guess(count, *key), step, |i| postings[i].0);
            let same = postings[start..].iter().take_while(|posting| posting.0 == *key);
            same.for_each(|posting| each(at, posting.1));
        }
    }
}

/// Sorts postings. Takes O(n) time if keys are hashes. The top bits of a key select a bucket, and
/// the few postings of a bucket are sorted by comparison. For 30,000 postings, this takes 40
/// instructions per posting; a comparison sort of all postings takes 190. Any keys are sorted
/// correctly.
fn sorted(mut postings: Vec<Posting>) -> Vec<Posting> {
    if postings.len() < 64 {
        postings.sort_unstable();
        return postings;
    }
    let bits = (postings.len() / 4).ilog2();
    let bucket = |posting: &Posting| (posting.0 >> (64 - bits)) as usize;
    let mut ends = vec![0; 1 << bits];
    for posting in &postings {
        ends[bucket(posting)] += 1;
    }
    let mut end = 0;
    for count in &mut ends {
        end += std::mem::replace(count, end);
    }
    let mut all = vec![(0, 0); postings.len()];
    for posting in &postings {
        let end = &mut ends[bucket(posting)];
        all[*end] = *posting;
        *end += 1;
    }
    let mut start = 0;
    for end in ends {
        all[start..end].sort_unstable();
        start = end;
    }
    all
}

#[expect(clippy::stable_sort_primitive, reason = "the stable sort finds the sorted halves")]
fn merged(a: &[Posting], b: &[Posting]) -> Vec<Posting> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    all.extend_from_slice(a);
    all.extend_from_slice(b);
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lower_bound_ignores_the_guess(
            mut keys in proptest::collection::vec(any::<u64>(), 0..200),
            shift in 0u32..64,
            key in any::<u64>(),
            step in 0usize..50,
            start in 0usize..250,
        ) {
            for key in &mut keys {
                *key >>= shift;
            }
            keys.sort_unstable();
            for key in [key, key >> shift, 0, u64::MAX].into_iter().chain(keys.iter().copied()) {
                let expected = keys.partition_point(|other| *other < key);
                for guess in [start, guess(keys.len(), key)] {
                    prop_assert_eq!(
                        lower_bound(keys.len(), key, guess, step, |i| keys[i]),
                        expected
                    );
                }
            }
        }

        #[test]
        fn postings_are_sorted_whatever_their_keys(
            keys in proptest::collection::vec(any::<u64>(), 0..300),
            shift in 0u32..64,
            numbers in 1u32..300,
        ) {
            let numbered = keys.iter().zip((0..numbers).cycle());
            let mut postings: Vec<Posting> = numbered.map(|(k, n)| (k >> shift, n)).collect();
            let got = sorted(postings.clone());
            postings.sort_unstable();
            prop_assert_eq!(got, postings);
        }

        #[test]
        fn merged_runs_find_every_posting(
            postings in proptest::collection::vec((0u64..40, any::<u32>()), 0..200),
            cut in 0usize..200,
        ) {
            let cut = cut.min(postings.len());
            let run = |part: &[Posting]| PostingRun::sorted(part.to_vec(), part.to_vec());
            let run = run(&postings[..cut]).merged(&run(&postings[cut..]));
            let keys: Vec<u64> = (0..40).collect();
            let mut expected = postings;
            expected.sort_unstable();
            for list in PostingList::BOTH {
                let mut found = Vec::new();
                run.find(list, &keys, |at, number| found.push((keys[at], number)));
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
