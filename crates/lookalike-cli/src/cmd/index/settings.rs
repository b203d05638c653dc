//! Options that an index is created with.

use crate::arguments::parameter_args::{AimArgs, ShingleArgs, SignatureArgs};
use crate::arguments::read_args::ReadArgs;
use crate::cmd::CommandError;
use clap::ValueEnum;
use lookalike::core::params::{Measure, Params, ParamsBuilder};
use lookalike::store::settings::{IndexSettings, StoredContent};

/// The stored content of a document.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum StoreArg {
    /// Signatures only: similarities are estimates, and groups are unavailable
    Signatures,
    /// Shingle sets: similarities are exact
    Sets,
    /// Shingle sets and texts: matches can be shown, and `index categorise` can name categories
    Texts,
    /// The same and what documents were read from, byte for byte, of each version
    Originals,
}

impl StoreArg {
    pub(super) fn store(self) -> StoredContent {
        match self {
            Self::Signatures => StoredContent::Signatures,
            Self::Sets => StoredContent::Sets,
            Self::Texts => StoredContent::Texts,
            Self::Originals => StoredContent::Originals,
        }
    }
}

/// The settings of a new index.
pub(super) fn new(
    aim: &AimArgs,
    measure: Measure,
    shingle: &ShingleArgs,
    signature: &SignatureArgs,
    reading: &ReadArgs,
    store: StoreArg,
) -> Result<IndexSettings, CommandError> {
    let normalization = reading.normalization();
    signature.refuse_auto(
        "an index keeps its bands as documents come and go; run `lookalike tune` on some of them, \
         and name what it advises: --num-hashes, --bands and --rows",
    )?;
    let builder = ParamsBuilder { measure, ..signature.builder(shingle.rule(normalization)?, aim) };
    let params = Params::new(&builder)?;
    Ok(IndexSettings::new(&params, &normalization.to_string(), store.store())?)
}
