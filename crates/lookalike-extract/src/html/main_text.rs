//! Which blocks of a page are its main text.
//!
//! What a page says about its parts comes first: `main` and `article`, `nav` and `footer`, roles,
//! then names of classes. Where there is no `main`, blocks are told apart by shallow features as in
//! Kohlschütter, Fankhauser, Nejdl: Boilerplate Detection using Shallow Text Features (WSDM 2010):
//! the share of a block that is in links, its length, and the same of its neighbours. As in
//! Pomikálek: Removing Boilerplate and Duplicate Content from Web Corpora (2011), short blocks go
//! with the long ones they touch. Lengths are in bytes, so that languages without blanks between
//! words are treated alike.

use super::text::{Block, RegionKind, Text};

/// Less is no main text; the next broader choice is taken.
const LEAST: usize = 60;
/// Bytes outside of links, some 15 words, from which on a block is text.
const LONG: usize = 90;
/// So many blocks of links within text belong to it.
const FEW_LINKS: usize = 3;
/// Bytes of the foot of a page at most.
const FOOT: usize = 1000;
/// The text that is found must be this part, one in so many, of what is not in links.
const SHARE: usize = 3;

/// What a region turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Main,
    Article,
    Open,
    Contents,
    Around,
    Hidden,
    Inert,
}

impl Place {
    fn is_around(self) -> bool {
        matches!(self, Self::Around | Self::Hidden | Self::Inert)
    }
}

/// What a block is by its features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Long,
    Short,
    Links,
}

/// A page whose regions are judged.
struct Page<'a> {
    text: &'a Text,
    places: Vec<Place>,
}

/// The blocks that are seen, or of these the main ones: for each whether it is chosen; nothing
/// where that is all of them. Deterministic, and linear in the number of blocks.
pub(super) fn choose(text: &Text, main: bool) -> Option<Vec<bool>> {
    if text.regions.len() == 1 && !main {
        return None;
    }
    let page = Page { text, places: places(text) };
    let mut seen = page.chosen(|place| !matches!(place, Place::Hidden | Place::Inert));
    if page.size(&seen) == 0 {
        // All of it waits for a script.
        seen = page.chosen(|place| place != Place::Inert);
    }
    Some(if main { page.main(seen) } else { seen })
}

impl Page<'_> {
    fn chosen(&self, fits: impl Fn(Place) -> bool) -> Vec<bool> {
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

    /// Bytes of them outside of links.
    fn plain_size(&self, chosen: &[bool]) -> usize {
        (0..chosen.len()).filter(|block| chosen[*block]).map(|block| self.plain(block)).sum()
    }

    /// From narrow to broad, the first that is something.
    fn main(&self, seen: Vec<bool>) -> Vec<bool> {
        let main = self.chosen(|place| place == Place::Main);
        if self.size(&main) >= LEAST {
            return main;
        }
        let open = self.chosen(|place| !place.is_around());
        let articles = self.chosen(|place| place == Place::Article);
        let plain = self.plain_size(&open);
        if self.size(&articles) >= LEAST && self.plain_size(&articles) * 2 >= plain {
            return articles;
        }
        let dense = self.dense(&open);
        if self.size(&dense) >= LEAST && self.plain_size(&dense) * SHARE >= plain {
            return dense;
        }
        if self.size(&open) >= LEAST { open } else { seen }
    }

    fn class(&self, block: usize) -> Class {
        let Block { links, region, .. } = self.text.blocks[block];
        let is_contents = self.places[usize::from(region)] == Place::Contents;
        if links as usize * 2 > self.length(block) && !is_contents {
            Class::Links
        } else if self.plain(block) >= LONG || self.text.blocks[block].verbatim {
            Class::Long
        } else {
            Class::Short
        }
    }

    /// Of some blocks the long ones, and what belongs to them: short blocks next to them with
    /// nothing but such between, and between two of them few blocks of links. Not the foot.
    fn dense(&self, among: &[bool]) -> Vec<bool> {
        let mut blocks: Vec<usize> = (0..among.len()).filter(|block| among[*block]).collect();
        blocks.truncate(self.foot(&blocks));
        let classes: Vec<Class> = blocks.iter().map(|block| self.class(*block)).collect();
        let mut chosen = vec![false; among.len()];
        let mut at = 0;
        while at < blocks.len() {
            if classes[at] == Class::Long {
                chosen[blocks[at]] = true;
                at += 1;
                continue;
            }
            let run = classes[at..].iter().take_while(|class| **class != Class::Long).count();
            let (before, after) = (at > 0, at + run < blocks.len());
            let kept = kept(&classes[at..at + run], before, after);
            for (block, kept) in blocks[at..at + run].iter().zip(kept) {
                chosen[*block] = kept;
            }
            at += run;
        }
        chosen
    }

    /// Where the foot of a page begins that says whose it is: near the end, and less than half of
    /// what is before.
    fn foot(&self, blocks: &[usize]) -> usize {
        let all: usize = blocks.iter().map(|block| self.length(*block)).sum();
        let mut behind = 0;
        for (at, block) in blocks.iter().enumerate().rev() {
            behind += self.length(*block);
            if behind > FOOT || behind * 3 > all {
                break;
            }
            if self.is_copyright(*block) {
                return at;
            }
        }
        blocks.len()
    }

    /// Whether a block is the line that says whose the page is.
    fn is_copyright(&self, block: usize) -> bool {
        let bytes = &self.text.bytes[self.text.blocks[block].start..self.text.end_of(block)];
        let words = bytes.trim_ascii_start();
        words.starts_with("©".as_bytes())
            || words.get(..9).is_some_and(|word| word.eq_ignore_ascii_case(b"copyright"))
    }
}

/// Which of a run of short blocks and links belong to the text before and after it.
fn kept(run: &[Class], before: bool, after: bool) -> impl Iterator<Item = bool> {
    let links = run.iter().filter(|class| **class == Class::Links).count();
    let all = links == 0 || (before && after && links <= FEW_LINKS);
    let first = run.iter().position(|class| *class == Class::Links).unwrap_or(run.len());
    let last = run.iter().rposition(|class| *class == Class::Links).map_or(0, |last| last + 1);
    (0..run.len()).map(move |at| {
        (before || after) && (all || (before && at < first) || (after && at >= last))
    })
}

/// What every region is, in the light of what it holds. One that claims to be of no interest is not
/// believed if it holds most of the text outside of links, unless it is sure where it ends.
fn places(text: &Text) -> Vec<Place> {
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
    let mut places: Vec<Place> = Vec::with_capacity(text.regions.len());
    for (number, region) in text.regions.iter().enumerate() {
        let parent = places.get(usize::from(region.parent)).copied().unwrap_or(Place::Open);
        let small = plain[number] * 2 < seen;
        let unknown = matches!(parent, Place::Open | Place::Contents);
        let place = match region.kind {
            _ if matches!(parent, Place::Hidden | Place::Inert) => parent,
            RegionKind::Inert if region.ended || small => Place::Inert,
            RegionKind::Hidden if region.ended || small => Place::Hidden,
            RegionKind::Around if region.ended || small => Place::Around,
            RegionKind::PerhapsAround if small => Place::Around,
            RegionKind::Main => Place::Main,
            RegionKind::PerhapsMain if unknown && !small => Place::Main,
            RegionKind::Article if unknown => Place::Article,
            RegionKind::Contents if unknown => Place::Contents,
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
        use Class::{Links, Short};
        let kept = |run: &[Class], before, after| {
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
