//! The arrays of an imported column.

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_schema::Field;
use std::sync::Arc;

/// Arrays of one type, in order. Empty if this package does not read the type.
#[derive(Clone)]
pub(crate) struct ArrayChunks {
    pub(crate) field: Arc<Field>,
    pub(crate) arrays: Vec<ArrayRef>,
}

/// The values of a binary column without its nulls.
pub(crate) fn each_blob<'a>(arrays: &'a [ArrayRef]) -> impl Iterator<Item = &'a [u8]> + 'a {
    arrays.iter().flat_map(|array| -> Box<dyn Iterator<Item = &'a [u8]> + 'a> {
        match array.as_binary_opt::<i32>() {
            Some(array) => Box::new(array.iter().flatten()),
            None => Box::new(array.as_binary_opt::<i64>().into_iter().flatten().flatten()),
        }
    })
}
