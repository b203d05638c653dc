//! Compares passages with the oracle of the definition, on random collections and on the real sets.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

mod oracle;

use crate::collection::Drawn;
use flate2::read::GzDecoder;
use lookalike::core::hash::SplitMix64;
use lookalike::core::keep::{KeepPolicy, KeepRule};
use lookalike::core::params::{Case, TokenRule};
use lookalike::core::passage::naive;
use lookalike::find::Memory;
use lookalike::find::{DocumentNumber, FindError};
use lookalike::passages::{
    CutOptions, CutRule, FoundPassage, PassageCuts, PassageFindings, PassageOptions, PassagePlace,
    PassageRow, passages_in,
};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, Document, NormalForm, Normalization, ReadOptions, TextUnit};
use lookalike::report::passages::PassageOutput;
use lookalike::report::{Output, Target, html};
use lookalike_test_support::{document_sets, is_soak};
use oracle::{Expected, Oracle, OracleDocument};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Write as _};
use std::num::NonZeroUsize;
use std::path::Path;

fn found(path: &Path, least: usize, case: Case, threads: usize) -> PassageFindings {
    let options = PassageOptions::new(least, TokenRule::Words, case).unwrap();
    let options = options.with_threads(NonZeroUsize::new(threads).unwrap());
    let collection = Collection::open(&[path.to_owned()], &ReadOptions::default()).unwrap();
    passages_in(&collection, &options, &NoProgress).unwrap()
}

/// Returns the passages in the order of a report, and all their places.
fn listed(found: &PassageFindings) -> (Vec<FoundPassage>, Vec<PassagePlace>) {
    let (mut passages, mut places): (Vec<FoundPassage>, Vec<PassagePlace>) = Default::default();
    for row in found.rows.iter() {
        let PassageRow { passage, place } = row.unwrap();
        if passages.last() != Some(&*passage) {
            assert!(place.is_first);
            assert_eq!(passage.number as usize, passages.len());
            passages.push((*passage).clone());
        }
        places.push(place);
    }
    assert_eq!((found.rows.passages(), found.rows.len()), (passages.len(), places.len()));
    assert_eq!(passages.iter().map(|passage| passage.rows as usize).sum::<usize>(), places.len());
    (passages, places)
}

/// Converts the findings to the form of the oracle.
fn as_expected(found: &PassageFindings, oracle: &Oracle) -> Expected {
    let numbers: HashMap<&str, usize> =
        oracle.documents.iter().enumerate().map(|(at, d)| (d.id.as_str(), at)).collect();
    let mut expected = Expected::default();
    let (passages, places) = listed(found);
    for place in &places {
        let run = (
            found.id(place.document).unwrap(),
            place.span.bytes.start as usize,
            place.span.bytes.end as usize,
        );
        if place.is_maximal {
            assert!(expected.runs.insert(run.clone()), "{run:?} comes twice");
        }
        let number = numbers[run.0.as_str()];
        let passage = &passages[place.passage as usize];
        let document = &oracle.documents[number];
        let first = document.words.partition_point(|word| word.start < run.1);
        let last = first + passage.words as usize - 1;
        let end = document.text[document.words[last].clone()].chars().count() as u64;
        let chars = document.chars[first]..document.chars[last] + end;
        assert_eq!(place.span.chars, chars, "{run:?}");
        if place.is_first {
            let text = &document.text[run.1..run.2];
            assert!(text.starts_with(&passage.excerpt) && !passage.excerpt.is_empty());
            let key = oracle.key(number, run.1, passage.words as usize);
            let value = (passage.places as usize, passage.documents as usize, run);
            assert!(expected.passages.insert(key, value).is_none());
        }
    }
    expected.copied = found.counts.copied_words as usize;
    expected
}

fn check(documents: Vec<OracleDocument>, path: &Path, lengths: &[usize], threads: usize) {
    let mut documents = documents;
    for case in [Case::Fold, Case::Keep] {
        let oracle = Oracle::new(documents, case);
        for least in lengths {
            let expected = oracle.expected(*least);
            let found = found(path, *least, case, threads);
            assert_eq!(
                found.counts.runs as usize,
                expected.runs.len(),
                "{} {least} {case:?}",
                path.display()
            );
            assert!(
                as_expected(&found, &oracle) == expected,
                "{} {least} {case:?}",
                path.display()
            );
            eprintln!(
                "{} at {least} words, {case:?}: {} passages, {} runs",
                path.display(),
                expected.passages.len(),
                expected.runs.len()
            );
        }
        documents = oracle.documents;
    }
}

fn write(path: &Path, documents: &[OracleDocument]) {
    let mut file = File::create(path).unwrap();
    for document in documents {
        let line = serde_json::json!({"id": document.id, "text": document.text});
        writeln!(file, "{line}").unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_passages_match_the_oracle(
        seed: u64, vocabulary in 1u64..60, least in 2usize..9, threads in 1usize..4,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drawn.jsonl");
        let texts = Drawn { documents: 40, vocabulary, seed }.texts();
        let documents: Vec<OracleDocument> = texts
            .into_iter()
            .enumerate()
            .map(|(at, text)| OracleDocument::new(format!("d{at}"), text.replace("w1", "Wé1")))
            .collect();
        write(&path, &documents);
        check(documents, &path, &[least], threads);
    }
}

/// Writes the documents of a set to a file. Only soak tests use all of them.
fn set(path: &Path, folder: &Path) -> Vec<OracleDocument> {
    let most = if is_soak() { usize::MAX } else { 500_000 };
    let (mut documents, mut bytes) = (Vec::new(), 0);
    let file: Box<dyn BufRead> = match path.extension() {
        Some(end) if end == "gz" => {
            Box::new(BufReader::new(GzDecoder::new(File::open(path).unwrap())))
        }
        _ => Box::new(BufReader::new(File::open(path).unwrap())),
    };
    let is_words = path.extension().is_some_and(|end| end == "train");
    for line in file.lines().map(Result::unwrap) {
        let (id, text) = if is_words {
            let (id, text) = line.split_once(' ').unwrap();
            (id.to_owned(), text.to_owned())
        } else {
            let record: serde_json::Value = serde_json::from_str(&line).unwrap();
            let member = |name: &str| record[name].as_str().unwrap().to_owned();
            (member("id"), member("text"))
        };
        bytes += text.len();
        if bytes > most {
            break;
        }
        documents.push(OracleDocument::new(id, text));
    }
    write(&folder.join("set.jsonl"), &documents);
    documents
}

#[test]
fn passages_of_document_sets_match_oracle() {
    let Some(data) = document_sets() else { return };
    let mut sets: Vec<_> = std::fs::read_dir(data).unwrap().map(|e| e.unwrap().path()).collect();
    sets.sort();
    for set_folder in sets {
        let names = ["docs.jsonl.gz", "docs.jsonl", "corpus_3000.jsonl.gz", "articles_2500.train"];
        let Some(path) = names.map(|name| set_folder.join(name)).into_iter().find(|p| p.exists())
        else {
            continue;
        };
        eprintln!("{}", path.display());
        let folder = tempfile::tempdir().unwrap();
        let documents = set(&path, folder.path());
        check(documents, &folder.path().join("set.jsonl"), &[10, 25, 50], 2);
    }
}

/// Applies the definition of `lookalike-core` until nothing changes. Returns the remaining words of
/// each document, in the keep order.
fn left_by_definition(oracle: &Oracle, least: usize) -> Vec<Vec<u32>> {
    let words = |(at, _): (usize, &OracleDocument)| {
        let places = oracle.symbols.iter().zip(&oracle.places);
        let of = places.filter(|(_, place)| place.0 == at).map(|(symbol, _)| *symbol);
        let mut words: Vec<u32> = of.collect();
        words.pop();
        words
    };
    let mut left: Vec<Vec<u32>> = oracle.documents.iter().enumerate().map(words).collect();
    let order: Vec<u32> = (0..left.len() as u32).collect();
    loop {
        let copied = naive::copied_tokens(&left, least, &order);
        if copied.iter().flatten().all(|is_copied| !is_copied) {
            return left;
        }
        for (words, copied) in left.iter_mut().zip(copied) {
            let mut copied = copied.into_iter();
            words.retain(|_| !copied.next().unwrap());
        }
    }
}

fn cut(path: &Path, least: usize, cut: &CutOptions) -> (PassageCuts, BTreeMap<String, String>) {
    let options = PassageOptions::new(least, TokenRule::Words, Case::Fold).unwrap();
    let collection = Collection::open(&[path.to_owned()], &ReadOptions::default()).unwrap();
    let cuts = PassageCuts::find(&collection, &options, cut, &NoProgress).unwrap();
    let mut texts = BTreeMap::new();
    let mut each = |number, document: &Document<'_>| {
        let mut text = document.text.to_owned();
        if cuts.is_changed(number) {
            let (written, ranges) = cuts.ranges(number)?;
            assert_eq!(written, text);
            assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start));
            for range in ranges.into_iter().rev() {
                text.replace_range(range, "");
            }
        }
        texts.insert(document.id.to_owned(), text);
        Ok::<_, FindError>(())
    };
    cuts.run.replay(&mut each).unwrap();
    (cuts, texts)
}

const COPIES: CutOptions = CutOptions { rule: CutRule::Copies, unit: None, min_left: 1 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn cuts_leave_the_defined_words(
        seed: u64, vocabulary in 1u64..40, least in 2usize..9,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drawn.jsonl");
        let texts = Drawn { documents: 25, vocabulary, seed }.texts();
        let documents: Vec<OracleDocument> = texts
            .into_iter()
            .enumerate()
            .map(|(at, text)| OracleDocument::new(format!("d{at}"), text))
            .collect();
        write(&path, &documents);
        let oracle = Oracle::new(documents, Case::Fold);
        let (_, texts) = cut(&path, least, &COPIES);
        for (document, want) in oracle.documents.iter().zip(left_by_definition(&oracle, least)) {
            let left = OracleDocument::new(String::new(), texts[&document.id].clone());
            prop_assert_eq!(left.words.len(), want.len(), "{}", document.id);
        }
        // After the cut, other documents may be longer, so other places would come first. The rule
        // still holds for the original order.
        let twice = texts.iter().map(|(id, text)| OracleDocument::new(id.clone(), text.clone()));
        let mut twice: Vec<OracleDocument> = twice.collect();
        let place: HashMap<&str, usize> =
            oracle.documents.iter().enumerate().map(|(at, d)| (d.id.as_str(), at)).collect();
        twice.sort_by_key(|document| place[document.id.as_str()]);
        write(&path, &twice);
        let options = PassageOptions::new(least, TokenRule::Words, Case::Fold).unwrap();
        let options = options.with_keep(KeepPolicy::new(vec![KeepRule::First]));
        let collection = Collection::open(&[path], &ReadOptions::default()).unwrap();
        let second = PassageCuts::find(&collection, &options, &COPIES, &NoProgress).unwrap();
        prop_assert_eq!(second.sources.iter().map(|source| source.cut_words).sum::<u64>(), 0);
        prop_assert_eq!(second.rounds, 1);
    }
}

#[test]
fn cuts_never_join_remaining_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines.jsonl");
    let documents = [
        ("a", "one two three four\r\nlonger than the others by far\r\nfive six seven"),
        ("b", "zero\r\none two three four\r\nfive six seven eight"),
        ("c", "abc漢字仮名def and 漢字仮名"),
        ("d", "漢字仮名 ghi, a text that is longer than c is by some"),
    ];
    let documents = documents.map(|(id, text)| OracleDocument::new(id.to_owned(), text.to_owned()));
    write(&path, &documents);
    let lines = CutOptions { unit: Some(TextUnit::Line), ..COPIES };
    let (_, texts) = cut(&path, 3, &lines);
    assert_eq!(texts["b"], "zero\r\nfive six seven eight");
    let (_, texts) = cut(&path, 3, &COPIES);
    assert_eq!(texts["b"], "zero\r\neight");
    assert_eq!(texts["c"], "abc漢def and ");
}

#[test]
fn boilerplate_is_removed_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pages.jsonl");
    let mut documents: Vec<OracleDocument> = (0..5)
        .map(|at| {
            let text = format!("Accept all cookies now. Page {at} has text w{at} x{at}.");
            OracleDocument::new(format!("p{at}"), text)
        })
        .collect();
    documents.push(OracleDocument::new("q".to_owned(), "Page 3 has text w3 x3.".to_owned()));
    write(&path, &documents);
    let rule = CutRule::Boilerplate { min_documents: 3, min_share: 0.0, per_source: true };
    let (cuts, texts) = cut(&path, 4, &CutOptions { rule, ..COPIES });
    assert_eq!(texts["p3"], "3 has text w3 x3.");
    assert_eq!(texts["q"], "Page 3 has text w3 x3.");
    assert_eq!(cuts.sources[0].changed, 5);
}

/// Finds the passages of at least 50 words in documents with these texts.
fn found_in(texts: &[String]) -> PassageFindings {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("texts.jsonl");
    let document =
        |(at, text): (usize, &String)| OracleDocument::new(format!("d{at}"), text.clone());
    write(&path, &texts.iter().enumerate().map(document).collect::<Vec<_>>());
    found(&path, 50, Case::Fold, 2)
}

fn numbered(from: usize, count: usize) -> String {
    let words: Vec<String> = (from..from + count).map(|at| format!("w{at}")).collect();
    words.join(" ")
}

#[test]
fn page_copies_form_one_passage() {
    let (page, copies) = (numbered(0, 300), 10_000);
    let found = found_in(&vec![page; copies]);
    let (passages, places) = listed(&found);
    let [passage] = passages.as_slice() else { panic!("{}", passages.len()) };
    assert_eq!((passage.words, passage.places, passage.documents), (300, 10_000, 10_000));
    assert_eq!(places.len(), copies);
    assert_eq!(passage.rows as usize, copies);
    assert_eq!(found.counts.copied_words, 300 * (copies as u64 - 1));
    assert_eq!(found.counts.repeated_words, 300 * copies as u64);
}

#[test]
fn repeated_line_is_two_runs() {
    let lines = if is_soak() { 1_000_000 } else { 300_000 };
    let found = found_in(&["All rights are reserved.\r\n".repeat(lines)]);
    let (passages, places) = listed(&found);
    let [passage] = passages.as_slice() else { panic!("{}", passages.len()) };
    let words = 4 * (lines as u64 - 1);
    assert_eq!((u64::from(passage.words), passage.places, passage.documents), (words, 2, 1));
    let spans: Vec<(u32, u64)> =
        places.iter().map(|place| (place.position, place.span.bytes.start)).collect();
    assert_eq!(spans, [(0, 0), (4, 26)]);
    // The first run of 50 words ends before word 50. Each run that begins at word 52 or later has
    // an equal earlier run without overlap.
    assert_eq!(found.counts.copied_words, words + 4 - 52);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("line.jsonl");
    let text = "All rights are reserved.\r\n".repeat(lines);
    write(&path, &[OracleDocument::new("a".to_owned(), text)]);
    let (cuts, texts) = cut(&path, 50, &COPIES);
    let left = texts["a"].split_whitespace().count();
    assert!((50..104).contains(&left), "{left} words after {} rounds", cuts.rounds);
}

#[test]
fn chapters_are_found_in_large_documents() {
    let book = numbered(0, 600_000);
    let chapter = numbered(300_000, 5000);
    let found = found_in(&[book.clone(), format!("before {chapter} behind")]);
    assert!(book.len() > 4 << 20);
    let (passages, places) = listed(&found);
    let [passage] = passages.as_slice() else { panic!("{}", passages.len()) };
    assert_eq!((passage.words, passage.places), (5000, 2));
    let [first, second] = places.as_slice() else { panic!("{}", places.len()) };
    assert_eq!((first.document, first.position), (DocumentNumber(0), 300_000));
    let start = first.span.bytes.start as usize;
    assert!(book[start..].starts_with(&chapter));
    assert_eq!((second.span.bytes.start, second.position), (7, 1));
}

#[test]
fn unspaced_texts_have_character_passages() {
    let ideographs = |from: u32, count: u32| -> String {
        (from..from + count).filter_map(|at| char::from_u32(0x4e00 + at % 20_000)).collect()
    };
    let shared = ideographs(0, 400);
    let texts = [
        format!("{}{shared}", ideographs(5000, 2000)),
        format!("{shared}{}", ideographs(9000, 1000)),
        "x".repeat(3 << 20),
        format!("y{}", "x".repeat(3 << 20)),
    ];
    let found = found_in(&texts);
    let (passages, places) = listed(&found);
    let [passage] = passages.as_slice() else { panic!("{}", passages.len()) };
    assert_eq!((passage.words, passage.places), (400, 2));
    let chars: Vec<_> = places.iter().map(|place| place.span.chars.clone()).collect();
    assert_eq!(chars, [2000..2400, 0..400]);
    assert_eq!(places[0].span.bytes, 6000..7200);
}

#[test]
fn nested_passages_are_listed_and_marked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("inside.jsonl");
    let texts = ["a b c d", "a b c x", "y b c d", "b c"];
    let document =
        |(at, text): (usize, &&str)| OracleDocument::new(format!("d{at}"), (*text).to_owned());
    write(&path, &texts.iter().enumerate().map(document).collect::<Vec<_>>());
    let found = found(&path, 2, Case::Fold, 1);
    let (passages, places) = listed(&found);
    let rows = places.iter().map(|place| {
        let passage = &passages[place.passage as usize];
        let (at, words) = (place.position, passage.words);
        (passage.places, place.document.0, at, words, place.is_first, place.is_maximal)
    });
    let expected = [
        (4, 0, 1, 2, true, false),
        (4, 3, 0, 2, false, true),
        (2, 0, 0, 3, true, true),
        (2, 1, 0, 3, false, true),
        (2, 0, 1, 3, true, true),
        (2, 2, 1, 3, false, true),
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
    let page = folder.path().join("page.html");
    let target = Target::new(&page, PassageOutput::Report.formats()).unwrap();
    let output = Output::create(&target).unwrap();
    let options = PassageOptions::new(2, TokenRule::Words, Case::Fold).unwrap();
    html::passages(output, &found, &options).unwrap();
    let page = std::fs::read_to_string(page).unwrap();
    let marked = "<div class=\"passage\" dir=\"auto\"><mark title=\"passage 2\">a </mark>\
                  <mark title=\"passages 1, 2, 3\">b c</mark><mark title=\"passage 3\"> d</mark>";
    assert!(page.contains(marked), "{page}");
    assert!(page.contains("<a href=\"#p2\">passage 2</a>") && page.contains("id=\"p2\""));
    assert!(
        page.contains("2 words at 4 places") && page.contains("every file and record was read")
    );
}

#[test]
fn normalized_passages_span_original_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forms.jsonl");
    let texts = [
        "— le cafe\u{301} ﬁnal, à l’e\u{301}te\u{301} 한국(Korea).",
        "LE CAFÉ FINAL À L'ÉTÉ 한국, KOREA",
    ];
    let document =
        |(at, text): (usize, &&str)| OracleDocument::new(format!("d{at}"), (*text).to_owned());
    write(&path, &texts.iter().enumerate().map(document).collect::<Vec<_>>());
    for (form, words) in [(NormalForm::Nfkc, 8), (NormalForm::Fold, 9)] {
        let normalization = Normalization { normal_form: Some(form), ..Normalization::default() };
        let read = ReadOptions { normalization, ..ReadOptions::default() };
        let open = || Collection::open(std::slice::from_ref(&path), &read).unwrap();
        let options = PassageOptions::new(5, TokenRule::Words, Case::Fold).unwrap();
        let found = passages_in(&open(), &options, &NoProgress).unwrap();
        let (passages, places) = listed(&found);
        assert_eq!(passages[0].words, words, "{form}");
        for place in &places {
            let text = texts[place.document.0 as usize];
            let bytes = place.span.bytes.start as usize..place.span.bytes.end as usize;
            let (start, end) = (["le", "LE"], ["Korea", "KOREA"]);
            let document = place.document.0 as usize;
            assert!(text[bytes.clone()].starts_with(start[document]), "{form}: {place:?}");
            assert!(text[bytes].ends_with(end[document]), "{form}: {place:?}");
        }
        let cuts = PassageCuts::find(&open(), &options, &COPIES, &NoProgress).unwrap();
        let changed: Vec<DocumentNumber> =
            (0..2).map(DocumentNumber).filter(|at| cuts.is_changed(*at)).collect();
        assert_eq!(changed.len(), 1);
        let (text, ranges) = cuts.ranges(changed[0]).unwrap();
        assert_eq!(text, texts[changed[0].0 as usize]);
        assert!(!ranges.is_empty());
    }
}

#[test]
fn oversized_rows_are_spilled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.jsonl");
    // Each pair of words is a separate passage.
    let mut random = SplitMix64::new(5);
    let words: Vec<String> = (0..600_000).map(|_| format!("w{}", random.below(450))).collect();
    let texts: Vec<OracleDocument> = words
        .chunks(1000)
        .enumerate()
        .map(|(at, words)| OracleDocument::new(format!("d{at}"), words.join(" ")))
        .collect();
    write(&path, &texts);
    let run = |limit: Option<u64>| {
        let options = PassageOptions::new(2, TokenRule::Words, Case::Fold).unwrap();
        let temp_dir = Some(folder.path().to_owned());
        let memory = Memory { limit, temp_dir, ..Memory::default() };
        let options = options.with_threads(NonZeroUsize::MIN).with_memory(memory);
        let collection =
            Collection::open(std::slice::from_ref(&path), &ReadOptions::default()).unwrap();
        passages_in(&collection, &options, &NoProgress)
    };
    let free = listed(&run(None).unwrap());
    assert!(free.1.len() > 300_000, "{}", free.1.len());
    // The run stores on disk what it can. If a limit is too small for the rest, the error names a
    // larger one.
    let (mut limit, mut refused) = (1 << 20, 0);
    let found = loop {
        match run(Some(limit)) {
            Ok(found) => break found,
            Err(FindError::MemoryTooSmall { least, .. }) => {
                assert!(least > limit, "{least} after {limit}");
                (limit, refused) = (least, refused + 1);
            }
            Err(other) => panic!("{other}"),
        }
    };
    assert!((1..=4).contains(&refused) && limit < 140 << 20, "{limit} after {refused}");
    assert!(listed(&found) == free);
}

/// Finds passages of a file within a memory limit.
fn within(path: &Path, limit: u64) -> Result<PassageFindings, FindError> {
    let options = PassageOptions::new(50, TokenRule::Words, Case::Fold).unwrap();
    let temp_dir = path.parent().map(Path::to_owned);
    let memory = Memory { limit: Some(limit), temp_dir, ..Memory::default() };
    let options = options.with_threads(NonZeroUsize::MIN).with_memory(memory);
    passages_in(
        &Collection::open(&[path.to_owned()], &ReadOptions::default())?,
        &options,
        &NoProgress,
    )
}

/// The first error names the limit of docs/reference/memory.md, which is exact.
#[test]
fn passage_memory_matches_the_formula() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.jsonl");
    let mut random = SplitMix64::new(3);
    for (letters, words) in [(1, 2_000_000), (11, 700_000)] {
        let mut word =
            |_| (0..letters).map(|_| char::from(b'a' + random.below(26) as u8)).collect::<String>();
        let text = (0..words).map(&mut word).collect::<Vec<_>>().join(" ");
        let bytes = text.len() as u64;
        write(&path, &[OracleDocument { id: "a".to_owned(), text, words: vec![], chars: vec![] }]);
        let (mut limit, mut refused) = (1 << 20, 0);
        while let Err(error) = within(&path, limit) {
            let FindError::MemoryTooSmall { got, least } = error else { panic!("{error}") };
            assert!(got == limit && least > limit, "{least} after {limit}");
            (limit, refused) = (least, refused + 1);
        }
        assert_eq!(refused, 1, "the first refusal names {limit}");
        let refused = within(&path, limit - 1).map(drop);
        assert!(
            matches!(refused, Err(FindError::MemoryTooSmall { least, .. }) if least == limit),
            "{refused:?} one byte below {limit}"
        );
        let record = bytes + bytes / 4 + 9 * words - (10 << 20);
        let work = (record * 4 / 3).max(16 << 20).min((16 << 20) + record);
        let counted = work + (30 << 20);
        assert!(limit.abs_diff(counted) < 1 << 20, "{limit} in place of {counted}");
    }
}
