//! Reads a report group by group and pair by pair, and determines which drawn neighbours the run
//! found. Holds only the sample and its drawn neighbours in memory, regardless of the report's
//! size.

use super::neighbours::{BinTally, Neighbours};
use super::outcome::{Audit, JudgedBy, Trial};
use std::collections::HashMap;

/// Compares a report with [`Neighbours`] while the report is read.
#[derive(Debug)]
pub struct Judge<'a> {
    neighbours: &'a Neighbours,
    by: JudgedBy,
    /// Numbers of all relevant ids.
    numbers: HashMap<&'a str, u32>,
    /// Whether each relevant document is a duplicate in the report, by its number.
    removed: Vec<bool>,
    /// The relevant pairs, the lesser number first, and whether the report has them.
    pairs: HashMap<(u32, u32), bool>,
}

impl Neighbours {
    /// Begins the comparison with a report.
    pub fn judge_by(&self, by: JudgedBy) -> Judge<'_> {
        let mut judge = Judge {
            neighbours: self,
            by,
            numbers: HashMap::new(),
            removed: Vec::new(),
            pairs: HashMap::new(),
        };
        for each in &self.sample {
            let sampled = judge.number(&each.id);
            for (_, neighbour) in each.bins.iter().flat_map(|tally| tally.kept.keys()) {
                let neighbour = judge.number(neighbour);
                if by == JudgedBy::Pairs {
                    judge.pairs.insert(in_order(sampled, neighbour), false);
                }
            }
        }
        judge
    }
}

fn in_order(a: u32, b: u32) -> (u32, u32) {
    (a.min(b), a.max(b))
}

impl<'a> Judge<'a> {
    fn number(&mut self, id: &'a str) -> u32 {
        let next = self.removed.len() as u32;
        let number = *self.numbers.entry(id).or_insert(next);
        if number == next {
            self.removed.push(false);
        }
        number
    }

    /// Records that the report lists this document as a duplicate of a kept document.
    pub fn duplicate(&mut self, id: &str) {
        if let Some(number) = self.numbers.get(id) {
            self.removed[*number as usize] = true;
        }
    }

    /// Records that the report has this pair, in either order.
    pub fn pair(&mut self, a: &str, b: &str) {
        if let (Some(a), Some(b)) = (self.numbers.get(a), self.numbers.get(b))
            && let Some(found) = self.pairs.get_mut(&in_order(*a, *b))
        {
            *found = true;
        }
    }

    fn found(&self, a: &str, b: &str) -> bool {
        let (Some(a), Some(b)) = (self.numbers.get(a), self.numbers.get(b)) else { return false };
        match self.by {
            JudgedBy::Pairs => self.pairs.get(&in_order(*a, *b)).copied().unwrap_or(false),
            JudgedBy::Groups => self.removed[*a as usize] || self.removed[*b as usize],
        }
    }

    /// Returns the figures. The caller must have passed the whole report.
    pub fn finish(self) -> Audit {
        let trials = self.neighbours.sample.iter().map(|each| {
            let bins = each.bins.iter().map(|tally| self.trial(&each.id, tally)).collect();
            (each.first_bin(), bins)
        });
        Audit::new(self.neighbours, self.by, &trials.collect::<Vec<_>>())
    }

    /// Counts the found neighbours of one document in one range.
    fn trial(&self, sampled: &str, tally: &BinTally) -> Option<Trial> {
        let found: Vec<bool> = tally.kept.keys().map(|(_, id)| self.found(sampled, id)).collect();
        let first = *found.first()?;
        let share = found.iter().filter(|found| **found).count() as f64 / found.len() as f64;
        let exact = tally.count == found.len() as u64;
        Some(Trial { found: first, neighbours: tally.count, share, exact })
    }
}
