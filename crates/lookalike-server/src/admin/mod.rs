//! Handlers of operators: state, figures and upkeep.

pub(crate) mod indexes;
pub(crate) mod status;
pub(crate) mod upkeep;
