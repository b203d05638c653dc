//! Compares logs with vectors: in memory, in a file, and after the values of an earlier run.

use crate::spill::error::{SpillError, SpillPosition};
use crate::spill::log::LogValue;
use crate::spill::{SpillLog, TempSpace};
use proptest::prelude::*;
use serde_json::json;
use std::fmt::Debug;
use std::sync::Arc;

/// Creates a log of some appends, with at most `share` bytes in memory.
fn filled<T: LogValue>(
    temp: &Arc<TempSpace>,
    appends: &[Vec<T>],
    share: usize,
) -> (SpillLog<T>, Vec<std::ops::Range<u64>>) {
    let mut log = SpillLog::scratch(temp, "values", share);
    let ranges = appends.iter().map(|values| log.append(values.clone()).unwrap()).collect();
    assert!(log.held_bytes() <= share);
    (log, ranges)
}

fn check<T: LogValue + PartialEq + Debug>(appends: &[Vec<T>], share: usize) {
    let parent = tempfile::tempdir().unwrap();
    let temp = Arc::new(TempSpace::new(parent.path().to_owned()));
    let (log, ranges) = filled(&temp, appends, share);
    assert_eq!(log.len() as usize, appends.concat().len());
    for (range, values) in ranges.into_iter().zip(appends) {
        assert_eq!(*log.range(range.clone()).unwrap(), **values);
        let middle = range.start + (range.end - range.start) / 2;
        assert_eq!(*log.range(middle..range.end).unwrap(), values[values.len() / 2..]);
    }
    let mut all = Vec::new();
    let mut take = |some: &[T]| {
        all.extend_from_slice(some);
        Ok::<_, SpillError>(())
    };
    log.each_record(<[T]>::len, &mut take).unwrap();
    assert_eq!(all, appends.concat());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn logs_return_appended_values(
        appends in prop::collection::vec(prop::collection::vec(any::<(u64, u32)>(), 0..50), 0..20),
        share in prop_oneof![Just(0), 0..4000usize, Just(usize::MAX)],
    ) {
        check(&appends, share);
        let of = |f: fn(&(u64, u32)) -> u64| -> Vec<Vec<u64>> {
            appends.iter().map(|values| values.iter().map(f).collect()).collect()
        };
        check(&of(|(key, _)| *key), share);
        let small = |values: &Vec<(u64, u32)>| values.iter().map(|(_, x)| *x).collect();
        check::<u32>(&appends.iter().map(small).collect::<Vec<_>>(), share);
        let bytes = |values: &Vec<(u64, u32)>| values.iter().map(|(_, x)| *x as u8).collect();
        check::<u8>(&appends.iter().map(bytes).collect::<Vec<_>>(), share);
    }
}

/// Reads lists that follow their lengths. Some are larger than a single read.
#[test]
fn records_stay_whole_across_reads() {
    let parent = tempfile::tempdir().unwrap();
    let temp = Arc::new(TempSpace::new(parent.path().to_owned()));
    let lists: Vec<Vec<u32>> = (0..400u32)
        .map(|n| vec![n; if n % 97 == 0 { 90_000 } else { 1_000 + n as usize }])
        .collect();
    let appended: Vec<Vec<u32>> =
        lists.iter().map(|list| [&[list.len() as u32], list.as_slice()].concat()).collect();
    for share in [0, 1 << 20, usize::MAX] {
        let (log, _) = filled(&temp, &appended, share);
        let mut found = Vec::new();
        let length = |values: &[u32]| 1 + values[0] as usize;
        log.each_record(length, |record| {
            found.push(record[1..].to_vec());
            Ok::<_, SpillError>(())
        })
        .unwrap();
        assert!(found == lists);
        let mut seen = 0;
        let result = log.each_record(length, |_| {
            seen += 1;
            if seen < 3 { Ok(()) } else { Err(SpillError::altered("no record")) }
        });
        assert!(result.is_err() && seen == 3, "the first error ends it");
    }
}

#[test]
fn missing_log_values_are_errors() {
    let parent = tempfile::tempdir().unwrap();
    let temp = Arc::new(TempSpace::new(parent.path().to_owned()));
    for share in [0, usize::MAX] {
        let (log, _) = filled(&temp, &[vec![1u8, 2], vec![9, 3]], share);
        for range in [3..5, 4..5, 90..99, 0..u64::MAX] {
            let start = range.start;
            let error = log.range(range).unwrap_err().to_string();
            assert!(error.contains("does not hold values any more"), "{error}");
            // Only values in a file have a position.
            assert_eq!(error.contains(&format!("at byte {start};")), share == 0, "{error}");
        }
        // The records are [1], [2, 9] and [3]. The last one claims three values but has one.
        let error =
            log.each_record(|values| values[0].into(), |_| Ok::<_, SpillError>(())).unwrap_err();
        assert!(error.to_string().contains("does not hold values any more"), "{error}");
        let SpillError::Altered { path, position, .. } = error else { panic!("{error}") };
        let is_in = path.is_some_and(|path| path.starts_with(parent.path()));
        assert_eq!(is_in, share == 0);
        assert_eq!(position, (share == 0).then_some(SpillPosition::Byte(3)));
    }
}

#[test]
fn stored_log_resumes_at_journal_length() {
    let parent = tempfile::tempdir().unwrap();
    let open = |len| {
        let temp = Arc::new(TempSpace::resumable(parent.path(), "x", &json!({})).unwrap());
        SpillLog::<u32>::stored(&temp, "numbers", usize::MAX, len)
    };
    let mut log = open(0).unwrap();
    log.append(vec![1, 2, 3]).unwrap();
    assert_eq!(log.held_bytes(), 0, "all is written at once");
    log.sync().unwrap();
    log.append(vec![4, 5]).unwrap();
    drop(log);
    let mut log = open(3).unwrap();
    assert_eq!((log.len(), &*log.range(0..3).unwrap()), (3, &[1, 2, 3][..]));
    assert_eq!(log.append(vec![6]).unwrap(), 3..4);
    assert_eq!(*log.range(3..4).unwrap(), [6]);
    drop(log);
    let error = open(9).unwrap_err().to_string();
    assert!(error.contains("expected 36 bytes, found 16"), "{error}");
    assert!(error.contains("remove the folder"), "{error}");
}

#[test]
fn scratch_logs_have_no_name() {
    let parent = tempfile::tempdir().unwrap();
    let temp = Arc::new(TempSpace::resumable(parent.path(), "x", &json!({})).unwrap());
    let (log, _) = filled(&temp, &[vec![1u64; 100]], 0);
    assert_eq!(log.held_bytes(), 0);
    let folder = parent.path().join("lookalike-x.run");
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["lock", "run.json"]);
}
