//! Ids in results: of the type that they were given in.

use crate::inputs::Input;
use arrow_array::builder::{Int64Builder, StringBuilder};
use arrow_array::{Array, ArrayRef, Int64Array};
use std::sync::Arc;

/// What ids of results are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdKind {
    /// Of documents in memory: rows or integers, as 64-bit integers.
    Numbers,
    /// Of documents in memory: texts.
    Texts,
    /// Of files.
    Files,
}

impl IdKind {
    /// What both sides have in common.
    pub(crate) fn of(documents: &Input, reference: Option<&Input>) -> Self {
        let kind = |input: &Input| match input {
            Input::Documents(held) => {
                let rows = held.get().rows();
                let numbers = rows.named_by_row() || rows.named_by_number();
                if numbers { Self::Numbers } else { Self::Texts }
            }
            Input::Paths(_) => Self::Files,
        };
        match (kind(documents), reference.map(kind)) {
            (Self::Files, _) => Self::Files,
            (Self::Numbers, None | Some(Self::Numbers)) => Self::Numbers,
            _ => Self::Texts,
        }
    }

    /// Whether documents are in memory.
    pub(crate) fn is_held(self) -> bool {
        self != Self::Files
    }
}

/// A column of ids under way.
pub(crate) enum IdColumn {
    Numbers(Int64Builder),
    Texts(StringBuilder),
}

impl IdColumn {
    pub(crate) fn new(kind: IdKind) -> Self {
        if kind == IdKind::Numbers {
            Self::Numbers(Int64Builder::new())
        } else {
            Self::Texts(StringBuilder::new())
        }
    }

    /// Adds an id, or none. What is no number after all makes the whole column one of texts.
    pub(crate) fn push(&mut self, id: Option<&str>) {
        match self {
            Self::Texts(texts) => texts.append_option(id),
            Self::Numbers(numbers) => match id.map(str::parse) {
                None => numbers.append_null(),
                Some(Ok(number)) => numbers.append_value(number),
                Some(Err(_)) => {
                    let mut texts = as_texts(&numbers.finish());
                    texts.append_option(id);
                    *self = Self::Texts(texts);
                }
            },
        }
    }

    pub(crate) fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Numbers(numbers) => Arc::new(numbers.finish()),
            Self::Texts(texts) => Arc::new(texts.finish()),
        }
    }
}

fn as_texts(numbers: &Int64Array) -> StringBuilder {
    let mut texts = StringBuilder::new();
    for row in 0..numbers.len() {
        if numbers.is_null(row) {
            texts.append_null();
        } else {
            texts.append_value(numbers.value(row).to_string());
        }
    }
    texts
}
