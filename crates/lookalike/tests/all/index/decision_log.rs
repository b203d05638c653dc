//! The decision log of an index. A decision cannot replace one that its author has not seen, and
//! decisions that are no longer in force can be removed.

#![expect(clippy::unwrap_used, reason = "helpers of tests, too")]

use lookalike::core::hash::SplitMix64;
use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::decisions::{
    self, AddedDecisions, ConflictCause, DecisionConflict, DecisionError, Decisions, JudgedPairs,
    Judgment, UnknownDocuments,
};
use lookalike::index::{DocumentFields, TextPreparer};
use lookalike::read::Normalization;
use lookalike::store::Index;
use lookalike::store::backend::Change;
use lookalike::store::memory::MemoryBackend;
use lookalike::store::settings::{IndexSettings, StoredContent};
use serde_json::json;
use std::path::Path;

const NOW: &str = "2026-01-01T00:00:00Z";

/// Returns an index of four documents.
fn index() -> Index {
    let params = Params::new(&ParamsBuilder::default()).unwrap();
    let normal = Normalization::default().to_string();
    let settings = IndexSettings::new(&params, &normal, StoredContent::Sets).unwrap();
    let index = Index::new(Box::new(MemoryBackend::new(settings))).unwrap();
    let mut preparer = TextPreparer::new(index.settings()).unwrap();
    for id in ["a", "b", "c", "d"] {
        let fields = DocumentFields { added: 1, ..DocumentFields::default() };
        let document = preparer.document(id, &format!("the text of {id}"), fields);
        index.write(&[Change::Put(document.entry())]).unwrap();
    }
    index
}

/// Adds lines such as `ann 2 duplicate a b`: the author, `seen`, the judgment, and the documents.
fn add_with(
    index: &Index,
    lines: &[&str],
    unknown: UnknownDocuments,
) -> Result<AddedDecisions, Vec<DecisionConflict>> {
    let line = |line: &&str| {
        let words: Vec<&str> = line.split(' ').collect();
        let seen: u64 = words[1].parse().unwrap();
        json!({ "who": words[0], "seen": seen, "decision": words[2], "documents": words[3..] })
            .to_string()
    };
    let text = lines.iter().map(line).collect::<Vec<_>>().join("\n");
    let read = decisions::read(text.as_bytes(), Path::new("given")).unwrap();
    decisions::add_to_index(index, read, NOW, unknown).map_err(|error| match error {
        DecisionError::Conflicts { conflicts, total } => {
            assert_eq!(conflicts.len() as u64, total);
            conflicts
        }
        error => panic!("{error}"),
    })
}

fn add(index: &Index, lines: &[&str]) -> Result<AddedDecisions, Vec<DecisionConflict>> {
    add_with(index, lines, UnknownDocuments::Keep)
}

/// Returns the position of each conflict, with the number and judgment of the unseen decision.
fn unseen(result: Result<AddedDecisions, Vec<DecisionConflict>>) -> Vec<(usize, u64, Judgment)> {
    let decided = |conflict: DecisionConflict| match conflict.cause {
        ConflictCause::Decided(last) => (conflict.position, last.line, last.judgment),
        ConflictCause::Unknown => panic!("{conflict:?}"),
    };
    result.unwrap_err().into_iter().map(decided).collect()
}

#[test]
fn unseen_decisions_are_not_overwritten() {
    use Judgment::{Keep, NotDuplicate};
    let index = index();
    add(&index, &["ann 0 duplicate a b", "ann 0 keep d"]).unwrap();
    add(&index, &["bob 1 not_duplicate b a"]).unwrap();
    // The first decision needs no `seen`. A replacement needs the number of the last decision.
    assert_eq!(unseen(add(&index, &["ann 1 undecided a b"])), [(0, 3, NotDuplicate)]);
    assert_eq!(unseen(add(&index, &["ann 0 duplicate a b"])), [(0, 3, NotDuplicate)]);
    assert_eq!(unseen(add(&index, &["eve 1 undecided d"])), [(0, 2, Keep)]);
    // All decisions are stored or none. Each of several documents is checked.
    let both = add(&index, &["eve 0 duplicate a c", "eve 1 keep_all c d"]);
    assert_eq!(unseen(both), [(1, 2, Keep)]);
    assert_eq!(decisions::of_index(&index, 0).unwrap().len(), 3);
    add(&index, &["ann 3 undecided a b", "eve 2 undecided d"]).unwrap();
}

#[test]
fn decisions_in_one_call_never_conflict() {
    let index = index();
    let added = add(&index, &["ann 0 duplicate a b", "ann 0 undecided a b", "ann 0 duplicate b a"]);
    assert_eq!(added.unwrap(), AddedDecisions { added: 3, unknown: 0, last: 3 });
}

#[test]
fn concurrent_decisions_accept_one_writer() {
    const ROUNDS: u64 = 50;
    let index = index();
    let decide = |who: &str| {
        let line = |round| format!("{who} {round} duplicate a b");
        (0..ROUNDS).filter(|round| add(&index, &[&line(*round)]).is_ok()).count() as u64
    };
    let first = std::thread::scope(|scope| {
        let ann = scope.spawn(|| decide("ann"));
        decide("bob") + ann.join().unwrap()
    });
    // Each decision was made with the previous one in view.
    let log = decisions::of_index(&index, 0).unwrap();
    assert_eq!(log.len() as u64, first);
    assert!(first <= ROUNDS, "{first}");
}

#[test]
fn unknown_documents_are_refused() {
    let index = index();
    let lines = ["ann 0 duplicate a b", "ann 0 duplicate a x"];
    let conflicts = add_with(&index, &lines, UnknownDocuments::Refuse).unwrap_err();
    let documents = ["a", "x"].map(str::to_owned).to_vec();
    let expected = DecisionConflict { position: 1, documents, cause: ConflictCause::Unknown };
    assert_eq!(conflicts, [expected]);
    assert_eq!(add(&index, &lines).unwrap(), AddedDecisions { added: 2, unknown: 1, last: 2 });
}

/// Returns the decisions that readers of the log derive from it.
fn meaning(index: &Index) -> impl PartialEq + std::fmt::Debug {
    let mut judged = JudgedPairs::default();
    decisions::each_of_index(index, 0, &mut |decision| judged.add(&decision)).unwrap();
    let Decisions { pairs, kept, .. } = Decisions::new(decisions::of_index(index, 0).unwrap());
    (pairs, kept, judged.agreements(None, 100))
}

#[test]
fn compacting_keeps_groups_and_agreement() {
    let mut random = SplitMix64::new(7);
    let mut removed = 0;
    for _ in 0..200 {
        let index = index();
        let mut draw = |from: &[&'static str]| from[random.below(from.len() as u64) as usize];
        for _ in 0..30 {
            let (who, id) = (draw(&["ann", "bob", "eve"]), draw(&["a", "b", "c"]));
            let judgment = draw(&["duplicate", "not_duplicate", "undecided", "keep_all", "keep"]);
            let documents = match judgment {
                "keep" => id.to_owned(),
                "undecided" if draw(&["x", "y"]) == "x" => id.to_owned(),
                _ => format!("{id} {}", if id == "d" { "a" } else { "d" }),
            };
            add(&index, &[&format!("{who} 1000 {judgment} {documents}")]).unwrap();
        }
        let before = meaning(&index);
        let compacted = decisions::compact_log(&index).unwrap();
        assert_eq!(meaning(&index), before);
        assert_eq!(compacted.left, decisions::of_index(&index, 0).unwrap().len() as u64);
        assert_eq!(decisions::compact_log(&index).unwrap().removed, 0);
        // The numbering continues.
        assert_eq!(add(&index, &["ann 1000 keep a"]).unwrap().last, 31);
        removed += compacted.removed;
    }
    assert!(removed > 200 * 10, "{removed}");
}
