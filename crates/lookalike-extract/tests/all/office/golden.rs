//! Files with known texts, written by `fixtures/extract/office/make.py`.

use super::hostile::{docx, odf};
use super::zipped::zip;
use super::{extract, fixture};
use lookalike_extract::ExtractError;

#[test]
fn office_fixtures_match_expected_texts() {
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
fn epub_fixture_matches_expected_text() {
    let got = extract("book.epub", &fixture("book.epub"));
    if let Some((_, ExtractError::Unsupported { kind })) = got.failures.first() {
        lookalike_test_support::print_skipped(&format!(
            "{kind} cannot be read with these features"
        ));
        return;
    }
    let known = String::from_utf8(fixture("book.epub.txt")).unwrap();
    assert_eq!(got.text(), known);
}

#[test]
fn password_protection_is_reported() {
    assert_eq!(extract("x", &fixture("password.odt")).failure(), &ExtractError::Encrypted);
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

#[test]
fn word_in_other_words() {
    let known = [
        // An alternative for older programs only, and an alternative within another one.
        ("<AlternateContent><Fallback><p><t>x</t></p></Fallback></AlternateContent>", "x\n"),
        (
            "<p><AlternateContent><Choice><AlternateContent><Choice><t>a</t></Choice>\
             <Fallback><t>b</t></Fallback></AlternateContent></Choice><Choice><t>c</t></Choice>\
             <Fallback><t>d</t></Fallback></AlternateContent></p>",
            "a\n",
        ),
        (
            "<p><t>a</t><txbxContent><p><t>b</t><txbxContent><p><t>c</t></p></txbxContent></p>\
             </txbxContent><t>d</t></p><p><t>e</t></p>",
            "ad\nbc\n\ne\n",
        ),
        ("<p><ruby><rt><t>kan</t></rt><rubyBase><t>漢</t></rubyBase></ruby></p>", "漢\n"),
        ("<p><t>co</t><noBreakHyphen/><t>op<![CDATA[ <&> ]]></t>stray</p>", "co-op <&> \n"),
        ("<p><del><del><t>x</t></del><t>y</t></del><t>z</t></p>", "z\n"),
    ];
    for (xml, text) in known {
        assert_eq!(extract("x", &docx(&format!("<d>{xml}</d>"))).text(), text, "{xml}");
    }
}

#[test]
fn opendocument_in_other_words() {
    let known = [
        // A note within a box follows the text of the box. A box within a note follows the text of
        // the note.
        ("<p>a<text-box><p>b<note><p>c</p></note>d</p></text-box>e</p><p>f</p>", "ae\nbc\nd\nf\n"),
        ("<p>a<note><p>b<text-box><p>c</p></text-box></p></note>d</p><p>e</p>", "ad\nc\ne\nb\n"),
        (
            "<table-row><table-cell><table><table-row><table-cell><p>a</p></table-cell>\
             </table-row></table></table-cell><table-cell><p>b</p></table-cell></table-row>",
            "a\tb\n",
        ),
        ("<p>a<tab/>b<s/>c\n   <span>d</span>\n</p>stray<h>e</h>", "a\tb c d \ne\n"),
    ];
    for (xml, text) in known {
        assert_eq!(extract("x", &odf(xml)).text(), text, "{xml}");
    }
}

#[test]
fn damaged_fields_leave_the_text() {
    let bytes = zip(&[
        ("[Content_Types].xml", b"<Types/>"),
        ("word/document.xml", b"<d><p><t>x</t></p></d>"),
        ("docProps/core.xml", b"<c><title>T</title>"),
    ]);
    assert_eq!(extract("x", &bytes).text(), "x\n");
}
