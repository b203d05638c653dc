//! The actions on files that are duplicates.

use super::action_args::{ActionArgs, LinkArg};
use lookalike::dedup::actions::LinkKind;
use lookalike::request::FileAction;
use std::path::{Path, PathBuf};

impl ActionArgs {
    /// The option that moves, links or lists files.
    pub(super) fn option(&self) -> Option<&'static str> {
        match self {
            Self { move_to: Some(_), .. } => Some("--move-to"),
            Self { link: Some(_), .. } => Some("--link"),
            Self { script: Some(_), .. } => Some("--script"),
            Self { move_to: None, link: None, script: None } => None,
        }
    }

    /// The action on the files themselves.
    pub(super) fn action(&self) -> Option<FileAction> {
        match self {
            Self { move_to: Some(folder), .. } => Some(FileAction::MoveTo(folder.clone())),
            Self { link: Some(LinkArg::Hard), .. } => Some(FileAction::Link(LinkKind::Hard)),
            Self { link: Some(LinkArg::Reflink), .. } => Some(FileAction::Link(LinkKind::Reflink)),
            Self { link: None, move_to: None, .. } => None,
        }
    }

    /// The folder of the script that undoes the action: the folder of the moved files, or the
    /// current folder. Reflinks are files of their own and need no undo.
    pub(super) fn undo_folder(&self) -> Option<PathBuf> {
        match self {
            Self { move_to: Some(folder), .. } => Some(folder.clone()),
            Self { link: Some(LinkArg::Hard), .. } => Some(PathBuf::from("")),
            _ => None,
        }
    }

    /// The participle of the action, and the folder to which it moves files, for the summary.
    pub(super) fn verb(&self) -> (&'static str, Option<&Path>) {
        match self {
            Self { move_to: Some(folder), .. } => ("moved", Some(folder)),
            _ => ("linked", None),
        }
    }
}
