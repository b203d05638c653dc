//! Descriptions by which users recognize documents: title or first words, source and date.

use lookalike_extract::Fields;
use serde::Deserialize;
use serde_json::Value;

/// Maximum number of characters of a title or of the first words.
const MOST_CHARACTERS: usize = 120;
/// Maximum number of characters of a date.
const MOST_DATE: usize = 40;

/// A description by which users recognize a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// The title or subject that the document states, at most 120 characters.
    pub title: Option<String>,
    /// The first words of its text in one line, at most 120 characters.
    pub first_words: String,
    /// The file from which it was read, `stdin` for standard input.
    pub source: String,
    /// The line on which its record begins, from 1; `None` if the file is the document.
    pub line: Option<u64>,
    /// The date that the document states, otherwise the day on which its file was last changed.
    pub date: Option<String>,
}

/// Information that a document or its record states in addition to the text.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StatedFields<'a> {
    Nothing,
    Fields(&'a Fields),
    /// A JSON object.
    Record(&'a [u8]),
}

/// Members of a record that name or date it.
#[derive(Deserialize)]
struct DescriptionMembers {
    title: Option<Value>,
    subject: Option<Value>,
    date: Option<Value>,
}

impl Description {
    /// Creates a description without source and line.
    pub(crate) fn of(text: &str, stated: StatedFields<'_>) -> Self {
        let (title, date) = match stated {
            StatedFields::Nothing => (None, None),
            StatedFields::Fields(fields) => {
                let title = fields.get("title").or_else(|| fields.get("subject"));
                (title.map(str::to_owned), fields.get("date").map(str::to_owned))
            }
            StatedFields::Record(record) => {
                serde_json::from_slice(record).map_or((None, None), |members| {
                    let DescriptionMembers { title, subject, date } = members;
                    (
                        title.and_then(string).or_else(|| subject.and_then(string)),
                        date.and_then(string),
                    )
                })
            }
        };
        let title = title.map(|title| first_words(&title, MOST_CHARACTERS));
        Self {
            title: title.filter(|title| !title.is_empty()),
            first_words: first_words(text, MOST_CHARACTERS),
            date: date.map(|date| first_words(&date, MOST_DATE)).filter(|date| !date.is_empty()),
            ..Self::default()
        }
    }
}

fn string(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The day of a time in ns since 1970.
pub(crate) fn day(ns: u64) -> Option<String> {
    let seconds = i64::try_from(ns / 1_000_000_000).ok()?;
    Some(lookalike_extract::date::iso(seconds)?.split('T').next()?.to_owned())
}

/// Whole words up to `most` characters, with single blanks between them. If the first word is
/// longer, its beginning. Ends with `…` if more text follows.
fn first_words(text: &str, most: usize) -> String {
    let mut words = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        let length = word.chars().take(most + 1).count();
        if count + usize::from(count > 0) + length > most {
            let cut = word.chars().take(if count == 0 { most - 1 } else { 0 });
            words.extend(cut);
            words.push_str(if count == 0 { "…" } else { " …" });
            break;
        }
        if count > 0 {
            words.push(' ');
            count += 1;
        }
        words.push_str(word);
        count += length;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_words_are_whole_and_short() {
        assert_eq!(first_words(" one\n\ttwo ", 120), "one two");
        assert_eq!(first_words("one two three", 8), "one two …");
        assert_eq!(first_words("onetwothree", 8), "onetwot…");
        assert_eq!(first_words("ünïcödé ünïcödé", 7), "ünïcödé …");
        assert_eq!(first_words("", 8), "");
    }

    #[test]
    fn records_state_title_and_date() {
        let of = |record: &str| {
            let found = Description::of("the text", StatedFields::Record(record.as_bytes()));
            (found.title, found.date)
        };
        let both = (Some("A  report".to_owned()), Some("2024".to_owned()));
        let expected = (Some("A report".to_owned()), both.1);
        assert_eq!(of(r#"{"title":"A  report","date":2024,"text":"x"}"#), expected);
        assert_eq!(of(r#"{"title":null,"subject":"Re: it"}"#).0, Some("Re: it".to_owned()));
        assert_eq!(of(r#"{"title":["a"],"date":""}"#), (None, None));
        assert_eq!(of("no json"), (None, None));
        assert_eq!(day(1_700_000_000_000_000_000), Some("2023-11-14".to_owned()));
    }
}
