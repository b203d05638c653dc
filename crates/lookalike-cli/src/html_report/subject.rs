//! The run that a page describes.

use lookalike::audit::Audit;
use lookalike::find::{FindOptions, Findings};
use std::path::PathBuf;

/// A run with its inputs.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) findings: &'a Findings,
    pub(crate) options: &'a FindOptions,
    pub(crate) inputs: &'a [PathBuf],
    pub(crate) reference: &'a [PathBuf],
    pub(crate) audit: Option<&'a Audit>,
}
