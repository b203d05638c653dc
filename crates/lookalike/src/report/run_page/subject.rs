//! The subject of a page.

use crate::audit::Audit;
use crate::engine::{FindOptions, Findings};
use std::path::PathBuf;

/// A run with its inputs.
#[derive(Clone, Copy)]
pub struct RunSubject<'a> {
    /// The findings of the run.
    pub findings: &'a Findings,
    /// The options of the run.
    pub options: &'a FindOptions,
    /// The inputs to name in the title; none for documents in memory.
    pub inputs: &'a [PathBuf],
    /// The inputs of the reference collection.
    pub reference: &'a [PathBuf],
    /// The measured recall, if an audit was run.
    pub audit: Option<&'a Audit>,
}
