//! A document in a file of several, named by its id: `a.zip/x.txt`, `inbox.mbox:23`.

use crate::cmd::CommandError;
use lookalike::core::parameter::NamesParameters;
use lookalike::read::{Collection, Document, DocumentSink, ReadBuffers, ReadOptions, SkippedItem};
use lookalike::report::option_name;
use std::path::{Path, PathBuf};

/// A document of a file.
pub(crate) struct FileMember {
    /// The file that holds it.
    pub(crate) file: PathBuf,
    /// Its id, as `find FILE` prints it.
    id: String,
}

impl FileMember {
    /// Returns the member that a path names, if the path does not exist and a part of it, up to a
    /// `/` or `:`, is a file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        if path.as_os_str() == "-" || path.symlink_metadata().is_ok() {
            return None;
        }
        let id = path.to_str()?;
        let ends = id.rmatch_indices(['/', ':']).map(|(at, _)| at).filter(|at| *at > 0);
        let mut files = ends.map(|end| Path::new(&id[..end])).filter(|file| file.is_file());
        let file = files.next()?.to_owned();
        Some(Self { file, id: id.to_owned() })
    }

    /// Passes the document to `take`.
    ///
    /// # Errors
    /// Reading or `take` fails, or the file has no document with this id.
    pub(crate) fn read(
        &self,
        options: &ReadOptions,
        take: &mut dyn FnMut(&Document<'_>) -> Result<(), CommandError>,
    ) -> Result<(), CommandError> {
        let options = ReadOptions { skip_bad: true, ..options.clone() };
        let collection = Collection::open(std::slice::from_ref(&self.file), &options)?;
        let mut wanted = WantedMember { id: &self.id, take, found: false, skipped: None };
        let mut scratch = ReadBuffers::default();
        while let Some(block) = collection.next_block_in_order()? {
            block.read(&mut scratch, &mut wanted)?;
            if wanted.found {
                return Ok(());
            }
        }
        let listed = collection.listed().iter().find(|each| each.id.as_ref() == Some(&self.id));
        let reason = wanted.skipped.or_else(|| listed.cloned());
        let file = self.file.display();
        let id = &self.id;
        Err(CommandError::Data(match reason {
            Some(skipped) => format!("{id}: {}", skipped.reason.spelled(option_name)),
            None => format!(
                "{file} holds no document with the id {id:?}; `lookalike find {file}` prints ids"
            ),
        }))
    }
}

struct WantedMember<'a> {
    id: &'a str,
    take: &'a mut dyn FnMut(&Document<'_>) -> Result<(), CommandError>,
    found: bool,
    skipped: Option<SkippedItem>,
}

impl DocumentSink for WantedMember<'_> {
    type Error = CommandError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), CommandError> {
        if document.id == self.id && !self.found {
            self.found = true;
            (self.take)(document)?;
        }
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), CommandError> {
        if skipped.id.as_deref() == Some(self.id) {
            self.skipped = Some(skipped);
        }
        Ok(())
    }
}
