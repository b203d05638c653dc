//! Determines which files are still being written, from the changes that the system reports.

use crate::read::Stamp;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long to wait for a file that a program has open for writing but does not write to. If the
/// system does not report when files are closed, the file is read after this time.
const OPEN_PATIENCE: Duration = Duration::from_secs(60);

/// A reported change of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    /// A program has created or written the file, and may continue.
    Written,
    /// The program that wrote the file has closed it.
    Closed,
    /// The file received its name, for example by being moved.
    Named,
    /// Its times or permissions changed. This does not affect whether a program has it open.
    Touched,
}

/// Files that changed recently, or that will be read.
pub struct PendingFiles {
    settle: Duration,
    files: HashMap<PathBuf, PendingFile>,
    /// Reported files that have settled since then.
    settled: HashSet<PathBuf>,
    /// Files to read, with their state at the last call of [`PendingFiles::ready`].
    seen: HashMap<PathBuf, SeenFile>,
}

/// The state of a file at a call of [`PendingFiles::ready`].
#[derive(Clone, Copy)]
struct SeenFile {
    stamp: Stamp,
    /// The time at which this state was first seen; `None` if the file is settled.
    since: Option<Instant>,
}

struct PendingFile {
    changed: Instant,
    is_open: bool,
}

impl PendingFiles {
    /// Creates an empty set. A file is settled when it has not changed for `settle` and no program
    /// has it open for writing.
    pub fn new(settle: Duration) -> Self {
        let files = HashMap::new();
        let settled = HashSet::new();
        let seen = HashMap::new();
        Self { settle, files, settled, seen }
    }

    /// Records a change.
    pub fn note(&mut self, path: &Path, change: FileChange, now: Instant) {
        self.settled.remove(path);
        self.seen.remove(path);
        let is_open = match change {
            FileChange::Written => true,
            FileChange::Closed | FileChange::Named => false,
            FileChange::Touched => self.files.get(path).is_some_and(|file| file.is_open),
        };
        self.files.insert(path.to_owned(), PendingFile { changed: now, is_open });
    }

    /// Whether a file is probably being written.
    fn is_pending(&self, path: &Path, now: Instant) -> bool {
        self.files.get(path).is_some_and(|file| now < self.settled_at(file))
    }

    /// Whether any file has settled since the last call.
    pub fn settle(&mut self, now: Instant) -> bool {
        let settle = self.settle;
        let settled: Vec<PathBuf> = self
            .files
            .extract_if(|_, file| now >= settled_at(file, settle))
            .map(|(path, _)| path)
            .collect();
        let any = !settled.is_empty();
        self.settled.extend(settled);
        any
    }

    /// Returns which of the listed files can be read: settled ones, and ones without reported
    /// changes whose state was the same in all calls during the settle time.
    pub fn ready(&mut self, files: &[(PathBuf, Stamp)], now: Instant) -> Vec<bool> {
        let before = std::mem::take(&mut self.seen);
        let mut ready = Vec::with_capacity(files.len());
        for (path, stamp) in files {
            if self.is_pending(path, now) {
                ready.push(false);
                continue;
            }
            let same = before.get(path).filter(|seen| seen.stamp == *stamp);
            let since = match same {
                _ if self.settled.remove(path) => None,
                Some(SeenFile { since: None, .. }) => None,
                Some(SeenFile { since: Some(since), .. }) => {
                    (now < *since + self.settle).then_some(*since)
                }
                None => Some(now),
            };
            ready.push(since.is_none());
            self.seen.insert(path.clone(), SeenFile { stamp: *stamp, since });
        }
        ready
    }

    /// Records that a file is settled, because it has not changed for a long time.
    pub fn trust(&mut self, path: &Path) {
        self.settled.insert(path.to_owned());
    }

    /// The time at which the next file settles; `None` if no file is pending.
    pub fn next(&self) -> Option<Instant> {
        self.files.values().map(|file| self.settled_at(file)).min()
    }

    fn settled_at(&self, file: &PendingFile) -> Instant {
        settled_at(file, self.settle)
    }
}

fn settled_at(file: &PendingFile, settle: Duration) -> Instant {
    file.changed + if file.is_open { OPEN_PATIENCE.max(settle) } else { settle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_unchanged_files_are_settled() {
        let (path, start) = (Path::new("a"), Instant::now());
        let after = |ms: u64| start + Duration::from_millis(ms);
        let mut pending = PendingFiles::new(Duration::from_millis(100));
        assert!(!pending.is_pending(path, start) && pending.next().is_none());
        pending.note(path, FileChange::Written, start);
        // The file is pending, however long its program pauses.
        assert!(pending.is_pending(path, after(5_000)));
        assert!(!pending.settle(after(5_000)));
        pending.note(path, FileChange::Touched, after(5_500));
        assert!(pending.is_pending(path, after(5_900)), "`cp -p` sets times before it closes");
        pending.note(path, FileChange::Closed, after(6_000));
        assert!(pending.is_pending(path, after(6_099)));
        assert_eq!(pending.next(), Some(after(6_100)));
        pending.note(path, FileChange::Written, after(6_050));
        assert!(pending.is_pending(path, after(6_200)), "it was opened again");
        pending.note(path, FileChange::Closed, after(6_300));
        assert!(!pending.is_pending(path, after(6_400)));
        assert!(pending.settle(after(6_400)));
        let files = [(path.to_owned(), stamp(1))];
        assert_eq!(pending.ready(&files, after(6_400)), [true]);
        assert_eq!(pending.ready(&files, after(6_500)), [true], "it could not be added before");
        assert!(pending.next().is_none());
    }

    fn stamp(bytes: u64) -> Stamp {
        Stamp { bytes, modified: Some(7) }
    }

    #[test]
    fn unreported_files_wait_for_second_look() {
        let (path, start) = (PathBuf::from("a"), Instant::now());
        let after = |ms: u64| start + Duration::from_millis(ms);
        let mut pending = PendingFiles::new(Duration::from_millis(100));
        let files = |bytes| [(path.clone(), stamp(bytes))];
        assert_eq!(pending.ready(&files(1), start), [false]);
        assert_eq!(pending.ready(&files(1), after(50)), [false]);
        assert_eq!(pending.ready(&files(2), after(120)), [false], "it grew");
        assert_eq!(pending.ready(&files(2), after(230)), [true]);
        pending.note(&path, FileChange::Written, after(240));
        assert_eq!(pending.ready(&files(2), after(900)), [false], "it is being written");
        pending.trust(Path::new("b"));
        assert_eq!(pending.ready(&[(PathBuf::from("b"), stamp(1))], start), [true]);
    }

    #[test]
    fn unclosed_files_settle_eventually() {
        let (path, start) = (Path::new("a"), Instant::now());
        let mut pending = PendingFiles::new(Duration::from_millis(100));
        pending.note(path, FileChange::Written, start);
        assert!(pending.is_pending(path, start + Duration::from_secs(59)));
        assert!(!pending.is_pending(path, start + OPEN_PATIENCE));
        pending.note(Path::new("moved"), FileChange::Named, start);
        assert_eq!(pending.next(), Some(start + Duration::from_millis(100)));
        assert!(pending.settle(start + Duration::from_secs(1)));
        assert!(pending.is_pending(path, start + Duration::from_secs(1)));
    }
}
