//! A page while it is read: tags and characters in, text in blocks out.

use super::about::About;
use super::element::{Element, Name, Stack};
use super::hint::{Role, Sound};
use super::tag::Tag;
use super::text::{Gap, RegionKind, Text};
use crate::failure::Failure;
use crate::job::Job;
use html5gum::State;

/// Bytes of a title that are kept.
const TITLE_BYTES: usize = 4 << 10;
/// Bytes of text after which the job is told.
const STEP: usize = 64 << 10;

/// Where characters go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Text,
    Title,
    Nowhere,
}

/// An open region of the text.
#[derive(Debug)]
struct Open {
    /// How many elements are open in it, itself included.
    depth: usize,
    is_main: bool,
}

/// What a page has said so far.
pub(super) struct Page<'a> {
    job: &'a Job<'a>,
    pub(super) text: Text,
    pub(super) about: About,
    /// Why reading cannot go on.
    pub(super) failure: Option<Failure>,
    /// Bytes of text that the job knows of.
    told: usize,
    /// The tag that is being read.
    pub(super) tag: Tag,
    pub(super) last_start: Name,
    pub(super) target: Target,
    stack: Stack,
    regions: Vec<Open>,
    /// Open regions that are the main text.
    mains: usize,
    /// How many elements are open in a link or button, itself included; 0 outside.
    link: usize,
    /// Whether tags that close themselves do, as in XML.
    is_xml: bool,
}

impl<'a> Page<'a> {
    pub(super) fn new(job: &'a Job<'a>, is_xml: bool) -> Self {
        Self {
            job,
            text: Text::new(),
            about: About::default(),
            failure: None,
            told: 0,
            tag: Tag::new(),
            last_start: Name::new(),
            target: Target::Text,
            stack: Stack::new(),
            regions: Vec::new(),
            mains: 0,
            link: 0,
            is_xml,
        }
    }

    /// Tells the job what is left to tell.
    pub(super) fn tell(&mut self) -> Result<(), Failure> {
        let grown = self.text.bytes.len() - self.told;
        self.told = self.text.bytes.len();
        self.job.expand(grown)
    }

    /// Takes characters.
    pub(super) fn characters(&mut self, bytes: &[u8]) {
        match self.target {
            Target::Nowhere => {}
            Target::Title => {
                let room = TITLE_BYTES.saturating_sub(self.about.title.len());
                self.about.title.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            Target::Text => {
                if self.stack.has(Element::Pre) {
                    self.text.push_verbatim(bytes, self.link > 0);
                } else {
                    self.text.push(bytes, self.link > 0);
                }
                if self.text.bytes.len() - self.told >= STEP
                    && let Err(failure) = self.tell()
                {
                    self.failure.get_or_insert(failure);
                }
            }
        }
    }

    /// A tag begins.
    #[inline]
    pub(super) fn begin_tag(&mut self, is_end: bool) {
        self.tag.begin(is_end, self.mains > 0);
    }

    /// Takes the tag, which is complete; what its content is read as, if not as usual.
    pub(super) fn take_tag(&mut self) -> Option<State> {
        self.target = Target::Text;
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
                self.is_xml |= self.tag.namespace;
                if self.about.language.is_empty() {
                    self.about.language.clone_from(&self.tag.language);
                }
            }
            Element::Meta => self.about.meta(&self.tag.key, &self.tag.content),
            Element::Relation => self.about.relation(&self.tag.key, &self.tag.content),
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

    /// An element whose content has no tags.
    fn start_raw(&mut self, element: Element) -> Option<State> {
        let foreign = self.in_foreign(element);
        if self.tag.closes_itself && (self.is_xml || foreign) {
            return None;
        }
        let first_title = || self.about.title.is_empty() && !foreign;
        self.target = match element {
            Element::Title if first_title() => Target::Title,
            Element::Title | Element::Script | Element::Raw => Target::Nowhere,
            _ => Target::Text,
        };
        if self.target == Target::Text {
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
        // Blocks are no part of a drawing: its end is missing.
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
        if self.link == 0 && (self.tag.href || element == Element::Button) {
            self.link = depth;
        }
        if let Some(kind) = region
            && self.text.open_region(kind).is_some()
        {
            let is_main = matches!(kind, RegionKind::Main | RegionKind::Article);
            self.mains += usize::from(is_main);
            self.regions.push(Open { depth, is_main });
        }
    }

    /// Whether an element is of a drawing or formula, where other rules hold.
    fn in_foreign(&self, element: Element) -> bool {
        let is = |foreign| element == foreign || self.stack.has(foreign);
        is(Element::Svg) || is(Element::Math)
    }

    /// What an element says about its content.
    fn region(&self, element: Element) -> Option<RegionKind> {
        let tag = &self.tag;
        let in_main = self.mains > 0;
        match element {
            Element::Inert | Element::Svg => return Some(RegionKind::Inert),
            Element::Dialog if !tag.open => return Some(RegionKind::Hidden),
            _ if tag.hidden => return Some(RegionKind::Hidden),
            _ if !element.is_container() => return None,
            _ => {}
        }
        match tag.role {
            Role::Main => return Some(RegionKind::Main),
            Role::Article => return Some(RegionKind::Article),
            Role::Around => return Some(RegionKind::Around),
            Role::None => {}
        }
        match element {
            Element::Main => Some(RegionKind::Main),
            Element::Article => Some(RegionKind::Article),
            Element::Nav => Some(RegionKind::Around),
            Element::Aside if !in_main => Some(RegionKind::Around),
            Element::Header | Element::Footer if !in_main && !self.stack.has(Element::Section) => {
                Some(RegionKind::Around)
            }
            _ if tag.aria_hidden => Some(RegionKind::PerhapsAround),
            _ => match tag.sound {
                Sound::Around => Some(RegionKind::PerhapsAround),
                Sound::Main => Some(RegionKind::PerhapsMain),
                Sound::Contents => Some(RegionKind::Contents),
                Sound::None => None,
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
                    // Its start is behind a block, which tags may cross.
                    self.link = 0;
                }
                self.text.gap(gap(element));
            }
            _ => {}
        }
    }

    /// Ends the regions and the link whose element is no longer open. Only the outermost of the
    /// elements that were just closed has an end of its own.
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

/// What stands before and after an element.
fn gap(element: Element) -> Gap {
    match element {
        Element::Cell => Gap::Tab,
        Element::Inert => Gap::Blank,
        _ if element.is_inline() => Gap::None,
        _ => Gap::Line,
    }
}
