//! Which documents are connected: disjoint sets, 4 bytes per document. The root of a set is its
//! first document.

/// Disjoint sets of documents.
#[derive(Debug)]
pub(super) struct DocumentSets {
    parents: Vec<u32>,
}

impl DocumentSets {
    /// Every document alone.
    pub(super) fn new(documents: usize) -> Self {
        Self { parents: (0..documents as u32).collect() }
    }

    /// The first document of the set. Halves the path it walks.
    pub(super) fn root(&mut self, mut document: u32) -> u32 {
        loop {
            let parent = self.parents[document as usize];
            if parent == document {
                return document;
            }
            let grandparent = self.parents[parent as usize];
            self.parents[document as usize] = grandparent;
            document = grandparent;
        }
    }

    /// Makes one set of both.
    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_first() {
        let mut forest = DocumentSets::new(6);
        forest.join(5, 3);
        forest.join(4, 5);
        forest.join(1, 4);
        assert_eq!((0..6).map(|d| forest.root(d)).collect::<Vec<_>>(), [0, 1, 2, 1, 1, 1]);
    }
}
