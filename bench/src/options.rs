//! Parses options of the form `--name value`, and defines the error of this program.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The error that stopped the program, as a message for the user.
#[derive(Debug)]
pub(crate) struct BenchError(pub(crate) String);

impl BenchError {
    /// Creates the message "`doing`: `error`".
    pub(crate) fn new(doing: impl fmt::Display, error: impl fmt::Display) -> Self {
        Self(format!("{doing}: {error}"))
    }
}

impl fmt::Display for BenchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Options that the command has not read yet, in the order of the command line.
pub(crate) struct BenchOptions(Vec<(String, String)>);

impl BenchOptions {
    /// Parses `--name value --name=value …`. Returns an error for anything else.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, BenchError> {
        let mut options = Vec::new();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let Some(name) = argument.strip_prefix("--") else {
                return Err(BenchError(format!("{argument:?} is not an option (--name value)")));
            };
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, arguments.next().filter(|value| !value.starts_with("--"))),
            };
            let Some(value) = value else {
                return Err(BenchError(format!("--{name} needs a value")));
            };
            options.push((name.to_owned(), value));
        }
        Ok(Self(options))
    }

    /// Reads the value of `--name`. If the option occurs several times, the last value counts.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        let mut found = None;
        self.0.retain(|(option, value)| {
            let is_match = option == name;
            if is_match {
                found = Some(value.clone());
            }
            !is_match
        });
        found
    }

    /// Reads the value of `--name` as a path.
    pub(crate) fn path(&mut self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    /// Reads the number of `--name`. Returns `default` if the option is absent.
    pub(crate) fn number<T: FromStr>(&mut self, name: &str, default: T) -> Result<T, BenchError> {
        self.text(name).map_or(Ok(default), |value| {
            value.parse().map_err(|_| BenchError(format!("--{name} {value:?}: a number is needed")))
        })
    }

    /// Fails if the command line contains an option that the command did not read.
    pub(crate) fn finish(self) -> Result<(), BenchError> {
        self.0.first().map_or(Ok(()), |(name, _)| {
            Err(BenchError(format!(
                "--{name} is not an option of this command; see contributing/measuring.md"
            )))
        })
    }
}
