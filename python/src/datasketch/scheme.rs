//! The three permutation schemes of datasketch, and values as they store them.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::kernel::Kernel;
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
    pub(super) fn no_values(self, length: usize) -> Values {
        match self {
            Self::Affine32 => Values::Narrow(vec![u32::MAX; length]),
            _ => Values::Wide(vec![self.empty(); length]),
        }
    }
}

/// Hash values, or parameters of permutations, in the type that a scheme stores.
#[derive(Clone, PartialEq, Eq, Debug)]
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

    /// The bytes of an array the least byte of each value first, appended.
    pub(super) fn append_to(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Narrow(values) => {
                for value in values {
                    bytes.extend_from_slice(&value.to_le_bytes());
                }
            }
            Self::Wide(values) => {
                for value in values {
                    bytes.extend_from_slice(&value.to_le_bytes());
                }
            }
        }
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

impl Permutations {
    /// Those that `RandomState(seed)` gives, drawn once for all who ask.
    pub(super) fn drawn(scheme: Scheme, seed: u32, length: usize) -> Arc<Self> {
        let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
        let drawing = (scheme, seed, length);
        if let Some((_, known)) = drawn.iter().find(|(known, _)| *known == drawing) {
            return Arc::clone(known);
        }
        let permutations = Arc::new(Self::draw(scheme, seed, length));
        if drawn.len() == KEPT {
            drawn.remove(0);
        }
        drawn.push((drawing, Arc::clone(&permutations)));
        permutations
    }

    fn draw(scheme: Scheme, seed: u32, length: usize) -> Self {
        let mut twister = Twister::new(seed);
        match scheme {
            Scheme::Affine32 => Self {
                a: Values::Narrow((0..length).map(|_| twister.next32() << 1 | 1).collect()),
                b: Values::Narrow((0..length).map(|_| twister.next32()).collect()),
            },
            Scheme::Affine64 => Self {
                a: Values::Wide((0..length).map(|_| twister.next64() << 1 | 1).collect()),
                b: Values::Wide((0..length).map(|_| twister.next64()).collect()),
            },
            Scheme::Legacy => {
                let draws = (0..length)
                    .map(|_| (twister.at_most(MERSENNE - 2) + 1, twister.at_most(MERSENNE - 1)));
                let (a, b) = draws.unzip();
                Self { a: Values::Wide(a), b: Values::Wide(b) }
            }
        }
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
