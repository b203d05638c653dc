//! `prepare`: documents in, signatures and bucket keys out, a row each.
//!
//! ```text
//! blocks  Maker → Parts  leave_out (repeated ids) → Parts  columns → Table
//!                     └─ skipped ──────┴───────────────────────────→ Table
//! ```

use crate::call::{self, Watch};
use crate::compared_input::ComparedInput;
use crate::error::OptionError;
use crate::ids::{IdColumn, IdKind};
use crate::inputs::ComparedInputs;
use crate::options::KeywordOptions;
use crate::skipped::SkippedColumns;
use crate::table::ArrowTable;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, FixedSizeBinaryArray, FixedSizeListArray, PrimitiveArray,
    UInt64Array,
};
use arrow_schema::Field;
use lookalike::core::band;
use lookalike::core::params::Params;
use lookalike::core::shingle::Shingler;
use lookalike::core::signature::Signer;
use lookalike::error::Error;
use lookalike::find::workers::{Earliest, on_threads};
use lookalike::progress::{Progress, Stage};
use lookalike::read::{
    BlockNumber, Collection, Document, DocumentSink, Location, Raw, ReadBuffers, ReadError,
    SkipReason, SkippedItem,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

/// Signs and bands documents: `id`, `shingles` (how many different ones), `fingerprint` (16 bytes),
/// `signature` (a list of 32-bit values) and `band_keys` (a list of 64-bit keys). Of a document
/// without a token both lists are zeros, and `shingles` is 0. Then the parameters, and what was
/// skipped.
#[pyfunction]
#[pyo3(signature = (documents, options, progress=None))]
pub(crate) fn prepare(
    py: Python<'_>,
    documents: ComparedInput,
    options: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(ArrowTable, Py<PyDict>, ArrowTable)> {
    let options = KeywordOptions::new(options)?;
    let normalization = options.normalization()?;
    let params = options.params(normalization)?;
    let threads = options.threads()?;
    let reading = options.reading(normalization, crate::extraction::options(py)?)?;
    options.finish()?;
    if params.exact() {
        let text = "exact runs and containment have no signatures; leave out exact and measure";
        return Err(OptionError::new_err(text));
    }
    let ids = IdKind::of(&documents, None).of_unit(reading.unit);
    let names = match &documents {
        ComparedInput::Documents(held) if held.get().rows().named_by_row() => Names::Rows,
        ComparedInput::Documents(_) => Names::Held,
        ComparedInput::Paths(_) => Names::Files,
    };
    let inputs = Arc::new(ComparedInputs::new(py, &documents, None, reading)?);
    let (theirs, how) = (Arc::clone(&inputs), params.clone());
    let (columns, skipped) = call::reading(py, progress.as_ref(), move |watch| {
        let collection = theirs.open()?;
        let mut parts = prepared(&collection, &how, threads, watch)?;
        let skip_bad = theirs.run.reading.skip_bad;
        let repeated = leave_out(&mut parts, &collection, names, skip_bad, &how)?;
        watch.go_on()?;
        let read = parts.iter().flat_map(|part| &part.skipped);
        let mut skipped = SkippedColumns::new(names != Names::Files);
        collection.listed().iter().chain(read).chain(&repeated).for_each(|one| skipped.push(one));
        Ok((columns(&parts, ids, &how), skipped))
    })?;
    let parameters = crate::parameters::dict(py, &params)?.unbind();
    Ok((ArrowTable::new(columns?)?, parameters, skipped.table()?))
}

/// What names documents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Their rows, no two the same.
    Rows,
    /// Ids of documents in memory.
    Held,
    /// Ids of documents in files.
    Files,
}

/// The documents of a block.
#[derive(Default)]
struct PreparedDocuments {
    source: u32,
    ids: Vec<String>,
    /// The row of each document in memory.
    rows: Vec<u64>,
    skipped: Vec<SkippedItem>,
    shingles: Vec<u64>,
    fingerprints: Vec<[u8; 16]>,
    signatures: Vec<u32>,
    keys: Vec<u64>,
}

/// All blocks in reading order.
fn prepared(
    collection: &Collection,
    params: &Params,
    threads: NonZeroUsize,
    watch: &Watch,
) -> Result<Vec<PreparedDocuments>, Error> {
    let start = Instant::now();
    watch.begin(Stage::Prepare, collection.bytes());
    let failed = Earliest::<BlockNumber, ReadError>::default();
    let done = on_threads(threads, |stop| {
        let (mut maker, mut scratch) = (PrepareWorker::new(params), ReadBuffers::default());
        let mut parts = Vec::new();
        while !stop.asked() {
            let Some(block) = collection.next_block()? else { break };
            if let Err(error) = block.read(&mut scratch, &mut maker) {
                failed.keep(block.number(), error);
                stop.ask();
                break;
            }
            let mut part = std::mem::take(&mut maker.part);
            part.source = block.number().source;
            parts.push((block.number(), part));
            watch.advance(maker.take_bytes())?;
        }
        Ok(parts)
    });
    let parts = failed.or::<_, Error>(done)?;
    watch.end(Stage::Prepare, start.elapsed());
    let mut parts: Vec<(BlockNumber, PreparedDocuments)> = parts.into_iter().flatten().collect();
    parts.sort_unstable_by_key(|(number, _)| *number);
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

struct PrepareWorker<'a> {
    params: &'a Params,
    shingler: Shingler,
    signer: Signer,
    set: Vec<u64>,
    upper: Vec<u32>,
    part: PreparedDocuments,
    bytes: u64,
}

impl<'a> PrepareWorker<'a> {
    fn new(params: &'a Params) -> Self {
        Self {
            params,
            shingler: Shingler::new(params.shingle()),
            signer: Signer::new(params.scheme(), params.num_hashes(), params.seed()),
            set: Vec::new(),
            upper: Vec::new(),
            part: PreparedDocuments::default(),
            bytes: 0,
        }
    }

    fn take_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }
}

impl DocumentSink for PrepareWorker<'_> {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        let (part, params) = (&mut self.part, self.params);
        self.bytes += document.text.len() as u64;
        let fingerprint = self.shingler.set(document.text, &mut self.set);
        self.upper.clear();
        self.upper.extend(self.set.iter().map(|hash| (hash >> 32) as u32));
        part.ids.push(document.id.to_owned());
        part.rows.push(if let Raw::Row(row) = document.raw { row } else { 0 });
        part.shingles.push(self.set.len() as u64);
        part.fingerprints.push(fingerprint.to_be_bytes());
        let (values, keys) = (part.signatures.len(), part.keys.len());
        part.signatures.resize(values + params.num_hashes(), 0);
        part.keys.resize(keys + params.bands(), 0);
        if !self.set.is_empty() {
            let signature = self.signer.sign(&self.upper);
            part.signatures[values..].copy_from_slice(signature);
            band::bucket_keys(signature, params.rows(), &mut part.keys[keys..]);
        }
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), ReadError> {
        self.part.skipped.push(skipped);
        Ok(())
    }
}

/// Refuses repeated ids as `find` does, or takes the later documents out and reports them.
fn leave_out(
    parts: &mut [PreparedDocuments],
    collection: &Collection,
    names: Names,
    skip_bad: bool,
    params: &Params,
) -> Result<Vec<SkippedItem>, Error> {
    if names == Names::Rows {
        return Ok(Vec::new());
    }
    let repeated = repeated(parts);
    let place = |(part, document): (usize, usize)| {
        let source = collection.source_name(parts[part].source).unwrap_or_default().to_owned();
        (source, (names == Names::Held).then_some(parts[part].rows[document]))
    };
    let location = |at| match place(at) {
        (source, Some(row)) => Location::Row { source, row },
        (source, None) => Location::Whole { source },
    };
    let mut reported = Vec::new();
    for &(later, first) in &repeated {
        let id = parts[later.0].ids[later.1].clone();
        let first = location(first);
        if !skip_bad {
            return Err(Error::RepeatedId { id, first, second: location(later) });
        }
        let (source, line) = place(later);
        let reason = SkipReason::RepeatedId { first: first.to_string() };
        reported.push(SkippedItem { source, line, id: Some(id), reason });
    }
    for same in repeated.chunk_by(|a, b| a.0.0 == b.0.0) {
        let gone: Vec<usize> = same.iter().map(|((_, document), _)| *document).collect();
        parts[same[0].0.0].remove(&gone, params);
    }
    Ok(reported)
}

/// A part, and which of its documents.
type At = (usize, usize);

/// Documents whose ids came before, in order, each with the first one.
fn repeated(parts: &[PreparedDocuments]) -> Vec<(At, At)> {
    let mut known: HashMap<&str, At> = HashMap::new();
    let mut repeated = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        for (document, id) in part.ids.iter().enumerate() {
            let at = (number, document);
            let first = *known.entry(id).or_insert(at);
            if first != at {
                repeated.push((at, first));
            }
        }
    }
    repeated
}

impl PreparedDocuments {
    /// Takes documents out, given in ascending order.
    fn remove(&mut self, gone: &[usize], params: &Params) {
        fn without<T>(values: &mut Vec<T>, each: usize, gone: &[usize]) {
            let mut at = 0;
            values.retain(|_| {
                at += 1;
                gone.binary_search(&((at - 1) / each)).is_err()
            });
        }
        without(&mut self.ids, 1, gone);
        without(&mut self.rows, 1, gone);
        without(&mut self.shingles, 1, gone);
        without(&mut self.fingerprints, 1, gone);
        without(&mut self.signatures, params.num_hashes(), gone);
        without(&mut self.keys, params.bands(), gone);
    }
}

/// Columns by name, and whether they may have no value somewhere.
type NamedColumns = Vec<(&'static str, ArrayRef, bool)>;

fn columns(parts: &[PreparedDocuments], kind: IdKind, params: &Params) -> PyResult<NamedColumns> {
    let mut ids = IdColumn::new(kind);
    parts.iter().flat_map(|part| &part.ids).for_each(|id| ids.push(Some(id)));
    let shingles = parts.iter().flat_map(|part| part.shingles.iter().copied());
    let prints = parts.iter().flat_map(|part| &part.fingerprints);
    let prints: ArrayRef = if parts.iter().all(|part| part.ids.is_empty()) {
        arrow_array::new_empty_array(&arrow_schema::DataType::FixedSizeBinary(16))
    } else {
        let made = FixedSizeBinaryArray::try_from_iter(prints);
        Arc::new(made.map_err(|error| crate::find::unexpected(&error.to_string()))?)
    };
    let signatures = parts.iter().flat_map(|part| part.signatures.iter().copied());
    let keys = parts.iter().flat_map(|part| part.keys.iter().copied());
    Ok(vec![
        ("id", ids.finish(), false),
        ("shingles", Arc::new(UInt64Array::from_iter_values(shingles)), false),
        ("fingerprint", prints, false),
        ("signature", lists::<UInt32Type>(signatures, params.num_hashes())?, false),
        ("band_keys", lists::<UInt64Type>(keys, params.bands())?, false),
    ])
}

/// Values as lists of that length.
fn lists<T: ArrowPrimitiveType>(
    values: impl Iterator<Item = T::Native>,
    length: usize,
) -> PyResult<ArrayRef> {
    let values = PrimitiveArray::<T>::from_iter_values(values);
    let length =
        i32::try_from(length).map_err(|_| crate::find::unexpected("a list is too long"))?;
    let field = Arc::new(Field::new("item", T::DATA_TYPE, false));
    let lists = FixedSizeListArray::try_new(field, length, Arc::new(values), None);
    Ok(Arc::new(lists.map_err(|error| crate::find::unexpected(&error.to_string()))?))
}
