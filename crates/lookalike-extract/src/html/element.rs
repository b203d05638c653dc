//! Classes of HTML elements, and the stack of open elements.

/// Classes of elements. An end tag closes the innermost open element of its class, even if the
/// names differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Element {
    /// Has no line breaks around it. Unknown elements belong to this class.
    Inline,
    /// A block without further meaning.
    Block,
    Section,
    Dialog,
    Nav,
    Header,
    Footer,
    Aside,
    Main,
    Article,
    List,
    Item,
    Term,
    Paragraph,
    Heading,
    Pre,
    Table,
    RowGroup,
    Row,
    Cell,
    Link,
    Button,
    /// Its content is not rendered.
    Inert,
    Svg,
    Math,
    /// `br`.
    Break,
    /// `hr`.
    Rule,
    /// Without content.
    Void,
    Html,
    Head,
    Body,
    Meta,
    /// The element `link`.
    Relation,
    Title,
    Script,
    /// Raw text that is not rendered; identified by its [`TagName`].
    Raw,
    Textarea,
    Xmp,
    Plaintext,
}

/// Number of classes.
const COUNT: usize = Element::Plaintext as usize + 1;

impl Element {
    /// The class of a lower-case name.
    pub(super) fn of(name: &[u8]) -> Self {
        match name {
            b"a" => Self::Link,
            b"p" => Self::Paragraph,
            b"li" => Self::Item,
            b"ul" | b"ol" | b"dl" | b"menu" | b"dir" => Self::List,
            b"dt" | b"dd" => Self::Term,
            b"td" | b"th" => Self::Cell,
            b"tr" => Self::Row,
            b"thead" | b"tbody" | b"tfoot" => Self::RowGroup,
            b"table" => Self::Table,
            b"br" => Self::Break,
            b"hr" => Self::Rule,
            b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Self::Heading,
            b"pre" | b"listing" => Self::Pre,
            b"nav" => Self::Nav,
            b"section" => Self::Section,
            b"dialog" => Self::Dialog,
            b"header" => Self::Header,
            b"footer" => Self::Footer,
            b"aside" => Self::Aside,
            b"main" => Self::Main,
            b"article" => Self::Article,
            b"button" => Self::Button,
            b"img" | b"input" | b"wbr" | b"area" | b"base" | b"basefont" | b"bgsound" | b"col"
            | b"embed" | b"frame" | b"keygen" | b"param" | b"source" | b"track" | b"image" => {
                Self::Void
            }
            b"address" | b"blockquote" | b"caption" | b"center" | b"colgroup" | b"details"
            | b"div" | b"fieldset" | b"figcaption" | b"figure" | b"form" | b"frameset"
            | b"hgroup" | b"legend" | b"object" | b"optgroup" | b"option" | b"search"
            | b"summary" => Self::Block,
            b"select" | b"template" | b"canvas" | b"video" | b"audio" | b"datalist"
            | b"annotation" | b"annotation-xml" => Self::Inert,
            b"svg" => Self::Svg,
            b"math" => Self::Math,
            b"html" => Self::Html,
            b"head" => Self::Head,
            b"body" => Self::Body,
            b"meta" => Self::Meta,
            b"link" => Self::Relation,
            b"title" => Self::Title,
            b"script" => Self::Script,
            b"style" | b"noscript" | b"iframe" | b"noembed" | b"noframes" => Self::Raw,
            b"textarea" => Self::Textarea,
            b"xmp" => Self::Xmp,
            b"plaintext" => Self::Plaintext,
            _ => Self::Inline,
        }
    }

    /// Whether the element is part of a line.
    pub(super) fn is_inline(self) -> bool {
        INLINE.has(self)
    }

    /// Whether the element may be a region of a page, such as a menu.
    pub(super) fn is_container(self) -> bool {
        CONTAINER.has(self)
    }

    /// Whether the element is put on the [`ElementStack`].
    pub(super) fn is_stacked(self) -> bool {
        (self as u8) < (Self::Break as u8)
    }
}

/// A set of elements.
#[derive(Clone, Copy)]
struct ElementSet(u64);

impl ElementSet {
    const fn of(elements: &[Element]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < elements.len() {
            bits |= 1 << elements[i] as u8;
            i += 1;
        }
        Self(bits)
    }

    fn has(self, element: Element) -> bool {
        self.0 >> (element as u8) & 1 == 1
    }
}

const INLINE: ElementSet = {
    use Element::{Button, Inline, Link, Math, Meta, Raw, Relation, Script, Svg, Void};
    ElementSet::of(&[Inline, Link, Button, Svg, Math, Void, Meta, Relation, Script, Raw])
};
const CONTAINER: ElementSet = {
    use Element::{Article, Aside, Block, Dialog, Footer, Header, List, Main, Nav, Section, Table};
    ElementSet::of(&[
        Block, Section, Dialog, Nav, Header, Footer, Aside, Main, Article, List, Table,
    ])
};
const PARAGRAPH: ElementSet = ElementSet::of(&[Element::Paragraph]);
/// Elements that neither end tags of inline elements nor implied ends cross.
const BARRIERS: ElementSet = ElementSet(!(INLINE.0 | PARAGRAPH.0));

/// Maximum open elements to search for the element that an inline end tag or an implied end closes.
const REACH: usize = 16;

/// The open elements. Every operation takes amortized constant time, at any depth.
#[derive(Debug)]
pub(super) struct ElementStack {
    open: Vec<Element>,
    counts: [u32; COUNT],
}

impl ElementStack {
    pub(super) fn new() -> Self {
        Self { open: Vec::new(), counts: [0; COUNT] }
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    #[inline]
    pub(super) fn push(&mut self, element: Element) {
        self.open.push(element);
        self.counts[element as usize] += 1;
    }

    /// Whether an element of the class is open.
    pub(super) fn has(&self, element: Element) -> bool {
        self.counts[element as usize] > 0
    }

    /// Ends the elements whose end a start tag implies: paragraphs before blocks, items before
    /// items. Returns whether an element ended.
    pub(super) fn imply_end(&mut self, next: Element) -> bool {
        let (ended, barriers) = match next {
            Element::Item | Element::Term => {
                (ElementSet::of(&[next]), ElementSet::of(&[Element::List]))
            }
            Element::Cell => {
                (ElementSet::of(&[next]), ElementSet::of(&[Element::Row, Element::Table]))
            }
            Element::Row => (
                ElementSet::of(&[next, Element::Cell]),
                ElementSet::of(&[Element::RowGroup, Element::Table]),
            ),
            Element::RowGroup => (
                ElementSet::of(&[next, Element::Row, Element::Cell]),
                ElementSet::of(&[Element::Table]),
            ),
            Element::Link => (ElementSet::of(&[next]), BARRIERS),
            _ if next.is_inline() => return false,
            _ => (PARAGRAPH, BARRIERS),
        };
        let from = self.open.len().saturating_sub(REACH);
        let mut found = None;
        for at in (from..self.open.len()).rev() {
            let open = self.open[at];
            if barriers.has(open) {
                break;
            }
            if ended.has(open) {
                found = Some(at);
            }
        }
        if let Some(at) = found {
            self.truncate(at);
        }
        found.is_some()
    }

    /// Ends an element and its descendants. Returns whether it was open; otherwise, the end tag is
    /// ignored.
    #[inline]
    pub(super) fn end(&mut self, element: Element) -> bool {
        if !self.has(element) {
            return false;
        }
        let from = if element.is_inline() { self.open.len().saturating_sub(REACH) } else { 0 };
        for at in (from..self.open.len()).rev() {
            let open = self.open[at];
            if open == element {
                self.truncate(at);
                return true;
            }
            if element.is_inline() && BARRIERS.has(open) {
                return false;
            }
        }
        false
    }

    fn truncate(&mut self, depth: usize) {
        for element in self.open.drain(depth..) {
            self.counts[element as usize] -= 1;
        }
    }
}

/// The name of a tag or an attribute, truncated to 32 bytes: all known names are shorter.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct TagName {
    bytes: [u8; 32],
    length: usize,
}

impl TagName {
    pub(super) fn clear(&mut self) {
        self.length = 0;
    }

    #[inline]
    pub(super) fn push(&mut self, more: &[u8]) {
        let room = &mut self.bytes[self.length..];
        let count = more.len().min(room.len());
        room[..count].copy_from_slice(&more[..count]);
        self.length += count;
    }

    /// As [`Self::push`], in lower case.
    #[inline]
    pub(super) fn push_lower(&mut self, more: &[u8]) {
        let from = self.length;
        self.push(more);
        self.bytes[from..self.length].make_ascii_lowercase();
    }

    #[inline]
    pub(super) fn get(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(elements: &[Element]) -> ElementStack {
        let mut stack = ElementStack::new();
        for element in elements {
            stack.imply_end(*element);
            stack.push(*element);
        }
        stack
    }

    #[test]
    fn an_end_closes_descendants() {
        let mut open = stack(&[Element::Section, Element::Nav, Element::List, Element::Item]);
        assert!(!open.end(Element::Table));
        assert_eq!(open.depth(), 4);
        assert!(open.end(Element::Section));
        assert_eq!(open.depth(), 0);
        assert!(!open.has(Element::Nav) && !open.end(Element::Nav));
    }

    #[test]
    fn ends_are_implied() {
        assert_eq!(stack(&[Element::Paragraph, Element::Link, Element::Paragraph]).depth(), 1);
        assert_eq!(
            stack(&[Element::List, Element::Item, Element::Block, Element::Item]).depth(),
            2
        );
        let nested = [Element::List, Element::Item, Element::List, Element::Item];
        assert_eq!(stack(&nested).depth(), 4);
        let rows = [Element::Table, Element::Row, Element::Cell, Element::Row, Element::Cell];
        assert_eq!(stack(&rows).depth(), 3);
        let inner = [Element::Table, Element::Row, Element::Cell, Element::Table, Element::Row];
        assert_eq!(stack(&inner).depth(), 5);
    }

    #[test]
    fn inline_ends_stay_in_their_block() {
        let mut open = stack(&[Element::Inline, Element::Nav, Element::List]);
        assert!(!open.end(Element::Inline));
        assert_eq!(open.depth(), 3);
        let mut open = stack(&[Element::Nav, Element::Link, Element::Inline]);
        assert!(open.end(Element::Link));
        assert_eq!(open.depth(), 1);
    }

    #[test]
    fn deep_elements_take_linear_time() {
        let mut open = ElementStack::new();
        open.push(Element::Section);
        open.push(Element::Link);
        for _ in 0..1_000_000 {
            open.push(Element::Inline);
        }
        // Quadratic time would not finish.
        for _ in 0..1_000_000 {
            assert!(!open.end(Element::Link) && !open.end(Element::Nav));
            open.imply_end(Element::Item);
        }
        assert!(open.end(Element::Section));
        assert_eq!(open.depth(), 0);
    }

    #[test]
    fn long_names_are_cut() {
        let mut name = TagName::default();
        name.push(&[b'x'; 20]);
        name.push(&[b'y'; 20]);
        assert_eq!(name.get().len(), 32);
        name.clear();
        name.push(b"nav");
        assert_eq!(Element::of(name.get()), Element::Nav);
    }
}
