//! The content of streams, within the limits.

use crate::failure::Failure;
use crate::job::Job;
use flate2::{Decompress, FlushDecompress, Status};
use lopdf::{Error, Object, Stream};

/// Bytes that are inflated before the limits are looked at again.
const STEP: usize = 1 << 20;

/// What a stream holds, all filters undone.
pub(super) fn inflate(stream: &Stream, job: &Job<'_>) -> Result<Vec<u8>, Failure> {
    job.in_time()?;
    if is_plain_flate(stream) {
        return deflated(&stream.content, job);
    }
    let left = usize::try_from(job.left()).unwrap_or(usize::MAX);
    let content = match stream.get_plain_content_with_limit(left) {
        Ok(content) => content,
        Err(Error::Decompress(lopdf::DecompressError::MemoryLimitExceeded { .. })) => {
            job.expand(left.saturating_add(1))?;
            return Err(Failure::damaged("a stream above all limits"));
        }
        Err(error) => return Err(Failure::damaged(format!("a stream: {error}"))),
    };
    job.expand(content.len())?;
    Ok(content)
}

/// The same of a stream without which a font still has some meaning: nothing where it is damaged.
pub(super) fn readable(stream: &Stream, job: &Job<'_>) -> Result<Option<Vec<u8>>, Failure> {
    match inflate(stream, job) {
        Ok(content) => Ok(Some(content)),
        Err(Failure::Damaged { .. }) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Whether a stream has the one filter that nearly all have, and no predictor.
fn is_plain_flate(stream: &Stream) -> bool {
    let plain = match stream.dict.get(b"DecodeParms") {
        Err(_) | Ok(Object::Null) => true,
        Ok(Object::Dictionary(parameters)) => !parameters.has(b"Predictor"),
        Ok(_) => false,
    };
    plain && stream.filters().is_ok_and(|filters| filters == [b"FlateDecode"])
}

/// Inflates step by step. The checksum at the end is not looked at: many files lack it.
fn deflated(bytes: &[u8], job: &Job<'_>) -> Result<Vec<u8>, Failure> {
    let mut out = Vec::new();
    let body = match bytes {
        [method, flags, body @ ..]
            if method & 15 == 8
                && (u16::from(*method) << 8 | u16::from(*flags)).is_multiple_of(31) =>
        {
            body
        }
        [] => return Ok(out),
        _ => bytes,
    };
    let mut inflater = Decompress::new(false);
    loop {
        let read = usize::try_from(inflater.total_in()).unwrap_or(usize::MAX);
        let before = out.len();
        out.reserve((bytes.len() * 4).clamp(1 << 10, STEP));
        let rest = body.get(read..).unwrap_or_default();
        let status = inflater
            .decompress_vec(rest, &mut out, FlushDecompress::None)
            .map_err(|error| Failure::damaged(format!("a stream: {error}")))?;
        job.expand(out.len() - before)?;
        if status == Status::StreamEnd {
            return Ok(out);
        }
        let stuck = usize::try_from(inflater.total_in()).unwrap_or(usize::MAX) == read;
        if out.len() == before && stuck {
            return Err(Failure::damaged("a stream: it is cut off"));
        }
        job.in_time()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
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
    fn streams_are_inflated_and_missing_checksums_forgiven() {
        let options = Options::default();
        let job = Job::new(&options);
        let content = "many words ".repeat(400_000);
        let mut stream = flate(content.as_bytes());
        assert!(inflate(&stream, &job) == Ok(content.clone().into_bytes()));
        stream.content.truncate(stream.content.len() - 4);
        assert!(inflate(&stream, &job) == Ok(content.into_bytes()));
        stream.content.truncate(stream.content.len() / 2);
        assert!(matches!(inflate(&stream, &job), Err(Failure::Damaged { .. })));
    }

    #[test]
    fn no_stream_becomes_more_than_the_limit() {
        let mut options = Options::default();
        options.limits.expanded = 3 << 20;
        let limit = Err(Failure::Limit { what: "expanded bytes".to_owned(), limit: 3 << 20 });
        let mut stream = flate(&vec![b' '; 64 << 20]);
        assert_eq!(inflate(&stream, &Job::new(&options)), limit);
        let names = vec!["FlateDecode".into(), "FlateDecode".into()];
        stream.dict.set("Filter", Object::Array(names));
        let outer = flate(&stream.content);
        stream.content = outer.content;
        assert_eq!(inflate(&stream, &Job::new(&options)), limit);
    }
}
