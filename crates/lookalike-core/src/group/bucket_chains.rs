//! Members by bucket, as linked lists in one vector.

use super::membership::NONE;

/// An entry of a linked list: a member, or another number such as the index of a pair. The lists of
/// all buckets lie in one vector.
#[derive(Debug, Clone, Copy)]
pub(super) struct ListEntry {
    pub(super) entry: u32,
    pub(super) next: u32,
}

/// One list per bucket, latest first.
pub(super) struct BucketChains {
    heads: Vec<u32>,
    links: Vec<ListEntry>,
}

impl BucketChains {
    pub(super) fn new(buckets: usize) -> Self {
        Self { heads: vec![NONE; buckets], links: Vec::new() }
    }

    pub(super) fn push_all(&mut self, buckets: &[u32], entry: u32) {
        for &bucket in buckets {
            self.push(bucket, entry);
        }
    }

    pub(super) fn push(&mut self, bucket: u32, entry: u32) {
        let head = &mut self.heads[bucket as usize];
        self.links.push(ListEntry { entry, next: *head });
        *head = self.links.len() as u32 - 1;
    }

    pub(super) fn of(&self, bucket: u32) -> impl Iterator<Item = u32> {
        let mut node = self.heads[bucket as usize];
        std::iter::from_fn(move || {
            let ListEntry { entry, next } = *self.links.get(node as usize)?;
            node = next;
            Some(entry)
        })
    }
}
