//! Compares the sorter with the sort of the standard library.

use crate::spill::error::{SpillError, SpillPosition};
use crate::spill::sorter::MIN_MEMORY;
use crate::spill::{SortedRecords, Sorter, TempSpace};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

type Record = (Vec<u8>, Vec<u8>);

fn space(parent: &Path) -> Arc<TempSpace> {
    Arc::new(TempSpace::new(parent.to_owned()))
}

fn sorted(records: &[Record], temp: Option<Arc<TempSpace>>, memory: usize) -> SortedRecords {
    let mut sorter = Sorter::new(temp, memory);
    for (key, payload) in records {
        sorter.push(key, payload).unwrap();
    }
    let sorted = sorter.finish().unwrap();
    assert_eq!(sorted.len(), records.len() as u64);
    sorted
}

fn read(sorted: &SortedRecords) -> Vec<Record> {
    sorted.iter().map(Result::unwrap).collect()
}

fn naive(records: &[Record]) -> Vec<Record> {
    let mut records = records.to_vec();
    records.sort();
    records
}

/// Returns pseudorandom numbers from a seed.
fn numbers(mut state: u64) -> impl Iterator<Item = u64> {
    std::iter::repeat_with(move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        lookalike_core::hash::mix64(state)
    })
}

/// Generates byte strings that are empty, short and often equal, end with zeros, have a long common
/// beginning, or are long.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(0..2u8, 0..4),
        prop::collection::vec(any::<u8>(), 0..30),
        prop::collection::vec(0..2u8, 0..12).prop_map(|end| [&b"document-0"[..], &end].concat()),
        (any::<u8>(), 0..3000usize).prop_map(|(byte, length)| vec![byte; length]),
    ]
}

fn record() -> impl Strategy<Value = Record> {
    prop_oneof![
        20 => (bytes(), bytes()),
        1 => (bytes(), (any::<u8>(), 0..60_000usize).prop_map(|(byte, n)| vec![byte; n])),
        1 => ((any::<u8>(), 0..60_000usize).prop_map(|(byte, n)| vec![byte; n]), bytes()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn sorter_equals_the_standard_sort(
        records in prop::collection::vec(record(), 0..400),
        memory in prop_oneof![Just(0usize), 0..200_000usize],
    ) {
        let parent = tempfile::tempdir().unwrap();
        let expected = naive(&records);
        prop_assert_eq!(&read(&sorted(&records, None, memory)), &expected);
        let spilled = sorted(&records, Some(space(parent.path())), memory);
        prop_assert_eq!(spilled.len(), records.len() as u64);
        // Two readers at the same time.
        let pairs = spilled.iter().zip(spilled.iter());
        let (first, second): (Vec<_>, Vec<_>) =
            pairs.map(|(a, b)| (a.unwrap(), b.unwrap())).unzip();
        prop_assert_eq!(&first, &expected);
        prop_assert_eq!(&second, &expected);
    }
}

#[test]
fn many_runs_merge_in_steps() {
    let parent = tempfile::tempdir().unwrap();
    // The sorter merges three runs at a time. There are more than 3³ runs.
    let records: Vec<Record> = numbers(1)
        .take(30_000)
        .map(|n| ((n % 10_000).to_string().into_bytes(), n.to_le_bytes().to_vec()))
        .collect();
    let temp = space(parent.path());
    let sorted = sorted(&records, Some(temp.clone()), MIN_MEMORY);
    assert!(sorted.is_spilled() && sorted.memory() == 0);
    let folder = temp.folder().unwrap().path().to_owned();
    drop(temp);
    let expected = naive(&records);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| assert!(read(&sorted) == expected));
        }
    });
    drop(sorted);
    assert!(!folder.exists(), "the folder goes with the last that uses it");
}

#[test]
fn sorter_memory_stays_below_its_share() {
    let parent = tempfile::tempdir().unwrap();
    for (share, key, payload) in [(20_000, 0, 0), (100_000, 8, 3), (1 << 20, 20, 400)] {
        let mut sorter = Sorter::new(Some(space(parent.path())), share);
        let (mut most, mut pushed) = (0, 0usize);
        for n in numbers(2).take(4 * share / (16 + key + payload)) {
            let key: Vec<u8> = n.to_be_bytes().into_iter().cycle().take(key).collect();
            sorter.push(&key, &vec![1; payload]).unwrap();
            pushed += 1;
            most = most.max(sorter.memory());
        }
        assert!(most <= share, "{most} of {share}");
        assert!(most >= share / 2, "it makes use of its share: {most} of {share}");
        let sorted = sorter.finish().unwrap();
        assert!(sorted.is_spilled());
        assert_eq!(sorted.iter().count(), pushed);
    }
}

#[test]
fn small_sorts_create_no_folder() {
    let parent = tempfile::tempdir().unwrap();
    let temp = space(parent.path());
    let sorted = sorted(&[(vec![2], vec![]), (vec![1], vec![])], Some(temp), 1 << 20);
    assert!(!sorted.is_spilled());
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    assert_eq!(read(&sorted), [(vec![1], vec![]), (vec![2], vec![])]);
    assert!(read(&SortedRecords::default()).is_empty());
}

#[test]
fn missing_temp_folder_is_an_error() {
    let parent = tempfile::tempdir().unwrap();
    let mut sorter = Sorter::new(Some(space(&parent.path().join("missing"))), 0);
    let error = (0..10_000).find_map(|_| sorter.push(b"key", &[0; 100]).err()).unwrap();
    assert!(matches!(error, SpillError::TempDir { .. }), "{error}");
}

#[test]
fn sorted_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<SortedRecords>();
    shared::<Sorter>();
    shared::<TempSpace>();
}

#[test]
fn undecodable_records_are_named() {
    let parent = tempfile::tempdir().unwrap();
    let records: Vec<Record> = (0..3u8).map(|key| (vec![key], vec![key; 2 * MIN_MEMORY])).collect();
    for temp in [Some(space(parent.path())), None] {
        let is_spilled = temp.is_some();
        let sorted = sorted(&records, temp, MIN_MEMORY);
        let decoded = sorted.decoded("a small key", |key, _| (key[0] < 1).then_some(()));
        let mut results: Vec<_> = decoded.collect();
        let error = results.pop().unwrap().unwrap_err().downcast::<SpillError>().unwrap();
        assert_eq!(results.len(), 1);
        let message = error.to_string();
        assert!(message.contains("does not hold a small key any more"), "{message}");
        let SpillError::Altered { path, position, .. } = error else { panic!("{message}") };
        assert_eq!(path.is_some_and(|path| path.starts_with(parent.path())), is_spilled);
        assert_eq!(position, is_spilled.then_some(SpillPosition::Record(1)));
    }
}
