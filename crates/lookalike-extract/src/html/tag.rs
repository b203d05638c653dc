//! The current tag: its name and the attributes in use.

use super::element::{Element, TagName};
use super::name_hints::{self, AriaRole, NameHint};
use memchr::memchr2;

/// Maximum bytes of a value.
const VALUE_BYTES: usize = 4 << 10;

/// The attributes in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attribute {
    Hidden,
    /// The attribute of a `dialog`.
    Open,
    AriaHidden,
    Style,
    /// `class` or `id`.
    Names,
    Role,
    Href,
    Language,
    Namespace,
    /// Name of a `meta` or relation of a `link`.
    Key,
    Content,
}

/// The part of an attribute that is being read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum AttributePhase {
    #[default]
    None,
    Name,
    Value(Option<Attribute>),
}

/// A start or end tag.
#[derive(Debug, Default)]
pub(super) struct Tag {
    pub(super) name: TagName,
    pub(super) is_end: bool,
    /// Whether the tag is in the main text, where names are weaker hints.
    pub(super) in_main: bool,
    pub(super) closes_itself: bool,
    element: Option<Element>,
    attribute: TagName,
    phase: AttributePhase,
    value: Vec<u8>,
    pub(super) attributes: TagAttributes,
    pub(super) language: Vec<u8>,
    pub(super) key: Vec<u8>,
    pub(super) content: Vec<u8>,
}

/// The attributes of a tag. Some are stored without their value.
#[expect(clippy::struct_excessive_bools, reason = "each attribute is present or absent")]
#[derive(Debug, Default)]
pub(super) struct TagAttributes {
    pub(super) hidden: bool,
    pub(super) open: bool,
    pub(super) aria_hidden: bool,
    pub(super) name_hint: NameHint,
    pub(super) role: AriaRole,
    pub(super) href: bool,
    pub(super) namespace: bool,
}

impl Tag {
    pub(super) fn begin(&mut self, is_end: bool, in_main: bool) {
        self.name.clear();
        self.is_end = is_end;
        self.in_main = in_main;
        self.closes_itself = false;
        self.element = None;
        self.phase = AttributePhase::None;
        self.attributes = TagAttributes::default();
        self.language.clear();
        self.key.clear();
        self.content.clear();
    }

    /// The class of the element. Requires the complete name.
    #[inline]
    pub(super) fn element(&mut self) -> Element {
        *self.element.get_or_insert_with(|| Element::of(self.name.get()))
    }

    pub(super) fn begin_attribute(&mut self) {
        self.end_attribute();
        self.attribute.clear();
        self.phase = if self.is_end { AttributePhase::None } else { AttributePhase::Name };
    }

    pub(super) fn push_attribute_name(&mut self, name: &[u8]) {
        if self.phase == AttributePhase::Name {
            self.attribute.push(name);
        }
    }

    /// As [`Self::push_attribute_name`], in lower case.
    pub(super) fn push_attribute_name_lower(&mut self, name: &[u8]) {
        if self.phase == AttributePhase::Name {
            self.attribute.push_lower(name);
        }
    }

    /// Like [`Self::push_value`]. Returns true if the value contains no references or is unused.
    pub(super) fn push_plain_value(&mut self, value: &[u8]) -> bool {
        if value.is_empty() || self.is_end {
            return true;
        }
        self.push_value(value);
        !matches!(self.phase, AttributePhase::Value(Some(_)))
            || memchr2(b'&', b'\r', value).is_none()
    }

    pub(super) fn push_value(&mut self, value: &[u8]) {
        if self.phase == AttributePhase::Name {
            self.value.clear();
            self.phase = AttributePhase::Value(self.used_attribute());
        }
        if matches!(self.phase, AttributePhase::Value(Some(_))) {
            let room = VALUE_BYTES.saturating_sub(self.value.len());
            self.value.extend_from_slice(&value[..value.len().min(room)]);
        }
    }

    /// The attribute, if this element uses it.
    fn used_attribute(&mut self) -> Option<Attribute> {
        let element = self.element();
        Some(match (element, self.attribute.get()) {
            (Element::Meta, b"name" | b"property" | b"http-equiv" | b"itemprop")
            | (Element::Relation, b"rel") => Attribute::Key,
            (Element::Meta, b"content") | (Element::Relation, b"href") => Attribute::Content,
            (Element::Html, b"lang" | b"xml:lang") => Attribute::Language,
            (Element::Html, b"xmlns") => Attribute::Namespace,
            (Element::Meta | Element::Relation | Element::Html, _) => return None,
            (_, b"hidden") => Attribute::Hidden,
            (_, b"style") => Attribute::Style,
            (Element::Dialog, b"open") => Attribute::Open,
            (Element::Link, b"href") => Attribute::Href,
            (_, b"class" | b"id") if element.is_container() => Attribute::Names,
            (_, b"role") if element.is_container() => Attribute::Role,
            (_, b"aria-hidden") if element.is_container() => Attribute::AriaHidden,
            _ => return None,
        })
    }

    /// Applies the current attribute, if there is one.
    #[inline]
    pub(super) fn end_attribute(&mut self) {
        let attribute = match std::mem::replace(&mut self.phase, AttributePhase::None) {
            AttributePhase::None => return,
            AttributePhase::Name => {
                self.value.clear();
                self.used_attribute()
            }
            AttributePhase::Value(attribute) => attribute,
        };
        let value = self.value.as_slice();
        match attribute {
            // A search in the page shows `until-found` elements.
            Some(Attribute::Hidden) => {
                self.attributes.hidden = !value.eq_ignore_ascii_case(b"until-found");
            }
            Some(Attribute::Open) => self.attributes.open = true,
            Some(Attribute::AriaHidden) => {
                self.attributes.aria_hidden = value.eq_ignore_ascii_case(b"true");
            }
            Some(Attribute::Style) => self.attributes.hidden |= name_hints::hides(value),
            Some(Attribute::Names) if self.attributes.name_hint == NameHint::None => {
                self.attributes.name_hint = name_hints::name_hint(value, self.in_main);
            }
            None | Some(Attribute::Names) => {}
            Some(Attribute::Role) => self.attributes.role = name_hints::role(value, self.in_main),
            Some(Attribute::Href) => self.attributes.href = true,
            Some(Attribute::Namespace) => self.attributes.namespace = true,
            Some(Attribute::Language) => self.language.clone_from(&self.value),
            Some(Attribute::Key) => self.key.clone_from(&self.value),
            Some(Attribute::Content) => self.content.clone_from(&self.value),
        }
    }
}
