//! Reads documents again: fields and times next to the text, spools, replays, states, references,
//! and files that change.

use super::*;
use crate::{Field, Format, InputStamp, Raw, Side, Spool};
use lookalike_test_support::gzip;
use proptest::prelude::*;
use std::fs;
use std::sync::Arc;

/// Collects documents with their fields, and raw records as text. For other inputs, the text
/// describes the input.
#[derive(Default)]
pub(super) struct Records {
    pub(super) documents: Vec<(String, String, Vec<Option<String>>)>,
    pub(super) raw: Vec<String>,
    pub(super) lines: Vec<Option<u64>>,
    pub(super) skipped: Vec<SkippedItem>,
    pub(super) modified: Vec<Option<u64>>,
}

impl DocumentSink for Records {
    type Error = ReadError;

    fn document(&mut self, document: &Document<'_>) -> Result<(), ReadError> {
        let fields = document.fields.iter().map(|field| field.map(str::to_owned)).collect();
        self.documents.push((document.id.to_owned(), document.text.to_owned(), fields));
        self.modified.push(document.modified);
        self.raw.push(match document.raw {
            Raw::Record(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Raw::File(path) => path.file_name().unwrap().to_str().unwrap().to_owned(),
            Raw::Part(path) => format!("part of {}", path.display()),
            Raw::Row(row) => row.to_string(),
        });
        Ok(())
    }

    fn skipped(&mut self, skipped: SkippedItem) -> Result<(), ReadError> {
        self.lines.push(skipped.line);
        self.skipped.push(skipped);
        Ok(())
    }
}

pub(super) fn spool(folder: &Path) -> Arc<Spool> {
    let path = folder.join("spool");
    let mut options = fs::OpenOptions::new();
    let file = options.create(true).truncate(false).read(true).write(true).open(&path).unwrap();
    Arc::new(Spool::new(file, path).unwrap())
}

/// Reads everything, then replays it, also from stored states. Returns the replayed documents.
pub(super) fn replayed(
    inputs: &[PathBuf],
    options: &ReadOptions,
    block_bytes: usize,
    spool: Option<&Arc<Spool>>,
) -> Records {
    let collection =
        Collection::with_block_bytes(Side::Paths(inputs), Side::Paths(&[]), options, block_bytes)
            .unwrap();
    let (mut first, mut second) = (Records::default(), Records::default());
    let mut scratch = ReadBuffers::default();
    let mut blocks = Vec::new();
    while let Some(block) = collection.next_block().unwrap() {
        block.read(&mut scratch, &mut first).unwrap();
        blocks.push(block.retain(spool, &mut ReadBuffers::default()).unwrap());
    }
    for block in &blocks {
        block.replay(&mut scratch, &mut second).unwrap();
    }
    assert_eq!(first.documents, second.documents);
    assert_eq!(first.lines, second.lines);
    assert_eq!(first.modified, second.modified);
    let states: Vec<_> = blocks.iter().filter_map(RetainedBlock::state).collect();
    assert!(spool.is_none() || states.len() == blocks.len());
    let text = serde_json::to_string(&states).unwrap();
    let states: Vec<_> = serde_json::from_str::<Vec<_>>(&text).unwrap();
    if states.len() == blocks.len() {
        let collection = Collection::with_block_bytes(
            Side::Paths(inputs),
            Side::Paths(&[]),
            options,
            block_bytes,
        )
        .unwrap();
        let mut resumed = Records::default();
        for state in states {
            let block = collection.retained(state, spool).unwrap();
            block.replay(&mut scratch, &mut resumed).unwrap();
        }
        assert_eq!(resumed.documents, second.documents);
        assert_eq!(resumed.raw, second.raw);
        assert_eq!(collection.bytes_read(), 0);
    }
    second
}

pub(super) fn with_fields(fields: &[&str]) -> ReadOptions {
    let fields = fields.iter().map(|&field| field.to_owned()).collect();
    ReadOptions { fields, skip_bad: true, ..ReadOptions::default() }
}

#[test]
fn fields_of_json() {
    let line = |line: &str, fields: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        fs::write(&path, line).unwrap();
        let all = replayed(&[path], &with_fields(fields), 1 << 20, None);
        all.documents[0].2.clone()
    };
    let some = |text: &str| Some(text.to_owned());
    let object = r#"{"id":1,"text":"t\n","s":"a\u0062\n","n":-1.50e1,"b":true,"z":null,
        "l":[1, "x"],"o":{"p":{"q":"deep"}},"o.p":7,"h":"\ud800","e":"","n":2}"#;
    let object = object.replace('\n', "");
    assert_eq!(
        line(&object, &["s", "n", "b", "z", "l", "o", "o.p", "o.p.q", "h", "e", "none", "text"]),
        [
            some("ab\n"),
            some("2"),
            some("true"),
            None,
            some("[1, \"x\"]"),
            some("{\"p\":{\"q\":\"deep\"}}"),
            some("7"),
            some("deep"),
            some("\\ud800"),
            some(""),
            None,
            some("t\n"),
        ]
    );
    assert_eq!(line(&object, &[]), []);
}

#[test]
fn fields_of_tables() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    let table = "\u{FEFF}\"id\",text,\"da\"\"te\"\r\n\r\na,x,2001\r\nb,\"y\r\nz\",\"\"\r\nc,d\r\n";
    fs::write(&path, table).unwrap();
    for block_bytes in [1, 9, 1 << 20] {
        let options = with_fields(&["da\"te", "id"]);
        let all = replayed(std::slice::from_ref(&path), &options, block_bytes, None);
        let fields: Vec<_> = all.documents.iter().map(|(_, _, f)| f.clone()).collect();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(fields, [[some("2001"), some("a")], [some(""), some("b")]]);
        assert_eq!(all.raw, ["a,x,2001\r", "b,\"y\r\nz\",\"\"\r"]);
        assert_eq!(all.lines, [Some(6)]);
    }
    let collection = Collection::open(std::slice::from_ref(&path), &with_fields(&[])).unwrap();
    assert_eq!(collection.header(0), None);
    drain(&collection).unwrap();
    let header = collection.header(0).unwrap();
    assert_eq!(header.raw, "\u{FEFF}\"id\",text,\"da\"\"te\"\r".as_bytes());
    assert_eq!(header.columns, ["id", "text", "da\"te"]);
    assert_eq!(collection.source_format(0), Some(Format::Csv));
    let error = read_paths(&[&path], &with_fields(&["day"]), 99).map(|_| ()).unwrap_err();
    let ReadError::Table { problem, .. } = &error else { panic!("{error}") };
    assert_eq!(problem.field(), Some(Field::Extra));
    let error = error.to_string();
    assert!(error.contains("no column \"day\" in the header, which has id, text, da\"te"));
    fs::write(&path, b"id,text,x\na,b,\xFF\n").unwrap();
    let all = read_paths(&[&path], &with_fields(&["x"]), 99).unwrap();
    assert_eq!((all.documents.len(), all.skipped[0].id.as_deref()), (0, Some("a")));
}

#[test]
fn times_are_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let set = |name: &str, bytes: &[u8], nanos: u64| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(nanos);
        fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    };
    set("a.txt", b"x", 1_000_000_000_000_000_100);
    set("b.txt", b"y", 1_000_000_000_000_000_300);
    set("c.jsonl", b"{\"id\":1,\"text\":\"z\"}", 1_000_000_000_000_000_500);
    let all = replayed(&[folder.path().to_owned()], &ReadOptions::default(), 99, None);
    let nanos = all.modified.iter().map(|time| time.unwrap() % 1000).collect::<Vec<_>>();
    assert_eq!(nanos, [100, 300, 500]);
    assert_eq!(all.raw, ["a.txt", "b.txt", "{\"id\":1,\"text\":\"z\"}"]);
}

#[test]
fn records_stand_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = "\u{FEFF}a 1\r\n\n b \nc\t2 \n\0\nlast 3";
    for (name, bytes) in
        [("x.train", bytes.as_bytes().to_vec()), ("x.train.gz", gzip(bytes.as_bytes()))]
    {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        for spool in [None, Some(&spool(folder.path()))] {
            let inputs = std::slice::from_ref(&path);
            let all = replayed(inputs, &with_fields(&["x"]), 3, spool);
            assert_eq!(all.raw, ["a 1\r", "c\t2 ", "last 3"]);
            assert_eq!(all.documents[0].2, [None]);
            assert_eq!(all.lines, [Some(3), Some(5)]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Replaying gives the same documents as the first reading, wherever the blocks are kept.
    /// Reading the raw records as a separate table also gives them.
    #[test]
    fn replays_are_the_first_reading(
        body in "([a-c]{1,2},[ab\"\n\r]{0,4}\n){0,9}[ab,\"\n\r]{0,9}", block_bytes in 1..40usize,
        packed in any::<bool>(), spooled in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let table = format!("id,text\n{body}");
        let path = folder.path().join(if packed { "x.csv.zst" } else { "x.csv" });
        let bytes = if packed { zst(table.as_bytes()) } else { table.into_bytes() };
        fs::write(&path, bytes).unwrap();
        let spool = spool(folder.path());
        let inputs = [path];
        let all = replayed(&inputs, &with_fields(&["id"]), block_bytes, spooled.then_some(&spool));
        let copy = format!("id,text\n{}\n", all.raw.join("\n"));
        let repeated = read_skipping("x.csv", copy);
        let documents: Vec<_> =
            all.documents.into_iter().map(|(id, text, _)| (id, text)).collect();
        prop_assert_eq!(documents, repeated.documents);
        prop_assert!(repeated.skipped.is_empty());
    }
}

#[test]
pub(super) fn spooled_documents_are_fetched() {
    let folder = tempfile::tempdir().unwrap();
    let lines = (0..500).map(|n| format!("{{\"id\":{n},\"text\":\"text {n}\"}}\n"));
    let lines = lines.collect::<Vec<_>>().concat();
    let path = folder.path().join("x.jsonl.gz");
    fs::write(&path, gzip(lines.as_bytes())).unwrap();
    let spool = spool(folder.path());
    let options = ReadOptions::default();
    let collection =
        Collection::with_block_bytes(Side::Paths(&[path]), Side::Paths(&[]), &options, 256)
            .unwrap();
    let blocks = parking_lot::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut scratch = ReadBuffers::default();
                while let Some(block) = collection.next_block().unwrap() {
                    let mut taken = Taken::default();
                    block.read(&mut scratch, &mut taken).unwrap();
                    blocks.lock().push((
                        block.retain(Some(&spool), &mut ReadBuffers::default()).unwrap(),
                        taken,
                    ));
                }
            });
        }
    });
    assert_eq!(spool.len(), lines.len() as u64);
    let mut scratch = ReadBuffers::default();
    let blocks = blocks.into_inner();
    let mut count = 0;
    for (retained, taken) in &blocks {
        assert!(retained.state().is_some(), "bytes are kept in memory");
        for (id, text, place) in &taken.documents {
            let place = DocumentPosition::from_numbers(place.to_numbers());
            retained.fetch(place, id, &mut scratch, |fetched| assert_eq!(fetched, text)).unwrap();
            count += 1;
        }
    }
    assert_eq!(count, 500);
    // A position without a document, and a truncated spool.
    let missing = DocumentPosition::from_numbers([250, 100, 0, 0]);
    let error = blocks[0].0.fetch(missing, "1", &mut scratch, |_| ()).unwrap_err();
    assert!(matches!(error, ReadError::Changed { .. }), "{error}");
    fs::File::options().write(true).open(spool.path()).unwrap().set_len(10).unwrap();
    let error = blocks.last().unwrap().0.replay(&mut scratch, &mut Records::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("spool: ") && error.contains("temp_dir"), "{error}");
}

#[test]
fn states_of_another_collection_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), "x").unwrap();
    let record = folder.path().join("b.jsonl");
    fs::write(&record, "{\"id\":1,\"text\":\"z\"}").unwrap();
    let all = [folder.path().to_owned()];
    let whole = Collection::open(&all, &ReadOptions::default()).unwrap();
    let blocks = blocks(&whole).unwrap();
    let one = Collection::open(&[record], &ReadOptions::default()).unwrap();
    let states: Vec<_> = blocks.iter().map(|(retained, _)| retained.state().unwrap()).collect();
    for state in states {
        let error = one.retained(state, None).map(|_| ()).unwrap_err();
        assert!(matches!(error, ReadError::Changed { .. }), "{error}");
    }
}

#[test]
fn changed_blocks_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    let good = "{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":\"y\"}\n";
    for changed in [&good[..30], &good.replace("\"b\"", "null")] {
        fs::write(&path, good).unwrap();
        let inputs = std::slice::from_ref(&path);
        let collection = Collection::open(inputs, &ReadOptions::default()).unwrap();
        let blocks = blocks(&collection).unwrap();
        fs::write(&path, changed).unwrap();
        let error = blocks[0].0.replay(&mut ReadBuffers::default(), &mut Records::default());
        assert!(matches!(error, Err(ReadError::Changed { .. })), "{error:?}");
    }
}

#[test]
fn changed_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (text, record) = (folder.path().join("a.txt"), folder.path().join("b.jsonl"));
    fs::write(&text, "x").unwrap();
    fs::write(&record, "{\"id\":1,\"text\":\"z\"}").unwrap();
    let inputs = [folder.path().to_owned()];
    let collection = Collection::open(&inputs, &ReadOptions::default()).unwrap();
    let stamps: Vec<InputStamp> = collection.inputs();
    let sizes: Vec<_> = stamps.iter().map(|stamp| stamp.bytes).collect();
    assert_eq!(sizes, [1, 19]);
    assert!(stamps[0].name.ends_with("/a.txt") && stamps[0].modified.is_some());
    collection.check_unchanged().unwrap();
    // A file with the same length and another time.
    let old = fs::metadata(&record).unwrap().modified().unwrap();
    let file = fs::File::options().write(true).open(&record).unwrap();
    file.set_modified(old + std::time::Duration::from_nanos(100)).unwrap();
    let error = collection.check_unchanged().unwrap_err().to_string();
    assert!(error.contains("b.jsonl: changed since it was opened: it had 19 bytes"), "{error}");
    file.set_modified(old).unwrap();
    collection.check_unchanged().unwrap();
    fs::write(&text, "longer").unwrap();
    let error = collection.check_unchanged().unwrap_err().to_string();
    assert!(error.contains("had 1 bytes") && error.contains("has 6 bytes"), "{error}");
    fs::remove_file(&text).unwrap();
    let error = collection.check_unchanged().unwrap_err();
    assert!(matches!(&error, ReadError::InputChanged { after: Err(_), .. }), "{error}");
}

#[test]
fn references_stand_behind_the_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    for (side, name) in [(&one, "a.txt"), (&two, "b.txt")] {
        fs::create_dir(side).unwrap();
        fs::write(side.join(name), "x").unwrap();
        fs::write(side.join("c.jsonl"), format!("{{\"id\":\"{name}!\",\"text\":\"\"}}")).unwrap();
    }
    let options = ReadOptions::default();
    let open = |inputs: &[PathBuf], reference: &[PathBuf]| {
        Collection::open_with_reference(inputs, reference, &options)
    };
    let both = open(&[one], std::slice::from_ref(&two)).unwrap();
    assert_eq!(drain(&both).unwrap().ids(), ["a.txt", "a.txt!", "b.txt", "b.txt!"]);
    let sides: Vec<_> = (0..both.sources()).map(|source| both.is_reference(source)).collect();
    assert_eq!(sides, [false, false, true, true]);
    assert!(matches!(open(&[], &[two]), Err(ReadError::NoInputs)));
    let error = open(&[folder.path().join("one/a.txt")], &[folder.path().join("none")]);
    assert!(matches!(error, Err(ReadError::Missing { .. })));
}

/// The error of [`SecondFails`].
#[derive(Debug)]
enum SinkError {
    Second(u32),
    Read(ReadError),
}

impl std::fmt::Display for SinkError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Second(number) => write!(f, "{number} is too much"),
            Self::Read(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SinkError {}

impl From<ReadError> for SinkError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

/// Counts documents and skipped records, and fails at the second.
#[derive(Default)]
struct SecondFails(u32);

impl DocumentSink for SecondFails {
    type Error = SinkError;

    fn document(&mut self, _: &Document<'_>) -> Result<(), SinkError> {
        self.0 += 1;
        if self.0 < 2 { Ok(()) } else { Err(SinkError::Second(self.0)) }
    }

    fn skipped(&mut self, _: SkippedItem) -> Result<(), SinkError> {
        self.0 += 1;
        if self.0 < 2 { Ok(()) } else { Err(SinkError::Second(self.0)) }
    }
}

/// Readers of every format return the sink's own error unchanged, at the first and at later
/// readings.
#[test]
fn sink_errors_end_the_reading() {
    let folder = tempfile::tempdir().unwrap();
    let mailbox = "From a@b Thu Jan  1 00:00:00 1970\nFrom: x\nTo: y\n\ntext\n\n".repeat(3);
    let json = "{\"id\":\"a\",\"text\":\"b\"}\nno json\n{\"id\":\"c\",\"text\":\"d\"}\n";
    let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
    let inputs = [
        ("a.jsonl", json),
        ("b.train", "a b\nc d\ne f\n"),
        ("c.csv", "id,text\na,b\nc,d\ne,f\n"),
        ("d.mbox", &mailbox),
        ("e/a.txt", "a"),
    ];
    fs::create_dir(folder.path().join("e")).unwrap();
    fs::write(folder.path().join("e/b.txt"), "b").unwrap();
    for (name, text) in inputs {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let input = if name.starts_with('e') { path.parent().unwrap().to_owned() } else { path };
        let collection = Collection::open(&[input], &options).unwrap();
        let (mut sink, mut buffers) = (SecondFails::default(), ReadBuffers::default());
        let block = collection.next_block().unwrap().unwrap();
        let read = block.read(&mut buffers, &mut sink);
        assert!(matches!(read, Err(SinkError::Second(2))), "{name}: {read:?}");
        let retained = block.retain(None, &mut buffers).unwrap();
        let mut sink = SecondFails::default();
        let read = retained.replay(&mut buffers, &mut sink);
        assert!(matches!(read, Err(SinkError::Second(2))), "{name}: {read:?}");
        assert_eq!(sink.0, 2);
    }
}
