//! The text of a page in blocks and regions.

/// Maximum blocks. Further blocks are joined, so that memory is a small multiple of the page size.
const MAX_BLOCKS: usize = 1 << 22;
/// Maximum regions. Further regions count as part of the enclosing region.
const MAX_REGIONS: usize = u16::MAX as usize;
/// Bytes that are searched for white space at once.
const CHUNK_BYTES: usize = 32;

/// The separator between two pieces of text; the greatest wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    None,
    Blank,
    Tab,
    Line,
}

/// The declared kind of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RegionKind {
    /// The page.
    Whole,
    Main,
    Article,
    /// Boilerplate by element or role: `nav`, `role=banner`.
    Around,
    /// Boilerplate by class or id, which may be wrong.
    PerhapsAround,
    /// The main text by class or id.
    PerhapsMain,
    /// A table of contents.
    Contents,
    /// Hidden unless a script shows it.
    Hidden,
    /// Not rendered: `template`, `svg`.
    Inert,
}

/// A region of a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Region {
    pub(super) kind: RegionKind,
    /// The enclosing region; the page encloses itself.
    pub(super) parent: u16,
    /// Whether an end tag, or a tag that implies it, ended the region.
    pub(super) ended: bool,
}

/// A block of text, which extends to the start of the next block.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextBlock {
    /// Start in the text, including the gap before it.
    pub(super) start: usize,
    /// Bytes in links.
    pub(super) links: u32,
    pub(super) region: u16,
    /// Whether it is preformatted (`pre`).
    pub(super) verbatim: bool,
}

/// The text of a page, its blocks and regions.
#[derive(Debug)]
pub(super) struct PageText {
    pub(super) bytes: Vec<u8>,
    pub(super) blocks: Vec<TextBlock>,
    pub(super) regions: Vec<Region>,
    gap: Gap,
    /// Whether the next text begins a block.
    cut: bool,
    region: u16,
}

impl PageText {
    pub(super) fn new() -> Self {
        let whole = Region { kind: RegionKind::Whole, parent: 0, ended: true };
        Self {
            bytes: Vec::new(),
            blocks: Vec::new(),
            regions: vec![whole],
            gap: Gap::None,
            cut: true,
            region: 0,
        }
    }

    /// Separates the next text by at least `gap`.
    #[inline]
    pub(super) fn gap(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
        self.cut |= gap >= Gap::Tab;
    }

    /// Ends a line. Two calls in a row end the block.
    pub(super) fn line_break(&mut self) {
        self.cut |= self.gap == Gap::Line;
        self.gap = Gap::Line;
    }

    /// Begins a region in the current one. Returns its number, unless there are too many.
    pub(super) fn open_region(&mut self, kind: RegionKind) -> Option<u16> {
        if self.regions.len() >= MAX_REGIONS {
            return None;
        }
        self.region_changes();
        let number = self.regions.len() as u16;
        self.regions.push(Region { kind, parent: self.region, ended: false });
        self.region = number;
        Some(number)
    }

    /// Returns to the enclosing region.
    pub(super) fn close_region(&mut self, ended: bool) {
        self.region_changes();
        let region = &mut self.regions[usize::from(self.region)];
        region.ended = ended;
        self.region = region.parent;
    }

    /// Inserts at least a blank, so that no word belongs to two regions.
    fn region_changes(&mut self) {
        self.gap = self.gap.max(Gap::Blank);
        self.cut = true;
    }

    /// Appends text with white space and control characters collapsed to single blanks.
    #[inline]
    pub(super) fn push(&mut self, text: &[u8], link: bool) {
        let mut rest = text;
        loop {
            let blanks = rest.iter().position(|byte| *byte > b' ').unwrap_or(rest.len());
            if blanks > 0 {
                self.gap = self.gap.max(Gap::Blank);
                rest = &rest[blanks..];
            }
            if rest.is_empty() {
                return;
            }
            let (run, after) = rest.split_at(collapsed_prefix(rest));
            self.append(run, link, false);
            rest = after;
        }
    }

    /// Appends text unchanged.
    pub(super) fn push_verbatim(&mut self, text: &[u8], link: bool) {
        // HTML ignores a line end right after the tag.
        let text = if self.cut { text.strip_prefix(b"\n").unwrap_or(text) } else { text };
        if self.cut && text.trim_ascii().is_empty() {
            return;
        }
        self.append(text, link, true);
    }

    fn append(&mut self, text: &[u8], link: bool, verbatim: bool) {
        let start = self.bytes.len();
        let gap = match std::mem::replace(&mut self.gap, Gap::None) {
            Gap::None => None,
            Gap::Blank => Some(b' '),
            Gap::Tab => Some(b'\t'),
            Gap::Line => Some(b'\n'),
        };
        if let Some(gap) = gap
            && start > 0
        {
            self.bytes.push(gap);
        }
        if std::mem::replace(&mut self.cut, false) {
            self.begin_block(start, verbatim);
        }
        self.bytes.extend_from_slice(text);
        if link && let Some(block) = self.blocks.last_mut() {
            block.links = block.links.saturating_add((self.bytes.len() - start) as u32);
        }
    }

    fn begin_block(&mut self, start: usize, verbatim: bool) {
        let region = self.region;
        let full = self.blocks.len() >= MAX_BLOCKS;
        if !full || self.blocks.last().is_none_or(|last| last.region != region) {
            self.blocks.push(TextBlock { start, links: 0, region, verbatim });
        }
    }

    /// The end of a block.
    #[inline]
    pub(super) fn end_of(&self, block: usize) -> usize {
        self.blocks.get(block + 1).map_or(self.bytes.len(), |next| next.start)
    }
}

/// Length of the prefix with single blanks between words and none at the end.
fn collapsed_prefix(text: &[u8]) -> usize {
    // Returns 1 for a byte that ends the prefix. Computes with numbers, because `&&` would branch
    // on each byte.
    let ends = |byte: u8, next: u8| {
        u8::from(byte <= b' ') & (u8::from(byte != b' ') | u8::from(next <= b' '))
    };
    let mut at = 0;
    // The compiler compares all bytes of a chunk at once.
    while let Some(chunk) = text.get(at..=at + CHUNK_BYTES)
        && chunk.iter().zip(&chunk[1..]).fold(0, |any, (byte, next)| any | ends(*byte, *next)) == 0
    {
        at += CHUNK_BYTES;
    }
    while let Some(byte) = text.get(at)
        && ends(*byte, text.get(at + 1).copied().unwrap_or_default()) == 0
    {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn white_space_becomes_single_blanks() {
        for (pieces, expected) in [
            (&["  a  b\n c ", "d"][..], "a b c d"),
            (&["a", "b"], "ab"),
            (&["a ", " b"], "a b"),
            (&["\t\r\n"], ""),
            (&["a\u{0}b\u{1f}\u{7f}"], "a b \u{7f}"),
            (&["ä ö", "\u{a0}ü"], "ä ö\u{a0}ü"),
        ] {
            let mut text = PageText::new();
            for piece in pieces {
                text.push(piece.as_bytes(), false);
            }
            assert_eq!(String::from_utf8(text.bytes).unwrap(), expected, "{pieces:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_build_the_same_text(text in "([a-c]{1,9}[ \n\t]{1,2}){0,30}") {
            let mut expected = PageText::new();
            expected.push(text.as_bytes(), false);
            let mut pieces = PageText::new();
            for piece in text.as_bytes().chunks(1) {
                pieces.push(piece, false);
            }
            prop_assert_eq!(expected.bytes, pieces.bytes);
        }
    }

    #[test]
    fn gaps_make_blocks() {
        let mut text = PageText::new();
        text.push(b"a ", false);
        text.gap(Gap::Line);
        text.gap(Gap::Tab);
        text.push(b" b", true);
        text.line_break();
        text.push(b"c", false);
        text.line_break();
        text.line_break();
        text.push(b"d", false);
        assert_eq!(text.bytes, b"a\nb\nc\nd");
        let starts: Vec<(usize, u32)> = text.blocks.iter().map(|b| (b.start, b.links)).collect();
        assert_eq!(starts, [(0, 0), (1, 2), (5, 0)]);
    }

    #[test]
    fn regions_nest() {
        let mut text = PageText::new();
        text.push(b"a", false);
        assert_eq!(text.open_region(RegionKind::Around), Some(1));
        assert_eq!(text.open_region(RegionKind::Main), Some(2));
        text.push(b"b", false);
        text.close_region(true);
        text.push(b"c", false);
        text.close_region(false);
        text.push(b"d", false);
        assert_eq!(text.bytes, b"a b c d");
        assert_eq!(text.blocks.iter().map(|b| b.region).collect::<Vec<_>>(), [0, 2, 1, 0]);
        assert!(text.regions[2].ended && !text.regions[1].ended);
    }
}
