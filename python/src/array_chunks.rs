//! The arrays of an imported column.

use arrow_array::ArrayRef;
use arrow_schema::Field;
use std::sync::Arc;

/// Arrays of one type, in order; none where this package does not read the type.
#[derive(Clone)]
pub(crate) struct ArrayChunks {
    pub(crate) field: Arc<Field>,
    pub(crate) arrays: Vec<ArrayRef>,
}
