//! The output of commands: streams, the layout of lines, and the parts that several commands print.

pub(crate) mod difference;
pub(crate) mod plot;
pub(crate) mod printed_paths;
pub(crate) mod progress_bar;
pub(crate) mod sources;
pub(crate) mod summary;
pub(crate) mod table;
pub(crate) mod terminal;
pub(crate) mod text_width;
pub(crate) mod waiting;
pub(crate) mod written_files;
