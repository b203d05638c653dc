//! `keys`: computes the keys of documents as blocks, with notes.

use super::columns::{BlockKind, BlockRows, integers, optional_integers};
use super::plan_options::plan_options;
use crate::arrow::table::ArrowTable;
use crate::error::{DamagedError, DocumentError, OptionError, run_error};
use crate::input::documents::PythonDocuments;
use arrow_array::Int64Array;
use lookalike::error::Error;
use lookalike::find::{FindError, FindOptions};
use lookalike::read::{
    Collection, Content, Document, DocumentSink, InMemoryDocuments, ReadBuffers, ReadError,
    ReadOptions, Side, SkippedItem,
};
use lookalike::shard::{KeepRuleUse, KeyCollector, Node, RarityCounters, ShardError, node_of};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

/// A task of the stage `keys`.
#[pyclass(name = "KeyStage", module = "lookalike._engine")]
pub(crate) struct KeyStage {
    collector: KeyCollector,
    rules: KeepRuleUse,
    options: FindOptions,
    reading: ReadOptions,
    tally: Tally,
    rows: BlockRows,
}

/// A mask for the lower 24 bits of a node. The sum of these bits of 2⁴⁰ nodes fits in 64 bits.
const NODE_SUM_BITS: i64 = (1 << 24) - 1;

/// The counts and notes of a task.
#[derive(Default)]
struct Tally {
    skipped: u64,
    reference: u64,
    /// The sum of the lower bits of all nodes.
    nodes: u64,
    /// The number of the documents of each source, and their size in bytes. The key states whether
    /// they are reference documents.
    sources: BTreeMap<(bool, String), (u64, u64)>,
    notes: Vec<serde_json::Value>,
}

#[pymethods]
impl KeyStage {
    /// With `counters`, the keys are rare shingles. Otherwise the keys are buckets of signatures.
    #[new]
    #[pyo3(signature = (options, parts, counters=None))]
    fn new(
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
        parts: u32,
        counters: Option<&[u8]>,
    ) -> PyResult<Self> {
        let (find, reading) = plan_options(py, options)?;
        let parts = NonZeroU32::new(parts)
            .ok_or_else(|| OptionError::new_err("parts: expected 1 or more, got 0"))?;
        let counters = counters.map(RarityCounters::decode).transpose();
        let counters = counters.map_err(|error| DamagedError::new_err(error.to_string()))?;
        let collector = match counters {
            Some(counters) => KeyCollector::screening(&find, parts, Arc::new(counters)),
            None => KeyCollector::new(&find, parts).ok_or_else(|| {
                OptionError::new_err(
                    "exact=True and measure='containment' have no buckets of signatures; pass the \
                     counters of the stage count",
                )
            })?,
        };
        let rules = KeepRuleUse::new(&find).map_err(run_error)?;
        let (tally, rows) = Default::default();
        Ok(Self { collector, rules, options: find, reading, tally, rows })
    }

    /// Adds documents. `nodes` is an Arrow array of int64 with a node for each document. If an
    /// earlier stage has read the documents, `checks` is an array of int64 with its checks. A check
    /// is null if documents share a node.
    #[pyo3(signature = (documents, nodes, reference, checks=None))]
    fn add(
        &mut self,
        py: Python<'_>,
        documents: Py<PythonDocuments>,
        nodes: &Bound<'_, PyAny>,
        reference: bool,
        checks: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let nodes = integers(nodes, "nodes")?;
        let checks = checks.map(|checks| optional_integers(checks, "checks")).transpose()?;
        let source = documents.get().source("documents", true);
        let rows = source.rows.len();
        if rows != nodes.len() {
            let nodes = nodes.len();
            let text = format!(
                "got {rows} documents and {nodes} nodes; expected one node for each document"
            );
            return Err(DocumentError::new_err(text));
        }
        let lower_bits = nodes.iter().map(|node| (*node & NODE_SUM_BITS).cast_unsigned());
        self.tally.nodes += lower_bits.sum::<u64>();
        let checks = checks.as_deref();
        py.detach(|| self.read(source, &nodes, checks, reference)).map_err(named_by_id)
    }

    /// Returns the collected rows if they fill a table, otherwise `None`. With `all`, returns all
    /// remaining rows and the counts.
    fn take(&mut self, py: Python<'_>, all: bool) -> PyResult<Option<ArrowTable>> {
        if !all && !self.collector.is_full() {
            return Ok(None);
        }
        py.detach(|| {
            for block in self.collector.flush() {
                self.rows.push_block(BlockKind::Keys, &block);
            }
            if all {
                self.count();
            }
            for note in self.tally.notes.drain(..) {
                self.rows.push_note(&note.to_string());
            }
        });
        std::mem::take(&mut self.rows).finish().map(Some)
    }
}

impl KeyStage {
    fn read(
        &mut self,
        source: InMemoryDocuments,
        nodes: &[i64],
        checks: Option<&[Option<i64>]>,
        reference: bool,
    ) -> Result<(), Error> {
        let collector = &mut self.collector;
        let rules = &self.rules;
        let tally = &mut self.tally;
        let has_source = self.options.source_field.is_some();
        let mut sink = KeySink { collector, rules, tally, nodes, checks, reference, has_source };
        read_all(&open(source, &self.reading)?, &mut sink)
    }

    /// Adds the counts as notes.
    fn count(&mut self) {
        let (documents, empty) = self.collector.counts();
        let Tally { skipped, reference, nodes, sources, notes } = &mut self.tally;
        let mut counts = json!({
            "documents": documents, "reference": *reference, "empty": empty, "skipped": *skipped,
            "nodes": *nodes,
        });
        for (place, is_used) in self.rules.rules() {
            counts[format!("rule_{place}")] = u64::from(is_used).into();
        }
        notes.push(json!({"counts": counts}));
        for ((reference, name), (documents, bytes)) in std::mem::take(sources) {
            notes.push(json!({"source": {
                "source": name, "reference": reference, "documents": documents, "bytes": bytes,
            }}));
        }
    }
}

/// Opens documents in memory as a collection.
pub(super) fn open(
    source: InMemoryDocuments,
    reading: &ReadOptions,
) -> Result<Collection, ReadError> {
    Collection::of_sides(Side::InMemory(&[source]), Side::InMemory(&[]), reading)
}

/// Reads a collection to its end.
pub(super) fn read_all<S: DocumentSink>(opened: &Collection, sink: &mut S) -> Result<(), Error>
where
    Error: From<S::Error>,
{
    let mut buffers = ReadBuffers::default();
    while let Some(block) = opened.next_block()? {
        block.read(&mut buffers, sink)?;
    }
    Ok(())
}

/// The error for an unusable document. It names the id, because the row in a batch does not
/// identify the document.
pub(super) fn named_by_id(error: Error) -> PyErr {
    match error {
        Error::Find(FindError::Read(ReadError::BadRow(skipped))) => {
            let document = match &skipped.id {
                Some(id) => format!("the document {id:?}"),
                None => "a document".to_owned(),
            };
            let reason = &skipped.reason;
            DocumentError::new_err(format!(
                "{document} cannot be used: {reason}; fill it or leave the row out, or let \
                 skip_bad=True leave out and count such rows"
            ))
        }
        error => run_error(error),
    }
}

struct KeySink<'a> {
    collector: &'a mut KeyCollector,
    rules: &'a KeepRuleUse,
    tally: &'a mut Tally,
    nodes: &'a [i64],
    checks: Option<&'a [Option<i64>]>,
    reference: bool,
    has_source: bool,
}

impl DocumentSink for KeySink<'_> {
    type Error = Error;

    fn document(&mut self, document: &Document<'_>) -> Result<(), Error> {
        let row = document.place.row() as usize;
        let node = self.nodes.get(row).copied().unwrap_or_default();
        self.tally.reference += u64::from(self.reference);
        self.rules.observe(document);
        if self.has_source {
            let source = document.fields.last().copied().flatten().unwrap_or_default();
            let source = self.tally.sources.entry((self.reference, source.to_owned()));
            let (documents, bytes) = source.or_default();
            *documents += 1;
            *bytes += document.bytes();
        }
        let collected = self.collector.add(Node(node.cast_unsigned()), document);
        let check = self.checks.and_then(|checks| checks.get(row).copied().flatten());
        if check.is_some_and(|check| check.cast_unsigned() != collected.check) {
            return Err(ShardError::Changed { id: document.id.to_owned() }.into());
        }
        if collected.empty {
            let content = (!document.text.is_empty()).then(|| hex(document.text));
            let empty = json!({
                "id": document.id, "reference": self.reference, "content": content,
            });
            self.tally.notes.push(json!({"empty": empty}));
        }
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), Error> {
        self.tally.skipped += 1;
        let reason = skipped.reason.to_string();
        self.tally.notes.push(json!({"skipped": {"id": skipped.id, "reason": reason}}));
        Ok(())
    }
}

/// The hash of a text in hexadecimal digits.
fn hex(text: &str) -> String {
    use std::fmt::Write;
    Content::of(text.as_bytes()).bytes().iter().fold(String::new(), |mut digits, byte| {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

/// Computes the nodes of documents from their ids, for cluster engines that lack the hash function.
/// Returns a table with the column `node`.
#[pyfunction]
pub(crate) fn nodes(
    py: Python<'_>,
    documents: Py<PythonDocuments>,
    reference: bool,
) -> PyResult<ArrowTable> {
    let source = documents.get().source("documents", true);
    let nodes: Result<Vec<i64>, _> = py.detach(|| {
        let mut buffer = String::new();
        (0..source.rows.len())
            .map(|row| Ok(node_of(source.rows.id(row, &mut buffer)?, reference).0.cast_signed()))
            .collect()
    });
    let nodes = nodes.map_err(|reason: lookalike::read::SkipReason| {
        DocumentError::new_err(format!("a document has no id: {reason}"))
    })?;
    ArrowTable::new(vec![("node", Arc::new(Int64Array::from(nodes)), false)])
}
