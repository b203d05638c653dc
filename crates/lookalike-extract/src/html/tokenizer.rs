//! Tokenization of a page, or of a part of one, by html5gum.

use super::page_builder::PageBuilder;
use super::timed_reader::TimedReader;
use crate::reading::ExtractError;
use html5gum::{Emitter, Error, State, Tokenizer};

/// The tokenizer state for the content of a tag, if not the default.
type ContentState = Option<State>;

/// Reads all of a page.
pub(super) fn all(
    bytes: &mut TimedReader<'_>,
    page: &mut PageBuilder<'_>,
) -> Result<(), ExtractError> {
    let tokenizer = PageEmitter { page, stops: false, tag: None };
    match Tokenizer::new_with_emitter(bytes, tokenizer).next() {
        Some(Ok(TokenizerEvent::Failure(failure)) | Err(failure)) => Err(failure),
        Some(Ok(TokenizerEvent::Tag(_))) | None => Ok(()),
    }
}

/// Reads up to the end of the next tag, or of the page.
pub(super) fn to_tag(
    bytes: &mut TimedReader<'_>,
    page: &mut PageBuilder<'_>,
    content: ContentState,
) -> Result<ContentState, ExtractError> {
    let tokenizer = PageEmitter { page, stops: true, tag: None };
    let mut tokenizer = Tokenizer::new_with_emitter(bytes, tokenizer);
    if let Some(content) = content {
        tokenizer.set_state(content);
    }
    match tokenizer.next() {
        Some(Ok(TokenizerEvent::Failure(failure)) | Err(failure)) => Err(failure),
        Some(Ok(TokenizerEvent::Tag(content))) => Ok(content),
        None => Ok(None),
    }
}

/// An event at which the tokenizer stops.
enum TokenizerEvent {
    Failure(ExtractError),
    Tag(ContentState),
}

/// Passes tokens to a [`PageBuilder`].
struct PageEmitter<'p, 'a> {
    page: &'p mut PageBuilder<'a>,
    /// Whether to stop after a tag.
    stops: bool,
    /// The content state of the tag after which to stop.
    tag: Option<ContentState>,
}

impl Emitter for PageEmitter<'_, '_> {
    type Token = TokenizerEvent;

    fn set_last_start_tag(&mut self, last_start_tag: Option<&[u8]>) {
        self.page.last_start.clear();
        self.page.last_start.push(last_start_tag.unwrap_or_default());
    }

    fn emit_eof(&mut self) {}

    fn emit_error(&mut self, _: Error) {}

    #[inline]
    fn should_emit_errors(&mut self) -> bool {
        false
    }

    #[inline]
    fn pop_token(&mut self) -> Option<TokenizerEvent> {
        match self.page.charge_if_due() {
            Ok(()) => self.tag.take().map(TokenizerEvent::Tag),
            Err(failure) => Some(TokenizerEvent::Failure(failure)),
        }
    }

    #[inline]
    fn emit_string(&mut self, characters: &[u8]) {
        self.page.characters(characters);
    }

    #[inline]
    fn init_start_tag(&mut self) {
        self.page.begin_tag(false);
    }

    #[inline]
    fn init_end_tag(&mut self) {
        self.page.begin_tag(true);
    }

    fn init_comment(&mut self) {}

    fn emit_current_tag(&mut self) -> Option<State> {
        let content = self.page.take_tag();
        if self.stops {
            self.tag = Some(content);
            return None;
        }
        content
    }

    fn emit_current_comment(&mut self) {}

    fn emit_current_doctype(&mut self) {}

    fn set_self_closing(&mut self) {
        self.page.tag.closes_itself = true;
    }

    fn set_force_quirks(&mut self) {}

    #[inline]
    fn push_tag_name(&mut self, name: &[u8]) {
        self.page.tag.name.push(name);
    }

    fn push_comment(&mut self, _: &[u8]) {}

    fn push_doctype_name(&mut self, _: &[u8]) {}

    fn init_doctype(&mut self) {}

    #[inline]
    fn init_attribute(&mut self) {
        self.page.tag.begin_attribute();
    }

    #[inline]
    fn push_attribute_name(&mut self, name: &[u8]) {
        self.page.tag.push_attribute_name(name);
    }

    #[inline]
    fn push_attribute_value(&mut self, value: &[u8]) {
        self.page.tag.push_value(value);
    }

    fn set_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn set_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_public_identifier(&mut self, _: &[u8]) {}

    fn push_doctype_system_identifier(&mut self, _: &[u8]) {}

    fn current_is_appropriate_end_tag_token(&mut self) -> bool {
        self.page.tag.is_end && self.page.tag.name.get() == self.page.last_start.get()
    }
}
