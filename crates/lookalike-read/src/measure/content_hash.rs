//! Hashes of files in 32 bytes, which show whether two files without text are copies of each other.

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The SHA-256 of a file's contents. It is infeasible to create two different files with the same
/// hash, so files need not be compared byte by byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Content([u8; 32]);

impl Content {
    /// Hashes bytes in memory.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The hash.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Hashes a file, which is read in small pieces.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let mut hasher = Sha256::new();
        let mut file = File::open(path)?;
        let mut bytes = vec![0; 64 << 10];
        loop {
            match file.read(&mut bytes) {
                Ok(0) => break,
                Ok(got) => hasher.update(&bytes[..got]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self(hasher.finalize().into()))
    }

    /// Parses a hash of 64 hexadecimal digits, as [`Display`](fmt::Display) writes it; `None` for
    /// any other text.
    pub fn of_hex(text: &str) -> Option<Self> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?;
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for Content {
    /// Writes 64 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let wrong = || serde::de::Error::custom(format!("expected 64 hexadecimal digits: {text}"));
        Self::of_hex(&text).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_hashes_round_trip() {
        let content = Content::of(b"");
        let text = serde_json::to_string(&content).unwrap();
        let known = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(text, format!("\"{known}\""));
        assert_eq!(serde_json::from_str::<Content>(&text).unwrap(), content);
        assert!(serde_json::from_str::<Content>("\"e3\"").is_err());
        assert_ne!(Content::of(b"a"), content);
    }
}
