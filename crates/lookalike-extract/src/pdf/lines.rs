//! Assembles positioned glyphs into words and lines.
//!
//! Text stays in file order, because nearly all programs write it in reading order. A gap along the
//! line separates words, and a step across the line separates lines. Only lines of right-to-left
//! scripts, which files store in visual order, are reordered.

use super::accents;
use icu_normalizer::ComposingNormalizerBorrowed;

/// Minimum gap between words, in ems.
pub(super) const WORD_GAP: f64 = 0.1;
/// Maximum step back to place an accent on a letter, in ems.
const STEP_BACK: f64 = 1.0;
/// Minimum step across the line that begins a new line, in ems.
const LINE_STEP: f64 = 0.6;

/// Start or end of a string on the page, its direction as a unit vector, and its em.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextPosition {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) direction: (f64, f64),
    pub(super) em: f64,
}

/// A segment of a line: its range in the text, and its extent along the line.
#[derive(Debug, Clone, Copy)]
struct LineSegment {
    from: usize,
    to: usize,
    start: f64,
    end: f64,
    em: f64,
}

/// Writes positioned strings as lines.
pub(super) struct LineWriter<'a> {
    pub(super) out: &'a mut String,
    last: Option<TextPosition>,
    /// Position and offset in the text of the last string.
    last_string: Option<(TextPosition, usize)>,
    /// Length of the text before the current string.
    before: usize,
    line: usize,
    pieces: Vec<LineSegment>,
    /// Ranges of glyphs that represent several characters.
    joined: Vec<(usize, usize)>,
    right_to_left: bool,
    /// The accent to combine with the next letter.
    accent: Option<char>,
    /// Number of strings.
    pub(super) strings: u64,
}

impl<'a> LineWriter<'a> {
    pub(super) fn new(out: &'a mut String) -> Self {
        let line = out.len();
        Self {
            out,
            last: None,
            last_string: None,
            before: line,
            line,
            pieces: Vec::new(),
            joined: Vec::new(),
            right_to_left: false,
            accent: None,
            strings: 0,
        }
    }

    /// Begins a string.
    pub(super) fn begin(&mut self, place: TextPosition) {
        self.strings += 1;
        self.before = self.out.len();
        let mut is_backward = false;
        if let Some(last) = self.last {
            let dx = place.x - last.x;
            let dy = place.y - last.y;
            let is_turned =
                last.direction.0 * place.direction.0 + last.direction.1 * place.direction.1 < 0.7;
            let advance = dx * last.direction.0 + dy * last.direction.1;
            let offset = (dx * last.direction.1 - dy * last.direction.0).abs();
            let em = last.em.max(place.em);
            if is_turned || offset > LINE_STEP * em {
                self.end_line();
                self.before = self.out.len();
            } else if advance > WORD_GAP * last.em.min(place.em) || advance < -STEP_BACK * em {
                self.space();
            }
            is_backward = !is_turned && advance < -WORD_GAP * em && offset < LINE_STEP * em;
        }
        self.last = Some(place);
        self.accent = None;
        if is_backward && self.out.len() == self.before {
            self.step_back();
        }
    }

    /// Steps back along the line. After an accent, the next letter combines with it.
    pub(super) fn step_back(&mut self) {
        let last = self.out.get(self.line..).and_then(|line| line.chars().next_back());
        self.accent = last.and_then(accents::combining);
    }

    /// Separates words.
    pub(super) fn space(&mut self) {
        if self.out.len() > self.line && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
    }

    /// The start of the text of the next glyph.
    pub(super) fn mark(&self) -> usize {
        self.out.len()
    }

    /// Normalizes the text of one glyph, written since the mark.
    pub(super) fn glyph(&mut self, mark: usize) {
        if let Some(accent) = self.accent.take()
            && self.accented(accent, mark)
        {
            return;
        }
        let Some(text) = self.out.get(mark..) else { return };
        let first = text.as_bytes().first().copied().unwrap_or(b' ');
        if (0x21..0x7f).contains(&first) && text.len() == 1 {
            return;
        }
        if text.chars().all(|c| c.is_whitespace() || c.is_control()) {
            let blank = text.chars().any(char::is_whitespace);
            self.out.truncate(mark);
            if blank {
                self.space();
            }
            return;
        }
        if let Some(spelled) = spelled(text) {
            self.out.truncate(mark);
            self.out.push_str(&spelled);
        }
        let Some(text) = self.out.get(mark..) else { return };
        self.right_to_left |= text.chars().any(is_right_to_left);
        if text.chars().nth(1).is_some() {
            self.joined.push((mark, self.out.len()));
        }
    }

    /// Combines the accent before the mark with the letter after it. Returns false if no single
    /// letter follows.
    fn accented(&mut self, accent: char, mark: usize) -> bool {
        let mut letters = self.out.get(mark..).unwrap_or_default().chars();
        let letter = letters.next();
        let more = letters.next();
        let Some(letter) = letter.filter(|letter| letter.is_alphabetic() && more.is_none()) else {
            return false;
        };
        let before = self.out.get(..mark).and_then(|text| text.chars().next_back());
        let from = mark - before.map_or(0, char::len_utf8);
        self.out.truncate(from);
        accents::append(letter, accent, self.out);
        // The accent is part of the current string.
        self.last_string = None;
        if let Some(piece) = self.pieces.last_mut() {
            piece.to = self.out.len();
        }
        true
    }

    /// Ends a string that began at `start`, whose text begins at `mark`. A string that is drawn
    /// twice at the same place, to be bold or to have a shadow, counts once.
    pub(super) fn end(&mut self, start: TextPosition, mark: usize, end: TextPosition) {
        self.last = Some(end);
        if mark >= self.out.len() {
            return;
        }
        if let Some((before, from)) = self.last_string
            && from < mark
            && (before.x - start.x).abs() + (before.y - start.y).abs() < 0.2 * start.em
            && self.out.get(from..mark).map(str::trim_end)
                == self.out.get(mark..).map(str::trim_end)
        {
            self.out.truncate(self.before.min(mark));
            return;
        }
        self.last_string = Some((start, mark));
        let position =
            |place: TextPosition| place.x * start.direction.0 + place.y * start.direction.1;
        let begin = position(start);
        let end = position(end);
        // A letter combined with an accent belongs to the preceding segment.
        let from = self.pieces.last().map_or(mark, |piece| piece.to.max(mark));
        let to = self.out.len();
        self.pieces.push(LineSegment { from, to, start: begin, end, em: start.em });
    }

    /// Ends a line.
    pub(super) fn end_line(&mut self) {
        if self.right_to_left {
            self.reorder();
        }
        self.pieces.clear();
        self.joined.clear();
        self.right_to_left = false;
        self.last_string = None;
        self.last = None;
        let end = self.out.trim_end_matches(' ').len().max(self.line);
        self.out.truncate(end);
        if self.out.len() > self.line {
            self.out.push('\n');
        }
        self.line = self.out.len();
    }

    /// Converts a line from visual to logical order.
    fn reorder(&mut self) {
        self.pieces.sort_by(|a, b| a.start.total_cmp(&b.start));
        let mut seen: Vec<&str> = Vec::new();
        let mut reach = f64::INFINITY;
        for piece in &self.pieces {
            if piece.start - reach > WORD_GAP * piece.em {
                seen.push(" ");
            }
            reach = piece.end;
            let mut at = piece.from;
            while let Some(rest) = self.out.get(at..piece.to).filter(|rest| !rest.is_empty()) {
                let found = self.joined.binary_search_by_key(&at, |joined| joined.0);
                let length = match found {
                    Ok(index) => self.joined[index].1.min(piece.to) - at,
                    Err(_) => rest.chars().next().map_or(rest.len(), char::len_utf8),
                };
                let Some(glyph) = rest.get(..length) else { break };
                seen.push(glyph);
                at += length;
            }
        }
        let line = logical(&mut seen);
        self.out.truncate(self.line);
        self.out.push_str(&line);
    }
}

/// Converts glyphs in left-to-right order to logical order. This is a simple form of the
/// bidirectional algorithm: neutral glyphs between two glyphs of one direction take that direction,
/// and the line has the direction of most of its glyphs.
fn logical(seen: &mut [&str]) -> String {
    let right = |glyph: &&str| glyph.chars().any(is_right_to_left);
    let bytes_left = |glyph: &&str| !right(glyph) && glyph.chars().any(char::is_alphanumeric);
    let rights = seen.iter().filter(|g| right(g)).count();
    let lefts = seen.iter().filter(|g| bytes_left(g)).count();
    let from_right = rights >= lefts;
    if from_right {
        seen.reverse();
    }
    // Reverses runs of the other direction.
    let mut at = 0;
    while at < seen.len() {
        let other = |glyph: &&str| if from_right { bytes_left(glyph) } else { right(glyph) };
        let same = |glyph: &&str| if from_right { right(glyph) } else { bytes_left(glyph) };
        if !other(&seen[at]) {
            at += 1;
            continue;
        }
        let stop = seen[at..].iter().position(same).map_or(seen.len(), |n| at + n);
        let end = seen[at..stop].iter().rposition(other).map_or(at + 1, |n| at + n + 1);
        seen[at..end].reverse();
        at = end;
    }
    seen.concat()
}

/// Hebrew, Arabic, Syriac, Thaana, N'Ko and their forms.
fn is_right_to_left(char: char) -> bool {
    matches!(char,
        '\u{590}'..='\u{65f}' | '\u{66d}'..='\u{6ef}' | '\u{6fa}'..='\u{8ff}'
        | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Expands Latin ligatures and removes control characters; `None` if there are none.
fn spelled(text: &str) -> Option<String> {
    let unusual = |c: char| matches!(c, '\u{fb00}'..='\u{fb06}') || c.is_control();
    if !text.contains(unusual) {
        return None;
    }
    let spelled = ComposingNormalizerBorrowed::new_nfkc();
    let mut out = String::new();
    for char in text.chars().filter(|char| !char.is_control()) {
        match char {
            '\u{fb00}'..='\u{fb06}' => out.extend(spelled.normalize_iter(std::iter::once(char))),
            char => out.push(char),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(x: f64, y: f64) -> TextPosition {
        TextPosition { x, y, direction: (1.0, 0.0), em: 10.0 }
    }

    /// Strings with their position and width, as lines.
    fn lines(strings: &[(f64, f64, f64, &str)]) -> String {
        let mut out = String::new();
        let mut lines = LineWriter::new(&mut out);
        for &(x, y, width, text) in strings {
            lines.begin(place(x, y));
            let mark = lines.mark();
            for char in text.chars() {
                let glyph = lines.mark();
                lines.out.push(char);
                lines.glyph(glyph);
            }
            lines.end(place(x, y), mark, place(x + width, y));
        }
        lines.end_line();
        out
    }

    #[test]
    fn gaps_split_words_steps_split_lines() {
        let strings =
            [(0., 0., 20., "wo"), (20.5, 0., 20., "rd"), (42., 3., 5., "2"), (0., -12., 9., "x ")];
        assert_eq!(lines(&strings), "word 2\nx\n");
        assert_eq!(lines(&[(0., 0., 5., "e"), (1., 0., 4., "\u{b4}")]), "e\u{b4}\n");
        let accented = [(0., 0., 5., "N\u{b4}"), (2., -1., 9., "um "), (15., 0., 9., "\u{b4}x")];
        assert_eq!(lines(&accented), "N\u{fa}m \u{b4}x\n");
        assert_eq!(lines(&[(50., 0., 5., "b"), (0., 0., 4., "a")]), "b a\n");
    }

    #[test]
    fn overdrawn_text_counts_once() {
        let strings = [(0., 0., 20., "bold"), (0.3, 0., 20., "bold"), (21., 0., 20., "bold")];
        assert_eq!(lines(&strings), "boldbold\n");
        assert_eq!(lines(&[(0., 0., 20., "bold"), (30., 0., 20., "bold")]), "bold bold\n");
    }

    #[test]
    fn ligatures_are_spelled() {
        assert_eq!(lines(&[(0., 0., 20., "o\u{fb03}ce \u{fb01}\0t")]), "office fit\n");
    }

    #[test]
    fn right_to_left_lines_are_reordered() {
        // As seen: DROW 12 OLLEH, with capitals for Hebrew letters.
        let seen = [(0., 0., 30., "דגבא"), (35., 0., 10., "12"), (50., 0., 30., "זוה")];
        assert_eq!(lines(&seen), "הוז 12 אבגד\n");
        let seen = [(0., 0., 30., "word"), (35., 0., 10., "בא"), (50., 0., 30., "more words")];
        assert_eq!(lines(&seen), "word אב more words\n");
        // Glyph by glyph from the right.
        let seen = [(20., 0., 10., "א"), (10., 0., 10., "ב"), (-5., 0., 10., "ג")];
        assert_eq!(lines(&seen), "אב ג\n");
    }
}
