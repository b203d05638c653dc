//! Ten thousand forms, each filled in differently, share buckets and are not similar: comparing
//! all of them with all is quadratic and gives nothing. Such a component gets other buckets: the
//! rarest shingles of each member, of which two similar members must share one ([`prefix`]). Pairs
//! that share none are not similar, so leaving them out loses nothing.

use super::component::Placed;
use super::sets::Sets;
use lookalike_core::group::Buckets;
use lookalike_core::params::Params;
use lookalike_core::prefix::{self, Counters, SelectScratch};
use std::collections::HashMap;

/// Buckets of rare shingles.
pub(super) struct Screen<'a> {
    placed: &'a Placed<'a>,
    buckets: Vec<u32>,
    ends: Vec<usize>,
    count: usize,
}

impl<'a> Screen<'a> {
    /// Makes the sets of all members twice: once to count, once to choose.
    pub(super) fn new(placed: &'a Placed<'a>, params: &Params, sets: &mut Sets<'_>) -> Self {
        let members = 0..placed.len() as u32;
        let shingles: usize = members.clone().map(|m| placed.set(m, sets).len()).sum();
        let mut counters = Counters::new(log2_slots(shingles, sets.share()));
        for member in members.clone() {
            placed.set(member, sets).iter().for_each(|hash| counters.add(*hash));
        }
        let mut numbers = HashMap::new();
        let mut this = Self { placed, buckets: Vec::new(), ends: Vec::new(), count: 0 };
        let (mut counts, mut rare) = (Vec::new(), Vec::new());
        let mut scratch = SelectScratch::default();
        for member in members {
            let set = placed.set(member, sets);
            counts.clear();
            counts.extend(set.iter().map(|hash| counters.get(*hash)));
            let length = prefix::prefix_length(set.len(), params.threshold());
            rare.clear();
            prefix::select(set, &counts, length, &mut scratch, &mut rare);
            for hash in &rare {
                let next = numbers.len() as u32;
                this.buckets.push(*numbers.entry(*hash).or_insert(next));
            }
            this.ends.push(this.buckets.len());
        }
        this.count = numbers.len();
        this
    }
}

/// Enough slots that few shingles share one, as far as the share of memory goes.
fn log2_slots(shingles: usize, share: usize) -> u32 {
    let wanted = shingles.saturating_mul(4).next_power_of_two().ilog2();
    wanted.clamp(10, share.max(1 << 10).ilog2())
}

impl Buckets for Screen<'_> {
    fn look(&self, member: u32) -> &[u32] {
        self.stand(member)
    }

    fn stand(&self, member: u32) -> &[u32] {
        let member = member as usize;
        let start = if member == 0 { 0 } else { self.ends[member - 1] };
        &self.buckets[start..self.ends[member]]
    }

    fn count(&self) -> usize {
        self.count
    }

    fn fixed(&self, member: u32) -> bool {
        self.placed.fixed(member)
    }
}
