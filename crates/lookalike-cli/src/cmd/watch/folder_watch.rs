//! Changes in a folder as the system reports them, and the signals that end the process.

use lookalike::watch::FileChange;
use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RenameMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// An event that a watch waits for.
#[derive(Debug)]
pub(super) enum WatchMessage {
    /// A file changed.
    Changed(PathBuf, FileChange),
    /// Anything else changed, or some changes were not reported.
    Unknown,
    /// A signal asks the process to end.
    Stop,
}

/// The source of the messages.
pub(super) struct FolderWatch {
    messages: Receiver<WatchMessage>,
    sender: Sender<WatchMessage>,
    /// Messages that came in a pause.
    queued: VecDeque<WatchMessage>,
    watcher: Option<RecommendedWatcher>,
}

impl FolderWatch {
    /// Starts to receive signals. [`watch`](Self::watch) adds the folder.
    ///
    /// # Errors
    /// Signals cannot be received.
    pub(super) fn new() -> io::Result<Self> {
        let (sender, messages) = channel();
        stop_on_signals(sender.clone())?;
        Ok(Self { messages, sender, queued: VecDeque::new(), watcher: None })
    }

    /// Starts to watch a folder and everything in it, instead of the previous folder.
    ///
    /// # Errors
    /// The system cannot watch the folder: for example, it does not exist, or no watch is left.
    pub(super) fn watch(&mut self, folder: &Path) -> Result<(), notify::Error> {
        self.watcher = None;
        let sender = self.sender.clone();
        let named = folder.to_owned();
        let absolute = std::path::absolute(folder)?;
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let event = event.map(|event| with_names(event, &absolute, &named));
            let messages = event.map_or_else(|_| vec![WatchMessage::Unknown], messages);
            // The receiver is gone when the process ends.
            for message in messages {
                let _ = sender.send(message);
            }
        })?;
        watcher.watch(folder, RecursiveMode::Recursive)?;
        self.watcher = Some(watcher);
        Ok(())
    }

    /// Stops watching the folder.
    pub(super) fn unwatch(&mut self) {
        self.watcher = None;
    }

    /// Returns the next message, or `None` if none arrives before `until`.
    pub(super) fn next(&mut self, until: Instant) -> Option<WatchMessage> {
        self.queued.pop_front().or_else(|| self.receive(until))
    }

    /// Waits until `until`, and keeps messages for [`next`](Self::next). Returns `false` at once if
    /// a signal asks the process to end.
    pub(super) fn pause(&mut self, until: Instant) -> bool {
        while Instant::now() < until {
            let Some(message) = self.receive(until) else { continue };
            let is_stop = matches!(message, WatchMessage::Stop);
            self.queued.push_back(message);
            if is_stop {
                return false;
            }
        }
        true
    }

    fn receive(&self, until: Instant) -> Option<WatchMessage> {
        let wait = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        self.messages.recv_timeout(wait).ok()
    }
}

/// Rewrites the paths of an event to begin with the folder as the user named it. The paths of read
/// files begin in the same way.
fn with_names(mut event: Event, absolute: &Path, named: &Path) -> Event {
    for path in &mut event.paths {
        if let Ok(rest) = path.strip_prefix(absolute) {
            *path = named.join(rest);
        }
    }
    event
}

/// Converts an event of the system to messages. Ignores reads of files.
fn messages(event: Event) -> Vec<WatchMessage> {
    let change = match event.kind {
        _ if event.need_rescan() => return vec![WatchMessage::Unknown],
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => FileChange::Closed,
        EventKind::Access(_) => return Vec::new(),
        EventKind::Create(CreateKind::Folder)
        | EventKind::Remove(_)
        | EventKind::Modify(ModifyKind::Name(RenameMode::From)) => {
            return vec![WatchMessage::Unknown];
        }
        EventKind::Create(_) | EventKind::Modify(ModifyKind::Data(_)) => FileChange::Written,
        EventKind::Modify(ModifyKind::Metadata(_)) => FileChange::Touched,
        EventKind::Modify(_) | EventKind::Any | EventKind::Other => FileChange::Named,
    };
    // Other systems do not report that a file was closed.
    let has_close = cfg!(any(target_os = "linux", target_os = "android"));
    let change = if has_close { change } else { FileChange::Named };
    let changed = |path: PathBuf| {
        if path.is_dir() { WatchMessage::Unknown } else { WatchMessage::Changed(path, change) }
    };
    event.paths.into_iter().map(changed).collect()
}

/// Sends [`WatchMessage::Stop`] at the first SIGINT, SIGTERM or SIGHUP; a second one ends the
/// process.
#[cfg(unix)]
fn stop_on_signals(sender: Sender<WatchMessage>) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let wait = move || {
        let mut signals = signals.forever();
        if signals.next().is_some() {
            // The receiver is gone when the process ends.
            let _ = sender.send(WatchMessage::Stop);
        }
        if let Some(signal) = signals.next() {
            lookalike::temporary::remove_all();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(wait).map(drop)
}

#[cfg(not(unix))]
fn stop_on_signals(_: Sender<WatchMessage>) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_paths_use_the_given_folder() {
        let event = Event::new(EventKind::Any).add_path("/above/in/sub/a.txt".into());
        let event = with_names(event, Path::new("/above/in"), Path::new("in/"));
        assert_eq!(event.paths, [Path::new("in/sub/a.txt")]);
        assert_eq!(event.paths[0].as_os_str(), "in/sub/a.txt");
    }

    #[test]
    fn reads_are_ignored_and_rescans_reported() {
        let path = || PathBuf::from("in/a.txt");
        let of = |kind| messages(Event::new(kind).add_path(path()));
        let read = AccessKind::Close(AccessMode::Read);
        assert!(of(EventKind::Access(read)).is_empty());
        let lost = Event::new(EventKind::Other).set_flag(notify::event::Flag::Rescan);
        assert!(matches!(messages(lost)[..], [WatchMessage::Unknown]));
        if cfg!(target_os = "linux") {
            let written = of(EventKind::Create(CreateKind::File));
            let closed = of(EventKind::Access(AccessKind::Close(AccessMode::Write)));
            for (messages, expected) in
                [(written, FileChange::Written), (closed, FileChange::Closed)]
            {
                let [WatchMessage::Changed(_, change)] = messages[..] else {
                    panic!("one message")
                };
                assert_eq!(change, expected);
            }
        }
    }
}
