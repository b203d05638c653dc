//! The fast path of tokenization: plain characters, tags, comments and raw text. The tokenizer
//! handles everything else, up to the end of the next tag. Incomplete markup is read at most twice,
//! because the tokenizer then consumes all of it.
//!
//! Used in addition to html5gum for speed. A property test compares the results of both. html5gum
//! alone takes 1.6 times the CPU time (`contributing/libraries.md`, November 2026).

use super::page_builder::{CharacterTarget, PageBuilder};
use super::tag::Tag;
use super::timed_reader::{TimedReader, WINDOW};
use super::tokenizer;
use crate::reading::ExtractError;
use html5gum::State;
use memchr::{memchr, memchr_iter, memchr2, memchr3, memmem};

/// Maximum bytes of a character reference, without `&`.
const REFERENCE_BYTES: usize = 10;

/// Reads a page.
pub(super) fn page(
    bytes: &mut TimedReader<'_>,
    page: &mut PageBuilder<'_>,
) -> Result<(), ExtractError> {
    // The treatment of NUL bytes depends on the context.
    if memchr(0, bytes.rest).is_some() {
        return tokenizer::all(bytes, page);
    }
    while let Some(first) = bytes.rest.first() {
        let content = match first {
            b'<' => match markup(bytes.rest, page) {
                Some((length, content)) => {
                    bytes.advance(length)?;
                    content
                }
                None => tokenizer::to_tag(bytes, page, None)?,
            },
            b'&' => match reference(bytes.rest, page) {
                Some(length) => {
                    bytes.advance(length)?;
                    None
                }
                None => tokenizer::to_tag(bytes, page, None)?,
            },
            _ => {
                let length = characters(bytes.rest, page);
                bytes.advance(length)?;
                None
            }
        };
        if let Some(content) = content {
            untagged(content, bytes, page)?;
        }
        page.charge_if_due()?;
    }
    Ok(())
}

/// Reads raw text up to its end tag.
fn untagged(
    content: State,
    bytes: &mut TimedReader<'_>,
    page: &mut PageBuilder<'_>,
) -> Result<(), ExtractError> {
    let mut next = Some(content);
    while let Some(content) = next {
        match untagged_length(content, bytes.rest, page) {
            Some(length) => {
                page.characters(&bytes.rest[..length]);
                return bytes.advance(length);
            }
            None => next = tokenizer::to_tag(bytes, page, next)?,
        }
    }
    Ok(())
}

/// The length of raw text, unless it contains references that matter.
fn untagged_length(content: State, rest: &[u8], page: &PageBuilder<'_>) -> Option<usize> {
    if content == State::PlainText || page.target == CharacterTarget::Text {
        return None;
    }
    let length = end_tag(rest, page.last_start.get())?;
    let inner = &rest[..length];
    let plain = match page.target {
        // A script may contain its own end tag in a comment.
        CharacterTarget::Nowhere => {
            content != State::ScriptData || memmem::find(inner, b"<!--").is_none()
        }
        _ => memchr2(b'&', b'\r', inner).is_none(),
    };
    plain.then_some(length)
}

/// The position of the first end tag of a name.
fn end_tag(rest: &[u8], name: &[u8]) -> Option<usize> {
    memchr_iter(b'<', rest).find(|at| {
        let tag = &rest[at + 1..];
        tag.first() == Some(&b'/')
            && tag.get(1..=name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
            && tag.get(name.len() + 1).is_some_and(|next| is_blank(*next) || b"/>".contains(next))
    })
}

/// Whether HTML defines a byte as white space.
#[inline]
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r')
}

/// Reads plain characters; returns their length. The line end `\r\n` becomes `\n`.
fn characters(rest: &[u8], page: &mut PageBuilder<'_>) -> usize {
    let run = |rest: &[u8]| {
        let window = &rest[..rest.len().min(WINDOW)];
        memchr3(b'<', b'&', b'\r', window).unwrap_or(window.len())
    };
    if rest[0] != b'\r' {
        let length = run(rest);
        page.characters(&rest[..length]);
        return length;
    }
    page.characters(b"\n");
    let rest = &rest[1..];
    if rest.first() != Some(&b'\n') {
        return 1;
    }
    let length = run(rest);
    page.characters(&rest[1..length]);
    1 + length
}

/// Reads a common character reference; returns its length.
fn reference(rest: &[u8], page: &mut PageBuilder<'_>) -> Option<usize> {
    let name = &rest[1..rest.len().min(1 + REFERENCE_BYTES)];
    let name = &name[..memchr(b';', name)?];
    let char = match name.strip_prefix(b"#") {
        Some(digits) => numbered(digits)?,
        None => named(name)?,
    };
    page.characters(char.encode_utf8(&mut [0; 4]).as_bytes());
    Some(name.len() + 2)
}

fn named(name: &[u8]) -> Option<char> {
    Some(match name {
        b"nbsp" => '\u{a0}',
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"quot" => '"',
        b"copy" => '\u{a9}',
        b"reg" => '\u{ae}',
        b"raquo" => '\u{bb}',
        b"laquo" => '\u{ab}',
        b"middot" => '\u{b7}',
        b"bull" => '\u{2022}',
        b"ndash" => '\u{2013}',
        b"mdash" => '\u{2014}',
        b"lsquo" => '\u{2018}',
        b"rsquo" => '\u{2019}',
        b"ldquo" => '\u{201c}',
        b"rdquo" => '\u{201d}',
        b"hellip" => '\u{2026}',
        b"trade" => '\u{2122}',
        _ => return None,
    })
}

/// The character of a numeric reference, unless the standard replaces it.
fn numbered(digits: &[u8]) -> Option<char> {
    let (digits, base) = match digits {
        [b'x' | b'X', digits @ ..] => (digits, 16),
        digits => (digits, 10),
    };
    // Cannot overflow: the reference has at most `REFERENCE_BYTES`.
    let mut code = 0;
    for digit in digits {
        code = code * base + char::from(*digit).to_digit(base)?;
    }
    char::from_u32(code).filter(|char| !char.is_control())
}

/// Reads complete markup at `<`. Returns its length, and the tokenizer state for its content if
/// that is not the default.
fn markup(rest: &[u8], page: &mut PageBuilder<'_>) -> Option<(usize, Option<State>)> {
    match rest.get(1)? {
        b'/' if rest.get(2)?.is_ascii_alphabetic() => tag(rest, 2, page),
        b'!' if rest.starts_with(b"<!--") => Some((4 + comment(&rest[4..])?, None)),
        // Declarations and bogus comments.
        b'/' | b'!' | b'?' => Some((memchr(b'>', rest)? + 1, None)),
        first if first.is_ascii_alphabetic() => tag(rest, 1, page),
        _ => None,
    }
}

/// The length of a comment after its `<!--`.
fn comment(rest: &[u8]) -> Option<usize> {
    let end = memchr_iter(b'>', rest).find(|at| {
        let before = &rest[..*at];
        before.is_empty() || before == b"-" || before.ends_with(b"--") || before.ends_with(b"--!")
    });
    end.map(|end| end + 1)
}

/// Reads a tag whose name is at `name`.
fn tag(rest: &[u8], name: usize, page: &mut PageBuilder<'_>) -> Option<(usize, Option<State>)> {
    page.begin_tag(name == 2);
    let mut at = name + rest[name..].iter().position(|b| is_blank(*b) || b"/>".contains(b))?;
    page.tag.name.push_lower(&rest[name..at]);
    loop {
        match rest.get(at)? {
            b'>' => return Some((at + 1, page.take_tag())),
            b'/' => {
                at += 1;
                page.tag.closes_itself |= rest.get(at) == Some(&b'>');
            }
            byte if is_blank(*byte) => at += 1,
            _ => at = attribute(rest, at, &mut page.tag)?,
        }
    }
}

/// Reads an attribute; returns its end.
fn attribute(rest: &[u8], start: usize, tag: &mut Tag) -> Option<usize> {
    // The first byte of a name may be `=`.
    let ends = |byte: &u8| is_blank(*byte) || b"/>=".contains(byte);
    let mut at = start + 1 + rest[start + 1..].iter().position(ends)?;
    tag.begin_attribute();
    tag.push_attribute_name_lower(&rest[start..at]);
    let blanks = |at: usize| at + rest[at..].iter().take_while(|byte| is_blank(**byte)).count();
    at = blanks(at);
    if *rest.get(at)? != b'=' {
        return Some(at);
    }
    at = blanks(at + 1);
    let (value, end) = match rest.get(at)? {
        b'>' => return Some(at),
        quote @ (b'"' | b'\'') => {
            let length = memchr(*quote, &rest[at + 1..])?;
            (&rest[at + 1..at + 1 + length], at + length + 2)
        }
        _ => {
            let ends = |byte: &u8| is_blank(*byte) || *byte == b'>';
            let length = rest[at..].iter().position(ends)?;
            (&rest[at..at + length], at + length)
        }
    };
    tag.push_plain_value(value).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{ExtractOptions, LimitTracker};
    use proptest::prelude::*;

    type Read = fn(&mut TimedReader<'_>, &mut PageBuilder<'_>) -> Result<(), ExtractError>;

    /// All results of a page.
    fn results(source: &str, read: Read) -> String {
        let options = ExtractOptions::default();
        let tracker = LimitTracker::new(&options);
        let mut page = PageBuilder::new(&tracker, false);
        read(&mut TimedReader::new(source.as_bytes(), &tracker), &mut page).unwrap();
        let text = String::from_utf8_lossy(&page.text.bytes);
        format!("{text:?} {:?} {:?} {:?}", page.text.blocks, page.text.regions, page.metadata)
    }

    fn assert_same(source: &str) {
        assert_eq!(results(source, page), results(source, tokenizer::all), "{source:?}");
    }

    #[test]
    fn named_references_match_the_standard() {
        let names = "nbsp amp lt gt quot copy reg raquo laquo middot bull ndash mdash lsquo rsquo \
                     ldquo rdquo hellip trade";
        for name in names.split(' ') {
            assert!(named(name.as_bytes()).is_some(), "{name}");
            assert_same(&format!("a&{name};b&{name}b&{name}"));
        }
        for name in ["AMP", "notin", "x", ""] {
            assert!(named(name.as_bytes()).is_none(), "{name}");
        }
    }

    #[test]
    fn numeric_references_match_the_standard() {
        for (digits, expected) in [
            ("65", Some('A')),
            ("x1F600", Some('\u{1f600}')),
            ("8217", Some('\u{2019}')),
            ("", None),
            ("x", None),
            ("+5", None),
            ("0", None),
            ("13", None),
            ("150", None),
            ("xd800", None),
            ("99999999", None),
            ("xfffffff", None),
        ] {
            assert_eq!(numbered(digits.as_bytes()), expected, "{digits}");
            assert_same(&format!("<pre>a&#{digits};\nb"));
        }
    }

    #[test]
    fn pieces_have_their_length() {
        for (rest, expected) in
            [("a-->b", Some(4)), (">", Some(1)), ("->", Some(2)), ("a--!>", Some(5))]
        {
            assert_eq!(comment(rest.as_bytes()), expected, "{rest}");
        }
        assert_eq!(comment(b"a->b"), None);
        assert_eq!(end_tag(b"a</b></STYLEX></Style\t>", b"style"), Some(14));
        assert_eq!(end_tag(b"a</style", b"style"), None);
    }

    /// Complete markup, fragments of markup, and plain text.
    const PIECES: &str = r#"<|>|/|=|"|'|&|;|#|-|!|?|a|Bc|é|</|<!|<!--|-->|--!>|<!-->|<!DOCTYPE x>|
        <![CDATA[|]]>|<?x|<p>|</p>|<p hidden>|<br/>|<br / >|<pre>|</pre>|<td class=nav>|
        <div class="a&amp;b">|<div style='display:none'>|<div style='display:&#110;one'>|
        </div a='>'>|<a href>|<A HREF=x>|<a x = y href = '&' />|</a>|<nav id=>|</nav>|<svg>|</svg>|
        <title>|<title/>|</title>|</TITLE |<style>|</style>|</style/|<script>|</script>|</script|
        <noscript>|</noscript>|<textarea>|</textarea>|<xmp>|</xmp>|<plaintext>|
        <html xmlns=x lang=de>|<meta name=author content="a'b">|<meta content=x name=date|
        <link rel=canonical| href='http://a/?b&amp;c'>| x=| =y| a/b|&nbsp;|&amp;|&amp|&lt;|&gt|
        &notin;|&#65;|&#x2019;|&#150;|&#1;|&#x|&;|< |</ |</>"#;
    const BLANKS: [&str; 8] =
        [" ", "\n", "\r", "\r\n", "\t", "\u{c}", "<p\r\nclass=x>", "<div style=display:\rnone>"];

    fn piece() -> impl Strategy<Value = &'static str> {
        let pieces = PIECES.split('|').map(|piece| piece.trim_start_matches("\n        "));
        prop::sample::select(pieces.chain(BLANKS).collect::<Vec<_>>())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn scanner_equals_tokenizer_on_markup(pieces in prop::collection::vec(piece(), 0..40)) {
            let source = pieces.concat();
            let expected = results(&source, tokenizer::all);
            prop_assert_eq!(results(&source, page), expected, "{:?}", source);
        }

        #[test]
        fn scanner_equals_tokenizer_on_text(source in "[<>/=&;!\"' \ra-zé\u{0}-]{0,60}") {
            let expected = results(&source, tokenizer::all);
            prop_assert_eq!(results(&source, page), expected, "{:?}", source);
        }
    }

    #[test]
    fn raw_text_ends_match_the_standard() {
        for page in [
            "<script><!--<script></script>a</script>b",
            "<script><!--</script>a--></script>b",
            "<script>if (a</script.length)</script\n>b</script>c",
            "<style><!--</style>a--></style>b",
            "<title>a</titles>b</title",
            "<title>a &lt; b</title x='>'>c",
            "<textarea>a</textarea>b<title>c",
        ] {
            assert_same(page);
        }
    }

    #[test]
    fn unclosed_markup_takes_linear_time() {
        for piece in [
            "<!",
            "<!--",
            "<?",
            "</",
            "</a ",
            "<a x='",
            "<a =",
            "<",
            "&",
            "&#",
            "<div class=& ",
            "<title>&",
            "<style></style",
            "<script><!--</script>",
            "<div class=&>",
            "a < b ",
        ] {
            // Quadratic time would not finish.
            results(&piece.repeat(100_000), page);
        }
    }

    #[test]
    fn windows_do_not_matter() {
        for before in [WINDOW - 1, WINDOW, WINDOW + 1] {
            let filler = "a".repeat(before);
            assert_same(&format!("{filler}\r\n&amp;<pre>\n{filler}\r\n\n<p>{filler}"));
        }
    }
}
