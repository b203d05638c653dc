//! Lists of stop words by language.

use lookalike_core::error::ParamsError;
use lookalike_core::parameter::Parameter;
use lookalike_core::params::StopWords;
use lookalike_core::text::{self, CharClass};

/// The stop words of a language, lower-cased, by its ISO 639-1 code, such as `en`, `de` or `zh`.
/// The lists come from the project Stopwords ISO and are fixed with the version of this crate.
///
/// A word that the word rule divides (`don't`) is listed both unchanged, for tokens that end at
/// white space, and in pieces.
///
/// # Errors
/// [`ParamsError::Parse`] for a code without a list.
pub fn stop_words(language: &str) -> Result<StopWords, ParamsError> {
    let code = language.to_ascii_lowercase();
    let Some(list) = stop_words::lookup(&code) else {
        return Err(ParamsError::Parse {
            parameter: Parameter::StopWords,
            got: language.to_owned(),
            expected: "the two-letter code of a language with a list, such as en, de, fr or zh",
        });
    };
    let words: Vec<String> = list.iter().map(|word| text::lower_case(word)).collect();
    Ok(listed(code, &words))
}

/// A list of words with a name. It contains each word unchanged, and in lower case for texts that
/// are compared in lower case. A word that the word rule divides is listed both unchanged and in
/// pieces.
pub fn listed_stop_words(name: &str, words: &[String]) -> StopWords {
    let forms = words.iter().flat_map(|word| [word.clone(), text::lower_case(word)]);
    listed(name.to_owned(), &forms.collect::<Vec<String>>())
}

fn listed(name: String, words: &[String]) -> StopWords {
    let pieces = words.iter().flat_map(|word| {
        let pieces = word.split(|c| text::class(c) == CharClass::Separator);
        std::iter::once(word.as_str()).chain(pieces.filter(|piece| !piece.is_empty()))
    });
    StopWords::new(name, pieces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lookalike_core::params::{Case, ShingleRule, Unit};
    use lookalike_core::shingle::Shingler;

    #[test]
    fn stop_words_are_left_out() {
        let list = stop_words("EN").unwrap();
        assert_eq!(list.name(), "en");
        let rule = ShingleRule::new(Unit::Words, 1).unwrap().with_stop_words(Some(list));
        let mut shingler = Shingler::new(&rule);
        let (mut with, mut without) = (Vec::new(), Vec::new());
        shingler.set("The cat isn't on the mat; don't ask", &mut with);
        shingler.set("cat mat", &mut without);
        assert_eq!(with, without);
    }

    #[test]
    fn listed_stop_words_respect_case() {
        let list = listed_stop_words("list", &["The".to_owned(), "don't".to_owned()]);
        assert_eq!(list.name(), "list");
        for (case, text, left) in
            [(Case::Fold, "THE cat, don't ask", "cat ask"), (Case::Keep, "The THE cat", "THE cat")]
        {
            let rule = ShingleRule::new(Unit::Words, 1).unwrap().with_case(case);
            let mut shingler = Shingler::new(&rule.with_stop_words(Some(list.clone())));
            let (mut with, mut without) = (Vec::new(), Vec::new());
            shingler.set(text, &mut with);
            shingler.set(left, &mut without);
            assert_eq!(with, without, "{text}");
        }
    }

    #[test]
    fn languages_without_stop_words_are_errors() {
        assert!(stop_words("xx").is_err());
        assert!(stop_words("").is_err());
    }
}
