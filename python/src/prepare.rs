//! `prepare`: computes signatures and bucket keys of documents.

use crate::arrow::table::ArrowTable;
use crate::call;
use crate::error::OptionError;
use crate::input::compared_input::ComparedInput;
use crate::input::ids::{IdColumn, IdKind};
use crate::input::inputs::ComparedInputs;
use crate::options::KeywordOptions;
use crate::results::skipped::SkippedColumns;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, FixedSizeBinaryArray, FixedSizeListArray, PrimitiveArray,
    UInt64Array,
};
use arrow_schema::Field;
use lookalike::core::params::Params;
use lookalike::progress::Progress;
use lookalike::request::{IdOrigin, PrepareRequest, SignatureBlock};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// Computes a row for each document: `id`, `shingles` (the number of distinct shingles),
/// `fingerprint` (16 bytes), `signature` (a list of 32-bit values) and `band_keys` (a list of
/// 64-bit keys). For a document without a token, both lists are zeros and `shingles` is 0. Also
/// returns the parameters and the skipped records.
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
    let ids_of = match &documents {
        ComparedInput::Documents(held) if held.get().rows().named_by_row() => IdOrigin::Rows,
        ComparedInput::Documents(_) => IdOrigin::InMemory,
        ComparedInput::Paths(_) => IdOrigin::InFiles,
    };
    let inputs = ComparedInputs::new(py, &documents, None, reading)?.run;
    let request = PrepareRequest { inputs, params: params.clone(), threads, ids: ids_of };
    let shape = params.clone();
    let (columns, skipped) = call::reading(py, progress.as_ref(), move |watch| {
        let prepared = request.run(watch)?;
        watch.advance(0)?;
        let mut skipped = SkippedColumns::new(ids_of != IdOrigin::InFiles);
        prepared.skipped.iter().for_each(|item| skipped.push(item));
        Ok((columns(&prepared.blocks, ids, &shape), skipped))
    })?;
    let parameters = crate::parameters::dict(py, &params)?.unbind();
    Ok((ArrowTable::new(columns?)?, parameters, skipped.table()?))
}

/// Columns with their names, and whether they are nullable.
type NamedColumns = Vec<(&'static str, ArrayRef, bool)>;

fn columns(parts: &[SignatureBlock], kind: IdKind, params: &Params) -> PyResult<NamedColumns> {
    let mut ids = IdColumn::new(kind);
    parts.iter().flat_map(|part| &part.ids).for_each(|id| ids.push(Some(id)));
    let shingles = parts.iter().flat_map(|part| part.shingles.iter().copied());
    let prints = parts.iter().flat_map(|part| &part.fingerprints);
    let prints: ArrayRef = if parts.iter().all(|part| part.ids.is_empty()) {
        arrow_array::new_empty_array(&arrow_schema::DataType::FixedSizeBinary(16))
    } else {
        let prints_array = FixedSizeBinaryArray::try_from_iter(prints);
        Arc::new(prints_array.map_err(|error| crate::find::unexpected(&error.to_string()))?)
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

/// Groups values into lists of a fixed length.
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
