//! Converts the arguments of a call to options of the engine. The arguments have the names of the
//! command line's options, with `_` for `-`.

use crate::error::{OptionError, params_error, run_error};
use crate::input::compared_input::ComparedInput;
use crate::input::ids::row_digits;
use lookalike::contamination::{ContaminationOptions, MatchList};
use lookalike::core::error::ParamsError;
use lookalike::core::keep::{KeepPolicy, KeepRule};
use lookalike::core::params::{Case, Params, ParamsBuilder, ShingleRule, StopWords, TokenRule};
use lookalike::extract::{ExtractOptions, HtmlText, Limits};
use lookalike::find::parse_memory;
use lookalike::find::{FindOptions, Grouping, MAX_THREADS, Memory, PairList};
use lookalike::passages::{CutOptions, CutRule, DEFAULT_WORDS, PassageOptions};
use lookalike::read::{Normalization, ReadOptions, TextUnit, parse_delimiter};
use lookalike::stop_words::{listed_stop_words, stop_words};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The options of a call by name. Missing options and `None` mean the default.
pub(crate) struct KeywordOptions<'py>(Bound<'py, PyDict>);

/// The options of a run.
pub(crate) struct RunArguments {
    pub(crate) find: FindOptions,
    /// The builder of the parameters, if the run chooses bands and rows for its documents.
    pub(crate) auto: Option<ParamsBuilder>,
    pub(crate) reading: ReadOptions,
}

impl RunArguments {
    /// # Errors
    /// `OptionError` for invalid values and unknown options. Read errors for the files of
    /// `decisions` and `drop`.
    pub(crate) fn new(
        options: &Bound<'_, PyDict>,
        documents: &ComparedInput,
        reference: Option<&ComparedInput>,
    ) -> PyResult<Self> {
        let py = options.py();
        let options = KeywordOptions::new(options)?;
        let normalization = options.normalization()?;
        let (mut find, auto) = options.run(normalization)?;
        let reading = options.reading(normalization, crate::extraction::options(py)?)?;
        find.decisions = options.decisions(py, row_digits(documents, reference))?;
        find.drop = options.dropped(py, documents, reference)?;
        options.finish()?;
        let reading = find.read_options(reading);
        Ok(Self { find, auto, reading })
    }
}

impl<'py> KeywordOptions<'py> {
    /// Copies all options. Reading an option removes it from the copy, so that
    /// [`finish`](Self::finish) finds the unknown ones.
    pub(crate) fn new(options: &Bound<'py, PyDict>) -> PyResult<Self> {
        Ok(Self(options.copy()?))
    }

    /// Rejects options that were not read.
    pub(crate) fn finish(self) -> PyResult<()> {
        match self.0.keys().iter().next() {
            None => Ok(()),
            Some(name) => Err(OptionError::new_err(format!("unknown option {name}"))),
        }
    }

    pub(crate) fn take(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = self.0.get_item(name)?;
        if value.is_some() {
            self.0.del_item(name)?;
        }
        Ok(value.filter(|value| !value.is_none()))
    }

    /// Reads a number, which may be an integer.
    pub(crate) fn number(&self, name: &str) -> PyResult<Option<f64>> {
        let Some(value) = self.take(name)? else { return Ok(None) };
        // Number types of other packages and booleans have `__float__`; booleans are not accepted.
        let is_number = !value.is_instance_of::<PyBool>() && value.hasattr("__float__")?;
        let number = is_number.then(|| value.extract::<f64>().ok()).flatten();
        number.map(Some).ok_or_else(|| wrong(name, "a number", &value))
    }

    /// Reads an integer of at least 0.
    pub(crate) fn integer(&self, name: &str) -> PyResult<Option<u64>> {
        let Some(value) = self.take(name)? else { return Ok(None) };
        let is_bool = value.is_instance_of::<PyBool>();
        let number = (!is_bool).then(|| value.extract::<u64>().ok()).flatten();
        number.map(Some).ok_or_else(|| wrong(name, "a whole number from 0 to 2**64 - 1", &value))
    }

    /// Reads an integer of at least 1.
    pub(crate) fn count(&self, name: &str) -> PyResult<Option<NonZeroUsize>> {
        let Some(number) = self.integer(name)? else { return Ok(None) };
        let count = usize::try_from(number).ok().and_then(NonZeroUsize::new);
        let refused = || OptionError::new_err(format!("{name}: expected 1 or more, got {number}"));
        count.map(Some).ok_or_else(refused)
    }

    /// Reads a boolean, which is false by default.
    pub(crate) fn flag(&self, name: &str) -> PyResult<bool> {
        let Some(value) = self.take(name)? else { return Ok(false) };
        value.extract().map_err(|_| wrong(name, "True or False", &value))
    }

    pub(crate) fn text(&self, name: &str) -> PyResult<Option<String>> {
        let Some(value) = self.take(name)? else { return Ok(None) };
        value.extract().map(Some).map_err(|_| wrong(name, "a str", &value))
    }

    pub(crate) fn path(&self, name: &str) -> PyResult<Option<PathBuf>> {
        let Some(value) = self.take(name)? else { return Ok(None) };
        value.extract().map(Some).map_err(|_| wrong(name, "a path", &value))
    }

    /// Reads a value of one of the engine's enumerations.
    pub(crate) fn choice<T: FromStr<Err = ParamsError>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        text.parse().map(Some).map_err(|error| params_error(&error))
    }

    /// Reads one of `words`. Returns its position in the list.
    pub(crate) fn word(&self, name: &str, words: &[&str]) -> PyResult<Option<usize>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let place = words.iter().position(|word| *word == text);
        let expected = || words.iter().map(|w| format!("'{w}'")).collect::<Vec<_>>().join(" or ");
        let refused =
            || OptionError::new_err(format!("{name}: expected {}, got '{text}'", expected()));
        place.map(Some).ok_or_else(refused)
    }

    /// Reads a number of bytes: an integer, or a string such as `512MiB`.
    pub(crate) fn bytes(&self, name: &str) -> PyResult<Option<u64>> {
        let Some(value) = self.take(name)? else { return Ok(None) };
        if let Ok(text) = value.extract::<String>() {
            return parse_memory(&text).map(Some).map_err(|error| match error {
                ParamsError::Parse { expected, .. } => wrong(name, expected, &value),
                error => params_error(&error),
            });
        }
        let bytes = value.extract::<u64>().ok().filter(|_| !value.is_instance_of::<PyBool>());
        bytes.map(Some).ok_or_else(|| wrong(name, "bytes, or a text such as '512MiB'", &value))
    }

    /// Reads the normal forms of all texts: one form, or a list.
    pub(crate) fn normalization(&self) -> PyResult<Normalization> {
        let Some(value) = self.take("normalize")? else { return Ok(Normalization::default()) };
        let refused = || {
            let expected = "'nfc', 'nfkc', 'fold', 'unaccent', 'language:auto', \
                            'segment:dictionary', or a list of these";
            wrong("normalize", expected, &value)
        };
        let parts = text_list(&value).ok_or_else(refused)?;
        parts.join(", ").parse().map_err(|_| refused())
    }

    /// Reads a string, or a list of strings.
    fn texts(&self, name: &str) -> PyResult<Vec<String>> {
        let Some(value) = self.take(name)? else { return Ok(Vec::new()) };
        text_list(&value).ok_or_else(|| wrong(name, "a str, or a list of them", &value))
    }

    /// Reads the definition of a shingle: the options `shingle`, `tokens`, `case`, `frequencies`
    /// and `stop_words`.
    pub(crate) fn shingle(&self, normalization: Normalization) -> PyResult<ShingleRule> {
        let list = self.take("stop_words")?;
        if list.is_some() && normalization.stop_words_by_language {
            let text = "stop_words names a list for all documents, normalize='language:auto' \
                        takes the list of each document's language; use one of the two";
            return Err(OptionError::new_err(text));
        }
        let list = list.map(|list| stop_word_list(&list)).transpose()?;
        let tokens = if normalization.segment { TokenRule::WordRuns } else { TokenRule::Words };
        let rule = self.choice::<ShingleRule>("shingle")?.unwrap_or_default();
        let rule = rule
            .with_tokens(self.choice("tokens")?.unwrap_or(tokens))
            .with_frequencies(self.flag("frequencies")?)
            .with_stop_words(list);
        Ok(match self.choice("case")? {
            Some(case) => rule.with_case(case),
            None => rule,
        })
    }

    /// Returns true if the option `bands` is 'auto', and removes it. The run then chooses bands and
    /// rows for its documents.
    fn bands_auto(&self) -> PyResult<bool> {
        let bands = self.0.get_item("bands")?;
        let is_auto =
            |value: Bound<'_, PyAny>| value.extract::<String>().is_ok_and(|v| v == "auto");
        if !bands.is_some_and(is_auto) {
            return Ok(false);
        }
        self.take("bands")?;
        if self.0.get_item("rows")?.is_some_and(|rows| !rows.is_none()) {
            return Err(params_error(&ParamsError::AutoBandsWithRows));
        }
        Ok(true)
    }

    fn bands(&self) -> PyResult<Option<usize>> {
        let bands = self.0.get_item("bands")?;
        if let Some(value) = bands.filter(|value| value.extract::<String>().is_ok()) {
            let expected = "a whole number, or 'auto' for find, dedup and tune";
            return Err(wrong("bands", expected, &value));
        }
        Ok(self.count("bands")?.map(NonZeroUsize::get))
    }

    /// Reads the builder of [`Params`], and whether the run chooses bands and
    /// rows for its documents.
    pub(crate) fn builder_or_auto(&self, shingle: ShingleRule) -> PyResult<(ParamsBuilder, bool)> {
        let auto = self.bands_auto()?;
        Ok((self.builder(shingle)?, auto))
    }

    /// Reads the builder of [`Params`].
    pub(crate) fn builder(&self, shingle: ShingleRule) -> PyResult<ParamsBuilder> {
        let default = ParamsBuilder::default();
        let count = |name| Ok::<_, PyErr>(self.count(name)?.map(NonZeroUsize::get));
        Ok(ParamsBuilder {
            shingle,
            measure: self.choice("measure")?.unwrap_or(default.measure),
            threshold: self.number("threshold")?.unwrap_or(default.threshold),
            exact: self.flag("exact")?,
            recall: self.number("recall")?.unwrap_or(default.recall),
            num_hashes: count("num_hashes")?,
            bands: self.bands()?,
            rows: count("rows")?,
            scheme: self.choice("scheme")?.unwrap_or(default.scheme),
            seed: self.integer("seed")?.unwrap_or(default.seed),
        })
    }

    /// Reads the parameters of similarity.
    pub(crate) fn params(&self, normalization: Normalization) -> PyResult<Params> {
        let builder = self.builder(self.shingle(normalization)?)?;
        Params::new(&builder).map_err(|error| params_error(&error))
    }

    /// Reads the options of a run. Also returns the builder of the parameters, if the run chooses
    /// bands and rows for its documents.
    pub(crate) fn run(
        &self,
        normalization: Normalization,
    ) -> PyResult<(FindOptions, Option<ParamsBuilder>)> {
        let (builder, auto) = self.builder_or_auto(self.shingle(normalization)?)?;
        let params = Params::new(&builder).map_err(|error| params_error(&error))?;
        if auto && params.exact() {
            return Err(params_error(&ParamsError::AutoBandsUnused));
        }
        Ok((self.find(params)?, auto.then_some(builder)))
    }

    /// Reads the number of threads. The default is one per processor, at most [`MAX_THREADS`].
    pub(crate) fn threads(&self) -> PyResult<NonZeroUsize> {
        self.threads_or(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }

    /// Like [`threads`](Self::threads), with another default.
    pub(crate) fn threads_or(
        &self,
        default: impl FnOnce() -> NonZeroUsize,
    ) -> PyResult<NonZeroUsize> {
        let Some(threads) = self.count("threads")? else {
            let most = NonZeroUsize::new(MAX_THREADS);
            return Ok(most.map_or(NonZeroUsize::MIN, |most| most.min(default())));
        };
        if threads.get() > MAX_THREADS {
            let text = format!("threads: expected 1 to {MAX_THREADS}, got {threads}");
            return Err(OptionError::new_err(text));
        }
        Ok(threads)
    }

    /// Reads the options of a run with the given parameters.
    pub(crate) fn find(&self, params: Params) -> PyResult<FindOptions> {
        let mut options = FindOptions::new(params);
        let keep = self.keep()?;
        options.keep_by_inputs = keep.is_none();
        options.keep = keep.unwrap_or_default();
        if let Some(grouping) = self.word("group", &Grouping::ALL.map(Grouping::name))? {
            options.grouping = Grouping::ALL[grouping];
        }
        let estimates = self.flag("estimates")?;
        options.pairs = PairList::new(self.flag("pairs")?, estimates).map_err(run_error)?;
        options.reference_pairs = self.flag("reference_pairs")?;
        options.source_field = self.text("source_field")?;
        options.path_field = self.text("path_field")?;
        options.memory = self.memory()?;
        options.threads = self.threads()?;
        Ok(options)
    }

    fn keep(&self) -> PyResult<Option<KeepPolicy>> {
        let rules = self.take("keep")?.map(|keep| keep_rules(&keep)).transpose()?;
        Ok(rules.map(KeepPolicy::new))
    }

    /// Reads the memory limit and the folder of temporary files.
    pub(crate) fn memory(&self) -> PyResult<Memory> {
        let temp_dir = self.path("temp_dir")?.unwrap_or_else(std::env::temp_dir);
        let limit = self.bytes("memory")?;
        Ok(Memory { limit, temp_dir: Some(temp_dir), ..Memory::default() })
    }

    /// Reads the options of a search for passages.
    pub(crate) fn passages(&self) -> PyResult<PassageOptions> {
        let min_words = self.integer("min_words")?.map_or(DEFAULT_WORDS, |words| words as usize);
        let tokens = self.choice("tokens")?.unwrap_or(TokenRule::Words);
        let case = self.choice("case")?.unwrap_or(Case::Fold);
        let options = PassageOptions::new(min_words, tokens, case);
        let options = options
            .map_err(|error| params_error(&error))?
            .with_keep(self.keep()?.unwrap_or_default());
        let options = options.with_source_field(self.text("source_field")?);
        Ok(options.with_memory(self.memory()?).with_threads(self.threads()?))
    }

    /// Reads the rule for cutting repeated passages.
    pub(crate) fn cuts(&self) -> PyResult<CutOptions> {
        const UNITS: [&str; 4] = ["word", "line", "paragraph", "sentence"];
        let unit = self.word("at", &UNITS)?.filter(|unit| *unit > 0);
        let unit = unit.map(|unit| UNITS[unit].parse::<TextUnit>()).transpose();
        let min_documents = self.integer("min_documents")?;
        let min_share = self.number("min_share")?;
        let per_source = self.flag("per_source")?;
        if let Some(got) = min_documents.filter(|least| *least < 2) {
            let text = format!(
                "min_documents: expected 2 or more, got {got}; a repeated passage is in at least 2 \
                 documents"
            );
            return Err(OptionError::new_err(text));
        }
        if let Some(got) = min_share.filter(|share| !(*share > 0.0 && *share <= 1.0)) {
            let text = format!(
                "min_share: expected a number above 0 and at most 1, such as 0.3, got {got}"
            );
            return Err(OptionError::new_err(text));
        }
        let is_boilerplate = min_documents.is_some() || min_share.is_some();
        if per_source && !is_boilerplate {
            let text = "per_source is for boilerplate only: add min_documents or min_share";
            return Err(OptionError::new_err(text));
        }
        let rule = if is_boilerplate {
            CutRule::Boilerplate {
                min_documents: min_documents.unwrap_or(2),
                min_share: min_share.unwrap_or(0.0),
                per_source,
            }
        } else {
            CutRule::Copies
        };
        let unit = unit.map_err(|error| params_error(&error))?;
        Ok(CutOptions { rule, unit, min_left: self.integer("min_left")?.unwrap_or(1) })
    }

    /// Reads the options of a contamination check.
    pub(crate) fn contamination(&self) -> PyResult<ContaminationOptions> {
        let default = ContaminationOptions::new().map_err(|error| params_error(&error))?;
        let tokens = self.choice("tokens")?.unwrap_or(TokenRule::Words);
        let case = self.choice("case")?.unwrap_or(Case::Fold);
        Ok(ContaminationOptions {
            rule: default.rule.with_tokens(tokens).with_case(case),
            ngram: self.integer("ngram")?.map_or(default.ngram, |ngram| ngram as usize),
            threshold: self.number("threshold")?.unwrap_or(default.threshold),
            memory: self.memory()?,
            threads: self.threads()?,
            kernel: default.kernel,
            // The caller may later request the page with the matches, which contains excerpts.
            matches: MatchList::WithExcerpts,
        })
    }

    /// Reads the options for reading files. `extract` selects the process that
    /// parses untrusted files.
    pub(crate) fn reading(
        &self,
        normalization: Normalization,
        extract: ExtractOptions,
    ) -> PyResult<ReadOptions> {
        let default = ReadOptions::default();
        let format = self.text("format")?.map(|text| text.parse()).transpose();
        let delimiter = self.text("delimiter")?.map(|text| parse_delimiter(&text)).transpose();
        let all_files = self.flag("all_files")?;
        let mut extract = self.extraction(extract)?;
        let max_expanded = self.limits(&mut extract.limits)?;
        Ok(ReadOptions {
            format: format.map_err(crate::error::read_error)?,
            id_field: self.text("id_field")?.unwrap_or(default.id_field),
            text_field: self.text("text_field")?.unwrap_or(default.text_field),
            delimiter: delimiter.map_err(crate::error::read_error)?,
            line_ids: self.flag("line_ids")?,
            skip_bad: self.flag("skip_bad")?,
            hidden: all_files,
            ignore_files: !all_files,
            follow_links: self.flag("follow")?,
            include: self.texts("include")?,
            exclude: self.texts("exclude")?,
            types: Vec::new(),
            leave_out: Vec::new(),
            fields: Vec::new(),
            encoding: self.text("encoding")?,
            extract,
            max_expanded,
            normalization,
            shingle: None,
            unit: self.choice("unit")?.unwrap_or_default(),
        })
    }

    fn extraction(&self, mut options: ExtractOptions) -> PyResult<ExtractOptions> {
        const KEEP: &[&str] = &["keep", "cut"];
        if let Some(html) = self.word("html", &["main", "all"])? {
            options.html = [HtmlText::Main, HtmlText::All][html];
        }
        if let Some(word) = self.word("quotes", KEEP)? {
            options.quotes = KEEP[word] == "keep";
        }
        if let Some(word) = self.word("mail_signatures", KEEP)? {
            options.signatures = KEEP[word] == "keep";
        }
        options.attachments = self.flag("attachments")?;
        Ok(options)
    }

    /// Reads the dictionary `max` and sets its limits. Returns the limit of expanded content in
    /// bytes if the dictionary contains it.
    fn limits(&self, limits: &mut Limits) -> PyResult<Option<u64>> {
        let Some(value) = self.take("max")? else { return Ok(None) };
        let expected = "a dict with some of 'file_size', 'expanded', 'depth', 'members', 'pages' \
                        and 'seconds'";
        let named = value.cast::<PyDict>().map_err(|_| wrong("max", expected, &value))?;
        let named = Self::new(named)?;
        let expanded = named.bytes("expanded")?;
        limits.bytes = named.bytes("file_size")?.unwrap_or(limits.bytes);
        limits.expanded = expanded.unwrap_or(limits.expanded);
        let small = |name: &str, default: u32| {
            let Some(number) = named.integer(name)? else { return Ok(default) };
            let refused = |_| {
                let text = format!("max: expected at most {} {name}, got {number}", u32::MAX);
                OptionError::new_err(text)
            };
            u32::try_from(number).map_err(refused)
        };
        limits.depth = small("depth", limits.depth)?;
        limits.members = small("members", limits.members)?;
        limits.pages = small("pages", limits.pages)?;
        if let Some(seconds) = named.integer("seconds")? {
            limits.time = Duration::from_secs(seconds);
        }
        if named.0.is_empty() { Ok(expanded) } else { Err(wrong("max", expected, &value)) }
    }
}

/// Converts a string or a list of strings.
fn text_list(value: &Bound<'_, PyAny>) -> Option<Vec<String>> {
    value.extract::<String>().map(|text| vec![text]).or_else(|_| value.extract()).ok()
}

/// Converts a keep rule, or a list of rules, which apply in order.
fn keep_rules(value: &Bound<'_, PyAny>) -> PyResult<Vec<KeepRule>> {
    let expected = "a rule such as 'longest', or a list of rules";
    let texts = text_list(value).ok_or_else(|| wrong("keep", expected, value))?;
    let rules: Result<Vec<KeepRule>, _> = texts.iter().map(|text| text.parse()).collect();
    rules.map_err(|error| params_error(&error))
}

/// Returns the built-in stop words of a language, or the stop words of a list.
fn stop_word_list(value: &Bound<'_, PyAny>) -> PyResult<StopWords> {
    if let Ok(language) = value.extract::<String>() {
        return stop_words(&language).map_err(|error| params_error(&error));
    }
    let expected = "the code of a language such as 'en', or a list of words";
    let words: Vec<String> = value.extract().map_err(|_| wrong("stop_words", expected, value))?;
    Ok(listed_stop_words("list", &words))
}

fn wrong(name: &str, expected: &str, got: &Bound<'_, PyAny>) -> PyErr {
    let text = got.repr().map_or_else(|_| "something else".to_owned(), |text| text.to_string());
    let kind = got.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
    let text: String = text.chars().take(80).collect();
    OptionError::new_err(format!("{name}: expected {expected}, got {text} ({kind})"))
}
