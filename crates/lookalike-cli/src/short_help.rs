//! The short help, `-h`: the common options of a command, each with the first sentence of its help.
//!
//! `--help`, manual pages and completions list all options.

use clap::builder::{Resettable, StyledStr};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use std::ffi::OsString;

/// The options that `-h` shows, in this order. An option that a row omits appears in `--help` only.
/// Commands without a row are short enough to show everything.
const COMMON: &[(&str, &str)] = &[
    (
        "find",
        "output pairs report skipped threshold measure exact keep reference audit limit \
         quiet format text_field include",
    ),
    (
        "dedup",
        "dry_run output move_to link script removed threshold measure keep reference \
         quiet format text_field include",
    ),
    (
        "passages",
        "output report min_words keep limit memory json quiet format id_field \
         text_field skip_bad include exclude",
    ),
    (
        "cut",
        "dry_run output removed annotate min_words at min_documents keep reference quiet \
         format text_field include",
    ),
    ("compare", "threshold measure shingle no_diff all json exit_code"),
    (
        "tune",
        "threshold recall measure exact shingle sample documents tried svg json format \
         text_field",
    ),
    (
        "audit",
        "pairs reference sample json quiet threads format id_field text_field include \
         exclude",
    ),
    (
        "contamination",
        "against against_field threshold output report drop json quiet memory format \
         id_field text_field",
    ),
    (
        "query",
        "id threshold nearest top filter text json exit_code quiet format text_field \
         include",
    ),
    ("watch", "index threshold top once settle feed webhook json quiet include exclude"),
    (
        "serve",
        "config print_config listen host token_file tls_cert tls_key read_only \
         backup_dir",
    ),
    (
        "index create",
        "store metadata threshold measure shingle quiet format id_field text_field \
         skip_bad include exclude",
    ),
    (
        "index add",
        "metadata skip_existing ttl json quiet format id_field text_field skip_bad \
         include exclude",
    ),
    (
        "index update",
        "metadata skip_existing ttl json quiet format id_field text_field skip_bad \
         include exclude",
    ),
    ("index remove", "ids_from like json quiet format id_field"),
    ("index groups", "output pairs report threshold measure keep group limit json quiet exit_code"),
    (
        "shard plan",
        "tasks parts pairs threshold measure exact keep reference format id_field \
         text_field include exclude",
    ),
    ("shard finish", "output pairs report skipped limit json quiet memory temp_dir"),
];

/// Examples of a command in its short help.
const EXAMPLES: usize = 3;

/// Returns true if clap answers arguments with the short help: `-h`, or a command without its
/// subcommand. `--help` before `-h`, and `help COMMAND`, request the full help.
pub(crate) fn is_requested(error: &clap::Error, arguments: &[OsString]) -> bool {
    match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => true,
        ErrorKind::DisplayHelp => {
            arguments.iter().find(|word| is_flag(word)).is_some_and(|word| word != "--help")
        }
        _ => false,
    }
}

/// Returns true for `--help`, and for short flags with `h` among them.
fn is_flag(word: &OsString) -> bool {
    let Some(text) = word.to_str() else { return false };
    text == "--help" || text.starts_with('-') && !text.starts_with("--") && text.contains('h')
}

/// Renders the short help of the command that arguments name. `command` must have parsed the
/// arguments, which defines its subcommands.
pub(crate) fn render(command: &mut Command, arguments: &[OsString]) -> StyledStr {
    let mut leaf = command;
    let mut path = String::new();
    for word in arguments.iter().take_while(|word| !is_flag(word)) {
        if leaf.find_subcommand(word).is_some() {
            path = format!("{path} {}", word.to_string_lossy());
            leaf = leaf.find_subcommand_mut(word).expect("found above");
        }
    }
    shorten(leaf.clone(), path.trim()).render_help()
}

/// The command with common options only. `path` is its name without `lookalike`.
fn shorten(command: Command, path: &str) -> Command {
    let common = COMMON.iter().find(|(name, _)| *name == path).map(|(_, options)| *options);
    let is_help = |arg: &Arg| arg.get_id() == "help" || arg.get_id() == "version";
    let order = |arg: &Arg| match common {
        Some(options) => options.split(' ').position(|option| arg.get_id() == option),
        None => Some(arg.get_index().unwrap_or(0)).filter(|_| arg.get_id() != "color"),
    };
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut after = String::new();
    for line in examples.lines().take(EXAMPLES + 1).take_while(|line| !line.is_empty()) {
        after += line;
        after.push('\n');
    }
    let name = [path, "--help"].join(" ");
    let last = format!("`lookalike {}` lists all options.", name.trim());
    command.after_help([after, last].join("\n")).mut_args(|arg| {
        let is_shown = arg.is_positional() || is_help(&arg) || order(&arg).is_some();
        let is_shown = is_shown && !arg.is_hide_set();
        let order = if is_help(&arg) { usize::MAX } else { order(&arg).unwrap_or(0) };
        let help = arg.get_help().map(|help| first_sentence(&help.to_string()).to_owned());
        let arg = if common.is_some() { arg.display_order(order) } else { arg };
        let arg = arg.hide(!is_shown).help_heading(Resettable::Reset);
        match help {
            Some(help) => arg.help(help),
            None => arg,
        }
    })
}

/// The help up to the first `. ` or `; `.
fn first_sentence(help: &str) -> &str {
    let ends = [help.find(". "), help.find("; ")];
    ends.into_iter().flatten().min().map_or(help, |end| &help[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn common_options_exist() {
        for (path, options) in COMMON {
            let mut command = crate::Cli::command();
            let words = std::iter::once("lookalike").chain(path.split(' ')).chain(["-h"]);
            let _ = command.try_get_matches_from_mut(words);
            let mut leaf = &command;
            for name in path.split(' ') {
                leaf = leaf.find_subcommand(name).expect(path);
            }
            for option in options.split(' ') {
                assert!(leaf.get_arguments().any(|arg| arg.get_id() == option), "{path} {option}");
            }
        }
    }
}
