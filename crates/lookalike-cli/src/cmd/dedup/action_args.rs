//! Options of what is done with files that are duplicates.

use clap::ValueEnum;
use std::path::PathBuf;

/// For inputs that are files of one document each.
#[derive(Debug, clap::Args)]
pub(super) struct ActionArgs {
    /// Move files that are duplicates to FOLDER, under their paths below the input; nothing is
    /// overwritten
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["output", "link"])]
    pub(super) move_to: Option<PathBuf>,

    /// Replace files with the same bytes as their keeper by links to it: hard, or reflink (shared
    /// blocks, where the file system can)
    #[arg(long, value_enum, value_name = "HOW", conflicts_with = "output")]
    pub(super) link: Option<LinkArg>,

    /// Write a shell script that removes the files that are duplicates, to read and run
    #[arg(long, value_name = "FILE")]
    pub(super) script: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum LinkArg {
    Hard,
    Reflink,
}
