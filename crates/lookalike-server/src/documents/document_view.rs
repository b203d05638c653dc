//! Documents in answers.

use crate::config::token::Right;
use lookalike::index::time;
use lookalike::store::IndexError;
use lookalike::store::entry::{IndexRecord, Metadata};
use lookalike::store::filter::{SOURCE, file_name};
use lookalike::store::set;
use serde_json::{Value, json};
use std::borrow::Cow;

/// Maximum length of the beginning of a text, in characters.
pub(crate) const MOST_BEGINNING: usize = 1_000;

/// The first `most` characters of a text, without the white space at its start. People recognise a
/// document by them.
pub(crate) fn beginning(text: &str, most: usize) -> &str {
    let text = text.trim_start();
    let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// The metadata for a client. Clients with read access do not see the folders of source files.
pub(crate) fn visible(metadata: &Metadata, right: Right) -> Cow<'_, Metadata> {
    let Some(Value::String(source)) = metadata.get(SOURCE) else { return Cow::Borrowed(metadata) };
    let Some(name) = file_name(source).filter(|_| right == Right::Read) else {
        return Cow::Borrowed(metadata);
    };
    let mut metadata = metadata.clone();
    metadata.insert(SOURCE.to_owned(), name.into());
    Cow::Owned(metadata)
}

/// The JSON of a document whose group has `size` documents. The record must have set, signature and
/// metadata.
pub(crate) fn document_json(
    record: &IndexRecord,
    size: u64,
    right: Right,
) -> Result<Value, IndexError> {
    let mut document = json!({
        "id": record.id,
        "bytes": record.bytes,
        "shingles": shingles(record)?,
        "metadata": visible(&record.metadata, right),
        "added": time::format(record.added),
    });
    for (name, at) in [("modified", record.modified), ("expires", record.expires)] {
        if let Some(at) = at {
            document[name] = time::format(at).into();
        }
    }
    if let Some(size) = more_than_itself(size) {
        document["group_size"] = size.into();
    }
    Ok(document)
}

/// Returns the size of a group with more than one document, otherwise `None`. Answers contain only
/// these sizes.
pub(crate) fn more_than_itself(size: u64) -> Option<u64> {
    Some(size).filter(|size| *size > 1)
}

/// The number of shingles of a document; unknown if the index keeps no sets.
fn shingles(record: &IndexRecord) -> Result<Option<usize>, IndexError> {
    match &record.set {
        Some(code) => Ok(Some(set::len(code)?)),
        None => Ok(record.signature.is_empty().then_some(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_keep_characters_whole() {
        assert_eq!(beginning(" \n Größe", 3), "Grö");
        assert_eq!(beginning("漢字", 5), "漢字");
        assert_eq!((beginning("", 1), beginning("x", 0)), ("", ""));
    }
}
