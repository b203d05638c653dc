//! Text files that stay → a list of them, or copies in a folder that appears whole.

use super::annotation::{Annotate, Values};
use super::destination::ListFormat;
use super::values;
use crate::error::Error;
use crate::write::Output;
use std::fs::{self, File, FileTimes};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A list of files being written.
pub(super) struct List {
    output: Output,
    format: ListFormat,
    line: Vec<u8>,
    /// The file listed last, which may have several documents.
    last: Option<PathBuf>,
}

impl List {
    pub(super) fn create(
        path: &Path,
        format: ListFormat,
        annotate: Option<&Annotate>,
    ) -> Result<Self, Error> {
        let mut this = Self { output: Output::named(path)?, format, line: Vec::new(), last: None };
        if format == ListFormat::Csv {
            let columns = annotate.map(Annotate::columns).unwrap_or_default();
            let columns: &[String] = if annotate.is_some() { &columns } else { &[] };
            values::separated(b',', b"id,path", columns, &mut this.line);
            this.end_line()?;
        }
        Ok(this)
    }

    /// Adds a file: only kept ones are given where there is no annotation.
    pub(super) fn file(
        &mut self,
        id: &str,
        path: &Path,
        annotation: Option<(&Annotate, Values<'_>)>,
    ) -> Result<(), Error> {
        match self.format {
            ListFormat::Paths if self.last.as_deref() == Some(path) => return Ok(()),
            ListFormat::Paths => self.path(path)?,
            ListFormat::Csv => {
                let shown = crate::read::name_of(path);
                let mut columns = vec![shown];
                columns.extend(annotation.iter().flat_map(|(_, values)| values.columns()));
                let mut first = Vec::new();
                values::quoted(b',', id, &mut first);
                values::separated(b',', &first, &columns, &mut self.line);
            }
            ListFormat::Jsonl => {
                let shown = crate::read::name_of(path);
                let object = serde_json::json!({ "id": id, "path": shown }).to_string();
                match annotation {
                    // An object of ours has no such field but when the user calls it `id`.
                    Some((annotate, values)) => {
                        values::json(object.as_bytes(), annotate, &values, &mut self.line)
                            .map_err(|fault| self.refused(&fault.to_string()))?;
                    }
                    None => self.line.extend_from_slice(object.as_bytes()),
                }
            }
        }
        self.last = Some(path.to_owned());
        self.end_line()
    }

    fn path(&mut self, path: &Path) -> Result<(), Error> {
        let bytes = path.as_os_str().as_encoded_bytes();
        if bytes.contains(&b'\n') {
            let shown = path.to_string_lossy();
            return Err(self.refused(&format!(
                "the path {shown:?} has a line end in it, which a list of lines cannot hold; end \
                 the name in .csv or .jsonl"
            )));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn refused(&self, problem: &str) -> Error {
        Error::Survivors { path: self.output.path().to_owned(), problem: problem.to_owned() }
    }

    fn end_line(&mut self) -> Result<(), Error> {
        self.line.push(b'\n');
        let written = self.output.write_all(&self.line);
        self.line.clear();
        written.map_err(|source| Error::Write { path: self.output.path().to_owned(), source })
    }

    pub(super) fn finish(self) -> Result<(), Error> {
        self.output.finish(|_| Ok(()))
    }
}

/// A folder being filled under a temporary name beside its own. Dropped before
/// [`finish`](Self::finish), it goes with all that is in it.
pub(super) struct Folder {
    out: PathBuf,
    temporary: TempDir,
}

impl Folder {
    pub(super) fn create(out: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Write { path: out.to_owned(), source };
        let whole = std::path::absolute(out).map_err(failed)?;
        let parent = whole.parent().unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".lookalike-").suffix(".part");
        #[cfg(unix)]
        {
            // As any new folder: open to whom the user lets, less what the umask takes.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o777));
        }
        let temporary = builder.tempdir_in(parent).map_err(failed)?;
        Ok(Self { out: whole, temporary })
    }

    /// The path under which a file of the folder is written now; the folders above it are made.
    pub(super) fn place(&self, name: &Path) -> Result<PathBuf, Error> {
        let place = self.temporary.path().join(name);
        let made = place.parent().map_or(Ok(()), fs::create_dir_all);
        made.map_err(|source| self.failed(name, source))?;
        Ok(place)
    }

    /// An error that names a file by the place it would have had.
    pub(super) fn named(&self, error: Error) -> Error {
        let named = |path: PathBuf| match path.strip_prefix(self.temporary.path()) {
            Ok(name) => self.out.join(name),
            Err(_) => path,
        };
        match error {
            Error::Write { path, source } => Error::Write { path: named(path), source },
            Error::Survivors { path, problem } => Error::Survivors { path: named(path), problem },
            error => error,
        }
    }

    /// Copies a file with its permissions and times.
    pub(super) fn copy(&self, from: &Path, name: &Path) -> Result<(), Error> {
        let place = self.place(name)?;
        copy(from, &place).map_err(|source| self.failed(name, source))
    }

    fn failed(&self, name: &Path, source: io::Error) -> Error {
        Error::Write { path: self.out.join(name), source }
    }

    /// Gives the folder its name.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Self { out, temporary } = self;
        let renamed = remove_empty(&out).and_then(|()| fs::rename(temporary.path(), &out));
        match renamed {
            Ok(()) => {
                // Nothing is left under the temporary name.
                let _ = temporary.keep();
                Ok(())
            }
            Err(source) => Err(Error::Write { path: out, source }),
        }
    }
}

fn remove_empty(folder: &Path) -> io::Result<()> {
    match fs::remove_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Copies a file that is not there yet.
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
    // A file that may only be read was copied as such: its owner may still set its times.
    File::options().write(true).open(to).or_else(|_| File::open(to))?.set_times(times)
}
