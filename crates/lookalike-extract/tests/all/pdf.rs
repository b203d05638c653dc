//! PDF files of `fixtures/extract/pdf`, and hostile files that the tests create.

use flate2::{Compression, write::ZlibEncoder};
use lookalike_extract::{
    ExtractError, ExtractOptions, ExtractedPart, Extractor, FailedPart, LimitKind, PartSink,
};
use proptest::prelude::*;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The texts, fields and failures that the extractor reported for a file.
#[derive(Debug, Default)]
struct Got {
    texts: Vec<String>,
    fields: Vec<(&'static str, String)>,
    failures: Vec<ExtractError>,
}

impl PartSink for Got {
    type Error = Infallible;

    fn part(&mut self, part: &ExtractedPart<'_>) -> Result<(), Infallible> {
        self.texts.push(part.text.to_owned());
        for name in ["title", "author", "date"] {
            self.fields.extend(part.fields.get(name).map(|value| (name, value.to_owned())));
        }
        Ok(())
    }

    fn failed(&mut self, failed: &FailedPart<'_>) -> Result<(), Infallible> {
        self.failures.push(failed.failure.clone());
        Ok(())
    }
}

fn extract(bytes: &[u8], options: &ExtractOptions) -> Got {
    let mut got = Got::default();
    let Ok(()) = Extractor::new(options).extract("a.pdf", bytes, &mut got);
    assert_eq!(got.texts.len() + got.failures.len(), 1);
    got
}

fn text(bytes: &[u8]) -> Result<String, ExtractError> {
    let mut got = extract(bytes, &ExtractOptions::default());
    got.texts.pop().ok_or_else(|| got.failures.remove(0))
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/extract/pdf"))
}

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).expect("a file of the repository")
}

/// Builds a PDF of these objects. The first one is number 1, the catalog.
fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (index, object) in objects.iter().enumerate() {
        writeln!(table, "{:010} 00000 n ", out.len()).expect("memory");
        out.extend(format!("{} 0 obj\n", index + 1).bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let start = out.len();
    out.extend(table.bytes());
    let size = objects.len() + 1;
    out.extend(format!("trailer\n<</Size {size}/Root 1 0 R>>\n").bytes());
    out.extend(format!("startxref\n{start}\n%%EOF\n").bytes());
    out
}

fn stream(entries: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("<</Length {} {entries}>>stream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

/// Builds a PDF of one page. Object 4 is `content`, object 5 is the font, and `others` follow.
fn page(resources: &str, content: Vec<u8>, others: Vec<Vec<u8>>) -> Vec<u8> {
    let page = format!(
        "<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>{resources}>>>>"
    );
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
        page.into_bytes(),
        content,
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_vec(),
    ];
    objects.extend(others);
    pdf(&objects)
}

fn deflated(content: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    for piece in content {
        encoder.write_all(&piece).expect("memory");
    }
    encoder.finish().expect("memory")
}

#[test]
fn pdf_fixtures_match_expected_texts() {
    let mut count = 0;
    for entry in std::fs::read_dir(folder()).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|ending| ending == "txt") {
            let expected = std::fs::read_to_string(&path).expect("a text");
            let bytes = std::fs::read(path.with_extension("pdf")).expect("a PDF");
            assert_eq!(text(&bytes).as_deref(), Ok(&*expected), "{}", path.display());
            count += 1;
        }
    }
    assert_eq!(count, 9);
}

#[test]
fn pdf_fields_are_extracted() {
    let got = extract(&fixture("simple.pdf"), &ExtractOptions::default());
    let expected = [
        ("title", "A (simple) title".to_owned()),
        ("author", "Åsa L".to_owned()),
        ("date", "2024-03-01T01:00:00Z".to_owned()),
    ];
    assert_eq!(got.fields, expected);
}

#[test]
fn textless_and_encrypted_pdfs_are_errors() {
    let scanned = ExtractError::NoText { kind: "a PDF of 2 pages".to_owned() };
    assert_eq!(text(&fixture("scanned.pdf")), Err(scanned));
    assert_eq!(text(&fixture("encrypted.pdf")), Err(ExtractError::Encrypted));
    let one = ExtractError::NoText { kind: "a PDF of 1 page".to_owned() };
    assert_eq!(text(&page("", stream("", b"BT ET"), vec![])), Err(one));
}

#[test]
fn truncated_pdfs_are_damaged() {
    for name in ["simple.pdf", "unicode.pdf", "object-streams.pdf", "updated.pdf"] {
        let bytes = fixture(name);
        // Even the shortest part has the PDF header, and even the longest lacks the end mark.
        for twentieth in 1..20 {
            let cut = &bytes[..bytes.len() * twentieth / 20];
            let result = text(cut);
            // An updated file is complete if the cut is after its first end mark.
            let whole = name == "updated.pdf" && result.as_deref() == Ok("The old text.\n");
            assert!(
                whole || matches!(result, Err(ExtractError::Damaged { .. })),
                "{name} {twentieth}/20: {result:?}"
            );
        }
    }
}

#[test]
fn damaged_content_is_not_less_text() {
    let good = deflated([b"BT /F 9 Tf (many words) Tj ET".repeat(50)]);
    let file = |content: &[u8]| page("", stream("/Filter/FlateDecode", content), vec![]);
    assert!(text(&file(&good)).is_ok_and(|text| text.contains("many words")));
    let cut =
        Err(ExtractError::Damaged { what: "page 1 of 1: a stream: it is cut off".to_owned() });
    assert_eq!(text(&file(&good[..good.len() / 2])), cut);
    let missing = page("", b"null".to_vec(), vec![]).replace_number(b"3 0 R]", b"9 0 R]");
    assert!(matches!(text(&missing), Err(ExtractError::Damaged { .. })));
}

trait ReplaceNumber {
    fn replace_number(self, from: &[u8], to: &[u8]) -> Self;
}

impl ReplaceNumber for Vec<u8> {
    fn replace_number(mut self, from: &[u8], to: &[u8]) -> Self {
        let remaining_at = self.windows(from.len()).position(|w| w == from).expect("it is there");
        self[remaining_at..remaining_at + from.len()].copy_from_slice(to);
        self
    }
}

#[test]
fn references_in_circles_end() {
    let pages = |objects: &[&[u8]]| pdf(&objects.iter().map(|o| o.to_vec()).collect::<Vec<_>>());
    let circle = pages(&[
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[2 0 R 3 0 R 2 0 R]/Count 9/Parent 3 0 R>>",
        b"<</Type/Pages/Kids[2 0 R 3 0 R]/Parent 2 0 R>>",
    ]);
    assert!(matches!(text(&circle), Err(ExtractError::Damaged { .. })));
    let itself = pages(&[b"1 0 R", b"2 0 R"]);
    assert!(matches!(text(&itself), Err(ExtractError::Damaged { .. })));
    // A page that is its own ancestor: the search for its resources follows the parents.
    let parent = pages(&[
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1/Parent 3 0 R>>",
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R>>",
        &stream("", b"BT /F 9 Tf (x) Tj ET"),
    ]);
    assert!(matches!(text(&parent), Err(ExtractError::NoText { .. })));
    // Two forms that draw each other.
    let form = |other: u32| {
        let entries =
            format!("/Subtype/Form/Resources<</Font<</F 5 0 R>>/XObject<</X {other} 0 R>>>>");
        stream(&entries, b"BT /F 9 Tf (drawn) Tj ET /X Do /X Do")
    };
    let content = stream("", b"/X Do");
    let forms = page("/XObject<</X 6 0 R>>", content, vec![form(7), form(6)]);
    assert_eq!(text(&forms).map(|text| text.matches("drawn").count()), Ok(1));
}

#[test]
fn form_nesting_depth_is_limited() {
    // The forms are the objects from 6 to `5 + levels`. Each form draws the next one, and the last
    // one has the text.
    let nested = |levels: usize| {
        let form = |number: usize| {
            let next = number + 1;
            let entries =
                format!("/Subtype/Form/Resources<</Font<</F 5 0 R>>/XObject<</X {next} 0 R>>>>");
            let content: &[u8] =
                if number == 5 + levels { b"BT /F 9 Tf (deep) Tj ET" } else { b"/X Do" };
            stream(&entries, content)
        };
        let forms = (6..6 + levels).map(form).collect();
        text(&page("/XObject<</X 6 0 R>>", stream("", b"/X Do"), forms))
    };
    for levels in [1, 16, 18, 100, 256] {
        assert_eq!(nested(levels).as_deref().map(str::trim), Ok("deep"), "{levels}");
    }
    assert!(matches!(nested(257), Err(ExtractError::Damaged { .. })));
}

#[test]
fn exponential_forms_reach_the_time_limit() {
    // Twelve forms: each draws the following one ten times, which makes more than 10^11 strings.
    let form = |next: u32| {
        let entries =
            format!("/Subtype/Form/Resources<</Font<</F 5 0 R>>/XObject<</X {next} 0 R>>>>");
        stream(&entries, &[b"BT /F 9 Tf (x) Tj ET ".to_vec(), b"/X Do ".repeat(10)].concat())
    };
    let file = page("/XObject<</X 6 0 R>>", stream("", b"/X Do"), (7..19).map(form).collect());
    let mut options = ExtractOptions::default();
    options.limits.time = Duration::from_millis(200);
    let started = Instant::now();
    let got = extract(&file, &options);
    assert_eq!(got.failures, [ExtractError::TooSlow { seconds: 0 }]);
    assert!(started.elapsed() < Duration::from_secs(120));
}

#[test]
fn too_many_pages_are_refused() {
    let count = 100_000;
    let mut kids = String::new();
    for page in 3..count + 3 {
        write!(kids, "{page} 0 R ").expect("memory");
    }
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        format!("<</Type/Pages/Kids[{kids}]/Count {count}>>").into_bytes(),
    ];
    objects.resize(count + 2, b"<</Type/Page/Parent 2 0 R>>".to_vec());
    let limit = ExtractError::Limit { kind: LimitKind::Pages, limit: 20_000 };
    assert_eq!(text(&pdf(&objects)), Err(limit));
}

#[test]
fn a_bomb_is_not_inflated() {
    let bomb = deflated((0..1 << 10).map(|_| vec![b' '; 1 << 20]));
    assert!(bomb.len() < 2 << 20);
    let file = page("", stream("/Filter/FlateDecode", &bomb), vec![]);
    let mut options = ExtractOptions::default();
    options.limits.expanded = 16 << 20;
    let limit = ExtractError::Limit { kind: LimitKind::Expanded, limit: 16 << 20 };
    assert_eq!(extract(&file, &options).failures, std::slice::from_ref(&limit));
    // The limit also applies to an object stream, which lopdf inflates while it loads the file.
    let holder = stream("/Type/ObjStm/N 1/First 4/Filter/FlateDecode", &bomb);
    let file = page("", stream("", b""), vec![holder]);
    assert_eq!(extract(&file, &options).failures, [limit]);
}

#[test]
fn deep_pdf_nesting_needs_no_stack() {
    // Our own lexer reads deeply nested content; lopdf stops at deeply nested objects.
    let deep = [b"[".repeat(1 << 20), b"<<".repeat(1 << 20), b"q ".repeat(1 << 20)].concat();
    let content = [deep.as_slice(), b"BT /F 9 Tf (deep) Tj ET"].concat();
    assert_eq!(text(&page("", stream("", &content), vec![])).as_deref(), Ok("deep\n"));
    for bracket in [&b"["[..], b"<</A", b"("] {
        let file = page("", stream("", b"BT /F 9 Tf (ok) Tj ET"), vec![bracket.repeat(1 << 18)]);
        assert_eq!(text(&file).as_deref(), Ok("ok\n"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A damaged file yields a text or a failure, but never a crash.
    #[test]
    fn damaged_pdfs_never_crash(
        file in 0usize..8,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
    ) {
        let names = ["simple", "accents", "unicode", "kerning", "forms", "object-streams",
            "encrypted-open", "scanned"];
        let mut bytes = fixture(&format!("{}.pdf", names[file]));
        for (index, value) in flips {
            let remaining_at = index.index(bytes.len());
            bytes[remaining_at] = value;
        }
        if bytes.starts_with(b"%PDF-") {
            let result = text(&bytes);
            prop_assert!(!matches!(result, Err(ExtractError::Crashed { .. })), "{result:?}");
        }
    }
}
