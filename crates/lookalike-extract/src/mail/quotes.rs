//! Removes quotations from a plain text, and finds its signatures.
//!
//! Quotations are lines marked with `>` or `|`, and their attribution line. Everything after
//! "-----Original Message-----", after a block of fields as written by Outlook, or after an "On …
//! wrote:" without marked lines is also a quotation. A quotation at the start of a text is kept, so
//! that a forwarded message keeps its text.
//!
//! A signature starts at a line `-- `, at a PGP signature or at the rule above the footer of a
//! mailing list, and ends at the next quotation or at the end. `signature.rs` limits its length.

use super::signature::{self, MailSignatures, contains_phrase, phrases};
use crate::reading::{CHECK_INTERVAL_BYTES, ExtractError, ExtractOptions};
use memchr::memchr;

/// Lines of look-ahead.
const AHEAD: usize = 8;

/// Bytes of a line that contain the colon after a field name of Outlook.
const FIELD_BYTES: usize = 24;

/// Appends a text, without quotations if `options` exclude them, and adds its signatures to
/// `signatures` if `options` exclude these. Returns whether quotations were removed. `check` is
/// called once per [`CHECK_INTERVAL_BYTES`].
pub(super) fn cut(
    text: &str,
    options: &ExtractOptions,
    out: &mut String,
    signatures: &mut MailSignatures,
    check: &mut dyn FnMut() -> Result<(), ExtractError>,
) -> Result<bool, ExtractError> {
    let start = out.len();
    let mut at = 0;
    let mut checked = 0;
    let mut forwarded = false;
    let mut cut = false;
    while at < text.len() {
        if at - checked >= CHECK_INTERVAL_BYTES {
            checked = at;
            check()?;
        }
        let ordinary = ordinary_lines(&text.as_bytes()[at..]);
        out.push_str(&text[at..at + ordinary]);
        at += ordinary;
        let rest = &text[at..];
        let line = &rest[..line_length(rest.as_bytes())];
        let length = line.len();
        if is_marked(line) {
            signatures.end_section(out);
            at += length;
            cut |= !options.quotes;
            if options.quotes {
                out.push_str(line);
            }
            continue;
        }
        let quote = if forwarded { None } else { quote(line, rest) };
        match quote {
            Some(QuotedExtent::Rest) if out[start..].trim().is_empty() => forwarded = true,
            Some(QuotedExtent::Rest) => {
                signatures.end_section(out);
                if options.quotes {
                    out.push_str(rest);
                }
                return Ok(!options.quotes || cut);
            }
            Some(QuotedExtent::Lines(lines)) => {
                signatures.end_section(out);
                let length = rest.split_inclusive('\n').take(lines).map(str::len).sum();
                at += length;
                cut |= !options.quotes;
                if options.quotes {
                    out.push_str(&rest[..length]);
                }
                continue;
            }
            None => forwarded |= is_forward(line),
        }
        if !options.signatures && signature::message_start(line, rest) {
            signatures.begin(out);
        }
        out.push_str(line);
        at += length;
    }
    signatures.end_section(out);
    Ok(cut)
}

/// The length of the first line with its line end.
fn line_length(bytes: &[u8]) -> usize {
    memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)
}

/// The length of the ordinary lines at the start, up to about [`CHECK_INTERVAL_BYTES`].
fn ordinary_lines(bytes: &[u8]) -> usize {
    let mut at = 0;
    while at < bytes.len().min(CHECK_INTERVAL_BYTES) {
        let length = line_length(&bytes[at..]);
        if !is_ordinary(&bytes[at..at + length]) {
            break;
        }
        at += length;
    }
    at
}

/// Whether no rule applies to a line: it is not part of a quotation, and begins no quotation, no
/// forwarded message and no signature. Examines few bytes, because most lines are ordinary. Returns
/// false if other bytes matter.
fn is_ordinary(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let [first, .., last] = *line else { return line.is_empty() };
    // `str::trim` also removes other white space and control characters.
    let is_plain = |byte: u8| (b' '..0x7F).contains(&byte);
    let begins = matches!(first, b'>' | b'|' | b'-' | b'_' | b'=' | b'0'..=b'9');
    let has_field = line.iter().take(FIELD_BYTES).any(|byte| matches!(byte, b':' | 0xEF));
    is_plain(first) && is_plain(last) && !begins && !may_open(line) && last != b':' && !has_field
}

/// Whether a line has a quotation mark.
fn is_marked(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t']);
    line.starts_with('>') || line.starts_with("| ") || line.trim_end() == "|"
}

/// How much text a quotation covers.
enum QuotedExtent {
    /// Attribution lines before marked lines.
    Lines(usize),
    /// The rest of the text.
    Rest,
}

/// Phrases between dashes above the original message of a reply.
const ORIGINALS: [&str; 14] = phrases(
    "\
    original message|original appointment|ursprüngliche nachricht|originalnachricht|\
    message d'origine|message original|mensaje original|mensagem original|messaggio originale|\
    oorspronkelijk bericht|ursprungligt meddelande|original meddelelse|исходное сообщение|原始邮件",
);

/// Phrases between dashes, or at the start of a line, above a forwarded message.
const FORWARDS: [&str; 8] = phrases(
    "\
    forwarded message|forwarded by|begin forwarded|weitergeleitete nachricht|message transféré|\
    mensaje reenviado|messaggio inoltrato|mensagem encaminhada",
);

/// First words of an attribution line. [`is_ordinary`] also needs "Begin " for [`is_forward`].
const OPENERS: [&str; 18] = phrases(
    "\
    On |Am |Le |El |Il |Em |Op |Den |Dnia |W dniu |Dne |Pe |At |In |Quoting |Zitat von |Begin |\
    Em\u{a0}",
);

/// The first two bytes of each of [`OPENERS`]. Few lines begin with them.
const OPENER_STARTS: [[u8; 2]; OPENERS.len()] = {
    let mut starts = [[0; 2]; OPENERS.len()];
    let mut i = 0;
    while i < starts.len() {
        let opener = OPENERS[i].as_bytes();
        starts[i] = [opener[0], opener[1]];
        i += 1;
    }
    starts
};

/// Returns true if a line begins with an entry of [`OPENER_STARTS`].
fn may_open(line: &[u8]) -> bool {
    line.first_chunk().is_some_and(|start| OPENER_STARTS.contains(start))
}

/// Verbs of an attribution line.
const VERBS: [&str; 20] = phrases(
    "\
    wrote|writes|said|schrieb|a écrit|escribió|ha scritto|scrisse|escreveu|skrev|schreef|\
    kirjoitti|napisał|написал|пишет|napsal|yazdı|写道|a scris|wrote this",
);

/// Field names of the header block written by Outlook.
const FROM: [&str; 12] = phrases("From|Von|De|Da|Van|Från|Fra|Od|От|发件人|差出人|寄件者");
const SENT: [&str; 19] = phrases(
    "\
    Sent|Date|Gesendet|Datum|Envoyé|Enviado|Enviado el|Fecha|Inviato|Data|Verzonden|Skickat|\
    Sendt|Wysłano|Отправлено|Дата|发送时间|送信日時|Dato",
);
const SUBJECT: [&str; 13] = phrases(
    "\
    Subject|Betreff|Objet|Asunto|Oggetto|Assunto|Onderwerp|Ämne|Emne|Temat|Тема|主题|件名",
);

fn quote(line: &str, rest: &str) -> Option<QuotedExtent> {
    let first = line.trim();
    if first.is_empty() {
        return None;
    }
    if first.starts_with("--") && contains_phrase(first, &ORIGINALS) || is_outlook(first, rest) {
        return Some(QuotedExtent::Rest);
    }
    let initial = first.as_bytes()[0];
    let opened = initial.is_ascii_digit()
        || may_open(first.as_bytes()) && OPENERS.iter().any(|opener| first.starts_with(opener));
    // Most lines neither open an attribution nor end like one.
    if !opened && !ends_with_colon(first) {
        return None;
    }
    let most = if opened { 3 } else { 1 };
    for (number, line) in rest.lines().take(most).enumerate() {
        let line = line.trim();
        if line.is_empty() || line.len() > 400 {
            return None;
        }
        if ends_with_colon(line) && VERBS.iter().any(|verb| line.contains(verb)) {
            let mut attribution = rest.lines().take(number + 1);
            let dated = attribution.any(|line| line.bytes().any(|byte| byte.is_ascii_digit()));
            let mut following = rest.lines().skip(number + 1).take(4);
            let quoted = following.find(|line| !line.trim().is_empty()).is_some_and(is_marked);
            return match (quoted, opened && dated) {
                (true, _) => Some(QuotedExtent::Lines(number + 1)),
                (false, true) => Some(QuotedExtent::Rest),
                (false, false) => None,
            };
        }
    }
    None
}

fn ends_with_colon(line: &str) -> bool {
    line.ends_with(':') || line.ends_with('：')
}

fn is_forward(line: &str) -> bool {
    let first = line.trim_start();
    (first.starts_with("--") || first.starts_with("Begin")) && contains_phrase(first, &FORWARDS)
}

/// Whether a header block with sender, date and subject begins at `rest`.
fn is_outlook(first: &str, rest: &str) -> bool {
    // A quick check that excludes most lines.
    let near = &first.as_bytes()[..first.len().min(FIELD_BYTES)];
    if !near.iter().any(|byte| matches!(byte, b':' | 0xEF)) || !is_field(first, &FROM) {
        return false;
    }
    let fields = || rest.lines().skip(1).take(AHEAD).take_while(|line| !line.trim().is_empty());
    fields().any(|line| is_field(line, &SENT)) && fields().any(|line| is_field(line, &SUBJECT))
}

fn is_field(line: &str, names: &[&str]) -> bool {
    let line = line.trim_start().trim_start_matches('*');
    names.iter().any(|name| {
        line.strip_prefix(name).is_some_and(|rest| {
            rest.trim_start_matches(['*', ' ', '\u{a0}']).starts_with([':', '：'])
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut_text(text: &str, quotes: bool, signatures: bool) -> String {
        let mut out = String::new();
        let options = ExtractOptions { quotes, signatures, ..ExtractOptions::default() };
        let mut found = MailSignatures::default();
        cut(text, &options, &mut out, &mut found, &mut || Ok(())).unwrap();
        found.cut(&mut out);
        out
    }

    #[test]
    fn quotes_go() {
        let cases = [
            ("hi\n> old\n>> older\nme\n", "hi\nme\n"),
            ("hi\n| old\n|\na | b\n", "hi\na | b\n"),
            ("On Monday, Ann wrote:\n> old\nme\n", "me\n"),
            ("On 3 May 2002, Ann\n<ann@x> wrote:\n\n> old\nme\n", "\nme\n"),
            ("Am 03.05.2002 schrieb Ann:\n> alt\nich\n", "ich\n"),
            ("Le 3 mai 2002, Ann a écrit :\n> vieux\nmoi\n", "moi\n"),
            ("me\nOn 3 May 2002, Ann wrote:\n\nold without marks\n", "me\n"),
            ("Goethe wrote:\nno quotation here\n", "Goethe wrote:\nno quotation here\n"),
            ("me\n\n-----Original Message-----\nFrom: x\nold\n", "me\n\n"),
            ("ich\n-----Ursprüngliche Nachricht-----\nalt\n", "ich\n"),
            ("me\n\nFrom: x\nSent: today\nTo: y\nSubject: z\n\nold\n", "me\n\n"),
            ("ich\n*Von:* x\n*Gesendet:* heute\n*Betreff:* z\nalt\n", "ich\n"),
            ("From: here\nto there\n", "From: here\nto there\n"),
            // A text that begins with the original message is forwarded, not answered.
            ("-----Original Message-----\nFrom: x\n", "-----Original Message-----\nFrom: x\n"),
            (
                "fyi\n---- Forwarded message ----\nFrom: x\nDate: y\nSubject: z\n\nold\n",
                "fyi\n---- Forwarded message ----\nFrom: x\nDate: y\nSubject: z\n\nold\n",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(cut_text(text, false, true), expected, "{text:?}");
            assert_eq!(cut_text(text, true, true), text);
        }
    }

    proptest! {
        #[test]
        fn ordinary_lines_match_no_rule(
            parts in proptest::collection::vec(0_usize..30, 1..5), end in "[ \\t\r\u{b}\u{a0}:|-]?",
        ) {
            let known = [
                " ", "\t", ">", "| ", "|", "--", "-- ", "----------------", "________________",
                "On ", "Am ", "3 May, Ann ", "wrote:", "écrit：", "Begin forwarded message:", "From",
                "：", ": x", "*", "Von", "发件人", "-----Original Message-----", "\u{a0}", "\u{b}", "a",
                "word ", "\r", "==================", "-----BEGIN PGP SIGNATURE-----", "\u{feff}",
            ];
            let line: String = parts.iter().map(|part| known[*part]).collect::<String>() + &end;
            let rest = format!("{line}\n> unsubscribe\nSent: a\nSubject: b\n");
            let line = format!("{line}\n");
            if is_ordinary(line.as_bytes()) {
                prop_assert!(!is_marked(&line) && !is_forward(&line));
                prop_assert!(quote(&line, &rest).is_none());
                prop_assert!(!signature::message_start(&line, &rest));
            }
        }
    }

    #[test]
    fn signatures_go() {
        let rule = "_".repeat(40);
        let footer = format!("text\n{rule}\nX mailing list\nx@y\n");
        let kept = format!("text\n{rule}\nmore text\n");
        let cases = [
            ("text\n-- \nAnn\n", "text\n"),
            ("text\n--\nAnn", "text\n"),
            ("text\n-- \nAnn\n\n> old\n", "text\n> old\n"),
            (
                "a\n-- \nAnn\nOn 3 May 2002, Bob wrote:\n> old\n",
                "a\nOn 3 May 2002, Bob wrote:\n> old\n",
            ),
            (
                "a\n-- \nAnn\n-----Original Message-----\nold\n",
                "a\n-----Original Message-----\nold\n",
            ),
            ("-- a list\n-- of two\n", "-- a list\n-- of two\n"),
            (&footer, "text\n"),
            (&kept, &kept),
            ("a\n-----BEGIN PGP SIGNATURE-----\nxyz\n", "a\n"),
        ];
        for (text, expected) in cases {
            assert_eq!(cut_text(text, true, false), expected, "{text:?}");
        }
        assert_eq!(cut_text("a\n-- \nAnn\n> old\n", false, false), "a\n");
    }
}
