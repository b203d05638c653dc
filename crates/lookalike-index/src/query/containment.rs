//! Keys with which an index finds candidates by containment: the share of the shorter document's
//! shingles that the longer document contains.
//!
//! ```text
//! place(x)   = mix64(x ^ ORDER), for a shingle x
//! body(x)    = mix64(place(x) ^ BODY)
//! anchor(x)  = mix64(place(x) ^ ANCHOR)
//!
//! document   has postings for  body(x) of all its shingles, anchor(x) of its anchors
//! query      looks up          anchor(x) of all its shingles, body(x) of its anchors
//! ```
//!
//! The *anchors* of a set are its s shingles with the smallest places, or all if it has fewer. A
//! document is therefore a candidate if either set contains an anchor of the other.
//!
//! Suppose that the shorter set has m shingles and shares k of them with the longer set. Its s
//! anchors are a random sample. With probability C(m − k, s) / C(m, s), which is at most (1 −
//! k/m)ˢ, none of them is in the longer set. A pair with containment c is thus a candidate with
//! probability at least 1 − (1 − c)ˢ, whatever the lengths of the two documents.

use lookalike_core::curve;
use lookalike_core::hash::mix64;

/// Seed of the order of shingles.
const ORDER: u64 = 0x6f72_6465_7200_0001;
/// Seed of the keys of shingles.
const BODY: u64 = 0x626f_6479_0000_0001;
/// Seed of the keys of anchors.
const ANCHOR: u64 = 0x616e_6368_6f72_0001;

/// Maximum number of anchors, sufficient for a threshold of 0.1 and a recall of 0.9999.
pub const MAX_ANCHORS: usize = 256;

/// Returns the smallest number of anchors with which a pair with containment `threshold` is a
/// candidate with at least the probability `recall`. `None` if the number exceeds [`MAX_ANCHORS`].
///
/// ```
/// use lookalike_index::containment::anchors_for;
///
/// assert_eq!(anchors_for(0.8, 0.99), Some(3));
/// assert_eq!(anchors_for(0.3, 0.99), Some(13));
/// assert_eq!(anchors_for(0.001, 0.99), None);
/// ```
pub fn anchors_for(threshold: f64, recall: f64) -> Option<usize> {
    (1..=MAX_ANCHORS).find(|anchors| candidate_probability(threshold, *anchors) >= recall)
}

/// The minimum probability that a pair with this containment (0 to 1) is a candidate: 1 − (1 − c)ˢ.
pub fn candidate_probability(containment: f64, anchors: usize) -> f64 {
    // This is the curve of `anchors` bands with one row each.
    curve::candidate_probability(containment, anchors, 1)
}

/// Replaces the content of `keys` by the keys of a document's postings: one for each anchor and one
/// for each shingle.
pub fn document_keys(anchors: usize, set: &[u64], keys: &mut Vec<u64>) {
    fill(anchors, set, (BODY, ANCHOR), keys);
}

/// Replaces the content of `keys` by the keys that a query looks up, in ascending order, because
/// neighbouring keys are in the same blocks.
pub fn query_keys(anchors: usize, set: &[u64], keys: &mut Vec<u64>) {
    fill(anchors, set, (ANCHOR, BODY), keys);
    keys.sort_unstable();
}

fn fill(
    anchors: usize,
    set: &[u64],
    (seed_of_all, seed_of_anchors): (u64, u64),
    keys: &mut Vec<u64>,
) {
    keys.clear();
    let count = anchors.min(set.len());
    if count == 0 {
        return;
    }
    // A key depends only on the place of its shingle, so the places alone select the anchors and
    // become their keys.
    keys.extend(set.iter().map(|shingle| mix64(shingle ^ ORDER)));
    if count < keys.len() {
        keys.select_nth_unstable(count - 1);
    }
    let to_anchor = |place: &mut u64| *place = mix64(*place ^ seed_of_anchors);
    keys.truncate(count);
    keys.iter_mut().for_each(to_anchor);
    keys.extend(set.iter().map(|shingle| mix64(mix64(shingle ^ ORDER) ^ seed_of_all)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_core::hash::SplitMix64;

    fn meet(anchors: usize, document: &[u64], query: &[u64]) -> bool {
        let (mut posted, mut looked_up) = (Vec::new(), Vec::new());
        document_keys(anchors, document, &mut posted);
        query_keys(anchors, query, &mut looked_up);
        assert_eq!(posted.len(), document.len() + anchors.min(document.len()));
        assert!(looked_up.is_sorted());
        posted.iter().any(|key| looked_up.binary_search(key).is_ok())
    }

    #[test]
    fn threshold_pairs_reach_the_predicted_probability() {
        let mut random = SplitMix64::new(1);
        for (short, long, shared, anchors) in
            [(50, 2_000, 40, 3), (10, 300, 8, 3), (200, 250, 60, 13), (4, 900, 2, 2)]
        {
            let predicted = candidate_probability(f64::from(shared) / f64::from(short), anchors);
            let mut found = [0; 2];
            for _ in 0..2_000 {
                let mut draw = |count: i32| (0..count).map(|_| random.next_u64()).collect();
                let one: Vec<u64> = draw(short);
                let mut other: Vec<u64> = draw(long - shared);
                other.extend(&one[..shared as usize]);
                // The shorter set is first the query, then the document.
                found[0] += u32::from(meet(anchors, &other, &one));
                found[1] += u32::from(meet(anchors, &one, &other));
            }
            for found in found {
                // Four standard deviations of the share.
                let least = predicted - 4.0 * (predicted * (1.0 - predicted) / 2_000.0).sqrt();
                assert!(
                    f64::from(found) / 2_000.0 >= least,
                    "{found} of 2000, {predicted} {short}"
                );
            }
        }
    }

    #[test]
    fn disjoint_sets_do_not_meet() {
        let one: Vec<u64> = (0..50).collect();
        let other: Vec<u64> = (50..500).collect();
        assert!(!meet(3, &one, &other) && !meet(3, &[], &other) && !meet(3, &one, &[]));
        assert!(meet(3, &one, &one));
    }

    #[test]
    fn document_keys_match_the_specification() {
        // docs/reference/index-folder.md, "Postings for containment".
        let mut keys = Vec::new();
        document_keys(1, &[1, 2], &mut keys);
        let place = |x: u64| mix64(x ^ 0x6f72_6465_7200_0001);
        let anchor = if place(1) < place(2) { 1 } else { 2 };
        let expected = [
            mix64(place(anchor) ^ 0x616e_6368_6f72_0001),
            mix64(place(1) ^ 0x626f_6479_0000_0001),
            mix64(place(2) ^ 0x626f_6479_0000_0001),
        ];
        assert_eq!(keys, expected);
    }
}
