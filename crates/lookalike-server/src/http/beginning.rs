//! The beginning of a text, by which people recognise a document.

/// Maximum length of a beginning, in characters.
pub(crate) const MOST: usize = 1_000;

/// The first `most` characters behind the white space at the start.
pub(crate) fn beginning(text: &str, most: usize) -> &str {
    let text = text.trim_start();
    let end = text.char_indices().nth(most).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_is_cut() {
        assert_eq!(beginning(" \n Größe", 3), "Grö");
        assert_eq!(beginning("漢字", 5), "漢字");
        assert_eq!((beginning("", 1), beginning("x", 0)), ("", ""));
    }
}
