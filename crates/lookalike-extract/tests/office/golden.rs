//! Files whose text is known, written by `fixtures/extract/office/make.py`.

use super::{extract, fixture};
use lookalike_extract::Failure;
use std::io::Write as _;

#[test]
fn texts_and_fields_are_the_known_ones() {
    let names = [
        "text.docx",
        "utf16.docx",
        "slides.pptx",
        "sheets.xlsx",
        "text.odt",
        "sheets.ods",
        "slides.odp",
        "text.rtf",
    ];
    for name in names {
        let known = String::from_utf8(fixture(&format!("{name}.txt"))).unwrap();
        assert_eq!(extract(name, &fixture(name)).text(), known, "{name}");
    }
}

#[test]
fn an_epub_has_its_chapters_in_order() {
    let got = extract("book.epub", &fixture("book.epub"));
    if let Some((_, Failure::Unsupported { kind })) = got.failures.first() {
        writeln!(std::io::stderr(), "SKIPPED: {kind} cannot be read with these features").unwrap();
        return;
    }
    let known = String::from_utf8(fixture("book.epub.txt")).unwrap();
    assert_eq!(got.text(), known);
}

#[test]
fn a_password_is_said() {
    assert_eq!(extract("x", &fixture("password.odt")).failure(), &Failure::Encrypted);
}

#[test]
fn rtf_in_other_words() {
    let known: [(&str, &str); 9] = [
        (r"{\rtf1 a{\b b}c}", "abc"),
        (r"{\rtf1\ansicpg1251 \'cf\'f0}", "Пр"),
        (r"{\rtf1\ansicpg932 \'83A\'83\'5c}", "アソ"),
        (r"{\rtf1\uc2\u12345 ab\u20320{x}y\'41}", "\u{3039}\u{4f60}xyA"),
        (r"{\rtf1 x\'zz\'4}", "xzz4"),
        (r"{\rtf1 x\u-10179 ?y}", "x\u{fffd}y"),
        (r"{\rtf1 {\*\unknown gone {deep} gone}kept{\*\unknown}}", "kept"),
        (r"{\rtf1\deff1{\fonttbl{\f1\fcharset161;}}\plain\'e1{\f0\'e9}}", "αé"),
        (r"{\rtf1 ab}{\rtf1 not of it}", "ab"),
    ];
    for (rtf, text) in known {
        assert_eq!(extract("x.rtf", rtf.as_bytes()).text(), text, "{rtf}");
    }
}
