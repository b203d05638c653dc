//! An index has the same groups as a new run over its documents with its decisions, after any
//! history and on every backend.
//!
//! This is a separate test program, because it starts PostgreSQL. A process holds the locks of its
//! parent's other threads, such as those of indexes, until it executes its program.
#![allow(clippy::unwrap_used, reason = "this is a test")]

mod fresh_run;
mod history;

use fresh_run::{find, reported};
use lookalike::core::keep::KeepPolicy;
use lookalike::core::params::{Measure, Params, ParamsBuilder};
use lookalike::decisions::{self, Decisions};
use lookalike::find::{FindOptions, Grouping, NoEffect, PairList};
use lookalike::index::groups;
use lookalike::progress::NoProgress;
use lookalike::read::Normalization;
use lookalike::store::Index;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
use lookalike::store::index::{Access, IndexLocation, create, open};
use lookalike::store::memory::MemoryBackend;
use lookalike::store::settings::{IndexSettings, StoredContent};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// Returns parameters that use different parts of an index.
fn variants(index: &Index) -> Vec<FindOptions> {
    let builder = ParamsBuilder::default();
    let with = |builder: ParamsBuilder| FindOptions::new(Params::new(&builder).unwrap());
    let mut all = vec![FindOptions::new(index.params().clone())];
    all.push(FindOptions {
        pairs: PairList::Exact,
        ..with(ParamsBuilder { threshold: 0.5, ..builder.clone() })
    });
    all.push(FindOptions {
        grouping: Grouping::Components,
        pairs: PairList::Exact,
        ..with(builder.clone())
    });
    for rule in ["shortest", "first", "last", "field:year", "field:year:asc", "path:d1*"] {
        let keep = KeepPolicy::new(vec![rule.parse().unwrap()]);
        all.push(FindOptions { keep, ..with(ParamsBuilder { threshold: 0.6, ..builder.clone() }) });
    }
    all.push(with(ParamsBuilder { exact: true, threshold: 0.7, ..builder.clone() }));
    all.push(with(ParamsBuilder { measure: Measure::Containment, threshold: 0.7, ..builder }));
    all[1].memory.limit = Some(64 << 20);
    all[1].threads = NonZeroUsize::MIN;
    all
}

/// The effects of decisions in some runs.
#[derive(Debug, Default)]
struct Effects {
    applied: u64,
    changed: usize,
    unknown: usize,
    contradictions: usize,
    /// Number of runs whose groups differ from those without decisions.
    other_groups: usize,
}

/// Compares the groups of an index with a new run, without and with decisions. The log of the index
/// and the file must contain the same decisions.
fn hold(
    index: &Index,
    folder: &Path,
    model: &history::Model,
    context: &str,
    effects: &mut Effects,
) {
    let (documents, lines) = (model.write_documents(folder), model.write_decisions(folder));
    let of_file = Decisions::new(decisions::read_file(&lines).unwrap());
    let of_index = Decisions::new(decisions::of_index(index, 0).unwrap());
    assert_eq!(of_file, of_index, "{context}");
    for options in variants(index) {
        let context = format!("{context} {} {}", options.params, options.keep);
        let run = |judged: &Decisions, in_index: bool| {
            let decisions = (!judged.is_empty()).then(|| Arc::new(judged.clone()));
            let options = FindOptions { decisions, ..options.clone() };
            let found = if in_index {
                groups(index, &options, 10, &NoProgress).unwrap()
            } else {
                find(std::slice::from_ref(&documents), &options)
            };
            (reported(&found, &options), found)
        };
        let no_decisions = Decisions::default();
        let [(fresh, _), (same, undecided)] = [false, true].map(|place| run(&no_decisions, place));
        let (decided_fresh, _) = run(&of_file, false);
        let (decided_same, found) = run(&of_index, true);
        assert!(!undecided.groups.is_empty() && !decided_same.contains("gone"), "{context}");
        // All records of a file have the path of the file, but each document of an index has its id
        // as path.
        if !options.keep.to_string().contains("path") {
            assert_eq!(same, fresh, "{context}");
            assert_eq!(decided_same, decided_fresh, "{context}");
        }
        let counts = found.decisions.as_ref().unwrap();
        effects.applied += counts.applied;
        effects.changed += usize::from(counts.count(NoEffect::Changed) > 0);
        effects.unknown += usize::from(counts.count(NoEffect::Unknown) > 0);
        effects.contradictions += counts.contradictions.len();
        let list = |text: &str| -> Vec<String> {
            let lines = text.lines().take_while(|line| line.starts_with("{\""));
            lines.map(str::to_owned).collect()
        };
        effects.other_groups += usize::from(list(&same) != list(&decided_same));
    }
}

fn settings(store: StoredContent) -> IndexSettings {
    let builder = ParamsBuilder { threshold: 0.7, ..ParamsBuilder::default() };
    let params = Params::new(&builder).unwrap();
    IndexSettings::new(&params, &Normalization::default().to_string(), store).unwrap()
}

/// Tests some histories, each on an index that `create` creates in a folder and `reopened` reopens.
fn histories(
    name: &str,
    create: impl Fn(&Path, &IndexSettings) -> Index,
    reopened: impl Fn(Index, &Path) -> Index,
) {
    let mut effects = Effects::default();
    for (seed, store) in
        [(1, StoredContent::Texts), (2, StoredContent::Sets), (3, StoredContent::Originals)]
    {
        let folder = TempDir::new().unwrap();
        let index = create(folder.path(), &settings(store));
        let (index, model) = history::applied(index, seed, |index| reopened(index, folder.path()));
        model.hold_archive(&index);
        hold(&index, folder.path(), &model, &format!("{name} {seed}"), &mut effects);
    }
    let Effects { applied, changed, unknown, contradictions, other_groups } = effects;
    assert!(applied > 100 && changed > 0 && unknown > 0 && contradictions > 0, "{effects:?}");
    assert!(other_groups > 10, "{effects:?}");
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
fn opened_again(index: Index, at: &IndexLocation) -> Index {
    drop(index);
    open(at, Access::Write { wait: std::time::Duration::from_secs(10) }).unwrap()
}

#[test]
fn memory_history_equals_a_fresh_run() {
    let create = |_: &Path, settings: &IndexSettings| {
        Index::new(Box::new(MemoryBackend::new(settings.clone()))).unwrap()
    };
    histories("memory", create, |index, _| index);
}

#[cfg(feature = "sqlite")]
#[test]
fn folder_history_equals_a_fresh_run() {
    let at = |folder: &Path| IndexLocation::Folder(folder.join("x.lookalike"));
    let make = |folder: &Path, settings: &IndexSettings| create(&at(folder), settings).unwrap();
    histories("folder", make, |index, folder| opened_again(index, &at(folder)));
}

#[cfg(feature = "postgres")]
#[test]
fn postgres_history_equals_a_fresh_run() {
    use std::cell::RefCell;
    let Some(server) = lookalike_test_support::postgres_server::server() else { return };
    let url = RefCell::new(String::new());
    let make = |_: &Path, settings: &IndexSettings| {
        *url.borrow_mut() = server.fresh();
        create(&IndexLocation::Postgres(url.borrow().clone()), settings).unwrap()
    };
    let reopen = |index: Index, _: &Path| {
        opened_again(index, &IndexLocation::Postgres(url.borrow().clone()))
    };
    histories("PostgreSQL", make, reopen);
}
