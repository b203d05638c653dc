//! Items of a benchmark in a corpus. The result equals the definition, and all planted items are
//! found.
#![allow(clippy::unwrap_used, reason = "a test")]

use flate2::read::GzDecoder;
use lookalike::contamination::{
    BenchmarkField, Contamination, ContaminationError, ContaminationOptions, MatchList, RunMatch,
    contamination,
};
use lookalike::core::hash::SplitMix64;
use lookalike::core::params::{Case, TokenRule};
use lookalike::find::{FindError, Memory};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, ReadOptions};
use lookalike::report;
use lookalike_test_support::document_sets;
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::slice;

fn write(folder: &Path, name: &str, texts: &[String]) -> PathBuf {
    let lines = texts.iter().enumerate().map(|(number, text)| {
        json!({"id": format!("{name}{number}"), "text": text}).to_string() + "\n"
    });
    let path = folder.join(format!("{name}.jsonl"));
    std::fs::write(&path, lines.collect::<String>()).unwrap();
    path
}

fn run(
    corpus: &Path,
    items: &Path,
    options: &ContaminationOptions,
) -> Result<Contamination, ContaminationError> {
    let open = |path: &Path| Collection::open(&[path.to_owned()], &ReadOptions::default());
    let (corpus, items) = (open(corpus)?, open(items)?);
    let fields = [BenchmarkField { name: None, collection: &items }];
    contamination(&corpus, &fields, options, &NoProgress)
}

fn bytes(found: &Contamination) -> String {
    let mut out = Vec::new();
    report::contamination::items(&mut out, found).unwrap();
    String::from_utf8(out).unwrap()
}

/// Splits a text into words of letters and digits, which suffices for the texts of these tests.
fn words(text: &str, case: Case) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    match case {
        Case::Fold => words.map(str::to_lowercase).collect(),
        Case::Keep => words.map(str::to_owned).collect(),
    }
}

/// Returns the number of words of an item that occur in a shared run, and the number of documents
/// with such a run. Compares all runs.
fn covered(item: &[String], corpus: &[Vec<String>], ngram: usize) -> (usize, usize) {
    let length = item.len().min(ngram);
    let mut is_covered = vec![false; item.len()];
    let mut documents = 0;
    for document in corpus {
        let mut has_run = false;
        if length == 0 {
            continue;
        }
        for (at, run) in item.windows(length).enumerate() {
            if document.windows(length).any(|other| other == run) {
                is_covered[at..at + length].fill(true);
                has_run = true;
            }
        }
        documents += usize::from(has_run);
    }
    (is_covered.iter().filter(|covered| **covered).count(), documents)
}

/// Checks that a match is at the reported place in both texts, and that it has at least the length
/// of a run.
fn check_match(found: &RunMatch, item: &str, document: &str, ngram: usize, case: Case) {
    let (in_item, in_document) = (&found.in_item, &found.in_document);
    let part = |text: &str, range: &std::ops::Range<u64>| {
        text[range.start as usize..range.end as usize].to_owned()
    };
    let both = [part(item, &in_item.bytes), part(document, &in_document.bytes)];
    let [a, b] = both.each_ref().map(|part| words(part, case));
    assert_eq!(a, b);
    assert_eq!(a.len(), in_item.words.len());
    assert_eq!(a, words(item, case)[in_item.words.start as usize..in_item.words.end as usize]);
    assert!(a.len() >= ngram.min(words(item, case).len()));
    for (text, range, part) in [(item, in_item, &both[0]), (document, in_document, &both[1])] {
        let chars = range.chars.start as usize..range.chars.end as usize;
        let excerpt: String = text.chars().skip(chars.start).take(chars.len()).collect();
        assert_eq!(excerpt, *part);
    }
}

#[test]
fn contamination_matches_naive_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = SplitMix64::new(5);
    for round in 0..60 {
        let mut text = |most: u64, vocabulary: u64| {
            let words = random.below(most);
            let word = |random: &mut SplitMix64| {
                let ends = ["", ",", ".\n", " –", "\r\n"];
                let end = ends[random.below(5) as usize];
                let word = format!("w{}é", random.below(vocabulary));
                let word = if random.below(4) == 0 { word.to_uppercase() } else { word };
                format!("{word}{end} ")
            };
            (0..words).map(|_| word(&mut random)).collect::<String>()
        };
        let corpus: Vec<String> = (0..8).map(|_| text(60, 3)).collect();
        let items: Vec<String> = (0..12).map(|_| text(25, 3)).collect();
        let paths = (write(folder.path(), "c", &corpus), write(folder.path(), "i", &items));
        for (ngram, case) in [(2, Case::Fold), (5, Case::Keep), (13, Case::Fold)] {
            let mut options = ContaminationOptions::new().unwrap();
            (options.ngram, options.threshold) = (ngram, 0.5);
            options.rule = options.rule.with_case(case);
            options.threads = NonZeroUsize::new(1 + round % 3).unwrap();
            let found = run(&paths.0, &paths.1, &options).unwrap();
            let compared: Vec<_> = corpus.iter().map(|text| words(text, case)).collect();
            for (verdict, text) in found.items.iter().zip(&items) {
                let item = words(text, case);
                let (expected, documents) = covered(&item, &compared, ngram);
                assert_eq!(verdict.item.words as usize, item.len());
                assert_eq!(
                    (verdict.covered as usize, verdict.documents as usize),
                    (expected, documents)
                );
                let reaches = !item.is_empty() && 2 * expected >= item.len();
                assert_eq!(verdict.contaminated, reaches);
            }
            for item in found.with_matches().map(Result::unwrap) {
                for found in &item.matches {
                    let number: usize = found.document[1..].parse().unwrap();
                    check_match(found, &item.verdict.item.text, &corpus[number], ngram, case);
                }
            }
            let mut expected = BTreeSet::new();
            for (_, text) in found.items.iter().zip(&items).filter(|(item, _)| item.contaminated) {
                let item = words(text, case);
                let has_run = |text: &Vec<String>| covered(&item, slice::from_ref(text), ngram).1;
                let holding = compared.iter().enumerate().filter(|(_, text)| has_run(text) > 0);
                expected.extend(holding.map(|(at, _)| format!("c{at}")));
            }
            let listed = found.each_contaminated_document().map(|document| document.unwrap().id);
            assert!(listed.eq(expected.iter().cloned()));
            assert_eq!(found.contaminated_documents as usize, expected.len());
        }
    }
}

#[test]
fn memory_and_threads_change_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    let line = |from: usize, count: usize| {
        (from..from + count).map(|word| format!("word{}", word % 97)).collect::<Vec<_>>().join(" ")
    };
    let corpus: Vec<String> = (0..3000).map(|at| line(at, 60)).collect();
    let items: Vec<String> = (0..97).map(|at| line(at, 20)).collect();
    let paths = (write(folder.path(), "c", &corpus), write(folder.path(), "i", &items));
    let mut options = ContaminationOptions::new().unwrap();
    let expected = bytes(&run(&paths.0, &paths.1, &options).unwrap());
    let temp_dir = Some(folder.path().to_owned());
    options.memory = Memory { limit: Some(128 << 20), temp_dir, ..Memory::default() };
    for threads in [1, 2, 5] {
        options.threads = NonZeroUsize::new(threads).unwrap();
        assert!(bytes(&run(&paths.0, &paths.1, &options).unwrap()) == expected, "{threads}");
    }
    options.memory.limit = Some(1 << 20);
    assert!(matches!(
        run(&paths.0, &paths.1, &options),
        Err(ContaminationError::Find(FindError::MemoryTooSmall { .. }))
    ));
}

/// A long document needs 4 bytes for each of its bytes and 16 for each word. These may take three
/// quarters of the memory for work.
#[test]
fn long_document_memory_matches_the_formula() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = SplitMix64::new(3);
    let item = (0..40).map(|at| format!("item{at}")).collect::<Vec<_>>().join(" ");
    let items = write(folder.path(), "i", slice::from_ref(&item));
    for (letters, words) in [(1, 2_000_000), (11, 700_000)] {
        let mut word =
            |_| (0..letters).map(|_| char::from(b'a' + random.below(26) as u8)).collect::<String>();
        let text = (0..words).map(&mut word).collect::<Vec<_>>().join(" ") + " " + &item;
        let bytes_of_text = text.len() as u64;
        let corpus = write(folder.path(), "c", &[text]);
        let mut options = ContaminationOptions::new().unwrap();
        options.threads = NonZeroUsize::MIN;
        let free = bytes(&run(&corpus, &items, &options).unwrap());
        options.memory.temp_dir = Some(folder.path().to_owned());
        let mut within = |limit| {
            options.memory.limit = Some(limit);
            run(&corpus, &items, &options).map(|found| bytes(&found))
        };
        let (mut limit, mut refused) = (1 << 20, 0);
        let found = loop {
            match within(limit) {
                Ok(found) => break found,
                Err(ContaminationError::Find(FindError::MemoryTooSmall { got, least })) => {
                    assert!(got == limit && least > limit, "{least} after {limit}");
                    (limit, refused) = (least, refused + 1);
                }
                Err(error) => panic!("{error}"),
            }
        };
        assert!(found == free && found.contains("\"contaminated\":true"));
        assert_eq!(refused, 1, "the first refusal names {limit}");
        let below = within(limit - 1);
        let Err(ContaminationError::Find(FindError::MemoryTooSmall { least, .. })) = below else {
            panic!("{below:?} one byte below {limit}");
        };
        assert_eq!(least, limit);
        let counted = (4 * bytes_of_text + 16 * words - (10 << 20)) * 4 / 3 + (30 << 20);
        assert!(limit.abs_diff(counted) < 4 << 20, "{limit} in place of {counted}");
    }
}

/// A long item also needs memory: it is held twice, with its words and their runs.
#[test]
fn long_items_report_sufficient_memory() {
    let folder = tempfile::tempdir().unwrap();
    let text = (0..400_000).map(|at| format!("w{at} ")).collect::<Vec<_>>().concat();
    let corpus = write(folder.path(), "c", &["nothing of it".to_owned()]);
    let items = write(folder.path(), "i", &[text]);
    let mut options = ContaminationOptions::new().unwrap();
    options.threads = NonZeroUsize::MIN;
    let (mut limit, mut refused) = (40 << 20, 0);
    loop {
        options.memory.limit = Some(limit);
        match run(&corpus, &items, &options) {
            Ok(_) => break,
            Err(ContaminationError::Find(FindError::MemoryTooSmall { least, .. }))
                if least > limit =>
            {
                limit = least;
            }
            Err(error) => panic!("{error}"),
        }
        refused += 1;
    }
    assert!((1..=4).contains(&refused), "{refused}");
}

#[test]
fn corpus_order_changes_no_byte() {
    let folder = tempfile::tempdir().unwrap();
    let words: Vec<String> = (0..90).map(|word| format!("w{}", word % 50)).collect();
    let texts: Vec<String> = (0..50).map(|from| words[from..from + 40].join(" ")).collect();
    let items = write(folder.path(), "i", &texts[..5]);
    let parts = ["a", "b"].map(|name| write(folder.path(), name, &texts[..25]));
    let mut options = ContaminationOptions::new().unwrap();
    options.matches = MatchList::WithExcerpts;
    let all = |corpus: &[PathBuf]| {
        let open = |paths: &[PathBuf]| Collection::open(paths, &ReadOptions::default()).unwrap();
        let (corpus, items) = (open(corpus), open(slice::from_ref(&items)));
        let fields = [BenchmarkField { name: None, collection: &items }];
        let found = contamination(&corpus, &fields, &options, &NoProgress).unwrap();
        let mut out = bytes(&found).into_bytes();
        report::contamination::documents(&mut out, &found).unwrap();
        report::html::contamination(&mut out, &found, &options).unwrap();
        String::from_utf8(out).unwrap()
    };
    let [a, b] = parts;
    let first = all(&[a.clone(), b.clone()]);
    assert!(first.contains("<mark>w0 w1") && first.contains("{\"id\":\"b0\""));
    assert_eq!(first, all(&[b, a]));
}

/// The page escapes the texts of users, and shows only the beginning of long runs.
#[test]
fn the_page_shows_texts_as_texts() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = "</p><script>alert(1)</script>\u{202e} a&b \"quoted\"\r\nÜ";
    let long = "word ".repeat(20_000);
    let corpus = write(folder.path(), "<c>", &[format!("before {hostile} behind"), long.clone()]);
    let items = write(folder.path(), "<i>", &[hostile.to_owned(), long]);
    let mut options = ContaminationOptions::new().unwrap();
    options.matches = MatchList::WithExcerpts;
    let found = run(&corpus, &items, &options).unwrap();
    let mut page = Vec::new();
    report::html::contamination(&mut page, &found, &options).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert!(!page.contains("<script") && !page.contains("<c>") && !page.contains('\u{202e}'));
    assert!(
        page.contains("&lt;/<mark>p&gt;&lt;script&gt;alert(1)&lt;/script&gt;\\u{202e} a&amp;b"),
        "{page}"
    );
    assert!(page.contains("&lt;i&gt;0") && page.contains("default-src 'none'"));
    assert!(page.len() < 100_000, "{}", page.len());
}

#[test]
fn repeated_corpus_lines_are_one_match() {
    let folder = tempfile::tempdir().unwrap();
    let line = "this line of fourteen words is repeated again and again in one document only\n";
    let corpus = [line.repeat(70_000)];
    let items = [line.repeat(1_000), line.to_owned(), "line of".to_owned()];
    let paths = (write(folder.path(), "c", &corpus), write(folder.path(), "i", &items));
    let found = run(&paths.0, &paths.1, &ContaminationOptions::new().unwrap()).unwrap();
    assert!(found.items.iter().all(|item| item.covered == item.item.words));
    let matches: Vec<_> = found.with_matches().map(|item| item.unwrap().matches.len()).collect();
    assert_eq!(matches, [1, 1, 1]);
}

/// The figures do not depend on whether matches are listed. The texts are equal, share a part, or
/// share nothing.
#[test]
fn counts_do_not_require_listed_matches() {
    let folder = tempfile::tempdir().unwrap();
    let part = |from: usize| {
        (from..from + 20).map(|at| format!("w{at}")).collect::<Vec<_>>().join(" ") + " "
    };
    let kinds = |at: usize| match at % 4 {
        0 => part(0),
        1 => part(0) + &part(1_000 * at),
        2 => part(1_000 * at),
        _ => format!("w{} w{}", at % 7, at % 7 + 1),
    };
    let texts: Vec<String> = (0..200).map(kinds).collect();
    let paths = (write(folder.path(), "c", &texts), write(folder.path(), "i", &texts));
    let mut options = ContaminationOptions::new().unwrap();
    let listed = run(&paths.0, &paths.1, &options).unwrap();
    options.matches = MatchList::Omitted;
    let counted = run(&paths.0, &paths.1, &options).unwrap();
    assert_eq!(counted.items, listed.items);
    assert_eq!(counted.contaminated_documents, 200);
    let compared: Vec<_> = texts.iter().map(|text| words(text, Case::Fold)).collect();
    for (verdict, item) in counted.items.iter().zip(&compared) {
        let expected = covered(item, &compared, 13);
        assert_eq!((verdict.covered as usize, verdict.documents as usize), expected);
    }
    for item in listed.with_matches().map(Result::unwrap) {
        let documents: BTreeSet<&String> =
            item.matches.iter().map(|found| &found.document).collect();
        assert_eq!(documents.len() as u64, item.verdict.documents);
    }
    assert!(counted.with_matches().all(|item| item.unwrap().matches.is_empty()));
}

/// If memory grew with the square of the number of equal texts, the matches would take 80 GB.
#[test]
fn equal_texts_contaminate_all_items() {
    let folder = tempfile::tempdir().unwrap();
    let texts = vec![
        "fourteen words that are the same on each line of both files, ever".to_owned();
        20_000
    ];
    let paths = (write(folder.path(), "c", &texts), write(folder.path(), "i", &texts));
    let mut options = ContaminationOptions::new().unwrap();
    options.matches = MatchList::Omitted;
    let found = run(&paths.0, &paths.1, &options).unwrap();
    assert!(found.items.iter().all(|item| item.contaminated && item.documents == 20_000));
    assert_eq!(found.contaminated_documents, 20_000);
}

#[test]
fn bad_input_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let corpus = write(folder.path(), "c", &["some words".to_owned()]);
    let empty = write(folder.path(), "e", &["…".to_owned(), String::new()]);
    let options = ContaminationOptions::new().unwrap();
    let result = run(&corpus, &empty, &options);
    assert!(matches!(result, Err(ContaminationError::NoWords { items: 2 })));
    let same = run(&corpus, &corpus, &options);
    assert!(matches!(same, Err(ContaminationError::InBoth { .. })));
    #[cfg(unix)]
    {
        let link = folder.path().join("link.jsonl");
        std::os::unix::fs::symlink(&corpus, &link).unwrap();
        let linked = run(&corpus, &link, &options);
        assert!(matches!(linked, Err(ContaminationError::InBoth { .. })));
    }
    let short = ContaminationOptions { ngram: 1, ..options.clone() };
    let short = run(&corpus, &empty, &short);
    assert!(matches!(short, Err(ContaminationError::Ngram { got: 1 })));
    for threshold in [0.0, -1.0, 1.5, f64::NAN] {
        let options = ContaminationOptions { threshold, ..options.clone() };
        assert!(matches!(
            run(&corpus, &empty, &options),
            Err(ContaminationError::Find(FindError::Params(_)))
        ));
    }
    let options =
        ContaminationOptions { rule: options.rule.with_tokens(TokenRule::Whitespace), ..options };
    assert_eq!(run(&corpus, &empty, &options).unwrap().items[0].item.words, 1);
}

/// Plants parts of 2,000 texts within other texts: re-wrapped, in other case, and with other
/// punctuation.
#[test]
fn all_planted_questions_are_found() {
    let Some(data) = document_sets() else { return };
    let mut text = String::new();
    let file = File::open(data.join("newsgroups/docs.jsonl.gz")).unwrap();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let documents: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let documents = documents.iter().map(|document| document["text"].as_str().unwrap().to_owned());
    let documents: Vec<String> = documents.collect();
    let mut random = SplitMix64::new(11);
    let (mut items, mut corpus, mut cleared) = (Vec::new(), Vec::new(), Vec::new());
    for planted in 0..2_000 {
        let document = &documents[random.below(documents.len() as u64) as usize];
        let words: Vec<&str> = document
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|w| !w.is_empty())
            .collect();
        let length = (1 + random.below(40) as usize).min(words.len());
        let start = random.below((words.len() - length + 1) as u64) as usize;
        // A unique word makes sure that the item occurs nowhere else.
        let mut item = vec![format!("unique{planted}")];
        item.extend(words[start..start + length].iter().map(|word| (*word).to_owned()));
        let separators = [" ", "\n", "\r\n", ", ", " — ", "  ", "; \"", ".\n\n"];
        let mut planted_text = String::new();
        for word in &item {
            let word = match random.below(3) {
                0 => word.to_uppercase(),
                1 => word.to_lowercase(),
                _ => word.clone(),
            };
            planted_text += &word;
            planted_text += separators[random.below(8) as usize];
        }
        let around = &documents[random.below(documents.len() as u64) as usize];
        let middle = around.char_indices().nth(around.chars().count() / 2).map_or(0, |at| at.0);
        corpus.push(format!("{} {planted_text} {}", &around[..middle], &around[middle..]));
        cleared.push(around.clone());
        items.push(item.join(" "));
    }
    let folder = tempfile::tempdir().unwrap();
    let benchmark = write(folder.path(), "i", &items);
    let mut options = ContaminationOptions::new().unwrap();
    options.threshold = 1.0;
    let found = run(&write(folder.path(), "c", &corpus), &benchmark, &options).unwrap();
    assert_eq!(found.benchmarks[0].contaminated, 2_000);
    let by_itself = |number: usize, matches: &[RunMatch]| {
        let is_whole = |found: &RunMatch| {
            found.in_item.words.len() == words(&items[number], Case::Fold).len()
                && found.document == format!("c{number}")
        };
        assert!(matches.iter().any(is_whole), "{number}");
    };
    check_matches(&found, &items, &corpus, by_itself);
    let found = run(&write(folder.path(), "d", &cleared), &benchmark, &options).unwrap();
    assert_eq!(found.benchmarks[0].contaminated, 0);
    check_matches(&found, &items, &cleared, |_, _| {});
}

/// Checks that all matches are at their reported places. `each` receives the number of each item
/// with its matches.
fn check_matches(
    found: &Contamination,
    items: &[String],
    corpus: &[String],
    each: impl Fn(usize, &[RunMatch]),
) {
    for (number, item) in found.with_matches().map(Result::unwrap).enumerate() {
        each(number, &item.matches);
        for found in &item.matches {
            let document: usize = found.document[1..].parse().unwrap();
            check_match(found, &items[number], &corpus[document], 13, Case::Fold);
        }
    }
}
