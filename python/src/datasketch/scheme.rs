//! The three permutation schemes of datasketch, and values as they store them.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::kernel::Kernel;
use super::memory;
use super::permute::{self, MERSENNE};
use super::twister::Twister;

/// How token hashes are permuted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Scheme {
    /// `a·h + b` mod 2³², the default since 2.0.0.
    Affine32,
    /// The same mod 2⁶⁴.
    Affine64,
    /// That of versions before 2.0.0.
    Legacy,
}

impl Scheme {
    /// The scheme of that name.
    pub(super) fn named(name: &str) -> PyResult<Self> {
        match name {
            "affine32" => Ok(Self::Affine32),
            "affine64" => Ok(Self::Affine64),
            "legacy" => Ok(Self::Legacy),
            other => Err(PyValueError::new_err(format!(
                "scheme must be one of affine32, affine64, legacy, got {other:?}"
            ))),
        }
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Affine32 => "affine32",
            Self::Affine64 => "affine64",
            Self::Legacy => "legacy",
        }
    }

    /// The value of a set without elements: the greatest that there is.
    pub(super) fn empty(self) -> u64 {
        if self == Self::Affine64 { u64::MAX } else { u64::from(u32::MAX) }
    }

    /// Values of a set without elements.
    ///
    /// # Errors
    /// `MemoryError` where there is no room for them.
    pub(super) fn no_values(self, length: usize) -> PyResult<Values> {
        Ok(match self {
            Self::Affine32 => Values::Narrow(memory::filled(u32::MAX, length)?),
            _ => Values::Wide(memory::filled(self.empty(), length)?),
        })
    }
}

/// Hash values, or parameters of permutations, in the type that a scheme stores.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Values {
    /// Of `affine32`.
    Narrow(Vec<u32>),
    /// Of the other two.
    Wide(Vec<u64>),
}

impl Values {
    /// Values from the bytes of an array, the least byte of each value first.
    pub(super) fn from_bytes(scheme: Scheme, bytes: &[u8]) -> Self {
        if scheme == Scheme::Affine32 {
            let words = bytes.as_chunks::<4>().0.iter();
            return Self::Narrow(words.map(|word| u32::from_le_bytes(*word)).collect());
        }
        let words = bytes.as_chunks::<8>().0.iter();
        Self::Wide(words.map(|word| u64::from_le_bytes(*word)).collect())
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Narrow(values) => values.len(),
            Self::Wide(values) => values.len(),
        }
    }

    /// How many bytes the array of them has.
    pub(super) fn size(&self) -> usize {
        self.len() * if matches!(self, Self::Narrow(_)) { 4 } else { 8 }
    }

    /// Another of the same values.
    ///
    /// # Errors
    /// `MemoryError` where there is no room for it.
    pub(super) fn copied(&self) -> PyResult<Self> {
        fn copied<T: Copy>(values: &[T]) -> PyResult<Vec<T>> {
            let mut copy = memory::room(values.len())?;
            copy.extend_from_slice(values);
            Ok(copy)
        }
        Ok(match self {
            Self::Narrow(values) => Self::Narrow(copied(values)?),
            Self::Wide(values) => Self::Wide(copied(values)?),
        })
    }

    /// Writes the bytes of an array of [`size`](Self::size), the least byte of each value first.
    pub(super) fn write_to(&self, bytes: &mut [u8]) {
        match self {
            Self::Narrow(values) => {
                for (four, value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
                    *four = value.to_le_bytes();
                }
            }
            Self::Wide(values) => {
                for (eight, value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
                    *eight = value.to_le_bytes();
                }
            }
        }
    }

    /// The same, appended.
    ///
    /// # Errors
    /// `MemoryError` where there is no room for them.
    pub(super) fn append_to(&self, bytes: &mut Vec<u8>) -> PyResult<()> {
        memory::reserve(bytes, self.size())?;
        let start = bytes.len();
        bytes.resize(start + self.size(), 0);
        self.write_to(&mut bytes[start..]);
        Ok(())
    }

    /// The bytes with the greatest of each value first, appended: the keys of buckets.
    pub(super) fn append_swapped(&self, bytes: &mut Vec<u8>) {
        bytes.reserve(self.len() * 8);
        match self {
            Self::Narrow(values) => {
                for value in values {
                    bytes.extend_from_slice(&value.to_be_bytes());
                }
            }
            Self::Wide(values) => {
                for value in values {
                    bytes.extend_from_slice(&value.to_be_bytes());
                }
            }
        }
    }

    /// How many are equal at the same place.
    pub(super) fn equal_to(&self, other: &Self) -> usize {
        match (self, other) {
            (Self::Narrow(one), Self::Narrow(two)) => equal(one, two),
            (Self::Wide(one), Self::Wide(two)) => equal(one, two),
            _ => 0,
        }
    }

    /// Lowers each to that of `other`.
    pub(super) fn lower_to(&mut self, other: &Self) {
        match (self, other) {
            (Self::Narrow(one), Self::Narrow(two)) => permute::least32(Kernel::best(), one, two),
            (Self::Wide(one), Self::Wide(two)) => {
                one.iter_mut().zip(two).for_each(|(least, &value)| *least = (*least).min(value));
            }
            _ => {}
        }
    }

    /// As numbers of 64 bits.
    pub(super) fn to_wide(&self) -> Vec<u64> {
        match self {
            Self::Narrow(values) => values.iter().copied().map(u64::from).collect(),
            Self::Wide(values) => values.clone(),
        }
    }
}

fn equal<T: PartialEq>(one: &[T], two: &[T]) -> usize {
    one.iter().zip(two).filter(|(a, b)| a == b).count()
}

/// The parameters of permutations.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Permutations {
    /// The factors.
    pub(super) a: Values,
    /// The summands.
    pub(super) b: Values,
}

/// Scheme, seed and number of permutations.
type Drawing = (Scheme, u32, usize);

/// What permutations were drawn lately; drawing takes longer than a small set.
static DRAWN: Mutex<Vec<(Drawing, Arc<Permutations>)>> = Mutex::new(Vec::new());
/// How many of them are kept.
const KEPT: usize = 8;
/// How many permutations are too many to be kept for others.
const LARGE: usize = 1 << 16;

impl Permutations {
    /// Those that `RandomState(seed)` gives, drawn once for all who ask.
    ///
    /// # Errors
    /// `MemoryError` where there is no room for them.
    pub(super) fn drawn(scheme: Scheme, seed: u32, length: usize) -> PyResult<Arc<Self>> {
        let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
        let drawing = (scheme, seed, length);
        if let Some((_, known)) = drawn.iter().find(|(known, _)| *known == drawing) {
            return Ok(Arc::clone(known));
        }
        let permutations = Arc::new(Self::draw(scheme, seed, length)?);
        if length > LARGE {
            return Ok(permutations);
        }
        if drawn.len() == KEPT {
            drawn.remove(0);
        }
        drawn.push((drawing, Arc::clone(&permutations)));
        Ok(permutations)
    }

    fn draw(scheme: Scheme, seed: u32, length: usize) -> PyResult<Self> {
        let mut twister = Twister::new(seed);
        if scheme == Scheme::Affine32 {
            let (mut a, mut b) = (memory::room(length)?, memory::room(length)?);
            a.extend((0..length).map(|_| twister.next32() << 1 | 1));
            b.extend((0..length).map(|_| twister.next32()));
            return Ok(Self { a: Values::Narrow(a), b: Values::Narrow(b) });
        }
        let (mut a, mut b) = (memory::room(length)?, memory::room(length)?);
        if scheme == Scheme::Affine64 {
            a.extend((0..length).map(|_| twister.next64() << 1 | 1));
            b.extend((0..length).map(|_| twister.next64()));
        } else {
            for _ in 0..length {
                a.push(twister.at_most(MERSENNE - 2) + 1);
                b.push(twister.at_most(MERSENNE - 1));
            }
        }
        Ok(Self { a: Values::Wide(a), b: Values::Wide(b) })
    }

    /// Lowers `minima` to the permuted `hashes`, of which `affine32` takes the low halves.
    pub(super) fn lower(
        &self,
        kernel: Kernel,
        scheme: Scheme,
        hashes: &mut [u64],
        minima: &mut Values,
    ) {
        match (&self.a, &self.b, minima) {
            (Values::Narrow(a), Values::Narrow(b), Values::Narrow(minima)) => {
                let mut narrow = [0; 256];
                for hashes in hashes.chunks(narrow.len()) {
                    let narrow = &mut narrow[..hashes.len()];
                    narrow.iter_mut().zip(hashes).for_each(|(low, &hash)| *low = hash as u32);
                    permute::affine32(kernel, a, b, narrow, minima);
                }
            }
            (Values::Wide(a), Values::Wide(b), Values::Wide(minima)) => {
                if scheme == Scheme::Affine64 {
                    permute::affine64(kernel, a, b, hashes, minima);
                } else {
                    permute::legacy(kernel, a, b, hashes, minima);
                }
            }
            _ => {}
        }
    }
}
