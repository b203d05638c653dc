//! `prepare`: documents in, signatures and bucket keys out, a row each.

use crate::call::{self, Watch};
use crate::error::OptionError;
use crate::ids::{IdColumn, IdKind};
use crate::inputs::{Input, Inputs};
use crate::options::Options;
use crate::table::Table;
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
use lookalike::progress::{Progress, Stage};
use lookalike::read::{BlockNumber, Collection, Document, Scratch, Sink, Skipped};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Signs and bands documents: `id`, `shingles` (how many different ones), `fingerprint` (16 bytes),
/// `signature` (a list of 32-bit values) and `band_keys` (a list of 64-bit keys). Of a document
/// without a token both lists are zeros, and `shingles` is 0.
#[pyfunction]
#[pyo3(signature = (documents, options, progress=None))]
pub(crate) fn prepare(
    py: Python<'_>,
    documents: Input,
    options: &Bound<'_, PyDict>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Table, Py<PyDict>)> {
    let options = Options::new(options)?;
    let wording = options.wording()?;
    let params = options.params(wording)?;
    let threads = options.threads()?;
    let reading = options.reading(wording, crate::extraction::options(py)?)?;
    options.finish()?;
    if params.exact() {
        let text = "exact runs and containment have no signatures; leave out exact and measure";
        return Err(OptionError::new_err(text));
    }
    let ids = IdKind::of(&documents, None);
    let inputs = Inputs::new(py, &documents, None, reading)?;
    let parts = call::long(py, progress.as_ref(), |watch| {
        prepared(&inputs.open()?, &params, threads, watch)
    })?;
    let table = table(&parts, ids, &params)?;
    Ok((table, crate::parameters::dict(py, &params)?.unbind()))
}

/// The documents of a block.
#[derive(Default)]
struct Part {
    ids: Vec<String>,
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
) -> Result<Vec<Part>, Error> {
    let start = Instant::now();
    watch.begin(Stage::Prepare, collection.bytes());
    let done: Mutex<Vec<(BlockNumber, Part)>> = Mutex::default();
    let work = || -> Result<(), Error> {
        let mut maker = Maker::new(params);
        let mut scratch = Scratch::default();
        while let Some(block) = collection.next_block()? {
            block.read(&mut scratch, &mut maker)?;
            let part = std::mem::take(&mut maker.part);
            let bytes = maker.take_bytes();
            done.lock().unwrap_or_else(PoisonError::into_inner).push((block.number(), part));
            watch.advance(bytes)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads.get()).map(|_| scope.spawn(work)).collect();
        let mut result = work();
        for other in others {
            match other.join() {
                Ok(other) => result = result.and(other),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        result
    })?;
    watch.end(Stage::Prepare, start.elapsed());
    let mut parts = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    parts.sort_unstable_by_key(|(number, _)| *number);
    Ok(parts.into_iter().map(|(_, part)| part).collect())
}

struct Maker<'a> {
    params: &'a Params,
    shingler: Shingler,
    signer: Signer,
    set: Vec<u64>,
    upper: Vec<u32>,
    part: Part,
    bytes: u64,
}

impl<'a> Maker<'a> {
    fn new(params: &'a Params) -> Self {
        Self {
            params,
            shingler: Shingler::new(params.shingle()),
            signer: Signer::new(params.scheme(), params.num_hashes(), params.seed()),
            set: Vec::new(),
            upper: Vec::new(),
            part: Part::default(),
            bytes: 0,
        }
    }

    fn take_bytes(&mut self) -> u64 {
        std::mem::take(&mut self.bytes)
    }
}

impl Sink for Maker<'_> {
    fn document(&mut self, document: &Document<'_>) {
        let (part, params) = (&mut self.part, self.params);
        self.bytes += document.text.len() as u64;
        let fingerprint = self.shingler.set(document.text, &mut self.set);
        self.upper.clear();
        self.upper.extend(self.set.iter().map(|hash| (hash >> 32) as u32));
        part.ids.push(document.id.to_owned());
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
    }

    fn skipped(&mut self, _: Skipped) {}
}

fn table(parts: &[Part], kind: IdKind, params: &Params) -> PyResult<Table> {
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
    Table::new(vec![
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
