//! Types of archive entries.

use crate::reading::ExtractError;

/// The type of an archive entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A file with content.
    File,
    /// A folder.
    Folder,
    /// A hard or symbolic link.
    Link,
    /// A device, a pipe or a socket.
    Device,
    /// A sparse file.
    Sparse,
    /// An unknown type.
    Other,
}

impl EntryKind {
    /// The reason why the entry has no content; `None` for files and folders.
    pub fn failure(self) -> Option<ExtractError> {
        let kind = match self {
            Self::File | Self::Folder => return None,
            Self::Link => "a link",
            Self::Device => "a device",
            Self::Sparse => "a sparse file in a tar archive",
            Self::Other => "an entry of an unknown type in a tar archive",
        };
        Some(ExtractError::Unsupported { kind: kind.to_owned() })
    }
}
