//! Finds pairs of documents that share shingles, with an inverted index.

use crate::progress::{Interruption, Progress};

/// The most documents of a sample to compare: 12 million pairs.
pub(super) const MOST_DOCUMENTS: usize = 5_000;
/// The most shingles to hold while comparing a sample, 16 bytes each.
const MOST_SHINGLES: usize = 8_000_000;
/// The most meetings to count, which takes about a second. Two documents meet in each shingle that
/// they share.
pub(super) const MOST_MEETINGS: u64 = 1_000_000_000;

/// Calls `pair` for each pair of documents that share a shingle, with
/// `(earlier, later, shared shingles)`. Returns the number of compared documents. Compares only the
/// first ones if comparing all would take too long. Uses an inverted index, so pairs without common
/// shingles cost nothing.
pub(super) fn shared_shingles(
    sets: &[Vec<u64>],
    most_meetings: u64,
    progress: &dyn Progress,
    mut pair: impl FnMut(usize, usize, u64),
) -> Result<usize, Interruption> {
    let mut total = 0;
    let fits = sets.iter().take(MOST_DOCUMENTS).take_while(|set| {
        total += set.len();
        total <= MOST_SHINGLES
    });
    let documents = fits.count();
    let postings = postings(&sets[..documents]);
    let lists: Vec<&[(u64, u32)]> = postings.chunk_by(|a, b| a.0 == b.0).collect();
    let documents = affordable(&lists, documents, most_meetings);
    let mut places: Vec<Vec<(u32, u32)>> = vec![Vec::new(); documents];
    for (list, members) in lists.iter().enumerate() {
        let inside = members.partition_point(|member| (member.1 as usize) < documents);
        // No document follows the last one.
        for (at, member) in members[..inside].iter().enumerate().take(inside.saturating_sub(1)) {
            places[member.1 as usize].push((list as u32, at as u32 + 1));
        }
    }
    let mut shared = vec![0u32; documents];
    for (document, places) in places.iter().enumerate() {
        progress.advance(0)?;
        for &(list, from) in places {
            for member in &lists[list as usize][from as usize..] {
                match shared.get_mut(member.1 as usize) {
                    Some(count) => *count += 1,
                    None => break,
                }
            }
        }
        for (other, count) in shared.iter_mut().enumerate().skip(document + 1) {
            if *count > 0 {
                pair(document, other, u64::from(std::mem::take(count)));
            }
        }
    }
    Ok(documents)
}

/// Lists every shingle with every document that has it, sorted by shingle, then document. Leaves
/// out shingles of a single document.
fn postings(sets: &[Vec<u64>]) -> Vec<(u64, u32)> {
    let mut all = Vec::with_capacity(sets.iter().map(Vec::len).sum());
    for (document, set) in (0u32..).zip(sets) {
        all.extend(set.iter().map(|shingle| (*shingle, document)));
    }
    all.sort_unstable();
    let mut kept = 0;
    let mut start = 0;
    while start < all.len() {
        let length =
            all[start..].iter().take_while(|(shingle, _)| *shingle == all[start].0).count();
        if length > 1 {
            all.copy_within(start..start + length, kept);
            kept += length;
        }
        start += length;
    }
    all.truncate(kept);
    all
}

/// A number of first documents that together have at most `most` meetings. Two documents are always
/// affordable.
fn affordable(lists: &[&[(u64, u32)]], mut documents: usize, most: u64) -> usize {
    loop {
        let inside = |list: &&[(u64, u32)]| {
            let n = list.partition_point(|member| (member.1 as usize) < documents) as u64;
            n * n.saturating_sub(1) / 2
        };
        let meetings: u64 = lists.iter().map(inside).sum();
        if meetings <= most || documents <= 2 {
            return documents;
        }
        let share = (most as f64 / meetings as f64).sqrt();
        documents = ((documents as f64 * share) as usize).clamp(2, documents - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_core::verify;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn affordable_limits_the_compared_documents(
            sets in prop::collection::vec(prop::collection::btree_set(0u64..20, 1..9), 3..25),
            most in 1u64..500,
        ) {
            let sets: Vec<Vec<u64>> = sets.into_iter().map(|s| s.into_iter().collect()).collect();
            let postings = postings(&sets);
            let lists: Vec<&[(u64, u32)]> = postings.chunk_by(|a, b| a.0 == b.0).collect();
            let documents = affordable(&lists, sets.len(), most);
            let meetings: usize = (0..documents)
                .flat_map(|i| (i + 1..documents).map(move |j| (i, j)))
                .map(|(i, j)| verify::overlap(&sets[i], &sets[j]).intersection as usize)
                .sum();
            prop_assert!(documents == 2 || meetings as u64 <= most);
            prop_assert!((2..=sets.len()).contains(&documents));
        }
    }
}
