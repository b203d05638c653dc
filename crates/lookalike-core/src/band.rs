//! Bucket keys of a signature: one 64-bit key per band. Two documents are a candidate pair if they
//! share a key of the *same* band. Keys of different bands are unrelated, because the band's number
//! is part of them (Leskovec, Rajaraman, Ullman, ch. 3.4).

use crate::hash;

/// Writes the bucket key of every band into `keys`, one entry per band. The bands are consecutive
/// runs of `rows` values, from the front of `signature`. Values beyond `bands · rows` are in no
/// band. If the signature is too short for a band, its key hashes the remaining values.
///
/// Equal rows have equal keys; different rows collide with a probability of about 2⁻⁶⁴. The key is
/// the hash of the rows as little-endian bytes, started from the band's number
/// (`docs/reference/signature.md`).
#[inline]
pub fn bucket_keys(signature: &[u32], rows: usize, keys: &mut [u64]) {
    let mut bands = signature.chunks(rows.max(1));
    for (band, key) in (1u64..).zip(keys) {
        *key = rows_hash(hash::mix64(band), bands.next().unwrap_or_default());
    }
}

/// [`hash::hash_bytes`] of little-endian values, without converting to bytes first.
#[inline]
fn rows_hash(mut state: u64, rows: &[u32]) -> u64 {
    let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
    let len = 4 * rows.len() as u64;
    let mut rest = rows;
    while let ([a, b, c, d, tail @ ..], true) = (rest, rest.len() > 4) {
        state = hash::fold(pair(*a, *b) ^ hash::S0 ^ state, pair(*c, *d) ^ hash::S1);
        rest = tail;
    }
    let mut last = [0u32; 4];
    last[..rest.len()].copy_from_slice(rest);
    let [a, b, c, d] = last;
    hash::fold(pair(a, b) ^ hash::S0 ^ state, pair(c, d) ^ hash::S1 ^ len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucket_keys_hash_row_bytes() {
        let signature: Vec<u32> = (0..60).map(|i| i * 0x0102_0305).collect();
        for rows in 1..=12 {
            let mut keys = [0; 5];
            bucket_keys(&signature, rows, &mut keys);
            for (band, key) in keys.iter().enumerate() {
                let rows = &signature[band * rows..][..rows];
                let bytes: Vec<u8> = rows.iter().flat_map(|v| v.to_le_bytes()).collect();
                assert_eq!(*key, hash::hash_bytes(hash::mix64(band as u64 + 1), &bytes));
            }
        }
    }
}
