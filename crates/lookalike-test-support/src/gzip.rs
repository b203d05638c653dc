//! Compresses bytes with gzip.

use std::io::Write as _;

/// Compresses bytes as one gzip member, at the fast level.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn a_decoder_reads_the_bytes_back() {
        for bytes in [&b""[..], b"text", &[7; 10_000]] {
            let packed = gzip(bytes);
            let mut decoder = flate2::read::GzDecoder::new(&packed[..]);
            let mut unpacked = Vec::new();
            decoder.read_to_end(&mut unpacked).unwrap();
            assert_eq!(unpacked, bytes);
        }
    }
}
