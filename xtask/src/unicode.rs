//! Writes `crates/lookalike-core/src/unicode_table.rs`, the data of `text.rs` about characters.
//!
//! Two look-ups lead from a code point to the number of its record. A record consists of flags and
//! the distance to the lower case. Cases come from the standard library, categories and scripts
//! from two crates. All must have the same Unicode version, because signatures depend on it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};

/// The path of the table from the root of the repository.
pub(crate) const PATH: &str = "crates/lookalike-core/src/unicode_table.rs";

/// Code points per block are 2 to this power. The file is smallest with 7.
const BLOCK_BITS: u32 = 7;
const BLOCK_SIZE: usize = 1 << BLOCK_BITS;

const UNSPACED: u8 = 2;
const LOWERS: u8 = 4;
const CASED: u8 = 8;
const CASE_IGNORABLE: u8 = 16;
const WHITE_SPACE: u8 = 32;

/// The scripts without spaces between words. UAX #14 permits a line break between their letters
/// without a space (`LineBreak.txt`). Hangul is not in the list, because Korean has spaces.
const UNSPACED_SCRIPTS: &[Script] = &[
    // Classes ID, NS and CJ: ideographs, and the syllables written among them.
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Bopomofo,
    Script::Yi,
    Script::Tangut,
    Script::Nushu,
    // Class SA: only a dictionary can find the ends of words.
    Script::Thai,
    Script::Lao,
    Script::Khmer,
    Script::Myanmar,
    Script::Ahom,
    Script::Tai_Le,
    Script::New_Tai_Lue,
    Script::Tai_Tham,
    Script::Tai_Viet,
    // Classes AK, AP and AS: lines break between syllables.
    Script::Balinese,
    Script::Batak,
    Script::Brahmi,
    Script::Cham,
    Script::Dives_Akuru,
    Script::Grantha,
    Script::Gurung_Khema,
    Script::Javanese,
    Script::Kawi,
    Script::Makasar,
    Script::Tulu_Tigalari,
];

/// The record of a code point: its flags, and the distance to its lower case.
type CodePointRecord = (u8, i32);

/// Writes the table. With `check`, only compares it with the table in the repository.
///
/// # Errors
/// If the sources disagree on the Unicode version, or the file cannot be written. With `check`, if
/// the table is out of date.
pub(crate) fn run(root: &Path, check: bool) -> Result<(), String> {
    let path = root.join(PATH);
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    if check && !stored.contains(&version_line(char::UNICODE_VERSION)) {
        // Another compiler has generated the table. Its results remain valid.
        crate::commands::say(&format!("SKIPPED: {PATH} is not of this compiler's Unicode version"));
        return Ok(());
    }
    let table = generate()?;
    if stored == table {
        return Ok(());
    }
    if check {
        return Err(format!("{PATH} is not what its generator writes; run `cargo x unicode`"));
    }
    std::fs::write(&path, &table).map_err(|e| format!("cannot write {PATH}: {e}"))?;
    crate::commands::say(&format!("wrote {PATH}: {} bytes", table.len()));
    Ok(())
}

/// Generates the text of the table.
///
/// # Errors
/// If the sources disagree on the Unicode version, or violate a rule on which `text.rs` relies.
fn generate() -> Result<String, String> {
    let std = char::UNICODE_VERSION;
    for (name, version) in [
        ("unicode-properties", unicode_properties::UNICODE_VERSION),
        ("unicode-script", unicode_script::UNICODE_VERSION),
    ] {
        if version != (u64::from(std.0), u64::from(std.1), u64::from(std.2)) {
            return Err(format!(
                "the compiler has Unicode {std:?}, the crate {name} has {version:?}; \
                 use a compiler or, in xtask/Cargo.toml, a crate of the other's version"
            ));
        }
    }
    let mut records: BTreeMap<CodePointRecord, u8> = BTreeMap::new();
    let mut rows = Vec::with_capacity(0x11_0000);
    for code_point in 0..0x11_0000 {
        rows.push(char::from_u32(code_point).map_or(Ok((0, 0)), record_of)?);
    }
    for row in &rows {
        records.insert(*row, 0);
    }
    for (number, record) in records.values_mut().enumerate() {
        *record = u8::try_from(number).map_err(|_| "more than 256 records".to_owned())?;
    }
    let mut block_of = Vec::new();
    let mut blocks = Vec::<Vec<u8>>::new();
    for rows in rows.chunks(BLOCK_SIZE) {
        let block: Vec<u8> = rows.iter().map(|row| records[row]).collect();
        let number = blocks.iter().position(|known| *known == block).unwrap_or_else(|| {
            blocks.push(block);
            blocks.len() - 1
        });
        block_of.push(u8::try_from(number).map_err(|_| "more than 256 blocks".to_owned())?);
    }
    Ok(written(&records.into_keys().collect::<Vec<_>>(), &block_of, &blocks))
}

/// Determines the record of `c`.
fn record_of(c: char) -> Result<CodePointRecord, String> {
    let mut flags = class_of(c);
    let mut delta = 0;
    let lower: Vec<char> = c.to_lowercase().collect();
    if lower[..] != [c] {
        flags |= LOWERS;
        delta = u32::from(lower[0]).cast_signed() - u32::from(c).cast_signed();
    }
    if lower.len() > 1 && (c, &lower[..]) != ('\u{130}', &['i', '\u{307}']) {
        return Err(format!("U+{:04X} has a lower case that text.rs cannot write", u32::from(c)));
    }
    if lower.iter().any(|lower| class_of(*lower) != flags & 3) {
        return Err(format!("U+{:04X} changes its class with its case", u32::from(c)));
    }
    if ends_in_final_sigma(&format!("{c}Σ")) {
        flags |= CASED;
    } else if ends_in_final_sigma(&format!("A{c}Σ")) {
        flags |= CASE_IGNORABLE;
    }
    if c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c) {
        flags |= WHITE_SPACE;
    }
    Ok((flags, delta))
}

/// Returns true if the last letter of a text becomes a final sigma in lower case. This shows
/// Unicode's properties `Cased` and `Case_Ignorable`, which the standard library does not export.
fn ends_in_final_sigma(text: &str) -> bool {
    text.to_lowercase().ends_with('ς')
}

/// Returns the class of a character: 0 separator, 1 part of a word, 2 a word by itself.
fn class_of(c: char) -> u8 {
    use GeneralCategoryGroup as Group;
    if !matches!(c.general_category_group(), Group::Letter | Group::Mark | Group::Number) {
        return 0;
    }
    if c.general_category() == GeneralCategory::DecimalNumber {
        return 1;
    }
    let unspaced = match c.script() {
        Script::Common | Script::Inherited => {
            let scripts = c.script_extension();
            !scripts.is_common() && !scripts.is_inherited() && scripts.iter().all(is_unspaced)
        }
        script => is_unspaced(script),
    };
    if unspaced { UNSPACED } else { 1 }
}

fn is_unspaced(script: Script) -> bool {
    UNSPACED_SCRIPTS.contains(&script)
}

fn version_line((major, minor, update): (u8, u8, u8)) -> String {
    format!("pub(crate) const UNICODE_VERSION: (u8, u8, u8) = ({major}, {minor}, {update});\n")
}

/// Formats the table as Rust.
fn written(records: &[CodePointRecord], block_of: &[u8], blocks: &[Vec<u8>]) -> String {
    let flags: Vec<u8> = records.iter().map(|record| record.0).collect();
    let deltas: Vec<i32> = records.iter().map(|record| record.1).collect();
    let mut out = String::from(
        "//! Written by `cargo x unicode`, which says how; do not edit.\n//!\n\
         //! `BLOCKS[BLOCK_OF[c >> BLOCK_BITS]][c % BLOCK_SIZE]` is code point `c`'s record.\n\n",
    );
    out += &version_line(char::UNICODE_VERSION);
    for (comment, name, value) in [
        ("Bits of the class: 0 separator, 1 word, 2 a word by itself.", "CLASS", 3),
        ("Lower-casing changes it.", "LOWERS", LOWERS),
        ("Before a capital sigma it makes that final.", "CASED", CASED),
        ("The rule for the final sigma looks past it.", "CASE_IGNORABLE", CASE_IGNORABLE),
        ("White space.", "WHITE_SPACE", WHITE_SPACE),
    ] {
        let _ = write!(out, "/// {comment}\npub(crate) const {name}: u8 = {value};\n");
    }
    let _ = write!(
        out,
        "/// Code points per block are 2 to this power.\n\
         pub(crate) const BLOCK_BITS: u32 = {BLOCK_BITS};\n\
         /// Code points per block.\npub(crate) const BLOCK_SIZE: usize = 1 << BLOCK_BITS;\n\n\
         /// The flags of each record.\n#[rustfmt::skip]\n\
         pub(crate) static FLAGS: [u8; 256] = {};\n\n\
         /// What to add to a code point of each record for its lower case.\n#[rustfmt::skip]\n\
         pub(crate) static DELTAS: [i32; 256] = {};\n\n\
         /// The block of each run of code points.\n#[rustfmt::skip]\n\
         pub(crate) static BLOCK_OF: [u8; {}] = {};\n\n\
         /// The distinct blocks.\n#[rustfmt::skip]\n\
         pub(crate) static BLOCKS: [[u8; BLOCK_SIZE]; {}] = [\n",
        array(&padded(&flags)),
        array(&padded(&deltas)),
        block_of.len(),
        array(block_of),
        blocks.len(),
    );
    for block in blocks {
        let is_uniform = block.iter().all(|record| *record == block[0]);
        let text = if is_uniform { format!("[{}; BLOCK_SIZE]", block[0]) } else { array(block) };
        let _ = writeln!(out, "{text},");
    }
    out += "];\n";
    out
}

/// Pads a list to 256 entries, one for each `u8`, so that the compiler sees that no look-up is out
/// of bounds.
fn padded<T: Copy + Default>(values: &[T]) -> Vec<T> {
    let mut values = values.to_vec();
    values.resize(256, T::default());
    values
}

/// Formats an array in lines of at most 100 columns.
fn array<T: ToString>(values: &[T]) -> String {
    let mut out = String::from("[\n");
    let mut line = String::new();
    for value in values {
        let value = value.to_string();
        if line.len() + value.len() + 1 > 100 {
            out += &line;
            out.push('\n');
            line.clear();
        }
        line += &value;
        line.push(',');
    }
    out + &line + "\n]"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_equals_the_generator_output() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        assert_eq!(run(root, true), Ok(()));
    }
}
