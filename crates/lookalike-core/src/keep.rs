//! Which of two similar documents is kept: a total order over documents.
//!
//! Converts the [`KeepAttributes`] of a document to a key: bytes that sort in the order of the
//! policy. Keys are created once per document, so comparing two documents means comparing bytes
//! ([`compare`]). The caller sorts the members of a component by key. [`group`](crate::group)
//! visits them in this order, so the first member of a group is kept. This module does not decide
//! which documents are similar.
//!
//! A key consists of one byte (0 for a document of a reference collection, otherwise 1) and a
//! segment for each rule. Segments are self-delimiting, so bytes of different rules are never
//! compared.
//!
//! | rule | segment |
//! |---|---|
//! | longest, shortest | length, 8 bytes, big-endian |
//! | first, last | position, 12 bytes, big-endian |
//! | newest, oldest | 0 and the time, 8 bytes; or 1 without a time |
//! | field | 1 and a number, 8 or 16 bytes; 2 and a text, each byte plus 1, and 0; 255 for none |
//! | path | 0 for a match, otherwise 1 |
//! | name | 2 · marks and the version, 12 bytes; or 2 · marks + 1 without a version |
//!
//! If the greater value comes first, its bits are inverted.

mod file_name;
mod file_name_words;

use crate::error::ParamsError;
use crate::parameter::Parameter;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

pub use file_name::NameRank;
pub use file_name_words::{FILE_NAME_WORDS, LanguageWords, WordMeaning};

/// A rule that decides which of two documents comes first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeepRule {
    /// The document with the longest text, in bytes of UTF-8.
    Longest,
    /// The document with the shortest text.
    Shortest,
    /// The document that was read first.
    First,
    /// The document that was read last.
    Last,
    /// The document whose file was changed last. Documents without a time come last.
    Newest,
    /// The document whose file was changed first. Documents without a time come last.
    Oldest,
    /// By file name: final versions, then names without marks, copies, drafts, old versions,
    /// temporary files. Among equal marks, the higher version number comes first. [`NameRank`]
    /// reads names.
    Name,
    /// The document with the greatest value of a field. Numbers compare as numbers: integers of up
    /// to 100 bits exactly, others as `f64`. Other values, and NaN, compare as texts, byte by byte.
    /// Numbers are less than texts. A missing or empty value comes last in either direction.
    Field {
        /// The name of the field in the input.
        name: String,
        /// Whether the least value comes first instead.
        ascending: bool,
    },
    /// Documents whose path matches a pattern come before all others.
    Path {
        /// The pattern. The code that sets [`KeepAttributes::matches`] defines its meaning.
        glob: String,
    },
}

impl fmt::Display for KeepRule {
    /// Writes the form that [`FromStr`] reads, with the direction of a field.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Longest => f.write_str("longest"),
            Self::Shortest => f.write_str("shortest"),
            Self::First => f.write_str("first"),
            Self::Last => f.write_str("last"),
            Self::Newest => f.write_str("newest"),
            Self::Oldest => f.write_str("oldest"),
            Self::Name => f.write_str("name"),
            Self::Field { name, ascending: true } => write!(f, "field:{name}:asc"),
            Self::Field { name, ascending: false } => write!(f, "field:{name}:desc"),
            Self::Path { glob } => write!(f, "path:{glob}"),
        }
    }
}

impl FromStr for KeepRule {
    type Err = ParamsError;

    /// Reads `longest`, `shortest`, `first`, `last`, `newest`, `oldest`, `name`, `field:NAME:asc`,
    /// `field:NAME:desc`, `field:NAME` (the same as `field:NAME:desc`) or `path:GLOB`. A name that
    /// itself ends in `:asc` or `:desc` needs a direction after it.
    fn from_str(text: &str) -> Result<Self, ParamsError> {
        let unknown = || ParamsError::Parse {
            parameter: Parameter::Keep,
            got: text.to_owned(),
            expected: "longest, shortest, first, last, newest, oldest, name, field:NAME, \
                       field:NAME:asc, field:NAME:desc or path:GLOB",
        };
        Ok(match text.split_once(':') {
            Some(("field", field)) => {
                let ascending = field.strip_suffix(":asc");
                let name = ascending.or(field.strip_suffix(":desc")).unwrap_or(field);
                if name.is_empty() {
                    return Err(unknown());
                }
                Self::Field { name: name.to_owned(), ascending: ascending.is_some() }
            }
            Some(("path", glob)) if !glob.is_empty() => Self::Path { glob: glob.to_owned() },
            _ => match text {
                "longest" => Self::Longest,
                "shortest" => Self::Shortest,
                "first" => Self::First,
                "last" => Self::Last,
                "newest" => Self::Newest,
                "oldest" => Self::Oldest,
                "name" => Self::Name,
                _ => return Err(unknown()),
            },
        })
    }
}

/// The attributes of a document that keep rules compare.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeepAttributes<'a> {
    /// Length of the text in bytes.
    pub length: u64,
    /// Place in reading order: source, block, place in the block. Any numbers that increase in this
    /// order are valid.
    pub position: [u32; 3],
    /// When its file was last changed, in nanoseconds since 1970.
    pub modified: Option<u64>,
    /// The rank of its file name.
    pub name: NameRank,
    /// The values of [`KeepPolicy::field_names`], in that order. Absent entries are missing values.
    pub fields: &'a [Option<&'a str>],
    /// Whether the path matches each of [`KeepPolicy::globs`], in that order. Absent entries mean
    /// no match.
    pub matches: &'a [bool],
    /// Whether the document belongs to a reference collection. Such documents precede all others.
    pub reference: bool,
}

/// Ordered rules. The first rule that distinguishes two documents decides which one is kept. If no
/// rule does, the document with the lesser id is kept. Only [`KeepRule::First`] and
/// [`KeepRule::Last`] depend on the reading order.
///
/// ```
/// use lookalike_core::keep::{KeepAttributes, KeepPolicy, compare};
/// use std::cmp::Ordering;
///
/// let policy = KeepPolicy::new(vec!["newest".parse()?, "longest".parse()?]);
/// let (mut draft, mut report) = (Vec::new(), Vec::new());
/// let document = |length| KeepAttributes { length, modified: Some(5), ..Default::default() };
/// policy.key(&document(900), &mut draft);
/// policy.key(&document(1200), &mut report);
/// assert_eq!(compare(&report, b"report", &draft, b"draft"), Ordering::Less);
/// assert_eq!(policy.decided_by(&report, &draft), Some(1));
/// # Ok::<(), lookalike_core::error::ParamsError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeepPolicy {
    rules: Vec<KeepRule>,
}

impl Default for KeepPolicy {
    /// Keeps the longest text.
    fn default() -> Self {
        Self::new(vec![KeepRule::Longest])
    }
}

impl fmt::Display for KeepPolicy {
    /// Writes the rules in order, with a comma and a blank between them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, rule) in self.rules.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{rule}")?;
        }
        Ok(())
    }
}

impl KeepPolicy {
    /// The rules for files if no rule is chosen: the name, then the longest text.
    pub fn of_files() -> Self {
        Self::new(vec![KeepRule::Name, KeepRule::Longest])
    }

    /// Creates a policy with these rules in this order. Without rules, only ids decide.
    pub fn new(rules: Vec<KeepRule>) -> Self {
        Self { rules }
    }

    /// The rules in order.
    pub fn rules(&self) -> &[KeepRule] {
        &self.rules
    }

    /// The names of the field rules, in order, including repeats.
    pub fn field_names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().filter_map(|rule| match rule {
            KeepRule::Field { name, .. } => Some(name.as_str()),
            _ => None,
        })
    }

    /// The patterns of the path rules, in order, including repeats.
    pub fn globs(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().filter_map(|rule| match rule {
            KeepRule::Path { glob } => Some(glob.as_str()),
            _ => None,
        })
    }

    /// Returns true if the result depends on the reading order.
    pub fn uses_position(&self) -> bool {
        self.rules.iter().any(|rule| matches!(rule, KeepRule::First | KeepRule::Last))
    }

    /// Appends the document's key to `out`. The document whose key is less, byte by byte, comes
    /// first. A key of the default policy has 9 bytes; field rules add the length of the value.
    pub fn key(&self, attributes: &KeepAttributes<'_>, out: &mut Vec<u8>) {
        out.push(u8::from(!attributes.reference));
        let mut fields = attributes.fields.iter();
        let mut matches = attributes.matches.iter();
        for rule in &self.rules {
            match rule {
                KeepRule::Longest => out.extend((!attributes.length).to_be_bytes()),
                KeepRule::Shortest => out.extend(attributes.length.to_be_bytes()),
                KeepRule::First => out.extend(position_bytes(attributes.position)),
                KeepRule::Last => out.extend(position_bytes(attributes.position.map(|part| !part))),
                KeepRule::Newest => push_time(attributes.modified.map(|time| !time), out),
                KeepRule::Oldest => push_time(attributes.modified, out),
                KeepRule::Name => push_name(attributes.name, out),
                KeepRule::Field { ascending, .. } => {
                    push_value(fields.next().copied().flatten(), *ascending, out);
                }
                KeepRule::Path { .. } => {
                    out.push(u8::from(!matches.next().copied().unwrap_or_default()));
                }
            }
        }
    }

    /// Returns the index of the rule that distinguishes two documents, given their keys of this
    /// policy. `None` if no rule does: either the keys are equal, so ids decide, or only one
    /// document belongs to a reference collection.
    pub fn decided_by(&self, a: &[u8], b: &[u8]) -> Option<usize> {
        let shared = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        if shared == 0 || shared == a.len() && shared == b.len() {
            return None;
        }
        // Equal segments have equal lengths, so the lengths in `a` suffice.
        let mut rest = a.get(1..)?;
        for (place, rule) in self.rules.iter().enumerate() {
            rest = rest.get(segment_length(rule, rest)..)?;
            if a.len() - rest.len() > shared {
                return Some(place);
            }
        }
        None
    }
}

const NUMBER: u8 = 1;
const TEXT: u8 = 2;
const NO_VALUE: u8 = u8::MAX;

/// The parts of a position, the most significant byte first.
fn position_bytes(position: [u32; 3]) -> impl Iterator<Item = u8> {
    position.into_iter().flat_map(u32::to_be_bytes)
}

fn push_time(time: Option<u64>, out: &mut Vec<u8>) {
    out.push(u8::from(time.is_none()));
    out.extend(time.iter().flat_map(|time| time.to_be_bytes()));
}

fn push_name(name: NameRank, out: &mut Vec<u8>) {
    let has_version = name.version != [0; 3];
    out.push(name.marks << 1 | u8::from(!has_version));
    if has_version {
        out.extend(position_bytes(name.version.map(|part| !part)));
    }
}

fn push_value(value: Option<&str>, ascending: bool, out: &mut Vec<u8>) {
    let Some(value) = value.filter(|value| !value.is_empty()) else {
        return out.push(NO_VALUE);
    };
    let mask = if ascending { 0 } else { u8::MAX };
    if let Some(number) = value.parse::<f64>().ok().filter(|number| !number.is_nan()) {
        out.push(NUMBER ^ mask);
        out.extend(ordered_bits(number).to_be_bytes().map(|byte| byte ^ mask));
        if is_rounded(number) {
            // The difference between the exact and the rounded integer, mapped to an unsigned
            // number in the same order.
            let difference =
                value.parse::<i128>().map_or(0, |exact| exact.saturating_sub(number as i128));
            let difference = difference.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            let ordered = difference.cast_unsigned() ^ (1 << 63);
            out.extend(ordered.to_be_bytes().map(|byte| byte ^ mask));
        }
    } else {
        out.push(TEXT ^ mask);
        // UTF-8 has no byte above 0xf4, so no byte plus 1 is 0. The 0 terminates the text and sorts
        // a prefix before its extensions.
        out.extend(value.bytes().map(|byte| byte.wrapping_add(1) ^ mask));
        out.push(mask);
    }
}

/// Converts a number to bits in the same order. Both zeros have the same bits.
fn ordered_bits(number: f64) -> u64 {
    let bits = if number == 0.0 { 0 } else { number.to_bits() };
    let sign = 1 << 63;
    if bits & sign == 0 { bits | sign } else { !bits }
}

/// Returns true if an integer, such as an identifier or a time in ns, may have been rounded to this
/// number.
fn is_rounded(number: f64) -> bool {
    const EXACT: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;
    number.abs() >= EXACT
}

/// The number with these ordered bits.
fn from_ordered_bits(bits: u64) -> f64 {
    let sign = 1 << 63;
    f64::from_bits(if bits & sign == 0 { !bits } else { bits ^ sign })
}

/// The length of the segment of `rule` at the start of `key`. May exceed the length of an invalid
/// key.
fn segment_length(rule: &KeepRule, key: &[u8]) -> usize {
    match rule {
        KeepRule::Longest | KeepRule::Shortest => 8,
        KeepRule::First | KeepRule::Last => 12,
        KeepRule::Newest | KeepRule::Oldest => {
            if key.first() == Some(&0) {
                9
            } else {
                1
            }
        }
        KeepRule::Field { ascending, .. } => {
            let mask = if *ascending { 0 } else { u8::MAX };
            match key.first().map(|tag| tag ^ mask) {
                Some(NUMBER) => number_length(key, mask),
                Some(TEXT) => 2 + key.iter().skip(1).take_while(|byte| **byte != mask).count(),
                _ => 1,
            }
        }
        KeepRule::Path { .. } => 1,
        KeepRule::Name => {
            if key.first().is_some_and(|marks| marks & 1 == 0) {
                13
            } else {
                1
            }
        }
    }
}

/// The length of the number segment at the start of `key`. `mask` inverts the bytes of the key.
fn number_length(key: &[u8], mask: u8) -> usize {
    let bits = key.get(1..).and_then(|rest| rest.first_chunk::<8>());
    let bits = bits.map(|bytes| u64::from_be_bytes(bytes.map(|byte| byte ^ mask)));
    if bits.is_some_and(|bits| is_rounded(from_ordered_bits(bits))) { 17 } else { 9 }
}

/// The keep order: compares two documents by their keys of one policy, then by the bytes of their
/// ids. [`Ordering::Less`] means that `a` comes first and is kept rather than `b`. The order is
/// total, and strict for documents of different ids.
pub fn compare(a_key: &[u8], a_id: &[u8], b_key: &[u8], b_id: &[u8]) -> Ordering {
    a_key.cmp(b_key).then_with(|| a_id.cmp(b_id))
}

/// The order of [`compare`], regardless of which documents are of a reference collection.
pub fn compare_by_rules(a_key: &[u8], a_id: &[u8], b_key: &[u8], b_id: &[u8]) -> Ordering {
    fn rules(key: &[u8]) -> &[u8] {
        key.get(1..).unwrap_or_default()
    }
    compare(rules(a_key), a_id, rules(b_key), b_id)
}

/// Joins a key and an id to one byte string. Byte strings compare in the order of [`compare`], for
/// sorters that cannot call that function.
pub fn sort_key(key: &[u8], id: &[u8]) -> Vec<u8> {
    // No key is a prefix of another key of the same policy, so ids are compared only if keys are
    // equal.
    [key, id].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Owned form of [`KeepAttributes`].
    #[derive(Debug, Clone)]
    struct OwnedAttributes {
        length: u64,
        position: [u32; 3],
        modified: Option<u64>,
        name: NameRank,
        fields: Vec<Option<String>>,
        matches: Vec<bool>,
        reference: bool,
    }

    impl OwnedAttributes {
        fn key(&self, policy: &KeepPolicy) -> Vec<u8> {
            let fields: Vec<Option<&str>> = self.fields.iter().map(Option::as_deref).collect();
            let mut key = Vec::new();
            let Self { length, position, modified, name, reference, .. } = *self;
            let (fields, matches) = (&fields[..], &self.matches[..]);
            let traits =
                KeepAttributes { length, position, modified, name, fields, matches, reference };
            policy.key(&traits, &mut key);
            key
        }
    }

    /// Orders a missing value after all others, in either direction.
    fn missing_last<T>(a: Option<T>, b: Option<T>, order: impl Fn(&T, &T) -> Ordering) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) => order(&a, &b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        }
    }

    /// Orders numbers before texts, and compares numbers as numbers and texts as texts.
    fn by_value(a: &str, b: &str) -> Ordering {
        let number = |text: &str| text.parse::<f64>().ok().filter(|n| !n.is_nan());
        let exact = |text: &str, rounded: f64| text.parse().unwrap_or(rounded as i128);
        match (number(a), number(b)) {
            (Some(x), Some(y)) => {
                x.partial_cmp(&y).unwrap().then_with(|| exact(a, x).cmp(&exact(b, y)))
            }
            (None, None) => a.cmp(b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        }
    }

    /// Compares two documents by the definition of a rule. `fields` and `matches` count the field
    /// rules and path rules before it.
    fn rule_says(
        rule: &KeepRule,
        fields: usize,
        matches: usize,
        a: &OwnedAttributes,
        b: &OwnedAttributes,
    ) -> Ordering {
        match rule {
            KeepRule::Longest => b.length.cmp(&a.length),
            KeepRule::Shortest => a.length.cmp(&b.length),
            KeepRule::First => a.position.cmp(&b.position),
            KeepRule::Last => b.position.cmp(&a.position),
            KeepRule::Newest => missing_last(a.modified, b.modified, |a, b| b.cmp(a)),
            KeepRule::Oldest => missing_last(a.modified, b.modified, u64::cmp),
            KeepRule::Name => {
                let version = b.name.version.cmp(&a.name.version);
                a.name.marks.cmp(&b.name.marks).then(version)
            }
            KeepRule::Field { ascending, .. } => {
                let value =
                    |d: &OwnedAttributes| d.fields[fields].clone().filter(|v| !v.is_empty());
                missing_last(value(a), value(b), |a, b| {
                    if *ascending { by_value(a, b) } else { by_value(b, a) }
                })
            }
            KeepRule::Path { .. } => b.matches[matches].cmp(&a.matches[matches]),
        }
    }

    /// The order of two documents, and the rule that decides it.
    fn plainly(
        policy: &KeepPolicy,
        a: &OwnedAttributes,
        b: &OwnedAttributes,
    ) -> (Ordering, Option<usize>) {
        if a.reference != b.reference {
            return (b.reference.cmp(&a.reference), None);
        }
        let (mut fields, mut matches) = (0, 0);
        for (place, rule) in policy.rules().iter().enumerate() {
            let order = rule_says(rule, fields, matches, a, b);
            if order.is_ne() {
                return (order, Some(place));
            }
            fields += usize::from(matches!(rule, KeepRule::Field { .. }));
            matches += usize::from(matches!(rule, KeepRule::Path { .. }));
        }
        (Ordering::Equal, None)
    }

    fn rule() -> impl Strategy<Value = KeepRule> {
        let field = any::<bool>()
            .prop_map(|ascending| KeepRule::Field { name: "date".to_owned(), ascending });
        prop_oneof![
            1 => Just(KeepRule::Longest),
            1 => Just(KeepRule::Shortest),
            1 => Just(KeepRule::First),
            1 => Just(KeepRule::Last),
            1 => Just(KeepRule::Newest),
            1 => Just(KeepRule::Oldest),
            2 => Just(KeepRule::Name),
            4 => field,
            1 => Just(KeepRule::Path { glob: "*.md".to_owned() }),
        ]
    }

    /// Values that are close together, and arbitrary values.
    fn value() -> impl Strategy<Value = Option<String>> {
        let text = prop_oneof![
            3 => "[ab\u{0}\u{1}\u{7f}]{0,3}".prop_map(String::from),
            2 => "-?[0-9]{1,2}(\\.[0-9])?(e-?[0-9])?".prop_map(String::from),
            1 => prop::num::f64::NORMAL.prop_map(|n| n.to_string()),
            1 => (-3i64..3).prop_map(|n| n.to_string()),
            1 => (-6i64..6).prop_map(|n| ((1 << 53) + n).to_string()),
            1 => (-6i64..6).prop_map(|n| (n - 1_700_000_000_000_000_000).to_string()),
            1 => (0u64..6).prop_map(|n| (u64::MAX - n).to_string()),
            1 => Just("nan".to_owned()),
            1 => Just("-0".to_owned()),
            1 => any::<String>(),
        ];
        prop::option::weighted(0.9, text)
    }

    fn document() -> impl Strategy<Value = OwnedAttributes> {
        let number = || prop_oneof![0u64..3, any::<u64>()];
        let place = prop_oneof![0u32..2, any::<u32>()];
        let version = prop::array::uniform3(prop_oneof![3 => Just(0), 1 => any::<u32>()]);
        let name = (0u8..32, version).prop_map(|(marks, version)| NameRank { marks, version });
        (
            number(),
            prop::array::uniform3(place),
            prop::option::of(number()),
            name,
            prop::collection::vec(value(), 4),
            prop::collection::vec(any::<bool>(), 4),
            prop::bool::weighted(0.1),
        )
            .prop_map(|(length, position, modified, name, fields, matches, reference)| {
                OwnedAttributes { length, position, modified, name, fields, matches, reference }
            })
    }

    #[test]
    fn keep_rules_round_trip() {
        for text in
            ["longest", "shortest", "first", "last", "newest", "oldest", "name", "path:a:b/*.md"]
        {
            assert_eq!(text.parse::<KeepRule>().unwrap().to_string(), text);
        }
        let field = |text: &str| match text.parse() {
            Ok(KeepRule::Field { name, ascending }) => (name, ascending),
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(field("field:date"), ("date".to_owned(), false));
        assert_eq!(field("field:a:b:asc"), ("a:b".to_owned(), true));
        assert_eq!(field("field:a:asc:desc"), ("a:asc".to_owned(), false));
        for text in ["", "Longest", "best", "field:", "field", "field::asc", "path:", "longest:asc"]
        {
            let error = text.parse::<KeepRule>().unwrap_err().to_string();
            assert!(error.contains("keep cannot") && error.contains("field:NAME:asc"), "{error}");
        }
    }

    #[test]
    fn policies_list_fields_and_globs() {
        let rules = ["field:a", "path:x/*", "field:b:asc", "newest"];
        let policy = KeepPolicy::new(rules.map(|rule| rule.parse().unwrap()).to_vec());
        assert_eq!(policy.field_names().collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(policy.globs().collect::<Vec<_>>(), ["x/*"]);
        assert!(!policy.uses_position());
        assert_eq!(policy.to_string(), "field:a:desc, path:x/*, field:b:asc, newest");
        for rule in [KeepRule::First, KeepRule::Last] {
            assert!(KeepPolicy::new(vec![KeepRule::Longest, rule]).uses_position());
        }
    }

    #[test]
    fn ids_break_ties_of_equal_keys() {
        let key = |policy: &KeepPolicy, traits: &KeepAttributes<'_>| {
            let mut key = Vec::new();
            policy.key(traits, &mut key);
            key
        };
        let policy = KeepPolicy::default();
        let (short, long) =
            (KeepAttributes { length: 5, ..KeepAttributes::default() }, KeepAttributes::default());
        assert_eq!(key(&policy, &short).len(), 9);
        assert!(key(&policy, &short) < key(&policy, &long));
        let empty_policy = KeepPolicy::new(Vec::new());
        let same = key(&empty_policy, &short);
        assert_eq!(compare(&same, b"Z", &key(&empty_policy, &long), b"a"), Ordering::Less);
        assert_eq!(empty_policy.decided_by(&same, &same), None);
    }

    #[test]
    fn field_values_sort_numerically_then_textually() {
        let ascending =
            ["-inf", "-2", "-1e-300", "-0", "1", "0010", "1e300", "a", "a\0", "aa", "b"];
        let keys = |ascending: bool, value: Option<&str>| {
            let rules = vec![KeepRule::Field { name: String::new(), ascending }];
            let mut key = Vec::new();
            let traits = KeepAttributes { fields: &[value], ..KeepAttributes::default() };
            KeepPolicy::new(rules).key(&traits, &mut key);
            key
        };
        for pair in ascending.windows(2) {
            let [a, b] = [Some(pair[0]), Some(pair[1])];
            assert!(keys(true, a) < keys(true, b), "{pair:?}");
            assert!(keys(false, a) > keys(false, b), "{pair:?}");
        }
        for direction in [true, false] {
            assert_eq!(keys(direction, Some("0")), keys(direction, Some("-0.0")));
            assert_eq!(keys(direction, Some("")), keys(direction, None));
            for value in ascending {
                assert!(keys(direction, Some(value)) < keys(direction, None), "{value}");
            }
        }
    }

    #[test]
    fn malformed_keys_decide_nothing() {
        let policy = KeepPolicy::new(vec!["field:x".parse().unwrap(), KeepRule::Longest]);
        for (a, b) in [(&[][..], &[1][..]), (&[1, 0xfd, 7], &[1, 0xfd, 8])] {
            assert_eq!(policy.decided_by(a, b), None);
            assert_eq!(policy.decided_by(b, a), None);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn key_order_equals_rule_order(
            rules in prop::collection::vec(rule(), 0..5), a in document(), b in document(),
            shared in 0usize..5,
        ) {
            let policy = KeepPolicy::new(rules);
            // Lets the documents agree in some of the attributes that the first rules compare.
            let mut b = b;
            if shared > 0 {
                (b.length, b.modified, b.reference) = (a.length, a.modified, a.reference);
                b.name.marks = a.name.marks;
                b.fields[..shared.min(4)].clone_from_slice(&a.fields[..shared.min(4)]);
            }
            let (x, y) = (a.key(&policy), b.key(&policy));
            let (order, decided) = plainly(&policy, &a, &b);
            prop_assert_eq!(x.cmp(&y), order);
            prop_assert_eq!(policy.decided_by(&x, &y), decided);
            prop_assert_eq!(policy.decided_by(&y, &x), decided);
            prop_assert_eq!(compare(&x, b"p", &y, b"q"), order.then(Ordering::Less));
            prop_assert_eq!(compare(&x, b"p", &y, b"p"), order);
            let ids: [[&[u8]; 2]; 4] =
                [[b"p", b"q"], [b"p", b""], [b"\xff", b"\x00\x01"], [b"p", b"p"]];
            for [p, q] in ids {
                prop_assert_eq!(sort_key(&x, p).cmp(&sort_key(&y, q)), compare(&x, p, &y, q));
            }
            let same_reference = OwnedAttributes { reference: a.reference, ..b };
            let by_rules = plainly(&policy, &a, &same_reference).0.then(Ordering::Less);
            prop_assert_eq!(compare_by_rules(&x, b"p", &y, b"q"), by_rules);
        }
    }
}
