//! Help, and errors of the command line, as clap words them.

use crate::output::terminal::{self, ColorWhen, TerminalStream, trusted};
use crate::output::text_width::visible;
use crate::short_help;
use clap::builder::StyledStr;
use clap::builder::styling::Styles;
use clap::error::{ContextKind, ContextValue};
use clap::{ArgMatches, Command, Parser, ValueEnum};
use std::ffi::OsString;
use std::io::{self, Write};

/// Prints clap's answer to arguments that do not run a command: help, the version or an error.
pub(crate) fn print<C: Parser>(error: &clap::Error, arguments: &[OsString]) -> io::Result<()> {
    color(arguments).apply();
    let short = short_help::is_requested(error, arguments).then(|| {
        let mut command = C::command();
        // The result is `error`; parsing defines the subcommands on the way to the one in question.
        let _ = command.try_get_matches_from_mut(arguments);
        short_help::render(&mut command, arguments)
    });
    if let Some(text) = short {
        return if error.use_stderr() {
            write_help(&mut terminal::stderr(), &text)
        } else {
            write_help(&mut terminal::stdout(), &text)
        };
    }
    if error.use_stderr() {
        write::<C, _>(&mut terminal::stderr(), error, arguments)
    } else {
        write::<C, _>(&mut terminal::stdout(), error, arguments)
    }
}

/// clap mixes its colours and the values of arguments in one text. So arguments that it refuses are
/// parsed again: with escapes for a terminal, or without colours. Help and version contain no
/// values of arguments.
fn write<C: Parser, W: Write>(
    out: &mut TerminalStream<W>,
    error: &clap::Error,
    arguments: &[OsString],
) -> io::Result<()> {
    if !error.use_stderr() {
        return write_help(out, &error.render());
    }
    let text = if out.is_terminal() {
        let escaped = arguments.iter().map(|text| visible(&text.to_string_lossy()).into_owned());
        let escaped: Vec<String> = escaped.collect();
        match parse::<C, _>(&escaped, Styles::styled()) {
            Some(error) => trusted(&error.render().ansi().to_string()),
            None => error.render().to_string(),
        }
    } else if out.has_colors() {
        trusted(&error.render().ansi().to_string())
    } else {
        match parse::<C, _>(arguments, Styles::plain()) {
            Some(error) => error.render().ansi().to_string(),
            None => error.render().to_string(),
        }
    };
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints a help, with the colours that the stream shows.
fn write_help<W: Write>(out: &mut TerminalStream<W>, text: &StyledStr) -> io::Result<()> {
    let text = if out.has_colors() { trusted(&text.ansi().to_string()) } else { text.to_string() };
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The error of arguments, if they have one.
fn parse<C: Parser, A>(arguments: &[A], styles: Styles) -> Option<clap::Error>
where
    for<'a> &'a A: Into<OsString>,
{
    let mut command = C::command().styles(styles);
    let matches = matches(&mut command, arguments);
    let parsed = matches.and_then(|mut matches| C::from_arg_matches_mut(&mut matches));
    parsed.err().map(|error| error.format(&mut command))
}

/// Parses arguments. An error of an unknown option suggests only options with similar names. clap
/// measures letters in common, and suggests `--mail-signatures` for `--limit`.
pub(crate) fn matches<A>(command: &mut Command, arguments: &[A]) -> Result<ArgMatches, clap::Error>
where
    for<'a> &'a A: Into<OsString>,
{
    let words = || arguments.iter().map(Into::<OsString>::into);
    command.try_get_matches_from_mut(words()).map_err(|mut error| {
        if let Some(tip) = tip(&error) {
            let tips = ContextValue::StyledStrs(vec![tip.into()]);
            error.insert(ContextKind::Suggested, tips);
            error.remove(ContextKind::SuggestedArg);
            error.remove(ContextKind::SuggestedSubcommand);
            return error;
        }
        let text = |kind| match error.get(kind) {
            Some(ContextValue::String(text)) => Some(text.trim_start_matches('-')),
            _ => None,
        };
        let names = (text(ContextKind::InvalidArg), text(ContextKind::SuggestedArg));
        let (Some(typed), Some(suggested)) = names else { return error };
        if suggested.starts_with(typed) || 3 * distance(typed, suggested) <= suggested.len() {
            return error;
        }
        error.remove(ContextKind::SuggestedArg);
        // The usage also names the suggestion.
        let usage = usage_of(command, &words().skip(1).collect::<Vec<_>>());
        error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
        error
    })
}

/// A hint for a file name in the position of a command, and for the option `--port`.
fn tip(error: &clap::Error) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    if let Some(name) = text(ContextKind::InvalidSubcommand) {
        let exists = std::path::Path::new(name).exists();
        return exists.then(|| format!("to read {name}, type `lookalike find {name}`"));
    }
    (text(ContextKind::InvalidArg) == Some("--port"))
        .then(|| "`lookalike serve --listen 127.0.0.1:8377` names address and port".to_owned())
}

/// The usage of the subcommand that arguments name.
fn usage_of(command: &mut Command, arguments: &[OsString]) -> StyledStr {
    let is_inner = |argument: &&OsString| command.find_subcommand(argument).is_some();
    let Some(at) = arguments.iter().position(|argument| is_inner(&argument)) else {
        return command.render_usage();
    };
    match command.find_subcommand_mut(&arguments[at]) {
        Some(inner) => usage_of(inner, &arguments[at + 1..]),
        None => StyledStr::new(),
    }
}

/// Characters to insert, remove or replace to make one name of another.
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in to.bytes().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

/// The value of `--color` among arguments that clap refuses.
fn color(arguments: &[OsString]) -> ColorWhen {
    let mut arguments = arguments.iter().filter_map(|argument| argument.to_str());
    while let Some(argument) = arguments.next() {
        let value = match argument {
            "--" => break,
            "--color" => arguments.next(),
            _ => argument.strip_prefix("--color="),
        };
        if let Some(Ok(when)) = value.map(|value| ColorWhen::from_str(value, false)) {
            return when;
        }
    }
    ColorWhen::Auto
}
