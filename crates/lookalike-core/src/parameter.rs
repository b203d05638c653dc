//! The parameters of the engine by name, so that each front end can spell them in its own way.

use std::fmt;

/// Maximum length of a shingle, in tokens.
pub const MAX_SHINGLE_SIZE: usize = 256;
/// Maximum length of a signature, in values of 4 bytes.
pub const MAX_NUM_HASHES: usize = 8192;

/// A measure of the similarity of two documents; `verify.rs` computes it exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Measure {
    /// |A ∩ B| / |A ∪ B|: high if both documents are much the same. The default.
    #[default]
    Jaccard,
    /// |A ∩ B| / min(|A|, |B|): the share of the shorter document that the longer one contains.
    Containment,
}

/// How a front end spells a parameter, such as `--num-hashes` or `num_hashes`.
pub type ParameterSpelling = fn(Parameter) -> String;

/// An error whose message names parameters.
///
/// `Display` of such an error spells them as [`Parameter::name`] does.
pub trait NamesParameters {
    /// Writes the message with the parameters spelled by `name`.
    ///
    /// # Errors
    /// The error of the formatter.
    fn fmt_with(&self, f: &mut fmt::Formatter<'_>, name: ParameterSpelling) -> fmt::Result;

    /// The message with the parameters spelled by `name`.
    fn spelled(&self, name: ParameterSpelling) -> String
    where
        Self: Sized,
    {
        WithSpelling { error: self, name }.to_string()
    }
}

struct WithSpelling<'a, E> {
    error: &'a E,
    name: ParameterSpelling,
}

impl<E: NamesParameters> fmt::Display for WithSpelling<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt_with(f, self.name)
    }
}

/// Declares the parameters and their names.
macro_rules! parameters {
    ($($variant:ident = $name:literal,)+) => {
        /// A parameter of a run, an index or a reader.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
        )]
        #[non_exhaustive]
        pub enum Parameter {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        impl Parameter {
            /// All parameters, in alphabetical order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in lower case, with `_` between words.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }
    };
}

parameters! {
    Against = "against",
    AgainstField = "against_field",
    Annotate = "annotate",
    AnnotateField = "annotate_field",
    Attachments = "attachments",
    Audit = "audit",
    Bands = "bands",
    Case = "case",
    Confidence = "confidence",
    Delimiter = "delimiter",
    Encoding = "encoding",
    Estimates = "estimates",
    Exact = "exact",
    Exclude = "exclude",
    Exported = "exported",
    FilesFrom = "files_from",
    Follow = "follow",
    Format = "format",
    Frequencies = "frequencies",
    Group = "group",
    Hidden = "hidden",
    IdField = "id_field",
    Include = "include",
    Keep = "keep",
    Kernel = "kernel",
    LineIds = "line_ids",
    MaxDepth = "max_depth",
    MaxExpanded = "max_expanded",
    MaxFileSize = "max_file_size",
    MaxMembers = "max_members",
    MaxPages = "max_pages",
    MaxSeconds = "max_seconds",
    Measure = "measure",
    Memory = "memory",
    Metadata = "metadata",
    MinWords = "min_words",
    Nearest = "nearest",
    Ngram = "ngram",
    NoIgnore = "no_ignore",
    Normalize = "normalize",
    NumHashes = "num_hashes",
    Pairs = "pairs",
    Passages = "passages",
    Recall = "recall",
    Reference = "reference",
    Removed = "removed",
    Resume = "resume",
    Rows = "rows",
    Scheme = "scheme",
    Seed = "seed",
    Segment = "segment",
    Shingle = "shingle",
    SkipBad = "skip_bad",
    SourceField = "source_field",
    StopWords = "stop_words",
    Store = "store",
    TempDir = "temp_dir",
    TextField = "text_field",
    Threads = "threads",
    Threshold = "threshold",
    Tokens = "tokens",
    Type = "type",
    Unit = "unit",
    Normalization = "wording",
}

impl Parameter {
    /// The parameter of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|parameter| parameter.name() == name)
    }

    /// [`name`](Self::name) as a [`ParameterSpelling`].
    pub fn plain(self) -> String {
        self.name().to_owned()
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again_and_sorted() {
        for parameter in Parameter::ALL {
            assert_eq!(Parameter::named(parameter.name()), Some(*parameter));
        }
        assert!(Parameter::ALL.is_sorted_by_key(|parameter| parameter.name()));
        assert_eq!(Parameter::named("no-such"), None);
    }
}
