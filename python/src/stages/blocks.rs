//! `connect`, `merge_forests`, `stars` and `label`: find components in blocks.

use super::columns::{BlockKind, BlockRows, StageTable};
use crate::arrow::array_chunks::each_blob;
use crate::arrow::table::ArrowTable;
use crate::error::{DamagedError, OptionError};
use arrow_array::Int64Array;
use lookalike::shard::{
    BlockError, BucketRule, Connector, Edge, NodeIdentity, PartBlock, ShardBlock, StarStep,
    merge_with_roots, part_of, star_step,
};
use pyo3::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::Arc;

fn damaged(error: BlockError) -> PyErr {
    DamagedError::new_err(error.to_string())
}

fn count(parts: u32) -> PyResult<NonZeroU32> {
    NonZeroU32::new(parts).ok_or_else(|| OptionError::new_err("parts: expected 1 or more, got 0"))
}

/// Connects the documents in the blocks of one or several parts. Returns blocks of edges and of
/// identities, divided by the parts of their nodes, and a note for each node that several documents
/// share. With `probed`, a bucket connects documents only if a document looks it up.
#[pyfunction]
pub(crate) fn connect(
    py: Python<'_>,
    blocks: &Bound<'_, PyAny>,
    parts: u32,
    probed: bool,
) -> PyResult<ArrowTable> {
    let rule = if probed { BucketRule::Probed } else { BucketRule::Shared };
    let parts = count(parts)?;
    let arrays = StageTable::of(blocks)?.binary("rows")?;
    let rows = py.detach(|| -> Result<BlockRows, BlockError> {
        let mut connector = Connector::new(rule);
        for blob in each_blob(&arrays) {
            connector.add(blob)?;
        }
        let connected = connector.finish();
        let mut rows = BlockRows::default();
        for block in divided(&connected.forest, Vec::new(), parts) {
            rows.push_block(BlockKind::Edges, &block);
        }
        for block in divided(&[], connected.identities, parts) {
            rows.push_block(BlockKind::Identities, &block);
        }
        for node in connected.repeated {
            rows.push_note(&json!({"repeated": node.0.cast_signed()}).to_string());
        }
        Ok(rows)
    });
    rows.map_err(damaged)?.finish()
}

/// Merges the forests of several blocks. Returns a block of edges for each part. Each component
/// also has an edge to itself, so that each of its nodes has an edge in its own part.
#[pyfunction]
pub(crate) fn merge_forests(
    py: Python<'_>,
    blocks: &Bound<'_, PyAny>,
    parts: u32,
) -> PyResult<ArrowTable> {
    let parts = count(parts)?;
    let arrays = StageTable::of(blocks)?.binary("rows")?;
    let rows = py.detach(|| -> Result<BlockRows, BlockError> {
        let mut all = ShardBlock::default();
        for blob in each_blob(&arrays) {
            all.decode_into(blob)?;
        }
        let forest = merge_with_roots(all.edges);
        let mut rows = BlockRows::default();
        for block in divided(&forest, Vec::new(), parts) {
            rows.push_block(BlockKind::Edges, &block);
        }
        Ok(rows)
    });
    rows.map_err(damaged)?.finish()
}

/// Runs a task of one round that finds components. `step` is `request`, `reply` or `join`. After
/// the step `join`, a note contains the number of unsettled edges unless it is 0.
#[pyfunction]
pub(crate) fn stars(
    py: Python<'_>,
    blocks: &Bound<'_, PyAny>,
    parts: u32,
    step: &str,
) -> PyResult<ArrowTable> {
    let parts = count(parts)?;
    let step = match step {
        "request" => StarStep::Request,
        "reply" => StarStep::Reply,
        "join" => StarStep::Join,
        other => {
            let message = format!("step: expected request, reply or join, got {other:?}");
            return Err(OptionError::new_err(message));
        }
    };
    let arrays = StageTable::of(blocks)?.binary("rows")?;
    let rows = py.detach(|| -> Result<BlockRows, BlockError> {
        let mut all = ShardBlock::default();
        for blob in each_blob(&arrays) {
            all.decode_into(blob)?;
        }
        let done = star_step(step, all, parts);
        let mut rows = BlockRows::default();
        for block in done.blocks {
            rows.push_block(BlockKind::Edges, &block);
        }
        if done.unsettled > 0 {
            rows.push_note(&json!({"unsettled": done.unsettled}).to_string());
        }
        Ok(rows)
    });
    rows.map_err(damaged)?.finish()
}

/// Divides edges and identities by the parts of their nodes.
fn divided(forest: &[Edge], identities: Vec<NodeIdentity>, parts: NonZeroU32) -> Vec<PartBlock> {
    let mut blocks: BTreeMap<u32, ShardBlock> = BTreeMap::new();
    for edge in forest {
        blocks.entry(part_of(edge.node.0, parts)).or_default().edges.push(*edge);
    }
    for identity in identities {
        blocks.entry(part_of(identity.node.0, parts)).or_default().identities.push(identity);
    }
    let encode = |(part, block): (u32, ShardBlock)| PartBlock { part, rows: block.encode() };
    blocks.into_iter().map(encode).collect()
}

/// Returns the nodes of components from the blocks of one or several parts: `node`, `component`,
/// `check`, `bytes` and `documents` (int64). If several documents share a node, `check` is null,
/// because a row of the second reading may be any of them.
#[pyfunction]
pub(crate) fn label(py: Python<'_>, blocks: &Bound<'_, PyAny>) -> PyResult<ArrowTable> {
    let arrays = StageTable::of(blocks)?.binary("rows")?;
    let columns = py.detach(|| -> Result<Option<[Vec<Option<i64>>; 5]>, BlockError> {
        let mut all = ShardBlock::default();
        for blob in each_blob(&arrays) {
            all.decode_into(blob)?;
        }
        all.identities.sort_unstable();
        // After several rounds, a node may have edges to several components. It
        // belongs to the least one.
        all.edges.sort_unstable_by_key(|edge| (edge.node, edge.component));
        all.edges.dedup_by_key(|edge| edge.node);
        let mut columns = [(); 5].map(|()| Vec::with_capacity(all.edges.len()));
        for Edge { component, node } in all.edges {
            let first = all.identities.partition_point(|identity| identity.node < node);
            let from_first = &all.identities[first..];
            let documents = from_first.iter().take_while(|identity| identity.node == node).count();
            let Some(identity) = from_first[..documents].first() else { return Ok(None) };
            let bytes = from_first[..documents].iter().map(|identity| identity.bytes).sum();
            let check = (documents == 1).then_some(identity.check);
            let values =
                [Some(node.0), Some(component.0), check, Some(bytes), Some(documents as u64)];
            for (column, value) in columns.iter_mut().zip(values) {
                column.push(value.map(u64::cast_signed));
            }
        }
        Ok(Some(columns))
    });
    let columns = columns.map_err(damaged)?.ok_or_else(|| {
        DamagedError::new_err(
            "a document of a component is not among the rows of its part: rows of the stage \
             connect are missing; run it again",
        )
    })?;
    let names = ["node", "component", "check", "bytes", "documents"];
    let columns = names.into_iter().zip(columns);
    let columns = columns.map(|(name, values)| {
        (name, Arc::new(Int64Array::from(values)) as arrow_array::ArrayRef, name == "check")
    });
    ArrowTable::new(columns.collect())
}
