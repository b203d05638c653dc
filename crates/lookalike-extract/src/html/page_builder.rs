//! Builds the text of a page from its tags and characters.

use super::element::{Element, ElementStack, TagName};
use super::metadata::PageMetadata;
use super::name_hints::{AriaRole, NameHint};
use super::page_text::{Gap, PageText, RegionKind};
use super::tag::Tag;
use crate::reading::{ExtractError, LimitTracker};
use html5gum::State;

/// Maximum bytes of a title.
const TITLE_BYTES: usize = 4 << 10;
/// Bytes of text between two charges to the limits.
const CHARGE_BYTES: usize = 64 << 10;

/// The destination of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharacterTarget {
    Text,
    Title,
    Nowhere,
}

/// An open region of the text.
#[derive(Debug)]
struct OpenRegion {
    /// Depth of its element in the stack.
    depth: usize,
    is_main: bool,
}

/// Builds text and metadata while a page is read.
pub(super) struct PageBuilder<'a> {
    tracker: &'a LimitTracker<'a>,
    pub(super) text: PageText,
    pub(super) metadata: PageMetadata,
    /// Bytes of text charged to the limits.
    charged: usize,
    /// The current tag.
    pub(super) tag: Tag,
    pub(super) last_start: TagName,
    pub(super) target: CharacterTarget,
    stack: ElementStack,
    regions: Vec<OpenRegion>,
    /// Open regions that are the main text.
    mains: usize,
    /// Depth of the open link or button in the stack; 0 if none is open.
    link: usize,
    /// Whether self-closing tags have no content, as in XML.
    is_xml: bool,
}

impl<'a> PageBuilder<'a> {
    pub(super) fn new(tracker: &'a LimitTracker<'a>, is_xml: bool) -> Self {
        Self {
            tracker,
            text: PageText::new(),
            metadata: PageMetadata::default(),
            charged: 0,
            tag: Tag::default(),
            last_start: TagName::default(),
            target: CharacterTarget::Text,
            stack: ElementStack::new(),
            regions: Vec::new(),
            mains: 0,
            link: 0,
            is_xml,
        }
    }

    /// Counts the text added since the last call against the limits.
    pub(super) fn charge(&mut self) -> Result<(), ExtractError> {
        let grown = self.text.bytes.len() - self.charged;
        self.charged = self.text.bytes.len();
        self.tracker.charge_bytes(grown)
    }

    /// Calls [`charge`](Self::charge) once per [`CHARGE_BYTES`] of text. The readers of a page call
    /// this after each token.
    #[inline]
    pub(super) fn charge_if_due(&mut self) -> Result<(), ExtractError> {
        if self.text.bytes.len() - self.charged < CHARGE_BYTES { Ok(()) } else { self.charge() }
    }

    /// Appends characters.
    pub(super) fn characters(&mut self, bytes: &[u8]) {
        match self.target {
            CharacterTarget::Nowhere => {}
            CharacterTarget::Title => {
                let room = TITLE_BYTES.saturating_sub(self.metadata.title.len());
                self.metadata.title.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            CharacterTarget::Text => {
                if self.stack.has(Element::Pre) {
                    self.text.push_verbatim(bytes, self.link > 0);
                } else {
                    self.text.push(bytes, self.link > 0);
                }
            }
        }
    }

    /// Begins a tag.
    #[inline]
    pub(super) fn begin_tag(&mut self, is_end: bool) {
        self.tag.begin(is_end, self.mains > 0);
    }

    /// Ends the current tag. Returns the tokenizer state for its content, if not the default.
    pub(super) fn take_tag(&mut self) -> Option<State> {
        self.target = CharacterTarget::Text;
        if self.tag.is_end {
            self.end();
            return None;
        }
        self.tag.end_attribute();
        self.last_start = self.tag.name;
        self.start()
    }

    fn start(&mut self) -> Option<State> {
        let element = self.tag.element();
        if element.is_stacked() {
            self.start_stacked(element);
            return None;
        }
        match element {
            Element::Break => self.text.line_break(),
            Element::Rule | Element::Body => self.text.gap(Gap::Line),
            Element::Html => {
                self.is_xml |= self.tag.attributes.namespace;
                if self.metadata.language.is_empty() {
                    self.metadata.language.clone_from(&self.tag.language);
                }
            }
            Element::Meta => self.metadata.meta(&self.tag.key, &self.tag.content),
            Element::Relation => self.metadata.relation(&self.tag.key, &self.tag.content),
            Element::Title
            | Element::Script
            | Element::Raw
            | Element::Textarea
            | Element::Xmp
            | Element::Plaintext => return self.start_raw(element),
            _ => {}
        }
        None
    }

    /// Starts an element whose content has no tags.
    fn start_raw(&mut self, element: Element) -> Option<State> {
        let foreign = self.in_foreign(element);
        if self.tag.closes_itself && (self.is_xml || foreign) {
            return None;
        }
        let first_title = || self.metadata.title.is_empty() && !foreign;
        self.target = match element {
            Element::Title if first_title() => CharacterTarget::Title,
            Element::Title | Element::Script | Element::Raw => CharacterTarget::Nowhere,
            _ => CharacterTarget::Text,
        };
        if self.target == CharacterTarget::Text {
            self.text.gap(Gap::Line);
        }
        Some(match element {
            Element::Title | Element::Textarea => State::RcData,
            Element::Script => State::ScriptData,
            Element::Plaintext => State::PlainText,
            _ => State::RawText,
        })
    }

    fn start_stacked(&mut self, element: Element) {
        let in_svg = self.stack.has(Element::Svg);
        // A block in a drawing means that the drawing's end tag is missing.
        let ended = in_svg && !element.is_inline() && self.stack.end(Element::Svg);
        if self.stack.imply_end(element) || ended {
            self.settle();
        }
        self.text.gap(gap(element));
        if self.tag.closes_itself && (self.is_xml || self.in_foreign(element)) {
            return;
        }
        let region = self.region(element);
        self.stack.push(element);
        let depth = self.stack.depth();
        if self.link == 0 && (self.tag.attributes.href || element == Element::Button) {
            self.link = depth;
        }
        if let Some(kind) = region
            && self.text.open_region(kind).is_some()
        {
            let is_main = matches!(kind, RegionKind::Main | RegionKind::Article);
            self.mains += usize::from(is_main);
            self.regions.push(OpenRegion { depth, is_main });
        }
    }

    /// Whether an element is in foreign content: a drawing or formula.
    fn in_foreign(&self, element: Element) -> bool {
        let is_in = |foreign| element == foreign || self.stack.has(foreign);
        is_in(Element::Svg) || is_in(Element::Math)
    }

    /// The kind of region that an element begins.
    fn region(&self, element: Element) -> Option<RegionKind> {
        let tag = &self.tag;
        let in_main = self.mains > 0;
        match element {
            Element::Inert | Element::Svg => return Some(RegionKind::Inert),
            Element::Dialog if !tag.attributes.open => return Some(RegionKind::Hidden),
            _ if tag.attributes.hidden => return Some(RegionKind::Hidden),
            _ if !element.is_container() => return None,
            _ => {}
        }
        match tag.attributes.role {
            AriaRole::Main => return Some(RegionKind::Main),
            AriaRole::Article => return Some(RegionKind::Article),
            AriaRole::Around => return Some(RegionKind::Around),
            AriaRole::None => {}
        }
        match element {
            Element::Main => Some(RegionKind::Main),
            Element::Article => Some(RegionKind::Article),
            Element::Nav => Some(RegionKind::Around),
            Element::Aside if !in_main => Some(RegionKind::Around),
            Element::Header | Element::Footer if !in_main && !self.stack.has(Element::Section) => {
                Some(RegionKind::Around)
            }
            _ if tag.attributes.aria_hidden => Some(RegionKind::PerhapsAround),
            _ => match tag.attributes.name_hint {
                NameHint::Around => Some(RegionKind::PerhapsAround),
                NameHint::Main => Some(RegionKind::PerhapsMain),
                NameHint::Contents => Some(RegionKind::Contents),
                NameHint::None => None,
            },
        }
    }

    fn end(&mut self) {
        let element = self.tag.element();
        match element {
            Element::Break => self.text.line_break(),
            Element::Textarea | Element::Xmp => self.text.gap(Gap::Line),
            _ if element.is_stacked() => {
                if self.stack.end(element) {
                    self.settle();
                } else if element == Element::Link {
                    // The link began outside an open block; links may cross blocks.
                    self.link = 0;
                }
                self.text.gap(gap(element));
            }
            _ => {}
        }
    }

    /// Ends the regions and the link whose element is closed. Only the outermost closed element has
    /// an end tag.
    fn settle(&mut self) {
        let depth = self.stack.depth();
        if self.link > depth {
            self.link = 0;
        }
        while self.regions.last().is_some_and(|open| open.depth > depth) {
            let Some(open) = self.regions.pop() else { break };
            self.mains -= usize::from(open.is_main);
            self.text.close_region(open.depth == depth + 1);
        }
    }
}

/// The separator before and after an element.
fn gap(element: Element) -> Gap {
    match element {
        Element::Cell => Gap::Tab,
        Element::Inert => Gap::Blank,
        _ if element.is_inline() => Gap::None,
        _ => Gap::Line,
    }
}
