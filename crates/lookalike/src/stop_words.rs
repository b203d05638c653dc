//! Lists of stop words by language.

use lookalike_core::error::ParamsError;
use lookalike_core::params::StopWords;
use lookalike_core::text;

/// The stop words of a language, lower-cased: ISO 639-1 codes, such as `en`, `de` or `zh`. The
/// lists are those of the project Stopwords ISO, fixed with the version of this crate.
///
/// # Errors
/// [`ParamsError::Parse`] for a code without a list.
pub fn stop_words(language: &str) -> Result<StopWords, ParamsError> {
    let code = language.to_ascii_lowercase();
    let known = stop_words::LANGUAGE::try_from(code.as_str());
    let Ok(list) = known else {
        return Err(ParamsError::Parse {
            option: "--stop-words",
            got: language.to_owned(),
            expected: "the two-letter code of a language with a list, such as en, de, fr or zh",
        });
    };
    let words: Vec<String> = stop_words::get(list).iter().map(|w| text::lower_case(w)).collect();
    Ok(StopWords::new(code, words.iter().map(String::as_str)))
}
