//! Commands whose definition is made when it is needed.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// Arguments that are defined when their command is called, or all commands are listed. `index` and
/// `shard` have commands of their own, whose options are a third of all there are.
#[derive(Debug)]
pub(crate) struct DeferredArgs<A> {
    pub(crate) args: A,
}

impl<A: FromArgMatches> FromArgMatches for DeferredArgs<A> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        Ok(Self { args: A::from_arg_matches(matches)? })
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        Ok(Self { args: A::from_arg_matches_mut(matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.args.update_from_arg_matches(matches)
    }
}

impl<A: Args> Args for DeferredArgs<A> {
    fn augment_args(command: Command) -> Command {
        command.defer(A::augment_args)
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(A::augment_args_for_update)
    }
}
