//! The header of a table.

/// The header of a file of separated values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvHeader {
    /// The bytes of the record, with the byte order mark if there is one, without the line feed.
    pub raw: Vec<u8>,
    /// The names of the columns; what is not UTF-8 in one is U+FFFD.
    pub columns: Vec<String>,
    /// What separates the values.
    pub delimiter: u8,
}
