//! Lists input files, or copies the kept ones to a folder that receives its final name when it is
//! complete.

use super::annotation::{Annotate, AnnotationValues};
use super::destination::ListFormat;
use super::values;
use crate::dedup::error::DedupError;
use crate::dedup::survivors_problem::SurvivorsProblem;
use crate::report::csv::{CellRule, quoted};
use crate::report::{Output, OutputError, part_file};
use crate::temporary::{self, RegisteredPath};
use std::fs::{self, File, FileTimes, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A list of files being written.
pub(super) struct FileListWriter {
    output: Output,
    format: ListFormat,
    cells: CellRule,
    line: Vec<u8>,
    /// The file listed last, which may have several documents.
    last: Option<PathBuf>,
}

impl FileListWriter {
    pub(super) fn create(
        output: Output,
        format: ListFormat,
        annotate: Option<&Annotate>,
    ) -> Result<Self, DedupError> {
        let cells = CellRule::Exact;
        let line = Vec::new();
        let mut this = Self { output, format, cells, line, last: None };
        if format == ListFormat::Csv {
            let columns = annotate.map(Annotate::columns).unwrap_or_default();
            values::separated(b',', b"id,path", columns, &mut this.line);
            this.end_line()?;
        }
        Ok(this)
    }

    /// Sets how texts are written as cells of CSV.
    pub(super) fn set_cells(&mut self, cells: CellRule) {
        self.cells = cells;
    }

    /// Adds a file. Without annotations, the caller passes only kept files.
    pub(super) fn file(
        &mut self,
        id: &str,
        path: &Path,
        annotation: Option<(&Annotate, AnnotationValues<'_>)>,
    ) -> Result<(), DedupError> {
        match self.format {
            ListFormat::Paths if self.last.as_deref() == Some(path) => return Ok(()),
            ListFormat::Paths => self.path(path)?,
            ListFormat::Csv => {
                let path_text = crate::read::name_of(path);
                let mut columns = vec![path_text];
                columns.extend(annotation.iter().flat_map(|(_, values)| values.columns()));
                let columns = columns.iter().map(|value| self.cells.text(value));
                let mut first = Vec::new();
                quoted(b',', &self.cells.text(id), &mut first);
                values::separated(b',', &first, columns, &mut self.line);
            }
            ListFormat::Jsonl => {
                let path_text = crate::read::name_of(path);
                let object = serde_json::json!({ "id": id, "path": path_text }).to_string();
                match annotation {
                    // This cannot fail: the object has only the members `id` and `path`, and
                    // annotations use other names.
                    Some((annotate, values)) => {
                        values::json(object.as_bytes(), annotate, &values, &mut self.line)
                            .map_err(|fault| self.refused(fault.problem(id)))?;
                    }
                    None => self.line.extend_from_slice(object.as_bytes()),
                }
            }
        }
        self.last = Some(path.to_owned());
        Ok(self.end_line()?)
    }

    fn path(&mut self, path: &Path) -> Result<(), DedupError> {
        let bytes = path.as_os_str().as_encoded_bytes();
        if bytes.contains(&b'\n') {
            let text = path.to_string_lossy();
            return Err(self.refused(format!(
                "the path {text:?} has a line end in it, which a list of lines cannot hold; end \
                 the name in .csv or .jsonl"
            )));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn refused(&self, problem: impl Into<SurvivorsProblem>) -> DedupError {
        DedupError::Survivors { path: self.output.path().to_owned(), problem: problem.into() }
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        self.line.push(b'\n');
        let written = self.output.write_all(&self.line);
        self.line.clear();
        written.map_err(|source| OutputError::Write { path: self.output.path().to_owned(), source })
    }

    pub(super) fn finish(self) -> Result<(), OutputError> {
        self.output.finish(|_| Ok(()))
    }
}

/// A folder that is filled under a temporary name next to its final name. Dropping the writer
/// before [`finish`](Self::finish) removes the folder with its content.
pub(super) struct FolderWriter {
    out: PathBuf,
    temporary: TempDir,
    /// Keeps the folder locked, which tells other runs that it is in use.
    _lock: Option<File>,
    registered: RegisteredPath,
}

impl FolderWriter {
    pub(super) fn create(out: &Path) -> Result<Self, OutputError> {
        let failed = |source| OutputError::Write { path: out.to_owned(), source };
        // If `out` is a link to a folder, the link remains.
        let out_path = out.canonicalize().or_else(|_| std::path::absolute(out)).map_err(failed)?;
        let parent = out_path.parent().unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(part_file::PREFIX).suffix(part_file::SUFFIX);
        // The umask restricts these permissions, as for any new folder.
        part_file::restrict(&mut builder, 0o777);
        let create = || builder.tempdir_in(parent);
        let created = temporary::register(create, TempDir::path).map_err(failed)?;
        let (temporary, registered) = created;
        // On Unix, other runs list an unlocked folder as abandoned, for the user to remove.
        let lock = if cfg!(unix) { File::open(temporary.path()).ok() } else { None };
        let lock = lock.filter(|folder| folder.try_lock().is_ok());
        Ok(Self { out: out_path, temporary, _lock: lock, registered })
    }

    /// Returns the temporary path of a file in the folder. Creates the parent folders.
    pub(super) fn place(&self, name: &Path) -> Result<PathBuf, OutputError> {
        let place = self.temporary.path().join(name);
        let created = place.parent().map_or(Ok(()), fs::create_dir_all);
        created.map_err(|source| self.failed(name, source))?;
        Ok(place)
    }

    /// Creates a folder in the output folder unless it exists.
    pub(super) fn add_folder(&self, name: &Path) -> Result<(), OutputError> {
        let created = fs::create_dir_all(self.temporary.path().join(name));
        created.map_err(|source| self.failed(name, source))
    }

    /// Whether an entry of this name exists in the folder.
    pub(super) fn has(&self, name: &Path) -> bool {
        self.temporary.path().join(name).symlink_metadata().is_ok()
    }

    /// Sets the permissions of the entry with this name.
    pub(super) fn set_permissions(&self, name: &Path, of: Permissions) -> Result<(), OutputError> {
        let set = fs::set_permissions(self.temporary.path().join(name), of);
        set.map_err(|source| self.failed(name, source))
    }

    /// Replaces the temporary path in an error by the final path.
    pub(super) fn named(&self, error: DedupError) -> DedupError {
        let named = |path: PathBuf| match path.strip_prefix(self.temporary.path()) {
            Ok(name) => self.out.join(name),
            Err(_) => path,
        };
        match error {
            DedupError::Output(OutputError::Write { path, source }) => {
                OutputError::Write { path: named(path), source }.into()
            }
            DedupError::Survivors { path, problem } => {
                DedupError::Survivors { path: named(path), problem }
            }
            error => error,
        }
    }

    /// Copies a file with its permissions and times.
    pub(super) fn copy(&self, from: &Path, name: &Path) -> Result<(), OutputError> {
        let place = self.place(name)?;
        copy(from, &place).map_err(|source| self.failed(name, source))
    }

    /// Writes a file with the permissions of another one.
    pub(super) fn write(&self, bytes: &[u8], like: &Path, name: &Path) -> Result<(), OutputError> {
        let place = self.place(name)?;
        let written = File::create_new(&place)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| fs::set_permissions(&place, fs::metadata(like)?.permissions()));
        written.map_err(|source| self.failed(name, source))
    }

    fn failed(&self, name: &Path, source: io::Error) -> OutputError {
        OutputError::Write { path: self.out.join(name), source }
    }

    /// Renames the folder to its final name. Keeps the permissions of an empty folder it replaces.
    pub(super) fn finish(self) -> Result<(), OutputError> {
        let Self { out, temporary, _lock, registered } = self;
        let replaced = fs::metadata(&out).ok().map(|metadata| metadata.permissions());
        let kept = replaced.map_or(Ok(()), |of| fs::set_permissions(temporary.path(), of));
        let renamed = kept
            .and_then(|()| remove_empty(&out))
            .and_then(|()| fs::rename(temporary.path(), &out));
        match renamed {
            Ok(()) => {
                // The folder was renamed, so the guard has nothing to remove under the temporary
                // name.
                let _ = temporary.keep();
                drop(registered);
                Ok(())
            }
            Err(source) => Err(OutputError::Write { path: out, source }),
        }
    }
}

fn remove_empty(folder: &Path) -> io::Result<()> {
    match fs::remove_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Copies a file to a path that does not exist yet.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if to.symlink_metadata().is_ok() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("another input has the same name there as {}", from.display()),
        ));
    }
    let data = fs::metadata(from)?;
    fs::copy(from, to)?;
    let mut times = FileTimes::new().set_modified(data.modified()?);
    if let Ok(accessed) = data.accessed() {
        times = times.set_accessed(accessed);
    }
    // The copy of a read-only file is also read-only, but its owner may still set its times.
    File::options().write(true).open(to).or_else(|_| File::open(to))?.set_times(times)
}
