//! The folder of temporary files, removed or unlocked when the last of its users is dropped.

use super::private::PrivateFolder;
use crate::temporary::RegisteredPath;
use std::fs::File;
use std::path::Path;
use tempfile::TempDir;

/// The folder itself; the last of the workspace and its files takes it away.
#[derive(Debug)]
pub(super) enum SpillFolder {
    /// Removed when dropped.
    Temporary { folder: TempDir, _registered: RegisteredPath },
    /// Stays; the lock goes when dropped.
    Resumable { folder: PrivateFolder, _lock: File },
}

impl SpillFolder {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Temporary { folder, .. } => folder.path(),
            Self::Resumable { folder, .. } => folder.path(),
        }
    }
}
