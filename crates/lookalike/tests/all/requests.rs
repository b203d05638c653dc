//! Requests of the use cases, and the rules between their steps.
#![allow(clippy::unwrap_used, reason = "a test")]

use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::dedup::DedupError;
use lookalike::find::FindOptions;
use lookalike::progress::NoProgress;
use lookalike::read::{Normalization, ReadOptions};
use lookalike::report::{OutputError, OutputFormat, Target};
use lookalike::request::{DedupOutputs, DedupRequest, FindRequest, RunInputs};
use lookalike::store::Index;
use lookalike::store::memory::MemoryBackend;
use lookalike::store::settings::{IndexSettings, StoredContent};
use std::path::{Path, PathBuf};

const TEXT: &str = "one two three four five six seven eight";

/// Returns a request for two equal documents in `docs.jsonl`.
fn request(folder: &Path, outputs: DedupOutputs, is_dry_run: bool) -> DedupRequest {
    let path = folder.join("docs.jsonl");
    let lines = ["a", "b"].map(|id| format!("{{\"id\":\"{id}\",\"text\":\"{TEXT}\"}}\n"));
    std::fs::write(&path, lines.concat()).unwrap();
    let inputs = RunInputs::of_paths(&[path], &[], ReadOptions::default());
    let options = FindOptions::new(Params::new(&ParamsBuilder::default()).unwrap());
    let find = FindRequest::new(inputs, options, None);
    DedupRequest { find, outputs, action: None, script: None, undo_folder: None, is_dry_run }
}

fn index() -> Index {
    let params = Params::new(&ParamsBuilder::default()).unwrap();
    let normalization = Normalization::default().to_string();
    let settings = IndexSettings::new(&params, &normalization, StoredContent::Sets).unwrap();
    Index::new(Box::new(MemoryBackend::new(settings))).unwrap()
}

#[test]
fn dry_run_adds_no_documents() {
    let folder = tempfile::tempdir().unwrap();
    for (is_dry_run, documents) in [(true, 0), (false, 1)] {
        let index = index();
        let opened = request(folder.path(), DedupOutputs::default(), is_dry_run).open().unwrap();
        let outcome = opened.find(&NoProgress).unwrap().write(Some(&index), &NoProgress).unwrap();
        assert_eq!(outcome.find.findings.counts.duplicates, 1);
        assert_eq!(outcome.added.is_none(), is_dry_run);
        assert_eq!(index.snapshot().unwrap().len(), documents);
    }
}

#[test]
fn outputs_over_inputs_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("docs.jsonl");
    let target = |path: &PathBuf| Target::new(path, &[OutputFormat::Jsonl]).unwrap();
    let all = [
        DedupOutputs { survivors: Some(path.clone()), ..DedupOutputs::default() },
        DedupOutputs { removed: Some(target(&path)), ..DedupOutputs::default() },
    ];
    for outputs in all {
        let refused = request(folder.path(), outputs, false).open().map(drop);
        assert!(matches!(refused, Err(DedupError::Output(OutputError::Taken(_)))), "{refused:?}");
    }
    let script = DedupRequest {
        script: Some(path.clone()),
        ..request(folder.path(), DedupOutputs::default(), false)
    };
    assert!(matches!(script.open().map(drop), Err(DedupError::Output(OutputError::Taken(_)))));
}
