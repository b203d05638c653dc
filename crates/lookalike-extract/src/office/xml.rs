//! XML of office files, as events for a handler.
//!
//! DOCTYPE declarations are ignored and no external resource is loaded. Entities are an error,
//! except numeric entities and the five of XML, so that no entity expands.

use crate::reading::{ExtractError, LimitTracker};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;

/// Events between two time checks.
const EVENTS: u32 = 4096;
/// Maximum depth of elements. Programs nest some dozens; each open element takes memory.
const MAX_DEPTH: u64 = 10_000;
/// Bytes examined for the encoding in the declaration.
const DECLARATION_BYTES: usize = 256;

/// Receives the events of an XML file. Names have no prefix, since files choose their prefixes.
pub(super) trait XmlHandler {
    /// Begins an element. `false` skips the element, including its content and its end.
    fn start(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<bool, ExtractError>;

    /// Ends an element.
    fn end(&mut self, name: &str) -> Result<(), ExtractError>;

    /// Receives text, possibly in several pieces.
    fn text(&mut self, text: &str) -> Result<(), ExtractError>;
}

/// Calls `visit` with the name and the tag of every element of an XML file.
pub(super) fn each_element(
    xml: &str,
    tracker: &LimitTracker<'_>,
    visit: impl FnMut(&str, &BytesStart<'_>),
) -> Result<(), ExtractError> {
    struct ElementVisitor<F>(F);

    impl<F: FnMut(&str, &BytesStart<'_>)> XmlHandler for ElementVisitor<F> {
        fn start(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<bool, ExtractError> {
            (self.0)(name, tag);
            Ok(true)
        }

        fn end(&mut self, _: &str) -> Result<(), ExtractError> {
            Ok(())
        }

        fn text(&mut self, _: &str) -> Result<(), ExtractError> {
            Ok(())
        }
    }

    read(xml, tracker, &mut ElementVisitor(visit))
}

/// Reads a whole XML file.
pub(super) fn read(
    xml: &str,
    tracker: &LimitTracker<'_>,
    handler: &mut impl XmlHandler,
) -> Result<(), ExtractError> {
    let mut reader = Reader::from_str(xml);
    let mut depth = 0u64;
    // Depth of the skipped element.
    let mut skipped = u64::MAX;
    let mut events = 0u32;
    let mut any = false;
    loop {
        events += 1;
        if events == EVENTS {
            events = 0;
            tracker.check_time()?;
        }
        let event = reader.read_event().map_err(|e| ExtractError::damaged(format!("XML: {e}")))?;
        let is_read = skipped == u64::MAX;
        match event {
            Event::Start(tag) => {
                depth += 1;
                any = true;
                if depth > MAX_DEPTH {
                    let message = format!("XML with more than {MAX_DEPTH} elements in an element");
                    return Err(ExtractError::damaged(message));
                }
                if is_read && !handler.start(tag.local_name().into_inner(), &tag)? {
                    skipped = depth;
                }
            }
            Event::Empty(tag) => {
                any = true;
                let name = tag.local_name();
                if is_read && handler.start(name.into_inner(), &tag)? {
                    handler.end(name.into_inner())?;
                }
            }
            Event::End(tag) => {
                if is_read {
                    handler.end(tag.local_name().into_inner())?;
                } else if skipped == depth {
                    skipped = u64::MAX;
                }
                depth = depth.saturating_sub(1);
            }
            Event::Text(text) if is_read => handler.text(&text)?,
            Event::CData(text) if is_read => handler.text(&text)?,
            Event::GeneralRef(entity) => {
                let c = character(&entity)?;
                if is_read {
                    handler.text(c.encode_utf8(&mut [0; 4]))?;
                }
            }
            Event::Eof if depth > 0 => {
                return Err(ExtractError::damaged("XML that ends too early"));
            }
            Event::Eof if !any => return Err(ExtractError::damaged("XML without any element")),
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// The character that an entity represents.
fn character(entity: &str) -> Result<char, ExtractError> {
    let number = entity.strip_prefix('#').map(|number| {
        match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        }
        .ok()
        .and_then(char::from_u32)
    });
    match entity {
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "amp" => Ok('&'),
        "quot" => Ok('"'),
        "apos" => Ok('\''),
        _ => match number {
            Some(Some(c)) => Ok(c),
            Some(None) => Ok(char::REPLACEMENT_CHARACTER),
            None => {
                let name: String = entity.chars().take(40).collect();
                Err(ExtractError::damaged(format!("XML: the entity &{name}; is unknown")))
            }
        },
    }
}

/// The value of an attribute with any prefix.
pub(super) fn attribute<'a>(tag: &'a BytesStart<'_>, name: &str) -> Option<Cow<'a, str>> {
    value(tag, |key| {
        key.strip_suffix(name).is_some_and(|prefix| prefix.is_empty() || prefix.ends_with(':'))
    })
}

/// The value of the attribute `id` with a prefix, which names a relation.
pub(super) fn relation(tag: &BytesStart<'_>) -> Option<String> {
    value(tag, |key| key.ends_with(":id")).map(Cow::into_owned)
}

fn value<'a>(tag: &'a BytesStart<'_>, has_name: impl Fn(&str) -> bool) -> Option<Cow<'a, str>> {
    let mut attributes = tag.attributes();
    let attributes = attributes.with_checks(false);
    let found = attributes.flatten().find(|attribute| has_name(attribute.key.into_inner()))?;
    match found.value {
        Cow::Borrowed(value) => unescape(value).ok(),
        Cow::Owned(value) => unescape(&value).ok().map(|value| Cow::Owned(value.into_owned())),
    }
}

/// Decodes an XML file: UTF-8, UTF-16 with or without byte order mark, or the declared encoding.
pub(super) fn decode(bytes: Vec<u8>) -> Result<String, ExtractError> {
    let wide = match &bytes[..] {
        [b'<', 0, ..] => Some(UTF_16LE),
        [0, b'<', ..] => Some(UTF_16BE),
        _ => Encoding::for_bom(&bytes).map(|(encoding, _)| encoding),
    };
    if let Some(encoding) = wide {
        return Ok(encoding.decode_with_bom_removal(&bytes).0.into_owned());
    }
    String::from_utf8(bytes).or_else(|error| {
        let bytes = error.into_bytes();
        let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION_BYTES)]);
        let declaration = head.split_once("?>").map_or("", |(declaration, _)| declaration);
        let label =
            declaration.split_once("encoding").and_then(|(_, rest)| rest.split(['"', '\'']).nth(1));
        let encoding = label.and_then(|label| Encoding::for_label(label.as_bytes()));
        match encoding {
            Some(encoding) if encoding != encoding_rs::UTF_8 => {
                Ok(encoding.decode_without_bom_handling(&bytes).0.into_owned())
            }
            _ => Err(ExtractError::damaged("XML that is not in the encoding it names")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_encodings_are_detected() {
        let xml = "<?xml version='1.0' encoding='ISO-8859-1'?><a>größe</a>";
        let latin: Vec<u8> = xml.chars().map(|c| c as u8).collect();
        let wide =
            |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> { xml.encode_utf16().flat_map(bytes).collect() };
        let (little, big) = (wide(u16::to_le_bytes), wide(u16::to_be_bytes));
        let marked = [&[0xFE, 0xFF], &big[..]].concat();
        for bytes in [xml.as_bytes().to_vec(), latin, little, big, marked] {
            assert_eq!(decode(bytes.clone()).as_deref(), Ok(xml), "{:?}", &bytes[..4]);
        }
        assert!(decode(b"<a>\xf6</a>".to_vec()).is_err());
        assert!(decode(b"<?xml encoding='utf-8'?><a>\xf6</a>".to_vec()).is_err());
    }
}
