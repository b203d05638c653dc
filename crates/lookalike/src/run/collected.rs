//! Parts in, one numbered collection out: document 0, 1, 2 … in reading order, ids unique.

use super::FindOptions;
use super::prepare::Part;
use crate::error::Error;
use crate::read::{Collection, Place, Retained, SkipReason, Skipped};
use lookalike_core::candidate::{self, BandScratch, MAX_DOCUMENTS};
use lookalike_core::hash;
use lookalike_core::keep::{self, Traits};
use std::cmp::Ordering;

/// All documents of a run.
pub(super) struct Collected {
    parts: Vec<Part>,
    /// The first document of each part.
    starts: Vec<u32>,
    len: usize,
    /// The keep keys of all documents, one after the other.
    keys: Vec<u8>,
    /// Where each document's key ends.
    key_ends: Vec<usize>,
    /// Documents that take part: neither empty nor left out for their id.
    active: Vec<bool>,
    /// For every document the first in keep order with equal shingles.
    first_of_equal: Vec<u32>,
    /// (the first in keep order, a later one) for all documents with equal shingles, sorted.
    copies: Vec<(u32, u32)>,
    /// How many documents take no part because their id is taken.
    pub(super) left_out: usize,
    pub(super) skipped: Vec<Skipped>,
    pub(super) empty: Vec<u32>,
}

impl Collected {
    /// Numbers the documents, refuses (or leaves out) repeated ids, and finds equal documents.
    pub(super) fn new(
        collection: &Collection,
        mut parts: Vec<Part>,
        options: &FindOptions,
    ) -> Result<Self, Error> {
        let len: usize = parts.iter().map(Part::len).sum();
        if len > MAX_DOCUMENTS {
            return Err(Error::TooManyDocuments { got: len });
        }
        let mut starts = Vec::with_capacity(parts.len());
        let mut start = 0;
        let mut skipped = collection.listed().to_vec();
        for part in &mut parts {
            starts.push(start);
            start += part.len() as u32;
            skipped.append(&mut part.skipped);
        }
        let active = parts.iter().flat_map(|p| &p.empty).map(|empty| !empty).collect();
        let mut this = Self {
            parts,
            starts,
            len,
            keys: Vec::new(),
            key_ends: Vec::with_capacity(len),
            active,
            first_of_equal: Vec::new(),
            copies: Vec::new(),
            left_out: 0,
            skipped,
            empty: Vec::new(),
        };
        let repeated = this.repeated_ids(options)?;
        this.empty = (0..len as u32)
            .filter(|d| !this.active[*d as usize] && !repeated.contains(d))
            .collect();
        this.left_out = repeated.len();
        for document in repeated {
            this.active[document as usize] = false;
        }
        this.make_keys(options);
        let fingerprints: Vec<u128> =
            this.parts.iter().flat_map(|p| p.fingerprints.iter().copied()).collect();
        this.first_of_equal = candidate::first_of_equal(
            &fingerprints,
            |d| this.active[d],
            |a, b| this.compare(a, b) == Ordering::Less,
        );
        let firsts = (0u32..).zip(&this.first_of_equal);
        this.copies =
            firsts.filter(|(d, first)| d != *first).map(|(d, first)| (*first, d)).collect();
        this.copies.sort_unstable();
        Ok(this)
    }

    /// Makes the keep keys.
    fn make_keys(&mut self, options: &FindOptions) {
        let lengths = self.parts.iter().flat_map(|part| &part.lengths);
        for (document, &length) in (0u32..).zip(lengths) {
            let position = [0, 0, document];
            options.keep.key(&Traits { length, position, ..Traits::default() }, &mut self.keys);
            self.key_ends.push(self.keys.len());
        }
    }

    /// The documents whose id an earlier one has, ascending; an error where that is not allowed.
    fn repeated_ids(&mut self, options: &FindOptions) -> Result<Vec<u32>, Error> {
        let mut hashes = Vec::with_capacity(self.len);
        for part in &self.parts {
            hashes.extend((0..part.len()).map(|i| hash::token_hash(part.ids.get(i).as_bytes())));
        }
        let equal = candidate::band_buckets(&hashes, |_| true, &mut BandScratch::default());
        let mut repeated = Vec::new();
        for mut bucket in equal.sorted() {
            bucket.sort_by(|a, b| self.id(*a).cmp(self.id(*b)).then(a.cmp(b)));
            for same in bucket.chunk_by(|a, b| self.id(*a) == self.id(*b)) {
                repeated.extend(same[1..].iter().map(|later| (*later, same[0])));
            }
        }
        repeated.sort_unstable();
        for &(second, first) in &repeated {
            if !options.skip_duplicate_ids {
                return Err(Error::DuplicateId {
                    id: self.id(second).to_owned(),
                    first: self.place_name(first),
                    second: self.place_name(second),
                });
            }
            let (part, i) = self.part_of(second);
            let (source, line) = part.retained.location(part.places[i]);
            let id = Some(part.ids.get(i).to_owned());
            let first = self.place_name(first);
            self.skipped.push(Skipped {
                source,
                line,
                id,
                reason: SkipReason::RepeatedId { first },
            });
        }
        Ok(repeated.into_iter().map(|(second, _)| second).collect())
    }

    /// How many documents there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn part_of(&self, document: u32) -> (&Part, usize) {
        let part = self.starts.partition_point(|start| *start <= document) - 1;
        (&self.parts[part], (document - self.starts[part]) as usize)
    }

    /// The document's id.
    pub(super) fn id(&self, document: u32) -> &str {
        let (part, i) = self.part_of(document);
        part.ids.get(i)
    }

    /// Where the document's text can be read again, and its fingerprint.
    pub(super) fn place(&self, document: u32) -> (&Retained, Place, u128) {
        let (part, i) = self.part_of(document);
        (&part.retained, part.places[i], part.fingerprints[i])
    }

    /// The document's place in words.
    pub(super) fn place_name(&self, document: u32) -> String {
        let (part, i) = self.part_of(document);
        match part.retained.location(part.places[i]) {
            (source, Some(line)) => format!("{source}:{line}"),
            (source, None) => source,
        }
    }

    /// The keep order: `Less` means that `a` is kept rather than `b`.
    pub(super) fn compare(&self, a: u32, b: u32) -> Ordering {
        keep::compare(self.key(a), self.id(a), self.key(b), self.id(b))
    }

    fn key(&self, document: u32) -> &[u8] {
        let document = document as usize;
        let start = if document == 0 { 0 } else { self.key_ends[document - 1] };
        &self.keys[start..self.key_ends[document]]
    }

    /// All (first in keep order, later) pairs of documents with equal shingles, sorted.
    pub(super) fn copies(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.copies.iter().copied()
    }

    /// The documents for which this one stands.
    pub(super) fn copies_of(&self, document: u32) -> impl Iterator<Item = u32> + '_ {
        let start = self.copies.partition_point(|(first, _)| *first < document);
        let copies = self.copies[start..].iter();
        copies.take_while(move |(first, _)| *first == document).map(|(_, copy)| *copy)
    }

    /// Whether the document stands for all that equal it, and is neither empty nor left out.
    pub(super) fn stands_for_equals(&self, document: usize) -> bool {
        self.active[document] && self.first_of_equal[document] as usize == document
    }

    /// The bucket keys of one band, in document order, into `column` (which is cleared).
    pub(super) fn column(&self, band: usize, column: &mut Vec<u64>) {
        column.clear();
        for part in &self.parts {
            column.extend_from_slice(part.column(band));
        }
    }
}
