//! What the keep policy and the table of sources look at in a document.

use super::FindOptions;
use crate::error::Error;
use crate::read::{Collection, Document, Format};
use globset::{GlobBuilder, GlobMatcher};
use lookalike_core::error::ParamsError;
use lookalike_core::keep::{KeepPolicy, Traits};
use std::borrow::Cow;

/// The keep policy, ready to be asked about documents.
pub(super) struct KeepRules {
    policy: KeepPolicy,
    globs: Vec<GlobMatcher>,
    /// How many fields the policy looks at; the source's, if any, comes behind them.
    fields: usize,
    source_field: bool,
}

impl KeepRules {
    /// Fails where a rule's pattern cannot be understood.
    pub(super) fn new(options: &FindOptions) -> Result<Self, Error> {
        let globs = options.keep.globs().map(|glob| {
            let built = GlobBuilder::new(glob).literal_separator(true).build();
            let built = built.map_err(|_| ParamsError::Parse {
                option: "--keep",
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
        })
    }

    /// Appends the document's standing in the keep order.
    pub(super) fn key(
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
        let traits = Traits {
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
    pub(super) fn source<'a>(
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
        let name = collection.source_name(source).unwrap_or_default();
        if !holds_texts(collection, source) {
            return Cow::Borrowed(name);
        }
        let inside = document.id.strip_prefix(name).unwrap_or(document.id).trim_start_matches('/');
        match inside.split_once('/') {
            Some((folder, _)) => Cow::Owned(format!("{}/{folder}", name.trim_end_matches('/'))),
            None => Cow::Borrowed(name),
        }
    }
}

/// What patterns are held against: the file the document stands in; its id, in an index.
fn path<'a>(collection: &'a Collection, source: u32, document: &'a Document<'_>) -> &'a str {
    if matches!(collection.source_format(source), Some(Format::Text) | None) {
        document.id
    } else {
        collection.source_name(source).unwrap_or_default()
    }
}

/// Whether each document of the source is a file.
fn holds_texts(collection: &Collection, source: u32) -> bool {
    collection.source_format(source) == Some(Format::Text)
}
