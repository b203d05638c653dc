//! Hash functions for the bytes of tokens.

use crate::instruction_set::InstructionSet;
use crate::sha1;
use lookalike_core::hash::token_hash;

/// A hash function for tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TokenHasher {
    /// The first four bytes of SHA-1 in little-endian order: `sha1_hash32` of datasketch.
    Sha32,
    /// The first eight bytes of SHA-1 in little-endian order: `sha1_hash64` of datasketch.
    Sha64,
    /// The low half of the token hash of `docs/reference/signature.md`.
    Token32,
    /// The whole token hash of `docs/reference/signature.md`.
    Token64,
}

impl TokenHasher {
    fn width_mask(self) -> u64 {
        if matches!(self, Self::Sha64 | Self::Token64) { u64::MAX } else { u64::from(u32::MAX) }
    }

    /// The hash of one token.
    pub fn hash(self, token: &[u8]) -> u64 {
        let hash = match self {
            Self::Token32 | Self::Token64 => token_hash(token),
            Self::Sha32 | Self::Sha64 => sha1::hash(InstructionSet::best(), token),
        };
        hash & self.width_mask()
    }

    /// Appends the hashes of all `tokens`.
    pub fn hash_all(self, tokens: &[&[u8]], hashes: &mut Vec<u64>) {
        let start = hashes.len();
        match self {
            Self::Token32 | Self::Token64 => hashes.extend(tokens.iter().map(|t| token_hash(t))),
            Self::Sha32 | Self::Sha64 => sha1::hash_all(InstructionSet::best(), tokens, hashes),
        }
        let mask = self.width_mask();
        if mask != u64::MAX {
            hashes[start..].iter_mut().for_each(|hash| *hash &= mask);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hashes() {
        // `int.from_bytes(hashlib.sha1(b"minhash").digest()[:8], "little")`
        assert_eq!(TokenHasher::Sha64.hash(b"minhash"), 0x9d39_af24_1a5b_c520);
        assert_eq!(TokenHasher::Sha32.hash(b"minhash"), 0x9d39_af24_1a5b_c520 & 0xffff_ffff);
        assert_eq!(TokenHasher::Token64.hash(b"minhash"), token_hash(b"minhash"));
        assert_eq!(TokenHasher::Token32.hash(b"minhash"), token_hash(b"minhash") & 0xffff_ffff);
    }

    #[test]
    fn hashes_of_many_are_appended() {
        let words: Vec<String> = (0..100).map(|k| "word ".repeat(k % 13) + "end").collect();
        let tokens: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
        let hashers =
            [TokenHasher::Sha32, TokenHasher::Sha64, TokenHasher::Token32, TokenHasher::Token64];
        for hasher in hashers {
            let mut hashes = vec![u64::MAX];
            hasher.hash_all(&tokens, &mut hashes);
            assert_eq!(hashes[0], u64::MAX);
            let each: Vec<u64> = tokens.iter().map(|token| hasher.hash(token)).collect();
            assert_eq!(hashes[1..], each, "{hasher:?}");
        }
    }
}
