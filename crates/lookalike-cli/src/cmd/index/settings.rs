//! Options that an index is created with, and their comparison with the index when it is opened.

use crate::arguments::explicit_args::ExplicitArgs;
use crate::arguments::parameter_args::{AimArgs, ShingleArgs, SignatureArgs};
use crate::arguments::read_args::ReadArgs;
use crate::cmd::CommandError;
use clap::{Args, ValueEnum};
use lookalike::core::params::{Measure, Params, ParamsBuilder};
use lookalike::store::Index;
use lookalike::store::settings::{IndexSettings, StoredContent};

/// What is kept of a document.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum StoreArg {
    /// Signatures only: similarities are estimates, and there are no groups
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

/// Options that an index has already. They can be omitted; given ones must equal those of the
/// index.
#[derive(Debug, Args)]
pub(in crate::cmd) struct SettingsArgs {
    #[command(flatten)]
    shingle: ExplicitArgs<ShingleArgs>,

    #[command(flatten)]
    signature: ExplicitArgs<SignatureArgs>,

    /// What the index keeps of each document; none need be said
    #[arg(long, value_enum, value_name = "WHAT", hide = true)]
    store: Option<StoreArg>,
}

impl SettingsArgs {
    /// Refuses any of them for a service, which has the settings of its index.
    #[cfg(feature = "serve")]
    pub(super) fn refuse_any(&self, reading: &ExplicitArgs<ReadArgs>) -> Result<(), CommandError> {
        let of_shingles = ["shingle", "tokens", "case", "frequencies", "stop_words"];
        let of_signatures = ["scheme", "seed", "num_hashes", "bands", "rows"];
        let of_reading = ["normalize"];
        let named = of_shingles.into_iter().filter(|name| self.shingle.has(name));
        let named = named.chain(of_signatures.into_iter().filter(|name| self.signature.has(name)));
        let mut named = named.chain(of_reading.into_iter().filter(|name| reading.has(name)));
        match named.next() {
            Some(name) => Err(CommandError::Usage(format!(
                "--{}: a service has the settings of its index: leave it out",
                name.replace('_', "-")
            ))),
            None => Ok(()),
        }
    }

    /// Refuses what the index has otherwise.
    pub(in crate::cmd) fn check_compatible(
        &self,
        index: &Index,
        reading: &ExplicitArgs<ReadArgs>,
    ) -> Result<(), CommandError> {
        let has = index.settings();
        let shingle = &self.shingle;
        let signature = &self.signature;
        signature.args.refuse_auto("the index has its bands; leave it out")?;
        let normalization = reading.args.normalization();
        let rule = shingle.args.rule(normalization)?;
        let measure = index.params().measure();
        let builder = signature.args.builder_with_aim_of(rule, index.params());
        let params = Params::new(&ParamsBuilder { measure, ..builder })?;
        let store = self.store.map_or(has.store, StoreArg::store);
        let mut asked = IndexSettings::new(&params, &normalization.to_string(), store)?;
        if !reading.has("normalize") {
            asked.normalization.clone_from(&has.normalization);
        }
        let segment = normalization.segment;
        let IndexSettings { shingle: cut, tokens, case, frequencies, stop_words, .. } = &mut asked;
        keep(shingle.has("shingle"), cut, &has.shingle);
        keep(shingle.has("tokens") || segment, tokens, &has.tokens);
        keep(shingle.has("case"), case, &has.case);
        keep(shingle.has("frequencies"), frequencies, &has.frequencies);
        keep(shingle.has("stop_words"), stop_words, &has.stop_words);
        keep(signature.has("scheme"), &mut asked.scheme, &has.scheme);
        keep(signature.has("seed"), &mut asked.seed, &has.seed);
        keep(signature.has("num_hashes"), &mut asked.num_hashes, &has.num_hashes);
        keep(signature.has("bands"), &mut asked.bands, &has.bands);
        keep(signature.has("rows"), &mut asked.rows, &has.rows);
        Ok(has.check_compatible(&asked, index.name())?)
    }
}

/// What was not said is what the index has.
fn keep<T: Clone>(said: bool, asked: &mut T, has: &T) {
    if !said {
        asked.clone_from(has);
    }
}
