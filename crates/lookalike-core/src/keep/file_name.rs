//! The version of a document according to its file name.
//!
//! A name is cut into words at characters that are neither letters nor digits, between letters and
//! digits, at capital letters after small ones (`reportFinal`), and between scripts. Words are
//! compared whole, in lower case and without accents. Chinese, Japanese and Korean names may have
//! no spaces, so their words also match at either end of a run.

use crate::keep::file_name_words::{FILE_NAME_WORDS, LanguageWords, WordMeaning};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Rank of a file name in the order of [`KeepRule::Name`](crate::keep::KeepRule::Name): the marks,
/// then the version. A document without a name has the default, the rank of a name without marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NameRank {
    /// Bits of [`NameRank::NOT_FINAL`] and the following constants. Lower values come first.
    pub marks: u8,
    /// The version, such as 1.2.0. Zeros if the name has no version. Higher versions come first.
    pub version: [u32; 3],
}

impl Default for NameRank {
    fn default() -> Self {
        Self { marks: Self::NOT_FINAL, version: [0; 3] }
    }
}

/// Maximum number of digits of a version number after "draft" or "final". Longer numbers are dates.
const MAX_BARE_DIGITS: usize = 2;

impl NameRank {
    /// The name has no word for a final version.
    pub const NOT_FINAL: u8 = 1;
    /// A copy: `Copy of x`, `x (2)`.
    pub const COPY: u8 = 1 << 1;
    /// A draft.
    pub const DRAFT: u8 = 1 << 2;
    /// An old version or a backup.
    pub const OLD: u8 = 1 << 3;
    /// A file that a program keeps beside an open document: `~$x`.
    pub const TEMPORARY: u8 = 1 << 4;

    /// The rank of a file, by the last part of its path.
    pub fn of(path: &str) -> Self {
        let name = last_part(path);
        let mut rank = Self::default();
        let prefixes = ["~$", ".~lock.", "._"];
        if prefixes.iter().any(|prefix| name.starts_with(prefix)) {
            rank.marks |= Self::TEMPORARY;
        }
        if name.ends_with('~') {
            rank.marks |= Self::OLD;
        }
        let folded = composed(name.chars().filter_map(without_width));
        let (stem, extension) = split_extension(&folded);
        let stem = match without_copy_number(stem) {
            Some(stem) => {
                rank.marks |= Self::COPY;
                stem
            }
            None => stem,
        };
        let mut tokens = tokens(stem);
        let word: String = extension.iter().flat_map(|c| fold(*c)).collect();
        tokens.push(NamePart {
            text: word,
            separator: ".".to_owned(),
            kind: NamePartKind::Letters,
        });
        rank.read(&tokens);
        rank
    }

    /// Applies the words of a name.
    fn read(&mut self, tokens: &[NamePart]) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let rest = &tokens[at..];
            let mut used = 1;
            if token.kind == NamePartKind::Run {
                for (meaning, is_last) in meanings_in_run(&token.text) {
                    self.mark(meaning);
                    if is_last {
                        self.read_version(meaning, false, &rest[1..]);
                    }
                }
            } else if let Some((length, meaning)) = phrase_at(rest) {
                used = length;
                let is_letter = token.text.chars().nth(1).is_none();
                self.mark(meaning);
                self.read_version(meaning, is_letter, &rest[length..]);
            } else if token.kind == NamePartKind::Digits {
                // 第2版, 2稿
                let counter = rest.get(1).filter(|next| next.text.starts_with(['版', '稿']));
                if counter.is_some_and(|next| next.separator.is_empty()) {
                    self.set_version([number(&token.text), 0, 0]);
                }
            }
            at += used;
        }
    }

    /// Applies a word.
    fn mark(&mut self, meaning: WordMeaning) {
        match meaning {
            WordMeaning::Final => self.marks &= !Self::NOT_FINAL,
            WordMeaning::Copy => self.marks |= Self::COPY,
            WordMeaning::Draft => self.marks |= Self::DRAFT,
            WordMeaning::Old => self.marks |= Self::OLD,
            WordMeaning::Version => {}
        }
    }

    /// Reads the version in `after`, the tokens after a word. `is_letter` is true if the word is
    /// one letter.
    fn read_version(&mut self, meaning: WordMeaning, is_letter: bool, after: &[NamePart]) {
        let separators: &[&str] = match meaning {
            WordMeaning::Version if is_letter => &["", "."],
            WordMeaning::Version => &["", ".", ". ", " ", "_", "-"],
            WordMeaning::Final | WordMeaning::Draft => &["", " ", "_", "-"],
            WordMeaning::Copy | WordMeaning::Old => return,
        };
        let is_number = |token: &NamePart, separators: &[&str]| {
            token.kind == NamePartKind::Digits && separators.contains(&token.separator.as_str())
        };
        let Some((first, rest)) = after.split_first() else { return };
        if !is_number(first, separators) {
            return;
        }
        let mut version = [number(&first.text), 0, 0];
        if meaning != WordMeaning::Version {
            // A number with more words after it may be a date. The extension is the last part.
            if rest.len() <= 1 && first.text.len() <= MAX_BARE_DIGITS {
                self.set_version(version);
            }
            return;
        }
        let minor = rest.iter().take_while(|token| is_number(token, &["."]));
        for (place, token) in version[1..].iter_mut().zip(minor) {
            *place = number(&token.text);
        }
        self.set_version(version);
    }

    /// Sets the version, unless a greater one was read.
    fn set_version(&mut self, version: [u32; 3]) {
        self.version = self.version.max(version);
    }
}

/// The part of a path after the last separator. A backslash is a separator, except in the escape of
/// a byte in an id, such as `\xE9`.
fn last_part(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_byte = |at: usize| {
        let after = name.as_bytes().get(at + 1..at + 4);
        after.is_some_and(|b| b[0] == b'x' && b[1..].iter().all(u8::is_ascii_hexdigit))
    };
    let separator = name.rmatch_indices('\\').find(|(at, _)| !is_byte(*at));
    separator.map_or(name, |(at, _)| &name[at + 1..])
}

/// Composes Hangul syllables, because some file systems store their parts.
///
/// Unicode Standard, section 3.12.
fn composed(chars: impl Iterator<Item = char>) -> Vec<char> {
    const FIRST: u32 = 0x1100;
    const VOWEL: u32 = 0x1161;
    const LAST: u32 = 0x11a7;
    const SYLLABLE: u32 = 0xac00;
    let mut out: Vec<char> = Vec::new();
    for c in chars {
        let code = u32::from(c);
        let before = out.last().map_or(0, |last| u32::from(*last));
        let syllable = match (before, code) {
            (FIRST..0x1113, VOWEL..0x1176) => {
                Some(SYLLABLE + ((before - FIRST) * 21 + code - VOWEL) * 28)
            }
            (SYLLABLE..0xd7a4, 0x11a8..0x11c3) if (before - SYLLABLE).is_multiple_of(28) => {
                Some(before + code - LAST)
            }
            _ => None,
        };
        match (syllable.and_then(char::from_u32), out.last_mut()) {
            (Some(syllable), Some(last)) => *last = syllable,
            _ => out.push(c),
        }
    }
    out
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamePartKind {
    Letters,
    Digits,
    /// Letters of a script without spaces.
    Run,
}

/// A word or a number of a name.
#[derive(Debug)]
struct NamePart {
    text: String,
    /// The characters between the previous token and this one.
    separator: String,
    kind: NamePartKind,
}

/// Cuts a stem into folded tokens.
fn tokens(stem: &[char]) -> Vec<NamePart> {
    let mut tokens: Vec<NamePart> = Vec::new();
    let mut separator = String::new();
    let mut is_open = false;
    for (at, c) in stem.iter().copied().enumerate() {
        let Some(kind) = kind_of(c) else {
            // A combining accent is part of the letter before it.
            if fold(c).next().is_some() {
                separator.push(c);
                is_open = false;
            }
            continue;
        };
        let starts_word = c.is_uppercase() && at > 0 && {
            let before = stem[at - 1];
            let after = stem.get(at + 1);
            before.is_lowercase()
                || before.is_uppercase() && after.is_some_and(|after| after.is_lowercase())
        };
        let joined = tokens.last_mut().filter(|last| is_open && last.kind == kind && !starts_word);
        if let Some(last) = joined {
            last.text.extend(fold(c));
        } else {
            let separator = std::mem::take(&mut separator);
            tokens.push(NamePart { text: fold(c).collect(), separator, kind });
        }
        is_open = true;
    }
    tokens
}

fn kind_of(c: char) -> Option<NamePartKind> {
    match c {
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => {
            Some(NamePartKind::Run)
        }
        _ if c.is_ascii_digit() => Some(NamePartKind::Digits),
        _ if c.is_alphabetic() => Some(NamePartKind::Letters),
        _ => None,
    }
}

/// Converts full-width forms to ASCII.
fn without_width(c: char) -> Option<char> {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0),
        '\u{3000}' => Some(' '),
        _ => Some(c),
    }
}

/// Returns the character in lower case, without its accent, or nothing for a combining accent. File
/// systems store `é` as one character or as two.
fn fold(c: char) -> impl Iterator<Item = char> {
    let base = match c {
        '\u{300}'..='\u{36f}' | '\u{3099}' | '\u{309a}' => None,
        _ => Some(c),
    };
    base.into_iter().flat_map(char::to_lowercase).map(|c| match c {
        'à'..='å' | 'ą' | 'ā' => 'a',
        'ç' | 'ć' | 'č' => 'c',
        'ď' => 'd',
        'è'..='ë' | 'ę' | 'ě' => 'e',
        'ì'..='ï' => 'i',
        'ñ' | 'ń' | 'ň' => 'n',
        'ò'..='ö' => 'o',
        'ř' => 'r',
        'ś' | 'š' => 's',
        'ť' => 't',
        'ù'..='ü' | 'ů' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        'й' => 'и',
        'ї' => 'і',
        'ガ' => 'カ',
        'グ' => 'ク',
        'ジ' => 'シ',
        'ド' => 'ト',
        'バ' | 'パ' => 'ハ',
        'ピ' => 'ヒ',
        'プ' => 'フ',
        'べ' => 'へ',
        _ => c,
    })
}

fn number(digits: &str) -> u32 {
    digits.parse().unwrap_or(u32::MAX)
}

/// Splits `report.docx` after `report`. An extension has at most five characters, and at least one
/// letter. The end of `report.v2` is a version instead.
fn split_extension(name: &[char]) -> (&[char], &[char]) {
    let Some(dot) = name.iter().rposition(|c| *c == '.').filter(|dot| *dot > 0) else {
        return (name, &[]);
    };
    let extension = &name[dot + 1..];
    let has_letter = extension.iter().any(char::is_ascii_alphabetic);
    let is_word = extension.len() <= 5 && extension.iter().all(char::is_ascii_alphanumeric);
    let is_version = matches!(extension, ['v' | 'V' | 'r' | 'R', rest @ ..] if !rest.is_empty()
        && rest.iter().all(char::is_ascii_digit));
    if has_letter && is_word && !is_version { (&name[..dot], extension) } else { (name, &[]) }
}

/// The stem before a number such as `(2)`, which programs add to the name of a second download or
/// copy.
fn without_copy_number(stem: &[char]) -> Option<&[char]> {
    let [inner @ .., ')'] = stem else { return None };
    let open = inner.iter().rposition(|c| *c == '(')?;
    let digits = &inner[open + 1..];
    // Four digits are a year.
    let is_number = (1..4).contains(&digits.len()) && digits.iter().all(char::is_ascii_digit);
    let before = &inner[..open];
    (is_number && before.iter().any(|c| c.is_alphanumeric())).then_some(before)
}

/// The words of a phrase after the first one, and its meaning.
type PhraseRest = (Vec<String>, WordMeaning);

/// Phrases by their first word, longer ones first.
static PHRASES: LazyLock<BTreeMap<String, Vec<PhraseRest>>> = LazyLock::new(|| {
    let mut phrases: BTreeMap<String, Vec<PhraseRest>> = BTreeMap::new();
    for (meaning, phrase) in words() {
        let words = tokens(&phrase.chars().collect::<Vec<_>>());
        let mut words = words.into_iter().map(|token| token.text);
        let Some(first) = words.next() else { continue };
        phrases.entry(first).or_default().push((words.collect(), meaning));
    }
    for list in phrases.values_mut() {
        list.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
    }
    phrases
});

/// Words of scripts without spaces, longer ones first.
static RUNS: LazyLock<Vec<(String, WordMeaning)>> = LazyLock::new(|| {
    let is_run = |word: &str| word.chars().all(|c| kind_of(c) == Some(NamePartKind::Run));
    let runs = words().filter(|(_, word)| is_run(word));
    let mut runs: Vec<(String, WordMeaning)> =
        runs.map(|(meaning, word)| (word.chars().flat_map(fold).collect(), meaning)).collect();
    runs.sort_by_key(|(word, _)| std::cmp::Reverse(word.chars().count()));
    runs
});

/// All words of the table with their meaning.
fn words() -> impl Iterator<Item = (WordMeaning, &'static str)> {
    let lists = FILE_NAME_WORDS.iter().flat_map(LanguageWords::lists);
    lists.flat_map(|(meaning, list)| {
        list.split(", ").filter(|word| !word.is_empty()).map(move |word| (meaning, word))
    })
}

/// The longest phrase at the beginning of `tokens`: its length and meaning.
fn phrase_at(tokens: &[NamePart]) -> Option<(usize, WordMeaning)> {
    let (first, rest) = tokens.split_first()?;
    let phrases = PHRASES.get(&first.text)?;
    let matches = |words: &[String]| {
        words.len() <= rest.len() && words.iter().zip(rest).all(|(word, token)| *word == token.text)
    };
    let (words, meaning) = phrases.iter().find(|(words, _)| matches(words))?;
    Some((1 + words.len(), *meaning))
}

/// The meanings of the words at both ends of a run. The flag is true for the word that ends the
/// run. A word of one character must be the whole run.
fn meanings_in_run(run: &str) -> Vec<(WordMeaning, bool)> {
    let mut found = Vec::new();
    let mut rest = run;
    let mut has_end = true;
    loop {
        let at_an_end = RUNS.iter().find_map(|(word, meaning)| {
            if word == rest {
                return Some(("", *meaning, true));
            }
            word.chars().nth(1)?;
            let before = rest.strip_suffix(word.as_str()).map(|before| (before, *meaning, true));
            let after = || Some((rest.strip_prefix(word.as_str())?, *meaning, false));
            before.or_else(after)
        });
        let Some((shorter, meaning, is_suffix)) = at_an_end else { return found };
        found.push((meaning, is_suffix && has_end));
        has_end = has_end && !is_suffix;
        rest = shorter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keep::{KeepAttributes, KeepPolicy, KeepRule};

    /// The key of a document with this name.
    fn key(name: &str) -> Vec<u8> {
        let mut key = Vec::new();
        let attributes = KeepAttributes { name: NameRank::of(name), ..KeepAttributes::default() };
        KeepPolicy::new(vec![KeepRule::Name]).key(&attributes, &mut key);
        key
    }

    #[track_caller]
    fn assert_order(names: &[&str]) {
        for pair in names.windows(2) {
            assert!(key(pair[0]) < key(pair[1]), "{} before {}", pair[0], pair[1]);
        }
    }

    #[test]
    fn final_plain_copy_draft_old() {
        for list in [
            ["a final.docx", "a.docx", "a - Copy.docx", "a draft.docx", "a old.docx", "~$a.docx"],
            ["a_FINAL2.doc", "a.doc", "Kopie von a.doc", "Entwurf a.doc", "a_alt.doc", "._a.doc"],
            ["a définitif", "a", "a - copie", "brouillon a", "a ancien", ".~lock.a#"],
            ["a-definitivo", "a", "a (copia)", "borrador-a", "a.bak", "~$a"],
            ["versione finale a", "a", "copia di a", "bozza a", "a vecchio", "~$a"],
            ["a assinado", "a", "Cópia de a", "a rascunho", "a~", "~$a"],
            ["a definitief", "a", "Kopie van a", "a concept", "a oud", "~$a"],
            ["a ostateczny", "a", "a — kopia", "a szkic", "a stary", "~$a"],
            ["a финальный", "a", "a - копия", "a черновик", "a старый", "~$a"],
            ["报告最终版", "报告", "报告 - 副本", "报告草稿", "报告备份", "~$报告"],
            ["報告書_最終版", "報告書", "報告書 - コピー", "報告書下書き", "報告書_旧", "~$報告書"],
            ["보고서 최종본", "보고서", "보고서 - 복사본", "보고서 초안", "보고서 백업", "~$a"],
        ] {
            assert_order(&list);
        }
    }

    #[test]
    fn every_word_of_the_table_matches() {
        for (meaning, word) in words() {
            let rank = NameRank::of(&format!("x {word} 7.docx"));
            let marks = match meaning {
                WordMeaning::Final => 0,
                WordMeaning::Copy => NameRank::COPY | NameRank::NOT_FINAL,
                WordMeaning::Draft => NameRank::DRAFT | NameRank::NOT_FINAL,
                WordMeaning::Old => NameRank::OLD | NameRank::NOT_FINAL,
                WordMeaning::Version => NameRank::NOT_FINAL,
            };
            assert_eq!(rank.marks, marks, "{word}");
            if meaning == WordMeaning::Version {
                assert_eq!(NameRank::of(&format!("x {word}7.docx")).version, [7, 0, 0], "{word}");
            }
        }
    }

    #[test]
    fn only_whole_words_match() {
        for name in [
            "oldenburg",
            "altitude",
            "finale",
            "copyright",
            "semifinal",
            "Goldfinger",
            "redraft",
            "Photocopy",
            "旧金山报告",
            "reporter",
            "walter",
            "TV2",
            "SUV3",
            "report 2",
            "report (2023)",
            "2023-01-05 report",
            "x.7z",
            "vacation",
            "a.mp4",
        ] {
            assert_eq!(NameRank::of(name), NameRank::default(), "{name}");
        }
    }

    #[test]
    fn higher_versions_come_first() {
        assert_order(&["report_v10.docx", "report_v9.docx", "report.docx"]);
        assert_order(&["a v1.10", "a v1.9.3", "a v1.9", "a v1", "a"]);
        assert_order(&["p0847r7.md", "p0847r6.md"]);
        assert_order(&["report_v3_final.docx", "report_v2_final.docx", "report_v10.docx"]);
        assert_order(&["draft 3", "draft 2", "draft"]);
        assert_order(&["a-Entwurf4.odt", "a-Entwurf3.odt"]);
        assert_order(&["规定第3版", "规定第2版", "规定"]);
        assert_order(&["a v99999999999.txt", "a v2.txt"]);
        assert_eq!(NameRank::of("draft 2023"), NameRank::of("draft 05.01.2023"));
        assert_eq!(NameRank::of("x_v1.7z").version, [1, 0, 0]);
        assert_eq!(NameRank::of("report.v2").version, [2, 0, 0]);
    }

    #[test]
    fn dates_are_not_versions() {
        for (a, b) in [
            ("draft_0930.txt", "draft_1201.txt"),
            ("최종_0512", "최종_1130"),
            ("draft 12 March 2023", "draft 3 April 2023"),
            ("minutes final 5 May", "minutes final"),
            ("报告最终版_5月3日", "报告最终版"),
            ("a_最终报告5.docx", "a_最终报告.docx"),
        ] {
            assert_eq!(NameRank::of(a), NameRank::of(b), "{a}");
        }
        assert_order(&["报告定稿2.docx", "报告定稿.docx"]);
    }

    #[test]
    fn marks_add_up() {
        assert_order(&["final draft", "draft", "draft (2)", "draft old"]);
        assert_order(&["report final", "report", "report final (2)", "report (2)"]);
        assert_order(&["报告最终版", "报告最终版副本"]);
        assert_eq!(NameRank::of("not final"), NameRank::of("draft"));
        assert_eq!(NameRank::of("未定稿"), NameRank::of("draft"));
    }

    #[test]
    fn spelling_does_not_matter() {
        for (a, b) in [
            ("de\u{301}finitif", "DÉFINITIF"),
            ("コヒ\u{309a}ー", "コピー"),
            ("报告（２）", "报告(2)"),
            ("reportFinal", "report_final"),
            ("reportFINALVersion2", "report final version 2"),
            ("folder/old/a.txt", "a.txt"),
            ("C:\\draft\\a.txt", "a.txt"),
            ("draft r\\xE9sum\\xE9.txt", "draft resume.txt"),
            ("draft a\\x5Cb.txt", "draft b.txt"),
            (
                "\u{1107}\u{1169}\u{1100}\u{1169}\u{1109}\u{1165} \
                 \u{110e}\u{116c}\u{110c}\u{1169}\u{11bc}.txt",
                "보고서 최종.txt",
            ),
            (
                "\u{1107}\u{1169}\u{1100}\u{1169}\u{1109}\u{1165} \
                 \u{1109}\u{1161}\u{1107}\u{1169}\u{11ab}.txt",
                "보고서 사본.txt",
            ),
        ] {
            assert_eq!(NameRank::of(a), NameRank::of(b), "{a}");
        }
    }

    #[test]
    fn any_name_has_a_rank() {
        for name in ["", "/", ".", "(1)", "()", ".gitignore", "~", "v", "\u{301}", "第版", "a/"] {
            assert_eq!(NameRank::of(name).version, [0; 3], "{name}");
        }
    }
}
