//! Components in, groups and pairs out: the documents of a component are read again, compared
//! exactly, and grouped; components are independent, so threads take them one after the other.

use super::collected::Collected;
use super::workers::{Counter, on_threads};
use super::{Counts, Duplicate, FindOptions, Findings, Group, Grouping, Pair};
use crate::error::Error;
use crate::progress::Progress;
use crate::read::Scratch;
use lookalike_core::candidate::{Candidates, Component};
use lookalike_core::group;
use lookalike_core::shingle::Shingler;
use lookalike_core::verify::{self, Overlap};
use std::cmp::Ordering;

/// What documents with equal shingles overlap by; their sizes are not counted.
const EQUAL: Overlap = Overlap { intersection: 1, left: 1, right: 1 };

/// What the components gave, by document number.
#[derive(Debug, Default)]
pub(super) struct Decided {
    /// Duplicate, keeper, overlap with the keeper on the left.
    duplicates: Vec<(u32, u32, Overlap)>,
    pairs: Vec<(u32, u32, Overlap)>,
    verified: u64,
}

impl Decided {
    fn append(&mut self, mut other: Self) {
        self.duplicates.append(&mut other.duplicates);
        self.pairs.append(&mut other.pairs);
        self.verified += other.verified;
    }
}

/// Verifies and groups all components.
pub(super) fn decide(
    documents: &Collected,
    candidates: &Candidates,
    options: &FindOptions,
    progress: &dyn Progress,
) -> Result<Decided, Error> {
    let counter = Counter::default();
    let all = on_threads(options.threads, |stop| {
        let mut decider = Decider {
            documents,
            options,
            shingler: Shingler::with_kernel(options.params.shingle(), options.kernel),
            scratch: Scratch::default(),
            sets: Sets::default(),
            decided: Decided::default(),
        };
        while let Some(i) = counter.next(candidates.len()) {
            if stop.asked() {
                break;
            }
            let component = candidates.component(i);
            decider.component(component)?;
            progress.advance(component.members.len() as u64);
        }
        Ok(decider.decided)
    })?;
    let mut decided = Decided::default();
    all.into_iter().for_each(|more| decided.append(more));
    Ok(decided)
}

/// The shingle sets of a component's members, one after the other.
#[derive(Debug, Default)]
struct Sets {
    hashes: Vec<u64>,
    ends: Vec<usize>,
}

impl Sets {
    fn get(&self, i: usize) -> &[u64] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.hashes[start..self.ends[i]]
    }
}

/// One thread's tools and results.
struct Decider<'a> {
    documents: &'a Collected,
    options: &'a FindOptions,
    shingler: Shingler,
    scratch: Scratch,
    sets: Sets,
    decided: Decided,
}

impl Decider<'_> {
    fn component(&mut self, component: Component<'_>) -> Result<(), Error> {
        self.read_sets(component.members)?;
        // Members in keep order: position → place in `members`.
        let mut order: Vec<u32> = (0..component.members.len() as u32).collect();
        let member = |place: u32| component.members[place as usize];
        order.sort_unstable_by(|a, b| self.documents.compare(member(*a), member(*b)));
        let document = |position: u32| member(order[position as usize]);
        let buckets_of = |position: u32| component.buckets_of(order[position as usize] as usize);

        let Self { sets, decided, options, .. } = self;
        let set = |position: u32| sets.get(order[position as usize] as usize);
        let threshold = options.params.threshold();
        let mut verified = 0;
        let similarity = |a: u32, b: u32| {
            verified += 1;
            verify::overlap_at_least(set(a), set(b), threshold)
        };
        let overlap = |a: u32, b: u32| verify::overlap(set(a), set(b));
        let (count, buckets) = (order.len(), component.bucket_count);
        let duplicates = if options.pairs {
            let pairs = group::all_pairs(count, buckets_of, buckets, similarity);
            decided.pairs.extend(pairs.iter().map(|&(a, b, o)| (document(a), document(b), o)));
            match options.grouping {
                Grouping::Stars => group::stars_of_pairs(count, &pairs),
                Grouping::Components => group::components_of_pairs(count, &pairs, overlap),
            }
        } else {
            match options.grouping {
                Grouping::Stars => group::stars(count, buckets_of, buckets, similarity),
                Grouping::Components => {
                    group::components(count, buckets_of, buckets, similarity, overlap)
                }
            }
        };
        decided.verified += verified;
        decided.duplicates.extend(
            duplicates.iter().map(|d| (document(d.member), document(d.keeper), d.overlap)),
        );
        Ok(())
    }

    /// Reads the members again and makes their shingle sets; refuses what has changed meanwhile.
    fn read_sets(&mut self, members: &[u32]) -> Result<(), Error> {
        self.sets.hashes.clear();
        self.sets.ends.clear();
        let mut set = Vec::new();
        for &document in members {
            let (retained, place, fingerprint) = self.documents.place(document);
            let shingler = &mut self.shingler;
            let id = self.documents.id(document);
            let again = retained.fetch(place, id, &mut self.scratch, |text| {
                shingler.set(text, &mut set)
            })?;
            if again != fingerprint {
                return Err(Error::Changed {
                    id: id.to_owned(),
                    place: self.documents.place_name(document),
                });
            }
            self.sets.hashes.extend_from_slice(&set);
            self.sets.ends.push(self.sets.hashes.len());
        }
        Ok(())
    }
}

/// Numbers to ids, equal documents added, everything sorted.
pub(super) fn findings(
    mut documents: Collected,
    decided: Decided,
    options: &FindOptions,
) -> Findings {
    let skipped = std::mem::take(&mut documents.skipped);
    let classes = Classes::new(&documents);
    let duplicates = classes.with_copies(decided.duplicates);
    let groups = groups(&documents, &duplicates);
    let pairs = options.pairs.then(|| pairs(&documents, &classes, &decided.pairs));
    let left_out = documents.len() - classes.taking_part - documents.empty.len();
    let counts = Counts {
        documents: (documents.len() - left_out) as u64,
        empty: documents.empty.len() as u64,
        skipped: skipped.len() as u64,
        copies: classes.copies.len() as u64,
        candidates: 0,
        verified: decided.verified,
        groups: groups.len() as u64,
        duplicates: duplicates.len() as u64,
    };
    let empty = documents.empty.iter().map(|d| documents.id(*d).to_owned()).collect();
    Findings { groups, pairs, skipped, empty, counts, times: Vec::new() }
}

/// Documents with equal shingles: (the one that stands for them, the other), sorted.
struct Classes {
    copies: Vec<(u32, u32)>,
    taking_part: usize,
}

impl Classes {
    fn new(documents: &Collected) -> Self {
        let mut copies = Vec::new();
        let mut taking_part = 0;
        for document in 0..documents.len() as u32 {
            let first = documents.first_of_equal(document);
            if first != document {
                copies.push((first, document));
            }
            let standing = first != document || documents.stands_for_equals(document as usize);
            taking_part += usize::from(standing);
        }
        copies.sort_unstable();
        Self { copies, taking_part }
    }

    /// The copies of a document that stands for its equals.
    fn of(&self, document: u32) -> impl Iterator<Item = u32> + Clone + '_ {
        let start = self.copies.partition_point(|(first, _)| *first < document);
        let copies = self.copies[start..].iter();
        copies.take_while(move |(first, _)| *first == document).map(|(_, copy)| *copy)
    }

    /// Copies share the fate of the document that stands for them; copies of a keeper are its
    /// duplicates. Sorted by keeper.
    fn with_copies(&self, mut duplicates: Vec<(u32, u32, Overlap)>) -> Vec<(u32, u32, Overlap)> {
        duplicates.sort_unstable_by_key(|d| d.0);
        let decided = duplicates.len();
        for &(first, copy) in &self.copies {
            let of_first = duplicates[..decided].binary_search_by_key(&first, |d| d.0);
            duplicates.push(match of_first {
                Ok(at) => (copy, duplicates[at].1, duplicates[at].2),
                Err(_) => (copy, first, EQUAL),
            });
        }
        duplicates.sort_unstable_by_key(|d| (d.1, d.0));
        duplicates
    }
}

fn groups(documents: &Collected, duplicates: &[(u32, u32, Overlap)]) -> Vec<Group> {
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
                b.overlap.compare_jaccard(&a.overlap).then_with(|| a.id.cmp(&b.id))
            });
            Group { keeper: documents.id(members[0].1).to_owned(), duplicates }
        })
        .collect();
    groups.sort_by(|a, b| {
        b.duplicates.len().cmp(&a.duplicates.len()).then_with(|| a.keeper.cmp(&b.keeper))
    });
    groups
}

/// All pairs of documents behind the verified pairs of those that stand for their equals.
fn pairs(documents: &Collected, classes: &Classes, verified: &[(u32, u32, Overlap)]) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let mut push = |x: u32, y: u32, overlap: Overlap| {
        let (a, b) = (documents.id(x), documents.id(y));
        let (a, b, overlap) = match a.cmp(b) {
            Ordering::Greater => (b, a, overlap.swapped()),
            _ => (a, b, overlap),
        };
        pairs.push(Pair { a: a.to_owned(), b: b.to_owned(), overlap });
    };
    for &(a, b, overlap) in verified {
        for x in std::iter::once(a).chain(classes.of(a)) {
            for y in std::iter::once(b).chain(classes.of(b)) {
                push(x, y, overlap);
            }
        }
    }
    for class in classes.copies.chunk_by(|a, b| a.0 == b.0) {
        for (i, &(first, x)) in class.iter().enumerate() {
            push(first, x, EQUAL);
            class[..i].iter().for_each(|&(_, y)| push(x, y, EQUAL));
        }
    }
    pairs.sort_unstable_by(|x, y| (&x.a, &x.b).cmp(&(&y.a, &y.b)));
    pairs
}
