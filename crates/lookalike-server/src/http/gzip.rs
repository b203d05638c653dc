//! Compressed bodies. Bodies of requests are expanded a little at a time, so that a small one
//! cannot take much memory.

use crate::http::problem::{Code, Problem};
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use flate2::write::MultiGzDecoder;
use std::io::Write;

/// The first byte of a gzip file.
pub(crate) const FIRST_BYTE: u8 = 0x1F;
/// Compressed bytes that are expanded at once. They expand to at most a thousand times as many.
const STEP: usize = 256;
/// Expanded bytes that make a piece.
const PIECE: usize = 64 << 10;

/// Expands a body piece by piece.
pub(crate) struct GzipDecoder {
    decoder: MultiGzDecoder<Vec<u8>>,
    compressed: Bytes,
}

impl GzipDecoder {
    pub(crate) fn new() -> Self {
        Self { decoder: MultiGzDecoder::new(Vec::new()), compressed: Bytes::new() }
    }

    /// Takes the next compressed piece, after [`next`](Self::next) has returned all of the previous
    /// one.
    pub(crate) fn put(&mut self, piece: Bytes) {
        self.compressed = piece;
    }

    /// The next expanded piece, of at most some 300 KiB; `None` if more compressed bytes are
    /// needed.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        while !self.compressed.is_empty() && self.decoder.get_ref().len() < PIECE {
            let step = self.compressed.split_to(STEP.min(self.compressed.len()));
            self.decoder.write_all(&step).map_err(|_| damaged())?;
        }
        let piece = std::mem::take(self.decoder.get_mut());
        Ok(Some(piece).filter(|piece| !piece.is_empty()).map(Bytes::from))
    }

    /// The rest at the end of the body; a problem if the body ends within the compressed data.
    pub(crate) fn end(&mut self) -> Result<Option<Bytes>, Problem> {
        self.decoder.try_finish().map_err(|_| damaged())?;
        self.next()
    }
}

fn damaged() -> Problem {
    let detail = "the body is not valid gzip, or is incomplete; send it as its content-encoding \
                  says, or uncompressed";
    Problem::new(Code::BAD_BODY, detail)
}

/// Whether a body is compressed by gzip; a problem for any other encoding.
pub(crate) fn is_encoded(headers: &HeaderMap) -> Result<bool, Problem> {
    let Some(value) = headers.get(CONTENT_ENCODING) else { return Ok(false) };
    let is_single = headers.get_all(CONTENT_ENCODING).iter().nth(1).is_none();
    match value.to_str().unwrap_or_default().trim() {
        name if is_single && name.eq_ignore_ascii_case("gzip") => Ok(true),
        name if is_single && name.eq_ignore_ascii_case("identity") => Ok(false),
        name => {
            let name = lookalike::store::entry::shortened_id(name);
            let detail = format!(
                "the body is compressed as {name:?}: send it with content-encoding: gzip, or as it \
                 is"
            );
            Err(Problem::new(Code::WRONG_CONTENT_TYPE, detail))
        }
    }
}

/// Whether the client accepts answers that are compressed by gzip.
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = values.flat_map(|value| value.split(','));
    codings.any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let weight = parts.find_map(|part| part.strip_prefix("q=")).map(str::parse::<f64>);
        is_gzip && weight.is_none_or(|weight| weight.is_ok_and(|weight| weight > 0.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn expand(packed: &[u8], cut: usize) -> Result<(Vec<u8>, usize), Problem> {
        let mut decoder = GzipDecoder::new();
        let mut all = Vec::new();
        let mut largest = 0;
        for piece in packed.chunks(cut) {
            decoder.put(Bytes::copy_from_slice(piece));
            while let Some(piece) = decoder.next()? {
                largest = largest.max(piece.len());
                all.extend_from_slice(&piece);
            }
        }
        all.extend(decoder.end()?.unwrap_or_default());
        Ok((all, largest))
    }

    #[test]
    fn gzip_bodies_expand_in_any_pieces() {
        let text: Vec<u8> = (0..200_000_u32).flat_map(|n| n.to_string().into_bytes()).collect();
        let two = [packed(&text), packed(b"and more")].concat();
        for cut in [1, 7, 4_096, 1 << 20] {
            let (all, _) = expand(&two, cut).unwrap();
            assert!(all == [&text[..], b"and more"].concat(), "{cut}");
        }
        assert_eq!(expand(&packed(b""), 3).unwrap().0, b"");
    }

    #[test]
    fn gzip_bombs_expand_in_small_pieces() {
        let bomb = packed(&vec![0; 64 << 20]);
        assert!(bomb.len() < 100_000);
        let (all, largest) = expand(&bomb, bomb.len()).unwrap();
        assert_eq!(all.len(), 64 << 20);
        assert!(largest <= PIECE + 1_100 * STEP, "{largest}");
    }

    #[test]
    fn invalid_gzip_bodies_are_errors() {
        let good = packed(b"some text that is long enough");
        let mut wrong = good.clone();
        let last = wrong.len() - 6;
        wrong[last] ^= 1;
        for bytes in [&b"no gzip"[..], &good[..good.len() - 1], &good[..5], &wrong] {
            assert_eq!(expand(bytes, 4).unwrap_err().code, Code::BAD_BODY, "{bytes:?}");
        }
    }

    #[test]
    fn accept_encoding_is_parsed() {
        let accepted = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(value));
            is_accepted(&headers)
        };
        assert!(accepted("gzip") && accepted("br, GZIP;q=0.5"));
        assert!(!accepted("br") && !accepted("gzip;q=0") && !accepted("gzip;q=x"));
        assert!(!is_accepted(&HeaderMap::new()));
    }
}
