//! The options of a run.

use crate::decisions::{DecisionError, Decisions};
use crate::engine::error::FindError;
use crate::engine::link::drop_list::DropList;
use crate::engine::memory::Memory;
use crate::engine::no_estimates::NoEstimates;
use crate::engine::workers::default_threads;
use crate::read::{Collection, Format, ReadOptions};
use lookalike_core::error::{ParamsError, parse_name};
use lookalike_core::keep::KeepPolicy;
use lookalike_core::kernel::Kernel;
use lookalike_core::parameter::Parameter;
use lookalike_core::params::Params;
use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::Arc;

/// How verified pairs become groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grouping {
    /// Every duplicate resembles the kept document of its group.
    #[default]
    Stars,
    /// A group has all documents that verified pairs connect. Members may be unlike the kept
    /// document.
    Components,
}

impl Grouping {
    /// All groupings.
    pub const ALL: [Self; 2] = [Self::Stars, Self::Components];

    /// The name in options and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stars => "stars",
            Self::Components => "components",
        }
    }
}

impl FromStr for Grouping {
    type Err = ParamsError;

    fn from_str(text: &str) -> Result<Self, ParamsError> {
        parse_name(text, &Self::ALL, Self::name, Parameter::Group, "stars or components")
    }
}

/// Whether and how a run lists all verified pairs. Their number is quadratic in the size of a
/// cluster; more than [`MAX_PAIRS`](crate::find::MAX_PAIRS) are an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PairList {
    /// Pairs are not listed.
    #[default]
    Omitted,
    /// Pairs have their exact similarity.
    Exact,
    /// Pairs also have estimates from their signatures ([`Pair::estimate`](crate::find::Pair)).
    /// This is an error with the containment measure, and in an exact run, which has no signatures.
    WithEstimates,
}

impl PairList {
    /// Creates the choice from two flags: whether pairs are listed, and whether they have
    /// estimates.
    ///
    /// # Errors
    /// [`FindError::Estimates`] for estimates without pairs.
    pub fn new(pairs: bool, estimates: bool) -> Result<Self, FindError> {
        match (pairs, estimates) {
            (false, false) => Ok(Self::Omitted),
            (true, false) => Ok(Self::Exact),
            (true, true) => Ok(Self::WithEstimates),
            (false, true) => Err(FindError::Estimates(NoEstimates::WithoutPairs)),
        }
    }

    /// Whether pairs are listed.
    pub fn is_listed(self) -> bool {
        self != Self::Omitted
    }
}

/// Which documents may be keepers, of which others are duplicates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeeperChoice {
    /// Documents that resemble no keeper before them in the keep order, and all documents of a
    /// reference collection.
    #[default]
    Found,
    /// Documents of the reference collection. Other documents are not compared with each other.
    Reference,
    /// Documents of the reference collection that come earlier in the keep order, which does not
    /// prefer them here. If the longest document is kept, a document of 80 bytes is a duplicate of
    /// a similar reference document of 90 bytes, but not of one of 70 bytes.
    EarlierReference,
}

impl KeeperChoice {
    /// Whether the keepers are known before the run.
    pub fn is_given(self) -> bool {
        self != Self::Found
    }
}

/// The options of a run, and the parameters that decide which documents are similar.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct FindOptions {
    /// The parameters of similarity.
    pub params: Params,
    /// Which document of a group is kept.
    pub keep: KeepPolicy,
    /// Whether [`resolve_keep`](Self::resolve_keep) chooses `keep` by the inputs.
    pub keep_by_inputs: bool,
    /// The number of sampled documents for which bands and rows were chosen. `None` if bands and
    /// rows were given, or chosen for the threshold and the recall alone.
    pub bands_sample: Option<usize>,
    /// How groups are formed.
    pub grouping: Grouping,
    /// Which documents may be keepers. If the keepers are given, groups are stars, a pair is a
    /// keeper and another document, and equal documents are not counted as
    /// [copies](crate::find::RunCounts::copies).
    pub keepers: KeeperChoice,
    /// The decisions of people about documents; not allowed if the keepers are given.
    pub decisions: Option<Arc<Decisions>>,
    /// Documents of the inputs that the run leaves out.
    pub drop: Option<Arc<DropList>>,
    /// Whether and how all verified pairs are listed.
    pub pairs: PairList,
    /// Lists only pairs with a document of the reference collection.
    pub reference_pairs: bool,
    /// Whether to fill [`Findings::related`](crate::find::Findings::related) with kept documents
    /// without a group that resemble duplicates of other keepers. Takes a comparison for each
    /// candidate pair of such documents.
    pub related: bool,
    /// Whether the later of two documents with the same id is left out. Otherwise, a repeated id is
    /// an error.
    pub skip_repeated_ids: bool,
    /// The field whose value is the source that a document is counted under. If it is `None`, the
    /// source is the document's file or folder.
    pub source_field: Option<String>,
    /// The field that the patterns of `keep` are compared with. If it is `None`, they are compared
    /// with the file of a document, or with its id if the document is in memory.
    pub path_field: Option<String>,
    /// Whether a small run with few results looks for a setting that finds more
    /// ([`Findings::better_setting`](crate::find::Findings::better_setting)). The search reads the
    /// documents again.
    pub advice: bool,
    /// The available memory, and the folder for temporary files.
    pub memory: Memory,
    /// The number of threads. More than [`MAX_THREADS`](crate::find::MAX_THREADS) are an error.
    pub threads: NonZeroUsize,
    /// The inner loops to use; all have the same result.
    pub kernel: Kernel,
}

impl FindOptions {
    /// Creates the default options: stars, longest document kept, no pairs, advice, no limit on
    /// memory, a thread for each processor, the fastest kernel.
    pub fn new(params: Params) -> Self {
        Self {
            params,
            keep: KeepPolicy::default(),
            keep_by_inputs: false,
            bands_sample: None,
            grouping: Grouping::default(),
            keepers: KeeperChoice::default(),
            decisions: None,
            drop: None,
            pairs: PairList::Omitted,
            reference_pairs: false,
            related: false,
            skip_repeated_ids: false,
            source_field: None,
            path_field: None,
            advice: true,
            memory: Memory::default(),
            threads: default_threads(),
            kernel: Kernel::best(),
        }
    }

    /// Resolves `keep_by_inputs`: if it is set and an input has files of one document each, ranks
    /// file names first. Requests call this before they run.
    pub fn resolve_keep(&mut self, collection: &Collection) {
        let has_files =
            || (0..collection.sources()).any(|source| is_compared_file(collection, source));
        if self.keep_by_inputs && has_files() {
            self.keep = KeepPolicy::of_files();
        }
        self.keep_by_inputs = false;
    }

    /// Returns an error if there are decisions and the keepers are given.
    pub(crate) fn check_decisions(&self) -> Result<(), FindError> {
        let has_effect = !self.keepers.is_given() || self.decisions.is_none();
        if has_effect { Ok(()) } else { Err(FindError::Decisions(DecisionError::GivenKeepers)) }
    }

    /// Bytes of memory that the options take.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.drop.as_ref().map_or(0, |list| list.held_bytes())
    }

    /// Adds the fields and the shingles that the run needs to the options of its reader.
    pub fn read_options(&self, reading: ReadOptions) -> ReadOptions {
        let shingle = Some(self.params.shingle().clone());
        ReadOptions { fields: self.fields(), shingle, ..reading }
    }

    /// The fields that must be read in addition to id and text.
    pub fn fields(&self) -> Vec<String> {
        let names = self.keep.field_names().map(str::to_owned);
        // Sources are counted by the last field.
        names.chain(self.path_field.clone()).chain(self.source_field.clone()).collect()
    }
}

/// Returns true for a source of files that is not a reference. Reference documents are always kept.
fn is_compared_file(collection: &Collection, source: u32) -> bool {
    collection.source_format(source) == Some(Format::Text) && !collection.is_reference(source)
}
