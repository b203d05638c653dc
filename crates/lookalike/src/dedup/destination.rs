//! Derives the files and formats of the output from its name and the inputs. Refuses outputs that
//! cannot hold the survivors.

use super::annotation::Annotate;
use crate::dedup::cut_problem::CutPart;
use crate::dedup::cut_problem::CutProblem;
use crate::dedup::error::DedupError;
use crate::dedup::survivors_problem::SurvivorsProblem;
use crate::read::{Collection, Format, TextUnit};
use crate::report::strip_compression;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, MAIN_SEPARATOR, Path, PathBuf};

/// A source of documents: an input file of records, a stream, or text files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DocumentOrigin {
    /// Its name in messages.
    pub(super) name: String,
    /// The file. `None` for a stream and for text files, whose documents have paths of their own.
    pub(super) path: Option<PathBuf>,
    /// The format of its records.
    pub(super) format: Format,
    /// Whether its documents belong to a reference, which is never written.
    pub(super) reference: bool,
}

impl DocumentOrigin {
    /// All sources of a collection.
    fn all(collection: &Collection) -> Vec<Self> {
        let origin = |source| {
            Some(Self {
                name: collection.source_name(source)?.to_owned(),
                path: collection.source_path(source).map(Path::to_owned),
                format: collection.source_format(source)?,
                reference: collection.is_reference(source),
            })
        };
        (0..collection.sources()).filter_map(origin).collect()
    }

    /// Whether its documents are files of their own.
    pub(super) fn is_files(&self) -> bool {
        // Web crawls and tar archives cannot be written.
        matches!(self.format, Format::Text | Format::Warc | Format::Tar)
    }
}

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// One file with the records of all sources.
    Records(Format),
    /// One file that lists text files.
    List(ListFormat),
    /// A folder with a file for each source of records, and with copies of text files.
    Folder,
}

/// The format of a list of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ListFormat {
    /// One path per line.
    Paths,
    /// Rows of id, path and outcome.
    Csv,
    /// Objects of id, path and outcome.
    Jsonl,
}

/// The remedy for documents that do not fit into one file.
pub(super) const FOLDER_REMEDY: &str =
    "write a folder with a file for each: an output such as survivors/";

/// The place and form of the survivors. Creating it does not change any file.
#[derive(Debug, Clone)]
pub struct Destination {
    /// Its name in messages.
    pub(super) out: PathBuf,
    pub(super) is_standard_output: bool,
    pub(super) shape: Shape,
    pub(super) inputs: Vec<PathBuf>,
    pub(super) origins: Vec<DocumentOrigin>,
    /// Files in the output folder are named by the paths of the inputs relative to this folder.
    /// `None` if file names suffice.
    base: Option<PathBuf>,
}

impl Destination {
    /// Chooses the form by the name and the sources, and checks whether `out` may be written.
    /// `inputs` and `reference` are the paths that the collection was opened with.
    ///
    /// # Errors
    /// [`DedupError::Survivors`] if the output cannot hold the survivors, cannot be annotated, is
    /// an input, lies in one, or is a folder that is not empty.
    pub fn new(
        out: &Path,
        inputs: &[PathBuf],
        reference: &[PathBuf],
        collection: &Collection,
        annotate: Option<&Annotate>,
    ) -> Result<Self, DedupError> {
        let origins = DocumentOrigin::all(collection);
        let refused = |problem| DedupError::Survivors { path: out.to_owned(), problem };
        let shape = shape(Some(out), &origins, annotate).map_err(refused)?;
        takes_units(collection, shape, &origins, annotate).map_err(refused)?;
        let other = |problem: String| refused(problem.into());
        apart(out, inputs).and_then(|()| apart(out, reference)).map_err(other)?;
        if shape == Shape::Folder {
            empty(out).map_err(other)?;
        }
        let base = base(inputs, &origins);
        let out = out.to_owned();
        let inputs = inputs.to_owned();
        let this = Self { out, is_standard_output: false, shape, inputs, origins, base };
        this.distinct_names()?;
        Ok(this)
    }

    /// Selects standard output: the uncompressed records of all sources, or the paths of text
    /// files, one per line. Output that was written before an error cannot be withdrawn.
    ///
    /// # Errors
    /// [`DedupError::Survivors`] if one file cannot hold the survivors, or if they cannot be
    /// annotated.
    pub fn standard_output(
        collection: &Collection,
        annotate: Option<&Annotate>,
    ) -> Result<Self, DedupError> {
        let out = PathBuf::from("standard output");
        let origins = DocumentOrigin::all(collection);
        let refused = |problem| DedupError::Survivors { path: out.clone(), problem };
        let shape = shape(None, &origins, annotate).map_err(refused)?;
        takes_units(collection, shape, &origins, annotate).map_err(refused)?;
        let inputs = Vec::new();
        Ok(Self { out, is_standard_output: true, shape, inputs, origins, base: None })
    }

    /// Refuses outputs and inputs whose texts cannot be cut. An annotation of passages is always
    /// possible, because it cuts nothing.
    ///
    /// # Errors
    /// [`DedupError::Survivors`].
    pub fn takes_passages(&self, annotate: Option<&Annotate>) -> Result<(), DedupError> {
        if annotate.is_some() {
            return Ok(());
        }
        takes_cuts(CutPart::Passage, self.shape, &self.origins, None)
            .map_err(|problem| DedupError::Survivors { path: self.out.clone(), problem })
    }

    /// Whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.shape == Shape::Folder
    }

    /// The path in the folder for the file of an input or for a stream.
    pub(super) fn name_of(
        &self,
        origin: &DocumentOrigin,
        path: Option<&Path>,
    ) -> Result<PathBuf, DedupError> {
        let Some(path) = path else {
            return Ok(PathBuf::from(format!("{}.{}", origin.name, origin.format)));
        };
        self.name_of_path(path)
    }

    /// The path in the folder for a file.
    pub(super) fn name_of_path(&self, path: &Path) -> Result<PathBuf, DedupError> {
        relative_name(self.base.as_deref(), path).map_err(|problem| DedupError::Survivors {
            path: self.out.clone(),
            problem: problem.into(),
        })
    }

    fn distinct_names(&self) -> Result<(), DedupError> {
        if self.shape != Shape::Folder {
            return Ok(());
        }
        let mut names = HashSet::new();
        for origin in self.origins.iter().filter(|o| !o.is_files() && !o.reference) {
            let name = self.name_of(origin, origin.path.as_deref())?;
            if !names.insert(name.clone()) {
                return Err(DedupError::Survivors {
                    path: self.out.clone(),
                    problem: format!(
                        "two inputs would be written as {} there; name each input once",
                        name.display()
                    )
                    .into(),
                });
            }
        }
        Ok(())
    }
}

/// Chooses the form of the output. `out` is `None` for standard output.
fn shape(
    out: Option<&Path>,
    origins: &[DocumentOrigin],
    annotate: Option<&Annotate>,
) -> Result<Shape, SurvivorsProblem> {
    let inputs = origins.iter().filter(|origin| !origin.reference);
    let files = inputs.clone().any(DocumentOrigin::is_files);
    let records = inputs.clone().find(|origin| !origin.is_files());
    if let Some(stream) = inputs.clone().find(|origin| origin.is_files() && origin.path.is_none()) {
        return Err(SurvivorsProblem::OneText { source_name: stream.name.clone() });
    }
    let folder = out.is_some_and(|out| out.is_dir() || ends_in_separator(out));
    let has_formats = |first: &DocumentOrigin| inputs.clone().any(|o| o.format != first.format);
    let shape = match (files, records) {
        _ if folder => Shape::Folder,
        (true, Some(_)) if out.is_some_and(names_new_folder) => Shape::Folder,
        (true, Some(records)) => {
            let problem = format!(
                "{} has records and other inputs are text files, which one file cannot hold; \
                 {FOLDER_REMEDY}",
                records.name
            );
            return Err(problem.into());
        }
        (true, None) => out.map_or(Ok(Shape::List(ListFormat::Paths)), list_or_folder)?,
        (false, Some(first)) if out.is_some_and(names_new_folder) && has_formats(first) => {
            Shape::Folder
        }
        (false, _) => Shape::Records(one_format(out, origins)?),
    };
    if annotate.is_none() {
        return Ok(shape);
    }
    if let Some(mailbox) = inputs.clone().find(|origin| origin.format == Format::Mbox) {
        let source_name = mailbox.name.clone();
        return Err(SurvivorsProblem::AnnotatedMailbox { source_name });
    }
    let lines = inputs.clone().find(|origin| origin.format == Format::Lines);
    match (shape, lines) {
        (Shape::Folder, _) if files => Err(SurvivorsProblem::AnnotatedTextFiles),
        (Shape::List(ListFormat::Paths), _) => Err(SurvivorsProblem::AnnotatedPaths),
        (_, Some(lines)) => {
            Err(SurvivorsProblem::AnnotatedLines { source_name: lines.name.clone() })
        }
        _ => Ok(shape),
    }
}

/// Like [`takes_cuts`], for collections that compare units.
fn takes_units(
    collection: &Collection,
    shape: Shape,
    origins: &[DocumentOrigin],
    annotate: Option<&Annotate>,
) -> Result<(), SurvivorsProblem> {
    if collection.unit() == TextUnit::Document {
        return Ok(());
    }
    takes_cuts(CutPart::Unit, shape, origins, annotate)
}

/// Refuses annotations, and outputs and inputs from whose texts no parts can be removed.
fn takes_cuts(
    part: CutPart,
    shape: Shape,
    origins: &[DocumentOrigin],
    annotate: Option<&Annotate>,
) -> Result<(), SurvivorsProblem> {
    let refused = |problem| Err(SurvivorsProblem::Cut { part, problem });
    if annotate.is_some() {
        return refused(CutProblem::Annotated);
    }
    if matches!(shape, Shape::List(_)) {
        return refused(CutProblem::Listed);
    }
    let has_no_text = |format| matches!(format, Format::Mbox | Format::Warc | Format::Tar);
    let mut inputs = origins.iter().filter(|origin| !origin.reference);
    match inputs.find(|origin| has_no_text(origin.format)) {
        Some(origin) => refused(CutProblem::Format {
            source_name: origin.name.clone(),
            format: origin.format.to_string(),
        }),
        None => Ok(()),
    }
}

/// Chooses the form by the name if all inputs are text files.
fn list_or_folder(out: &Path) -> Result<Shape, String> {
    let name = lower_name(out);
    let (_, stem) = strip_compression(&name);
    let list = match stem.rsplit_once('.').map(|(_, end)| end) {
        Some("txt") => Some(ListFormat::Paths),
        Some("csv") => Some(ListFormat::Csv),
        Some("jsonl") => Some(ListFormat::Jsonl),
        _ => None,
    };
    match list {
        Some(list) => Ok(Shape::List(list)),
        None if names_new_folder(out) => Ok(Shape::Folder),
        None => Err(format!(
            "the inputs are text files: end the name in .txt, .csv or .jsonl (.gz or .zst may \
             follow) for a list of the kept files, or in {MAIN_SEPARATOR} for a folder of copies"
        )),
    }
}

/// Whether a name without a trailing separator names a folder to create. The name must be new, and
/// it must not have the extension of a format, a list or a compressed file.
fn names_new_folder(out: &Path) -> bool {
    let name = lower_name(out);
    let (is_compressed, stem) = strip_compression(&name);
    let is_list = [".txt", ".csv", ".jsonl"].iter().any(|end| stem.ends_with(end));
    !(out.exists() || is_compressed || is_list || Format::of_name(stem).is_some())
}

/// The common format of all sources. The name must not contradict it.
fn one_format(out: Option<&Path>, origins: &[DocumentOrigin]) -> Result<Format, String> {
    let mut inputs = origins.iter().filter(|origin| !origin.reference);
    let Some(first) = inputs.next() else { return Ok(Format::Jsonl) };
    if let Some(other) = inputs.find(|origin| origin.format != first.format) {
        return Err(format!(
            "{} is {}, {} is {}: one file cannot hold both; {FOLDER_REMEDY}",
            first.name, first.format, other.name, other.format
        ));
    }
    let name = out.map(lower_name).unwrap_or_default();
    let (compressed, stem) = strip_compression(&name);
    let wrong = Format::of_name(stem).is_some_and(|format| format != first.format);
    if wrong || (compressed && first.format.is_binary()) {
        return Err(format!(
            "survivors have the format of the input, and {} is {}; name the output accordingly",
            first.name, first.format
        ));
    }
    Ok(first.format)
}

/// Refuses an output that is an input or lies in one.
pub(super) fn apart(out: &Path, inputs: &[PathBuf]) -> Result<(), String> {
    let place = real(out);
    for input in inputs.iter().filter(|input| *input != Path::new("-")) {
        let other = real(input);
        if other == place {
            return Err("it is an input; write to another place, inputs are never changed".into());
        }
        if other.is_dir() && place.starts_with(&other) {
            return Err(format!(
                "it lies in the input {}, and would be among its documents next time; write \
                 next to it",
                input.display()
            ));
        }
    }
    Ok(())
}

/// Refuses a folder that is not empty, and a path that exists but is not a folder.
fn empty(out: &Path) -> Result<(), String> {
    match std::fs::read_dir(out).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => Err("the folder is not empty; name a new one, or empty it first".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(format!("a folder is to be written there: {error}")),
    }
}

/// The canonical path of a file. If the file does not exist, the rest of the path is appended to
/// the canonical path of the nearest existing folder.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let absolute_path = plain(path);
    match (absolute_path.parent(), absolute_path.file_name()) {
        (Some(parent), Some(name)) => real(parent).join(name),
        _ => absolute_path,
    }
}

/// The absolute path without `.` and `..`. Asks the system only for the working directory.
fn plain(path: &Path) -> PathBuf {
    let absolute_path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plain = PathBuf::new();
    for part in absolute_path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

/// Returns the folder to make the paths of inputs relative to, as names in the output folder. If
/// the only input is a folder, returns this folder. Otherwise returns the common parent of all
/// inputs if file names repeat, if folders are among the inputs, or if `origins` is empty. `None`
/// if file names suffice.
pub(super) fn base(inputs: &[PathBuf], origins: &[DocumentOrigin]) -> Option<PathBuf> {
    let inputs: Vec<PathBuf> =
        inputs.iter().filter(|input| *input != Path::new("-")).map(|input| plain(input)).collect();
    let folders = inputs.iter().any(|input| input.is_dir());
    if let ([only], true) = (inputs.as_slice(), folders) {
        return Some(only.clone());
    }
    let mut names: HashSet<&OsStr> = HashSet::new();
    let distinct = inputs.iter().filter_map(|input| input.file_name()).all(|n| names.insert(n));
    if distinct && !folders && !origins.is_empty() {
        return None;
    }
    let parents = inputs.iter().filter_map(|input| input.parent().map(Path::to_owned));
    parents.reduce(|a, b| {
        let both = a.components().zip(b.components()).take_while(|(a, b)| a == b);
        both.map(|(part, _)| part).collect()
    })
}

/// The path of a file below `base`, or its name alone.
pub(super) fn relative_name(base: Option<&Path>, path: &Path) -> Result<PathBuf, String> {
    let name = match base {
        None => path.file_name().map(PathBuf::from),
        Some(base) => plain(path).strip_prefix(base).ok().map(Path::to_owned),
    };
    let inside = |name: &PathBuf| {
        name.components().all(|part| matches!(part, Component::Normal(_)))
            && name.components().next().is_some()
    };
    name.filter(inside).ok_or_else(|| {
        let path = path.display();
        format!("no name in the folder follows from {path}; name the inputs by paths without ..")
    })
}

fn ends_in_separator(path: &Path) -> bool {
    path.as_os_str().to_string_lossy().ends_with(std::path::is_separator)
}

fn lower_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}
