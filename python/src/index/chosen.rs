//! Options that an index is created with: chosen when it is made, held against it when it is opened.

use crate::error::{OptionError, params_error};
use lookalike::core::error::ParamsError;
use lookalike::core::params::{
    Case, DEFAULT_SEED, Measure, Params, Scheme, ShingleRule, TokenRule, Wishes,
};
use lookalike::read::{NormalForm, Wording};
use lookalike::stop_words::stop_words;
use lookalike::store::Index;
use lookalike::store::settings::{Settings, Store};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};
use std::str::FromStr;

/// What the caller named; what is `None` was not.
pub(super) struct Chosen {
    threshold: Option<f64>,
    recall: Option<f64>,
    shingle: Option<ShingleRule>,
    tokens: Option<TokenRule>,
    case: Option<Case>,
    frequencies: Option<bool>,
    stop_words: Option<String>,
    normalize: Option<NormalForm>,
    language: Option<()>,
    segment: Option<()>,
    num_hashes: Option<usize>,
    bands: Option<usize>,
    rows: Option<usize>,
    scheme: Option<Scheme>,
    seed: Option<u64>,
    store: Option<Store>,
}

impl Chosen {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    /// `OptionError` for what an option cannot be.
    pub(super) fn of(arguments: &Bound<'_, PyDict>) -> PyResult<Self> {
        let given = Given { arguments };
        let chosen = Self {
            threshold: given.number("threshold", "a number above 0 and at most 1")?,
            recall: given.number("recall", "a number above 0 and below 1")?,
            shingle: given.parsed("shingle")?,
            tokens: given.parsed("tokens")?,
            case: given.parsed("case")?,
            frequencies: given.truth("frequencies")?,
            stop_words: given
                .text("stop_words", "the two-letter code of a language, such as en")?,
            normalize: given
                .one_of("normalize", &[("nfc", NormalForm::Nfc), ("nfkc", NormalForm::Nfkc)])?,
            language: given.one_of("language", &[("auto", ())])?,
            segment: given.one_of("segment", &[("dictionary", ())])?,
            num_hashes: given.number("num_hashes", "a whole number from 1 to 8192")?,
            bands: given.number("bands", "a whole number from 1")?,
            rows: given.number("rows", "a whole number from 1")?,
            scheme: given.parsed("scheme")?,
            seed: given.number("seed", "a whole number from 0 to 18446744073709551615")?,
            store: given.one_of("store", &STORES)?,
        };
        if chosen.language.is_some() && chosen.stop_words.is_some() {
            return Err(OptionError::new_err(
                "stop_words and language were both given, expected one of them: language=\"auto\" \
                 leaves out the stop words of each document's own language",
            ));
        }
        Ok(chosen)
    }

    /// The settings of a new index.
    ///
    /// # Errors
    /// `OptionError` for what is out of range.
    pub(super) fn settings(&self) -> PyResult<Settings> {
        self.with_aim(0.8, 0.99).map_err(|error| params_error(&error))
    }

    fn with_aim(&self, threshold: f64, recall: f64) -> Result<Settings, ParamsError> {
        let wording = Wording {
            normal_form: self.normalize,
            stop_words_by_language: self.language.is_some(),
            segment: self.segment.is_some(),
        };
        let tokens = if wording.segment { TokenRule::WordRuns } else { TokenRule::Words };
        let list = self.stop_words.as_deref().map(stop_words).transpose()?;
        let shingle = self.shingle.clone().unwrap_or_default();
        let shingle = shingle
            .with_tokens(self.tokens.unwrap_or(tokens))
            .with_case(self.case.unwrap_or(Case::Fold))
            .with_frequencies(self.frequencies.unwrap_or(false))
            .with_stop_words(list);
        let params = Params::new(&Wishes {
            shingle,
            measure: Measure::Jaccard,
            threshold: self.threshold.unwrap_or(threshold),
            exact: false,
            recall: self.recall.unwrap_or(recall),
            num_hashes: self.num_hashes,
            bands: self.bands,
            rows: self.rows,
            scheme: self.scheme.unwrap_or(Scheme::FastSimilarity),
            seed: self.seed.unwrap_or(DEFAULT_SEED),
        })?;
        Settings::new(&params, &wording.to_string(), self.store.unwrap_or(Store::Sets))
    }

    /// Refuses what an index has otherwise.
    ///
    /// # Errors
    /// `MismatchError` with both, `OptionError` for what is out of range.
    pub(super) fn expect(&self, index: &Index) -> PyResult<()> {
        let has = index.settings();
        let asked = self.with_aim(has.threshold, has.recall);
        let mut asked = asked.map_err(|error| params_error(&error))?;
        let is_worded =
            self.normalize.is_some() || self.language.is_some() || self.segment.is_some();
        keep(is_worded, &mut asked.wording, &has.wording);
        keep(self.shingle.is_some(), &mut asked.shingle, &has.shingle);
        let has_tokens = self.tokens.is_some() || self.segment.is_some();
        keep(has_tokens, &mut asked.tokens, &has.tokens);
        keep(self.case.is_some(), &mut asked.case, &has.case);
        keep(self.frequencies.is_some(), &mut asked.frequencies, &has.frequencies);
        keep(self.stop_words.is_some(), &mut asked.stop_words, &has.stop_words);
        keep(self.num_hashes.is_some(), &mut asked.num_hashes, &has.num_hashes);
        keep(self.bands.is_some(), &mut asked.bands, &has.bands);
        keep(self.rows.is_some(), &mut asked.rows, &has.rows);
        keep(self.scheme.is_some(), &mut asked.scheme, &has.scheme);
        keep(self.seed.is_some(), &mut asked.seed, &has.seed);
        keep(self.store.is_some(), &mut asked.store, &has.store);
        has.expect(&asked, index.name()).map_err(super::telling::told)
    }
}

const STORES: [(&str, Store); 3] =
    [("signatures", Store::Signatures), ("sets", Store::Sets), ("texts", Store::Texts)];

/// What was not said is what the index has.
fn keep<T: Clone>(said: bool, asked: &mut T, has: &T) {
    if !said {
        asked.clone_from(has);
    }
}

/// Arguments by their names; `None` counts as not given.
pub(super) struct Given<'a, 'py> {
    pub(super) arguments: &'a Bound<'py, PyDict>,
}

impl<'py> Given<'_, 'py> {
    fn get(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.arguments.get_item(name)?.filter(|value| !value.is_none()))
    }

    pub(super) fn number<T>(&self, name: &str, expected: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let Some(value) = self.get(name)? else { return Ok(None) };
        // A truth is a number to the interpreter.
        let number = if value.is_instance_of::<PyBool>() { None } else { value.extract().ok() };
        number.map(Some).ok_or_else(|| wrong(name, &value, expected))
    }

    pub(super) fn truth(&self, name: &str) -> PyResult<Option<bool>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        value.extract().map(Some).map_err(|_| wrong(name, &value, "True or False"))
    }

    pub(super) fn text(&self, name: &str, expected: &str) -> PyResult<Option<String>> {
        let Some(value) = self.get(name)? else { return Ok(None) };
        let text = value.cast::<PyString>().ok().and_then(|text| text.to_str().ok());
        let text = text.map(str::to_owned);
        text.map(Some).ok_or_else(|| wrong(name, &value, expected))
    }

    /// One text, or several; none where nothing was given.
    pub(super) fn texts(&self, name: &str, expected: &str) -> PyResult<Vec<String>> {
        let Some(value) = self.get(name)? else { return Ok(Vec::new()) };
        if value.is_instance_of::<PyString>() {
            return Ok(self.text(name, expected)?.into_iter().collect());
        }
        value.extract().map_err(|_| wrong(name, &value, expected))
    }

    pub(super) fn parsed<T: FromStr<Err = ParamsError>>(&self, name: &str) -> PyResult<Option<T>> {
        let text = self.text(name, "a str, as the command line takes it")?;
        text.map(|text| text.parse()).transpose().map_err(|error| params_error(&error))
    }

    pub(super) fn one_of<T: Copy>(
        &self,
        name: &str,
        possible: &[(&str, T)],
    ) -> PyResult<Option<T>> {
        let names: Vec<String> = possible.iter().map(|(name, _)| format!("{name:?}")).collect();
        let expected = names.join(" or ");
        let Some(text) = self.text(name, &expected)? else { return Ok(None) };
        let found = possible.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        found
            .map(Some)
            .ok_or_else(|| OptionError::new_err(format!("{name} is {text:?}, expected {expected}")))
    }
}

fn wrong(name: &str, value: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let shown =
        value.repr().map_or_else(|_| "?".to_owned(), |shown| shown.to_string_lossy().into());
    let shown: String = shown.chars().take(100).collect();
    OptionError::new_err(format!("{name} is {shown}, expected {expected}"))
}
