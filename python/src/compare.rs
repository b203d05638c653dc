//! `compare`: the similarity of two texts, and their differences.

use crate::call::{self, Watch};
use crate::error::{DocumentError, OptionError, run_error};
use crate::find::unexpected;
use crate::input::compared_input::ComparedInput;
use crate::input::inputs::ComparedInputs;
use crate::options::KeywordOptions;
use lookalike::core::params::Params;
use lookalike::difference::{Differences, Places};
use lookalike::error::Error;
use lookalike::find::FindError;
use lookalike::pair_similarity::PairSimilarity;
use lookalike::read::{Collection, Document, DocumentSink, ReadBuffers, ReadError, SkippedItem};
use lookalike::report::html::{self, ComparisonPage};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;
use std::time::Duration;

/// Longest time to search for the shortest list of differences.
const PATIENCE: Duration = Duration::from_secs(2);

/// A part of both texts: its kind, its text in each document, and whether both have the same words.
type PartTuple = (&'static str, String, String, bool);

/// Figures by name, parts, and the number of differences of each kind.
type ComparisonTuple = (Py<PyDict>, Vec<PartTuple>, Option<[usize; 5]>);

/// Compares two documents. Returns their figures by name. With `differences`, also returns the
/// equal and different parts of the texts, and the number of differences of each kind.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    documents: ComparedInput,
    options: &Bound<'_, PyDict>,
    differences: bool,
) -> PyResult<ComparisonTuple> {
    let options = KeywordOptions::new(options)?;
    let normalization = options.normalization()?;
    let params = options.params(normalization)?;
    let reading = options.reading(normalization, crate::extraction::options(py)?)?;
    options.finish()?;
    if reading.skip_bad {
        return Err(OptionError::new_err(
            "skip_bad: expected none, since compare needs both texts; leave it out",
        ));
    }
    let inputs = Arc::new(ComparedInputs::new(py, &documents, None, reading)?);
    let thread_inputs = Arc::clone(&inputs);
    let compared = call::reading(py, None, move |watch| {
        let texts = texts(&thread_inputs.open()?, watch)?;
        let [a, b] = texts.found.as_slice() else { return Ok(Err(texts)) };
        let likeness = PairSimilarity::of(a, b, &params, watch)?;
        let parts = differences.then(|| parts(a, b, &params));
        Ok(Ok((likeness, parts)))
    })?;
    let (likeness, parts) = compared.map_err(|texts| {
        let text = match texts.skipped {
            Some(skipped) => format!("compare takes two documents; {skipped}"),
            None => format!("compare takes two documents, got {}", texts.count),
        };
        DocumentError::new_err(text)
    })?;
    let PairSimilarity { overlap, estimate, similar, .. } = likeness;
    let dict = PyDict::new(py);
    dict.set_item("jaccard", overlap.jaccard())?;
    dict.set_item("containment_a", overlap.containment_left())?;
    dict.set_item("containment_b", overlap.containment_right())?;
    dict.set_item("estimate", estimate.map(|estimate| estimate.jaccard))?;
    dict.set_item("shared", overlap.intersection)?;
    dict.set_item("shingles_a", overlap.left)?;
    dict.set_item("shingles_b", overlap.right)?;
    dict.set_item("similar", similar)?;
    let (parts, places) = parts.unzip();
    Ok((dict.unbind(), parts.unwrap_or_default(), places))
}

fn parts(a: &str, b: &str, params: &Params) -> (Vec<PartTuple>, [usize; 5]) {
    let found = Differences::between(a, b, params.shingle(), Some(PATIENCE));
    let mut parts = Vec::new();
    for stretch in &found.stretches {
        let [left, right] = found.texts(stretch);
        let kind = match (stretch.is_equal(), left.is_empty(), right.is_empty()) {
            (true, ..) => "equal",
            (_, true, _) => "insert",
            (_, _, true) => "delete",
            _ => "replace",
        };
        parts.push((kind, left.to_owned(), right.to_owned(), stretch.has_same_words()));
    }
    let Places { words, same_words, case, punctuation, white_space } = found.places;
    (parts, [words, same_words, case, punctuation, white_space])
}

/// Renders a page with both texts and their differences marked.
#[pyfunction]
pub(crate) fn comparison_page(
    py: Python<'_>,
    title: &str,
    names: [String; 2],
    sentences: Vec<String>,
    texts: [String; 2],
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let options = KeywordOptions::new(options)?;
    let normalization = options.normalization()?;
    let params = options.params(normalization)?;
    options.finish()?;
    let page = py.detach(|| {
        let [a, b] = &texts;
        let differences = Differences::between(a, b, params.shingle(), Some(PATIENCE));
        let names = names.each_ref().map(String::as_str);
        let page =
            ComparisonPage { title, names, sentences: &sentences, differences: &differences };
        let mut out = Vec::new();
        html::comparison(&mut out, &page).map(|()| out)
    });
    let page = page.map_err(|error| run_error(FindError::of_io(error)))?;
    String::from_utf8(page).map_err(|_| unexpected("the page of two texts is not UTF-8"))
}

/// The texts of a collection of at most two documents, the number of its documents, and its first
/// skipped record. A larger collection has no texts here.
#[derive(Default)]
struct PairTexts {
    found: Vec<String>,
    count: usize,
    skipped: Option<SkippedItem>,
}

impl DocumentSink for PairTexts {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        self.count += 1;
        if self.count <= 2 {
            self.found.push(document.text.to_owned());
        } else {
            self.found.clear();
        }
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), ReadError> {
        self.skipped.get_or_insert(skipped);
        Ok(())
    }
}

fn texts(collection: &Collection, watch: &Watch) -> Result<PairTexts, Error> {
    let mut texts = PairTexts::default();
    let mut scratch = ReadBuffers::default();
    while let Some(block) = collection.next_block_in_order()? {
        block.read(&mut scratch, &mut texts)?;
        watch.check_cancelled()?;
    }
    Ok(texts)
}
