//! Vectors of lengths that a caller chooses. If the system has no memory for a vector, the caller
//! receives an error, and the process continues.

use std::error::Error;
use std::fmt;

/// The system has no memory for this many elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllocationError {
    /// The number of elements.
    pub elements: usize,
    /// The size of the elements in bytes.
    pub bytes: u128,
}

impl AllocationError {
    fn of<T>(elements: usize) -> Self {
        Self { elements, bytes: size_of::<T>() as u128 * elements as u128 }
    }
}

impl fmt::Display for AllocationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { elements, bytes } = self;
        write!(f, "cannot allocate {bytes} bytes of memory for {elements} elements")
    }
}

impl Error for AllocationError {}

/// An empty vector with capacity for `count` elements.
///
/// # Errors
/// If the system has no memory for them.
pub fn with_capacity<T>(count: usize) -> Result<Vec<T>, AllocationError> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(count).map_err(|_| AllocationError::of::<T>(count))?;
    Ok(vector)
}

/// A vector of `count` times `value`.
///
/// # Errors
/// If the system has no memory for the elements.
pub fn filled<T: Clone>(value: T, count: usize) -> Result<Vec<T>, AllocationError> {
    let mut vector = with_capacity(count)?;
    vector.resize(count, value);
    Ok(vector)
}

/// Adds capacity for `more` elements.
///
/// # Errors
/// If the system has no memory for them.
pub fn reserve<T>(vector: &mut Vec<T>, more: usize) -> Result<(), AllocationError> {
    let count = vector.len().saturating_add(more);
    vector.try_reserve(more).map_err(|_| AllocationError::of::<T>(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_lengths_are_errors() {
        let expected = AllocationError { elements: usize::MAX, bytes: 8 * usize::MAX as u128 };
        assert_eq!(with_capacity::<u64>(usize::MAX), Err(expected));
        assert_eq!(filled(0_u64, usize::MAX), Err(expected));
        let mut one = vec![1_u64];
        assert_eq!(reserve(&mut one, usize::MAX), Err(expected));
        assert_eq!(one, [1]);
        assert!(
            expected.to_string().ends_with("bytes of memory for 18446744073709551615 elements")
        );
    }

    #[test]
    fn possible_lengths_are_filled() {
        assert_eq!(filled(7, 3), Ok(vec![7; 3]));
        assert!(with_capacity::<u8>(9).is_ok_and(|vector| vector.capacity() >= 9));
    }
}
