//! Files with documents: their contents and their parts.

pub(crate) mod contents;
pub(crate) mod document_file;
pub(crate) mod part_sink;
pub(crate) mod path_name;
pub(crate) mod system_files;
pub(crate) mod zip_files;
pub(crate) mod zip_member;

pub(crate) use document_file::DocumentFile;
pub(crate) use part_sink::{OnePart, PartOutput, no_text, push_within};
pub use path_name::name_of;
pub(crate) use system_files::{is_system_file, refused_in_archive};
pub(crate) use zip_files::zip_files;
pub(crate) use zip_member::MemberBudget;
