//! The text of a part that is a page.

use super::parts::Part;
use super::transfer::Transfer;
use crate::failure::Failure;
use crate::job::Job;

/// Appends the text of a page, without what it quotes if that is not wanted; says whether some was
/// cut.
#[cfg(feature = "html")]
pub(super) fn text(part: &Part<'_>, job: &Job<'_>, out: &mut String) -> Result<bool, Failure> {
    let bytes = Transfer::of(part.header.transfer).decode(part.body, job)?;
    let encoding = crate::encoding::declared(&bytes, part.charset());
    // A message has no title: it has a subject.
    let mut fields = crate::fields::Fields::default();
    if job.options.quotes {
        crate::html::all_text(&bytes, encoding, job, out, &mut fields)?;
        return Ok(false);
    }
    let kept = quotes::cut(&bytes, &mut || job.in_time())?;
    crate::html::all_text(&kept, encoding, job, out, &mut fields)?;
    Ok(kept.len() < bytes.len())
}

/// Without the feature `html` there is none.
#[cfg(not(feature = "html"))]
pub(super) fn text(part: &Part<'_>, job: &Job<'_>, _out: &mut String) -> Result<bool, Failure> {
    let bytes = Transfer::of(part.header.transfer).decode(part.body, job)?;
    let _ = bytes;
    Err(Failure::Unsupported { kind: "a web page".to_owned() })
}

#[cfg(feature = "html")]
mod quotes {
    use crate::failure::Failure;
    use crate::mail::BLOCK;
    use memchr::{memchr, memmem};

    /// The longest tag that is looked at.
    const TAG_BYTES: usize = 4 << 10;

    /// A page without the elements in which mail programs quote: `blockquote` that is a quotation
    /// and not an indent, and `div` and `span` that they name so. Behind the marks of those that
    /// only put a line between, all goes.
    pub(super) fn cut(
        page: &[u8],
        check: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<Vec<u8>, Failure> {
        let mut out = Vec::with_capacity(page.len());
        let (mut at, mut kept, mut checked) = (0, 0, 0);
        // The element that is left out, and how many of its kind are open.
        let mut open: Option<(&[u8], usize)> = None;
        while let Some(found) = memchr(b'<', &page[at..]) {
            let start = at + found;
            if start - checked >= BLOCK {
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
                        (at, kept, open) = (end, end, None);
                    }
                }
                None if !close && is_quoting(name) => {
                    match quotation(name, &rest[..rest.len().min(TAG_BYTES)]) {
                        Some(Quotation::Element) => {
                            out.extend_from_slice(&page[kept..start]);
                            open = Some((name, 1));
                        }
                        Some(Quotation::Rest) => {
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

    enum Quotation {
        Element,
        Rest,
    }

    fn is_quoting(name: &[u8]) -> bool {
        ["blockquote", "div", "span"].iter().any(|tag| name.eq_ignore_ascii_case(tag.as_bytes()))
    }

    fn quotation(name: &[u8], tag: &[u8]) -> Option<Quotation> {
        let tag = tag[..memchr(b'>', tag)?].to_ascii_lowercase();
        let has = |text: &str| memmem::find(&tag, text.as_bytes()).is_some();
        if has("divrplyfwdmsg") || has("appendonsend") || has("mail-editor-reference-message") {
            return Some(Quotation::Rest);
        }
        let named =
            ["gmail_quote", "yahoo_quoted", "moz-cite-prefix", "gmail_attr", "protonmail_quote"];
        let block = name.eq_ignore_ascii_case(b"blockquote")
            && (has("cite") || has("quote\"") || has("border-left"));
        (block || named.iter().any(|class| has(class))).then_some(Quotation::Element)
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
            for (page, wanted) in cases {
                let got = super::cut(page.as_bytes(), &mut || Ok(())).unwrap();
                assert_eq!(str::from_utf8(&got).unwrap(), wanted, "{page:?}");
            }
        }
    }
}
