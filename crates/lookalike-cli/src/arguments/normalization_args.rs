//! What is done to every text before it is cut into words.

use crate::arguments::named_values::one_of;
use clap::{Args, ValueEnum};
use lookalike::read::{NormalForm, Normalization};

/// Normal form, language, words of scripts without spaces.
#[derive(Debug, Args)]
pub(crate) struct NormalizationArgs {
    /// `nfc`: Unicode canonical composition; `nfkc`: compatibility composition (full-width letters,
    /// ligatures); `fold`: also without vowel marks of Arabic and Hebrew, with one form of letter
    /// variants, Hangul by syllables; `unaccent`: also Latin letters without their marks
    /// [default: unchanged]
    #[arg(
        long,
        value_name = "FORM",
        value_parser = one_of::<NormalForm, _>(NormalForm::ALL.map(NormalForm::name))
    )]
    normalize: Option<NormalForm>,

    /// `auto` detects each document's language in its first 2 KiB, and leaves out its stop words
    #[arg(long, value_enum, value_name = "HOW")]
    language: Option<LanguageArg>,

    /// `dictionary`: words of Chinese, Japanese, Thai, Khmer, Lao and Burmese by dictionaries, not
    /// single characters; --tokens is then word-runs
    #[arg(long, value_enum, value_name = "HOW")]
    segment: Option<SegmentArg>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LanguageArg {
    Auto,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum SegmentArg {
    Dictionary,
}

impl NormalizationArgs {
    /// What the readers take.
    pub(crate) fn normalization(&self) -> Normalization {
        Normalization {
            normal_form: self.normalize,
            stop_words_by_language: self.language.is_some(),
            segment: self.segment.is_some(),
        }
    }
}
