//! Optional changes of a text before it is divided into tokens: a normal form, removing the stop
//! words of its language, and separating the words of scripts without spaces.

use lookalike_core::error::{ParamsError, parse_name};
use lookalike_core::parameter::Parameter;
use std::fmt;
use std::str::FromStr;

const AS_WRITTEN: &str = "as written";

/// The changes to every text. None by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Normalization {
    /// The normal form (Unicode Standard Annex 15) of texts.
    pub normal_form: Option<NormalForm>,
    /// Whether the stop words of a text's language are removed. The language is detected in the
    /// first 2 KiB. Nothing is removed if the language is uncertain or has no list.
    pub stop_words_by_language: bool,
    /// Whether blanks are inserted between the words of scripts that are written without spaces:
    /// Chinese, Japanese, Thai, Khmer, Lao, Burmese. Dictionaries determine the words. The token
    /// rule [`WordRuns`](lookalike_core::params::TokenRule::WordRuns) keeps these words whole.
    pub segment: bool,
}

/// A normal form, which unifies spellings of a character. `docs/reference/normalize.md` specifies
/// all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NormalForm {
    /// A letter followed by its marks equals the letter with these marks: `é` in one or two
    /// characters.
    Nfc,
    /// Like `Nfc`, and unifies forms that only look different: full-width letters, ligatures, `①`.
    Nfkc,
    /// Like `Nfkc`, and unifies spellings that readers take for the same. Removes vowel marks of
    /// Arabic and Hebrew, and Greek accents. Unifies variants of Arabic letters, dotted and dotless
    /// i, and decimal digits of any script. Every Hangul syllable is a word.
    Fold,
    /// Like `Fold`, and removes marks and strokes of Latin letters: Vietnamese, French, Polish.
    Unaccent,
}

impl Normalization {
    /// Returns true if texts are not changed.
    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// Returns true if this build of the crate supports the changes.
    pub fn is_supported(self) -> bool {
        cfg!(feature = "scripts") || self.is_none()
    }
}

impl fmt::Display for Normalization {
    /// Writes the form that [`FromStr`] parses: `as written`, or the changes, such as `nfc,
    /// segment:dictionary`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = self.normal_form.map(|form| form.to_string());
        let language = self.stop_words_by_language.then(|| "language:auto".to_owned());
        let segment = self.segment.then(|| "segment:dictionary".to_owned());
        let steps: Vec<String> = [form, language, segment].into_iter().flatten().collect();
        let joined = steps.join(", ");
        f.write_str(if steps.is_empty() { AS_WRITTEN } else { &joined })
    }
}

impl FromStr for Normalization {
    type Err = ParamsError;

    fn from_str(text: &str) -> Result<Self, ParamsError> {
        let mut normalization = Self::default();
        for step in text.split(", ").filter(|step| *step != AS_WRITTEN) {
            match step {
                "language:auto" => normalization.stop_words_by_language = true,
                "segment:dictionary" => normalization.segment = true,
                form => {
                    let form = form.parse().map_err(|_| ParamsError::Parse {
                        parameter: Parameter::Normalization,
                        got: text.to_owned(),
                        expected: "`as written`, or some of nfc, nfkc, fold, unaccent, \
                                   language:auto and segment:dictionary with a comma and a blank \
                                   between",
                    })?;
                    normalization.normal_form = Some(form);
                }
            }
        }
        Ok(normalization)
    }
}

impl NormalForm {
    /// All forms. Each includes the previous ones.
    pub const ALL: [Self; 4] = [Self::Nfc, Self::Nfkc, Self::Fold, Self::Unaccent];

    /// The name in options and indexes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nfc => "nfc",
            Self::Nfkc => "nfkc",
            Self::Fold => "fold",
            Self::Unaccent => "unaccent",
        }
    }
}

impl fmt::Display for NormalForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for NormalForm {
    type Err = ParamsError;

    fn from_str(text: &str) -> Result<Self, ParamsError> {
        let expected = "nfc, nfkc, fold or unaccent";
        parse_name(text, &Self::ALL, Self::name, Parameter::Normalize, expected)
    }
}

#[cfg(feature = "scripts")]
pub use scripts::language_of;

/// Always `None`: this build cannot detect languages.
#[cfg(not(feature = "scripts"))]
pub fn language_of(_: &str) -> Option<&'static str> {
    None
}

/// Normalizes texts; one for each thread.
#[derive(Default)]
pub struct TextNormalizer {
    #[cfg(feature = "scripts")]
    buffers: scripts::NormalizationBuffers,
}

impl TextNormalizer {
    /// The normalized text. Without the feature `scripts`, the text itself; in that case, opening a
    /// collection with a normalization is an error.
    pub fn of<'a>(&'a mut self, text: &'a str, normalization: Normalization) -> &'a str {
        #[cfg(feature = "scripts")]
        return self.buffers.normalized(text, normalization);
        #[cfg(not(feature = "scripts"))]
        {
            let _ = normalization;
            text
        }
    }
}

#[cfg(feature = "scripts")]
mod scripts {
    use super::{NormalForm, Normalization};
    use crate::text::normal_forms;
    use crate::text::stop_words::stop_words;
    use icu_normalizer::ComposingNormalizerBorrowed;
    use icu_segmenter::WordSegmenter;
    use icu_segmenter::options::WordBreakInvariantOptions;
    use lookalike_core::hash;
    use lookalike_core::params::StopWords;
    use lookalike_core::text::{self, CharClass};
    use std::borrow::Cow;
    use std::collections::HashMap;

    /// Number of bytes of a text from which its language is detected.
    const DETECTION_BYTES: usize = 2048;

    /// Lists of stop words, and buffers.
    #[derive(Default)]
    pub(super) struct NormalizationBuffers {
        /// Lists by two-letter language code.
        lists: HashMap<&'static str, Option<StopWords>>,
        text: String,
        next: String,
        lower: String,
    }

    impl NormalizationBuffers {
        /// The normalized text.
        pub(super) fn normalized<'a>(
            &'a mut self,
            text: &'a str,
            normalization: Normalization,
        ) -> &'a str {
            let ascii = text.is_ascii();
            if normalization.is_none() || ascii && !normalization.stop_words_by_language {
                return text;
            }
            let unaccent = match normalization.normal_form {
                Some(NormalForm::Fold) => Some(false),
                Some(NormalForm::Unaccent) => Some(true),
                _ => None,
            };
            let normal: Cow<'_, str> = match normalization.normal_form {
                Some(NormalForm::Nfkc) => ComposingNormalizerBorrowed::new_nfkc().normalize(text),
                Some(_) => ComposingNormalizerBorrowed::new_nfc().normalize(text),
                None => Cow::Borrowed(text),
            };
            self.text.clear();
            self.text.push_str(&normal);
            // Lists of stop words contain the words in their original spelling.
            if normalization.stop_words_by_language && unaccent.is_some() {
                self.remove_stop_words();
            }
            if let Some(unaccent) = unaccent.filter(|u| !normal_forms::is_unchanged(&self.text, *u))
            {
                normal_forms::fold_into(&self.text, unaccent, &mut self.next);
                std::mem::swap(&mut self.text, &mut self.next);
            }
            if normalization.segment {
                self.segment();
            }
            if normalization.stop_words_by_language && unaccent.is_none() {
                self.remove_stop_words();
            }
            &self.text
        }

        /// Inserts blanks between adjacent words.
        fn segment(&mut self) {
            let segmenter = WordSegmenter::new_dictionary(WordBreakInvariantOptions::default());
            self.next.clear();
            let mut start = 0;
            let mut after_word = false;
            let mut breaks = segmenter.segment_str(&self.text).iter_with_word_type();
            for (end, kind) in breaks.by_ref().skip_while(|(end, _)| *end == 0) {
                let word = kind.is_word_like();
                if word && after_word {
                    self.next.push(' ');
                }
                self.next.push_str(self.text.get(start..end).unwrap_or_default());
                start = end;
                after_word = word;
            }
            std::mem::swap(&mut self.text, &mut self.next);
        }

        /// Removes the stop words of the text's language.
        fn remove_stop_words(&mut self) {
            let Some(language) = language_of(&self.text) else { return };
            let list = self.lists.entry(language).or_insert_with(|| stop_words(language).ok());
            let Some(list) = list else { return };
            self.next.clear();
            let mut rest = self.text.as_str();
            while !rest.is_empty() {
                let separator = |c: char| text::class(c) == CharClass::Separator;
                let start = rest.find(|c| !separator(c)).unwrap_or(rest.len());
                self.next.push_str(&rest[..start]);
                rest = &rest[start..];
                let end = rest.find(separator).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                rest = after;
                self.lower.clear();
                self.lower.push_str(&text::lower_case(word));
                if !list.contains(hash::token_hash(self.lower.as_bytes())) {
                    self.next.push_str(word);
                }
            }
            std::mem::swap(&mut self.text, &mut self.next);
        }
    }

    /// The ISO 639-1 code of the language of a text, detected in its first bytes; `None` if it is
    /// uncertain.
    pub fn language_of(text: &str) -> Option<&'static str> {
        let end = (0..=DETECTION_BYTES.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
        let head = text.get(..end.unwrap_or(0)).unwrap_or_default();
        let language = whatlang::detect(head).filter(whatlang::Info::is_reliable)?;
        two_letters(language.lang().code())
    }

    /// Converts the three-letter code of a language (ISO 639-3) to its two-letter code (ISO 639-1),
    /// if it has one.
    fn two_letters(code: &str) -> Option<&'static str> {
        const CODES: &str = "epo eo eng en rus ru cmn zh spa es por pt ita it ben bn fra fr deu de \
            ukr uk kat ka ara ar hin hi jpn ja heb he yid yi pol pl amh am jav jv kor ko nob no \
            dan da swe sv fin fi tur tr nld nl hun hu ces cs ell el bul bg bel be mar mr kan kn \
            ron ro slv sl hrv hr srp sr mkd mk lit lt lav lv est et tam ta vie vi urd ur tha th \
            guj gu uzb uz pan pa aze az ind id tel te pes fa mal ml ori or mya my nep ne sin si \
            khm km tuk tk aka ak zul zu sna sn afr af lat la slk sk cat ca tgl tl hye hy cym cy";
        let mut codes = CODES.split_whitespace();
        codes.find(|three| *three == code)?;
        codes.next()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn worded(text: &str, normalization: Normalization) -> String {
            NormalizationBuffers::default().normalized(text, normalization).to_owned()
        }

        #[test]
        fn normal_forms_unify_spellings() {
            let nfc =
                Normalization { normal_form: Some(NormalForm::Nfc), ..Normalization::default() };
            let nfkc =
                Normalization { normal_form: Some(NormalForm::Nfkc), ..Normalization::default() };
            assert_eq!(worded("Cafe\u{301} ＡＢＣ", nfc), "Café ＡＢＣ");
            assert_eq!(worded("Cafe\u{301} ＡＢＣ ﬁ", nfkc), "Café ABC fi");
            assert_eq!(worded("Cafe\u{301}", Normalization::default()), "Cafe\u{301}");
        }

        #[test]
        fn words_without_spaces_are_distinguished() {
            let segment = Normalization { segment: true, ..Normalization::default() };
            assert_eq!(worded("ภาษาไทยสนุก", segment), "ภาษา ไทย สนุก");
            assert_eq!(worded("Don't, it's größer.", segment), "Don't, it's größer.");
            let chinese = worded("我们今天去北京大学。", segment);
            assert!(chinese.contains(' ') && chinese.contains("北京"), "{chinese}");
            assert_eq!(chinese.replace(' ', ""), "我们今天去北京大学。");
        }

        #[test]
        fn stop_words_follow_the_detected_language() {
            let normalization =
                Normalization { stop_words_by_language: true, ..Normalization::default() };
            let english = "The river was flowing through the valley, and the people of the \
                           village were there with their horses and the cat from the castle.";
            let german = "Der Fluss floss durch das Tal, und die Leute aus dem Dorf waren mit \
                          ihren Pferden dort, und mit der Katze bei sich.";
            let words = |text: &str| {
                let text = worded(text, normalization);
                text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
            };
            assert!(
                words(english).iter().all(|word| word != "the" && word != "The" && word != "and")
            );
            assert!(words(english).contains(&"cat".to_owned()));
            assert!(words(german).iter().all(|word| word != "der" && word != "und"));
            assert!(words(german).contains(&"Katze".to_owned()));
        }

        #[test]
        fn detected_languages_have_two_letters() {
            for language in whatlang::Lang::all() {
                assert!(two_letters(language.code()).is_some(), "{language}");
            }
            assert_eq!(two_letters("eng"), Some("en"));
            assert_eq!(two_letters("xyz"), None);
        }
    }
}
