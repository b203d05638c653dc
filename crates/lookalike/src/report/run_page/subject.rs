//! The run that a page describes.

use crate::audit::Audit;
use crate::engine::{FindOptions, Findings};
use std::path::PathBuf;

/// A run with its inputs.
#[derive(Clone, Copy)]
pub struct RunSubject<'a> {
    /// What was found.
    pub findings: &'a Findings,
    /// The options of the run.
    pub options: &'a FindOptions,
    /// The inputs that the title names; none for documents in memory.
    pub inputs: &'a [PathBuf],
    /// The inputs of the reference collection.
    pub reference: &'a [PathBuf],
    /// The measured recall, if it was measured.
    pub audit: Option<&'a Audit>,
}
