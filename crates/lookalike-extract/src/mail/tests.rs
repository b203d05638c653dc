//! Tests with whole messages: valid, damaged and hostile.

use crate::reading::{
    CutText, ExtractError, ExtractOptions, Fields, LimitKind, LimitTracker, Limits, TextOutput,
};
use proptest::prelude::*;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

type Read = (Result<(), ExtractError>, String, Fields, Vec<(String, Vec<u8>)>);

fn read_with(bytes: &[u8], options: &ExtractOptions) -> Read {
    let (mut text, mut fields, mut attachments) = (String::new(), Fields::default(), Vec::new());
    let tracker = LimitTracker::new(options);
    let out = &mut TextOutput { tracker: &tracker, text: &mut text, fields: &mut fields };
    let result = super::read(bytes, out, &mut attachments);
    let owned = attachments.into_iter().map(|(name, bytes)| (name, Cow::into_owned(bytes)));
    (result, text, fields, owned.collect())
}

fn with_attachments() -> ExtractOptions {
    ExtractOptions { attachments: true, ..ExtractOptions::default() }
}

/// The text of a message that can be read.
fn text(message: &str) -> String {
    let options = ExtractOptions { quotes: true, signatures: true, ..ExtractOptions::default() };
    let (result, text, ..) = read_with(message.as_bytes(), &options);
    assert_eq!(result, Ok(()), "{message:?}");
    text
}

/// A multipart of these parts.
fn multipart(kind: &str, parts: &[&str]) -> String {
    let boundary = format!("={kind}=");
    let parts = parts.join(&format!("\n--{boundary}\n"));
    let header = format!("Content-Type: multipart/{kind}; boundary=\"{boundary}\"");
    format!("{header}\n\n--{boundary}\n{parts}\n--{boundary}--\n")
}

const PLAIN: &str = "Content-Type: text/plain\n\nplain";
const PAGE: &str = "Content-Type: text/html\n\n<p>page</p>";
const PDF: &str = "Content-Type: application/pdf; name=\"a.pdf\"\n\n%PDF-";

/// Whether pages can be read. If not, prints that the test is skipped.
fn reads_pages() -> bool {
    let (result, text, ..) = read_with(PAGE.as_bytes(), &ExtractOptions::default());
    if result.is_ok() && text.trim() == "page" {
        return true;
    }
    lookalike_test_support::print_skipped("there is no reader of pages");
    false
}

#[test]
fn mail_text_contains_displayed_parts() {
    let attached = "Content-Disposition: attachment\n\nattached";
    let inner = format!("Content-Type: message/rfc822\n\nSubject: inner\n\n{}", "forwarded");
    let cases = [
        (multipart("alternative", &[PLAIN, PAGE]), "plain"),
        (multipart("alternative", &[PAGE, PLAIN]), "plain"),
        (multipart("mixed", &[PLAIN, attached, PLAIN]), "plain\nplain"),
        (multipart("mixed", &[PLAIN, &inner]), "plain\nforwarded"),
        (multipart("signed", &[PLAIN, "Content-Type: application/pgp-signature\n\nx"]), "plain"),
        (multipart("related", &[PLAIN, PLAIN]), "plain"),
        (
            multipart("report", &[PLAIN, "Content-Type: message/delivery-status\n\nx", &inner]),
            "plain",
        ),
        (multipart("digest", &["\nSubject: a\n\none", "\nSubject: b\n\ntwo"]), "one\ntwo"),
        (multipart("mixed", &[&multipart("alternative", &[PLAIN, PAGE]), PLAIN]), "plain\nplain"),
        (multipart("alternative", &[PLAIN, &multipart("related", &[PAGE, PDF])]), "plain"),
        (multipart("mixed", &["no header"]), "no header"),
        (multipart("mixed", &["\nno header"]), "no header"),
        ("Content-Type: multipart/mixed\n\ntext".to_owned(), "text"),
        ("Content-Type: multipart/mixed; boundary=x\n\ntext".to_owned(), "text"),
        ("Content-Type: nonsense\n\ntext".to_owned(), "text"),
        ("Content-Disposition: attachment\n\ntext".to_owned(), "text"),
        ("Content-Type: application/pdf\n\n%PDF".to_owned(), ""),
        ("no header at all".to_owned(), "no header at all"),
        ("Subject: a\rTo: b\r\rold\rmac".to_owned(), "old\nmac"),
        ("\u{feff}Subject: a\n\ntext".to_owned(), "text"),
        ("22\nSubject: a\n\nmessage\nto\n<?xml?>\n<plist/>".to_owned(), "message\nto"),
        ("From a@b\nTo: c\n\ntext".to_owned(), "text"),
        (String::new(), ""),
    ];
    for (message, expected) in cases {
        assert_eq!(text(&message), expected, "{message:?}");
    }
}

#[test]
fn html_parts_replace_plain_stubs() {
    let stub = "Content-Type: text/plain\n\nYour program cannot show HTML.";
    let long = format!("{stub}{}", " But this goes on.".repeat(30));
    assert!(text(&multipart("alternative", &[&long, PAGE])).starts_with("Your"));
    if reads_pages() {
        assert_eq!(text(&multipart("alternative", &[stub, PAGE])).trim(), "page");
        assert_eq!(text(&multipart("alternative", &["\n \n", PAGE])).trim(), "page");
        let blank = "Content-Type: text/html\n\n<p></p>";
        assert!(text(&multipart("alternative", &[stub, blank])).starts_with("Your"));
    }
}

#[test]
fn unreadable_pages_are_not_empty_texts() {
    let (result, text, ..) = read_with(PAGE.as_bytes(), &ExtractOptions::default());
    assert!(result.is_err() || text.trim() == "page", "{result:?} {text:?}");
}

#[test]
fn encodings_are_undone() {
    let typed = |field: &str, body: &str| format!("Content-Type: text/plain; {field}\n\n{body}");
    assert_eq!(text(&typed("format=flowed", "a \nb\n> c \n> d")), "a b\n> c d");
    assert_eq!(text(&typed("format=flowed; delsp=yes", "a \nb")), "ab");
    assert_eq!(text("Content-Transfer-Encoding: BASE64\n\naGVs\nbG8=\n"), "hello");
    assert_eq!(text("Content-Transfer-Encoding: quoted-printable\n\na=\nb=C3=A9\r\n"), "abé\n");
    let latin = [typed("charset=\"ISO-8859-1\"", "caf").as_bytes(), b"\xe9"].concat();
    assert_eq!(read_with(&latin, &ExtractOptions::default()).1, "café");
    let wide: Vec<u8> =
        "\u{feff}Subject: ü\n\nwide".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (_, text, fields, _) = read_with(&wide, &ExtractOptions::default());
    assert_eq!((&*text, fields.get("subject")), ("wide", Some("ü")));
}

#[test]
fn fields_are_set() {
    let message = "Subject: =?utf-8?q?caf=C3=A9?=\n and more\nFrom: Ann <a@b>\nTo: c@d,\n\te@f\n\
        Message-ID: <1@x> (comment)\nDate: Thu,22 Aug 2002 18:26:25 +0700\n\n";
    let (_, _, fields, _) = read_with(message.as_bytes(), &ExtractOptions::default());
    let expected = [
        ("subject", "café and more"),
        ("from", "Ann <a@b>"),
        ("to", "c@d, e@f"),
        ("message-id", "1@x"),
        ("date", "2002-08-22T11:26:25Z"),
    ];
    for (name, value) in expected {
        assert_eq!(fields.get(name), Some(value), "{name}");
    }
}

#[test]
fn dates_are_in_utc() {
    let cases = [
        ("Sun, 02 Oct 2016 07:06:22 -0700 (PDT)", Some("2016-10-02T14:06:22Z")),
        ("29 Feb 2000 23:59:59 GMT", Some("2000-02-29T23:59:59Z")),
        ("31 Dec 1999 23:30:00 -0100", Some("2000-01-01T00:30:00Z")),
        ("1 Jan 1970 00:00:00 +0000", Some("1970-01-01T00:00:00Z")),
        ("1 Mar 2100 00:00:00 +0000", Some("2100-03-01T00:00:00Z")),
        ("nonsense", None),
        ("", None),
        ("1 Jan 99999 00:00:00 +0000", None),
        ("1 Jan 4294967295 00:00:00 +0000", None),
    ];
    for (raw, expected) in cases {
        assert_eq!(super::parse_date(raw.as_bytes()).as_deref(), expected, "{raw}");
    }
}

#[test]
fn attachments_have_names() {
    let encoded = "Content-Type: application/pdf\nContent-Transfer-Encoding: base64\n\
        Content-Disposition: attachment; filename*0*=utf-8''caf%C3%A9; filename*1=.pdf\n\nJVBERg==";
    let word = "Content-Type: image/png; name=\"=?utf-8?q?../b=C3=A9.png?=\"\n\nx";
    let inner = "Content-Type: message/rfc822\nContent-Disposition: attachment\n\nTo: a\n\nb";
    let none = "Content-Type: application/pdf\n\n%PDF";
    let related = multipart("related", &[PAGE, word]);
    let alternative = multipart("alternative", &[PLAIN, &related]);
    let signature = "Content-Type: application/pgp-signature; name=x.asc\n\nx";
    let message = multipart("mixed", &[&alternative, encoded, word, inner, none, none, signature]);
    let (result, text, _, attachments) = read_with(message.as_bytes(), &with_attachments());
    assert_eq!((result, &*text), (Ok(()), "plain"));
    let got: Vec<_> = attachments.iter().map(|(n, b)| (&**n, str::from_utf8(b).unwrap())).collect();
    let expected = [
        ("bé.png", "x"),
        ("café.pdf", "%PDF"),
        ("bé-2.png", "x"),
        ("attachment-4.eml", "To: a\n\nb"),
        ("attachment-5.pdf", "%PDF"),
        ("attachment-6.pdf", "%PDF"),
    ];
    assert_eq!(got, expected);
    assert!(read_with(message.as_bytes(), &ExtractOptions::default()).3.is_empty());
}

#[test]
fn encrypted_messages_are_errors() {
    let sealed = "Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nx";
    let signed = "Content-Type: application/pkcs7-mime; smime-type=signed-data\n\nx";
    let pgp = "Subject: a\n\n-----BEGIN PGP MESSAGE-----\n\nx\n-----END PGP MESSAGE-----\n";
    let encrypted =
        multipart("encrypted", &["Content-Type: application/pgp-encrypted\n\nVersion: 1", PDF]);
    for message in [sealed, pgp, &encrypted] {
        let (result, ..) = read_with(message.as_bytes(), &ExtractOptions::default());
        assert_eq!(result, Err(ExtractError::Encrypted), "{message:?}");
    }
    let (result, ..) = read_with(signed.as_bytes(), &ExtractOptions::default());
    assert!(matches!(result, Err(ExtractError::Unsupported { .. })), "{result:?}");
    // An attachment next to a text that can be read.
    assert_eq!(text(&multipart("mixed", &[PLAIN, sealed])), "plain");
}

#[test]
fn quotes_and_signatures_are_removed() {
    let message = "Subject: a\n\nOn 3 May 2002, Bob wrote:\n> old\nnew\n-- \nAnn\n";
    let (_, text_left, fields, _) = read_with(message.as_bytes(), &ExtractOptions::default());
    assert_eq!(text_left, "new\n");
    assert!(fields.has_cut_quotes());
    assert_eq!(fields.cut(), CutText { words: 2, bytes: 8 });
    let options = ExtractOptions { signatures: true, ..ExtractOptions::default() };
    let (_, text_left, fields, _) = read_with(message.as_bytes(), &options);
    assert_eq!((&*text_left, fields.cut()), ("new\n-- \nAnn\n", CutText::default()));
    assert!(text(message).ends_with("> old\nnew\n-- \nAnn\n"));
}

/// Reads a large message, which must take linear time. The bound leaves room for a slow and busy
/// machine; quadratic time would take hours.
fn hostile(bytes: &[u8]) -> (Result<(), ExtractError>, String) {
    let limits = Limits { time: Duration::from_secs(600), ..Limits::default() };
    let started = Instant::now();
    let options = ExtractOptions {
        attachments: true,
        quotes: false,
        signatures: false,
        limits,
        ..ExtractOptions::default()
    };
    let (result, text, ..) = read_with(bytes, &options);
    let most = Duration::from_secs(60 + bytes.len() as u64 / 100_000);
    assert!(started.elapsed() < most, "{} bytes took {:?}", bytes.len(), started.elapsed());
    (result, text)
}

#[test]
fn hostile_headers_take_linear_time() {
    let long = ["Subject: ".to_owned(), "=?a?q?".repeat(2 << 20), "\n\nbody".to_owned()].concat();
    assert_eq!(hostile(long.as_bytes()), (Ok(()), "body".to_owned()));
    let many = ["X: y\n".repeat(1 << 20), "\nbody".to_owned()].concat();
    assert_eq!(hostile(many.as_bytes()).1, "body");
    let folds = ["Subject: a\n".to_owned(), " \n".repeat(1 << 20), "\nbody".to_owned()].concat();
    assert_eq!(hostile(folds.as_bytes()).0, Ok(()));
    let parameters = ["Content-Type: a/b; ".to_owned(), "a*0*=;".repeat(1 << 20)].concat();
    assert_eq!(hostile(parameters.as_bytes()).0, Ok(()));
}

#[test]
fn hostile_multiparts_meet_limits() {
    let boundaries =
        format!("Content-Type: multipart/mixed; boundary=x\n\n{}", "--x\n".repeat(1 << 20));
    let limit = ExtractError::Limit { kind: LimitKind::Parts, limit: 100_000 };
    assert_eq!(hostile(boundaries.as_bytes()).0, Err(limit));
    let mut nested = String::new();
    for level in 0..10_000 {
        let part = "Content-Type: multipart/mixed; boundary=";
        writeln!(nested, "{part}b{level}\n\n--b{level}").unwrap();
    }
    let limit = ExtractError::Limit { kind: LimitKind::PartDepth, limit: 8 };
    assert_eq!(hostile(nested.as_bytes()).0, Err(limit.clone()));
    let same = "Content-Type: multipart/mixed; boundary=b\n\n--b\n".repeat(10_000);
    assert_eq!(hostile(same.as_bytes()).0, Ok(()));
    let messages = "Content-Type: message/rfc822\n\n".repeat(10_000);
    assert_eq!(hostile(messages.as_bytes()).0, Err(limit));
    // Parts whose own boundary never occurs are scanned once each.
    let part = "--x\nContent-Type: multipart/mixed; boundary=nowhere\n\n";
    let lost = format!("Content-Type: multipart/mixed; boundary=x\n\n{}", part.repeat(50_000));
    assert_eq!(hostile(lost.as_bytes()).0, Ok(()));
    let blank =
        format!("Content-Type: multipart/mixed; boundary=x\n\n{}", "--x\n\n \n".repeat(99_000));
    assert_eq!(hostile(blank.as_bytes()).0, Ok(()));
    let dashes = format!("Content-Type: multipart/mixed; boundary=-\n\n{}", "-".repeat(4 << 20));
    assert_eq!(hostile(dashes.as_bytes()).0, Ok(()));
}

#[test]
fn hostile_bodies_take_linear_time() {
    let bodies = [
        ">From ".repeat(1 << 18),
        "On 1\n".repeat(1 << 18),
        "From: a\nSent: b\n".repeat(1 << 18),
        "________________________________\n".repeat(1 << 15),
        "<blockquote type=cite>".repeat(1 << 18),
        "<!--".repeat(1 << 18),
        "=\n".repeat(1 << 18),
        "= ".repeat(1 << 18),
        "\r".repeat(1 << 20),
    ];
    for body in bodies {
        for field in [
            "",
            "Content-Transfer-Encoding: quoted-printable\n",
            "Content-Type: text/plain; format=flowed\n",
        ] {
            assert_eq!(hostile(format!("Subject: a\n{field}\n{body}").as_bytes()).0, Ok(()));
        }
        // No limit is exceeded, with or without a reader of pages.
        let (result, _) =
            hostile(format!("Subject: a\nContent-Type: text/html\n\n{body}").as_bytes());
        assert!(!matches!(result, Err(ExtractError::TooSlow { .. })), "{result:?}");
    }
}

#[test]
fn time_is_limited() {
    let limits = Limits { time: Duration::ZERO, ..Limits::default() };
    let options = ExtractOptions { limits, ..ExtractOptions::default() };
    let (result, ..) = read_with(b"Subject: a\n\nb", &options);
    assert!(matches!(result, Err(ExtractError::TooSlow { .. })), "{result:?}");
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes: Vec<u8>) {
        drop(read_with(&bytes, &with_attachments()));
    }

    /// Pieces of messages in any order.
    #[test]
    fn any_message_is_read(pieces in proptest::collection::vec(0_usize..26, 0..60)) {
        let known = [
            "Content-Type: multipart/mixed; boundary=a\n", "\n", "--a\n", "--a--\n", "--b\n",
            "Content-Type: multipart/alternative; boundary=b\r\n", "\r\n", "--b--", "text ",
            "Content-Type: text/html; charset=x\n", "<p>é", "Content-Transfer-Encoding: base64\n",
            "aGVsbG8=", "=C3=A9=", "Content-Transfer-Encoding: quoted-printable\n",
            "Content-Type: message/rfc822\n", "Content-Disposition: attachment; filename*0*=x'",
            "; filename*0=y", "Content-Type: multipart/related; boundary=\"\"\n", "--\n", ">From ",
            "Subject: =?utf-8?b?w?= =?utf-8?q?=C3?=\n", "Date: 1 Jan 99 1:1:1 +9\n", " ", "-- \n",
            "Content-Type: text/plain; format=flowed; delsp=yes\n",
        ];
        let message: String = pieces.iter().map(|piece| known[*piece]).collect();
        let mut options =
            ExtractOptions { quotes: true, signatures: true, ..with_attachments() };
        let all = read_with(message.as_bytes(), &options);
        options.quotes = false;
        options.signatures = false;
        let less = read_with(message.as_bytes(), &options);
        // Only text is cut.
        prop_assert_eq!(all.3, less.3);
        if all.0.is_ok() && less.0.is_ok() {
            prop_assert!(less.1.len() <= all.1.len() + 1, "{:?} {:?}", all.1, less.1);
        }
    }
}
