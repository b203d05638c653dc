//! Groups among the documents of an index: every duplicate resembles its keeper.

use lookalike::store::entry::Wanted;
use lookalike::store::query::{self, Probe, Question, Scratch, Similarity};
use lookalike::store::{Index, IndexError, set};
use std::collections::HashSet;

/// A document of a group.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) number: u64,
    pub(crate) id: String,
    pub(crate) bytes: u64,
}

/// A group.
#[derive(Debug)]
pub(crate) struct Star {
    pub(crate) keeper: Member,
    /// The most similar first.
    pub(crate) duplicates: Vec<(Member, Similarity)>,
}

/// All groups at one moment, the largest first.
#[derive(Debug)]
pub(crate) struct Stars {
    pub(crate) groups: Vec<Star>,
    pub(crate) duplicates: u64,
    pub(crate) documents: u64,
    pub(crate) version: u64,
}

/// Finds them: documents in the order of their length, the longest first, then by id; each that is
/// no duplicate keeps what resembles it.
pub(crate) fn find(index: &Index, threshold: f64, now: i64) -> Result<Stars, IndexError> {
    let mut snapshot = index.snapshot()?;
    let version = snapshot.version();
    let (mut all, mut from) = (Vec::new(), 0);
    while snapshot.scan(from, 1_000, Wanted::default(), &mut |record| {
        from = record.number.saturating_add(1);
        if !record.is_expired(now) {
            let (number, bytes) = (record.number, record.bytes);
            all.push(Member { number, id: record.id.clone(), bytes });
        }
        Ok(())
    })? > 0
    {}
    all.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.id.cmp(&b.id)));
    let documents = all.len() as u64;
    let (mut scratch, mut own) = (Scratch::default(), Vec::new());
    let (mut taken, mut groups) = (HashSet::new(), Vec::new());
    let wanted = Wanted { set: true, signature: true, ..Wanted::default() };
    for keeper in all {
        if taken.contains(&keeper.number) {
            continue;
        }
        let mut probe = None;
        snapshot.records(&[keeper.number], wanted, &mut |record| {
            probe = Some(record.clone());
            Ok(())
        })?;
        let Some(record) = probe else { continue };
        own.clear();
        if let Some(code) = &record.set {
            set::decode(code, &mut own)?;
        }
        let probe =
            Probe { set: &own, fingerprint: record.fingerprint, signature: &record.signature };
        let question = Question {
            threshold,
            top: None,
            filters: &[],
            now,
            except: Some(keeper.number),
            wanted: Wanted::default(),
        };
        let answer =
            query::query(&mut *snapshot, index.settings(), &probe, &question, &mut scratch)?;
        taken.insert(keeper.number);
        let matches = answer.matches.into_iter().filter(|one| taken.insert(one.record.number));
        let duplicates: Vec<_> = matches
            .map(|one| {
                let (number, bytes) = (one.record.number, one.record.bytes);
                (Member { number, id: one.record.id, bytes }, one.similarity)
            })
            .collect();
        if !duplicates.is_empty() {
            groups.push(Star { keeper, duplicates });
        }
    }
    groups.sort_by(|a, b| {
        b.duplicates.len().cmp(&a.duplicates.len()).then_with(|| a.keeper.id.cmp(&b.keeper.id))
    });
    let duplicates = groups.iter().map(|group| group.duplicates.len() as u64).sum();
    Ok(Stars { groups, duplicates, documents, version })
}
