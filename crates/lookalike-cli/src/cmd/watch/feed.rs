//! A feed of matches: an Atom file (RFC 4287), which is written as a whole and keeps the entries of
//! earlier runs.

use super::resemblance;
use lookalike::report::write_whole_file;
use lookalike::watch::Resemblance;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

/// The most entries of a feed.
const ENTRIES: usize = 200;
/// The start of every feed of this program.
const BEGIN: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\
    <feed xmlns=\"http://www.w3.org/2005/Atom\">\n<generator>lookalike watch</generator>\n";
const ENTRY: &str = "<entry>";
const ENTRY_END: &str = "</entry>\n";

/// A feed, and its entries, the latest first.
pub(super) struct MatchFeed {
    path: PathBuf,
    title: String,
    entries: Vec<String>,
}

impl MatchFeed {
    /// Reads the feed in a file, or starts a new one.
    ///
    /// # Errors
    /// The file cannot be read, or is not a feed of this program.
    pub(super) fn open(path: &Path, title: &str) -> io::Result<Self> {
        let entries = match std::fs::read_to_string(path) {
            Ok(text) => entries(&text).ok_or_else(|| {
                let why = "the file exists and is not a feed of `lookalike watch`; choose another \
                           file";
                io::Error::new(io::ErrorKind::InvalidData, why)
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound && has_folder(path) => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { path: path.to_owned(), title: title.to_owned(), entries })
    }

    /// Adds an entry for each document that has a match, and writes the feed.
    ///
    /// # Errors
    /// The file cannot be written. In this case, an existing file is unchanged.
    pub(super) fn add(&mut self, found: &[Resemblance], time: &str) -> io::Result<()> {
        let new = found.iter().filter(|document| !document.matches.is_empty());
        self.entries.splice(0..0, new.rev().map(entry));
        self.entries.truncate(ENTRIES);
        let title = escaped(&self.title);
        let mut text = format!(
            "{BEGIN}<title>Matches in {title}</title>\n<id>{}</id>\n<updated>{time}</updated>\n",
            tag_uri(&[&self.title])
        );
        self.entries.iter().for_each(|entry| text.push_str(entry));
        text.push_str("</feed>\n");
        write_whole_file(&self.path, text.as_bytes())
    }
}

/// Returns true if the folder of a file exists.
fn has_folder(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.is_none_or(Path::is_dir)
}

/// The entries of a feed of this program.
fn entries(text: &str) -> Option<Vec<String>> {
    let rest = text.strip_prefix(BEGIN)?;
    let pieces = rest.split_inclusive(ENTRY_END).filter_map(|piece| {
        let start = piece.find(ENTRY)?;
        piece.ends_with(ENTRY_END).then(|| piece[start..].to_owned())
    });
    Some(pieces.collect())
}

fn entry(found: &Resemblance) -> String {
    let mut list = String::new();
    for (id, similarity) in &found.matches {
        let _ = writeln!(list, "{} {similarity}", escaped(id));
    }
    let id = tag_uri(&[&found.id, &found.time]);
    let Resemblance { time, .. } = found;
    format!(
        "{ENTRY}<title>{}</title><id>{id}</id><updated>{time}</updated>\
         <author><name>lookalike</name></author><content type=\"text\">{list}</content>{ENTRY_END}",
        escaped(&resemblance::line(found))
    )
}

/// Returns a name that depends only on the parts.
fn tag_uri(parts: &[&str]) -> String {
    let hash = lookalike::store::original::original_hash(parts.join("\0").as_bytes());
    let mut uri = "tag:lookalike.invalid,2026:".to_owned();
    for byte in &hash[..16] {
        let _ = write!(uri, "{byte:02x}");
    }
    uri
}

/// Escapes a text for XML 1.0. Replaces control characters, most of which XML 1.0 forbids.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' => out.push(' '),
            control if control.is_control() => out.push('\u{fffd}'),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(id: &str, is_new_group: bool) -> Resemblance {
        Resemblance {
            id: id.to_owned(),
            replaced: false,
            matches: vec![("old & </entry>\n<entry>".to_owned(), "0.900000".to_owned())],
            total: 1,
            is_new_group,
            time: "2026-01-02T03:04:05Z".to_owned(),
        }
    }

    #[test]
    fn feed_lists_the_newest_matches_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("groups.xml");
        let time = "2026-01-02T03:04:05Z";
        for number in 0..ENTRIES + 5 {
            let mut feed = MatchFeed::open(&path, "letters").unwrap();
            let is_new_group = number % 2 == 0;
            let alone = Resemblance { matches: Vec::new(), ..found("alone", false) };
            feed.add(&[found(&format!("a{number}"), is_new_group), alone], time).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(ENTRY).count(), ENTRIES);
        let [last, first] = ["a204: resembles", "a5: resembles"].map(|title| text.find(title));
        assert!(
            first.is_some() && last < first && !text.contains("a4:") && !text.contains("alone")
        );
        assert!(text.contains("old &amp; &lt;/entry&gt; &lt;entry&gt;"), "{text}");
        assert!(text.ends_with("</entry>\n</feed>\n"));
    }

    #[test]
    fn foreign_files_are_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("groups.xml");
        std::fs::write(&path, "my notes").unwrap();
        assert!(MatchFeed::open(&path, "x").is_err());
        assert!(MatchFeed::open(&folder.path().join("none/groups.xml"), "x").is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "my notes");
    }

    #[test]
    fn control_characters_are_replaced_in_xml() {
        assert_eq!(escaped("a\u{1}\u{0}b\u{ffff}\n\"<"), "a\u{fffd}\u{fffd}b\u{fffd} &quot;&lt;");
    }
}
