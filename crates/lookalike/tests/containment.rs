//! Excerpts planted among other documents: all whose true containment reaches the threshold are
//! found, edited ones too, where signatures find hardly any.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

mod collection;

use collection::{find_in, run, write};
use lookalike::core::hash::SplitMix64;
use lookalike::core::params::{Measure, Wishes};
use lookalike::core::shingle::Shingler;
use lookalike::core::verify;

fn words(random: &mut SplitMix64, count: u64) -> Vec<String> {
    (0..count).map(|_| format!("w{}", random.below(20_000))).collect()
}

#[test]
fn planted_excerpts_are_all_found() {
    let mut random = SplitMix64::new(12);
    let texts: Vec<Vec<String>> = (0..3_000)
        .map(|_| {
            let n = 150 + random.below(600);
            words(&mut random, n)
        })
        .collect();
    let mut all: Vec<String> = texts.iter().map(|text| text.join(" ")).collect();
    let mut origins = Vec::new();
    for i in 0..400 {
        let origin = random.below(texts.len() as u64) as usize;
        let length = 20 + random.below(101) as usize;
        let start = random.below((texts[origin].len() - length) as u64) as usize;
        let mut excerpt = texts[origin][start..start + length].to_vec();
        for word in excerpt.iter_mut().filter(|_| i % 2 == 1) {
            if random.below(100) < 3 {
                *word = "changed".to_owned();
            }
        }
        all.push(excerpt.join(" "));
        origins.push(origin);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    write(&path, &all);
    let wishes = Wishes { measure: Measure::Containment, exact: true, ..Wishes::default() };
    let found = find_in(&path, &wishes);
    let mut shingler = Shingler::new(&wishes.shingle);
    let mut set = |text: &str| {
        let mut set = Vec::new();
        shingler.set(text, &mut set);
        set
    };
    let (mut expected, mut edited) = (0, 0);
    for (i, origin) in origins.iter().enumerate() {
        let (a, b) = (set(&all[*origin]), set(&all[3_000 + i]));
        if verify::overlap(&a, &b).reaches(Measure::Containment, 0.8) {
            let pair = (format!("d{origin:06}"), format!("d{:06}", 3_000 + i));
            assert!(found.contains_key(&pair), "{pair:?}");
            expected += 1;
            edited += i % 2;
        }
    }
    assert!(expected > 250 && edited > 50, "{expected} {edited}");
    let signatures = find_in(&path, &Wishes::default()).len();
    eprintln!("{expected} excerpts, {edited} edited: all found; by signatures {signatures}");
    assert!(signatures < expected / 2);
}

#[test]
fn a_disclaimer_that_many_hold_is_compared_once_with_each() {
    let mut random = SplitMix64::new(13);
    let disclaimer = words(&mut random, 60).join(" ");
    let mut texts: Vec<String> = (0..20_000)
        .map(|_| format!("{} {disclaimer}", words(&mut random, 100).join(" ")))
        .collect();
    texts.push(disclaimer);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    write(&path, &texts);
    let wishes = Wishes { measure: Measure::Containment, exact: true, ..Wishes::default() };
    let counts = run(&path, &wishes, 2, false).counts;
    assert_eq!((counts.groups, counts.duplicates), (1, 1));
    assert!(counts.verified < 2 * 20_000, "{counts:?}");
}
