//! Archives: their lists of files, and the files that can be read.

use super::zipped::{Entry, Form, crc, entry, zip, zip_as};
use super::{extract, extract_with, fixture, zip_entries};
use lookalike_extract::archive::{self, EntryKind, TarNext, next_entry};
use lookalike_extract::{
    ExtractError, ExtractOptions, ExtractedPart, Extractor, FailedPart, LimitKind, Limits, PartSink,
};
use lookalike_test_support::{tar, tar_entry};
use std::io::Cursor;

const MODIFIED: i64 = 1_714_979_290 * 1_000_000_000;

fn names(files: &[(String, String)]) -> Vec<&str> {
    files.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn equally_named_members_are_all_read() {
    let got = extract("plain.zip", &fixture("plain.zip"));
    assert!(got.failures.is_empty(), "{got:?}");
    assert_eq!(names(&got.parts), ["a.txt", "folder/größe.txt", "a.txt#2"]);
    assert_eq!(got.parts[2].1, "Another of that name.\n");
}

#[test]
fn zip_entries_inflate_separately() {
    let plain = fixture("plain.zip");
    // A self-extracting archive has other bytes before its first entry.
    let shifted = [&[7; 1000][..], &plain].concat();
    for bytes in [plain, shifted] {
        let listed = zip_entries(Cursor::new(&bytes)).unwrap();
        assert_eq!(listed.cut, None);
        let kinds: Vec<EntryKind> = listed.entries.iter().map(|e| e.kind).collect();
        assert_eq!(kinds, [EntryKind::File, EntryKind::Folder, EntryKind::File, EntryKind::File]);
        let second = &listed.entries[2];
        assert_eq!(second.modified, Some(MODIFIED));
        let start = second.data_offset as usize;
        let compressed = &bytes[start..start + second.compressed_size as usize];
        assert_eq!(second.inflate(compressed, 13).unwrap(), b"Second file.\n");
        let limit = ExtractError::Limit { kind: LimitKind::Expanded, limit: 12 };
        assert_eq!(second.inflate(compressed, 12), Err(limit));
        assert!(matches!(second.inflate(&compressed[1..], 100), Err(ExtractError::Damaged { .. })));
    }
}

#[test]
fn all_forms_of_zip_are_read() {
    let mut stored = entry("b.txt", b"second");
    stored.method = 0;
    let entries = [entry("a.txt", b"first"), stored, entry("c.txt", &vec![b'x'; 100_000])];
    for form in [Form::Usual, Form::Described, Form::LongDescribed, Form::Long] {
        let bytes = zip_as(form, &entries);
        let got = extract("x.zip", &bytes);
        assert!(got.failures.is_empty(), "{got:?}");
        assert_eq!(names(&got.parts), ["a.txt", "b.txt", "c.txt"]);
        assert_eq!(got.parts[1].1, "second");
        assert_eq!(got.bytes(), 5 + 6 + 100_000);
    }
}

#[test]
fn zip_names_and_times_are_decoded() {
    let mut old = entry("", b"x");
    old.name = b"gr\x94\xe1e\\x.txt".to_vec();
    old.host = 0;
    // A time in Unix seconds, one second before 1970.
    old.extra = [&0x5455u16.to_le_bytes()[..], &[5, 0, 1], &(-1i32).to_le_bytes()].concat();
    let mut new = entry("", b"x");
    new.extra = vec![0x0A, 0, 32, 0, 0, 0, 0, 0, 1, 0, 24, 0];
    new.extra.extend((116_444_736_000_000_000u64 + 5).to_le_bytes());
    new.extra.extend([0; 16]);
    let bytes = zip_as(Form::Usual, &[old, new]);
    let listed = zip_entries(Cursor::new(&bytes)).unwrap();
    assert_eq!(listed.entries[0].name, "größe/x.txt");
    assert_eq!(listed.entries[0].modified, Some(-1_000_000_000));
    assert_eq!(listed.entries[1].name, "unnamed");
    assert_eq!(listed.entries[1].modified, Some(500));
}

#[test]
fn unreadable_members_name_the_reason() {
    let mut link = entry("link", b"a.txt");
    link.attributes = 0o120_777 << 16;
    let mut device = entry("device", b"");
    device.attributes = 0o020_666 << 16;
    let mut secret = entry("secret", b"x");
    secret.flags = 1;
    let mut other = entry("other", b"x");
    other.method = 98;
    let entries = [link, device, secret, other, entry("a.txt", b"kept")];
    let got = extract("x.zip", &zip_as(Form::Usual, &entries));
    assert_eq!(names(&got.parts), ["a.txt"]);
    let messages: Vec<String> =
        got.failures.iter().map(|(name, failure)| format!("{name}: {failure}")).collect();
    assert_eq!(
        messages,
        [
            "link: a link: its text cannot be read",
            "device: a device: its text cannot be read",
            "secret: encrypted: it opens with a password only",
            "other: a file compressed with PPMd (method 98): its text cannot be read",
        ]
    );
}

#[test]
fn common_zip_methods_are_read() {
    let bytes = fixture("methods.zip");
    let got = extract("methods.zip", &bytes);
    assert!(got.failures.is_empty(), "{got:?}");
    let words = "and many equal words ".repeat(500);
    for (method, (name, text)) in [0, 8, 12, 14].iter().zip(&got.parts) {
        assert_eq!(name, &format!("{method}.txt"));
        assert!(*text == format!("Method {method} {words}"), "{name}");
    }
    assert_eq!(got.parts.len(), 4);
    // The limit applies to the unpacked bytes. Truncated data are damaged.
    let listed = zip_entries(Cursor::new(&bytes)).unwrap();
    for entry in &listed.entries {
        let start = entry.data_offset as usize;
        let compressed = &bytes[start..start + entry.compressed_size as usize];
        assert_eq!(entry.inflate(compressed, entry.size).unwrap().len() as u64, entry.size);
        assert_eq!(
            entry.inflate(compressed, 5000),
            Err(ExtractError::limited(LimitKind::Expanded, 5000_u64)),
            "{}",
            entry.name
        );
        let cut = entry.inflate(&compressed[..compressed.len() / 2], 1 << 20);
        assert!(matches!(cut, Err(ExtractError::Damaged { .. })), "{} {cut:?}", entry.name);
    }
}

#[test]
fn lzma_dictionaries_are_limited() {
    let mut bytes = fixture("methods.zip");
    let listed = zip_entries(Cursor::new(&bytes)).unwrap();
    // The size of the dictionary follows two version bytes, a length and the properties.
    let dictionary = listed.entries[3].data_offset as usize + 5;
    bytes[dictionary..dictionary + 4].copy_from_slice(&[0xFF; 4]);
    // No reference reaches beyond the member, so a larger dictionary does no harm.
    assert_eq!(extract("x.zip", &bytes).parts.len(), 4);
    let list = bytes.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    bytes[list + 24..list + 28].copy_from_slice(&[0xFE; 4]);
    let got = extract("x.zip", &bytes);
    assert!(matches!(got.failure_of("14.txt"), ExtractError::Unsupported { .. }), "{got:?}");
}

#[test]
fn name_checksums_are_computed_once() {
    let mut long = entry(&"n".repeat(60_000), b"x");
    // Each field has the correct version, but belongs to another name.
    long.extra = [0x75, 0x70, 5, 0, 1, 0, 0, 0, 0].repeat(7_000);
    let bytes = zip_as(Form::Usual, &vec![long; 40]);
    let started = std::time::Instant::now();
    assert_eq!(zip_entries(Cursor::new(&bytes)).unwrap().entries.len(), 40);
    // If every field computed the checksum of its name, 16 GB would be processed.
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

#[test]
fn rezipped_documents_stay_documents() {
    for name in ["book.epub", "text.odt", "sheets.ods", "slides.odp"] {
        let whole = fixture(name);
        let known = extract(name, &whole).text().to_owned();
        let listed = zip_entries(Cursor::new(&whole)).unwrap();
        let mut entries: Vec<Entry> = listed
            .entries
            .iter()
            .map(|listed| {
                let content = listed.inflate(listed_bytes(&whole, listed), 1 << 20).unwrap();
                entry(&listed.name, &content)
            })
            .collect();
        // Like `zip -r` and file managers: sorted by name, with every file compressed.
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(extract("x", &zip_as(Form::Usual, &entries)).text(), known, "{name}");
        entries.retain(|entry| entry.name != b"mimetype");
        let got = extract("x", &zip_as(Form::Usual, &entries));
        // A book also states its type in another file. The manifests of the other files are empty.
        if name == "book.epub" {
            assert_eq!(got.text(), known, "{name}");
        }
        // In a folder of an archive, they are ordinary files.
        for entry in &mut entries {
            entry.name.splice(..0, *b"folder/");
        }
        let got = extract("x", &zip_as(Form::Usual, &entries));
        assert!(got.parts.len() + got.failures.len() > 1, "{name} {got:?}");
    }
}

fn listed_bytes<'a>(bytes: &'a [u8], entry: &lookalike_extract::archive::ZipEntry) -> &'a [u8] {
    let start = entry.data_offset as usize;
    &bytes[start..start + entry.compressed_size as usize]
}

#[test]
fn listing_is_within_the_limits() {
    let files: Vec<Entry> = (0..4).map(|_| entry("a.txt", b"x")).collect();
    let bytes = zip_as(Form::Usual, &files);
    let listed = |limits: Limits| archive::zip_entries(Cursor::new(&bytes), &limits);
    assert_eq!(listed(Limits::default()).unwrap().entries.len(), 4);
    let few = Limits { members: 3, ..Limits::default() };
    assert_eq!(listed(few), Err(ExtractError::limited(LimitKind::Members, 3_u64)));
    let no_time = Limits { time: std::time::Duration::ZERO, ..Limits::default() };
    assert_eq!(listed(no_time), Err(ExtractError::TooSlow { seconds: 0 }));
}

#[test]
fn wrong_sums_and_sizes_are_damage() {
    let bytes = zip(&[("a.txt", b"some text"), ("b.txt", b"kept")]);
    let list = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    // The CRC and the size in the central directory.
    for at in [list + 16, list + 24] {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        let got = extract("x.zip", &bytes);
        assert_eq!(names(&got.parts), ["b.txt"], "{got:?}");
        assert!(matches!(got.failures[..], [(_, ExtractError::Damaged { .. })]), "{got:?}");
    }
}

#[test]
fn truncated_zips_give_whole_members() {
    // The first entry is longer than one search window, and the second is empty.
    let mut first = entry("a.txt", &b"first PK\x07\x08 ".repeat(20_000));
    first.method = 0;
    let entries = [first, entry("b.txt", b""), entry("c.txt", b"third")];
    for form in [Form::Usual, Form::Described, Form::LongDescribed] {
        let bytes = zip_as(form, &entries);
        let list = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
        let third = bytes.windows(5).position(|w| w == b"c.txt").unwrap();
        for (end, whole) in [(list, 3), (list + 20, 3), (bytes.len() - 1, 3), (third + 7, 2)] {
            let got = extract("x.zip", &bytes[..end]);
            assert_eq!(names(&got.parts), ["a.txt", "b.txt", "c.txt"][..whole], "{got:?}");
            let (name, failure) = got.failures.last().unwrap();
            assert!(name.is_empty() && matches!(failure, ExtractError::Damaged { .. }), "{got:?}");
            assert_eq!(got.failures.len(), 1 + usize::from(whole == 2), "{got:?}");
        }
    }
}

#[test]
fn empty_zip_lists_hide_no_members() {
    let mut bytes = zip(&[("a.txt", b"first")]);
    let end = bytes.len() - 22;
    bytes[end + 8..].fill(0);
    let got = extract("x.zip", &bytes);
    assert_eq!((names(&got.parts), got.failures.len()), (vec!["a.txt"], 1), "{got:?}");
    let empty = zip(&[]);
    assert_eq!(zip_entries(Cursor::new(&empty)).unwrap().entries, []);
}

#[test]
fn overlapping_entries_are_read_once() {
    let mut bytes = zip(&[("a.txt", &vec![b'a'; 1 << 20])]);
    let list = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    let end = bytes.windows(4).position(|w| w == b"PK\x05\x06").unwrap();
    let one = bytes[list..end].to_vec();
    bytes.truncate(list);
    bytes.extend(one.repeat(1000));
    bytes.extend(b"PK\x05\x06\0\0\0\0\xe8\x03\xe8\x03");
    bytes.extend(((one.len() * 1000) as u32).to_le_bytes());
    bytes.extend((list as u32).to_le_bytes());
    bytes.extend([0, 0]);
    let got = extract("x.zip", &bytes);
    assert_eq!((got.parts.len(), got.failures.len()), (1, 999));
}

#[test]
fn pax_and_gnu_tars_are_read() {
    for (name, modified) in [("pax.tar", MODIFIED + 500_000_000), ("gnu.tar", MODIFIED)] {
        let bytes = fixture(name);
        let got = extract(name, &bytes);
        let long = format!("folder/{}größe.txt", "long-".repeat(30));
        assert_eq!(names(&got.parts), ["a.txt", long.as_str()], "{got:?}");
        assert_eq!(got.parts[1].1, "Second file.\n");
        let failures: Vec<String> = got.failures.iter().map(|(n, f)| format!("{n}: {f}")).collect();
        let expected =
            ["link: a link: its text cannot be read", "pipe: a device: its text cannot be read"];
        assert_eq!(failures, expected);
        match next_entry(&bytes).unwrap() {
            TarNext::Entry { entry, .. } => {
                assert_eq!(
                    (entry.modified, entry.content),
                    (Some(modified), &b"First file.\n"[..])
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn streamed_tars_split_into_entries() {
    for name in ["pax.tar", "gnu.tar"] {
        let bytes = fixture(name);
        let (mut start, mut names) = (0, Vec::new());
        'entries: loop {
            let mut len = 0;
            loop {
                match next_entry(&bytes[start..start + len]).unwrap() {
                    TarNext::More { at_least } => {
                        assert!(at_least as usize > len);
                        // A shorter piece is refused again.
                        let short = start + at_least as usize - 1;
                        let refused = next_entry(&bytes[start..short]).unwrap();
                        assert!(matches!(refused, TarNext::More { .. }));
                        len = at_least as usize;
                    }
                    TarNext::Entry { entry, bytes } => {
                        assert_eq!(bytes, len);
                        names.push(entry.name);
                        start += bytes;
                        break;
                    }
                    TarNext::End => break 'entries,
                }
            }
        }
        assert_eq!(names.len(), 5, "{names:?}");
        assert_eq!(names[3], "link");
    }
}

#[test]
fn invalid_tar_headers_are_damage() {
    let good = tar("a.txt", b"first");
    let mut wrong_sum = tar("b.txt", b"second");
    wrong_sum[0] = b'c';
    let got = extract("x.tar", &[good.clone(), wrong_sum].concat());
    assert_eq!(names(&got.parts), ["a.txt"]);
    assert!(matches!(got.failure_of(""), ExtractError::Damaged { .. }), "{got:?}");
    let sparse = tar_entry("s.txt", b'S', b"");
    let pax = tar_entry("x", b'x', b"22 GNU.sparse.major=1\n");
    let both = [sparse, pax, tar("t.txt", b"map"), good.clone(), vec![0; 1024]].concat();
    let got = extract("x.tar", &both);
    assert_eq!((names(&got.parts), got.failures.len()), (vec!["a.txt"], 2), "{got:?}");
    // Without an end mark, entries may be missing.
    let got = extract("x.tar", &good);
    assert_eq!((names(&got.parts), got.failures.len()), (vec!["a.txt"], 1), "{got:?}");
    let cut = [&good[..], &good[..700]].concat();
    assert_eq!(extract("x.tar", &cut).failures.len(), 1);
    let endless = [tar_entry("x", b'L', b"name").repeat(1000), good].concat();
    assert!(matches!(next_entry(&endless), Err(ExtractError::Damaged { .. })));
}

/// A global header may precede the end mark; other headers lack their entry.
#[test]
fn tar_headers_without_an_entry_end() {
    let good = tar("a.txt", b"first");
    let global = tar_entry("g", b'g', b"17 comment=words\n");
    let end = vec![0; 1024];
    let next = [&global[..], &end].concat();
    assert!(matches!(next_entry(&next), Ok(TarNext::Entry { bytes, .. }) if bytes == global.len()));
    let got = extract("x.tar", &[&good[..], &global, &end].concat());
    assert_eq!((names(&got.parts), got.failures.len()), (vec!["a.txt"], 0), "{got:?}");
    let named = tar_entry("x", b'L', b"name");
    let got = extract("x.tar", &[&good[..], &named, &end].concat());
    assert_eq!((names(&got.parts), got.failures.len()), (vec!["a.txt"], 1), "{got:?}");
}

impl super::Got {
    fn failure_of(&self, name: &str) -> &ExtractError {
        &self.failures.iter().find(|(n, _)| n == name).unwrap().1
    }
}

fn limited(change: impl FnOnce(&mut Limits)) -> ExtractOptions {
    let mut options = ExtractOptions::default();
    change(&mut options.limits);
    options
}

#[test]
fn bombs_stop_at_the_limit() {
    let zeros = vec![b'0'; 10 << 20];
    let options = limited(|limits| limits.expanded = 25 << 20);
    let limit = ExtractError::Limit { kind: LimitKind::Expanded, limit: 25 << 20 };
    let files: Vec<Entry> = (0..10).map(|i| entry(&format!("{i}.txt"), &zeros)).collect();
    let flat = zip_as(Form::Usual, &files);
    let got = extract_with(&options, "x.zip", &flat);
    assert_eq!((got.parts.len(), got.bytes()), (2, 20 << 20));
    assert_eq!(got.failure_of(""), &limit);
    // Each level contains the level below sixteen times.
    let mut nested = zip(&[("0.txt", &zeros)]);
    for _ in 0..5 {
        let files: Vec<Entry> = (0..16).map(|i| entry(&format!("{i}.zip"), &nested)).collect();
        nested = zip_as(Form::Usual, &files);
    }
    let got = extract_with(&options, "x.zip", &nested);
    assert!(got.bytes() <= 25 << 20);
    assert!(got.failures.iter().any(|(_, failure)| *failure == limit));
    // The extractor does not allocate the size that an entry claims.
    let mut promising = zip(&[("a.txt", b"x")]);
    let list = promising.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    promising[list + 24..list + 28].copy_from_slice(&[0xFE; 4]);
    assert!(matches!(extract("x.zip", &promising).failure(), ExtractError::Damaged { .. }));
    assert_eq!(crc(b"123456789"), 0xCBF4_3926);
}

#[test]
fn archive_nesting_depth_is_limited() {
    let mut bytes = b"text".to_vec();
    for level in 0..20 {
        bytes = match level % 2 {
            0 => zip(&[("a.zip", &bytes)]),
            _ => [tar("a.tar", &bytes), vec![0; 1024]].concat(),
        };
    }
    let got = extract("x", &bytes);
    assert!(matches!(got.failure(), ExtractError::Limit { limit: 8, .. }), "{got:?}");
    let options = limited(|limits| limits.depth = 20);
    assert_eq!(extract_with(&options, "x", &bytes).text(), "text");
}

#[test]
fn members_are_counted() {
    let options = limited(|limits| limits.members = 3);
    let limit = ExtractError::Limit { kind: LimitKind::Members, limit: 3 };
    let files: Vec<Entry> = (0..4).map(|i| entry(&format!("{i}.txt"), b"x")).collect();
    assert!(extract_with(&options, "x.zip", &zip_as(Form::Usual, &files[..3])).failures.is_empty());
    assert_eq!(extract_with(&options, "x.zip", &zip_as(Form::Usual, &files)).failure(), &limit);
    let four: Vec<u8> = (0..4).flat_map(|i| tar(&format!("{i}.txt"), b"x")).collect();
    let got = extract_with(&options, "x.tar", &four);
    assert_eq!((got.parts.len(), got.failures.len(), got.failure_of("")), (3, 1, &limit));
}

/// Counts the parts that it receives, and fails at the second one.
struct SecondPartFails(u32);

impl SecondPartFails {
    fn count(&mut self) -> Result<(), String> {
        self.0 += 1;
        if self.0 < 2 { Ok(()) } else { Err(format!("part {} is too much", self.0)) }
    }
}

impl PartSink for SecondPartFails {
    type Error = String;

    fn part(&mut self, _: &ExtractedPart<'_>) -> Result<(), String> {
        self.count()
    }

    fn failed(&mut self, _: &FailedPart<'_>) -> Result<(), String> {
        self.count()
    }
}

#[test]
fn sink_errors_end_the_extraction() {
    let inner = zip(&[("a", b"text"), ("b", b"text"), ("c", b"text")]);
    let outer = zip(&[("x.zip", &inner), ("y.zip", &inner)]);
    let mailbox = "From a@b Thu Jan  1 00:00:00 1970\nFrom: x\nTo: y\n\ntext\n\n".repeat(3);
    for (name, bytes) in [("a", &*outer), ("b", mailbox.as_bytes())] {
        let mut sink = SecondPartFails(0);
        let mut extractor = Extractor::new(&ExtractOptions::default());
        let extracted = extractor.extract(name, bytes, &mut sink);
        assert_eq!((extracted, sink.0), (Err("part 2 is too much".to_owned()), 2), "{name}");
        // The extractor works after the error.
        let mut sink = SecondPartFails(0);
        assert_eq!(extractor.extract("d", b"text", &mut sink), Ok(()));
    }
}
