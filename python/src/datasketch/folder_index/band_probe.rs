//! Queries of an index of sketches.

use super::error::SketchIndexError;
use super::ids::{ORIGINAL, REPEATED, nth, split};
use super::open_folder::{OpenFolder, records_of};
use super::sketch_index::{SketchIndex, repeated};
use lookalike::store::IndexError;
use lookalike::store::backend::{Snapshot, bucket_keys};
use lookalike::store::entry::{DocumentNumber, IndexRecord, RecordFields, shortened_id};
use lookalike::store::settings::IndexSettings;
use std::collections::HashSet;
use std::sync::Arc;

/// A record of a key.
pub(super) struct KeyRow {
    /// The number of the row in the index.
    pub(super) number: u64,
    /// The id of the key.
    pub(super) id: String,
    /// The number of earlier records of the key.
    pub(super) repeat: u32,
    /// The pickle of the key, if the id represents an equal key of another type. For example, an
    /// `IntEnum` and its `int` have the same id.
    pub(super) original: Option<String>,
    /// The bytes of the bands. Empty if the caller did not request them.
    pub(super) bands: Vec<Vec<u8>>,
}

impl KeyRow {
    fn of(record: &IndexRecord, settings: Option<&IndexSettings>) -> Result<Self, IndexError> {
        let (id, repeat) = split(&record.id);
        let original = match record.metadata.get(ORIGINAL) {
            None => None,
            Some(serde_json::Value::String(pickle)) => Some(pickle.clone()),
            Some(_) => return Err(damaged(record, "the pickle of its key is not text".to_owned())),
        };
        let bands = settings.map(|settings| bands_of(record, settings)).transpose()?;
        Ok(Self {
            number: record.number.0,
            id: id.to_owned(),
            repeat,
            original,
            bands: bands.unwrap_or_default(),
        })
    }
}

fn damaged(record: &IndexRecord, why: String) -> IndexError {
    let what = format!("the key {:?} (row {})", shortened_id(&record.id), record.number);
    IndexError::Damaged { what, why }
}

/// Returns the numbers in which a record stores its bands, band by band.
fn numbers<'a>(record: &'a IndexRecord, settings: &IndexSettings) -> Result<&'a [u32], IndexError> {
    let got = record.signature.len();
    let expected = settings.num_hashes;
    if got != expected {
        return Err(damaged(record, format!("it has {got} numbers, expected {expected}")));
    }
    Ok(&record.signature)
}

fn bands_of(record: &IndexRecord, settings: &IndexSettings) -> Result<Vec<Vec<u8>>, IndexError> {
    let mut bands = Vec::with_capacity(settings.bands);
    for packed in numbers(record, settings)?.chunks(settings.rows.max(1)) {
        let mut band = Vec::new();
        if let Some(sketches) = &settings.sketches {
            sketches.unpack(packed, &mut band);
        }
        bands.push(band);
    }
    Ok(bands)
}

/// The bands of a query, in the form of the index.
struct BandProbe {
    signature: Vec<u32>,
    /// The positions of the bands whose length and form fit the index. The
    /// search skips other bands.
    positions: Vec<usize>,
}

impl BandProbe {
    fn new<B: AsRef<[u8]>>(settings: &IndexSettings, bands: &[(usize, B)]) -> Self {
        let rows = settings.rows;
        let mut signature = vec![0; settings.num_hashes];
        let mut positions = Vec::new();
        let mut packed = Vec::new();
        for (at, band) in bands {
            packed.clear();
            let sketches = settings.sketches.as_ref();
            let fits =
                sketches.is_some_and(|settings| settings.pack(band.as_ref(), &mut packed).is_ok());
            // Skip a band of another length or form: no sketch of the index contains it.
            if let Some(place) = signature.get_mut(at * rows..(at + 1) * rows)
                && fits
            {
                place.copy_from_slice(&packed);
                positions.push(*at);
            }
        }
        Self { signature, positions }
    }

    fn keys(&self, settings: &IndexSettings) -> Vec<u64> {
        let mut keys = Vec::new();
        bucket_keys(settings, &self.signature, &mut keys);
        self.positions.iter().filter_map(|at| keys.get(*at).copied()).collect()
    }

    fn shares_a_band(&self, signature: &[u32], rows: usize) -> bool {
        self.positions.iter().any(|at| {
            let band = at * rows..(at + 1) * rows;
            self.signature.get(band.clone()) == signature.get(band)
        })
    }
}

impl SketchIndex {
    /// Returns the keys with at least one of these bands, each once, in the order of insertion.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub(super) fn find<B: AsRef<[u8]>>(
        &self,
        bands: &[(usize, B)],
    ) -> Result<Vec<KeyRow>, SketchIndexError> {
        let Some(open) = self.settled()? else { return Ok(Vec::new()) };
        let settings = &open.settings;
        let probe = BandProbe::new(settings, bands);
        let mut snapshot = open.backend.snapshot()?;
        let mut candidates = Vec::new();
        let mut found = Vec::new();
        snapshot.candidates(&probe.keys(settings), &mut candidates)?;
        let wanted = RecordFields { signature: true, metadata: true, ..RecordFields::default() };
        snapshot.records(&candidates, wanted, &mut |record| {
            // Candidates share a bucket, so each of them has a signature. A signature of another
            // length is damage.
            if probe.shares_a_band(numbers(record, settings)?, settings.rows) {
                found.push(KeyRow::of(record, None)?);
            }
            Ok(())
        })?;
        if found.iter().any(|row| row.repeat > 0) {
            let mut met = HashSet::new();
            found.retain(|row| met.insert(row.id.clone()));
            // Keys are sorted by the number of their first record. The search may have found only a
            // later record of a key, because the first one has other bands.
            for row in found.iter_mut().filter(|row| row.repeat > 0) {
                row.number = snapshot.number_of(&row.id)?.map_or(row.number, |number| number.0);
            }
        }
        found.sort_unstable_by_key(|row| row.number);
        Ok(found)
    }

    /// Returns true if the index contains a key.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub(super) fn has(&self, id: &str) -> Result<bool, SketchIndexError> {
        let Some(open) = self.settled()? else { return Ok(false) };
        Ok(open.backend.snapshot()?.number_of(id)?.is_some())
    }

    /// The number of keys.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub(super) fn size(&self) -> Result<u64, SketchIndexError> {
        let Some(open) = self.settled()? else { return Ok(0) };
        let mut snapshot = open.backend.snapshot()?;
        let repeated = repeated(&mut *snapshot)?;
        // Repeated records are not keys. If any exist, one more row stores their number and is not
        // a key either.
        Ok(snapshot.len().saturating_sub(repeated + u64::from(repeated > 0)))
    }

    /// Returns the records of a key, with their bands.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub(super) fn rows_of(&self, id: &str) -> Result<Vec<KeyRow>, SketchIndexError> {
        let Some(open) = self.settled()? else { return Ok(Vec::new()) };
        let mut snapshot = open.backend.snapshot()?;
        let count = records_of(&mut *snapshot, id)?;
        Ok(rows_of(&mut *snapshot, &open.settings, id, count)?)
    }

    /// Starts a scan of all records from a row on. Returns `None` before the folder exists.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub(super) fn scan(&self, from: u64) -> Result<Option<Scan>, SketchIndexError> {
        let Some(open) = self.settled()? else { return Ok(None) };
        let snapshot = open.backend.snapshot()?;
        Ok(Some(Scan { snapshot, open, next: from }))
    }
}

/// The first `count` records of a key.
fn rows_of(
    snapshot: &mut dyn Snapshot,
    settings: &IndexSettings,
    id: &str,
    count: u32,
) -> Result<Vec<KeyRow>, IndexError> {
    let mut numbers = Vec::new();
    for at in 0..count {
        numbers.extend(snapshot.number_of(&nth(id, at))?);
    }
    let mut rows = Vec::with_capacity(numbers.len());
    let wanted = RecordFields { signature: true, metadata: true, ..RecordFields::default() };
    snapshot.records(&numbers, wanted, &mut |record| {
        rows.push(KeyRow::of(record, Some(settings))?);
        Ok(())
    })?;
    Ok(rows)
}

/// Reads all records of a snapshot in pieces.
pub(super) struct Scan {
    snapshot: Box<dyn Snapshot>,
    open: Arc<OpenFolder>,
    next: u64,
}

impl Scan {
    /// Reads at most `most` further records, with their bands if `bands` is true. Returns no
    /// records at the end.
    ///
    /// # Errors
    /// If they cannot be read.
    pub(super) fn next(
        &mut self,
        most: usize,
        bands: bool,
    ) -> Result<Vec<KeyRow>, SketchIndexError> {
        let settings = bands.then_some(&*self.open.settings);
        let wanted = RecordFields { signature: bands, metadata: true, ..RecordFields::default() };
        let mut rows = Vec::new();
        // A piece may contain only the row with the number of repeated records. In this case, read
        // the next piece, because an empty result means the end.
        while rows.is_empty() {
            let mut last = None;
            self.snapshot.scan(DocumentNumber(self.next), most, wanted, &mut |record| {
                last = Some(record.number);
                if record.id != REPEATED {
                    rows.push(KeyRow::of(record, settings)?);
                }
                Ok(())
            })?;
            match last {
                Some(last) => self.next = last.0 + 1,
                None => break,
            }
        }
        Ok(rows)
    }

    /// Returns the first record of a key, with its bands. Empty if the key does not exist.
    ///
    /// # Errors
    /// If it cannot be read.
    pub(super) fn first_of(&mut self, id: &str) -> Result<Vec<KeyRow>, SketchIndexError> {
        Ok(rows_of(&mut *self.snapshot, &self.open.settings, id, 1)?)
    }
}
