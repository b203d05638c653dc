//! The document sets next to the repository: the shingle rules for which all similar pairs are
//! known, and their files.

use super::{Pairs, truth};
use flate2::read::GzDecoder;
use lookalike::core::params::{Case, Params, ParamsBuilder, ShingleRule, TokenRule, Unit};
use lookalike::find::{self, FindOptions, Findings, PairList};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, Format, ReadOptions};
use lookalike_test_support::document_sets;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Makes a test for each set, with the name of the set.
macro_rules! test_each_set {
    ($check:ident) => {
        test_each_set! {
            $check: reuters mail newsgroups debian_copyright npm_licences html html_raw code
                multilingual plagiarism edge generated mccormick
        }
    };
    ($check:ident: $($set:ident)*) => {$(
        #[test]
        fn $set() {
            $check(stringify!($set));
        }
    )*};
}
pub(crate) use test_each_set;

/// A document set with all similar pairs by one rule.
pub(crate) struct Known {
    /// The names of the set and the rule, for messages.
    pub(crate) name: String,
    pub(crate) shingle: ShingleRule,
    /// The truth contains all pairs from this similarity.
    pub(crate) least: f64,
    folder: PathBuf,
    file: String,
    input: PathBuf,
    format: Option<Format>,
    /// Keeps the unpacked files until the end of the test.
    unpacked: Option<TempDir>,
}

impl Known {
    fn new(folder: &Path, rule: &str, input: &str) -> Self {
        let set = folder.file_name().unwrap().display();
        Self {
            name: format!("{set} {rule}"),
            shingle: shingle(rule),
            least: 0.5,
            folder: folder.to_owned(),
            file: format!("truth.{rule}.csv"),
            input: folder.join(input),
            format: None,
            unpacked: None,
        }
    }

    /// Returns the pairs at or above a threshold.
    pub(crate) fn pairs(&self, threshold: f64) -> Pairs {
        truth(&self.folder, &self.file, threshold)
    }

    /// Runs `find` with these parameters and the shingle rule of the truth.
    pub(crate) fn find(&self, builder: &ParamsBuilder) -> Findings {
        let (format, hidden) = (self.format, true);
        let read = ReadOptions { format, hidden, ignore_files: false, ..ReadOptions::default() };
        let input = self.unpacked.as_ref().map_or(self.input.as_path(), TempDir::path);
        let collection = Collection::open(&[input.to_owned()], &read).unwrap();
        let params =
            Params::new(&ParamsBuilder { shingle: self.shingle.clone(), ..builder.clone() })
                .unwrap();
        let options = FindOptions { pairs: PairList::Exact, ..FindOptions::new(params) };
        find::in_collection(&collection, &options, &NoProgress).unwrap()
    }
}

/// Returns the pairs in the form of a truth file: ids in the reported order, the smaller first.
pub(crate) fn reported(findings: &Findings) -> Pairs {
    let pairs = findings.pairs.as_ref().unwrap().iter().map(Result::unwrap);
    pairs.map(|pair| ((pair.a, pair.b), pair.overlap.six_decimals())).collect()
}

/// Returns the texts of a set of JSONL documents by id, or `None` if the sets are missing.
pub(crate) fn documents(set: &str) -> Option<BTreeMap<String, String>> {
    let file = File::open(document_sets()?.join(set).join("docs.jsonl.gz")).unwrap();
    let parse = |line: std::io::Result<String>| {
        let document: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let [id, text] = ["id", "text"].map(|name| document[name].as_str().unwrap().to_owned());
        (id, text)
    };
    Some(BufReader::new(GzDecoder::new(file)).lines().map(parse).collect())
}

/// Returns the shingle rule of a truth file by its name.
fn shingle(name: &str) -> ShingleRule {
    let words = |n| ShingleRule::new(Unit::Words, n).unwrap();
    match name {
        "w3" => words(3).with_tokens(TokenRule::Whitespace).with_case(Case::Keep),
        "w5" => words(5).with_tokens(TokenRule::Whitespace).with_case(Case::Keep),
        "w5-lower" => words(5).with_tokens(TokenRule::Whitespace),
        "w5-lower-words" => words(5).with_tokens(TokenRule::WordRuns),
        "c5" => ShingleRule::new(Unit::Chars, 5).unwrap().with_case(Case::Keep),
        other => panic!("no rule {other}"),
    }
}

/// Returns all known truths of a set of [`test_each_set`], or nothing if the sets are missing.
pub(crate) fn known(set: &str) -> Vec<Known> {
    let Some(data) = document_sets() else { return Vec::new() };
    let folder = data.join(set);
    let rules: &[&str] = &["w3", "w5", "w5-lower", "w5-lower-words", "c5"];
    match set {
        "mccormick" => mccormick(&folder),
        "html_raw" => html_raw(&data.join("html")).into_iter().collect(),
        "generated" => {
            let file = "corpus_3000.truth.csv".to_owned();
            let known = Known::new(&folder, "w5", "corpus_3000.jsonl.gz");
            vec![Known { file, least: 0.3, ..known }]
        }
        _ => {
            let plain = matches!(set, "plagiarism" | "edge");
            let input = if plain { "docs.jsonl" } else { "docs.jsonl.gz" };
            let rules = if plain || set == "multilingual" { rules } else { &rules[..4] };
            rules.iter().map(|rule| Known::new(&folder, rule, input)).collect()
        }
    }
}

/// Articles, one per line.
fn mccormick(folder: &Path) -> Vec<Known> {
    let known = |size: &str, rule: &str| Known {
        name: format!("mccormick {size} {rule}"),
        file: format!("exact_{size}.{rule}.csv"),
        format: Some(Format::Lines),
        ..Known::new(folder, rule, &format!("articles_{size}.train"))
    };
    ["100", "1000", "2500"].iter().flat_map(|n| [known(n, "w3"), known(n, "w5")]).collect()
}

/// A folder of original web pages.
fn html_raw(folder: &Path) -> Option<Known> {
    let pages = tempfile::tempdir().unwrap();
    let archive = folder.join("raw.tar.gz");
    let unpacked =
        Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(pages.path()).status();
    match unpacked {
        Ok(status) => assert!(status.success()),
        Err(error) => {
            lookalike_test_support::print_skipped(&format!("tar cannot be started: {error}"));
            return None;
        }
    }
    Some(Known {
        name: "html raw w5".to_owned(),
        file: "truth.raw.w5.csv".to_owned(),
        format: Some(Format::Text),
        unpacked: Some(pages),
        ..Known::new(folder, "w5", "raw.tar.gz")
    })
}
