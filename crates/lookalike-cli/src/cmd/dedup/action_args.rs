//! Options to move, link or list duplicate files.

use clap::ValueEnum;
use std::path::PathBuf;

/// Actions on duplicate files, for inputs that contain one document per file.
#[derive(Debug, clap::Args)]
pub(super) struct ActionArgs {
    /// Move duplicate files to FOLDER, under their paths below the input; nothing is overwritten.
    /// FOLDER/lookalike-undo.sh moves them back
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["output", "link", "drop"])]
    pub(super) move_to: Option<PathBuf>,

    /// Replace a duplicate that has the same bytes as the kept file by a link to it. After hard
    /// links, lookalike-undo.sh in the current folder restores the files. A reflink remains a file
    /// of its own and shares disk blocks, if the file system supports it
    #[arg(long, value_enum, value_name = "HOW", conflicts_with_all = ["output", "drop"])]
    pub(super) link: Option<LinkArg>,

    /// Write a shell script that removes the duplicate files, to read and run
    #[arg(long, value_name = "FILE", conflicts_with = "drop")]
    pub(super) script: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum LinkArg {
    Hard,
    Reflink,
}
