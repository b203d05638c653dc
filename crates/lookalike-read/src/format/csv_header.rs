//! The header of a table.

/// The header of a file of separated values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvHeader {
    /// The bytes of the record, with the byte order mark if there is one, without the line feed.
    pub raw: Vec<u8>,
    /// The names of the columns. Invalid UTF-8 becomes U+FFFD.
    pub columns: Vec<String>,
    /// The byte between the values.
    pub delimiter: u8,
}
