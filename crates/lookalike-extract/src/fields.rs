//! What a file says about itself.

/// Named values of a file, such as `subject` and `date` of a message. Names are lower case; each
/// stands once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    values: Vec<(&'static str, String)>,
    cut: CutText,
    cut_quotes: bool,
}

/// How much of a text was left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CutText {
    /// Words between white space.
    pub words: u64,
    /// Bytes in UTF-8.
    pub bytes: u64,
}

impl Fields {
    /// The names that there can be. Dates are `YYYY-MM-DDTHH:MM:SSZ`, so that they sort by time.
    ///
    /// | name | of |
    /// |---|---|
    /// | `title` | pages, PDF, office files |
    /// | `author` | pages, PDF, office files |
    /// | `date` | messages: when sent; pages, PDF, office files: when last changed |
    /// | `language` | pages, office files: as they say themselves |
    /// | `subject`, `from`, `to`, `message-id` | messages |
    /// | `url`, `record-id` | records of a crawl; `url`: pages that name their own |
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

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.values.clear();
        self.cut = CutText::default();
        self.cut_quotes = false;
    }

    /// How much of a message was cut as its signatures.
    pub fn cut(&self) -> CutText {
        self.cut
    }

    /// Whether text that a message quotes was cut.
    pub fn has_cut_quotes(&self) -> bool {
        self.cut_quotes
    }

    /// Sets how much of a message was cut as its signatures, and whether quoted text was.
    #[cfg(feature = "mail")]
    pub(crate) fn set_cut(&mut self, cut: CutText, quotes: bool) {
        (self.cut, self.cut_quotes) = (cut, quotes);
    }

    /// Sets a value, unless it is blank or there is one already. White space is made single blanks.
    pub fn set(&mut self, name: &'static str, value: &str) {
        debug_assert!(Self::NAMES.contains(&name), "{name}");
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        if !value.is_empty() && self.get(name).is_none() {
            self.values.push((name, value));
        }
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(n, _)| *n == name).map(|(_, value)| value.as_str())
    }
}
