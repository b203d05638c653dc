//! A difference of two descriptions of runs.

use std::fmt;

/// The most characters of a value that a message shows.
const SHOWN_CHARS: usize = 80;

/// A member in which two descriptions of runs differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The path of the member in the description, such as `inputs[2].bytes`.
    pub member: String,
    /// Its value in the stored run, as JSON; `None` if it is absent.
    pub stored: Option<String>,
    /// Its value in the run to resume.
    pub wanted: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Shortened values begin shortly before their first difference.
        let stored = self.stored.as_deref();
        let wanted = self.wanted.as_deref();
        let both = stored.unwrap_or_default().chars().zip(wanted.unwrap_or_default().chars());
        let skip = both.take_while(|(a, b)| a == b).count().saturating_sub(SHOWN_CHARS / 2);
        let shortened = |value: &Option<String>| {
            let Some(value) = value else { return "absent".to_owned() };
            if value.chars().nth(SHOWN_CHARS).is_none() {
                return value.clone();
            }
            let begin = if skip > 0 { "…" } else { "" };
            let end = if value.chars().nth(skip + SHOWN_CHARS).is_some() { "…" } else { "" };
            let part: String = value.chars().skip(skip).take(SHOWN_CHARS).collect();
            format!("{begin}{part}{end}")
        };
        write!(
            f,
            "{} was {} and is {}",
            self.member,
            shortened(&self.stored),
            shortened(&self.wanted)
        )
    }
}

/// Lists at most `most` differences, and the number of further ones.
pub(crate) fn fmt_list(f: &mut fmt::Formatter<'_>, all: &[Difference], most: usize) -> fmt::Result {
    for difference in all.iter().take(most) {
        write!(f, " {difference};")?;
    }
    match all.len().checked_sub(most + 1) {
        Some(more) => write!(f, " and {} more;", more + 1),
        None => Ok(()),
    }
}
