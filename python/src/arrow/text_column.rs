//! A column of texts under way, of any size.

use arrow_array::builder::{LargeStringBuilder, StringBuilder};
use arrow_array::{Array, ArrayRef};
use std::sync::Arc;

/// Bytes of texts in a column whose offsets have 32 bits.
const SMALL: usize = i32::MAX as usize;

/// Texts, some of which may be missing: a column of strings, or of large strings where these are
/// more than that holds.
pub(crate) struct TextColumn {
    texts: TextLayout,
    /// Bytes that are not too many for the former.
    small: usize,
}

enum TextLayout {
    Small(StringBuilder),
    Large(LargeStringBuilder),
}

impl Default for TextColumn {
    fn default() -> Self {
        Self::of_small(SMALL)
    }
}

impl TextColumn {
    fn of_small(small: usize) -> Self {
        Self { texts: TextLayout::Small(StringBuilder::new()), small }
    }

    /// Adds a text, or none.
    pub(crate) fn push(&mut self, text: Option<&str>) {
        if let TextLayout::Small(texts) = &mut self.texts
            && texts.values_slice().len().saturating_add(text.map_or(0, str::len)) > self.small
        {
            self.texts = TextLayout::Large(large(texts));
        }
        match &mut self.texts {
            TextLayout::Small(texts) => texts.append_option(text),
            TextLayout::Large(texts) => texts.append_option(text),
        }
    }

    pub(crate) fn finish(&mut self) -> ArrayRef {
        match &mut self.texts {
            TextLayout::Small(texts) => Arc::new(texts.finish()),
            TextLayout::Large(texts) => Arc::new(texts.finish()),
        }
    }
}

/// The same texts with offsets of 64 bits.
fn large(texts: &mut StringBuilder) -> LargeStringBuilder {
    let small = texts.finish();
    let mut large = LargeStringBuilder::with_capacity(small.len(), small.value_data().len());
    for text in &small {
        large.append_option(text);
    }
    large
}
