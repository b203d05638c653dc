//! Arrow columns and tables: import from Python, checks, assembly and export.

pub(crate) mod array_chunks;
pub(crate) mod c_data;
pub(crate) mod capsule;
pub(crate) mod column;
pub(crate) mod nested;
pub(crate) mod pickled;
pub(crate) mod table;
pub(crate) mod text_column;
pub(crate) mod values;
