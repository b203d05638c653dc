//! Finds components of more edges than memory can hold. Edges and nodes are sorted, so that nodes
//! are numbered without a table, and take 4 bytes of memory each.
//!
//! ```text
//! edges (a, b) by a ─ numbers of a ─► (b, number) by b ─ numbers of b ─► disjoint sets of numbers
//! nodes in order    ─ first of set ─► (first, node) ─ node of the first ─► (component, node)
//! ```

use crate::engine::FindError;
use crate::shard::{Edge, Node};
use crate::spill::{SortedValues, SpillError, TempSpace, ValueSorter};
use lookalike_core::disjoint_sets::DisjointSets;
use std::path::Path;
use std::sync::Arc;

/// Bytes of each sequence that are sorted in memory. Three sequences are in memory at a time.
const SORTED_BYTES: usize = 64 << 20;
/// The number of values passed to a sorter at once.
const PIECE: usize = 1 << 12;

/// Collects edges.
pub(super) struct EdgeCollector {
    temp: Arc<TempSpace>,
    edges: PairSorter,
    nodes: PairSorter,
    /// The first node of the last edge.
    last: Option<Node>,
}

impl EdgeCollector {
    /// Creates a collector. Edges that do not fit in memory go to a temporary file in `temp_dir`.
    pub(super) fn new(temp_dir: &Path) -> Self {
        let temp = Arc::new(TempSpace::new(temp_dir.to_owned()));
        let sorter = || PairSorter::new(&temp);
        Self { edges: sorter(), nodes: sorter(), last: None, temp }
    }

    /// Adds an edge between two nodes. An edge from a node to itself adds the node.
    pub(super) fn push(&mut self, edge: Edge) -> Result<(), SpillError> {
        let Edge { component, node } = edge;
        // In a forest, edges of the same component follow each other.
        if self.last.replace(component) != Some(component) {
            self.nodes.push(0, component.0)?;
        }
        if component == node {
            return Ok(());
        }
        self.nodes.push(0, node.0)?;
        self.edges.push(component.0, node.0)
    }

    /// Connects the collected edges.
    ///
    /// # Errors
    /// [`FindError::TooManyDocuments`] for 2³² nodes or more, and errors of temporary files.
    pub(super) fn finish(self) -> Result<NodeComponents, FindError> {
        let nodes = self.nodes.finish()?;
        let numbered = number_firsts(&self.edges.finish()?, &nodes, PairSorter::new(&self.temp))?;
        let sets = join_numbers(&numbered, &nodes)?;
        drop(numbered);
        let firsts = firsts_of(sets, &nodes, PairSorter::new(&self.temp))?;
        Ok(NodeComponents { temp: self.temp, nodes, firsts })
    }
}

/// Returns the second node of each edge with the number of the edge's first node.
fn number_firsts(
    edges: &SortedValues,
    nodes: &SortedValues,
    mut numbered: PairSorter,
) -> Result<SortedValues, SpillError> {
    let mut numbers = NumberedNodes::new(nodes);
    for edge in edges.iter() {
        let (component, node) = split(edge?);
        numbered.push(node, numbers.number_of(Node(component))?)?;
    }
    numbered.finish()
}

/// Connects the numbers of nodes.
fn join_numbers(numbered: &SortedValues, nodes: &SortedValues) -> Result<DisjointSets, FindError> {
    let mut sets = DisjointSets::new(NumberedNodes::new(nodes).count()?);
    let mut numbers = NumberedNodes::new(nodes);
    for edge in numbered.iter() {
        let (node, component) = split(edge?);
        sets.join(component as u32, numbers.number_of(Node(node))? as u32);
    }
    Ok(sets)
}

/// Returns each node with the first number in its set.
fn firsts_of(
    mut sets: DisjointSets,
    nodes: &SortedValues,
    mut firsts: PairSorter,
) -> Result<SortedValues, SpillError> {
    let mut numbers = NumberedNodes::new(nodes);
    while let Some((number, node)) = numbers.next()? {
        firsts.push(u64::from(sets.first(number as u32)), node.0)?;
    }
    firsts.finish()
}

/// The components of nodes. The smallest node of a component identifies it.
pub(super) struct NodeComponents {
    temp: Arc<TempSpace>,
    nodes: SortedValues,
    /// Each node with the number of the smallest node of its component.
    firsts: SortedValues,
}

impl NodeComponents {
    /// Calls `take` with an edge from each component to each of its nodes, sorted by component and
    /// node.
    pub(super) fn each<E: From<SpillError>>(
        &self,
        take: &mut dyn FnMut(Edge) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut numbers = NumberedNodes::new(&self.nodes);
        let mut last = None;
        for first in self.firsts.iter() {
            let (first, node) = split(first?);
            let component = match last {
                Some((number, component)) if number == first => component,
                _ => numbers.node_of(first)?,
            };
            last = Some((first, component));
            take(Edge { component, node: Node(node) })?;
        }
        Ok(())
    }

    /// Calls `take` with the edges of [`each`](Self::each), sorted by node.
    pub(super) fn each_by_node<E: From<SpillError>>(
        self,
        take: &mut dyn FnMut(Edge) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut sorter = PairSorter::new(&self.temp);
        self.each(&mut |edge| sorter.push(edge.node.0, edge.component.0))?;
        drop(self);
        let sorted = sorter.finish()?;
        sorted.iter().try_for_each(|pair| {
            let (node, component) = split(pair?);
            take(Edge::new(component, node))
        })
    }
}

/// Sorts pairs of numbers.
struct PairSorter {
    sorter: ValueSorter,
    piece: Vec<u128>,
}

impl PairSorter {
    fn new(temp: &Arc<TempSpace>) -> Self {
        Self { sorter: ValueSorter::new(temp, SORTED_BYTES), piece: Vec::new() }
    }

    fn push(&mut self, a: u64, b: u64) -> Result<(), SpillError> {
        self.piece.push(u128::from(a) << 64 | u128::from(b));
        if self.piece.len() < PIECE { Ok(()) } else { self.sorter.append(&mut self.piece) }
    }

    fn finish(mut self) -> Result<SortedValues, SpillError> {
        self.sorter.append(&mut self.piece)?;
        self.sorter.finish()
    }
}

fn split(pair: u128) -> (u64, u64) {
    ((pair >> 64) as u64, pair as u64)
}

/// Iterates over nodes, which are numbered by their order. Look-ups must ascend.
struct NumberedNodes<'a> {
    nodes: Box<dyn Iterator<Item = Result<u128, SpillError>> + 'a>,
    /// The number and the node that were returned last.
    now: Option<(u64, Node)>,
}

impl<'a> NumberedNodes<'a> {
    fn new(nodes: &'a SortedValues) -> Self {
        Self { nodes: Box::new(nodes.iter()), now: None }
    }

    fn next(&mut self) -> Result<Option<(u64, Node)>, SpillError> {
        for node in self.nodes.by_ref() {
            let node = Node(split(node?).1);
            match self.now {
                Some((_, last)) if last == node => {}
                now => {
                    self.now = Some((now.map_or(0, |(number, _)| number + 1), node));
                    return Ok(self.now);
                }
            }
        }
        Ok(None)
    }

    fn count(mut self) -> Result<usize, FindError> {
        while self.next()?.is_some() {}
        let count = self.now.map_or(0, |(number, _)| number + 1);
        if count > u64::from(u32::MAX) {
            return Err(FindError::TooManyDocuments { got: count as usize });
        }
        Ok(count as usize)
    }

    fn number_of(&mut self, node: Node) -> Result<u64, SpillError> {
        self.walk(|(_, now)| now == node).map(|(number, _)| number)
    }

    fn node_of(&mut self, number: u64) -> Result<Node, SpillError> {
        self.walk(|(now, _)| now == number).map(|(_, node)| node)
    }

    /// Advances to the requested number and node. Returns the current ones if they match.
    fn walk(&mut self, is_wanted: impl Fn((u64, Node)) -> bool) -> Result<(u64, Node), SpillError> {
        let mut now = self.now;
        loop {
            match now {
                Some(now) if is_wanted(now) => return Ok(now),
                _ => now = self.next()?,
            }
            if now.is_none() {
                return Err(SpillError::altered("nodes of documents"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shard::forest::merge_with_roots;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn node_components_match_in_memory_result(
            edges in prop::collection::vec((0u64..60, 0u64..60), 0..120),
            factor in prop::sample::select(vec![1, u64::MAX / 60]),
        ) {
            let edges: Vec<_> =
                edges.iter().map(|(a, b)| Edge::new(a * factor, b * factor)).collect();
            let collected = || {
                let mut collector = EdgeCollector::new(Path::new("no folder is needed"));
                edges.iter().try_for_each(|edge| collector.push(*edge)).unwrap();
                collector.finish().unwrap()
            };
            let mut expected = merge_with_roots(edges.iter().copied());
            let mut got = Vec::new();
            let mut take = |edge| -> Result<(), SpillError> {
                got.push(edge);
                Ok(())
            };
            collected().each(&mut take).unwrap();
            collected().each_by_node(&mut take).unwrap();
            let count = expected.len();
            prop_assert_eq!(&got[..count], &expected);
            expected.sort_unstable_by_key(|edge| edge.node);
            prop_assert_eq!(&got[count..], &expected);
        }
    }

    #[test]
    fn large_edge_sets_spill_to_files() {
        let folder = tempfile::tempdir().unwrap();
        let mut collector = EdgeCollector::new(folder.path());
        // A chain of nodes in random order, with more edges than fit in one sort.
        let length = (SORTED_BYTES / 3 / size_of::<u128>()) as u64 + 10;
        let node = |at: u64| (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for at in 0..length {
            collector.push(Edge::new(node(at), node(at + 1))).unwrap();
        }
        let least = (0..=length).map(node).min().unwrap();
        let mut count = 0;
        let mut last = None;
        let components = collector.finish().unwrap();
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_some());
        let of_one = &mut |edge: Edge| {
            assert!(edge.component == Node(least) && last < Some(edge.node));
            count += 1;
            last = Some(edge.node);
            Ok::<_, SpillError>(())
        };
        components.each_by_node(of_one).unwrap();
        assert_eq!(count, length + 1);
    }
}
