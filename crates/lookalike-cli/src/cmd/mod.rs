//! The commands, one module each. clap parses the arguments into a type such as `FindArgs`, and the
//! function `run` executes the command.

pub(crate) mod audit;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod contamination;
pub(crate) mod cut;
pub(crate) mod dedup;
pub(crate) mod error;
pub(crate) mod evaluate;
pub(crate) mod find;
pub(crate) mod index;
pub(crate) mod man;
pub(crate) mod passages;
pub(crate) mod query;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod shard;
#[cfg(feature = "serve")]
pub(crate) mod token;
pub(crate) mod tune;
pub(crate) mod watch;

pub(crate) use error::{CommandError, CommandResult};
