//! The files in an office file, and their relations.

use super::xml::{self, attribute};
use crate::archive::{ZipEntry, list};
use crate::reading::{ExtractError, LimitTracker};
use std::collections::HashMap;
use std::io::Cursor;

/// An open office file.
pub(super) struct Package<'a> {
    bytes: &'a [u8],
    pub(super) tracker: &'a LimitTracker<'a>,
    entries: Vec<ZipEntry>,
    /// Indexes by name in lower case: most office formats ignore case.
    places: HashMap<String, usize>,
}

impl<'a> Package<'a> {
    /// Lists the files. A truncated archive is an error, because nothing would show that its text
    /// is incomplete.
    pub(super) fn open(
        bytes: &'a [u8],
        tracker: &'a LimitTracker<'a>,
    ) -> Result<Self, ExtractError> {
        let listed = list(Cursor::new(bytes), tracker)?;
        if let Some(cut) = listed.cut {
            return Err(cut);
        }
        let mut places = HashMap::new();
        for (place, entry) in listed.entries.iter().enumerate() {
            places.entry(entry.name.to_lowercase()).or_insert(place);
        }
        Ok(Self { bytes, tracker, entries: listed.entries, places })
    }

    /// The content of a file; `None` if it does not exist.
    pub(super) fn file(&self, name: &str) -> Result<Option<Vec<u8>>, ExtractError> {
        let Some(&place) = self.places.get(&name.to_lowercase()) else { return Ok(None) };
        let entry = &self.entries[place];
        let mut inflated = Vec::new();
        let stored = entry
            .slice(self.bytes)
            .and_then(|compressed| entry.content(compressed, self.tracker, &mut inflated))
            .map_err(|failure| match failure {
                ExtractError::Damaged { what } => ExtractError::damaged(format!("{name}: {what}")),
                other => other,
            })?;
        if let Some(stored) = stored {
            // Charged since a file may be read repeatedly.
            self.tracker.charge_bytes(stored.len())?;
            return Ok(Some(stored.to_vec()));
        }
        Ok(Some(inflated))
    }

    /// The text of an XML file; `None` if it does not exist.
    pub(super) fn xml(&self, name: &str) -> Result<Option<String>, ExtractError> {
        self.file(name)?.map(xml::decode).transpose()
    }

    /// As [`xml`](Self::xml); a missing file is an error.
    pub(super) fn needed(&self, name: &str) -> Result<String, ExtractError> {
        self.xml(name)?.ok_or_else(|| ExtractError::damaged(format!("{name} is missing")))
    }

    /// The relations of a file of Office Open XML; the relations of the package for an empty name.
    pub(super) fn relations(&self, part: &str) -> Result<Relations, ExtractError> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let slash = if folder.is_empty() { "" } else { "/" };
        let mut relations = Relations(Vec::new());
        if let Some(xml) = self.xml(&format!("{folder}{slash}_rels/{file}.rels"))? {
            xml::each_element(&xml, self.tracker, |name, tag| {
                let external = attribute(tag, "TargetMode").is_some_and(|mode| mode == "External");
                if name == "Relationship" && !external {
                    let get = |name| attribute(tag, name).unwrap_or_default();
                    let role = get("Type").rsplit('/').next().unwrap_or_default().to_owned();
                    let id = get("Id").into_owned();
                    let target = resolve(part, &get("Target"));
                    relations.0.push(Relation { id, role, target });
                }
            })?;
        }
        Ok(relations)
    }
}

/// The relations of a file.
pub(super) struct Relations(Vec<Relation>);

pub(super) struct Relation {
    pub(super) id: String,
    /// The last segment of its type, such as `worksheet`.
    pub(super) role: String,
    /// The name of the file.
    pub(super) target: String,
}

impl Relations {
    /// The first file in a role.
    pub(super) fn role(&self, role: &str) -> Option<&str> {
        self.0.iter().find(|r| r.role == role).map(|r| r.target.as_str())
    }

    pub(super) fn by_id(&self) -> HashMap<&str, &Relation> {
        self.0.iter().map(|relation| (relation.id.as_str(), relation)).collect()
    }
}

/// Resolves the link `target` in the file `base`, relative to the folder of `base` unless the link
/// begins with `/`. The result is percent-decoded and has no fragment.
pub(super) fn resolve(base: &str, target: &str) -> String {
    let target = target.split(['#', '?']).next().unwrap_or_default();
    let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = if target.starts_with('/') { "" } else { folder };
    let decoded = percent_encoding::percent_decode_str(target).decode_utf8_lossy();
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(decoded.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_resolved_against_folders() {
        let known = [
            ("word/document.xml", "footnotes.xml", "word/footnotes.xml"),
            ("word/document.xml", "/word/x.xml", "word/x.xml"),
            ("ppt/slides/slide1.xml", "../notes/n1.xml", "ppt/notes/n1.xml"),
            ("", "word/document.xml", "word/document.xml"),
            ("OPS/book.opf", "a%20b%C3%A9.xhtml#part", "OPS/a bé.xhtml"),
            ("a/b", "../../../../x", "x"),
            ("a", "100%", "100%"),
            ("a", "%é", "%é"),
        ];
        for (base, target, name) in known {
            assert_eq!(resolve(base, target), name, "{target} in {base}");
        }
    }
}
