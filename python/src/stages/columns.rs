//! Converts rows of the stages from and to Arrow.

use crate::arrow::array_chunks::ArrayChunks;
use crate::arrow::capsule::{self, ImportedTable};
use crate::arrow::column::type_name;
use crate::arrow::table::ArrowTable;
use crate::error::DocumentTypeError;
use arrow_array::builder::{BinaryBuilder, Int32Builder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use lookalike::shard::PartBlock;
use pyo3::prelude::*;
use std::sync::Arc;

/// The content of the column `rows`. `keys`, `connect`, `merge_forests`, `stars` and the stages of
/// counters return such rows.
#[derive(Clone, Copy)]
pub(super) enum BlockKind {
    /// A block of keys of documents.
    Keys,
    /// A block of edges.
    Edges,
    /// A block of identities.
    Identities,
    /// Encoded counters of shingles.
    Counters,
}

impl BlockKind {
    fn name(self) -> &'static str {
        match self {
            Self::Keys => "keys",
            Self::Edges => "edges",
            Self::Identities => "identities",
            Self::Counters => "counters",
        }
    }
}

/// Rows of these stages: `kind`, `part` (int32), and either `rows` (a block) or `note` (JSON).
#[derive(Default)]
pub(super) struct BlockRows {
    kinds: StringBuilder,
    parts: Int32Builder,
    rows: BinaryBuilder,
    notes: StringBuilder,
}

impl BlockRows {
    pub(super) fn push_block(&mut self, kind: BlockKind, block: &PartBlock) {
        self.kinds.append_value(kind.name());
        self.parts.append_value(block.part.cast_signed());
        self.rows.append_value(&block.rows);
        self.notes.append_null();
    }

    pub(super) fn push_note(&mut self, note: &str) {
        self.kinds.append_value("note");
        self.parts.append_value(0);
        self.rows.append_null();
        self.notes.append_value(note);
    }

    pub(super) fn finish(mut self) -> PyResult<ArrowTable> {
        ArrowTable::new(vec![
            ("kind", Arc::new(self.kinds.finish()), false),
            ("part", Arc::new(self.parts.finish()), false),
            ("rows", Arc::new(self.rows.finish()), true),
            ("note", Arc::new(self.notes.finish()), true),
        ])
    }
}

/// An imported table. Reading a column fails if the column does not have the type
/// that a stage expects.
pub(super) struct StageTable(ImportedTable);

impl StageTable {
    pub(super) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(capsule::import(object)?))
    }

    /// Reads a column of 64-bit integers.
    pub(super) fn integers(&mut self, name: &str) -> PyResult<Vec<Option<i64>>> {
        let column = self.column(name)?;
        integers_of(&column, name)
    }

    /// Reads a column of booleans. Null is false.
    pub(super) fn flags(&mut self, name: &str) -> PyResult<Vec<bool>> {
        let column = self.column(name)?;
        let mut flags = Vec::new();
        for array in &column.arrays {
            let array = array.as_boolean_opt().ok_or_else(|| wrong(name, "bool", array))?;
            flags.extend(array.iter().map(Option::unwrap_or_default));
        }
        Ok(flags)
    }

    /// Returns the arrays of a binary column.
    pub(super) fn binary(&mut self, name: &str) -> PyResult<Vec<ArrayRef>> {
        let column = self.column(name)?;
        for array in &column.arrays {
            let is_binary = matches!(array.data_type(), DataType::Binary | DataType::LargeBinary);
            if !is_binary {
                return Err(wrong(name, "binary", array));
            }
        }
        Ok(column.arrays)
    }

    /// Returns a column of any type.
    pub(super) fn column(&mut self, name: &str) -> PyResult<ArrayChunks> {
        let place = self.0.names().iter().position(|known| known == name).ok_or_else(|| {
            let columns = self.0.names().join(", ");
            DocumentTypeError::new_err(format!(
                "unknown column {name:?}; the columns are {columns}"
            ))
        })?;
        self.0.column_at(place, name)
    }
}

/// Reads an Arrow array of 64-bit integers without nulls.
pub(super) fn integers(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<i64>> {
    let values: Option<Vec<i64>> = optional_integers(object, name)?.into_iter().collect();
    values.ok_or_else(|| DocumentTypeError::new_err(format!("{name} has nulls")))
}

/// Reads an Arrow array of 64-bit integers.
pub(super) fn optional_integers(
    object: &Bound<'_, PyAny>,
    name: &str,
) -> PyResult<Vec<Option<i64>>> {
    integers_of(&capsule::import(object)?.into_column()?, name)
}

fn integers_of(column: &ArrayChunks, name: &str) -> PyResult<Vec<Option<i64>>> {
    let mut values = Vec::new();
    for array in &column.arrays {
        let array = array.as_primitive_opt::<Int64Type>();
        let array = array.ok_or_else(|| {
            let got = type_name(column.field.data_type());
            DocumentTypeError::new_err(format!("{name}: expected int64, got {got}"))
        })?;
        values.extend(array.iter());
    }
    Ok(values)
}

fn wrong(name: &str, expected: &str, got: &ArrayRef) -> PyErr {
    let got = type_name(got.data_type());
    DocumentTypeError::new_err(format!("column {name:?}: expected {expected}, got {got}"))
}
