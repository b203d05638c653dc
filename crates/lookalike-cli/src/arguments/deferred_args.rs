//! Arguments that are defined only when they are needed.

use clap::{ArgMatches, Args, Command, Error, FromArgMatches};

/// Arguments that are defined when their command is called, or when all commands are listed. The
/// subcommands of `index` and `shard` have a third of all options.
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
