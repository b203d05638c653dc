//! gzip and zstd, in one place. Several gzip members or zstd frames in a row are one stream.

use std::io::{self, Read};

/// A decoded stream that any thread may go on reading.
pub(super) type Stream = Box<dyn Read + Send>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
    Zstd,
}

impl Compression {
    /// By the end of a file's name, and the name without that end.
    pub(super) fn of_name(name: &str) -> (Self, &str) {
        if let Some(stem) = strip(name, ".gz") {
            (Self::Gzip, stem)
        } else if let Some(stem) = strip(name, ".zst") {
            (Self::Zstd, stem)
        } else if strip(name, ".tgz").is_some() {
            // This ending tells of the archive in it, too.
            (Self::Gzip, name)
        } else {
            (Self::None, name)
        }
    }

    /// By the first bytes, for streams without a name.
    pub(super) fn of_magic(bytes: &[u8]) -> Self {
        if bytes.starts_with(&[0x1F, 0x8B]) {
            Self::Gzip
        } else if bytes.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]) {
            Self::Zstd
        } else {
            Self::None
        }
    }

    /// The decoded stream. Truncated or broken data is an error of its `read`.
    pub(super) fn decode(self, reader: impl Read + Send + 'static) -> io::Result<Stream> {
        Ok(match self {
            Self::None => Box::new(reader),
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(reader)),
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(reader)?;
                // What `zstd --long=31` writes; the default would refuse above 27.
                decoder.window_log_max(31)?;
                Box::new(decoder)
            }
        })
    }
}

/// `name` without `end`, upper or lower case.
pub(super) fn strip<'a>(name: &'a str, end: &str) -> Option<&'a str> {
    let at = name.len().checked_sub(end.len())?;
    name.get(at..).filter(|tail| tail.eq_ignore_ascii_case(end)).and_then(|_| name.get(..at))
}
