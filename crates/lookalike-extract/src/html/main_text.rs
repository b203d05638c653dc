//! Selects the blocks of a page that are its main text.
//!
//! Used instead of a port of Readability, which needs a tree of the page without a limit on depth
//! and memory. For 32 of 848 pages, the port `dom_smoothie` selects only the copyright notice, so
//! that 184 pairs of different pages become near-duplicates. This module produces 15 such pairs
//! (November 2026, `contributing/libraries.md`).
//!
//! Declarations of the page come first: `main` and `article`, `nav` and `footer`, roles, then names
//! of classes. Without `main`, blocks are classified by shallow features as in Kohlschütter,
//! Fankhauser, Nejdl: Boilerplate Detection using Shallow Text Features (WSDM 2010): a block's
//! share of link text, its length, and both features of its neighbours. As in Pomikálek: Removing
//! Boilerplate and Duplicate Content from Web Corpora (2011), short blocks are classified like
//! adjacent long ones. Lengths are in bytes, so that languages without blanks between words are
//! treated alike.

use super::page_text::{PageText, RegionKind, TextBlock};

/// Minimum bytes of a main text; below it, the next broader selection is used.
const MIN_BYTES: usize = 60;
/// Minimum bytes outside links, about 15 words, of a long block.
const LONG: usize = 90;
/// Maximum link blocks between two long blocks. If there are more, none of these link blocks
/// belongs to the text.
const FEW_LINKS: usize = 3;
/// Maximum bytes of the foot of a page.
const FOOT: usize = 1000;
/// The selected text must be at least 1/`SHARE` of the text outside links.
const SHARE: usize = 3;

/// The final classification of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RegionRole {
    Main,
    Article,
    Open,
    Contents,
    Around,
    Hidden,
    Inert,
}

impl RegionRole {
    fn is_around(self) -> bool {
        matches!(self, Self::Around | Self::Hidden | Self::Inert)
    }
}

/// The class of a block by its features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockClass {
    Long,
    Short,
    Links,
}

/// A page with its classified regions.
struct RegionAnalysis<'a> {
    text: &'a PageText,
    places: Vec<RegionRole>,
}

/// Selects the visible blocks, or only the main text if `main` is set. Returns a flag per block, or
/// `None` for all blocks. Deterministic, and linear in the number of blocks.
pub(super) fn choose(text: &PageText, main: bool) -> Option<Vec<bool>> {
    if text.regions.len() == 1 && !main {
        return None;
    }
    let page = RegionAnalysis { text, places: places(text) };
    let mut seen = page.chosen(|place| !matches!(place, RegionRole::Hidden | RegionRole::Inert));
    if page.size(&seen) == 0 {
        // The whole page is hidden until a script shows it.
        seen = page.chosen(|place| place != RegionRole::Inert);
    }
    Some(if main { page.main(seen) } else { seen })
}

impl RegionAnalysis<'_> {
    fn chosen(&self, fits: impl Fn(RegionRole) -> bool) -> Vec<bool> {
        self.text.blocks.iter().map(|b| fits(self.places[usize::from(b.region)])).collect()
    }

    fn length(&self, block: usize) -> usize {
        self.text.end_of(block) - self.text.blocks[block].start
    }

    fn plain(&self, block: usize) -> usize {
        self.length(block).saturating_sub(self.text.blocks[block].links as usize)
    }

    /// Bytes of the chosen blocks.
    fn size(&self, chosen: &[bool]) -> usize {
        (0..chosen.len()).filter(|block| chosen[*block]).map(|block| self.length(block)).sum()
    }

    /// Bytes of the chosen blocks outside links.
    fn plain_size(&self, chosen: &[bool]) -> usize {
        (0..chosen.len()).filter(|block| chosen[*block]).map(|block| self.plain(block)).sum()
    }

    /// The narrowest selection with enough text.
    fn main(&self, seen: Vec<bool>) -> Vec<bool> {
        let main = self.chosen(|place| place == RegionRole::Main);
        if self.size(&main) >= MIN_BYTES {
            return main;
        }
        let open = self.chosen(|place| !place.is_around());
        let articles = self.chosen(|place| place == RegionRole::Article);
        let plain = self.plain_size(&open);
        if self.size(&articles) >= MIN_BYTES && self.plain_size(&articles) * 2 >= plain {
            return articles;
        }
        let dense = self.dense(&open);
        if self.size(&dense) >= MIN_BYTES && self.plain_size(&dense) * SHARE >= plain {
            return dense;
        }
        if self.size(&open) >= MIN_BYTES { open } else { seen }
    }

    fn class(&self, block: usize) -> BlockClass {
        let TextBlock { links, region, .. } = self.text.blocks[block];
        let is_contents = self.places[usize::from(region)] == RegionRole::Contents;
        if links as usize * 2 > self.length(block) && !is_contents {
            BlockClass::Links
        } else if self.plain(block) >= LONG || self.text.blocks[block].verbatim {
            BlockClass::Long
        } else {
            BlockClass::Short
        }
    }

    /// Selects from `among` the long blocks and adjacent runs of short blocks. Also selects the
    /// link blocks between two long blocks, if there are at most [`FEW_LINKS`]. Excludes the foot.
    fn dense(&self, among: &[bool]) -> Vec<bool> {
        let mut blocks: Vec<usize> = (0..among.len()).filter(|block| among[*block]).collect();
        blocks.truncate(self.foot(&blocks));
        let classes: Vec<BlockClass> = blocks.iter().map(|block| self.class(*block)).collect();
        let mut chosen = vec![false; among.len()];
        let mut at = 0;
        while at < blocks.len() {
            if classes[at] == BlockClass::Long {
                chosen[blocks[at]] = true;
                at += 1;
                continue;
            }
            let run = classes[at..].iter().take_while(|class| **class != BlockClass::Long).count();
            let before = at > 0;
            let after = at + run < blocks.len();
            let kept = kept(&classes[at..at + run], before, after);
            for (block, kept) in blocks[at..at + run].iter().zip(kept) {
                chosen[*block] = kept;
            }
            at += run;
        }
        chosen
    }

    /// Start of the foot. It begins with a copyright line near the end, and is at most half as long
    /// as the text before it.
    fn foot(&self, blocks: &[usize]) -> usize {
        let all: usize = blocks.iter().map(|block| self.length(*block)).sum();
        let mut following = 0;
        for (at, block) in blocks.iter().enumerate().rev() {
            following += self.length(*block);
            if following > FOOT || following * 3 > all {
                break;
            }
            if self.is_copyright(*block) {
                return at;
            }
        }
        blocks.len()
    }

    /// Whether a block is a copyright line.
    fn is_copyright(&self, block: usize) -> bool {
        let bytes = &self.text.bytes[self.text.blocks[block].start..self.text.end_of(block)];
        let words = bytes.trim_ascii_start();
        words.starts_with("©".as_bytes())
            || words.get(..9).is_some_and(|word| word.eq_ignore_ascii_case(b"copyright"))
    }
}

/// Selects from a run of short blocks and link blocks those that belong to the surrounding text.
fn kept(run: &[BlockClass], before: bool, after: bool) -> impl Iterator<Item = bool> {
    let links = run.iter().filter(|class| **class == BlockClass::Links).count();
    let all = links == 0 || (before && after && links <= FEW_LINKS);
    let first = run.iter().position(|class| *class == BlockClass::Links).unwrap_or(run.len());
    let last = run.iter().rposition(|class| *class == BlockClass::Links).map_or(0, |last| last + 1);
    (0..run.len()).map(move |at| {
        (before || after) && (all || (before && at < first) || (after && at >= last))
    })
}

/// Classifies every region by its kind and content. A boilerplate region that contains most of the
/// text outside links is treated as text, unless an end tag closes it.
fn places(text: &PageText) -> Vec<RegionRole> {
    let mut plain = vec![0usize; text.regions.len()];
    for (number, block) in text.blocks.iter().enumerate() {
        let length = text.end_of(number) - block.start;
        plain[usize::from(block.region)] += length.saturating_sub(block.links as usize);
    }
    let mut seen = 0;
    for number in (1..text.regions.len()).rev() {
        let region = text.regions[number];
        let unseen = matches!(region.kind, RegionKind::Inert | RegionKind::Hidden) && region.ended;
        if unseen {
            plain[number] = 0;
        }
        plain[usize::from(region.parent)] += plain[number];
        seen = plain[0];
    }
    let mut places: Vec<RegionRole> = Vec::with_capacity(text.regions.len());
    for (number, region) in text.regions.iter().enumerate() {
        let parent = places.get(usize::from(region.parent)).copied().unwrap_or(RegionRole::Open);
        let small = plain[number] * 2 < seen;
        let unknown = matches!(parent, RegionRole::Open | RegionRole::Contents);
        let place = match region.kind {
            _ if matches!(parent, RegionRole::Hidden | RegionRole::Inert) => parent,
            RegionKind::Inert if region.ended || small => RegionRole::Inert,
            RegionKind::Hidden if region.ended || small => RegionRole::Hidden,
            RegionKind::Around if region.ended || small => RegionRole::Around,
            RegionKind::PerhapsAround if small => RegionRole::Around,
            RegionKind::Main => RegionRole::Main,
            RegionKind::PerhapsMain if unknown && !small => RegionRole::Main,
            RegionKind::Article if unknown => RegionRole::Article,
            RegionKind::Contents if unknown => RegionRole::Contents,
            _ => parent,
        };
        places.push(place);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_go_with_their_neighbours() {
        use BlockClass::{Links, Short};
        let kept = |run: &[BlockClass], before, after| {
            kept(run, before, after).map(|kept| if kept { '+' } else { '-' }).collect::<String>()
        };
        assert_eq!(kept(&[Short, Short], true, false), "++");
        assert_eq!(kept(&[Short, Short], false, false), "--");
        assert_eq!(kept(&[Short, Links, Short], false, true), "--+");
        assert_eq!(kept(&[Short, Links, Short], true, false), "+--");
        assert_eq!(kept(&[Short, Links, Short], true, true), "+++");
        assert_eq!(kept(&[Short, Links, Links, Links, Links, Short], true, true), "+----+");
        assert_eq!(kept(&[], true, true), "");
    }
}
