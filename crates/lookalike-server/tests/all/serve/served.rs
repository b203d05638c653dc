//! A server in this process, which ends with the test.

use crate::serve::client::Client;
use lookalike::core::params::{Measure, Params, ParamsBuilder, Scheme};
use lookalike::read::Normalization;
use lookalike::store::backend::{
    Backend, Change, ChangeOutcome, IndexProblem, SideTableChanges, Snapshot, Stats,
};
use lookalike::store::category_table::CategoryMember;
use lookalike::store::duplicate_table::DuplicateEntry;
use lookalike::store::entry::DocumentNumber;
use lookalike::store::folder;
use lookalike::store::memory::MemoryBackend;
use lookalike::store::settings::{IndexSettings, StoredContent};
use lookalike::store::{Index, IndexError};
use lookalike_server::{
    ClientToken, Config, IndexName, Right, ServedIndex, Server, StopHandle, StopOutcome,
};
use parking_lot::{Condvar, Mutex};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time limits of connections in tests that are not about these limits.
const PATIENCE: Duration = Duration::from_secs(300);

pub(crate) struct Served {
    pub(crate) client: Client,
    pub(crate) gate: Arc<Gate>,
    pub(crate) stop: StopHandle,
    thread: Option<JoinHandle<StopOutcome>>,
}

impl Served {
    pub(crate) fn start() -> Self {
        Self::with(StoredContent::Texts, |_| {})
    }

    pub(crate) fn with(store: StoredContent, change: impl FnOnce(&mut Config)) -> Self {
        Self::with_settings(settings(store), change)
    }

    pub(crate) fn with_settings(settings: IndexSettings, change: impl FnOnce(&mut Config)) -> Self {
        Self::with_memory(MemoryBackend::new(settings), change)
    }

    pub(crate) fn with_memory(memory: MemoryBackend, change: impl FnOnce(&mut Config)) -> Self {
        let config = config(change);
        let gate = Arc::new(Gate::default());
        let index = gated(memory, &gate);
        Self::run(Server::bind(index, config).unwrap(), gate)
    }

    /// Starts a server with several indexes of these names. They store texts and share one gate.
    pub(crate) fn with_indexes(names: &[&str], change: impl FnOnce(&mut Config)) -> Self {
        let config = config(change);
        let gate = Arc::new(Gate::default());
        let index = |name: &&str| {
            let memory = MemoryBackend::new(settings(StoredContent::Texts));
            ServedIndex::named(IndexName::new(name).unwrap(), gated(memory, &gate))
        };
        let indexes = names.iter().map(index).collect();
        Self::run(Server::bind_all(indexes, config).unwrap(), gate)
    }

    /// Starts a server with an index in a new folder, which stores texts. It has no gate.
    pub(crate) fn with_folder(folder: &Path, change: impl FnOnce(&mut Config)) -> Self {
        let backend = folder::create(folder, &settings(StoredContent::Texts)).unwrap();
        let index = Index::new(backend).unwrap();
        Self::run(Server::bind(index, config(change)).unwrap(), Arc::default())
    }

    fn run(server: Server, gate: Arc<Gate>) -> Self {
        let client = Client { address: server.address(), token: None };
        let stop = StopHandle::new();
        let reported = stop.clone();
        let thread = std::thread::spawn(move || server.run(&reported, false).unwrap());
        Self { client, gate, stop, thread: Some(thread) }
    }

    pub(crate) fn end(self) -> StopOutcome {
        self.stop.stop();
        self.ended()
    }

    /// Waits for the end of a server that is already stopping. A second `stop` would interrupt it.
    pub(crate) fn ended(mut self) -> StopOutcome {
        self.thread.take().unwrap().join().unwrap()
    }
}

fn gated(memory: MemoryBackend, gate: &Arc<Gate>) -> Index {
    Index::new(Box::new(Gated { memory, gate: Arc::clone(gate) })).unwrap()
}

/// Returns the configuration of a test server, with the changes of the test.
fn config(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config { listen: "127.0.0.1:0".parse().unwrap(), ..Config::default() };
    config.limits.workers = 2;
    // A machine that pauses the tests for some seconds must not end their connections.
    config.limits.head_time = PATIENCE;
    config.limits.idle_time = PATIENCE;
    change(&mut config);
    config
}

pub(crate) fn token(right: Right, name: Option<&str>, value: &str) -> ClientToken {
    ClientToken::new(right, name, value).unwrap()
}

impl Drop for Served {
    fn drop(&mut self) {
        self.gate.open();
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub(crate) fn settings(store: StoredContent) -> IndexSettings {
    let params =
        Params::new(&ParamsBuilder { threshold: 0.5, ..ParamsBuilder::default() }).unwrap();
    IndexSettings::new(&params, &Normalization::default().to_string(), store).unwrap()
}

/// Returns the settings of an index with the signatures of a scheme.
pub(crate) fn with_scheme(scheme: Scheme) -> IndexSettings {
    let params =
        Params::new(&ParamsBuilder { threshold: 0.5, scheme, ..ParamsBuilder::default() }).unwrap();
    IndexSettings::new(&params, &Normalization::default().to_string(), StoredContent::Sets).unwrap()
}

/// Returns the settings of an index for containment.
pub(crate) fn containment() -> IndexSettings {
    let measure = Measure::Containment;
    let builder = ParamsBuilder { threshold: 0.5, measure, ..ParamsBuilder::default() };
    let params = Params::new(&builder).unwrap();
    IndexSettings::new(&params, &Normalization::default().to_string(), StoredContent::Sets).unwrap()
}

/// Blocks readers and writers while it is closed.
#[derive(Default)]
pub(crate) struct Gate {
    closed: Mutex<(bool, usize)>,
    changed: Condvar,
    passed: AtomicUsize,
    full: AtomicBool,
    down: AtomicBool,
}

impl Gate {
    /// Starts or ends the simulation of a full disk.
    pub(crate) fn set_full(&self, full: bool) {
        self.full.store(full, Ordering::SeqCst);
    }

    /// Starts or ends the simulation of a database that does not answer.
    pub(crate) fn set_down(&self, down: bool) {
        self.down.store(down, Ordering::SeqCst);
    }

    fn check_up(&self, index: &str) -> Result<(), IndexError> {
        if !self.down.load(Ordering::SeqCst) {
            return Ok(());
        }
        let why = "connection refused".to_owned();
        Err(IndexError::Database { index: index.to_owned(), why, transient: true })
    }

    pub(crate) fn close(&self) {
        self.closed.lock().0 = true;
    }

    pub(crate) fn open(&self) {
        self.closed.lock().0 = false;
        self.changed.notify_all();
    }

    /// Waits until the closed gate blocks this many calls.
    pub(crate) fn wait_for(&self, count: usize) {
        let mut closed = self.closed.lock();
        self.changed.wait_while(&mut closed, |(_, held)| *held < count);
    }

    /// Returns the number of reads and writes so far.
    pub(crate) fn passed(&self) -> usize {
        self.passed.load(Ordering::SeqCst)
    }

    fn pass(&self) {
        self.passed.fetch_add(1, Ordering::SeqCst);
        let mut closed = self.closed.lock();
        closed.1 += 1;
        self.changed.notify_all();
        self.changed.wait_while(&mut closed, |(closed, _)| *closed);
        closed.1 -= 1;
    }
}

struct Gated {
    memory: MemoryBackend,
    gate: Arc<Gate>,
}

impl SideTableChanges for Gated {
    fn add_duplicates(&self, entries: &[DuplicateEntry<'_>]) -> Result<u64, IndexError> {
        self.gate.check_up(self.name())?;
        self.memory.add_duplicates(entries)
    }

    fn add_decisions(
        &self,
        entries: &[&str],
        last: Option<u64>,
    ) -> Result<Option<u64>, IndexError> {
        self.gate.pass();
        self.gate.check_up(self.name())?;
        if self.gate.full.load(Ordering::SeqCst) {
            return Err(IndexError::DiskFull { index: self.name().to_owned() });
        }
        self.memory.add_decisions(entries, last)
    }

    fn remove_decisions(&self, numbers: &[u64]) -> Result<u64, IndexError> {
        self.gate.pass();
        self.memory.remove_decisions(numbers)
    }

    fn replace_categories(
        &self,
        model: &[u8],
        through: DocumentNumber,
        members: &[CategoryMember],
    ) -> Result<u64, IndexError> {
        self.memory.replace_categories(model, through, members)
    }

    fn add_category_members(
        &self,
        number: u64,
        through: DocumentNumber,
        members: &[CategoryMember],
    ) -> Result<bool, IndexError> {
        self.memory.add_category_members(number, through, members)
    }
}

impl Backend for Gated {
    fn settings(&self) -> &IndexSettings {
        self.memory.settings()
    }

    fn name(&self) -> &str {
        self.memory.name()
    }

    fn write(&self, changes: &[Change<'_>]) -> Result<Vec<ChangeOutcome>, IndexError> {
        self.gate.pass();
        self.gate.check_up(self.name())?;
        // The folder backend reserves disk space for removals, so they succeed on a full disk.
        let removes = changes.iter().all(|change| matches!(change, Change::Remove(_)));
        if self.gate.full.load(Ordering::SeqCst) && !removes {
            return Err(IndexError::DiskFull { index: self.name().to_owned() });
        }
        self.memory.write(changes)
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>, IndexError> {
        self.gate.pass();
        self.gate.check_up(self.name())?;
        self.memory.snapshot()
    }

    fn compact(&self, now: i64) -> Result<(), IndexError> {
        self.gate.pass();
        self.memory.compact(now)
    }

    fn check(&self) -> Result<Vec<IndexProblem>, IndexError> {
        self.memory.check()
    }

    fn repair(&self) -> Result<(), IndexError> {
        self.memory.repair()
    }

    fn stats(&self) -> Result<Stats, IndexError> {
        self.memory.stats()
    }

    fn backup(&self, to: &Path) -> Result<(), IndexError> {
        self.memory.backup(to)
    }
}
