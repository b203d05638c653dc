//! The attributes of a document that the keep policy and the table of sources use.

use crate::engine::error::FindError;
use crate::engine::options::FindOptions;
use crate::read::{Collection, Document, Format};
use globset::{GlobBuilder, GlobMatcher};
use lookalike_core::error::ParamsError;
use lookalike_core::keep::{KeepAttributes, KeepPolicy, KeepRule, NameRank};
use lookalike_core::parameter::Parameter;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

/// Makes the keep keys of documents, and determines the source that each is counted under.
pub(crate) struct KeepKeyMaker {
    policy: KeepPolicy,
    /// Whether a rule ranks the names of files.
    ranks_names: bool,
    /// Whether a document has a file name.
    named: AtomicBool,
    globs: Vec<GlobMatcher>,
    /// The number of fields that the policy reads. In a document, these are followed by the field
    /// of paths and then the field of sources, if the run has them.
    fields: usize,
    path_field: bool,
    source_field: bool,
    /// For each field of the policy, whether a document has it.
    seen: Vec<AtomicBool>,
    /// For each pattern, whether a document matches it.
    matched: Vec<AtomicBool>,
}

impl KeepKeyMaker {
    /// Returns an error if a rule's pattern is invalid.
    pub(crate) fn new(options: &FindOptions) -> Result<Self, FindError> {
        let globs = options.keep.globs().map(|glob| {
            let built = GlobBuilder::new(glob).literal_separator(true).build();
            let built = built.map_err(|_| ParamsError::Parse {
                parameter: Parameter::Keep,
                got: format!("path:{glob}"),
                expected: "path: and a pattern such as originals/** or **/*.final.txt",
            })?;
            Ok(built.compile_matcher())
        });
        Ok(Self {
            policy: options.keep.clone(),
            ranks_names: options.keep.rules().contains(&KeepRule::Name),
            named: AtomicBool::new(false),
            globs: globs.collect::<Result<_, ParamsError>>()?,
            fields: options.keep.field_names().count(),
            path_field: options.path_field.is_some(),
            source_field: options.source_field.is_some(),
            seen: options.keep.field_names().map(|_| AtomicBool::new(false)).collect(),
            matched: options.keep.globs().map(|_| AtomicBool::new(false)).collect(),
        })
    }

    /// The fields that no document has had so far, the patterns that none has matched, and whether
    /// none has had a file name.
    pub(crate) fn idle_rules(&self) -> IdleRules {
        IdleRules {
            fields: unset_names(self.policy.field_names(), &self.seen),
            patterns: unset_names(self.policy.globs(), &self.matched),
            names: self.ranks_names && !self.named.load(Ordering::Relaxed),
        }
    }

    /// Appends the document's key in the keep order.
    pub(crate) fn key(
        &self,
        collection: &Collection,
        document: &Document<'_>,
        position: [u32; 3],
        reference: bool,
        out: &mut Vec<u8>,
    ) {
        let matches: Vec<bool> = if self.globs.is_empty() {
            Vec::new()
        } else {
            let path = if self.path_field {
                self.named_path(document)
            } else {
                path(collection, position[0], document)
            };
            self.globs.iter().map(|glob| glob.is_match(path)).collect()
        };
        for (_, matched) in matches.iter().zip(&self.matched).filter(|(matches, _)| **matches) {
            set(matched);
        }
        for (value, seen) in document.fields.iter().zip(&self.seen) {
            if value.is_some_and(|value| !value.is_empty()) {
                set(seen);
            }
        }
        let traits = KeepAttributes {
            length: document.bytes(),
            position,
            modified: document.modified,
            name: self.name(collection, position[0], document),
            fields: document.fields.get(..self.fields).unwrap_or_default(),
            matches: &matches,
            reference,
        };
        self.policy.key(&traits, out);
    }

    /// The rank of a document's file name. Records have no file name of their own, unless the run
    /// has a field of paths.
    fn name(&self, collection: &Collection, source: u32, document: &Document<'_>) -> NameRank {
        let has_name = self.path_field || is_named(collection, source);
        if !self.ranks_names || !has_name {
            return NameRank::default();
        }
        set(&self.named);
        let path = if self.path_field {
            self.named_path(document)
        } else {
            path(collection, source, document)
        };
        NameRank::of(path)
    }

    /// The value of the field of paths.
    fn named_path<'a>(&self, document: &Document<'a>) -> &'a str {
        self.field(document, 0)
    }

    /// The value of a field after the policy's fields; empty if the document does not have it.
    fn field<'a>(&self, document: &Document<'a>, further: usize) -> &'a str {
        document.fields.get(self.fields + further).copied().flatten().unwrap_or("")
    }

    /// Records which fields a document in memory has and which patterns it matches, without making
    /// its key.
    pub(crate) fn observe(&self, document: &Document<'_>) {
        let path = if self.path_field { self.named_path(document) } else { document.id };
        for (glob, matched) in self.globs.iter().zip(&self.matched) {
            if !matched.load(Ordering::Relaxed) && glob.is_match(path) {
                set(matched);
            }
        }
        for (value, seen) in document.fields.iter().zip(&self.seen) {
            if value.is_some_and(|value| !value.is_empty()) {
                set(seen);
            }
        }
    }

    /// The indices of the policy's rules about fields and patterns, each with whether a document
    /// has had the field or matched the pattern so far.
    pub(crate) fn uses(&self) -> Vec<(usize, bool)> {
        let mut seen = self.seen.iter();
        let mut matched = self.matched.iter();
        let flags = self.policy.rules().iter().map(|rule| match rule {
            KeepRule::Field { .. } => seen.next(),
            KeepRule::Path { .. } => matched.next(),
            _ => None,
        });
        let flags = flags.enumerate();
        flags.filter_map(|(rule, flag)| Some((rule, flag?.load(Ordering::Relaxed)))).collect()
    }

    /// The source a document is counted under.
    pub(crate) fn source<'a>(
        &self,
        collection: &'a Collection,
        source: u32,
        document: &'a Document<'_>,
    ) -> Cow<'a, str> {
        if self.source_field {
            return Cow::Borrowed(self.field(document, usize::from(self.path_field)));
        }
        let name = collection.file_of(source, document.id);
        let Some(inside) = collection.id_in_folder(source, document.id) else {
            return Cow::Borrowed(name);
        };
        match inside.split_once('/') {
            Some((folder, _)) => Cow::Owned(format!("{}/{folder}", name.trim_end_matches('/'))),
            None => Cow::Borrowed(name),
        }
    }
}

/// The fields and patterns of a keep policy that put no document before another.
#[derive(Debug, Default)]
pub(crate) struct IdleRules {
    /// Fields of which no document has a value.
    pub(crate) fields: Vec<String>,
    /// Patterns that match no document.
    pub(crate) patterns: Vec<String>,
    /// Whether names are ranked and no document has one.
    pub(crate) names: bool,
}

/// The names whose flag is not set.
fn unset_names<'a>(names: impl Iterator<Item = &'a str>, flags: &[AtomicBool]) -> Vec<String> {
    let unset = names.zip(flags).filter(|(_, flag)| !flag.load(Ordering::Relaxed));
    unset.map(|(name, _)| name.to_owned()).collect()
}

/// Sets a flag that threads share. Does not write a flag that is already set, because writing would
/// remove it from the caches of other threads.
fn set(flag: &AtomicBool) {
    if !flag.load(Ordering::Relaxed) {
        flag.store(true, Ordering::Relaxed);
    }
}

/// Returns the text that patterns are compared with: the document's id if it may be a path,
/// otherwise the file of its records.
fn path<'a>(collection: &'a Collection, source: u32, document: &'a Document<'_>) -> &'a str {
    if is_named(collection, source) {
        document.parent.map_or(document.id, |parent| parent.id)
    } else {
        collection.source_name(source).unwrap_or_default()
    }
}

/// Returns true if ids of documents are paths, or may be paths: in files, an index and memory.
fn is_named(collection: &Collection, source: u32) -> bool {
    matches!(collection.source_format(source), Some(Format::Text) | None)
}
