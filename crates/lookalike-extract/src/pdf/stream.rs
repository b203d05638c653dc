//! Decoding of streams, within the limits.

use crate::reading::{ExtractError, LimitTracker};
use lopdf::{Error, Object, Stream};

/// Maximum bytes reserved for a stream before it is inflated.
const FIRST_BYTES: usize = 1 << 20;

/// The content of a stream, all filters decoded.
pub(super) fn inflate(
    stream: &Stream,
    tracker: &LimitTracker<'_>,
) -> Result<Vec<u8>, ExtractError> {
    tracker.check_time()?;
    if is_plain_flate(stream) {
        return deflated(&stream.content, tracker);
    }
    let bytes_left = usize::try_from(tracker.bytes_left()).unwrap_or(usize::MAX);
    let content = match stream.get_plain_content_with_limit(bytes_left) {
        Ok(content) => content,
        Err(Error::Decompress(lopdf::DecompressError::MemoryLimitExceeded { .. })) => {
            tracker.charge_bytes(bytes_left.saturating_add(1))?;
            return Err(ExtractError::damaged("a stream exceeds the limit of decompressed bytes"));
        }
        Err(error) => return Err(ExtractError::damaged(format!("a stream: {error}"))),
    };
    tracker.charge_bytes(content.len())?;
    Ok(content)
}

/// As [`inflate`], for optional streams: `None` if damaged.
pub(super) fn readable(
    stream: &Stream,
    tracker: &LimitTracker<'_>,
) -> Result<Option<Vec<u8>>, ExtractError> {
    match inflate(stream, tracker) {
        Ok(content) => Ok(Some(content)),
        Err(ExtractError::Damaged { .. }) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Whether the only filter is `FlateDecode` without predictor, as in most streams.
fn is_plain_flate(stream: &Stream) -> bool {
    let plain = match stream.dict.get(b"DecodeParms") {
        Err(_) | Ok(Object::Null) => true,
        Ok(Object::Dictionary(parameters)) => !parameters.has(b"Predictor"),
        Ok(_) => false,
    };
    plain && stream.filters().is_ok_and(|filters| filters == [b"FlateDecode"])
}

/// Inflates step by step. The checksum at the end is ignored: many files lack it.
fn deflated(bytes: &[u8], tracker: &LimitTracker<'_>) -> Result<Vec<u8>, ExtractError> {
    let body = match bytes {
        [method, flags, body @ ..]
            if method & 15 == 8
                && (u16::from(*method) << 8 | u16::from(*flags)).is_multiple_of(31) =>
        {
            body
        }
        _ => bytes,
    };
    let mut out = Vec::new();
    if !bytes.is_empty() {
        let first = (bytes.len() * 4).clamp(1 << 10, FIRST_BYTES) as u64;
        tracker.inflate("a stream", body, first, &mut out)?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{ExtractOptions, LimitKind};
    use flate2::Compression;
    use lopdf::Dictionary;
    use std::io::Write;

    fn flate(content: &[u8]) -> Stream {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).expect("memory");
        let mut dict = Dictionary::new();
        dict.set("Filter", "FlateDecode");
        Stream::new(dict, encoder.finish().expect("memory"))
    }

    #[test]
    fn streams_inflate_without_checksums() {
        let options = ExtractOptions::default();
        let tracker = LimitTracker::new(&options);
        let content = "many words ".repeat(400_000);
        let mut stream = flate(content.as_bytes());
        assert!(inflate(&stream, &tracker) == Ok(content.clone().into_bytes()));
        stream.content.truncate(stream.content.len() - 4);
        assert!(inflate(&stream, &tracker) == Ok(content.into_bytes()));
        stream.content.truncate(stream.content.len() / 2);
        assert!(matches!(inflate(&stream, &tracker), Err(ExtractError::Damaged { .. })));
    }

    #[test]
    fn inflated_streams_respect_the_limit() {
        let mut options = ExtractOptions::default();
        options.limits.expanded = 3 << 20;
        let limit = Err(ExtractError::Limit { kind: LimitKind::Expanded, limit: 3 << 20 });
        let mut stream = flate(&vec![b' '; 64 << 20]);
        assert_eq!(inflate(&stream, &LimitTracker::new(&options)), limit);
        let glyph_names = vec!["FlateDecode".into(), "FlateDecode".into()];
        stream.dict.set("Filter", Object::Array(glyph_names));
        let outer = flate(&stream.content);
        stream.content = outer.content;
        assert_eq!(inflate(&stream, &LimitTracker::new(&options)), limit);
    }
}
