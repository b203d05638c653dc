//! Excerpts that are planted among other documents, and mails that are quoted in replies. A run
//! finds all pairs whose true containment reaches the threshold, also edited ones. Signatures would
//! find few.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

use crate::collection::sets::documents;
use crate::collection::{find_in, run, write};
use lookalike::core::band::bucket_keys;
use lookalike::core::hash::SplitMix64;
use lookalike::core::params::{Case, Measure, Params, ParamsBuilder, ShingleRule, TokenRule, Unit};
use lookalike::core::shingle::Shingler;
use lookalike::core::signature::Signer;
use lookalike_test_support::{document_sets, is_soak};
use std::collections::{BTreeMap, HashSet};

fn words(random: &mut SplitMix64, count: u64) -> Vec<String> {
    (0..count).map(|_| format!("w{}", random.below(20_000))).collect()
}

/// Returns parameters for shingles of white-space words, case kept.
fn builder(size: usize, threshold: f64) -> ParamsBuilder {
    let shingle = ShingleRule::new(Unit::Words, size).unwrap();
    let shingle = shingle.with_tokens(TokenRule::Whitespace).with_case(Case::Keep);
    let measure = Measure::Containment;
    ParamsBuilder { shingle, threshold, measure, exact: true, ..ParamsBuilder::default() }
}

/// Appends excerpts of 20 to 120 words to the texts. In every second one, about 3 in 100 words are
/// changed. A source has at least four times the words of its excerpt. Returns the positions of the
/// sources.
fn plant(texts: &mut Vec<String>, excerpts: usize, seed: u64) -> Vec<usize> {
    let mut random = SplitMix64::new(seed);
    let documents = texts.len() as u64;
    let cut_excerpt = |i: usize| {
        let length = 20 + random.below(101) as usize;
        let (origin, words) = loop {
            let origin = random.below(documents) as usize;
            let words: Vec<&str> = texts[origin].split_whitespace().collect();
            if words.len() >= 4 * length {
                break (origin, words);
            }
        };
        let start = random.below((words.len() - length + 1) as u64) as usize;
        let mut excerpt = words[start..start + length].to_vec();
        for word in excerpt.iter_mut().filter(|_| i % 2 == 1) {
            if random.below(100) < 3 {
                *word = "changed";
            }
        }
        (origin, excerpt.join(" "))
    };
    let (origins, planted): (Vec<_>, Vec<_>) = (0..excerpts).map(cut_excerpt).unzip();
    texts.extend(planted);
    origins
}

/// Returns the share of the shingles of `part` that `whole` contains, from the words alone.
fn containment(part: &str, whole: &str, size: usize) -> f64 {
    let [part, whole] = [part, whole].map(|text| text.split_whitespace().collect::<Vec<_>>());
    let [part, whole] = [&part, &whole].map(|text| text.windows(size).collect::<HashSet<_>>());
    part.intersection(&whole).count() as f64 / part.len() as f64
}

/// Returns the bucket keys of a text in a run with signatures for the same threshold.
fn keys(builder: &ParamsBuilder) -> impl FnMut(&str) -> Vec<u64> {
    let builder = ParamsBuilder { measure: Measure::Jaccard, exact: false, ..builder.clone() };
    let params = Params::new(&builder).unwrap();
    let mut shingler = Shingler::new(params.shingle());
    let mut signer = Signer::new(params.scheme(), params.num_hashes(), params.seed());
    move |text| {
        let mut keys = vec![0; params.bands()];
        bucket_keys(signer.sign(shingler.shingle(text).hashes), params.rows(), &mut keys);
        keys
    }
}

/// The number of excerpts, and of those that a run with signatures would compare with their source.
#[derive(Debug, Default)]
struct Seen {
    excerpts: usize,
    by_signatures: usize,
}

/// Checks that a run finds all excerpts that reach the threshold, unedited and edited ones.
fn all_found(mut texts: Vec<String>, builder: &ParamsBuilder) {
    let documents = texts.len();
    let origins = plant(&mut texts, 2_000, 12);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    write(&path, &texts);
    let found = find_in(&path, builder);
    let mut keys = keys(builder);
    let mut seen = [Seen::default(), Seen::default()];
    for (i, origin) in origins.iter().enumerate() {
        let (excerpt, whole) = (&texts[documents + i], &texts[*origin]);
        let expected = containment(excerpt, whole, builder.shingle.size());
        if expected < builder.threshold {
            continue;
        }
        let pair = (format!("d{origin:06}"), format!("d{:06}", documents + i));
        let reported: f64 = found[&pair].parse().unwrap();
        assert!((reported - expected).abs() < 1e-6, "{pair:?} {reported} {expected}");
        seen[i % 2].excerpts += 1;
        let shared = keys(excerpt).iter().zip(&keys(whole)).any(|(a, b)| a == b);
        seen[i % 2].by_signatures += usize::from(shared);
    }
    eprintln!("{documents} documents, unedited and edited, all found: {seen:?}");
    let [unedited, edited] = &seen;
    assert!(unedited.excerpts == 1_000 && edited.excerpts > 500, "{seen:?}");
    let by_signatures = unedited.by_signatures + edited.by_signatures;
    assert!(by_signatures < (unedited.excerpts + edited.excerpts) / 20, "{seen:?}");
}

#[test]
fn planted_excerpts_are_all_found() {
    let mut random = SplitMix64::new(12);
    let draw_text = |_| {
        let length = 150 + random.below(600);
        words(&mut random, length).join(" ")
    };
    let texts = (0..if is_soak() { 30_000 } else { 8_000 }).map(draw_text).collect();
    all_found(texts, &builder(5, 0.8));
}

#[test]
fn planted_newswire_excerpts_are_found() {
    let Some(documents) = documents("reuters") else { return };
    all_found(documents.into_values().collect(), &builder(3, 0.7));
}

/// Trims lines, omits empty ones, and adds a line end before the first and after each.
fn block<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines = lines.map(str::trim).filter(|line| !line.is_empty());
    lines.fold("\n".to_owned(), |block, line| block + line + "\n")
}

/// Returns mails of at least ten words, each with the mails that quote all its lines in sequence.
fn quoted(mails: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    let quotes = mails.iter().map(|(id, text)| {
        (id.as_str(), block(text.lines().filter_map(|line| line.strip_prefix('>'))))
    });
    let quotes: Vec<(&str, String)> = quotes.filter(|(_, quote)| quote.len() > 1).collect();
    let mut pairs = Vec::new();
    for (id, text) in mails.iter().filter(|(_, text)| text.split_whitespace().count() >= 10) {
        let all = block(text.lines());
        let long = quotes.iter().filter(|(_, quote)| quote.len() >= all.len());
        let replies = long.filter(|(reply, quote)| reply != id && quote.contains(&all));
        pairs.extend(replies.map(|(reply, _)| (id.as_str(), *reply)));
    }
    pairs
}

#[test]
fn quoted_mails_are_found_in_replies() {
    let (Some(data), Some(mails)) = (document_sets(), documents("mail")) else { return };
    let input = data.join("mail/docs.jsonl.gz");
    let builder =
        ParamsBuilder { measure: Measure::Containment, exact: true, ..ParamsBuilder::default() };
    let found = find_in(&input, &builder);
    let alike = find_in(&input, &ParamsBuilder { measure: Measure::Jaccard, ..builder });
    let quoted = quoted(&mails);
    let pair = |a: &str, b: &str| (a.min(b).to_owned(), a.max(b).to_owned());
    for (mail, reply) in &quoted {
        assert!(found.contains_key(&pair(mail, reply)), "{mail} {reply}");
    }
    let near = quoted.iter().filter(|(mail, reply)| alike.contains_key(&pair(mail, reply)));
    let near = near.count();
    eprintln!("{} quoted mails: all found; {near} at Jaccard 0.8", quoted.len());
    assert!(quoted.len() > 50 && near < quoted.len() / 2, "{near} of {}", quoted.len());

    let mail = "easy_ham/01052.15a1e32baa8fb172ca169cf8481897ff";
    let reply = "easy_ham/01053.9f4c2fea143d25bf2680c444e547df55";
    assert!(quoted.contains(&(mail, reply)));
    assert_eq!(found[&pair(mail, reply)], "1.000000");
    let low = ParamsBuilder { threshold: 0.2, exact: true, ..ParamsBuilder::default() };
    assert_eq!(find_in(&input, &low)[&pair(mail, reply)], "0.231544");
}

#[test]
fn shared_disclaimers_need_linear_comparisons() {
    let mut random = SplitMix64::new(13);
    let disclaimer = words(&mut random, 60).join(" ");
    let mut texts: Vec<String> = (0..20_000)
        .map(|_| format!("{} {disclaimer}", words(&mut random, 100).join(" ")))
        .collect();
    texts.push(disclaimer);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    write(&path, &texts);
    let builder =
        ParamsBuilder { measure: Measure::Containment, exact: true, ..ParamsBuilder::default() };
    let counts = run(&path, &builder, 2, false).counts;
    assert_eq!((counts.groups, counts.duplicates), (1, 1));
    assert!(counts.verified < 2 * 20_000, "{counts:?}");
}

#[test]
fn common_sentences_cause_few_comparisons() {
    // A document shares nearly all its shingles: each of its sentences of 12 words with 5
    // documents.
    let mut random = SplitMix64::new(7);
    let sentences: Vec<String> = (0..2_000).map(|_| words(&mut random, 12).join(" ")).collect();
    let mut draw_text = |_| {
        let chosen = (0..10).map(|_| sentences[random.below(2_000) as usize].as_str());
        chosen.collect::<Vec<_>>().join(" ")
    };
    let mut texts: Vec<String> = (0..1_000).map(&mut draw_text).collect();
    texts.push(texts[0].split_whitespace().take(60).collect::<Vec<_>>().join(" "));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    write(&path, &texts);
    let found = run(&path, &builder(2, 0.8), 2, false);
    assert_eq!(found.counts.duplicates, 1);
    assert!(found.counts.verified < 1_000, "{}", found.counts.verified);
}

#[test]
fn forms_of_one_template_are_found() {
    // More documents than a counter can count. Two thirds are about as short as the template.
    let mut random = SplitMix64::new(8);
    let template = words(&mut random, 60).join(" ");
    let mut draw_text = |i: usize| {
        let entries = words(&mut random, if i.is_multiple_of(3) { 100 } else { 2 });
        format!("{template} {}", entries.join(" "))
    };
    let texts: Vec<String> = (0..300).map(&mut draw_text).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.jsonl");
    write(&path, &texts);
    let long = 100;
    assert_eq!(find_in(&path, &builder(5, 0.8)).len(), 300 * 299 / 2 - long * (long - 1) / 2);
}
