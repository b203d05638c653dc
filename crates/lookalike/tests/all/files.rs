//! Real folders of web pages, mail, code and texts. Signatures find the same pairs of extracted
//! texts as an exact run, archives give the same result as folders, and normal forms reach their
//! truth.
#![cfg(all(feature = "html", feature = "mail", feature = "archive", feature = "scripts"))]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test")]

use crate::collection::{Pairs, truth};
use flate2::read::GzDecoder;
use lookalike::core::params::{Case, Params, ParamsBuilder, ShingleRule, TokenRule, Unit};
use lookalike::extract::{ExtractOptions, HtmlText};
use lookalike::find::{self, FindOptions, Findings, PairList};
use lookalike::progress::NoProgress;
use lookalike::read::{Collection, NormalForm, Normalization, ReadOptions};
use lookalike_test_support::document_sets;
use std::fs::File;
use std::path::{Path, PathBuf};

fn find(inputs: &[PathBuf], reading: &ReadOptions, builder: &ParamsBuilder) -> Findings {
    let collection = Collection::open(inputs, reading).unwrap();
    let options =
        FindOptions { pairs: PairList::Exact, ..FindOptions::new(Params::new(builder).unwrap()) };
    find::in_collection(&collection, &options, &NoProgress).unwrap()
}

fn pairs(findings: &Findings) -> Pairs {
    let all = findings.pairs.as_ref().unwrap().iter().map(Result::unwrap);
    all.map(|pair| ((pair.a, pair.b), pair.overlap.six_decimals())).collect()
}

/// Returns a folder with unpacked pages and messages, and with texts next to them.
fn mixed_folder(data: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for set in ["html", "mail"] {
        let archive = GzDecoder::new(File::open(data.join(set).join("raw.tar.gz")).unwrap());
        tar::Archive::new(archive).unpack(folder.path().join(set)).unwrap();
    }
    for set in ["debian_copyright", "code", "newsgroups"] {
        let file = GzDecoder::new(File::open(data.join(set).join("docs.jsonl.gz")).unwrap());
        let documents = serde_json::Deserializer::from_reader(file).into_iter();
        for document in documents.map(Result::<serde_json::Value, _>::unwrap) {
            let name = document["id"].as_str().unwrap().replace('/', "-");
            let path = folder.path().join(set).join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, document["text"].as_str().unwrap()).unwrap();
        }
    }
    folder
}

#[test]
fn mixed_folder_reaches_its_recall() {
    let Some(data) = document_sets() else { return };
    let folder = mixed_folder(&data);
    for html in [HtmlText::Main, HtmlText::All] {
        let extract = ExtractOptions { html, ..ExtractOptions::default() };
        let reading = ReadOptions { extract, ..ReadOptions::default() };
        let inputs = [folder.path().to_owned()];
        let found = find(&inputs, &reading, &ParamsBuilder::default());
        let exact =
            find(&inputs, &reading, &ParamsBuilder { exact: true, ..ParamsBuilder::default() });
        let (counts, found, exact) = (found.counts, pairs(&found), pairs(&exact));
        let hit = exact.iter().filter(|(pair, jaccard)| found.get(*pair) == Some(jaccard)).count();
        eprintln!(
            "{html:?}: {} documents, {} skipped; {hit} of {} pairs at 0.8, {} reported",
            counts.documents,
            counts.skipped,
            exact.len(),
            found.len()
        );
        assert!(exact.len() > 1000 && hit == found.len());
        assert!(hit as f64 >= 0.99 * exact.len() as f64);
    }
}

#[test]
fn archive_yields_the_folder_findings() {
    let Some(data) = document_sets() else { return };
    for set in ["html", "mail"] {
        let archive = data.join(set).join("raw.tar.gz");
        let folder = tempfile::tempdir().unwrap();
        let stream = GzDecoder::new(File::open(&archive).unwrap());
        tar::Archive::new(stream).unpack(folder.path()).unwrap();
        let (reading, builder) = (ReadOptions::default(), ParamsBuilder::default());
        let of_folder = find(&[folder.path().to_owned()], &reading, &builder);
        let of_archive = find(std::slice::from_ref(&archive), &reading, &builder);
        let before = format!("{}/", archive.to_str().unwrap());
        let stripped = |pairs: Pairs| -> Pairs {
            let own = |id: String| id.strip_prefix(&before).unwrap_or(&id).to_owned();
            pairs.into_iter().map(|((a, b), jaccard)| ((own(a), own(b)), jaccard)).collect()
        };
        let (expected, got) = (pairs(&of_folder), stripped(pairs(&of_archive)));
        eprintln!("{set}: {} documents, {} pairs", of_folder.counts.documents, expected.len());
        assert!(!expected.is_empty() && got == expected, "{set}");
        assert_eq!(of_archive.counts.documents, of_folder.counts.documents, "{set}");
        assert_eq!(of_archive.counts.skipped, of_folder.counts.skipped, "{set}");
    }
}

#[test]
fn normal_forms_make_spellings_equal() {
    let Some(data) = document_sets() else { return };
    let folder = data.join("edge");
    let words = ShingleRule::new(Unit::Words, 5).unwrap();
    let shingle = words.with_tokens(TokenRule::Whitespace).with_case(Case::Keep);
    for (form, file) in
        [(NormalForm::Nfc, "truth.w5-nfc.csv"), (NormalForm::Nfkc, "truth.w5-nfkc.csv")]
    {
        let normalization = Normalization { normal_form: Some(form), ..Normalization::default() };
        let reading = ReadOptions { normalization, ..ReadOptions::default() };
        let builder = ParamsBuilder {
            shingle: shingle.clone(),
            threshold: 0.5,
            exact: true,
            ..ParamsBuilder::default()
        };
        let found = pairs(&find(&[folder.join("docs.jsonl")], &reading, &builder));
        let expected = truth(&folder, file, 0.5);
        assert!(!expected.is_empty() && found == expected, "{form}");
        let as_it_stands =
            pairs(&find(&[folder.join("docs.jsonl")], &ReadOptions::default(), &builder));
        assert_ne!(as_it_stands, expected, "{form} changes nothing");
    }
}
