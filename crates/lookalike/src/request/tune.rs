//! The use case `tune`: chooses bands and rows for a threshold and a recall, from documents if
//! given.

use super::RunInputs;
use crate::engine::FindError;
use crate::progress::Progress;
use crate::read::Collection;
use crate::tune::{BandPlan, MeasuredSample, plan, rules_to_try};
use lookalike_core::params::{Params, ParamsBuilder, ShingleRule};

/// A choice of bands and rows.
pub struct TuneRequest {
    /// The documents to measure. Without documents, the cost is estimated for newswire articles.
    pub inputs: Option<RunInputs>,
    /// The parameters in use.
    pub builder: ParamsBuilder,
    /// How many documents to draw.
    pub sample: usize,
    /// The shingle rules to measure; the usual ones if empty.
    pub tried: Vec<ShingleRule>,
    /// How many documents to plan for. `None` selects the number of documents in the inputs, or a
    /// million without inputs.
    pub documents: Option<u64>,
}

/// A choice whose inputs are open.
pub struct OpenedTune {
    request: TuneRequest,
    params: Params,
    collection: Option<Collection>,
}

/// The chosen bands and rows, with their reason.
#[derive(Debug)]
pub struct TuneOutcome {
    /// Bands, rows and their cost.
    pub plan: BandPlan,
    /// The sample of the documents, if there are any.
    pub measured: Option<MeasuredSample>,
}

impl TuneRequest {
    /// Opens the inputs.
    ///
    /// # Errors
    /// [`FindError::Params`] for parameters out of range. [`FindError::Read`] if an input cannot be
    /// opened.
    pub fn open(self) -> Result<OpenedTune, FindError> {
        let params = Params::new(&self.builder)?;
        let collection = self.inputs.as_ref().map(RunInputs::open).transpose()?;
        Ok(OpenedTune { request: self, params, collection })
    }
}

impl OpenedTune {
    /// The documents to measure.
    pub fn collection(&self) -> Option<&Collection> {
        self.collection.as_ref()
    }

    /// Measures a sample, and chooses bands and rows.
    ///
    /// # Errors
    /// Errors of [`MeasuredSample::of`]. [`FindError::Params`] if the number of hash values does
    /// not allow the recall.
    pub fn run(&self, progress: &dyn Progress) -> Result<TuneOutcome, FindError> {
        let TuneRequest { builder, sample, tried, documents, .. } = &self.request;
        let used = &builder.shingle;
        let rules = rules_to_try(used, tried);
        let measure = |collection: &Collection| {
            MeasuredSample::of(collection, *sample, builder.seed, &rules, used, progress)
        };
        let measured = self.collection.as_ref().map(measure).transpose()?;
        let plan = plan(builder, &self.params, measured.as_ref(), *documents)?;
        Ok(TuneOutcome { plan, measured })
    }
}
