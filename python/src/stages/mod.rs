//! The stages of a run that is divided into tasks (`lookalike::shard`). They take and return Arrow
//! data, and do the work without the interpreter's lock.
//!
//! ```text
//! documents ── keys ──► blocks ── connect, merge, label ──► components
//! documents of components ── decide ──► rows ── the cluster engine sorts them ──► sorted rows
//! sorted rows ── lines ──► bytes of the reports
//! ```

mod audit;
mod blocks;
mod columns;
mod counters;
mod decide;
mod decided_rows;
mod decided_tables;
mod keys;
mod lines;
mod places;
mod plan_options;

use pyo3::prelude::*;

/// Adds the stages to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<audit::SampleSearch>()?;
    module.add_function(wrap_pyfunction!(audit::draw, module)?)?;
    module.add_function(wrap_pyfunction!(audit::draw_limit, module)?)?;
    module.add_function(wrap_pyfunction!(audit::read_texts, module)?)?;
    module.add_class::<keys::KeyStage>()?;
    module.add_class::<counters::CountStage>()?;
    module.add_function(wrap_pyfunction!(counters::total_counters, module)?)?;
    module.add_function(wrap_pyfunction!(places::places, module)?)?;
    module.add_function(wrap_pyfunction!(decide::match_kept, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::connect, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::merge_forests, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::stars, module)?)?;
    module.add_function(wrap_pyfunction!(blocks::label, module)?)?;
    module.add_class::<decided_tables::DecidedTables>()?;
    module.add_function(wrap_pyfunction!(decide::decide, module)?)?;
    module.add_function(wrap_pyfunction!(lines::group_lines, module)?)?;
    module.add_function(wrap_pyfunction!(lines::pair_lines, module)?)?;
    module.add_function(wrap_pyfunction!(keys::nodes, module)?)
}
