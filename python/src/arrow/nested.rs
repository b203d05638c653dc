//! Arrow types whose values contain other values.

use arrow_schema::{DataType, Field, FieldRef, UnionFields};
use std::sync::Arc;

/// Returns true if an array of a type has child arrays, or contains binary values.
pub(crate) fn is_nested(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_nested(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => false,
        _ => !kind.is_primitive() && *kind != DataType::Boolean,
    }
}

/// Returns a type for the same memory that accepts the arrays of every producer. A map becomes a
/// list of its entries. All parts become nullable, because some producers declare nullability
/// differently.
pub(crate) fn plain(kind: &DataType) -> DataType {
    match kind {
        DataType::Map(entries, _) | DataType::List(entries) => DataType::List(part(entries)),
        DataType::LargeList(values) => DataType::LargeList(part(values)),
        DataType::ListView(values) => DataType::ListView(part(values)),
        DataType::LargeListView(values) => DataType::LargeListView(part(values)),
        DataType::FixedSizeList(values, size) => DataType::FixedSizeList(part(values), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(part).collect()),
        DataType::Union(fields, mode) => {
            let fields: UnionFields = fields.iter().map(|(id, field)| (id, part(field))).collect();
            DataType::Union(fields, *mode)
        }
        DataType::Dictionary(keys, values) => {
            DataType::Dictionary(keys.clone(), Box::new(plain(values)))
        }
        DataType::RunEndEncoded(ends, values) => {
            let ends = Field::new(ends.name(), ends.data_type().clone(), false);
            DataType::RunEndEncoded(Arc::new(ends), part(values))
        }
        other => other.clone(),
    }
}

fn part(field: &FieldRef) -> FieldRef {
    Arc::new(Field::new(field.name(), plain(field.data_type()), true))
}
