//! Distinct names for members that share a name.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

/// Numbers repeated names: the second `a` is `a#2`, the third `a#3`. Takes amortized constant time
/// and 16 bytes for each name, because only hashes are stored. If two names have the same hash, the
/// second one gets an unnecessary number.
#[derive(Debug, Default)]
pub struct UniqueNames {
    /// The last number that was tried for a taken name, by the hash of the name.
    last_numbers: HashMap<u64, u32>,
}

impl UniqueNames {
    /// The number to append to `name`; `None` if `name` is still free. The resulting name counts as
    /// taken.
    pub fn number(&mut self, name: &str) -> Option<u32> {
        self.number_as(name, |number| format!("{name}#{number}"))
    }

    /// Like [`number`](Self::number), but `numbered` builds the numbered name.
    pub(crate) fn number_as(
        &mut self,
        name: &str,
        numbered: impl Fn(u32) -> String,
    ) -> Option<u32> {
        let hash = |name: &str| {
            let mut hasher = DefaultHasher::new();
            hasher.write(name.as_bytes());
            hasher.finish()
        };
        let Some(mut number) = self.last_numbers.get(&hash(name)).copied() else {
            self.last_numbers.insert(hash(name), 1);
            return None;
        };
        loop {
            number = number.saturating_add(1);
            let other = hash(&numbered(number));
            if !self.last_numbers.contains_key(&other) || number == u32::MAX {
                self.last_numbers.insert(other, 1);
                self.last_numbers.insert(hash(name), number);
                return Some(number);
            }
        }
    }

    /// Returns `name`, with a number if the name is taken.
    pub fn unique(&mut self, name: &str) -> String {
        self.number(name).map_or_else(|| name.to_owned(), |number| format!("{name}#{number}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_get_free_numbers() {
        let mut names = UniqueNames::default();
        let numbered =
            ["a", "a#2", "a", "a", "b", "a#2", "a#2#2", ""].map(|name| names.unique(name));
        assert_eq!(numbered, ["a", "a#2", "a#3", "a#4", "b", "a#2#2", "a#2#2#2", ""]);
    }

    #[test]
    fn equal_names_take_linear_time() {
        let mut names = UniqueNames::default();
        // If every search began at 2, 5 * 10^11 numbers would be tried.
        let last = (0..1_000_000).map(|_| names.number("a")).last();
        assert_eq!(last, Some(Some(1_000_000)));
    }
}
