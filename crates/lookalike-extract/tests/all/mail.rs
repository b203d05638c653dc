//! Real messages, compared with the bodies that an independent program extracts.
#![cfg(feature = "mail")]
#![allow(clippy::unwrap_used, clippy::format_push_string, reason = "a test")]

use flate2::read::GzDecoder;
use lookalike_extract::{
    ExtractError, ExtractOptions, ExtractedPart, Extractor, FailedPart, Fields, HtmlText, PartSink,
};
use lookalike_test_support::document_set_path;
use std::collections::{BTreeMap, HashSet};
use std::convert::Infallible;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// Returns the folder of the messages. If it is missing, prints that the test is skipped.
fn message_folder() -> Option<PathBuf> {
    document_set_path("mail/raw.tar.gz")?.parent().map(Path::to_owned)
}

#[derive(Default)]
struct Got {
    texts: Vec<String>,
    failures: Vec<ExtractError>,
    /// Number of removed words.
    cut: u64,
}

impl PartSink for Got {
    type Error = Infallible;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), Infallible> {
        self.texts.push(part.text.to_owned());
        self.cut += part.fields.cut().words;
        Ok(())
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), Infallible> {
        self.failures.push(failed.failure.clone());
        Ok(())
    }
}

fn shingles(text: &str) -> HashSet<String> {
    let words: Vec<_> = text.split_whitespace().collect();
    words.windows(words.len().clamp(1, 3)).map(|words| words.join(" ")).collect()
}

fn jaccard(a: &str, b: &str) -> f64 {
    let (a, b) = (shingles(a), shingles(b));
    let both = a.intersection(&b).count();
    let any = a.len() + b.len() - both;
    if any == 0 { 1.0 } else { both as f64 / any as f64 }
}

fn messages(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let file = GzDecoder::new(File::open(folder.join("raw.tar.gz")).unwrap());
    let mut archive = tar::Archive::new(file);
    let files = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_str().unwrap().to_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        (name, bytes)
    });
    files.collect()
}

/// Returns the bodies of a document set, each as a message.
fn bodies(set: &str) -> BTreeMap<String, Vec<u8>> {
    let Some(path) = document_set_path(&format!("{set}/docs.jsonl.gz")) else {
        return BTreeMap::new();
    };
    let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
    let docs = lines.map(|line| {
        let doc: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let (id, text) = (doc["id"].as_str().unwrap(), doc["text"].as_str().unwrap());
        let head = "From: a@b.example\nContent-Type: text/plain; charset=utf-8\n\n";
        (id.to_owned(), format!("{head}{text}").into_bytes())
    });
    docs.collect()
}

/// A message of more than 100 words keeps at least half of them after its signature is removed.
#[test]
fn signature_cuts_keep_half_of_messages() {
    let Some(folder) = message_folder() else { return };
    let sets = [("mail", messages(&folder)), ("newsgroups", bodies("newsgroups"))];
    let with = ExtractOptions { quotes: true, signatures: true, ..ExtractOptions::default() };
    let without = ExtractOptions { quotes: true, signatures: false, ..ExtractOptions::default() };
    let (mut with, mut without) = (Extractor::new(&with), Extractor::new(&without));
    for (name, messages) in sets {
        let (mut count, mut cut, mut most) = (0, 0, 0);
        for (id, message) in &messages {
            let (mut all, mut kept) = (Got::default(), Got::default());
            let Ok(()) = with.extract("message.eml", message, &mut all);
            let Ok(()) = without.extract("message.eml", message, &mut kept);
            let ([all], [text]) = (&*all.texts, &*kept.texts) else { continue };
            let words = |text: &str| text.split_whitespace().count() as u64;
            assert_eq!(words(all) - words(text), kept.cut, "{name} {id}");
            assert!(words(all) <= 100 || kept.cut * 2 <= words(all), "{name} {id}: {}", kept.cut);
            count += 1;
            cut += u32::from(kept.cut > 0);
            most = most.max(kept.cut);
        }
        let figures = format!("{name}: {count} messages, {cut} cut, at most {most} words");
        writeln!(std::io::stderr(), "{figures}").unwrap();
    }
}

/// All parts of a file in readable form.
#[derive(Default)]
struct Dump(String);

impl PartSink for Dump {
    type Error = Infallible;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), Infallible> {
        self.0 += &format!("=== {} {:?} {}\n", part.number, part.within, part.kind.name());
        for name in Fields::NAMES {
            if let Some(value) = part.fields.get(name) {
                self.0 += &format!("{name}: {value}\n");
            }
        }
        self.0 += &format!("---\n{}\n", part.text);
        Ok(())
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), Infallible> {
        self.0 += &format!("=== {:?} {}\n", failed.within, failed.failure);
        Ok(())
    }
}

/// The text file next to each file of `fixtures/extract/mail/` was checked by hand.
#[test]
fn mail_fixtures_match_expected_texts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/extract/mail");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "txt") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let mut dump = Dump::default();
        let mut options = ExtractOptions {
            quotes: true,
            signatures: true,
            attachments: true,
            ..ExtractOptions::default()
        };
        let Ok(()) = Extractor::new(&options).extract(name, &bytes, &mut dump);
        dump.0 += "\n##### without quotes, signatures and attachments\n";
        options = ExtractOptions { quotes: false, signatures: false, ..ExtractOptions::default() };
        let Ok(()) = Extractor::new(&options).extract(name, &bytes, &mut dump);
        let expected = std::fs::read_to_string(path.with_extension("txt")).unwrap_or_default();
        assert_eq!(dump.0, expected, "{name} gives\n{}", dump.0);
        count += 1;
    }
    assert_eq!(count, 7);
}

/// The oracle takes all plain texts of a message, wherever they are, or all HTML texts if there is
/// no plain text. Two thirds of the texts with a similarity below 0.95 are `format=flowed`. The
/// extractor joins their quoted paragraphs, and the oracle keeps the mark of each line; without
/// marks the texts are alike. In a quarter, the declared encoding is wrong or missing, and the
/// extractor detects it. The others have attached texts, which the extractor does not count as
/// body, or undeclared boundaries.
#[test]
fn bodies_match_an_independent_parser() {
    let Some(folder) = message_folder() else { return };
    let messages = messages(&folder);
    let options = ExtractOptions {
        html: HtmlText::All,
        quotes: true,
        signatures: true,
        ..ExtractOptions::default()
    };
    let mut extractor = Extractor::new(&options);
    let docs = GzDecoder::new(File::open(folder.join("docs.jsonl.gz")).unwrap());
    let (mut sum, mut unmarked, mut count, mut equal, mut without) = (0.0, 0.0, 0, 0, 0);
    let mut others = Vec::new();
    for line in BufReader::new(docs).lines() {
        let doc: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let (id, expected) = (doc["id"].as_str().unwrap(), doc["text"].as_str().unwrap());
        let mut got = Got::default();
        let Ok(()) = extractor.extract("message.eml", &messages[id], &mut got);
        let [text] = &*got.texts else {
            assert_eq!(got.failures.len(), 1, "{id}");
            others.push(format!("{id}: {}", got.failures[0]));
            without += 1;
            continue;
        };
        let similarity = jaccard(text, expected);
        sum += similarity;
        unmarked += jaccard(&text.replace('>', " "), &expected.replace('>', " "));
        count += 1;
        equal += u32::from(similarity > 0.9999);
        if similarity < 0.95 {
            others.push(format!("{similarity:.3} {id}"));
        }
    }
    let mean = sum / f64::from(count);
    let unmarked = unmarked / f64::from(count);
    let reported = format!(
        "mail: {count} compared, mean {mean:.4}, without marks {unmarked:.4}, {equal} equal, \
         {without} failed, {} far",
        others.len() - without
    );
    writeln!(std::io::stderr(), "{reported}").unwrap();
    assert!(
        mean >= 0.985 && unmarked >= 0.99 && count >= 2_900,
        "{reported}\n{}",
        others.join("\n")
    );
}
