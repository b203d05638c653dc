//! Runs a reader so that what goes wrong in it stays there.

use crate::extractor::text_of;
use crate::failure::Failure;
use crate::fields::Fields;
use crate::job::Job;
use crate::kind::Kind;
use crate::options::Options;
use std::panic::{self, AssertUnwindSafe};
use std::thread;

/// Bytes of stack for readers of formats in which values nest.
pub(crate) const STACK_BYTES: usize = 64 << 20;

/// A file to be read apart from the others. Its limits are what the file has left of them.
pub(crate) struct Task<'a> {
    pub(crate) kind: Kind,
    pub(crate) bytes: &'a [u8],
    pub(crate) options: Options,
}

/// What became of a task.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) text: String,
    pub(crate) fields: Fields,
    /// Bytes that came out of something compressed.
    pub(crate) expanded: u64,
    pub(crate) failure: Option<Failure>,
}

impl Done {
    pub(crate) fn failed(failure: Failure) -> Self {
        Self { failure: Some(failure), ..Self::default() }
    }
}

impl<'a> Task<'a> {
    /// With what a job has left.
    pub(crate) fn new(kind: Kind, bytes: &'a [u8], job: &Job<'_>) -> Self {
        let mut options = job.options.clone();
        options.limits.expanded = job.left();
        options.limits.time = job.time_left();
        options.worker = None;
        Self { kind, bytes, options }
    }

    /// Reads the file here.
    pub(crate) fn perform(&self) -> Done {
        let job = Job::new(&self.options);
        let mut done = Done::default();
        let (text, fields) = (&mut done.text, &mut done.fields);
        let result = caught(|| text_of(self.kind, self.bytes, &job, text, fields));
        done.failure = result.err();
        done.expanded = self.options.limits.expanded.saturating_sub(job.left());
        done
    }

    /// Reads the file on a thread with a big stack. A panic still says so on standard error,
    /// unless the program has set a hook; too long a loop in a parser is not ended: for both
    /// there is the worker.
    pub(crate) fn perform_on_own_stack(&self) -> Done {
        let spawned = thread::scope(|scope| {
            let builder = thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, || self.perform()).map(thread::ScopedJoinHandle::join)
        });
        let failed = |what: &str| Done::failed(Failure::Crashed { what: what.to_owned() });
        match spawned {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => failed("it panicked"),
            Err(_) => failed("it got no thread"),
        }
    }
}

/// Runs a reader; a panic in it is its failure.
pub(crate) fn caught(read: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().copied();
        let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(Failure::Crashed { what: said.unwrap_or("it panicked").to_owned() })
    })
}
