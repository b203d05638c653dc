//! Decisions by number in, findings by id out.

use super::collected::Collected;
use super::component::Decided;
use super::{Counts, Duplicate, FindOptions, Findings, Group, pairs};
use crate::error::Error;
use lookalike_core::params::Measure;
use lookalike_core::verify::Overlap;

/// What documents with equal shingles overlap by; their sizes are not counted.
pub(super) const EQUAL: Overlap = Overlap { intersection: 1, left: 1, right: 1 };

/// Numbers to ids, copies of keepers added, everything sorted. Candidates and times are left open.
pub(super) fn findings(
    mut documents: Collected,
    decided: Decided,
    options: &FindOptions,
) -> Result<Findings, Error> {
    let skipped = std::mem::take(&mut documents.skipped);
    let duplicates = with_copies_of_keepers(&documents, decided.duplicates);
    let groups = groups(&documents, &duplicates, options.params.measure());
    let listed = options.pairs.then(|| pairs::pairs(&documents, &decided.pairs));
    let pairs = listed.transpose()?;
    let counts = Counts {
        documents: (documents.len() - documents.left_out) as u64,
        empty: documents.empty.len() as u64,
        skipped: skipped.len() as u64,
        copies: documents.copies().count() as u64,
        candidates: 0,
        verified: decided.verified,
        groups: groups.len() as u64,
        duplicates: duplicates.len() as u64,
    };
    let empty = documents.empty.iter().map(|d| documents.id(*d).to_owned());
    let mut empty: Vec<String> = empty.collect();
    empty.sort_unstable();
    Ok(Findings { groups, pairs, skipped, empty, counts, times: Vec::new() })
}

/// Adds the copies of kept documents, which are their duplicates. Sorted by keeper.
fn with_copies_of_keepers(
    documents: &Collected,
    mut duplicates: Vec<(u32, u32, Overlap)>,
) -> Vec<(u32, u32, Overlap)> {
    let mut decided = vec![false; documents.len()];
    for duplicate in &duplicates {
        decided[duplicate.0 as usize] = true;
    }
    let copies = documents.copies().filter(|(_, copy)| !decided[*copy as usize]);
    duplicates.extend(copies.map(|(first, copy)| (copy, first, EQUAL)));
    duplicates.sort_unstable_by_key(|d| (d.1, d.0));
    duplicates
}

fn groups(
    documents: &Collected,
    duplicates: &[(u32, u32, Overlap)],
    measure: Measure,
) -> Vec<Group> {
    let mut groups: Vec<Group> = duplicates
        .chunk_by(|a, b| a.1 == b.1)
        .map(|members| {
            let mut duplicates: Vec<Duplicate> = members
                .iter()
                .map(|(d, _, overlap)| Duplicate {
                    id: documents.id(*d).to_owned(),
                    overlap: *overlap,
                })
                .collect();
            duplicates.sort_by(|a, b| {
                b.overlap.compare(&a.overlap, measure).then_with(|| a.id.cmp(&b.id))
            });
            Group { keeper: documents.id(members[0].1).to_owned(), duplicates }
        })
        .collect();
    groups.sort_by(|a, b| {
        b.duplicates.len().cmp(&a.duplicates.len()).then_with(|| a.keeper.cmp(&b.keeper))
    });
    groups
}
