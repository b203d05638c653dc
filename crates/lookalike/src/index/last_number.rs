//! The greatest number of a document.

use lookalike_index::IndexError;
use lookalike_index::backend::Snapshot;
use lookalike_index::entry::{DocumentNumber, RecordFields};

/// Returns the number of the last document of a snapshot, or 0 if it is empty. Documents that are
/// added later have greater numbers. Takes some dozens of reads.
///
/// # Errors
/// Read errors.
pub fn last_number(snapshot: &mut dyn Snapshot) -> Result<DocumentNumber, IndexError> {
    let mut is_any = |from: u64| {
        let count =
            snapshot.scan(DocumentNumber(from), 1, RecordFields::default(), &mut |_| Ok(()))?;
        Ok::<bool, IndexError>(count > 0)
    };
    let mut beyond = 1u64;
    while is_any(beyond)? {
        beyond = beyond.saturating_mul(2);
    }
    // A document exists at or after `last`, and none exists at or after `beyond`.
    let mut last = beyond / 2;
    while last + 1 < beyond {
        let middle = last + (beyond - last) / 2;
        if is_any(middle)? {
            last = middle;
        } else {
            beyond = middle;
        }
    }
    Ok(DocumentNumber(last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::Normalization;
    use lookalike_core::params::{Params, ParamsBuilder};
    use lookalike_index::backend::{Backend, Change};
    use lookalike_index::entry::{IndexEntry, Metadata};
    use lookalike_index::memory::MemoryBackend;
    use lookalike_index::settings::{IndexSettings, StoredContent};

    #[test]
    fn last_document_has_the_last_number() {
        let params = Params::new(&ParamsBuilder::default()).unwrap();
        let words = Normalization::default().to_string();
        let settings = IndexSettings::new(&params, &words, StoredContent::Signatures).unwrap();
        let backend = MemoryBackend::new(settings);
        for number in 1..40 {
            let (id, metadata) = (number.to_string(), Metadata::default());
            let entry = IndexEntry {
                id: &id,
                fingerprint: 0,
                bytes: 0,
                signature: &[],
                set: &[],
                text: None,
                original: None,
                metadata: &metadata,
                added: 0,
                modified: None,
                expires: None,
            };
            assert_eq!(last_number(&mut *backend.snapshot().unwrap()).unwrap().0, number - 1);
            backend.write(&[Change::Add(entry)]).unwrap();
        }
        backend.write(&[Change::Remove("5"), Change::Remove("39")]).unwrap();
        assert_eq!(last_number(&mut *backend.snapshot().unwrap()).unwrap().0, 38);
    }
}
