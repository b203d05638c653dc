//! `lookalike token`: a new token for clients of `lookalike serve`.

use crate::arguments::duration::lifetime;
use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::output::terminal;
use clap::ValueEnum;
use lookalike::index::time;
use lookalike_server::config::token::random_token;
use lookalike_server::config::token_file;
use lookalike_server::{ClientToken, IndexName, Right};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLE: &str = "\
Examples:
  lookalike token --token-file tokens                                  may read
  lookalike token write --name importer --expires 90d --token-file tokens
  lookalike token decide --name 'Ann Lee' --index news --token-file tokens

The token is printed once, on standard output. The file stores its hash, name and time of expiry. \
A running server reads the file again on SIGHUP. To withdraw a token, delete its line.";

/// Makes a token for clients of `serve`
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct TokenArgs {
    /// Permission of the token; a later one includes the earlier ones
    #[arg(value_enum, default_value = "read")]
    right: RightName,
    /// The name of the person or program that it is for, which decisions are recorded under
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// An index of the server that it opens, by its name in addresses; repeated for several
    /// [default: all]
    #[arg(long = "index", value_name = "NAME")]
    indexes: Vec<String>,
    /// When it expires, such as 12h, 30d or 8w [default: never]
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    expires: Option<Duration>,
    /// The file of `serve --token-file` that its line is added to; without it, the line is printed
    /// on standard error
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum RightName {
    /// Query and read
    Read,
    /// Record decisions about documents
    Decide,
    /// Change documents, and maintain the index
    Write,
}

impl RightName {
    const fn right(self) -> Right {
        match self {
            Self::Read => Right::Read,
            Self::Decide => Right::Decide,
            Self::Write => Right::Write,
        }
    }
}

/// Makes a token, and adds its line to a file.
pub(crate) fn run(args: &TokenArgs) -> CommandResult {
    let wrong = |error: &dyn std::fmt::Display| CommandError::Usage(error.to_string());
    let value = random_token()?;
    let mut token = ClientToken::new(args.right.right(), args.name.as_deref(), &value)
        .map_err(|error| wrong(&error))?;
    token.expires = args.expires.map(|span| {
        let span = i64::try_from(span.as_nanos()).unwrap_or(i64::MAX);
        time::now().saturating_add(span)
    });
    if !args.indexes.is_empty() {
        let names = args.indexes.iter().map(|name| IndexName::new(name));
        token.indexes = Some(names.collect::<Result<_, _>>().map_err(|error| wrong(&error))?);
    }
    let line = token_file::line(&token).map_err(|error| wrong(&error))?;
    match &args.token_file {
        Some(path) => add_line(path, &line)?,
        None => terminal::stderr().message(&line)?,
    }
    writeln!(terminal::stdout(), "{value}")?;
    Ok(ExitCode::SUCCESS)
}

/// Adds a line to a file of tokens, which only its owner can read if it is new.
fn add_line(path: &Path, line: &str) -> Result<(), CommandError> {
    let failed = |error: io::Error| CommandError::Data(format!("{}: {error}", path.display()));
    let mut options = File::options();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(failed)?;
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    token_file::parse(&text).map_err(|error| {
        CommandError::Usage(format!("{}:{}: {error}", path.display(), error.line))
    })?;
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    file.write_all(format!("{end}{line}\n").as_bytes()).map_err(failed)?;
    file.sync_all().map_err(failed)
}
