//! Options of the form `--name value`, and what was wrong with them.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What stopped the program: a whole sentence, with the remedy.
#[derive(Debug)]
pub(crate) struct Problem(pub(crate) String);

impl Problem {
    /// "`doing`: `error`".
    pub(crate) fn new(doing: impl fmt::Display, error: impl fmt::Display) -> Self {
        Self(format!("{doing}: {error}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Options not yet asked for, in the order given.
pub(crate) struct Options(Vec<(String, String)>);

impl Options {
    /// Takes `--name value --name=value …`; anything else is a problem.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self, Problem> {
        let mut options = Vec::new();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let Some(name) = argument.strip_prefix("--") else {
                return Err(Problem(format!("{argument:?} is not an option (--name value)")));
            };
            let (name, value) = match name.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (name, arguments.next().filter(|value| !value.starts_with("--"))),
            };
            let Some(value) = value else {
                return Err(Problem(format!("--{name} needs a value")));
            };
            options.push((name.to_owned(), value));
        }
        Ok(Self(options))
    }

    /// The value of `--name`; the last one where it was given more than once.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        let mut found = None;
        self.0.retain(|(given, value)| {
            let here = given == name;
            if here {
                found = Some(value.clone());
            }
            !here
        });
        found
    }

    /// The value of `--name` as a path.
    pub(crate) fn path(&mut self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    /// The value of `--name`, or `default` where it was not given.
    pub(crate) fn number<T: FromStr>(&mut self, name: &str, default: T) -> Result<T, Problem> {
        self.text(name).map_or(Ok(default), |value| {
            value.parse().map_err(|_| Problem(format!("--{name} {value:?}: a number is needed")))
        })
    }

    /// A problem where an option was given that nothing asked for.
    pub(crate) fn finish(self) -> Result<(), Problem> {
        self.0.first().map_or(Ok(()), |(name, _)| {
            Err(Problem(format!("--{name} is not an option of this command; see bench/README.md")))
        })
    }
}
