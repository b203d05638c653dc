//! Options with a list of values.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use lookalike::core::error::ParamsError;
use std::str::FromStr;

/// A parser of one of some names, which help and completions list.
pub(crate) fn one_of<T, const N: usize>(
    names: [&'static str; N],
) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = ParamsError> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse::<T>())
}
