//! Which of two similar documents is kept: a total order over documents.
//!
//! Takes two documents' [`Standing`], gives which comes first. Groups walk documents in this order
//! ([`group`](crate::group)), so the first of a group is the one that stays. Nothing about
//! similarity is decided here.

use crate::error::ParamsError;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// What makes a document come first. Where the policy cannot tell two documents apart, the lesser
/// id does, so equal collections give equal results in any reading order (but for
/// [`KeepPolicy::First`] and [`KeepPolicy::Last`], which are about that order).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeepPolicy {
    /// The longest text, in bytes of UTF-8. The default: the fullest version is kept.
    #[default]
    Longest,
    /// The shortest text.
    Shortest,
    /// The one read first.
    First,
    /// The one read last.
    Last,
}

impl KeepPolicy {
    /// What the policy alone says; [`Ordering::Equal`] where it cannot tell.
    fn prefer(self, a: &Standing<'_>, b: &Standing<'_>) -> Ordering {
        match self {
            Self::Longest => b.length.cmp(&a.length),
            Self::Shortest => a.length.cmp(&b.length),
            Self::First => a.position.cmp(&b.position),
            Self::Last => b.position.cmp(&a.position),
        }
    }
}

impl fmt::Display for KeepPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Longest => "longest",
            Self::Shortest => "shortest",
            Self::First => "first",
            Self::Last => "last",
        })
    }
}

impl FromStr for KeepPolicy {
    type Err = ParamsError;

    fn from_str(text: &str) -> Result<Self, ParamsError> {
        match text {
            "longest" => Ok(Self::Longest),
            "shortest" => Ok(Self::Shortest),
            "first" => Ok(Self::First),
            "last" => Ok(Self::Last),
            _ => Err(ParamsError::Parse {
                option: "--keep",
                got: text.to_owned(),
                expected: "longest, shortest, first or last",
            }),
        }
    }
}

/// What the keep policies look at in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing<'a> {
    /// Length of the text in bytes.
    pub length: u64,
    /// Place in reading order; any numbers that grow in that order.
    pub position: u64,
    /// The document's id, compared byte by byte.
    pub id: &'a str,
}

/// Orders two documents: [`Ordering::Less`] means that `a` comes first and is kept rather than `b`.
/// Ties of the policy go by id, ties of both by position. A total order, and strict for documents
/// that differ in id or position.
///
/// ```
/// use lookalike_core::keep::{KeepPolicy, Standing, compare};
/// use std::cmp::Ordering;
///
/// let draft = Standing { length: 900, position: 0, id: "draft" };
/// let report = Standing { length: 1200, position: 1, id: "report" };
/// assert_eq!(compare(KeepPolicy::Longest, &report, &draft), Ordering::Less);
/// assert_eq!(compare(KeepPolicy::First, &report, &draft), Ordering::Greater);
/// ```
pub fn compare(policy: KeepPolicy, a: &Standing<'_>, b: &Standing<'_>) -> Ordering {
    policy
        .prefer(a, b)
        .then_with(|| a.id.as_bytes().cmp(b.id.as_bytes()))
        .then_with(|| a.position.cmp(&b.position))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [KeepPolicy; 4] =
        [KeepPolicy::Longest, KeepPolicy::Shortest, KeepPolicy::First, KeepPolicy::Last];

    #[test]
    fn names_read_back_and_others_are_refused() {
        for policy in ALL {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
        let error = "Longest".parse::<KeepPolicy>().unwrap_err().to_string();
        assert!(error.contains("--keep") && error.contains("longest, shortest"), "{error}");
    }

    #[test]
    fn each_policy_puts_its_own_first() {
        let old = Standing { length: 5, position: 1, id: "b" };
        let new = Standing { length: 7, position: 2, id: "a" };
        assert_eq!(compare(KeepPolicy::Longest, &new, &old), Ordering::Less);
        assert_eq!(compare(KeepPolicy::Shortest, &old, &new), Ordering::Less);
        assert_eq!(compare(KeepPolicy::First, &old, &new), Ordering::Less);
        assert_eq!(compare(KeepPolicy::Last, &new, &old), Ordering::Less);
    }

    #[test]
    fn ties_go_by_the_bytes_of_the_id_and_then_by_position() {
        let upper = Standing { length: 5, position: 9, id: "Z" };
        let lower = Standing { length: 5, position: 3, id: "a" };
        let again = Standing { length: 5, position: 4, id: "a" };
        assert_eq!(compare(KeepPolicy::Longest, &upper, &lower), Ordering::Less);
        assert_eq!(compare(KeepPolicy::Longest, &lower, &again), Ordering::Less);
    }

    fn standing() -> impl Strategy<Value = (u64, u64, String)> {
        (0u64..4, 0u64..4, "[ab]{0,2}")
    }

    fn view(s: &(u64, u64, String)) -> Standing<'_> {
        Standing { length: s.0, position: s.1, id: &s.2 }
    }

    proptest! {
        #[test]
        fn is_a_total_order(a in standing(), b in standing(), c in standing()) {
            let (a, b, c) = (view(&a), view(&b), view(&c));
            for policy in ALL {
                let (ab, bc) = (compare(policy, &a, &b), compare(policy, &b, &c));
                prop_assert_eq!(ab, compare(policy, &b, &a).reverse());
                prop_assert_eq!(compare(policy, &a, &a), Ordering::Equal);
                if ab == bc {
                    prop_assert_eq!(compare(policy, &a, &c), ab);
                }
                if a.id != b.id {
                    prop_assert_ne!(ab, Ordering::Equal);
                }
            }
        }
    }
}
