//! Texts of containers with many documents, which are kept so that verification does not read the
//! whole container again for each document.

use crate::bytes::Spool;
use crate::document::DocumentPosition;
use crate::error::ReadError;
use std::io;
use std::sync::Arc;

/// Number of the first part whose text is kept. Fetching an earlier part reads the container again;
/// there are only a few such parts.
const FIRST_KEPT: u32 = 16;

/// The texts of the parts of one block, before normalization.
#[derive(Default)]
pub(crate) struct PartTexts {
    is_kept: bool,
    texts: String,
    /// The parts in order.
    ends: Vec<PartEnd>,
}

/// A part, by its record and its number in the record, and the end of its text.
#[derive(Debug, Clone, Copy)]
struct PartEnd {
    start: u32,
    part: u32,
    end: u64,
}

impl PartTexts {
    pub(crate) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Removes the parts of the last block.
    pub(crate) fn clear(&mut self) {
        self.texts.clear();
        self.ends.clear();
    }

    /// Adds a part if it must be kept. Parts are added in order.
    pub(crate) fn add(&mut self, place: DocumentPosition, text: &str) {
        if self.is_kept && place.part >= FIRST_KEPT {
            self.texts.push_str(text);
            let end = self.texts.len() as u64;
            self.ends.push(PartEnd { start: place.start, part: place.part, end });
        }
    }

    /// Returns the texts; `None` if there are none. Moves them to the spool, if one is given.
    pub(crate) fn take(
        &mut self,
        spool: Option<&Arc<Spool>>,
    ) -> Result<Option<Box<KeptParts>>, ReadError> {
        if self.ends.is_empty() {
            return Ok(None);
        }
        let texts = std::mem::take(&mut self.texts);
        let texts = match spool {
            Some(spool) => {
                let offset = spool.append(texts.as_bytes())?;
                TextStore::Spooled(Arc::clone(spool), offset)
            }
            None => TextStore::Memory(texts.into()),
        };
        let ends = std::mem::take(&mut self.ends).into();
        Ok(Some(Box::new(KeptParts { texts, ends })))
    }
}

/// The texts of parts of a retained block.
pub(crate) struct KeptParts {
    texts: TextStore,
    ends: Box<[PartEnd]>,
}

enum TextStore {
    Memory(Box<str>),
    Spooled(Arc<Spool>, u64),
}

impl KeptParts {
    fn find(&self, place: DocumentPosition) -> Option<usize> {
        let key = (place.start, place.part);
        self.ends.binary_search_by_key(&key, |entry| (entry.start, entry.part)).ok()
    }

    /// Returns true if the text of a part was kept.
    pub(crate) fn has(&self, place: DocumentPosition) -> bool {
        self.find(place).is_some()
    }

    /// Passes the text of a part to `f`; an empty text if it was not kept.
    pub(crate) fn fetch<R>(
        &self,
        place: DocumentPosition,
        buffer: &mut Vec<u8>,
        f: impl FnOnce(&str) -> R,
    ) -> Result<R, ReadError> {
        let Some(at) = self.find(place) else { return Ok(f("")) };
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before].end);
        let end = self.ends[at].end;
        match &self.texts {
            TextStore::Memory(texts) => Ok(f(&texts[start as usize..end as usize])),
            TextStore::Spooled(spool, offset) => {
                buffer.resize((end - start) as usize, 0);
                spool.read_at(buffer, offset + start)?;
                let text = std::str::from_utf8(buffer)
                    .map_err(|error| spool.failed(io::Error::other(error)))?;
                Ok(f(text))
            }
        }
    }
}
