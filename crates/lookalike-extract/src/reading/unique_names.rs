//! Distinct names for members that share one.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

/// Numbers repeated names: the second `a` is `a#2`, the third `a#3`. Amortized constant time and
/// 16 bytes for each name: hashes are stored, not names, and two names of equal hash get a number
/// that neither needs.
#[derive(Debug, Default)]
pub struct UniqueNames {
    /// By the hash of a name that is taken, the last number that was tried for it.
    tried: HashMap<u64, u32>,
}

impl UniqueNames {
    /// The number to append to `name`; `None` where the name is still free. Takes the result.
    pub fn number(&mut self, name: &str) -> Option<u32> {
        self.number_as(name, |number| format!("{name}#{number}"))
    }

    /// As [`number`](Self::number), for names that `numbered` makes of their number.
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
        let Some(mut number) = self.tried.get(&hash(name)).copied() else {
            self.tried.insert(hash(name), 1);
            return None;
        };
        loop {
            number = number.saturating_add(1);
            let other = hash(&numbered(number));
            if !self.tried.contains_key(&other) || number == u32::MAX {
                self.tried.insert(other, 1);
                self.tried.insert(hash(name), number);
                return Some(number);
            }
        }
    }

    /// `name`, numbered where it is taken.
    pub fn unique(&mut self, name: &str) -> String {
        self.number(name).map_or_else(|| name.to_owned(), |number| format!("{name}#{number}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_names_are_numbered_around_those_that_are_taken() {
        let mut names = UniqueNames::default();
        let numbered =
            ["a", "a#2", "a", "a", "b", "a#2", "a#2#2", ""].map(|name| names.unique(name));
        assert_eq!(numbered, ["a", "a#2", "a#3", "a#4", "b", "a#2#2", "a#2#2#2", ""]);
    }

    #[test]
    fn equal_names_take_linear_time() {
        let mut names = UniqueNames::default();
        // A number for each repeat would be tried 5 * 10^11 times if every search began at 2.
        let last = (0..1_000_000).map(|_| names.number("a")).last();
        assert_eq!(last, Some(Some(1_000_000)));
    }
}
