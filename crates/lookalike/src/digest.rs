//! Reduces a collection to 128 bits, which show whether two readings saw the same documents.
//! `docs/reference/report.md` specifies the bits.
//!
//! The digest is a sum, so it does not depend on the order, the threads or the division into files,
//! and the digests of parts add up to the digest of the whole.

use lookalike_core::hash::mix64;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The digest of a collection; zero for an empty collection.
///
/// Two different collections have equal digests with a probability of about 2⁻¹²⁰. The digest does
/// not protect against documents that are constructed to collide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Digest(u128);

impl Digest {
    /// Adds one document, which may be empty: its id and the
    /// [fingerprint](lookalike_core::shingle::Shingles::fingerprint) of its shingles. Takes some 20
    /// ns.
    pub fn add(&mut self, id: &str, fingerprint: u128) {
        self.0 = self.0.wrapping_add(document(id.as_bytes(), fingerprint));
    }

    /// Adds the documents of another part of the collection.
    pub fn merge(&mut self, other: Self) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

/// The hash of one document: two chains of hashes over the same words, with different starting
/// states.
fn document(id: &[u8], fingerprint: u128) -> u128 {
    let mut state = (1u64, 2u64);
    let mut take = |word: u64| state = (mix64(state.0 ^ word), mix64(state.1.wrapping_add(word)));
    take(id.len() as u64);
    for chunk in id.chunks(8) {
        take(chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }
    take(fingerprint as u64);
    take((fingerprint >> 64) as u64);
    u128::from(state.0) << 64 | u128::from(state.1)
}

impl fmt::Display for Digest {
    /// 32 hexadecimal digits, the highest first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A text that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoDigest {
    /// The text.
    pub got: String,
}

impl fmt::Display for NoDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected a digest of 32 hexadecimal digits, got {:?}", self.got)
    }
}

impl std::error::Error for NoDigest {}

impl FromStr for Digest {
    type Err = NoDigest;

    fn from_str(text: &str) -> Result<Self, NoDigest> {
        let digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let value = if digits { u128::from_str_radix(text, 16).ok() } else { None };
        value.map(Self).ok_or_else(|| NoDigest { got: text.to_owned() })
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The number of documents of a run, and their digest. The member `inputs` of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InputsDigest {
    /// The number of documents read, including empty documents and documents with a repeated id.
    pub documents: u64,
    /// Their digest.
    pub digest: Digest,
}

impl InputsDigest {
    /// Adds one document, as [`Digest::add`] does.
    pub fn add(&mut self, id: &str, fingerprint: u128) {
        self.documents += 1;
        self.digest.add(id, fingerprint);
    }

    /// Adds another part of the collection.
    pub fn merge(&mut self, other: Self) {
        self.documents += other.documents;
        self.digest.merge(other.digest);
    }
}

impl fmt::Display for InputsDigest {
    /// `3 documents, digest 0123…`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.documents == 1 { "document" } else { "documents" };
        write!(f, "{} {noun}, digest {}", self.documents, self.digest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(documents: &[(String, u128)]) -> InputsDigest {
        let mut inputs = InputsDigest::default();
        for (id, fingerprint) in documents {
            inputs.add(id, *fingerprint);
        }
        inputs
    }

    #[test]
    fn known_answers() {
        let mut digest = Digest::default();
        assert_eq!(digest.to_string(), "0".repeat(32));
        digest.add("a", 0);
        assert_eq!(digest.to_string(), "e4750b746e7ba86e34b38237e2cefcad");
        digest.add("documents/long-name", 0x0123_4567_89ab_cdef_0011_2233_4455_6677);
        assert_eq!(digest.to_string(), "0c8b80a5022199a7947194c711a95723");
        digest.add("", u128::MAX);
        assert_eq!(digest.to_string(), "cb61ad22128c3da8dfec3624878119f9");
    }

    #[test]
    fn invalid_digests_are_errors() {
        for text in ["", "12", &"g".repeat(32), &"+".repeat(32), &"0".repeat(33), &"ä".repeat(16)]
        {
            let message = text.parse::<Digest>().unwrap_err().to_string();
            assert!(message.contains("32 hexadecimal digits"), "{message}");
        }
        let inputs = r#"{"documents":3,"digest":"000000000000000000000000000000ff"}"#;
        let read: InputsDigest = serde_json::from_str(inputs).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), inputs);
        assert_eq!(read.to_string(), format!("3 documents, digest {}ff", "0".repeat(30)));
    }

    proptest! {
        #[test]
        fn order_and_split_do_not_matter(
            documents in prop::collection::vec((".{0,20}", any::<u128>()), 0..20),
            cut in 0usize..20,
        ) {
            let whole = of(&documents);
            let (left, right) = documents.split_at(cut.min(documents.len()));
            let mut parts = of(right);
            parts.merge(of(left));
            prop_assert_eq!(parts, whole);
            let reversed: Vec<_> = documents.iter().rev().cloned().collect();
            prop_assert_eq!(of(&reversed), whole);
            prop_assert_eq!(whole.digest.to_string().parse(), Ok(whole.digest));
        }

        #[test]
        fn any_change_shows(id in ".{0,20}", fingerprint in any::<u128>(), bit in 0u32..128) {
            let digest = of(&[(id.clone(), fingerprint)]).digest;
            prop_assert_ne!(of(&[(id.clone(), fingerprint ^ 1 << bit)]).digest, digest);
            prop_assert_ne!(of(&[(format!("{id}\0"), fingerprint)]).digest, digest);
            prop_assert_ne!(of(&[(format!("{id}x"), fingerprint)]).digest, digest);
        }
    }
}
