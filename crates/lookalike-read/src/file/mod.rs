//! Files with documents: what is read of them, and the parts that they have.

pub(crate) mod contents;
pub(crate) mod document_file;
pub(crate) mod part_sink;
pub(crate) mod path_name;
pub(crate) mod system_files;
pub(crate) mod zip_files;
pub(crate) mod zip_member;
