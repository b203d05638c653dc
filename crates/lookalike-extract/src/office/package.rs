//! The files in an office file, and how they refer to each other.

use super::xml::{self, Handler, attribute};
use crate::archive::{Bounds, Budget, ZipEntry, list};
use crate::failure::Failure;
use crate::job::Job;
use quick_xml::events::BytesStart;
use std::collections::HashMap;
use std::io::Cursor;

/// An office file under way.
pub(super) struct Package<'a> {
    bytes: &'a [u8],
    pub(super) job: &'a Job<'a>,
    entries: Vec<ZipEntry>,
    /// Names in lower case: upper and lower case are the same in most kinds of office files.
    places: HashMap<String, usize>,
}

impl<'a> Package<'a> {
    /// Lists the files. One that is cut off is refused as a whole: its text would break off
    /// somewhere, and nobody could see where.
    pub(super) fn open(bytes: &'a [u8], job: &'a Job<'a>) -> Result<Self, Failure> {
        let bounds = Bounds { members: job.options.limits.members, in_time: &|| job.in_time() };
        let listed = list(Cursor::new(bytes), &bounds)?;
        if let Some(cut) = listed.cut {
            return Err(cut);
        }
        let mut places = HashMap::new();
        for (place, entry) in listed.entries.iter().enumerate() {
            places.entry(entry.name.to_lowercase()).or_insert(place);
        }
        Ok(Self { bytes, job, entries: listed.entries, places })
    }

    /// The content of a file; `None` where there is no such file.
    pub(super) fn file(&self, name: &str) -> Result<Option<Vec<u8>>, Failure> {
        let Some(&place) = self.places.get(&name.to_lowercase()) else { return Ok(None) };
        let entry = &self.entries[place];
        let mut inflated = Vec::new();
        let mut budget = Budget::Job(self.job);
        let stored = entry
            .slice(self.bytes)
            .and_then(|compressed| entry.content(compressed, &mut budget, &mut inflated))
            .map_err(|failure| match failure {
                Failure::Damaged { what } => Failure::damaged(format!("{name}: {what}")),
                other => other,
            })?;
        if let Some(stored) = stored {
            // Read again and again, it would be no less than something that expands.
            self.job.expand(stored.len())?;
            return Ok(Some(stored.to_vec()));
        }
        Ok(Some(inflated))
    }

    /// The text of an XML file; `None` where there is no such file.
    pub(super) fn xml(&self, name: &str) -> Result<Option<String>, Failure> {
        self.file(name)?.map(xml::decode).transpose()
    }

    /// As [`xml`](Self::xml), for one that must be there.
    pub(super) fn needed(&self, name: &str) -> Result<String, Failure> {
        self.xml(name)?.ok_or_else(|| Failure::damaged(format!("there is no {name} in it")))
    }

    /// What a file of Office Open XML refers to; the empty name stands for the whole.
    pub(super) fn relations(&self, of: &str) -> Result<Relations, Failure> {
        let (folder, file) = of.rsplit_once('/').unwrap_or(("", of));
        let slash = if folder.is_empty() { "" } else { "/" };
        let mut relations = Relations { base: of.to_owned(), all: Vec::new() };
        if let Some(xml) = self.xml(&format!("{folder}{slash}_rels/{file}.rels"))? {
            xml::read(&xml, self.job, &mut relations)?;
        }
        Ok(relations)
    }
}

/// What a file refers to.
pub(super) struct Relations {
    base: String,
    all: Vec<Relation>,
}

pub(super) struct Relation {
    pub(super) id: String,
    /// The last part of its type, such as `worksheet`.
    pub(super) role: String,
    /// The name of the file.
    pub(super) target: String,
}

impl Relations {
    /// The first file in that role.
    pub(super) fn role(&self, role: &str) -> Option<&str> {
        self.all.iter().find(|r| r.role == role).map(|r| r.target.as_str())
    }

    /// By their names.
    pub(super) fn by_id(&self) -> HashMap<&str, &Relation> {
        self.all.iter().map(|relation| (relation.id.as_str(), relation)).collect()
    }
}

impl Handler for Relations {
    fn start(&mut self, name: &str, tag: &BytesStart<'_>) -> Result<bool, Failure> {
        let external = attribute(tag, "TargetMode").is_some_and(|mode| mode == "External");
        if name != "Relationship" || external {
            return Ok(true);
        }
        let get = |name| attribute(tag, name).unwrap_or_default().into_owned();
        let role = get("Type");
        self.all.push(Relation {
            id: get("Id"),
            role: role.rsplit('/').next().unwrap_or_default().to_owned(),
            target: resolve(&self.base, &get("Target")),
        });
        Ok(true)
    }

    fn end(&mut self, _name: &str) -> Result<(), Failure> {
        Ok(())
    }

    fn text(&mut self, _text: &str) -> Result<(), Failure> {
        Ok(())
    }
}

/// The name of the file that `target` means in `base`: relative to its folder unless it begins
/// with `/`, without fragment, `%41` decoded.
pub(super) fn resolve(base: &str, target: &str) -> String {
    let target = target.split(['#', '?']).next().unwrap_or_default();
    let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = if target.starts_with('/') { "" } else { folder };
    let decoded = percent_decoded(target);
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

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).filter(|d| d.iter().all(u8::is_ascii_hexdigit));
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) if byte == b'%' => {
                decoded.push(code);
                at += 3;
            }
            _ => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
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
