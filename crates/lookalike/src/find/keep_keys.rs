//! What the keep policy and the table of sources look at in a document.

use crate::error::Error;
use crate::find::options::FindOptions;
use crate::read::{Collection, Document, Format};
use globset::{GlobBuilder, GlobMatcher};
use lookalike_core::error::ParamsError;
use lookalike_core::keep::{KeepAttributes, KeepPolicy};
use lookalike_core::parameter::Parameter;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

/// The keep policy, ready to be asked about documents.
pub(crate) struct KeepRules {
    policy: KeepPolicy,
    globs: Vec<GlobMatcher>,
    /// How many fields the policy looks at; the source's, if any, comes behind them.
    fields: usize,
    source_field: bool,
    /// Of each field that the policy looks at: whether a document has it.
    seen: Vec<AtomicBool>,
}

impl KeepRules {
    /// Fails where a rule's pattern cannot be understood.
    pub(crate) fn new(options: &FindOptions) -> Result<Self, Error> {
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
            globs: globs.collect::<Result<_, ParamsError>>()?,
            fields: options.keep.field_names().count(),
            source_field: options.source_field.is_some(),
            seen: options.keep.field_names().map(|_| AtomicBool::new(false)).collect(),
        })
    }

    /// The fields that no document had.
    pub(crate) fn missing_fields(&self) -> Vec<String> {
        let named = self.policy.field_names().zip(&self.seen);
        let missing = named.filter(|(_, seen)| !seen.load(Ordering::Relaxed));
        missing.map(|(name, _)| name.to_owned()).collect()
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
            let path = path(collection, position[0], document);
            self.globs.iter().map(|glob| glob.is_match(path)).collect()
        };
        for (value, seen) in document.fields.iter().zip(&self.seen) {
            if value.is_some_and(|value| !value.is_empty()) && !seen.load(Ordering::Relaxed) {
                seen.store(true, Ordering::Relaxed);
            }
        }
        let traits = KeepAttributes {
            length: document.bytes(),
            position,
            modified: document.modified,
            fields: document.fields.get(..self.fields).unwrap_or_default(),
            matches: &matches,
            reference,
        };
        self.policy.key(&traits, out);
    }

    /// The source a document is counted under.
    pub(crate) fn source<'a>(
        &self,
        collection: &'a Collection,
        source: u32,
        document: &'a Document<'_>,
    ) -> Cow<'a, str> {
        if self.source_field {
            return Cow::Borrowed(
                document.fields.get(self.fields).copied().flatten().unwrap_or(""),
            );
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

/// What patterns are held against: the file the document is in; its id, in an index.
fn path<'a>(collection: &'a Collection, source: u32, document: &'a Document<'_>) -> &'a str {
    if matches!(collection.source_format(source), Some(Format::Text) | None) {
        document.parent.map_or(document.id, |parent| parent.id)
    } else {
        collection.source_name(source).unwrap_or_default()
    }
}
