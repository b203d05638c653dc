//! `compare`: two texts in, how alike they are and where they differ out.

use crate::call;
use crate::error::DocumentError;
use crate::inputs::{Input, Inputs};
use crate::options::Options;
use lookalike::core::shingle::Shingler;
use lookalike::core::signature::Signer;
use lookalike::core::verify;
use lookalike::difference::Differences;
use lookalike::error::Error;
use lookalike::read::{Collection, Document, Scratch, Sink, Skipped};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::time::Duration;

/// How long the shortest list of differences is looked for.
const PATIENCE: Duration = Duration::from_secs(2);

/// A stretch of both texts: what it is, and the words of each.
type Stretch = (&'static str, String, String);

/// Compares two documents: their figures by name, and the stretches in which they are equal or not,
/// where these are asked for.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    documents: Input,
    options: &Bound<'_, PyDict>,
    differences: bool,
) -> PyResult<(Py<PyDict>, Vec<Stretch>)> {
    let options = Options::new(options)?;
    let wording = options.wording()?;
    let params = options.params(wording)?;
    let reading = options.reading(wording, crate::extraction::options(py)?)?;
    options.finish()?;
    let inputs = Inputs::new(py, &documents, None, reading)?;
    let texts = call::long(py, None, |_| texts(&inputs.open()?))?;
    let [a, b] = texts.as_slice() else {
        let text = format!("compare takes two documents, got {}", texts.len());
        return Err(DocumentError::new_err(text));
    };
    let (overlap, estimate, stretches) = call::long(py, None, |_| {
        let mut shingler = Shingler::new(params.shingle());
        let (mut left, mut right) = (Vec::new(), Vec::new());
        shingler.set(a, &mut left);
        shingler.set(b, &mut right);
        let mut signer = Signer::new(params.scheme(), params.num_hashes(), params.seed());
        let mut sign = |text: &str| signer.sign(shingler.shingle(text).hashes).to_vec();
        let both = !left.is_empty() && !right.is_empty();
        let estimate = (both && !params.exact()).then(|| verify::estimate(&sign(a), &sign(b)));
        let stretches = if differences { stretches(a, b, &params) } else { Vec::new() };
        Ok((verify::overlap(&left, &right), estimate, stretches))
    })?;
    let dict = PyDict::new(py);
    dict.set_item("jaccard", overlap.jaccard())?;
    dict.set_item("containment_a", overlap.containment_left())?;
    dict.set_item("containment_b", overlap.containment_right())?;
    dict.set_item("estimate", estimate)?;
    dict.set_item("shared", overlap.intersection)?;
    dict.set_item("shingles_a", overlap.left)?;
    dict.set_item("shingles_b", overlap.right)?;
    dict.set_item("similar", overlap.reaches(params.measure(), params.threshold()))?;
    Ok((dict.unbind(), stretches))
}

fn stretches(a: &str, b: &str, params: &lookalike::core::params::Params) -> Vec<Stretch> {
    let found = Differences::between(a, b, params.shingle(), Some(PATIENCE));
    let mut told = Vec::new();
    for stretch in &found.stretches {
        let (left, right) = (stretch.a.clone(), stretch.b.clone());
        let kind = match (stretch.shared, left.is_empty(), right.is_empty()) {
            (true, ..) => "equal",
            (_, true, _) => "insert",
            (_, _, true) => "delete",
            _ => "replace",
        };
        let (left, right) = (found.a.text(left), found.b.text(right));
        told.push((kind, left.to_owned(), right.to_owned()));
    }
    told
}

/// The texts of a collection as they are compared, at most three.
fn texts(collection: &Collection) -> Result<Vec<String>, Error> {
    struct Texts(Vec<String>);

    impl Sink for Texts {
        fn document(&mut self, document: &Document<'_>) {
            if self.0.len() < 3 {
                self.0.push(document.text.to_owned());
            }
        }

        fn skipped(&mut self, _: Skipped) {}
    }

    let (mut texts, mut scratch) = (Texts(Vec::new()), Scratch::default());
    while let Some(block) = collection.next_block_in_order()? {
        block.read(&mut scratch, &mut texts)?;
    }
    Ok(texts.0)
}
