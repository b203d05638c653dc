//! Options with their defaults, and which of them were typed.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// Options, and the names of those that were typed rather than left at their defaults.
#[derive(Debug)]
pub(crate) struct ExplicitArgs<A> {
    pub(crate) args: A,
    typed: Vec<String>,
}

impl<A> ExplicitArgs<A> {
    /// Whether an option was typed; its name has `_` where that on the command line has `-`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.typed.iter().any(|typed| typed == name)
    }
}

fn typed(matches: &ArgMatches) -> Vec<String> {
    let ids = matches.ids().map(clap::Id::as_str);
    let is_typed = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    ids.filter(is_typed).map(str::to_owned).collect()
}

impl<A: FromArgMatches> FromArgMatches for ExplicitArgs<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self { typed: typed(matches), args: A::from_arg_matches(matches)? })
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        Ok(Self { typed: typed(matches), args: A::from_arg_matches_mut(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.typed = typed(matches);
        self.args.update_from_arg_matches(matches)
    }
}

impl<A: Args> Args for ExplicitArgs<A> {
    fn augment_args(command: Command) -> Command {
        A::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        A::augment_args_for_update(command)
    }
}
