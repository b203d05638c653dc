//! Compares categories of document sets with the classes that people gave the documents.
//!
//! `cargo test -p lookalike --test all categories -- --nocapture` prints the agreement and the
//! labels that `docs/reference/categories.md` reports. The sets are in the folder that `TEST_DATA`
//! names, or in `../shared/data` next to the repository.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "tests that print figures")]

use flate2::read::GzDecoder;
use lookalike::categories::{CategoryBuffers, CategoryModel, CategorySample};
use lookalike::core::hash::token_hash;
use lookalike::evaluate::{EvaluateOptions, evaluate};
use lookalike_test_support::{document_set_path, is_soak};
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read as _;

/// A document: id, text, and its class if it has exactly one.
type ClassifiedDocument = (String, String, Option<String>);

/// Returns the documents of a set.
fn documents(set: &str) -> Option<Vec<ClassifiedDocument>> {
    let file = File::open(document_set_path(&format!("{set}/docs.jsonl.gz"))?).unwrap();
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap();
    Some(text.lines().map(document).collect())
}

fn document(line: &str) -> ClassifiedDocument {
    let row: serde_json::Value = serde_json::from_str(line).unwrap();
    let id = row["id"].as_str().unwrap().to_owned();
    let class = match row["topics"].as_array().map(Vec::as_slice) {
        Some([topic]) => topic.as_str().map(str::to_owned),
        Some(_) => None,
        None => id.split_once('/').map(|(group, _)| group.to_owned()),
    };
    (id, row["text"].as_str().unwrap().to_owned(), class)
}

fn model(documents: &[ClassifiedDocument], topics: Option<usize>) -> CategoryModel {
    let mut sample = CategorySample::default();
    for (id, text, _) in documents {
        sample.add(token_hash(id.as_bytes()), text);
    }
    let topics = topics.unwrap_or_else(|| sample.default_topics());
    sample.model(topics)
}

/// Returns the adjusted Rand index of topics and classes, over the documents with one class.
fn agreement(set: &str, topics: Option<usize>) -> Option<f64> {
    let documents = documents(set)?;
    let model = model(&documents, topics);
    let mut buffers = CategoryBuffers::default();
    let header = || "id,cluster\n".to_owned();
    let (mut found, mut truth, mut below) = (header(), header(), 0);
    let mut sizes = vec![0; model.categories().len() + 1];
    for (id, text, class) in &documents {
        let mut number = model.category(text, &mut buffers);
        below += usize::from(model.get(number).is_some_and(|category| category.parent.is_some()));
        while let Some(parent) = model.get(number).and_then(|category| category.parent) {
            number = parent;
        }
        sizes[number as usize] += 1;
        if let Some(class) = class {
            writeln!(found, "{id},{number}").unwrap();
            writeln!(truth, "{id},{class}").unwrap();
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let (report, expected) = (folder.path().join("found.csv"), folder.path().join("truth.csv"));
    fs::write(&report, found).unwrap();
    fs::write(&expected, &truth).unwrap();
    let rand = evaluate(&report, &expected, &EvaluateOptions::default()).unwrap();
    let rand = rand.adjusted_rand_index.unwrap();
    let classified = truth.lines().count() - 1;
    println!(
        "{set}: {} documents, {classified} of them with one class; {below} in categories below \
         topics, of which there are {}; adjusted Rand index of topics {rand:.3}",
        documents.len(),
        model.categories().iter().filter(|category| category.parent.is_some()).count()
    );
    for (category, size) in model.categories().iter().zip(&sizes[1..]) {
        if category.parent.is_none() {
            println!("  {:>3} {size:>6}  {}", category.path, category.label.join(" "));
        }
    }
    Some(rand)
}

#[test]
fn topics_agree_with_newsgroups() {
    let Some(rand) = agreement("newsgroups", Some(6)) else { return };
    assert!(rand > 0.7, "{rand}");
}

#[test]
fn default_topics_agree_with_newsgroups() {
    let Some(rand) = agreement("newsgroups", None) else { return };
    assert!(rand > 0.5, "{rand}");
}

#[test]
fn topics_agree_somewhat_with_reuters() {
    let counts = if is_soak() { vec![Some(10), None] } else { vec![Some(10)] };
    for topics in counts {
        let Some(rand) = agreement("reuters", topics) else { return };
        assert!(rand > 0.2, "{rand}");
    }
}
