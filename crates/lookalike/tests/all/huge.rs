//! Buckets of very many documents. The number of comparisons stays near linear if the groups allow
//! it, and the groups equal the groups of a complete comparison. No test measures time.
#![allow(clippy::unwrap_used, reason = "a test")]

use lookalike::core::group::{components_of_pairs, stars_of_pairs};
use lookalike::core::hash::SplitMix64;
use lookalike::core::naive;
use lookalike::core::params::{Measure, Params, ParamsBuilder};
use lookalike::core::shingle::Shingler;
use lookalike::core::verify;
use lookalike::find::{self, FindOptions, Findings, Grouping};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, ReadOptions};
use std::collections::BTreeMap;
use std::convert::Infallible;

/// Texts of the same length in bytes, so the order of their ids is the keep order.
type Texts = Vec<Vec<String>>;

fn word(random: &mut SplitMix64) -> String {
    format!("w{:06}", random.below(1_000_000))
}

fn words(random: &mut SplitMix64, count: usize) -> Vec<String> {
    (0..count).map(|_| word(random)).collect()
}

/// Fills a template of 200 words with five fields of two words. Two forms share the 166 shingles of
/// the template that contain no field, of 196 each: Jaccard 166 / 226 = 0.73. Every `near`-th form
/// is an earlier one with one other field.
fn forms(count: usize, near: usize) -> Texts {
    let mut random = SplitMix64::new(6);
    let template = words(&mut random, 200);
    let mut forms: Texts = Vec::with_capacity(count);
    for i in 0..count {
        let mut form = template.clone();
        let fields: &[usize] = if i % near == near - 1 {
            form.clone_from(&forms[random.below(i as u64) as usize]);
            &[150]
        } else {
            &[30, 70, 110, 150, 180]
        };
        for field in fields {
            form[*field] = word(&mut random);
            form[*field + 1] = word(&mut random);
        }
        forms.push(form);
    }
    forms
}

fn find(texts: &Texts, exact: bool, grouping: Grouping) -> Findings {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    let line = |(i, text): (usize, &Vec<String>)| {
        format!("{{\"id\": \"d{i:06}\", \"text\": \"{}\"}}\n", text.join(" "))
    };
    std::fs::write(&path, texts.iter().enumerate().map(line).collect::<String>()).unwrap();
    let params = Params::new(&ParamsBuilder { exact, ..ParamsBuilder::default() }).unwrap();
    let options = FindOptions { grouping, ..FindOptions::new(params) };
    let collection = Collection::open(&[path], &ReadOptions::default()).unwrap();
    let findings = find::in_collection(&collection, &options, &NoProgress).unwrap();
    for group in findings.groups.iter().map(Result::unwrap) {
        for duplicate in group.duplicates.iter().filter(|_| grouping == Grouping::Stars) {
            assert!(duplicate.overlap.reaches(Measure::Jaccard, 0.8), "{duplicate:?}");
        }
    }
    findings
}

/// Returns the keeper and the similarity of each duplicate.
fn stars(findings: &Findings) -> BTreeMap<String, (String, String)> {
    let mut found = BTreeMap::new();
    for group in findings.groups.iter().map(Result::unwrap) {
        for duplicate in group.duplicates {
            let of = (group.keeper.id.clone(), duplicate.overlap.six_decimals());
            found.insert(duplicate.id, of);
        }
    }
    found
}

/// Like [`stars`], from a comparison of all documents.
fn expected(texts: &Texts, grouping: Grouping) -> BTreeMap<String, (String, String)> {
    let builder = ParamsBuilder::default();
    let mut shingler = Shingler::new(&builder.shingle);
    let mut set = |text: &Vec<String>| {
        let mut set = Vec::new();
        shingler.set(&text.join(" "), &mut set);
        set
    };
    let sets: Vec<Vec<u64>> = texts.iter().map(&mut set).collect();
    let pairs = naive::all_pairs(&sets, Measure::Jaccard, 0.8);
    let is_reference = |_| false;
    let overlap =
        |a: u32, b: u32| Ok::<_, Infallible>(verify::overlap(&sets[a as usize], &sets[b as usize]));
    let duplicates = match grouping {
        Grouping::Stars => stars_of_pairs(texts.len(), &pairs, &is_reference, Measure::Jaccard),
        Grouping::Components => {
            components_of_pairs(texts.len(), &pairs, &is_reference, Measure::Jaccard, overlap)
                .unwrap()
        }
    };
    let id = |i: u32| format!("d{i:06}");
    duplicates.iter().map(|d| (id(d.member), (id(d.keeper), d.overlap.six_decimals()))).collect()
}

#[test]
fn equal_copies_need_no_comparison() {
    let text = words(&mut SplitMix64::new(1), 100);
    let texts: Texts = (0..10_000).map(|_| text.clone()).collect();
    for (exact, grouping) in [(false, Grouping::Stars), (true, Grouping::Components)] {
        let findings = find(&texts, exact, grouping);
        let counts = findings.counts;
        assert_eq!((counts.verified, counts.groups, counts.duplicates), (0, 1, 9_999));
        assert!(stars(&findings).values().all(|of| of.0 == "d000000" && of.1 == "1.000000"));
    }
}

#[test]
fn differently_filled_forms_are_kept() {
    let texts = forms(10_000, usize::MAX);
    for (exact, grouping) in
        [(false, Grouping::Stars), (false, Grouping::Components), (true, Grouping::Stars)]
    {
        let counts = find(&texts, exact, grouping).counts;
        assert_eq!((counts.documents, counts.groups, counts.duplicates), (10_000, 0, 0));
        assert!(counts.verified < 100 * 10_000, "{} comparisons", counts.verified);
        assert!(exact || counts.candidates > 9_000, "the forms share buckets");
        // The short prefix of a form contains only shingles of its fields.
        assert!(!exact || counts.verified == 0, "{} comparisons", counts.verified);
    }
}

#[test]
fn near_duplicate_forms_are_found() {
    // Enough documents for the screen, which needs 64 comparisons below the threshold for each.
    let texts = forms(700, 5);
    for grouping in [Grouping::Stars, Grouping::Components] {
        let expected = expected(&texts, grouping);
        assert!(expected.len() >= 140);
        for exact in [true, false] {
            let findings = find(&texts, exact, grouping);
            assert_eq!(stars(&findings), expected, "exact: {exact}");
            assert!(findings.counts.verified < 100 * 700, "{:?}", findings.counts);
        }
    }
    let counts = find(&forms(10_000, 10), false, Grouping::Stars).counts;
    assert!(counts.verified < 100 * 10_000, "{} comparisons", counts.verified);
    assert_eq!((counts.duplicates, counts.documents), (1_000, 10_000));
}

#[test]
fn near_copies_form_few_stars() {
    let mut random = SplitMix64::new(3);
    let page = words(&mut random, 60);
    let texts: Texts = (0..100_000)
        .map(|i| {
            let mut text = page.clone();
            text[(i % 5) * 12] = format!("o{i:06}");
            text
        })
        .collect();
    // A changed word changes 1 or 5 of the 56 shingles. If the same word is changed, two texts
    // share at least 51 of 61 shingles; otherwise, at least 46 of 66.
    for grouping in [Grouping::Stars, Grouping::Components] {
        let findings = find(&texts, true, grouping);
        let counts = findings.counts;
        assert!(counts.groups <= 5 && counts.duplicates >= 99_995, "{counts:?}");
        assert!(counts.verified < 10 * 100_000, "{counts:?}");
    }
}

#[test]
fn chains_form_stars_of_neighbours() {
    let mut random = SplitMix64::new(9);
    let chain = |random: &mut SplitMix64, count: usize| -> Texts {
        let words = words(random, 10 * count + 100);
        // Neighbours share 86 of 106 shingles, 0.81. Texts two apart share 76 of 116, 0.66.
        (0..count).map(|i| words[10 * i..][..100].to_vec()).collect()
    };
    let small = chain(&mut random, 600);
    for grouping in [Grouping::Stars, Grouping::Components] {
        assert_eq!(stars(&find(&small, true, grouping)), expected(&small, grouping));
    }
    let large = chain(&mut random, 20_000);
    let by_hand = |i: u32| (format!("d{i:06}"), (format!("d{:06}", i - 1), "0.811321".to_owned()));
    let findings = find(&large, true, Grouping::Stars);
    let neighbours: BTreeMap<_, _> = (0..10_000).map(|i| by_hand(2 * i + 1)).collect();
    assert_eq!(stars(&findings), neighbours);
    assert!(findings.counts.verified < 10 * 20_000, "{:?}", findings.counts);
    let counts = find(&large, true, Grouping::Components).counts;
    assert_eq!((counts.groups, counts.duplicates), (1, 19_999));
    let counts = find(&large, false, Grouping::Stars).counts;
    assert!(counts.verified < 20 * 20_000 && counts.duplicates > 9_800, "{counts:?}");
}
