//! A builder of text columns of any size.

use arrow_array::builder::{LargeStringBuilder, StringBuilder};
use arrow_array::{Array, ArrayRef};
use std::sync::Arc;

/// Largest size in bytes of the texts of a column with 32-bit offsets.
const SMALL: usize = i32::MAX as usize;

/// Builds a column of optional texts. Its type is string, or large string if the texts exceed
/// 32-bit offsets.
pub(crate) struct TextColumn {
    texts: TextLayout,
    /// Largest size in bytes of the texts of a column of strings.
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

    /// Adds a text or a null.
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

/// Copies the texts to a builder with 64-bit offsets.
fn large(texts: &mut StringBuilder) -> LargeStringBuilder {
    let small = texts.finish();
    let mut large = LargeStringBuilder::with_capacity(small.len(), small.value_data().len());
    for text in &small {
        large.append_option(text);
    }
    large
}
