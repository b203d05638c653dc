//! Tracks idle connections: a new connection can replace the longest idle one.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tokio::sync::Notify;

/// The idle connections.
#[derive(Default)]
pub(crate) struct Connections {
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    last: u64,
    /// In the order in which they became idle.
    by_age: BTreeMap<u64, Arc<Notify>>,
}

impl Connections {
    /// Closes the connection that is idle longest. Returns whether there is one.
    pub(crate) fn close_longest_idle(&self) -> bool {
        let first = self.idle.lock().by_age.pop_first();
        first.is_some_and(|(_, close)| {
            close.notify_one();
            true
        })
    }
}

/// One connection. It is idle until its first request.
pub(crate) struct Connection {
    all: Arc<Connections>,
    close: Arc<Notify>,
    /// The position among the idle connections; 0 during a request.
    idle_since: AtomicU64,
    /// Whether unsent bytes wait for the client.
    pub(crate) writes: AtomicBool,
    /// Whether the client is still sending unread input.
    pub(crate) sends: AtomicBool,
}

impl Connection {
    pub(crate) fn new(all: &Arc<Connections>) -> Self {
        let connection = Self {
            all: Arc::clone(all),
            close: Arc::default(),
            idle_since: AtomicU64::new(0),
            writes: AtomicBool::new(false),
            sends: AtomicBool::new(false),
        };
        connection.set_idle();
        connection
    }

    pub(crate) fn set_idle(&self) {
        let mut idle = self.all.idle.lock();
        idle.last += 1;
        let last = idle.last;
        idle.by_age.remove(&self.idle_since.swap(last, Ordering::Relaxed));
        idle.by_age.insert(last, Arc::clone(&self.close));
    }

    pub(crate) fn set_busy(&self) {
        let since = self.idle_since.swap(0, Ordering::Relaxed);
        self.all.idle.lock().by_age.remove(&since);
    }

    /// Whether it can be closed without loss.
    pub(crate) fn is_idle(&self) -> bool {
        self.idle_since.load(Ordering::Relaxed) > 0 && !self.writes.load(Ordering::Relaxed)
    }

    /// Waits until another connection needs the place of this one.
    pub(crate) async fn needed(&self) {
        self.close.notified().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.set_busy();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_closes_first() {
        let all = Arc::new(Connections::default());
        let [first, second, third] = [(); 3].map(|()| Connection::new(&all));
        first.set_busy();
        first.set_idle();
        third.set_busy();
        drop(second);
        let oldest = |all: &Connections| all.idle.lock().by_age.keys().next().copied();
        assert_eq!(oldest(&all), Some(first.idle_since.load(Ordering::Relaxed)));
        assert!(first.is_idle() && !third.is_idle());
        assert!(all.close_longest_idle() && !all.close_longest_idle());
        drop((first, third));
        assert_eq!(oldest(&all), None);
    }
}
