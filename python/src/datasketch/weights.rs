//! Consistent weighted sampling (Ioffe 2010), with the same random parameters as datasketch.

use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;

use super::arrays;
use super::memory;
use lookalike_datasketch::instruction_set::InstructionSet;
use lookalike_datasketch::loops::{self, WeightSample};

/// The parameters of a `WeightedMinHashGenerator`: matrices with a row for each sample and a column
/// for each dimension.
#[pyclass(name = "DsWeights", module = "lookalike._engine", frozen)]
pub(crate) struct Weights {
    dimensions: usize,
    samples: usize,
    rates: Vec<f32>,
    ln_cs: Vec<f32>,
    betas: Vec<f32>,
}

/// A sample: the chosen dimension, and the quantised logarithm of its weight.
type WeightPair = (usize, f32);

impl Weights {
    /// Appends the samples of a vector to `pairs`. `logs` contains the logarithms of its weights:
    /// in the dimensions `columns`, or in all dimensions if `columns` is `None`. Fails if a sample
    /// is NaN in every dimension.
    fn pairs(
        &self,
        logs: &[f32],
        columns: Option<&[usize]>,
        pairs: &mut Vec<WeightPair>,
    ) -> Result<(), ()> {
        let length = logs.len();
        let mut levels = vec![0.0; length];
        let mut ln_as = vec![0.0; length];
        let mut rates = Vec::new();
        let mut betas = Vec::new();
        let mut ln_cs = Vec::new();
        for sample in 0..self.samples {
            let row = sample * self.dimensions..(sample + 1) * self.dimensions;
            if let Some(columns) = columns {
                let copy_columns = |from: &[f32], to: &mut Vec<f32>| {
                    to.clear();
                    to.extend(columns.iter().map(|&column| from[column]));
                };
                copy_columns(&self.rates[row.clone()], &mut rates);
                copy_columns(&self.betas[row.clone()], &mut betas);
                copy_columns(&self.ln_cs[row.clone()], &mut ln_cs);
            }
            loops::sample(
                InstructionSet::best(),
                &mut WeightSample {
                    logs,
                    rates: if columns.is_some() { &rates } else { &self.rates[row.clone()] },
                    betas: if columns.is_some() { &betas } else { &self.betas[row.clone()] },
                    ln_cs: if columns.is_some() { &ln_cs } else { &self.ln_cs[row] },
                    is_many: columns.is_some(),
                    levels: &mut levels,
                    ln_as: &mut ln_as,
                },
            );
            let least = least(&ln_as).ok_or(())?;
            pairs.push((columns.map_or(least, |columns| columns[least]), levels[least]));
        }
        Ok(())
    }
}

/// Returns the position of the first minimum. Ignores NaN.
fn least(numbers: &[f32]) -> Option<usize> {
    let mut best: Option<(usize, f32)> = None;
    for (at, &number) in numbers.iter().enumerate() {
        if !number.is_nan() && best.is_none_or(|(_, least)| number < least) {
            best = Some((at, number));
        }
    }
    best.map(|(at, _)| at)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
}

/// Converts samples to an array of 64-bit integers with two columns.
fn array<'py>(py: Python<'py>, pairs: &[WeightPair]) -> PyResult<Bound<'py, PyAny>> {
    let mut bytes = memory::with_capacity(pairs.len().saturating_mul(16))?;
    for &(dimension, level) in pairs {
        if !level.is_finite() {
            return Err(PyOverflowError::new_err(format!(
                "cannot convert float {level} to integer: weights must be finite, but the weight \
                 of dimension {dimension} is not"
            )));
        }
        bytes.extend((dimension as u64).to_le_bytes());
        bytes.extend((level as i64).to_le_bytes());
    }
    let flat = arrays::array_over(
        &memory::byte_array(py, bytes.len(), |array| array.copy_from_slice(&bytes))?,
        "<i8",
    )?;
    flat.call_method1("reshape", (pairs.len(), 2))
}

#[pymethods]
impl Weights {
    /// Takes the parameters as bytes of float32 arrays of `samples` rows and `dimensions` columns.
    #[new]
    fn new(
        dimensions: usize,
        samples: usize,
        rates: &[u8],
        ln_cs: &[u8],
        betas: &[u8],
    ) -> PyResult<Self> {
        let [rates, ln_cs, betas] = [rates, ln_cs, betas].map(floats);
        let expected = dimensions.checked_mul(samples);
        if [&rates, &ln_cs, &betas].iter().any(|array| Some(array.len()) != expected) {
            return Err(PyValueError::new_err(format!(
                "expected parameters of the shape ({samples}, {dimensions}), got {} rates, {} \
                 ln_cs and {} betas",
                rates.len(),
                ln_cs.len(),
                betas.len()
            )));
        }
        Ok(Self { dimensions, samples, rates, ln_cs, betas })
    }

    /// Returns the samples of a vector as an int64 array of the shape (samples, 2). `logs` contains
    /// the bytes of a float32 array: the logarithms of the weights.
    fn minhash<'py>(&self, py: Python<'py>, logs: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let logs = floats(logs);
        if logs.len() != self.dimensions {
            return Err(PyValueError::new_err(format!(
                "Input dimension mismatch, expecting {}, got {}",
                self.dimensions,
                logs.len()
            )));
        }
        let mut pairs = memory::with_capacity(self.samples)?;
        py.detach(|| self.pairs(&logs, None, &mut pairs)).map_err(|()| {
            PyValueError::new_err("All-NaN slice encountered: no weight is a positive number")
        })?;
        array(py, &pairs)
    }

    /// Returns the samples of many sparse vectors, `None` for a vector without weights. The weights
    /// of all vectors follow each other: `columns` contains their dimensions, and `logs` their
    /// logarithms. `ends` contains the position after the last weight of each vector.
    #[expect(clippy::needless_pass_by_value, reason = "lists of Python come as vectors")]
    fn minhash_many<'py>(
        &self,
        py: Python<'py>,
        ends: Vec<usize>,
        columns: Vec<usize>,
        logs: &[u8],
    ) -> PyResult<Vec<Option<Bound<'py, PyAny>>>> {
        let logs = floats(logs);
        let is_ordered = ends.is_sorted() && ends.last().is_none_or(|&end| end <= logs.len());
        let in_range = columns.iter().all(|&column| column < self.dimensions);
        if !is_ordered || !in_range || columns.len() != logs.len() {
            return Err(PyValueError::new_err(format!(
                "invalid sparse vectors: got {} columns and {} weights; expected equal numbers, \
                 ascending ends up to {}, and columns below {}",
                columns.len(),
                logs.len(),
                logs.len(),
                self.dimensions
            )));
        }
        let mut rows = memory::with_capacity(ends.len())?;
        let mut from = 0;
        for end in ends {
            py.check_signals()?;
            let logs = &logs[from..end];
            let columns = &columns[from..end];
            from = end;
            if logs.is_empty() {
                rows.push(None);
                continue;
            }
            if logs.iter().any(|log| log.is_nan()) {
                return Err(PyValueError::new_err(format!(
                    "weights must not be negative or NaN, and row {} has one",
                    rows.len()
                )));
            }
            let mut pairs = memory::with_capacity(self.samples)?;
            py.detach(|| self.pairs(logs, Some(columns), &mut pairs)).map_err(|()| {
                PyValueError::new_err(format!("weights of row {} are not finite", rows.len()))
            })?;
            rows.push(Some(array(py, &pairs)?));
        }
        Ok(rows)
    }
}
