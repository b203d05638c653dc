//! The tokenizer of the HTML standard (html5gum), at work on a page or on a piece of one.

use super::Clocked;
use super::page::Page;
use crate::failure::Failure;
use html5gum::{Emitter, Error, State, Tokenizer};

/// What a tag leads to: what its content is read as, if not as usual.
type Content = Option<State>;

/// Reads all of a page.
pub(super) fn all(bytes: &mut Clocked<'_>, page: &mut Page<'_>) -> Result<(), Failure> {
    let tokens = Tokens { page, stops: false, tag: None };
    match Tokenizer::new_with_emitter(bytes, tokens).next() {
        Some(Ok(Token::Failure(failure)) | Err(failure)) => Err(failure),
        Some(Ok(Token::Tag(_))) | None => Ok(()),
    }
}

/// Reads on to the end of the next tag, or of the page.
pub(super) fn to_tag(
    bytes: &mut Clocked<'_>,
    page: &mut Page<'_>,
    content: Content,
) -> Result<Content, Failure> {
    let tokens = Tokens { page, stops: true, tag: None };
    let mut tokens = Tokenizer::new_with_emitter(bytes, tokens);
    if let Some(content) = content {
        tokens.set_state(content);
    }
    match tokens.next() {
        Some(Ok(Token::Failure(failure)) | Err(failure)) => Err(failure),
        Some(Ok(Token::Tag(content))) => Ok(content),
        None => Ok(None),
    }
}

/// Where the tokenizer stops.
enum Token {
    Failure(Failure),
    Tag(Content),
}

/// Takes what the tokenizer finds.
struct Tokens<'p, 'a> {
    page: &'p mut Page<'a>,
    /// Whether it stops behind a tag.
    stops: bool,
    /// A tag behind which it has to.
    tag: Option<Content>,
}

impl Emitter for Tokens<'_, '_> {
    type Token = Token;

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
    fn pop_token(&mut self) -> Option<Token> {
        let failure = self.page.failure.take().map(Token::Failure);
        failure.or_else(|| self.tag.take().map(Token::Tag))
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
