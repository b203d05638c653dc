//! Files that appear only when they are complete.

use super::part_file::PartFile;
use super::{OutputCompression, OutputFormat, Target, UnknownName};
use crate::report::error::OutputError;
use flate2::write::GzEncoder;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The size of the buffer for writing.
const BUFFER_BYTES: usize = 1 << 18;

/// A file that is written under a temporary name in the folder of its final name. An existing file
/// is kept until [`finish`](Self::finish). Dropping the output earlier removes the temporary file.
/// The new file keeps the permissions of the one it replaces.
///
/// [Standard output](Self::standard_output) is written without delay.
pub struct Output {
    /// The name as the user wrote it.
    path: PathBuf,
    encoder: Encoder,
}

enum Encoder {
    Plain(BufWriter<OutputSink>),
    Gzip(GzEncoder<BufWriter<OutputSink>>),
    Zstd(zstd::stream::write::Encoder<'static, BufWriter<OutputSink>>),
}

/// The destination of the bytes.
enum OutputSink {
    File {
        part: PartFile,
        /// The file to replace. If the path is a link, the target of the link.
        place: PathBuf,
    },
    StandardOutput(io::Stdout),
    /// Discards the bytes of a check.
    Nothing,
}

impl Output {
    /// Creates the temporary file.
    ///
    /// # Errors
    /// [`OutputError::Write`] if the folder does not exist or is not writable, or if the path
    /// exists and is not a file.
    pub fn create(target: &Target) -> Result<Self, OutputError> {
        Self::with(target.path.clone(), target.compression)
    }

    /// Creates the temporary file of a name that does not state a format. Compresses if the name
    /// ends in `.gz` or `.zst`.
    ///
    /// # Errors
    /// See [`create`](Self::create).
    pub fn named(path: &Path) -> Result<Self, OutputError> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase());
        Self::with(path.to_owned(), OutputCompression::of(&name.unwrap_or_default()).0)
    }

    /// Creates an output that writes to standard output, uncompressed and without delay. Its path
    /// is `-`.
    pub fn standard_output() -> Self {
        Self::plain(OutputSink::StandardOutput(io::stdout()))
    }

    /// Creates an output that writes nothing, instead of [standard output](Self::standard_output).
    pub(crate) fn discarding() -> Self {
        Self::plain(OutputSink::Nothing)
    }

    /// The requested path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the error of an output whose format is not one of the `possible` ones.
    pub(super) fn other_format(&self, possible: &'static [OutputFormat]) -> OutputError {
        OutputError::Name(UnknownName { path: self.path.clone(), possible })
    }

    fn plain(sink: OutputSink) -> Self {
        let encoder = Encoder::Plain(BufWriter::with_capacity(BUFFER_BYTES, sink));
        Self { path: PathBuf::from("-"), encoder }
    }

    fn with(path: PathBuf, compression: OutputCompression) -> Result<Self, OutputError> {
        let opened = place(&path).and_then(|place| {
            let part = PartFile::create(&place)?;
            let file = BufWriter::with_capacity(BUFFER_BYTES, OutputSink::File { part, place });
            Ok(match compression {
                OutputCompression::None => Encoder::Plain(file),
                OutputCompression::Gzip => {
                    Encoder::Gzip(GzEncoder::new(file, flate2::Compression::default()))
                }
                OutputCompression::Zstd => {
                    let level = zstd::DEFAULT_COMPRESSION_LEVEL;
                    Encoder::Zstd(zstd::stream::write::Encoder::new(file, level)?)
                }
            })
        });
        match opened {
            Ok(encoder) => Ok(Self { path, encoder }),
            Err(source) => Err(OutputError::Write { path, source }),
        }
    }

    /// Calls `write`, syncs the file to the disk and renames it to its final name.
    ///
    /// # Errors
    /// [`OutputError::Write`]. In this case, an existing file is unchanged.
    pub fn finish(
        self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        let Self { path, mut encoder } = self;
        let result = write(&mut encoder).and_then(|()| encoder.into_sink()?.finish());
        result.map_err(|error| OutputError::Write { path, source: of_system(error) })
    }
}

/// Extracts the error of the system from the error of the CSV writer.
fn of_system(error: io::Error) -> io::Error {
    match error.downcast::<::csv::Error>().map(::csv::Error::into_kind) {
        Ok(::csv::ErrorKind::Io(error)) | Err(error) => error,
        Ok(kind) => io::Error::other(format!("{kind:?}")),
    }
}

/// Writes bytes before [`finish`](Output::finish).
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.encoder.flush()
    }
}

impl OutputSink {
    fn finish(self) -> io::Result<()> {
        match self {
            Self::File { part, place } => {
                part.as_file().sync_all()?;
                part.persist(&place)
            }
            Self::StandardOutput(mut out) => out.flush(),
            Self::Nothing => Ok(()),
        }
    }
}

impl Write for OutputSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File { part, .. } => part.as_file_mut().write(bytes),
            Self::StandardOutput(out) => out.write(bytes),
            Self::Nothing => Ok(bytes.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File { part, .. } => part.as_file_mut().flush(),
            Self::StandardOutput(out) => out.flush(),
            Self::Nothing => Ok(()),
        }
    }
}

impl Encoder {
    fn into_sink(self) -> io::Result<OutputSink> {
        let buffered = match self {
            Self::Plain(file) => file,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
        };
        buffered.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl Write for Encoder {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(writer) => writer.write(bytes),
            Self::Gzip(writer) => writer.write(bytes),
            Self::Zstd(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.flush(),
            Self::Gzip(writer) => writer.flush(),
            Self::Zstd(writer) => writer.flush(),
        }
    }
}

/// Returns the path of the file to replace. Follows a link, so that the link remains a link.
/// Refuses a device, a pipe or a folder, because renaming would replace it.
fn place(path: &Path) -> io::Result<PathBuf> {
    match path.metadata() {
        Ok(data) if data.is_file() => path.canonicalize(),
        Ok(_) => {
            Err(io::Error::new(io::ErrorKind::AlreadyExists, "it exists and is not a plain file"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::super::OutputFormat;
    use super::super::part_file::remove_leftovers;
    use super::*;
    use std::io::Read;

    fn target(path: &Path) -> Target {
        Target::new(path, &[OutputFormat::Csv]).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_appear_only_when_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let output = Output::create(&target(&path)).unwrap();
        assert!(!path.exists());
        output.finish(|w| w.write_all(b"x\n")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"x\n");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn failed_writes_keep_the_old_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, "old").unwrap();
        let output = Output::create(&target(&path)).unwrap();
        let error = output.finish(|_| Err(io::Error::other("full"))).unwrap_err();
        assert!(error.to_string().contains("a.csv: full"), "{error}");
        drop(Output::create(&target(&path)).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn unusable_output_paths_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |path: &Path| Output::create(&target(path)).err().unwrap().to_string();
        assert!(refused(&folder.path().join("no/a.csv")).contains("no/a.csv"));
        let in_the_way = folder.path().join("d.csv");
        std::fs::create_dir(&in_the_way).unwrap();
        assert!(refused(&in_the_way).contains("not a plain file"));
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real.csv");
        let link = folder.path().join("link.csv");
        std::fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let output = Output::create(&target(&link)).unwrap();
        output.finish(|w| w.write_all(b"new")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
    }

    #[cfg(unix)]
    #[test]
    fn replaced_files_keep_their_permissions() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o7777;
        for kept in [0o600, 0o640, 0o664, 0o777, 0o400] {
            std::fs::write(&path, "old").unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(kept)).unwrap();
            let output = Output::create(&target(&path)).unwrap();
            let part = folder.path().join(names(folder.path()).swap_remove(0));
            assert_eq!(mode(&part), kept, "while it is written");
            output.finish(|w| w.write_all(b"new")).unwrap();
            assert_eq!((mode(&path), std::fs::read(&path).unwrap()), (kept, b"new".to_vec()));
            std::fs::remove_file(&path).unwrap();
        }
        Output::create(&target(&path)).unwrap().finish(|w| w.write_all(b"new")).unwrap();
        let new = folder.path().join("new");
        std::fs::write(&new, "any new file").unwrap();
        assert_eq!(mode(&path), mode(&new));
    }

    #[cfg(unix)]
    #[test]
    fn leftover_removal_spares_live_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let output = Output::create(&target(&path("a.csv"))).unwrap();
        let live = names(folder.path());
        let kept = [".lookalike-abc.part", ".lookalike-abcde_.part", "lookalike-abcdef.part"];
        for name in kept.iter().chain(&[".lookalike-Abc123.part", ".lookalike-xyz789.part"]) {
            std::fs::write(path(name), "left").unwrap();
        }
        std::fs::create_dir(path(".lookalike-folder.part")).unwrap();
        std::fs::write(path("document"), "precious").unwrap();
        std::os::unix::fs::symlink("document", path(".lookalike-linked.part")).unwrap();
        let found = remove_leftovers(&path("a.csv"));
        assert_eq!(found.removed, [path(".lookalike-Abc123.part"), path(".lookalike-xyz789.part")]);
        assert_eq!(found.folders, [path(".lookalike-folder.part")]);
        let mut expected: Vec<String> = kept.iter().map(|name| (*name).to_owned()).collect();
        expected.extend(live);
        expected.extend([".lookalike-folder.part", ".lookalike-linked.part"].map(str::to_owned));
        expected.push("document".to_owned());
        expected.sort();
        assert_eq!(names(folder.path()), expected);
        output.finish(|w| w.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(path("a.csv")).unwrap(), b"new");
    }

    #[test]
    fn compressed_files_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = folder.path().join(name);
            let output = Output::create(&target(&path)).unwrap();
            output.finish(|w| w.write_all(b"a,b\n")).unwrap();
            std::fs::read(path).unwrap()
        };
        let mut text = String::new();
        flate2::read::GzDecoder::new(&write("a.csv.gz")[..]).read_to_string(&mut text).unwrap();
        assert_eq!(text, "a,b\n");
        assert_eq!(zstd::decode_all(&write("a.csv.zst")[..]).unwrap(), b"a,b\n");
    }
}
