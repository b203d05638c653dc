//! Tests of whole and damaged records, and of server responses.

use super::*;
use crate::extractor::{ExtractedPart, Extractor, FailedPart, PartSink};
use crate::reading::{ExtractOptions, Limits};
use lookalike_test_support::gzip;
use proptest::prelude::*;
use std::convert::Infallible;
use std::io::Write as _;

fn record(kind: &str, url: &str, media: &str, block: &[u8]) -> Vec<u8> {
    let header = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: \
         2020-02-03T04:05:06.789Z\r\nWARC-Record-ID: <urn:uuid:1>\r\nContent-Type: {media}\r\n\
         Content-Length: {}\r\n\r\n",
        block.len()
    );
    [header.as_bytes(), block, b"\r\n\r\n"].concat()
}

fn response(header: &str, body: &[u8]) -> Vec<u8> {
    let block = [format!("HTTP/1.1 200 OK\r\n{header}\r\n\r\n").as_bytes(), body].concat();
    record("response", "http://x/a", "application/http; msgtype=response", &block)
}

/// The parts and failures of a file, one per line.
#[derive(Default)]
struct WarcLines(Vec<String>);

impl PartSink for WarcLines {
    type Error = Infallible;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), Infallible> {
        let ExtractedPart { number, within, kind, text, fields } = part;
        let fields =
            ["url", "record-id", "date", "subject"].map(|name| fields.get(name).unwrap_or("-"));
        self.0.push(format!("{number} {within} {kind:?} {text:?} {}", fields.join(" ")));
        Ok(())
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), Infallible> {
        self.0.push(format!("{}: {}", failed.within, failed.failure));
        Ok(())
    }
}

fn extract(bytes: &[u8]) -> Vec<String> {
    let mut lines = WarcLines::default();
    let Ok(()) = Extractor::new(&ExtractOptions::default()).extract("a.warc", bytes, &mut lines);
    lines.0
}

/// The content of a record, or the reason why it cannot be read.
fn content(record: &[u8]) -> Result<Option<String>, String> {
    let options = ExtractOptions::default();
    let (length, cut) = next_record(record, true).unwrap();
    assert_eq!(length, record.len());
    let file =
        file(&cut.unwrap(), &LimitTracker::new(&options)).map_err(|failure| failure.to_string())?;
    Ok(file.map(|file| String::from_utf8(file.bytes.into_owned()).unwrap()))
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap()
}

#[test]
fn records_are_files_in_a_file() {
    let mail = b"HTTP/1.0 200 OK\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\ncaf\xe9";
    let crawl = [
        record("warcinfo", "-", "application/warc-fields", b"software: x"),
        record("request", "http://x/a.txt", "application/http", b"GET / HTTP/1.1\r\n\r\n"),
        record("response", "http://x/a.php?b=c.html", "application/http", mail),
        record("response", "http://x/b", "application/http", b"HTTP/1.1 404 No\r\n\r\ngone"),
        record("conversion", "http://x/c", "text/plain", b"From: a\nTo: b\n\nplain"),
        record("resource", "http://x/d.txt", "text/plain", b"resource"),
        record("response", "dns:x", "text/dns", b"1.2.3.4"),
        record("revisit", "http://x/a", "application/http", b"HTTP/1.1 200 OK\r\n\r\n"),
        record("metadata", "http://x/a", "application/warc-fields", b"x: y"),
    ]
    .concat();
    let metadata = "urn:uuid:1 2020-02-03T04:05:06Z -";
    let expected = [
        format!("0 3 Text \"café\" http://x/a.php?b=c.html {metadata}"),
        format!("1 5 Text \"From: a\\nTo: b\\n\\nplain\" http://x/c {metadata}"),
        format!("2 6 Text \"resource\" http://x/d.txt {metadata}"),
    ];
    assert_eq!(extract(&crawl), expected);
    // The result is the same for a compressed file. `extract_part` sends only one part.
    assert_eq!(extract(&gzip(&crawl)), expected);
    let mut lines = WarcLines::default();
    let Ok(()) =
        Extractor::new(&ExtractOptions::default()).extract_part("a", &crawl, 1, &mut lines);
    assert_eq!(lines.0, expected[1..2]);
}

#[test]
fn damaged_records_do_not_hide_others() {
    let good = record("resource", "http://x/d", "text/plain", b"good");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let long = text(&good).replace("Content-Length: 4", "Content-Length: 9");
    let far = text(&good).replace("Content-Length: 4", "Content-Length: 99999999999999999999");
    let huge = text(&good).replace("Content-Length: 4", "Content-Length: 18446744073709551615");
    let without_length = text(&good).replace("Content-Length", "Length");
    let bare = text(&good).replace("\r\n", "\n");
    for (broken, failures) in [
        (long.as_bytes(), 1),
        (far.as_bytes(), 1),
        (huge.as_bytes(), 1),
        (without_length.as_bytes(), 1),
        (b"garbage\r\n\r\n".as_slice(), 1),
        (b"\r\n\r\n".as_slice(), 0),
        (&good[..good.len() - 2], 0),
        (&good[..good.len() - 4], 0),
    ] {
        let lines = extract(&[&good, broken, &good].concat());
        let damaged = lines.iter().filter(|line| line.contains("damaged")).count();
        let read = lines.iter().filter(|line| line.contains("\"good\"")).count();
        let whole = if failures == 0 && broken.len() > 4 { 3 } else { 2 };
        assert_eq!((damaged, read), (failures, whole), "{:?} {lines:?}", text(broken));
    }
    assert_eq!(extract(bare.as_bytes()).len(), 1);
    let cut = extract(&good[..good.len() - 6]);
    assert_eq!(cut, ["1: damaged: a record of 4 bytes, of which 2 are there"]);
}

#[test]
fn answers_are_decoded() {
    let found = |text: &str| Ok(Some(text.to_owned()));
    let gzipped = gzip(b"page");
    let chunked = b"4;x=y\r\npage\r\n2\r\n s\r\n0\r\n\r\n";
    let both = [format!("{:x}\r\n", gzipped.len()).as_bytes(), &gzipped, b"\r\n0\r\n\r\n"].concat();
    let raw = {
        let mut writer =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(b"page").unwrap();
        writer.finish().unwrap()
    };
    assert_eq!(content(&response("Content-Encoding: gzip", &gzipped)), found("page"));
    assert_eq!(content(&response("content-encoding: x-gzip", b"page")), found("page"));
    assert_eq!(content(&response("Content-Encoding: deflate", &zlib(b"page"))), found("page"));
    assert_eq!(content(&response("Content-Encoding: deflate", &raw)), found("page"));
    assert_eq!(content(&response("Transfer-Encoding: chunked", chunked)), found("page s"));
    assert_eq!(content(&response("Transfer-Encoding: chunked", b"page")), found("page"));
    let fields = "Transfer-Encoding: chunked\r\nContent-Encoding: gzip";
    assert_eq!(content(&response(fields, &both)), found("page"));
    assert_eq!(content(&response("X: y", b"")), Ok(None));
    let brotli = content(&response("Content-Encoding: br", b"xx"));
    assert_eq!(brotli, Err("a page compressed with br: its text cannot be read".to_owned()));
}

#[test]
fn damaged_answers_are_failures() {
    let cases: [(&str, &[u8]); 5] = [
        ("Transfer-Encoding: chunked", b"ffffffffffffffff\r\npage"),
        ("Transfer-Encoding: chunked", b"fffffffffffffffff\r\npage"),
        ("Transfer-Encoding: chunked", b"5\r\npage"),
        ("Transfer-Encoding: chunked", b"4\r\npage\r\nrest"),
        ("Content-Encoding: gzip", b"\x1f\x8b\x08 cut off"),
    ];
    for (header, body) in cases {
        let failure = content(&response(header, body));
        assert!(failure.is_err(), "{failure:?}");
    }
}

#[test]
fn overexpanding_records_fail() {
    let bomb = response("Content-Encoding: gzip", &gzip(&vec![b'a'; 1 << 20]));
    let limits = Limits { expanded: 1000, members: 1, ..Limits::default() };
    let options = ExtractOptions { limits, ..ExtractOptions::default() };
    let mut lines = WarcLines::default();
    let Ok(()) = Extractor::new(&options).extract("a", &bomb, &mut lines);
    assert_eq!(lines.0, ["1: more than 1000 expanded bytes"]);
    let two = record("resource", "http://x/d", "text/plain", b"good").repeat(2);
    let mut lines = WarcLines::default();
    let Ok(()) = Extractor::new(&options).extract("a", &two, &mut lines);
    assert_eq!(lines.0.len(), 2);
    assert_eq!(lines.0[1], ": more than 1 members");
}

#[test]
fn a_mailbox_is_its_messages() {
    let line = "From a@b Thu Jan  1 00:00:00 1970\n";
    let mailbox =
        format!("{line}Subject: a\nTo: x\n\none\n\n{line}Subject: b\nTo: x\n\n>From two\n");
    if !cfg!(feature = "mail") {
        return;
    }
    let expected =
        ["0 :1 Mail \"one\\n\" - - - a".to_owned(), "1 :7 Mail \"From two\\n\" - - - b".to_owned()];
    assert_eq!(extract(mailbox.as_bytes()), expected);
    let mut lines = WarcLines::default();
    let Ok(()) = Extractor::new(&ExtractOptions::default()).extract_part(
        "a",
        mailbox.as_bytes(),
        1,
        &mut lines,
    );
    assert_eq!(lines.0, expected[1..]);
}

#[test]
fn names_come_from_addresses() {
    let cases = [
        ("http://example.com", ""),
        ("http://example.com/a/b.pdf?c=/d.html#e", "b.pdf"),
        ("http://example.com/a/", ""),
        ("file.txt", "file.txt"),
        ("", ""),
    ];
    for (url, name) in cases {
        assert_eq!(last_part(url), name, "{url}");
    }
}

fn all(bytes: &[u8], step: usize) -> Vec<Result<Vec<u8>, ExtractError>> {
    let (mut buffer, mut read, mut all) = (Vec::new(), 0, Vec::new());
    loop {
        while let Some((length, record)) = next_record(&buffer, read == bytes.len()) {
            assert!(length > 0);
            all.push(record.map(|record| record.block.to_vec()));
            buffer.drain(..length);
        }
        if read == bytes.len() {
            return all;
        }
        let end = bytes.len().min(read + step);
        buffer.extend_from_slice(&bytes[read..end]);
        read = end;
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes: Vec<u8>) {
        let whole = [b"WARC/1.0\r\n".as_slice(), &bytes].concat();
        drop(extract(&whole));
        drop(extract(&response("Transfer-Encoding: chunked", &bytes)));
        drop(extract(&response("Content-Encoding: deflate", &bytes)));
    }

    #[test]
    fn streamed_pieces_give_equal_records(
        pieces in proptest::collection::vec(0_usize..9, 0..30),
        step in 1_usize..300,
    ) {
        let good = record("resource", "http://x/d", "text/plain", b"good");
        let field = b"Content-Length: 7\n";
        let known: [&[u8]; 9] = [
            &good, &good, &good, b"\r\n\r\n", b"WARC/1.0\r\n", b"\r\n", b"x", field, b"\n\n",
        ];
        let text: Vec<u8> = pieces.iter().flat_map(|piece| known[*piece]).copied().collect();
        prop_assert_eq!(all(&text, step), all(&text, usize::MAX / 2));
    }
}

/// A record whose type is damaged or missing is reported.
#[test]
fn records_of_unknown_types_are_listed() {
    let whole = record("conversion", "http://x/a", "text/plain", b"the text");
    assert_eq!(extract(&whole).len(), 1);
    for (from, to, reason) in [
        ("WARC-Type", "WARC-Tpye", "without its WARC-Type"),
        ("conversion", "c\u{7f}nversion", "which WARC does not have"),
        ("conversion", "continuation", "continuation of a record"),
    ] {
        let damaged = String::from_utf8(whole.clone()).unwrap().replacen(from, to, 1);
        let lines = extract(damaged.as_bytes());
        assert!(lines.len() == 1 && lines[0].contains(reason), "{lines:?}");
    }
    for known in ["warcinfo", "request", "metadata", "revisit"] {
        assert!(extract(&record(known, "http://x/a", "text/plain", b"x")).is_empty());
    }
}
