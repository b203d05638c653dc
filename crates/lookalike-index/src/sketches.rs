//! An index that stores sketches instead of documents. Each signature contains the bands of one
//! sketch. The index has no texts, no shingles and no threshold. The caller interprets the
//! sketches.

use serde::{Deserialize, Serialize};

/// Maximum number of values of a signature. A longer signature does not fit in a database row.
pub(crate) const MAX_NUMBERS: usize = 1 << 27;

/// Settings of the sketches of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SketchSettings {
    /// Number of values of a sketch.
    pub num_perm: usize,
    /// Number of values of a band.
    pub rows: usize,
    /// The name of the scheme that computed the values of the sketches, if it is known.
    pub scheme: Option<String>,
    /// Size of a band in bytes.
    pub band_bytes: usize,
    /// Whether a band consists of big-endian 8-byte values below 2³². The index then stores only
    /// the lower 4 bytes of each value.
    pub halved: bool,
    /// Whether all keys of the caller are stored as Python pickles.
    pub prepickle: bool,
    /// The name of the function that converts the values of a band to bytes, if there is one.
    pub hashfunc: Option<String>,
}

/// An invalid band of a sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BandError {
    /// The band has another number of bytes than expected.
    Length {
        /// Bytes of a band.
        expected: usize,
        /// The number given.
        got: usize,
    },
    /// A value does not fit in 4 bytes, although [`halved`](SketchSettings::halved) is set.
    Value {
        /// The value.
        got: u64,
    },
}

impl SketchSettings {
    /// The number of 4-byte numbers that store a band; at least one.
    pub fn words(&self) -> usize {
        let stored = if self.halved { self.band_bytes / 2 } else { self.band_bytes };
        stored.div_ceil(4).max(1)
    }

    /// Converts a band to 4-byte numbers and appends them to `numbers`. A number contains the next
    /// 4 bytes of the band in big-endian order, or the lower half of a value if bands are
    /// [`halved`](Self::halved). Zeros pad the last number. Appends nothing for an invalid band.
    ///
    /// # Errors
    /// The reason why the band is invalid.
    pub fn pack(&self, band: &[u8], numbers: &mut Vec<u32>) -> Result<(), BandError> {
        if band.len() != self.band_bytes {
            return Err(BandError::Length { expected: self.band_bytes, got: band.len() });
        }
        if self.halved {
            let values = || band.as_chunks::<8>().0.iter().map(|value| u64::from_be_bytes(*value));
            if let Some(got) = values().find(|value| *value > u64::from(u32::MAX)) {
                return Err(BandError::Value { got });
            }
            numbers.extend(values().map(|value| value as u32));
            return Ok(());
        }
        let (words, rest) = band.as_chunks::<4>();
        numbers.extend(words.iter().map(|word| u32::from_be_bytes(*word)));
        if !rest.is_empty() || band.is_empty() {
            let mut last = [0; 4];
            last[..rest.len()].copy_from_slice(rest);
            numbers.push(u32::from_be_bytes(last));
        }
        Ok(())
    }

    /// Restores a band from the `numbers` of [`pack`](Self::pack). Clears `band` and writes the
    /// bytes to it.
    pub fn unpack(&self, numbers: &[u32], band: &mut Vec<u8>) {
        band.clear();
        for number in numbers {
            if self.halved {
                band.extend([0; 4]);
            }
            band.extend(number.to_be_bytes());
        }
        band.truncate(self.band_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::IndexError;
    use crate::settings::{IndexSettings, StoredContent};

    fn sketches(band_bytes: usize, halved: bool) -> SketchSettings {
        SketchSettings {
            num_perm: 16,
            rows: 4,
            scheme: Some("legacy".to_owned()),
            band_bytes,
            halved,
            prepickle: false,
            hashfunc: None,
        }
    }

    fn there_and_back(sketches: &SketchSettings, band: &[u8]) -> Vec<u32> {
        let (mut numbers, mut unpacked) = (vec![7], vec![1, 2, 3]);
        sketches.pack(band, &mut numbers).unwrap();
        sketches.unpack(&numbers[1..], &mut unpacked);
        assert_eq!(unpacked, band);
        assert_eq!(numbers.len() - 1, sketches.words());
        numbers
    }

    #[test]
    fn stored_bands_are_read_unchanged() {
        let band: Vec<u8> = (1..=33).collect();
        for length in 0..=33 {
            there_and_back(&sketches(length, false), &band[..length]);
        }
        assert_eq!(there_and_back(&sketches(5, false), &band[..5]), [7, 0x0102_0304, 0x0500_0000]);
        let halves = [0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 255, 255, 255, 255];
        assert_eq!(there_and_back(&sketches(16, true), &halves), [7, 0x0102_0304, u32::MAX]);
    }

    #[test]
    fn invalid_bands_are_refused() {
        let mut numbers = Vec::new();
        let refused = sketches(8, true).pack(&[0, 0, 0, 1, 0, 0, 0, 0], &mut numbers);
        assert_eq!(refused, Err(BandError::Value { got: 1 << 32 }));
        let refused = sketches(8, false).pack(&[1; 9], &mut numbers);
        assert_eq!(refused, Err(BandError::Length { expected: 8, got: 9 }));
        assert!(numbers.is_empty());
    }

    #[test]
    fn stored_sketch_settings_have_no_parameters() {
        let settings = IndexSettings::of_sketches(4, sketches(32, true));
        assert_eq!((settings.rows, settings.num_hashes), (4, 16));
        assert_eq!(
            IndexSettings::from_json(&settings.to_json("x").unwrap(), "x").unwrap(),
            settings
        );
        settings.check("x").unwrap();
        let error = settings.params().unwrap_err().to_string();
        assert!(error.contains("store cannot be \"sketches\""), "{error}");
        let error = settings.expect_documents("news.lookalike").unwrap_err().to_string();
        assert!(error.contains("news.lookalike") && error.contains("MinHashLSH"), "{error}");
    }

    #[test]
    fn contradictory_settings_are_refused() {
        let other = |change: fn(&mut IndexSettings)| {
            let mut settings = IndexSettings::of_sketches(4, sketches(32, true));
            change(&mut settings);
            assert!(matches!(settings.check("x"), Err(IndexError::NotAnIndex { .. })));
        };
        other(|settings| settings.rows += 1);
        other(|settings| settings.bands = 0);
        other(|settings| settings.bands = usize::MAX);
        other(|settings| settings.store = StoredContent::Texts);
        other(|settings| *settings = IndexSettings::of_sketches(4, sketches(12, true)));
        other(|settings| *settings = IndexSettings::of_sketches(4, sketches(usize::MAX, false)));
    }
}
