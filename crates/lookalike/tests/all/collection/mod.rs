//! Random and real collections, and their pairs from a comparison of all documents.
#![allow(dead_code, unused_imports, unused_macros, reason = "every test file uses another part")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a part of tests")]

pub(crate) mod sets;

use flate2::read::GzDecoder;
use lookalike::core::group::stars_of_pairs;
use lookalike::core::hash::SplitMix64;
use lookalike::core::naive;
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::core::shingle::Shingler;
use lookalike::find::{self, FindOptions, Findings, PairList};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, ReadOptions};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::Path;

/// The similarity of each pair of ids, the smaller id first.
pub(crate) type Pairs = BTreeMap<(String, String), String>;

/// Parameters of a random collection.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) documents: usize,
    /// With few words, the shingles of a document repeat.
    pub(crate) vocabulary: u64,
    pub(crate) seed: u64,
}

impl Drawn {
    /// Returns the texts: new, tiny and empty ones, edited and equal ones, parts of others, longer
    /// versions of others, and texts that repeat themselves.
    pub(crate) fn texts(&self) -> Vec<String> {
        let mut random = SplitMix64::new(self.seed);
        let mut texts: Vec<Vec<String>> = Vec::new();
        for _ in 0..self.documents {
            let word = |random: &mut SplitMix64| format!("w{}", random.below(self.vocabulary));
            let kind = random.below(12);
            let mut text = match texts.len() as u64 {
                0 => Vec::new(),
                count => texts[random.below(count) as usize].clone(),
            };
            match kind {
                0..4 => text = (0..10 + random.below(60)).map(|_| word(&mut random)).collect(),
                4 => text = (0..random.below(7)).map(|_| word(&mut random)).collect(),
                5 => text = vec![word(&mut random); random.below(30) as usize],
                6 => text.extend_from_within(..text.len() / 2),
                7 | 8 => text = part(&text, &mut random),
                9 => text.extend((0..random.below(40)).map(|_| word(&mut random))),
                _ => {
                    for _ in 0..random.below(4).min(text.len() as u64) {
                        let at = random.below(text.len() as u64) as usize;
                        text[at] = word(&mut random);
                    }
                }
            }
            texts.push(text);
        }
        texts.into_iter().map(|text| text.join(" ")).collect()
    }
}

/// Returns a random part of a text.
fn part(text: &[String], random: &mut SplitMix64) -> Vec<String> {
    let start = random.below(text.len() as u64 + 1) as usize;
    let length = random.below((text.len() - start) as u64 + 1) as usize;
    text[start..start + length].to_vec()
}

/// Writes texts as JSONL with ascending ids.
pub(crate) fn write(path: &Path, texts: &[String]) {
    let line = |(i, text): (usize, &String)| {
        let text = serde_json::to_string(text).unwrap();
        format!("{{\"id\":\"d{i:06}\",\"text\":{text}}}\n")
    };
    std::fs::write(path, texts.iter().enumerate().map(line).collect::<String>()).unwrap();
}

/// Runs `find` over one file.
pub(crate) fn run(path: &Path, builder: &ParamsBuilder, threads: usize, pairs: bool) -> Findings {
    let collection = Collection::open(&[path.to_owned()], &ReadOptions::default()).unwrap();
    let threads = NonZeroUsize::new(threads).unwrap();
    let base = FindOptions::new(Params::new(builder).unwrap());
    let pairs = PairList::new(pairs, false).unwrap();
    find::in_collection(&collection, &FindOptions { threads, pairs, ..base }, &NoProgress).unwrap()
}

/// Returns the verified pairs of a run over one file.
pub(crate) fn find_in(path: &Path, builder: &ParamsBuilder) -> Pairs {
    let findings = run(path, builder, 2, true);
    let pairs = findings.pairs.unwrap();
    pairs
        .iter()
        .map(Result::unwrap)
        .map(|pair| of(pair.a, pair.b, &pair.overlap, builder))
        .collect()
}

fn of(
    a: String,
    b: String,
    overlap: &lookalike::core::verify::Overlap,
    builder: &ParamsBuilder,
) -> ((String, String), String) {
    ((a.clone().min(b.clone()), a.max(b)), overlap.six_decimals_of(builder.measure))
}

/// Compares the stars of a run, and its pairs if requested, with a comparison of all documents.
pub(crate) fn check(drawn: &Drawn, builder: &ParamsBuilder, threads: usize, pairs: bool) {
    let texts = drawn.texts();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    write(&path, &texts);
    let findings = run(&path, builder, threads, pairs);

    // The longest document comes first, then the smallest id.
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by_key(|i| (std::cmp::Reverse(texts[*i].len()), *i));
    let mut shingler = Shingler::new(&builder.shingle);
    let mut set = |i: &usize| {
        let mut set = Vec::new();
        shingler.set(&texts[*i], &mut set);
        set
    };
    let sets: Vec<Vec<u64>> = order.iter().map(&mut set).collect();
    let verified = naive::all_pairs(&sets, builder.measure, builder.threshold);
    let id = |place: u32| format!("d{:06}", order[place as usize]);
    if let Some(found) = &findings.pairs {
        let found: Pairs = found
            .iter()
            .map(Result::unwrap)
            .map(|pair| of(pair.a, pair.b, &pair.overlap, builder))
            .collect();
        let expected: Pairs =
            verified.iter().map(|(a, b, overlap)| of(id(*a), id(*b), overlap, builder)).collect();
        assert_eq!(found, expected, "{drawn:?} {builder:?}");
    }
    let duplicates = stars_of_pairs(texts.len(), &verified, &|_| false, builder.measure);
    let expected: BTreeMap<String, (String, String)> = duplicates
        .iter()
        .map(|d| (id(d.member), (id(d.keeper), d.overlap.six_decimals_of(builder.measure))))
        .collect();
    let mut found = BTreeMap::new();
    for group in findings.groups.iter().map(Result::unwrap) {
        for duplicate in group.duplicates {
            let similarity = duplicate.overlap.six_decimals_of(builder.measure);
            found.insert(duplicate.id, (group.keeper.id.clone(), similarity));
        }
    }
    assert_eq!(found, expected, "{drawn:?} {builder:?}");
}

/// Returns the pairs of a truth file (plain or `.gz`) at or above a threshold.
pub(crate) fn truth(folder: &Path, name: &str, threshold: f64) -> Pairs {
    let mut text = String::new();
    if let Ok(mut plain) = File::open(folder.join(name)) {
        plain.read_to_string(&mut text).unwrap();
    } else {
        let file = File::open(folder.join(format!("{name}.gz"))).unwrap();
        GzDecoder::new(file).read_to_string(&mut text).unwrap();
    }
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows = reader.records().map(Result::unwrap);
    let rows = rows.filter(|row| row[2].parse::<f64>().unwrap() >= threshold);
    rows.map(|row| ((row[0].to_owned(), row[1].to_owned()), row[2].to_owned())).collect()
}
