//! Metadata of a file.

/// Named metadata values of a file, such as `subject` and `date` of a message. Names are lower
/// case and unique.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    values: Vec<(&'static str, String)>,
    cut: CutText,
    cut_quotes: bool,
}

/// The amount of text removed from a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CutText {
    /// Words separated by white space.
    pub words: u64,
    /// Bytes in UTF-8.
    pub bytes: u64,
}

impl Fields {
    /// All names. Dates are `YYYY-MM-DDTHH:MM:SSZ`, which sorts by time.
    ///
    /// | name | files |
    /// |---|---|
    /// | `title` | pages, PDF, office files |
    /// | `author` | pages, PDF, office files |
    /// | `date` | messages: when sent; pages, PDF, office files: when last changed |
    /// | `language` | pages, office files: as declared |
    /// | `subject`, `from`, `to`, `message-id` | messages |
    /// | `url`, `record-id` | WARC records; `url`: also pages that declare it |
    pub const NAMES: [&str; 10] = [
        "title",
        "author",
        "date",
        "language",
        "subject",
        "from",
        "to",
        "message-id",
        "url",
        "record-id",
    ];

    /// Removes all values.
    pub fn clear(&mut self) {
        self.values.clear();
        self.cut = CutText::default();
        self.cut_quotes = false;
    }

    /// The amount of text removed as signatures.
    pub fn cut(&self) -> CutText {
        self.cut
    }

    /// Whether quoted text was removed.
    pub fn has_cut_quotes(&self) -> bool {
        self.cut_quotes
    }

    /// Sets the amount of text removed as signatures, and whether quoted text was removed.
    #[cfg(feature = "mail")]
    pub(crate) fn set_cut(&mut self, cut: CutText, quotes: bool) {
        self.cut = cut;
        self.cut_quotes = quotes;
    }

    /// Sets a value, unless it is blank or already set. Runs of white space become single blanks.
    pub fn set(&mut self, name: &'static str, value: &str) {
        debug_assert!(Self::NAMES.contains(&name), "{name}");
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        if !value.is_empty() && self.get(name).is_none() {
            self.values.push((name, value));
        }
    }

    /// Returns the value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(n, _)| *n == name).map(|(_, value)| value.as_str())
    }
}
