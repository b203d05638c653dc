//! Help, and errors of the command line, as clap words them.

use crate::Cli;
use crate::terminal::{self, ColorWhen, TerminalStream, trusted};
use crate::text_width::visible;
use clap::builder::styling::Styles;
use clap::{CommandFactory, FromArgMatches, ValueEnum};
use std::ffi::OsString;
use std::io::{self, Write};

/// Prints what clap answers to arguments that are no command.
pub(crate) fn print(error: &clap::Error, arguments: &[OsString]) -> io::Result<()> {
    color(arguments).apply();
    if error.use_stderr() {
        write(&mut terminal::stderr(), error, arguments)
    } else {
        write(&mut terminal::stdout(), error, arguments)
    }
}

/// clap mixes its colours and the values of arguments in one text. So arguments that it refuses are
/// parsed again: with escapes where these are shown on a terminal, or without colours. Help and
/// version have no values of arguments.
fn write<W: Write>(
    out: &mut TerminalStream<W>,
    error: &clap::Error,
    arguments: &[OsString],
) -> io::Result<()> {
    let text = if !error.use_stderr() {
        let text = error.render();
        if out.has_colors() { trusted(&text.ansi().to_string()) } else { text.to_string() }
    } else if out.is_terminal() {
        let escaped = arguments.iter().map(|text| visible(&text.to_string_lossy()).into_owned());
        match parse(escaped, Styles::styled()) {
            Some(error) => trusted(&error.render().ansi().to_string()),
            None => error.render().to_string(),
        }
    } else if out.has_colors() {
        trusted(&error.render().ansi().to_string())
    } else {
        match parse(arguments, Styles::plain()) {
            Some(error) => error.render().ansi().to_string(),
            None => error.render().to_string(),
        }
    };
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// The error of arguments, if they have one.
fn parse<A>(arguments: impl IntoIterator<Item = A>, styles: Styles) -> Option<clap::Error>
where
    A: Into<OsString> + Clone,
{
    let mut command = Cli::command().styles(styles);
    let matches = command.try_get_matches_from_mut(arguments);
    let cli = matches.and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    cli.err().map(|error| error.format(&mut command))
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
