//! Mailboxes, crawls and archives contain the same documents for all block sizes, compressed or
//! not, and when documents are fetched again.

use super::{All, Collection, ReadBuffers, ReadOptions, Taken, blocks, read_named, zst};
use crate::Side;
use lookalike_extract::{ExtractOptions, Limits};
use lookalike_test_support::{gzip, tar, tar_entry};
use std::path::Path;

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/extract");
    std::fs::read(folder.join(name)).unwrap()
}

fn mailbox() -> Vec<u8> {
    let part = |number: u32| {
        format!(
            "From a@b Thu Jan  1 00:00:0{number} 1970\nFrom: a@b\nTo: c@d\nSubject: s{number}\n\
             MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\n\
             body {number} of a message\n>From here on\n--x\nContent-Type: text/plain\n\
             Content-Disposition: attachment; filename=a.txt\n\nattached {number}\n--x--\n\n"
        )
    };
    (0..9).map(part).collect::<String>().into_bytes()
}

fn everything(name: &str, bytes: &[u8], block_bytes: usize) -> All {
    let extract = ExtractOptions { attachments: true, ..ExtractOptions::default() };
    let options = ReadOptions { extract, ..ReadOptions::default() };
    read_named(name, bytes, &options, block_bytes).unwrap()
}

/// Returns the part of each id after the name of the file.
fn ids(all: &All, name: &str) -> Vec<String> {
    let own = |id: &&str| id.rfind(name).map_or(id.to_string(), |at| id[at + name.len()..].into());
    all.ids().iter().map(own).collect()
}

#[test]
fn blocks_and_compression_do_not_matter() {
    let files = [
        ("in.mbox", mailbox(), 18),
        ("in.warc", fixture("mail/crawl.warc"), 1),
        ("in.tar", fixture("office/pax.tar"), 2),
    ];
    for (name, bytes, least) in files {
        let whole = everything(name, &bytes, 1 << 20);
        assert!(whole.documents.len() >= least, "{name}: {:?}", whole.ids());
        for block_bytes in [1, 100, 700, 5000] {
            let cut = everything(name, &bytes, block_bytes);
            assert_eq!(ids(&cut, name), ids(&whole, name), "{name} {block_bytes}");
            assert_eq!(cut.texts(), whole.texts(), "{name} {block_bytes}");
            assert_eq!(
                cut.skipped.len(),
                whole.skipped.len(),
                "{name} {block_bytes} {:?}",
                cut.skipped
            );
            assert!(cut.blocks >= whole.blocks);
        }
        for (end, packed) in [(".gz", gzip(&bytes)), (".zst", zst(&bytes))] {
            let packed_name = format!("{name}{end}");
            let unpacked = everything(&packed_name, &packed, 300);
            assert_eq!(ids(&unpacked, &packed_name), ids(&whole, name), "{packed_name}");
            assert_eq!(unpacked.texts(), whole.texts(), "{packed_name}");
        }
    }
}

#[test]
fn attachments_have_their_own_ids() {
    let all = everything("in.mbox", &mailbox(), 1 << 20);
    let ids = ids(&all, "in.mbox");
    assert_eq!(ids[..4], [":1", ":1/a.txt", ":19", ":19/a.txt"]);
    assert!(all.texts()[0].contains("body 0") && all.texts()[0].contains("From here"));
    assert!(all.texts()[1].contains("attached 0") && !all.texts()[0].contains("attached"));
}

#[test]
fn truncated_archives_report_damage() {
    let bytes = fixture("office/pax.tar");
    let whole = everything("in.tar", &bytes, 1 << 20);
    for tenth in 1..10 {
        let cut = everything("in.tar", &bytes[..bytes.len() * tenth / 10], 1 << 20);
        assert!(cut.documents.len() <= whole.documents.len());
        let reported = cut.reasons().iter().any(|reason| reason.contains("damaged"));
        assert!(
            reported || cut.documents.len() == whole.documents.len(),
            "{tenth}: {:?}",
            cut.ids()
        );
    }
}

/// Builds a ZIP archive of uncompressed files.
fn zip<T: AsRef<[u8]>>(files: &[(String, T)]) -> Vec<u8> {
    let (mut out, mut list) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let content = content.as_ref();
        let mut crc = flate2::Crc::new();
        crc.update(content);
        let offset = (out.len() as u32).to_le_bytes();
        let mut shared = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        for number in [crc.sum(), content.len() as u32, content.len() as u32] {
            shared.extend(number.to_le_bytes());
        }
        shared.extend((name.len() as u16).to_le_bytes());
        shared.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&shared);
        out.extend(name.as_bytes());
        out.extend(content);
        list.extend(b"PK\x01\x02\x14\x03");
        list.extend(&shared);
        list.extend([0; 10]);
        list.extend(offset);
        list.extend(name.as_bytes());
    }
    let (start, length) = (out.len() as u32, list.len() as u32);
    out.extend(list);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([(files.len() as u16).to_le_bytes(); 2].concat());
    out.extend(length.to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0, 0]);
    out
}

#[test]
fn repeated_tar_members_are_numbered() {
    let names = ["a", "b", "a", "a#2", "c/a", "a", "b"];
    let mut bytes = Vec::new();
    for (at, name) in names.iter().enumerate() {
        bytes.extend(tar(name, format!("text number {at}").as_bytes()));
    }
    bytes.extend([0; 1024]);
    let expected = ["/a", "/b", "/a#2", "/a#2#2", "/c/a", "/a#3", "/b#2"];
    for block_bytes in [1, 600, 2000, 1 << 20] {
        let all = everything("in.tar", &bytes, block_bytes);
        assert_eq!(ids(&all, "in.tar"), expected, "{block_bytes}");
        assert_eq!(all.texts()[5], "text number 5");
    }
}

#[test]
fn repeated_names_number_alike_after_rewind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.tar");
    let bytes = [tar("a", b"one"), tar("a", b"two"), tar("b", b"three"), vec![0; 1024]].concat();
    std::fs::write(&path, bytes).unwrap();
    let collection = Collection::open(&[path], &ReadOptions::default()).unwrap();
    let ids = || -> Vec<String> {
        let blocks = blocks(&collection).unwrap();
        blocks.into_iter().flat_map(|(_, taken)| taken.documents).map(|(id, ..)| id).collect()
    };
    let first = ids();
    assert_eq!(first.len(), 3);
    collection.rewind();
    assert_eq!(ids(), first);
}

#[test]
fn replayed_tar_blocks_number_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("in.tar");
    let bytes = [tar("a", b"one"), tar("a", b"two"), tar("a", b"three"), vec![0; 1024]].concat();
    std::fs::write(&path, bytes).unwrap();
    let open = || {
        Collection::with_block_bytes(
            Side::Paths(std::slice::from_ref(&path)),
            Side::Paths(&[]),
            &ReadOptions::default(),
            1,
        )
        .unwrap()
    };
    let first = blocks(&open()).unwrap();
    // A resumed run creates its blocks from their stored states, in a new collection.
    let resumed = open();
    for (retained, taken) in first {
        let state = retained.state().unwrap();
        let block = resumed.retained(state, None).unwrap();
        let mut records = Replayed::default();
        block.replay(&mut ReadBuffers::default(), &mut records).unwrap();
        let ids: Vec<String> = taken.documents.into_iter().map(|(id, ..)| id).collect();
        assert_eq!(records.0, ids);
    }
}

#[derive(Default)]
struct Replayed(Vec<String>);

impl crate::DocumentSink for Replayed {
    type Error = crate::ReadError;

    fn document(&mut self, document: &crate::Document<'_>) -> Result<(), crate::ReadError> {
        self.0.push(document.id.to_owned());
        Ok(())
    }

    fn skipped(&mut self, skipped: crate::SkippedItem) -> Result<(), crate::ReadError> {
        panic!("{skipped}");
    }
}

/// If a file has many documents and each fetch would cost a pass through the file, the texts are
/// kept.
#[test]
fn container_texts_are_kept_for_fetching() {
    let files: Vec<(String, String)> =
        (0..40).map(|i| (format!("{i}.txt"), format!("text number {i}"))).collect();
    let inner = zip(&files);
    // Detection checks the first bytes for NUL, so the message starts with plain text.
    let head = format!(
        "From: a@b\nTo: c@d\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n\
         --x\n\n{}\n--x\nContent-Type: application/zip\nContent-Transfer-Encoding: 8bit\n\
         Content-Disposition: attachment; filename=in.zip\n\n",
        "body\n".repeat(1000)
    );
    let mail = [head.as_bytes(), &inner, b"\n--x--\n"].concat();
    let extract = ExtractOptions { attachments: true, ..ExtractOptions::default() };
    let options = ReadOptions { extract, ..ReadOptions::default() };
    let outer = zip(&[("in.zip".to_owned(), inner.clone())]);
    for (name, bytes) in [("out.zip", outer), ("x.bin", inner), ("x.eml", mail)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let collection = Collection::open(std::slice::from_ref(&path), &options).unwrap();
        let (mut scratch, mut taken) = (ReadBuffers::retaining(), Taken::default());
        let block = collection.next_block().unwrap().unwrap();
        block.read(&mut scratch, &mut taken).unwrap();
        let retained = block.retain(None, &mut scratch).unwrap();
        assert!(taken.documents.len() >= 40, "{name}");
        std::fs::remove_file(&path).unwrap();
        let mut fetched = 0;
        for (id, text, place) in &taken.documents {
            fetched += usize::from(
                retained.fetch(*place, id, &mut scratch, |again| assert_eq!(again, text)).is_ok(),
            );
        }
        assert_eq!(fetched, taken.documents.len() - 16, "{name}");
    }
}

/// Every member of an archive counts against the same limits, including the members of members.
#[test]
fn nested_members_share_one_budget() {
    let inner = |name: &str| {
        let files: Vec<_> = (0..10).map(|i| (format!("{name}{i}"), "word ".repeat(200))).collect();
        zip(&files)
    };
    let members = ["a", "b", "c"].map(|name| (format!("{name}.zip"), inner(name)));
    let sum: usize = members.iter().map(|(_, content)| content.len()).sum();
    let limits = |limits| {
        let options = ReadOptions {
            extract: ExtractOptions { limits, ..ExtractOptions::default() },
            ..ReadOptions::default()
        };
        read_named("x.zip", &zip(&members), &options, 1 << 20).unwrap()
    };
    assert_eq!(limits(Limits::default()).documents.len(), 30);
    let all = limits(Limits { members: 32, ..Limits::default() });
    assert_eq!(all.documents.len(), 29, "{:?}", all.reasons());
    assert!(all.reasons()[0].contains("more than 32 members (max_members"), "{:?}", all.reasons());
    let expanded = sum as u64 - 1;
    let all = limits(Limits { expanded, ..Limits::default() });
    assert_eq!(all.documents.len(), 20, "{:?}", all.reasons());
    assert!(all.reasons()[0].contains("max_expanded"), "{:?}", all.reasons());
}

#[test]
fn text_members_ignore_the_bytes_limit() {
    let text = "word ".repeat(1000);
    let bytes = zip(&[("a.txt".to_owned(), &text)]);
    let read = |limits| {
        let extract = ExtractOptions { limits, ..ExtractOptions::default() };
        let options = ReadOptions { extract, skip_bad: true, ..ReadOptions::default() };
        read_named("x.zip", &bytes, &options, 1 << 20).unwrap()
    };
    // The limit `bytes` applies only to files that are not plain text.
    let all = read(Limits { bytes: 1000, ..Limits::default() });
    assert_eq!(all.texts(), [text.as_str()]);
    let all = read(Limits { expanded: 1000, ..Limits::default() });
    let reasons = all.reasons();
    let expected = "more than 1000 expanded bytes (max_expanded allows more)";
    assert!(reasons[0].contains(expected), "{reasons:?}");
}

/// Builds a tar archive with blocks of zeros between two entries, and an end mark.
fn tar_with_zeros(blocks: usize) -> Vec<u8> {
    [tar("a.txt", b"first"), vec![0; 512 * blocks], tar("b.txt", b"second"), vec![0; 1024]].concat()
}

#[test]
fn entries_after_zeros_are_read() {
    for blocks in [1, 2, 5] {
        for block_bytes in [1, 512, 1024, 1 << 20] {
            let all = everything("in.tar", &tar_with_zeros(blocks), block_bytes);
            assert_eq!(all.texts(), ["first", "second"], "{blocks} {block_bytes}");
            // A single block of zeros replaces a header and is reported. Two blocks end an archive,
            // and another archive may follow.
            let listed = usize::from(blocks == 1);
            assert_eq!(all.skipped.len(), listed, "{blocks} {block_bytes} {:?}", all.reasons());
        }
    }
    let nested = zip(&[("in.tar".to_owned(), tar_with_zeros(1))]);
    let all = everything("out.zip", &nested, 1 << 20);
    assert_eq!((all.texts(), all.skipped.len()), (vec!["first", "second"], 1));
}

#[test]
fn bytes_after_tar_ends_are_listed() {
    let archive = [tar("a.txt", b"first"), vec![0; 1024], vec![b'x'; 700]].concat();
    for block_bytes in [1, 512, 1 << 20] {
        let all = everything("in.tar", &archive, block_bytes);
        assert_eq!(all.texts(), ["first"]);
        assert!(all.reasons().iter().any(|reason| reason.contains("damaged")), "{block_bytes}");
    }
}

#[test]
fn orphaned_tar_headers_are_listed() {
    let header = tar_entry("x", b'L', b"name");
    let archive = [tar("a.txt", b"first"), header, vec![0; 1024]].concat();
    for block_bytes in [1, 512, 1 << 20] {
        let all = everything("in.tar", &archive, block_bytes);
        assert_eq!((all.texts(), all.skipped.len()), (vec!["first"], 1), "{block_bytes}");
    }
}

#[test]
fn members_are_limited_in_each_container() {
    let page = |number: u32| {
        let text = format!("page {number}");
        format!(
            "WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: {}\r\n\r\n{text}\r\n\r\n\
             WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: 1\r\n\r\nx\r\n\r\n",
            text.len()
        )
    };
    let tar: Vec<u8> =
        (0..9).flat_map(|n| tar(&format!("{n}.txt"), b"text")).chain([0; 1024]).collect();
    let warc = (0..9).map(page).collect::<String>().into_bytes();
    let limits = Limits { members: 4, ..Limits::default() };
    let extract = ExtractOptions { limits, ..ExtractOptions::default() };
    let options = ReadOptions { extract, ..ReadOptions::default() };
    for (name, bytes) in [("in.tar", tar), ("in.mbox", mailbox()), ("in.warc", warc)] {
        let folder = tempfile::tempdir().unwrap();
        let packed = format!("{name}.gz");
        std::fs::write(folder.path().join(name), &bytes).unwrap();
        std::fs::write(folder.path().join(&packed), gzip(&bytes)).unwrap();
        for (path, block_bytes) in [(name, 1), (name, 600), (name, 1 << 20), (&packed, 600)] {
            let path = folder.path().join(path);
            let collection = Collection::with_block_bytes(
                Side::Paths(&[path]),
                Side::Paths(&[]),
                &options,
                block_bytes,
            )
            .unwrap();
            let mut counts = [0; 2];
            let mut scratch = ReadBuffers::default();
            for (retained, taken) in blocks(&collection).unwrap() {
                counts[0] += taken.documents.len();
                assert!(taken.skipped.iter().all(|s| s.to_string().contains("4 members")));
                let mut again = Taken::default();
                retained.replay(&mut scratch, &mut again).unwrap();
                counts[1] += again.documents.len();
            }
            assert_eq!(counts, [4, 4], "{name} {block_bytes}");
        }
    }
}

#[test]
fn decompression_takes_limited_time() {
    let limits = Limits { time: std::time::Duration::from_nanos(1), ..Limits::default() };
    let extract = ExtractOptions { limits, ..ExtractOptions::default() };
    let options = ReadOptions { extract, skip_bad: true, ..ReadOptions::default() };
    let text = b"words of a long text ".repeat(100_000);
    for name in ["a.txt", "a.mbox", "a.warc", "a.tar", "a.jsonl"] {
        for (end, packed) in [("gz", gzip(&text)), ("zst", zst(&text))] {
            let name = format!("{name}.{end}");
            let all = read_named(&name, &packed, &options, 1 << 20).unwrap();
            let reasons = all.reasons();
            assert!(reasons.iter().any(|reason| reason.contains("max_seconds")), "{reasons:?}");
        }
    }
}
