//! Files that are truncated, changed, mislabelled or malicious.

use super::zipped::{Entry, Form, entry, zip, zip_as};
use super::{Got, extract, extract_with, fixture, zip_entries};
use lookalike_extract::archive::next_entry;
use lookalike_extract::{ExtractError, ExtractOptions, LimitKind};
use proptest::prelude::*;
use std::io::Cursor;
use std::time::{Duration, Instant};

const FILES: [&str; 13] = [
    "text.docx",
    "utf16.docx",
    "slides.pptx",
    "sheets.xlsx",
    "text.odt",
    "password.odt",
    "sheets.ods",
    "slides.odp",
    "book.epub",
    "text.rtf",
    "plain.zip",
    "pax.tar",
    "gnu.tar",
];

/// Bytes for tar headers, valid and invalid ones.
const HEADER_BYTES: &[u8] = b"\0 017x\x80\xff";

/// Numbers at or near the limits of their types.
const EXTREMES: [u64; 6] =
    [0, u64::MAX, u64::MAX - 29, i64::MAX as u64, 0xFFFF_FFFF_0000_0000, 0x8000_0000_8000_8080];

pub(crate) fn docx(document: &str) -> Vec<u8> {
    zip(&[("[Content_Types].xml", b"<Types/>"), ("word/document.xml", document.as_bytes())])
}

pub(crate) fn odf(body: &str) -> Vec<u8> {
    let content = format!("<c><body>{body}</body></c>");
    let mut mime = entry("mimetype", b"application/vnd.oasis.opendocument.text");
    mime.method = 0;
    zip_as(Form::Usual, &[mime, entry("content.xml", content.as_bytes())])
}

fn small() -> ExtractOptions {
    let mut options = ExtractOptions::default();
    options.limits.expanded = 1 << 20;
    options
}

/// Checks that the texts are within the limit and that nothing crashed, whatever the file is.
fn check(got: &Got, limit: usize) {
    assert!(got.bytes() <= limit, "{} bytes", got.bytes());
    let crashed =
        |(_, failure): &(String, ExtractError)| matches!(failure, ExtractError::Crashed { .. });
    assert!(!got.failures.iter().any(crashed), "{:?}", got.failures);
}

#[test]
fn truncated_files_report_failures() {
    for name in FILES {
        let bytes = fixture(name);
        for part in 1..20 {
            let cut = &bytes[..bytes.len() * part / 20];
            let got = extract(name, cut);
            // Only zeros follow the end mark.
            let is_tar = ["pax.tar", "gnu.tar"].contains(&name);
            let is_whole = is_tar && cut.ends_with(&[0; 512]);
            let is_reported = got.failures.iter().any(|(within, _)| within.is_empty());
            assert!(is_whole || is_reported, "{name} cut at {part}/20: {got:?}");
            assert!(
                is_tar || name == "plain.zip" || got.parts.is_empty(),
                "{name} cut at {part}/20: {got:?}"
            );
            check(&got, 1 << 20);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn flipped_bits_give_texts_or_failures(
        which in 0..FILES.len(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..20),
    ) {
        let mut bytes = fixture(FILES[which]);
        for (place, bit) in flips {
            let place = place.index(bytes.len());
            bytes[place] ^= 1 << bit;
        }
        check(&extract_with(&small(), FILES[which], &bytes), 1 << 20);
    }

    #[test]
    fn moved_pieces_give_texts_or_failures(
        which in 0..FILES.len(),
        from in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
        len in 1usize..200,
    ) {
        let mut bytes = fixture(FILES[which]);
        let from = from.index(bytes.len());
        let piece = bytes[from..bytes.len().min(from + len)].to_vec();
        let to = to.index(bytes.len());
        bytes.splice(to..to, piece);
        check(&extract_with(&small(), FILES[which], &bytes), 1 << 20);
    }

    /// Lengths, offsets and counts at the limits of their ranges.
    #[test]
    fn extreme_numbers_give_texts_or_failures(
        which in 0..=FILES.len(),
        numbers in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..EXTREMES.len(), 1usize..=8, any::<bool>()),
            1..6,
        ),
    ) {
        let name = FILES.get(which).copied().unwrap_or("long.zip");
        let mut bytes = FILES.get(which).map_or_else(
            || zip_as(Form::Long, &[entry("a.txt", b"one text"), entry("b.txt", b"another")]),
            |name| fixture(name),
        );
        for (place, which, width, is_big_endian) in numbers {
            let place = place.index(bytes.len());
            let width = width.min(bytes.len() - place);
            let number = EXTREMES[which];
            let number =
                if is_big_endian { number.to_be_bytes() } else { number.to_le_bytes() };
            bytes[place..place + width].copy_from_slice(&number[..width]);
        }
        check(&extract_with(&small(), name, &bytes), 1 << 20);
    }

    /// The checksums are corrected, so the changed headers are read.
    #[test]
    fn tar_changes_give_texts_or_failures(
        which in 11..13usize,
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), 0usize..512, prop::sample::select(HEADER_BYTES)),
            1..12,
        ),
    ) {
        let mut bytes = fixture(FILES[which]);
        let is_header = |place: &usize| bytes[*place + 257..].starts_with(b"ustar");
        let blocks = (0..bytes.len() / 512).map(|n| n * 512);
        let headers: Vec<usize> = blocks.filter(is_header).collect();
        for (header, at, byte) in changes {
            let header = &mut bytes[headers[header.index(headers.len())]..][..512];
            header[at] = byte;
            header[148..156].copy_from_slice(b"        ");
            let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
            header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        }
        check(&extract_with(&small(), FILES[which], &bytes), 1 << 20);
    }

    /// The checksums are corrected, so the changed files are read.
    #[test]
    fn changed_members_give_texts_or_failures(
        which in 0..9usize,
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..5),
    ) {
        let mut entries = unpacked(&fixture(FILES[which]));
        let sum: usize = entries.iter().map(|entry| entry.content.len()).sum();
        for (place, bit) in flips {
            let mut place = place.index(sum);
            for entry in &mut entries {
                if let Some(byte) = entry.content.get_mut(place) {
                    *byte ^= 1 << bit;
                    break;
                }
                place -= entry.content.len();
            }
        }
        check(&extract_with(&small(), "x", &zip_as(Form::Usual, &entries)), 1 << 20);
    }

    #[test]
    fn shuffled_elements_extract_without_damage(
        steps in prop::collection::vec(0..PIECES.len() + 10, 0..80),
    ) {
        let (mut xml, mut open) = (String::new(), Vec::new());
        for step in steps {
            match PIECES.get(step) {
                Some(piece) if piece.starts_with('<') && !piece.ends_with("/>") => {
                    xml.push_str(piece);
                    open.push(piece[1..].split([' ', '>']).next().unwrap());
                }
                Some(piece) => xml.push_str(piece),
                None => xml.extend(open.pop().map(|name| format!("</{name}>"))),
            }
        }
        while let Some(name) = open.pop() {
            xml.extend(["</", name, ">"]);
        }
        for bytes in [docx(&format!("<d>{xml}</d>")), odf(&xml)] {
            let got = extract_with(&small(), "x", &bytes);
            check(&got, 1 << 20);
            let damaged =
                |(_, f): &(String, ExtractError)| matches!(f, ExtractError::Damaged { .. });
            assert!(!got.failures.iter().any(damaged), "{xml}: {got:?}");
        }
    }

    #[test]
    fn shuffled_rtf_gives_texts_or_failures(
        words in prop::collection::vec(0..WORDS.len(), 0..60),
    ) {
        let rtf: String = words.iter().map(|&word| WORDS[word]).collect();
        let open = rtf.matches('{').count() + 1;
        let rtf = format!("{{\\rtf1 {rtf}{}", "}".repeat(open));
        check(&extract_with(&small(), "x.rtf", rtf.as_bytes()), 1 << 20);
    }

    #[test]
    fn any_bytes_give_texts_or_failures(
        start in 0..STARTS.len(),
        rest in prop::collection::vec(any::<u8>(), 0..2000),
    ) {
        let bytes = [STARTS[start], &rest].concat();
        check(&extract_with(&small(), "x", &bytes), 1 << 20);
        let _ = zip_entries(Cursor::new(&bytes));
        let _ = next_entry(&bytes);
    }
}

const STARTS: [&[u8]; 5] = [b"", b"{\\rtf1", b"PK\x03\x04", b"PK\x05\x06", b"PK\x01\x02"];

const PIECES: [&str; 22] = [
    "<p>",
    "<t>",
    "é",
    "漢字 ",
    "\n",
    "<tr>",
    "<tc>",
    "<txbxContent>",
    "<text-box>",
    "<note>",
    "<table-row number-rows-repeated='3'>",
    "<table-cell>",
    "<table-cell number-columns-repeated='9'>",
    "<table-cell/>",
    "<tab/>",
    "<s c='5'/>",
    "<AlternateContent>",
    "<Choice>",
    "<Fallback>",
    "<del>",
    "&#x1F600;",
    "<h>",
];

/// Unpacks the files of an archive.
fn unpacked(bytes: &[u8]) -> Vec<Entry> {
    let listed = zip_entries(Cursor::new(bytes)).unwrap();
    let entries = listed.entries.iter().map(|listed| {
        let (start, len) = (listed.data_offset as usize, listed.compressed_size as usize);
        let content = listed.inflate(&bytes[start..start + len], 1 << 20).unwrap();
        Entry { method: listed.method, ..entry(&listed.name, &content) }
    });
    entries.collect()
}

const WORDS: [&str; 26] = [
    "{",
    "}",
    "é",
    "x",
    "\\par ",
    "\\row ",
    "\\cell ",
    "\\deleted ",
    "\\deleted0 ",
    "{\\footnote ",
    "{\\*\\shpinst ",
    "{\\shptxt ",
    "\\u8212 ",
    "\\u-10179 ",
    "\\u-8704 ",
    "\\'e9",
    "\\uc3 ",
    "\\bin3 ",
    "\\ansicpg932 ",
    "\\'83",
    "\\*",
    "{\\upr ",
    "\\ud ",
    "{\\info ",
    "{\\title ",
    "\\",
];

#[test]
fn entities_are_never_expanded() {
    let mut laughs = "<!DOCTYPE d [<!ENTITY a0 \"lol\">".to_owned();
    for i in 1..10 {
        let refs = format!("&a{};", i - 1).repeat(10);
        laughs.extend(["<!ENTITY a", &i.to_string(), " \"", &refs, "\">"]);
    }
    laughs += "<!ENTITY file SYSTEM \"file:///etc/hostname\">]>";
    for entity in ["a9", "a0", "file"] {
        let got = extract("x", &docx(&format!("{laughs}<d><p><t>x&{entity};</t></p></d>")));
        assert!(matches!(got.failure(), ExtractError::Damaged { .. }), "{got:?}");
    }
    assert_eq!(extract("x", &docx(&format!("{laughs}<d><p><t>x</t></p></d>"))).text(), "x\n");
}

#[test]
fn repeated_cells_are_bounded() {
    let cell = "<table-cell number-columns-repeated='99999999999999999999'><p>x</p></table-cell>";
    let row = format!("<table-row number-rows-repeated='1000000000'>{cell}</table-row>");
    let got = extract("x", &odf(&row));
    let line = ["x"; 100].join("\t") + "\n";
    assert!(got.text() == line.repeat(100), "{} bytes", got.text().len());
    // Nested repeated cells multiply until the limit.
    let mut nested = "<p>x</p>".to_owned();
    for _ in 0..10 {
        nested = format!("<table-cell number-columns-repeated='100'>{nested}</table-cell>");
    }
    let got = extract_with(&small(), "x", &odf(&nested));
    assert!(matches!(got.failure(), ExtractError::Limit { .. }), "{got:?}");
    let blanks = "<p>x<s c='4000000000'/></p>".repeat(10);
    assert!(extract("x", &odf(&blanks)).text().len() < 20_000);
}

#[test]
fn repeated_shared_texts_are_limited() {
    let text = "x".repeat(10_000);
    let shared = format!("<sst><si><t>{text}</t></si></sst>");
    let cells = "<c t='s'><v>0</v></c>".repeat(1000);
    let sheet = format!("<worksheet><row>{cells}</row></worksheet>");
    let types = "x/worksheet";
    let relations = format!(
        "<R><Relationship Id='a' Type='{types}' Target='s.xml'/>\
         <Relationship Id='b' Type='x/sharedStrings' Target='t.xml'/></R>"
    );
    let bytes = zip(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("xl/workbook.xml", b"<w><sheet r:id='a'/></w>"),
        ("xl/_rels/workbook.xml.rels", relations.as_bytes()),
        ("xl/s.xml", sheet.as_bytes()),
        ("xl/t.xml", shared.as_bytes()),
    ]);
    assert_eq!(extract("x", &bytes).text().len(), 1000 * 10_001);
    let limit = ExtractError::Limit { kind: LimitKind::Expanded, limit: 1 << 20 };
    assert_eq!(extract_with(&small(), "x", &bytes).failure(), &limit);
}

#[test]
fn missing_shared_texts_become_marks() {
    let relations = "<R><Relationship Id='a' Type='x/worksheet' Target='s.xml'/>\
                     <Relationship Id='b' Type='x/sharedStrings' Target='t.xml'/></R>";
    let sheet = "<w><row><c t='s'><v>0</v></c><c t='s'><v>7</v></c><c t='s'><v>x</v></c></row>\
                 <row><c><v>5</v></c></row></w>";
    let book = |shared: &str| {
        zip(&[
            ("[Content_Types].xml", b"<Types/>"),
            ("xl/workbook.xml", b"<w><sheet r:id='a'/></w>"),
            ("xl/_rels/workbook.xml.rels", relations.as_bytes()),
            ("xl/s.xml", sheet.as_bytes()),
            ("xl/t.xml", shared.as_bytes()),
        ])
    };
    let got = extract("x", &book("<sst><si><t>first</t></si></sst>"));
    assert_eq!(got.text(), "first\t\u{fffd}\t\u{fffd}\n5\n");
    // Without shared strings, the text would consist of replacement marks only.
    let got = extract("x", &book("<sst/>"));
    assert!(matches!(got.failure(), ExtractError::Damaged { .. }), "{got:?}");
}

#[test]
fn rtf_group_depth_is_limited() {
    let nested = |levels: usize| {
        format!("{{\\rtf1 {}x{}}}", "{".repeat(levels), "}".repeat(levels)).into_bytes()
    };
    assert_eq!(extract("x", &nested(9_000)).text(), "x");
    for levels in [10_000, 1_000_000] {
        let got = extract("x", &nested(levels));
        let failure = got.failure().to_string();
        assert!(failure.contains("more than 10000 groups in a group"), "{failure}");
    }
}

#[test]
fn xml_element_depth_is_limited() {
    let nested =
        |levels: usize| docx(&format!("{}<t>x</t>{}", "<p>".repeat(levels), "</p>".repeat(levels)));
    assert_eq!(extract("x", &nested(9_000)).text().trim_end(), "x");
    let got = extract("x", &nested(10_001));
    let failure = got.failure().to_string();
    assert!(failure.contains("more than 10000 elements in an element"), "{failure}");
}

#[test]
fn contents_override_file_names() {
    let known = String::from_utf8(fixture("sheets.xlsx.txt")).unwrap();
    assert_eq!(extract("letter.docx", &fixture("sheets.xlsx")).text(), known);
    // The file is not a Word file but an ordinary archive.
    let got = extract("letter.docx", &zip(&[("a.txt", b"some text")]));
    assert_eq!(got.text(), "some text");
    let hollow = zip(&[("[Content_Types].xml", b"<Types/>"), ("word/documents/a.txt", b"x")]);
    assert!(matches!(extract("a.docx", &hollow).failure(), ExtractError::Damaged { .. }));
    let blank = docx("<d><p><t> </t></p></d>");
    assert!(matches!(extract("a.docx", &blank).failure(), ExtractError::NoText { .. }));
}

#[test]
fn broken_xml_is_damage() {
    for xml in
        ["", "text", "<d><p>", "<d></p>", "<d><p></d>", "<d>&x", "<d a=", "<d>\u{1}<", "<!--"]
    {
        let got = extract("x", &docx(xml));
        assert!(matches!(got.failure(), ExtractError::Damaged { .. }), "{xml}: {got:?}");
    }
}

#[test]
fn deep_nesting_takes_linear_time() {
    let deep = 1_000_000;
    let started = Instant::now();
    let files = [
        docx(&format!("{}{}", "<p>".repeat(deep), "</p>".repeat(deep))),
        docx(&"<txbxContent><t>x</t>".repeat(deep)),
        odf(&format!("{}x{}", "<note><p>".repeat(deep), "</p></note>".repeat(deep))),
        odf(&format!("{}x{}", "<p><text-box>".repeat(deep), "</text-box></p>".repeat(deep))),
        format!("{{\\rtf1 {}", "{".repeat(deep)).into_bytes(),
        format!("{{\\rtf1 {}x{}", "{\\footnote ".repeat(deep), "}".repeat(deep)).into_bytes(),
        format!("{{\\rtf1 {}", "{\\shptxt x}\\u8212 \\f1 ".repeat(deep)).into_bytes(),
    ];
    for bytes in files {
        check(&extract("x", &bytes), 100 << 20);
    }
    // A linear algorithm takes some seconds without optimization, a quadratic one hours.
    assert!(started.elapsed() < Duration::from_secs(600), "{:?}", started.elapsed());
}
