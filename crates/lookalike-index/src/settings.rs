//! How documents are shingled, signed and compared. The settings are stored with the index and
//! verified when it is opened, because signatures with other settings cannot be compared.

use crate::error::IndexError;
use crate::original::{DEFAULT_ORIGINAL_BYTES, MAX_ORIGINAL_BYTES};
use crate::query::containment::{self, MAX_ANCHORS, anchors_for};
use crate::sketches::{MAX_NUMBERS, SketchSettings};
use lookalike_core::curve;
use lookalike_core::error::ParamsError;
use lookalike_core::parameter::Parameter;
use lookalike_core::params::{
    Case, Measure, Params, ParamsBuilder, RecallCaveat, Scheme, ShingleRule, StopWords, TokenRule,
};
use serde::{Deserialize, Serialize};

/// The version of the stored settings in every backend. Programs reject any other version.
pub const FORMAT_VERSION: u32 = 1;

/// The remedy for inconsistent settings.
const REMEDY: &str = "restore a backup, or create the index again";

/// The stored content of a document in addition to its signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoredContent {
    /// Nothing: similarities are estimates.
    Signatures,
    /// Its shingle set: similarities are exact.
    Sets,
    /// Its shingle set and its text, compressed: differences can be shown.
    Texts,
    /// Its shingle set, its text, and the bytes from which each of its versions was read.
    Originals,
}

impl StoredContent {
    /// Returns true if shingle sets are stored.
    pub fn has_sets(self) -> bool {
        self != Self::Signatures
    }

    /// Returns true if texts are stored.
    pub fn has_texts(self) -> bool {
        matches!(self, Self::Texts | Self::Originals)
    }

    /// Returns true if originals are stored.
    pub fn has_originals(self) -> bool {
        self == Self::Originals
    }

    /// Checks that the index `index` stores originals.
    ///
    /// # Errors
    /// [`IndexError::NoOriginals`].
    pub(crate) fn expect_originals(self, index: &str) -> Result<(), IndexError> {
        if self.has_originals() {
            return Ok(());
        }
        Err(IndexError::NoOriginals { index: index.to_owned() })
    }
}

/// The parameters that an index was created with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IndexSettings {
    /// [`FORMAT_VERSION`].
    pub version: u32,
    /// Unit and size of a shingle, such as `words:5`.
    pub shingle: String,
    /// The rule for tokens, such as `words`.
    pub tokens: String,
    /// `fold` or `keep`.
    pub case: String,
    /// Whether repeats of a shingle count as different shingles.
    pub frequencies: bool,
    /// Words that are removed.
    pub stop_words: Option<StoredStopWords>,
    /// The options of text normalization, in one canonical spelling, such as `nfc`.
    #[serde(rename = "wording")]
    pub normalization: String,
    /// The method of computing signatures, such as `fss`.
    pub scheme: String,
    /// Random seed of the hash functions.
    pub seed: u64,
    /// Values in a signature.
    pub num_hashes: usize,
    /// Bands of a signature.
    pub bands: usize,
    /// Rows of a band.
    pub rows: usize,
    /// Default threshold of queries.
    pub threshold: f64,
    /// The recall at this threshold for which bands and rows were chosen.
    pub recall: f64,
    /// The stored content of a document in addition to its signature.
    pub store: StoredContent,
    /// The settings of an index of sketches; `None` for an index of documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sketches: Option<SketchSettings>,
    /// How candidates for containment are found; `None` if the threshold is a Jaccard similarity.
    /// An index for containment does not search bands, and its signatures have one value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containment: Option<ContainmentSettings>,
    /// The limit on stored originals, if `store` is `originals`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub originals: Option<OriginalSettings>,
}

/// The limit on stored originals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OriginalSettings {
    /// Maximum size of an original in bytes, 1 to [`MAX_ORIGINAL_BYTES`]. Documents with greater
    /// originals are rejected.
    pub max_bytes: u64,
}

impl Default for OriginalSettings {
    fn default() -> Self {
        Self { max_bytes: DEFAULT_ORIGINAL_BYTES }
    }
}

/// How candidates for containment are found; see [`crate::query::containment`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContainmentSettings {
    /// Number of shingles that represent a document.
    pub anchors: usize,
}

/// A list of stop words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredStopWords {
    /// Its name.
    pub name: String,
    /// Token hashes, ascending.
    pub hashes: Vec<u64>,
}

impl IndexSettings {
    /// Settings of a new index.
    ///
    /// # Errors
    /// [`ParamsError::ExactIndex`] for parameters with exact candidates, which an index does not
    /// support. For containment, [`ParamsError::ContainmentNeedsSets`] without shingle sets, and
    /// [`ParamsError::ContainmentTooLow`] if the recall is unreachable.
    pub fn new(
        params: &Params,
        normalization: &str,
        store: StoredContent,
    ) -> Result<Self, ParamsError> {
        let containment = match params.measure() {
            Measure::Jaccard => None,
            Measure::Containment => Some(ContainmentSettings::new(params, store)?),
        };
        if params.exact() && containment.is_none() {
            return Err(ParamsError::ExactIndex);
        }
        let rule = params.shingle();
        let stop_words = rule.stop_words().map(|list| StoredStopWords {
            name: list.name().to_owned(),
            hashes: list.hashes().to_vec(),
        });
        Ok(Self {
            version: FORMAT_VERSION,
            shingle: ShingleRule::new(rule.unit(), rule.size())?.to_string(),
            tokens: rule.tokens().to_string(),
            case: rule.case().to_string(),
            frequencies: rule.frequencies(),
            stop_words,
            normalization: normalization.to_owned(),
            scheme: params.scheme().to_string(),
            seed: params.seed(),
            num_hashes: if containment.is_some() { 1 } else { params.num_hashes() },
            bands: if containment.is_some() { 1 } else { params.bands() },
            rows: if containment.is_some() { 1 } else { params.rows() },
            threshold: params.threshold(),
            recall: params.recall(),
            store,
            sketches: None,
            containment,
            originals: store.has_originals().then(OriginalSettings::default),
        })
    }

    /// Sets the maximum size of an original in bytes.
    ///
    /// # Errors
    /// [`ParamsError::Parse`] for a limit that is out of range, and for an index without originals.
    pub fn with_max_original(mut self, max_bytes: u64) -> Result<Self, ParamsError> {
        let wrong = |got: String, expected| ParamsError::Parse {
            parameter: Parameter::Store,
            got,
            expected,
        };
        let Some(originals) = &mut self.originals else {
            let got = format!("{:?} with a limit on originals", self.store).to_lowercase();
            return Err(wrong(got, "originals"));
        };
        if !(1..=MAX_ORIGINAL_BYTES).contains(&max_bytes) {
            let got = format!("originals of at most {max_bytes} bytes");
            return Err(wrong(got, "originals of at most 1 to 536870912 bytes"));
        }
        originals.max_bytes = max_bytes;
        Ok(self)
    }

    /// The parameters of the settings.
    ///
    /// # Errors
    /// [`ParamsError`] for stored settings that are out of range, and for settings of sketches.
    pub fn params(&self) -> Result<Params, ParamsError> {
        if self.sketches.is_some() {
            return Err(ParamsError::Parse {
                parameter: Parameter::Store,
                got: "sketches".to_owned(),
                expected: "signatures, sets or texts, which an index of documents has",
            });
        }
        let stop_words = self.stop_words.as_ref();
        let shingle = self
            .shingle
            .parse::<ShingleRule>()?
            .with_tokens(self.tokens.parse::<TokenRule>()?)
            .with_case(self.case.parse::<Case>()?)
            .with_frequencies(self.frequencies)
            .with_stop_words(
                stop_words.map(|list| StopWords::from_hashes(&list.name, list.hashes.clone())),
            );
        let has_bands = self.containment.is_none();
        Params::new(&ParamsBuilder {
            shingle,
            measure: self.measure(),
            threshold: self.threshold,
            exact: false,
            recall: self.recall,
            num_hashes: has_bands.then_some(self.num_hashes),
            bands: has_bands.then_some(self.bands),
            rows: has_bands.then_some(self.rows),
            scheme: self.scheme.parse::<Scheme>()?,
            seed: self.seed,
        })
    }

    /// The measure of the threshold.
    pub fn measure(&self) -> Measure {
        if self.containment.is_some() { Measure::Containment } else { Measure::Jaccard }
    }

    /// The minimum probability that a document with this similarity is a candidate.
    pub fn predicted_recall(&self, similarity: f64) -> f64 {
        match self.containment {
            Some(ContainmentSettings { anchors }) => {
                containment::candidate_probability(similarity, anchors)
            }
            None => curve::candidate_probability(similarity, self.bands, self.rows),
        }
    }

    /// A reason why [`predicted_recall`](Self::predicted_recall) may not be reached.
    pub fn recall_caveat(&self) -> Option<RecallCaveat> {
        let has_bands = self.containment.is_none() && self.sketches.is_none();
        let scheme = self.scheme.parse::<Scheme>().ok().filter(|_| has_bands);
        scheme.and_then(RecallCaveat::of)
    }

    /// Checks that signatures with the settings `requested` can be compared with the signatures of
    /// the index, and that both store the same content. Threshold and recall may differ, because
    /// they belong to a query.
    ///
    /// # Errors
    /// [`IndexError::OtherSettings`] with the first difference.
    pub fn check_compatible(&self, requested: &Self, index: &str) -> Result<(), IndexError> {
        let name = |list: &Option<StoredStopWords>| {
            list.as_ref().map_or("none".to_owned(), |list| list.name.clone())
        };
        let text = |value: &dyn std::fmt::Display| value.to_string();
        let pairs = [
            (Parameter::Shingle, text(&self.shingle), text(&requested.shingle)),
            (Parameter::Tokens, text(&self.tokens), text(&requested.tokens)),
            (Parameter::Case, text(&self.case), text(&requested.case)),
            (Parameter::Frequencies, text(&self.frequencies), text(&requested.frequencies)),
            (Parameter::StopWords, name(&self.stop_words), name(&requested.stop_words)),
            (Parameter::Normalization, text(&self.normalization), text(&requested.normalization)),
            (Parameter::Scheme, text(&self.scheme), text(&requested.scheme)),
            (Parameter::Seed, text(&self.seed), text(&requested.seed)),
            (Parameter::Measure, text(&self.measure()), text(&requested.measure())),
            (Parameter::NumHashes, text(&self.num_hashes), text(&requested.num_hashes)),
            (Parameter::Bands, text(&self.bands), text(&requested.bands)),
            (Parameter::Rows, text(&self.rows), text(&requested.rows)),
            (Parameter::Store, format!("{:?}", self.store), format!("{:?}", requested.store)),
        ];
        let differs = pairs.into_iter().find(|(_, stored, requested)| stored != requested);
        let differs = differs.or_else(|| {
            let stored = &self.stop_words;
            let requested = &requested.stop_words;
            (stored != requested)
                .then(|| (Parameter::StopWords, name(stored), "other words".into()))
        });
        let Some((parameter, index_has, requested)) = differs else { return Ok(()) };
        Err(IndexError::OtherSettings {
            index: index.to_owned(),
            parameter,
            index_has: index_has.to_lowercase(),
            requested: requested.to_lowercase(),
        })
    }

    /// The settings as JSON, in their stored form.
    ///
    /// # Errors
    /// [`IndexError::NotAnIndex`] for values that JSON cannot represent.
    pub fn to_json(&self, index: &str) -> Result<String, IndexError> {
        serde_json::to_string(self).map_err(|error| {
            IndexError::not_an_index(index, format!("its settings cannot be written: {error}"))
        })
    }

    /// Parses stored settings. Checks the version first.
    ///
    /// # Errors
    /// [`IndexError::Version`] for settings of another version, [`IndexError::NotAnIndex`] for
    /// anything other than settings.
    pub fn from_json(json: &str, index: &str) -> Result<Self, IndexError> {
        #[derive(Deserialize)]
        struct SettingsVersion {
            version: u32,
        }
        let not = |error: serde_json::Error| {
            IndexError::not_an_index(index, format!("its settings cannot be read: {error}"))
        };
        let SettingsVersion { version: got } = serde_json::from_str(json).map_err(not)?;
        if got != FORMAT_VERSION {
            let index = index.to_owned();
            let expected = FORMAT_VERSION;
            return Err(IndexError::Version { index, got, expected });
        }
        let settings: Self = serde_json::from_str(json).map_err(not)?;
        match settings.containment_problem().or_else(|| settings.originals_problem()) {
            None => Ok(settings),
            Some(problem) => Err(IndexError::not_an_index(
                index,
                format!("its settings contain {problem}; {REMEDY}"),
            )),
        }
    }

    /// Returns the problem of the member `containment`, if there is one.
    fn containment_problem(&self) -> Option<String> {
        let ContainmentSettings { anchors } = self.containment?;
        if self.sketches.is_some() {
            let problem = "both `containment` and `sketches`, but only one of them is allowed";
            return Some(problem.to_owned());
        }
        if !self.store.has_sets() || self.num_hashes != 1 {
            let needed = "`containment`, which requires shingle sets and a `num_hashes` of 1";
            return Some(needed.to_owned());
        }
        let is_in_range = (1..=MAX_ANCHORS).contains(&anchors);
        (!is_in_range).then(|| format!("{anchors} anchors, expected 1 to {MAX_ANCHORS}"))
    }

    /// Returns the problem of the member `originals`, if there is one. An index with originals
    /// needs this member.
    fn originals_problem(&self) -> Option<String> {
        match (self.store.has_originals(), self.originals) {
            (false, None) => None,
            (false, Some(_)) => {
                Some("a member `originals`, but `store` is not `originals`".to_owned())
            }
            (true, None) => {
                Some("`store` set to `originals`, but no member `originals`".to_owned())
            }
            (true, Some(_)) if self.sketches.is_some() => {
                Some("both `originals` and `sketches`, but only one of them is allowed".to_owned())
            }
            (true, Some(OriginalSettings { max_bytes })) => {
                let is_in_range = (1..=MAX_ORIGINAL_BYTES).contains(&max_bytes);
                (!is_in_range).then(|| {
                    format!(
                        "a limit of {max_bytes} bytes on originals, expected 1 to \
                         {MAX_ORIGINAL_BYTES}"
                    )
                })
            }
        }
    }
}

impl ContainmentSettings {
    fn new(params: &Params, store: StoredContent) -> Result<Self, ParamsError> {
        if store == StoredContent::Signatures {
            return Err(ParamsError::ContainmentNeedsSets);
        }
        let threshold = params.threshold();
        let recall = params.recall();
        let anchors = anchors_for(threshold, recall);
        anchors.map(|anchors| Self { anchors }).ok_or(ParamsError::ContainmentTooLow {
            threshold,
            recall,
            most: MAX_ANCHORS,
        })
    }
}

impl IndexSettings {
    /// Settings of a new index of sketches with `bands` bands.
    pub fn of_sketches(bands: usize, sketches: SketchSettings) -> Self {
        let rows = sketches.words();
        Self {
            version: FORMAT_VERSION,
            shingle: String::new(),
            tokens: String::new(),
            case: String::new(),
            frequencies: false,
            stop_words: None,
            normalization: String::new(),
            scheme: String::new(),
            seed: 0,
            num_hashes: bands.saturating_mul(rows),
            bands,
            rows,
            threshold: 0.0,
            recall: 0.0,
            store: StoredContent::Signatures,
            sketches: Some(sketches),
            containment: None,
            originals: None,
        }
    }

    /// Checks that the settings are valid for an index of documents or of sketches.
    ///
    /// # Errors
    /// [`IndexError::Params`], and [`IndexError::NotAnIndex`] for invalid settings of sketches.
    pub fn check(&self, index: &str) -> Result<(), IndexError> {
        if self.sketches.is_none() {
            return Ok(self.params().map(drop)?);
        }
        self.check_sketches(index)
    }

    /// Checks the settings of an index of sketches. Accepts all settings of an index of documents.
    ///
    /// # Errors
    /// [`IndexError::NotAnIndex`].
    pub(crate) fn check_sketches(&self, index: &str) -> Result<(), IndexError> {
        let Some(sketches) = &self.sketches else { return Ok(()) };
        let is_whole = !sketches.halved || sketches.band_bytes % 8 == 0;
        let used = self.bands.checked_mul(sketches.rows);
        let fits = used.is_some_and(|used| (1..=sketches.num_perm).contains(&used));
        if is_whole
            && fits
            && self.num_hashes <= MAX_NUMBERS
            && *self == Self::of_sketches(self.bands, sketches.clone())
        {
            return Ok(());
        }
        Err(IndexError::NotAnIndex {
            index: index.to_owned(),
            why: format!(
                "its settings for sketches are inconsistent: bands {}, band_bytes {}, num_hashes \
                 {}, num_perm {}; {REMEDY}",
                self.bands, sketches.band_bytes, self.num_hashes, sketches.num_perm
            ),
        })
    }

    /// Checks that the index stores documents.
    ///
    /// # Errors
    /// [`IndexError::OfSketches`].
    pub fn expect_documents(&self, index: &str) -> Result<(), IndexError> {
        match self.sketches {
            None => Ok(()),
            Some(_) => Err(IndexError::OfSketches { index: index.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> IndexSettings {
        let list = StopWords::new("en", ["the", "of"]);
        let shingle = "chars:7".parse::<ShingleRule>().unwrap();
        let shingle = shingle.with_stop_words(Some(list)).with_frequencies(true);
        let builder =
            ParamsBuilder { shingle, threshold: 0.7, seed: 9, ..ParamsBuilder::default() };
        IndexSettings::new(&Params::new(&builder).unwrap(), "nfc", StoredContent::Sets).unwrap()
    }

    #[test]
    fn stored_settings_are_read_unchanged() {
        let before = settings();
        let after = IndexSettings::from_json(&before.to_json("x").unwrap(), "x").unwrap();
        assert_eq!(before, after);
        let params = after.params().unwrap();
        assert_eq!(IndexSettings::new(&params, "nfc", StoredContent::Sets).unwrap(), before);
        assert!(after.check_compatible(&before, "x").is_ok());
    }

    #[test]
    fn a_difference_is_named() {
        let (index, mut requested) = (settings(), settings());
        requested.rows += 1;
        let error = index.check_compatible(&requested, "news.lookalike").unwrap_err().to_string();
        assert!(error.contains("rows") && error.contains("news.lookalike"), "{error}");
        let mut requested = settings();
        requested.stop_words.as_mut().unwrap().hashes.pop();
        assert!(index.check_compatible(&requested, "x").is_err());
        let mut requested = settings();
        requested.threshold = 0.9;
        assert!(index.check_compatible(&requested, "x").is_ok());
    }

    #[test]
    fn another_version_is_refused_by_name() {
        let mut other = settings();
        other.version = 2;
        let json = other.to_json("x").unwrap().replace("\"shingle\"", "\"shingles\"");
        let error = IndexSettings::from_json(&json, "x").unwrap_err();
        assert!(matches!(error, IndexError::Version { got: 2, expected: 1, .. }));
        assert!(matches!(IndexSettings::from_json("[]", "x"), Err(IndexError::NotAnIndex { .. })));
    }

    #[test]
    fn settings_for_containment_are_checked() {
        let builder = ParamsBuilder { measure: Measure::Containment, ..ParamsBuilder::default() };
        let params = Params::new(&builder).unwrap();
        let settings = IndexSettings::new(&params, "", StoredContent::Sets).unwrap();
        assert_eq!(settings.containment, Some(ContainmentSettings { anchors: 3 }));
        let json = settings.to_json("x").unwrap();
        assert_eq!(IndexSettings::from_json(&json, "x").unwrap(), settings);
        assert_eq!(settings.params().unwrap().measure(), Measure::Containment);
        assert!((settings.predicted_recall(0.8) - 0.992).abs() < 1e-12);
        let has = self::settings();
        assert!(!has.to_json("x").unwrap().contains("contain"));
        assert!(
            has.check_compatible(&IndexSettings { shingle: has.shingle.clone(), ..settings }, "x")
                .is_err()
        );
        for (from, to) in [
            (r#""anchors":3"#, r#""anchors":0"#),
            (r#""anchors":3"#, r#""anchors":257"#),
            (r#""store":"sets""#, r#""store":"signatures""#),
            (r#""num_hashes":1"#, r#""num_hashes":2"#),
        ] {
            assert!(json.contains(from), "{json}");
            let other = IndexSettings::from_json(&json.replace(from, to), "x");
            assert!(matches!(other, Err(IndexError::NotAnIndex { .. })), "{to}: {other:?}");
        }
        let error =
            IndexSettings::new(&params, "", StoredContent::Signatures).unwrap_err().to_string();
        assert!(error.contains("store sets"), "{error}");
        let low = Params::new(&ParamsBuilder { threshold: 0.001, ..builder }).unwrap();
        let error = IndexSettings::new(&low, "", StoredContent::Sets).unwrap_err().to_string();
        assert!(error.contains("higher threshold"), "{error}");
    }

    #[test]
    fn settings_with_originals_are_checked() {
        let params = Params::new(&ParamsBuilder::default()).unwrap();
        let settings = IndexSettings::new(&params, "", StoredContent::Originals).unwrap();
        assert_eq!(settings.originals, Some(OriginalSettings::default()));
        let json = settings.to_json("x").unwrap();
        assert_eq!(IndexSettings::from_json(&json, "x").unwrap(), settings);
        let max = r#""originals":{"max_bytes":268435456}"#;
        for (from, to) in [
            (r#""store":"originals""#, r#""store":"texts""#),
            (max, r#""originals":{"max_bytes":0}"#),
            (max, r#""originals":{"max_bytes":536870913}"#),
            (&format!(",{max}"), ""),
        ] {
            assert!(json.contains(from), "{json}");
            let other = IndexSettings::from_json(&json.replace(from, to), "x");
            assert!(matches!(other, Err(IndexError::NotAnIndex { .. })), "{to}: {other:?}");
        }
        let limited = settings.clone().with_max_original(7).unwrap();
        assert_eq!(limited.originals, Some(OriginalSettings { max_bytes: 7 }));
        let error = settings.with_max_original(0).unwrap_err().to_string();
        assert!(error.contains("536870912"), "{error}");
        assert!(self::settings().with_max_original(7).is_err());
        let builder = ParamsBuilder { measure: Measure::Containment, ..ParamsBuilder::default() };
        let params = Params::new(&builder).unwrap();
        let both = IndexSettings::new(&params, "", StoredContent::Originals).unwrap();
        let json = both.to_json("x").unwrap();
        assert_eq!(IndexSettings::from_json(&json, "x").unwrap(), both);
    }

    #[test]
    fn exact_settings_are_refused() {
        let builder = ParamsBuilder { exact: true, ..ParamsBuilder::default() };
        assert!(
            IndexSettings::new(&Params::new(&builder).unwrap(), "", StoredContent::Sets).is_err()
        );
    }
}
