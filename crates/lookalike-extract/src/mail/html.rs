//! The text of an HTML part.

use super::parts::MailPart;
use super::transfer::TransferEncoding;
use crate::reading::{ExtractError, LimitTracker};

/// Appends the text of an HTML part, without quotations if the options exclude them. Returns
/// whether any was removed.
#[cfg(feature = "html")]
pub(super) fn text(
    part: &MailPart<'_>,
    tracker: &LimitTracker<'_>,
    out: &mut String,
) -> Result<bool, ExtractError> {
    let bytes = TransferEncoding::of(part.header.transfer).decode(part.body, tracker)?;
    let encoding = crate::encoding::declared(&bytes, part.parameter("charset"));
    // Fields are discarded: the title of a message is its subject.
    if tracker.options.quotes {
        crate::html::all_text(&bytes, encoding, tracker, out)?;
        return Ok(false);
    }
    let kept = quotes::cut(&bytes, &mut || tracker.check_time())?;
    crate::html::all_text(&kept, encoding, tracker, out)?;
    Ok(kept.len() < bytes.len())
}

/// Always an error without the feature `html`.
#[cfg(not(feature = "html"))]
pub(super) fn text(
    part: &MailPart<'_>,
    tracker: &LimitTracker<'_>,
    _out: &mut String,
) -> Result<bool, ExtractError> {
    TransferEncoding::of(part.header.transfer).decode(part.body, tracker)?;
    Err(ExtractError::Unsupported { kind: "a web page".to_owned() })
}

#[cfg(feature = "html")]
mod quotes {
    use crate::reading::{CHECK_INTERVAL_BYTES, ExtractError};
    use memchr::{memchr, memmem};

    /// Maximum bytes of a tag that are examined.
    const TAG_BYTES: usize = 4 << 10;

    /// Removes the elements in which mail programs quote: `blockquote` that is a quotation and not
    /// an indent, and `div` and `span` with known classes. Everything after a known separator is
    /// removed.
    pub(super) fn cut(
        page: &[u8],
        check: &mut dyn FnMut() -> Result<(), ExtractError>,
    ) -> Result<Vec<u8>, ExtractError> {
        let mut out = Vec::with_capacity(page.len());
        let mut at = 0;
        let mut kept = 0;
        let mut checked = 0;
        // The element being removed, and the number of open elements with its name.
        let mut open: Option<(&[u8], usize)> = None;
        while let Some(found) = memchr(b'<', &page[at..]) {
            let start = at + found;
            if start - checked >= CHECK_INTERVAL_BYTES {
                checked = start;
                check()?;
            }
            let rest = &page[start..];
            if rest.starts_with(b"<!--") {
                let Some(end) = memmem::find(&rest[4..], b"-->") else { break };
                at = start + 4 + end + 3;
                continue;
            }
            at = start + 1;
            let close = rest.get(1) == Some(&b'/');
            let name = &rest[1 + usize::from(close)..];
            let length = name.iter().take(16).take_while(|b| b.is_ascii_alphanumeric()).count();
            let name = &name[..length];
            match &mut open {
                Some((element, depth)) if name.eq_ignore_ascii_case(element) => {
                    *depth = if close { *depth - 1 } else { *depth + 1 };
                    if *depth == 0 {
                        let end = memchr(b'>', rest).map_or(page.len(), |end| start + end + 1);
                        at = end;
                        kept = end;
                        open = None;
                    }
                }
                None if !close && is_quoting(name) => {
                    match quotation(name, &rest[..rest.len().min(TAG_BYTES)]) {
                        Some(QuotationExtent::Element) => {
                            out.extend_from_slice(&page[kept..start]);
                            open = Some((name, 1));
                        }
                        Some(QuotationExtent::Rest) => {
                            out.extend_from_slice(&page[kept..start]);
                            return Ok(out);
                        }
                        None => {}
                    }
                }
                _ => {}
            }
        }
        if open.is_none() {
            out.extend_from_slice(&page[kept..]);
        }
        Ok(out)
    }

    enum QuotationExtent {
        Element,
        Rest,
    }

    fn is_quoting(name: &[u8]) -> bool {
        ["blockquote", "div", "span"].iter().any(|tag| name.eq_ignore_ascii_case(tag.as_bytes()))
    }

    fn quotation(name: &[u8], tag: &[u8]) -> Option<QuotationExtent> {
        let tag = tag[..memchr(b'>', tag)?].to_ascii_lowercase();
        let contains = |text: &str| memmem::find(&tag, text.as_bytes()).is_some();
        if contains("divrplyfwdmsg")
            || contains("appendonsend")
            || contains("mail-editor-reference-message")
        {
            return Some(QuotationExtent::Rest);
        }
        let named =
            ["gmail_quote", "yahoo_quoted", "moz-cite-prefix", "gmail_attr", "protonmail_quote"];
        let block = name.eq_ignore_ascii_case(b"blockquote")
            && (contains("cite") || contains("quote\"") || contains("border-left"));
        (block || named.iter().any(|class| contains(class))).then_some(QuotationExtent::Element)
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn quotations_go() {
            let cases = [
                ("a<blockquote type=cite>b<blockquote>c</blockquote></blockquote>d", "ad"),
                ("a<div class=\"gmail_quote\">b<div>c</div></div><p>d", "a<p>d"),
                ("a<blockquote>b</blockquote>", "a<blockquote>b</blockquote>"),
                ("a<div id=\"divRplyFwdMsg\">b</div>c", "a"),
                ("a<!-- <div class=gmail_quote> -->b", "a<!-- <div class=gmail_quote> -->b"),
                ("a<DIV CLASS=gmail_quote>never closed", "a"),
                ("a<div", "a<div"),
                ("<", "<"),
            ];
            for (page, expected) in cases {
                let got = super::cut(page.as_bytes(), &mut || Ok(())).unwrap();
                assert_eq!(str::from_utf8(&got).unwrap(), expected, "{page:?}");
            }
        }
    }
}
