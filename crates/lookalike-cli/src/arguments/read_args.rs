//! The options of all commands that read documents.

use crate::arguments::normalization_args::NormalizationArgs;
use crate::cmd::CommandError;
use crate::extraction::{ExtractArgs, WorkerOption};
use clap::Args;
use lookalike::core::parameter::NamesParameters;
use lookalike::read::{Format, Normalization, ReadError, ReadOptions, TextUnit, parse_delimiter};
use lookalike::report::option_name;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Converts the bytes of a name to a path.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "on other systems, bytes may be an invalid path")]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(bytes).into())
}

/// Converts the bytes of a name to a path. Returns `None` if they are not UTF-8.
#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}

/// The value of `--id-field` that makes ids from file names and line numbers.
const LINE_IDS: &str = ":line";

/// How inputs are read, and how their texts are changed.
#[derive(Debug, Args)]
#[command(next_help_heading = "How inputs are read")]
pub(crate) struct ReadArgs {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    normalization: NormalizationArgs,

    #[command(flatten)]
    unit: UnitArgs,
}

/// How the inputs of an index are read. The settings of the index define the changes to texts.
#[derive(Debug, Args)]
#[command(next_help_heading = "How inputs are read")]
pub(crate) struct InputArgs {
    /// Format of all inputs, such as lines, jsonl or csv [default: by first bytes and name]. `file`
    /// reads each file by its own type, and `text` reads all files as plain text. In `lines`,
    /// each line has an id, a space and a text. The others are jsonl, json (an array of objects),
    /// csv, tsv, mbox, warc, tar and parquet. All but parquet may also be .gz or .zst
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,

    /// Field or column with the id; in JSONL, `meta.id` names a field inside a field. `:line` makes
    /// the ids `FILE:LINE`
    #[arg(long, value_name = "NAME", default_value = "id")]
    id_field: String,

    /// Field or column with the text
    #[arg(long, value_name = "NAME", default_value = "text")]
    text_field: String,

    /// Separator of the values in CSV and TSV: a character or `tab` [default: detected for each CSV
    /// file]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,

    /// Leave out bad records and repeated ids, and count them
    #[arg(long)]
    skip_bad: bool,

    /// Folders: also read hidden files, and files that .gitignore and .ignore exclude
    #[arg(long)]
    all_files: bool,

    /// Folders: follow symbolic links
    #[arg(long)]
    follow: bool,

    /// Folders: read only files that match GLOB; may be repeated. '*.txt' matches in every folder,
    /// '/drafts/**' only in the folder drafts directly below the input
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,

    /// Folders: leave out files and folders that match GLOB; may be repeated
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// Read the names of further inputs from FILE, or from standard input (-). Each name is a line,
    /// or ends with a NUL byte, as `find -print0` writes it
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,

    #[arg(long, value_name = "LABEL")]
    #[arg(help = "Encoding of all files: windows-1252, shift_jis, … [default: detected for each]")]
    encoding: Option<String>,

    #[command(flatten)]
    extract: ExtractArgs,
}

/// The value of `--delimiter`.
fn delimiter(text: &str) -> Result<u8, String> {
    parse_delimiter(text).map_err(|error| error.spelled(option_name))
}

/// The option for the unit of comparison.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct UnitArgs {
    /// Compare each paragraph, line or sentence as one document, with the ids DOC#1, DOC#2, …
    /// [default: document]
    #[arg(long, value_name = "UNIT", default_value = "document", hide_default_value = true)]
    pub(crate) unit: TextUnit,
}

impl UnitArgs {
    /// Refuses every unit except whole documents. `why` continues the message and contains the
    /// remedy.
    pub(crate) fn refuse(&self, why: &str) -> Result<(), CommandError> {
        if self.unit == TextUnit::Document {
            return Ok(());
        }
        Err(CommandError::Usage(format!("--unit {} {why}", self.unit)))
    }
}

impl InputArgs {
    /// The options of the readers for whole documents with unchanged texts.
    pub(crate) fn options(&self, worker: WorkerOption<'_>) -> ReadOptions {
        ReadOptions {
            format: self.format,
            id_field: if self.id_field == LINE_IDS {
                "id".to_owned()
            } else {
                self.id_field.clone()
            },
            text_field: self.text_field.clone(),
            delimiter: self.delimiter,
            line_ids: self.id_field == LINE_IDS,
            skip_bad: self.skip_bad,
            hidden: self.all_files,
            ignore_files: !self.all_files,
            follow_links: self.follow,
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            types: Vec::new(),
            leave_out: Vec::new(),
            fields: Vec::new(),
            encoding: self.encoding.clone(),
            extract: self.extract.options(worker),
            max_expanded: self.extract.max_expanded(),
            normalization: Normalization::default(),
            shingle: None,
            unit: TextUnit::Document,
        }
    }

    /// Adds the inputs that `--files-from` lists to `inputs`.
    pub(crate) fn read_list(&self, inputs: &mut Vec<PathBuf>) -> Result<(), CommandError> {
        let Some(list) = &self.files_from else { return Ok(()) };
        let list_name = list.display();
        let mut bytes = Vec::new();
        let read = if list.as_os_str() == "-" {
            if inputs.iter().any(|input| input.as_os_str() == "-") {
                return Err(ReadError::StdinTwice.into());
            }
            io::stdin().read_to_end(&mut bytes)
        } else {
            File::open(list).and_then(|mut file| file.read_to_end(&mut bytes))
        };
        read.map_err(|error| CommandError::Data(format!("--files-from {list_name}: {error}")))?;
        // No file name contains a NUL byte.
        let has_nul = bytes.contains(&0);
        let end = if has_nul { 0 } else { b'\n' };
        for name in bytes.split(|byte| *byte == end) {
            let name = if has_nul { name } else { name.strip_suffix(b"\r").unwrap_or(name) };
            if !name.is_empty() {
                inputs.push(path_of(name).ok_or_else(|| {
                    let name = String::from_utf8_lossy(name);
                    CommandError::Data(format!(
                        "--files-from {list_name}: {name:?} is not a valid file name"
                    ))
                })?);
            }
        }
        if inputs.is_empty() {
            return Err(CommandError::Data(format!("--files-from {list_name}: the list is empty")));
        }
        Ok(())
    }

    /// The file with the names of inputs; `-` for standard input.
    pub(crate) fn list(&self) -> Option<&Path> {
        self.files_from.as_deref()
    }

    /// Whether the names of inputs come on standard input.
    pub(crate) fn lists_on_stdin(&self) -> bool {
        self.list().is_some_and(|list| list.as_os_str() == "-")
    }

    /// Whether the readers skip bad records instead of stopping with an error.
    pub(crate) fn skip_bad(&self) -> bool {
        self.skip_bad
    }
}

impl ReadArgs {
    /// The options of the readers.
    pub(crate) fn options(&self, worker: WorkerOption<'_>) -> ReadOptions {
        ReadOptions {
            normalization: self.normalization(),
            unit: self.unit(),
            ..self.input.options(worker)
        }
    }

    /// As [`InputArgs::read_list`].
    pub(crate) fn read_list(&self, inputs: &mut Vec<PathBuf>) -> Result<(), CommandError> {
        self.input.read_list(inputs)
    }

    /// As [`InputArgs::list`].
    pub(crate) fn list(&self) -> Option<&Path> {
        self.input.list()
    }

    /// As [`InputArgs::lists_on_stdin`].
    pub(crate) fn lists_on_stdin(&self) -> bool {
        self.input.lists_on_stdin()
    }

    /// As [`InputArgs::skip_bad`].
    pub(crate) fn skip_bad(&self) -> bool {
        self.input.skip_bad()
    }

    /// The unit of comparison.
    pub(crate) fn unit(&self) -> TextUnit {
        self.unit.unit
    }

    /// Refuses values of `--normalize` that remove words or insert blanks between words.
    pub(crate) fn refuse_other_words(&self) -> Result<(), CommandError> {
        let normalization = self.normalization();
        if !normalization.stop_words_by_language && !normalization.segment {
            return Ok(());
        }
        Err(CommandError::Usage(
            "passages are whole parts of texts: leave out language:auto and segment:dictionary of \
             --normalize, which remove words or put blanks between them"
                .to_owned(),
        ))
    }

    /// As [`UnitArgs::refuse`].
    pub(crate) fn refuse_units(&self, why: &str) -> Result<(), CommandError> {
        self.unit.refuse(why)
    }

    /// The changes to every text.
    pub(crate) fn normalization(&self) -> Normalization {
        self.normalization.normalization()
    }
}
