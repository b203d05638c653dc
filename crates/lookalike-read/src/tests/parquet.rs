//! Parquet files of all forms: encodings, versions, row groups and nulls. Also damaged files.

use super::again::{Records, replayed, spool, with_fields};
use super::*;
use crate::{Field, Format, Side, SkipReason, TableProblem};
use ::parquet::basic::{Compression, Encoding, GzipLevel, ZstdLevel};
use ::parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type,
};
use ::parquet::file::properties::{
    EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion,
};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use lookalike_test_support::gzip;
use parking_lot::Mutex;
use proptest::prelude::*;
use std::fs;
use std::sync::Arc;

/// Values of one column of one row group.
enum Column {
    Text(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
    Int32(Vec<i32>),
    Int64(Vec<Option<i64>>),
    Bool(Vec<bool>),
    Float(Vec<f32>),
    Double(Vec<f64>),
}

/// Returns the definition levels of all values, and the values that are not null.
fn parts<T: Clone, U>(values: &[Option<T>], f: impl Fn(T) -> U) -> (Vec<i16>, Vec<U>) {
    let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
    (levels, values.iter().flatten().cloned().map(f).collect())
}

/// Writes a file with this schema and these row groups. Optional columns contain optional values.
fn write(schema: &str, groups: &[Vec<Column>], properties: WriterPropertiesBuilder) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let properties = Arc::new(properties.build());
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    for group in groups {
        let mut rows = writer.next_row_group().unwrap();
        for column in group {
            let mut out = rows.next_column().unwrap().unwrap();
            match column {
                Column::Text(values) => {
                    let (levels, values) = parts(values, |text| ByteArray::from(text.as_str()));
                    let out = out.typed::<ByteArrayType>();
                    out.write_batch(&values, Some(&levels), None).unwrap();
                }
                Column::Bytes(values) => {
                    let (levels, values) = parts(values, ByteArray::from);
                    let out = out.typed::<ByteArrayType>();
                    out.write_batch(&values, Some(&levels), None).unwrap();
                }
                Column::Int64(values) => {
                    let (levels, values) = parts(values, |number| number);
                    out.typed::<Int64Type>().write_batch(&values, Some(&levels), None).unwrap();
                }
                Column::Int32(values) => {
                    out.typed::<Int32Type>().write_batch(values, None, None).unwrap();
                }
                Column::Bool(values) => {
                    out.typed::<BoolType>().write_batch(values, None, None).unwrap();
                }
                Column::Float(values) => {
                    out.typed::<FloatType>().write_batch(values, None, None).unwrap();
                }
                Column::Double(values) => {
                    out.typed::<DoubleType>().write_batch(values, None, None).unwrap();
                }
            }
            out.close().unwrap();
        }
        rows.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

const PLAIN: &str = "message x { optional binary id (STRING); optional binary text (STRING); }";

#[expect(clippy::unnecessary_wraps, reason = "what columns are made of")]
fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Writes a file of ids and texts.
fn plain(groups: &[&[(&str, &str)]], properties: WriterPropertiesBuilder) -> Vec<u8> {
    let group = |rows: &&[(&str, &str)]| {
        let (ids, texts) = rows.iter().map(|(id, text)| (some(id), some(text))).unzip();
        vec![Column::Text(ids), Column::Text(texts)]
    };
    write(PLAIN, &groups.iter().map(group).collect::<Vec<_>>(), properties)
}

/// Writes a file of texts with the ids 0, 1, ….
pub(super) fn file_of(texts: &[&str]) -> Vec<u8> {
    let ids: Vec<String> = (0..texts.len()).map(|id| id.to_string()).collect();
    let rows: Vec<(&str, &str)> =
        ids.iter().zip(texts).map(|(id, text)| (id.as_str(), *text)).collect();
    plain(&[&rows], WriterProperties::builder())
}

fn in_file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

#[test]
fn rows_of_several_groups() {
    let groups: [&[(&str, &str)]; 3] = [&[("a", "one"), ("b", "")], &[], &[("c", "é😀\0\n")]];
    let bytes = plain(&groups, WriterProperties::builder());
    for name in ["x.parquet", "X.PARQUET", "x"] {
        let all = read(name, &bytes).unwrap();
        assert_eq!((all.ids(), all.texts()), (vec!["a", "b", "c"], vec!["one", "", "é😀\0\n"]));
        let lines: Vec<&str> = all.places.iter().map(|p| p.rsplit(':').next().unwrap()).collect();
        assert_eq!(lines, ["1", "2", "3"]);
    }
    let (folder, path) = in_file("x.parquet", &bytes);
    fs::write(folder.path().join("a.txt"), "a file").unwrap();
    let all = read_paths(&[folder.path()], &ReadOptions::default(), 1).unwrap();
    assert_eq!(all.ids(), ["a.txt", "a", "b", "c"]);
    for spool in [None, Some(&spool(folder.path()))] {
        for block_bytes in [1, 1 << 20] {
            let all = replayed(std::slice::from_ref(&path), &with_fields(&[]), block_bytes, spool);
            assert_eq!(all.raw, ["0", "1", "2"]);
            assert!(all.modified.iter().all(Option::is_some));
        }
    }
    let options = ReadOptions { line_ids: true, ..ReadOptions::default() };
    let all = read_paths(&[&path], &options, 1).unwrap();
    assert_eq!(all.ids(), all.places);
    let collection = Collection::open(&[path], &ReadOptions::default()).unwrap();
    assert_eq!((collection.sources(), collection.source_format(0)), (1, Some(Format::Parquet)));
    let empty = plain(&[], WriterProperties::builder());
    assert!(read("x.parquet", &empty).unwrap().documents.is_empty());
}

#[test]
fn columns_of_all_kinds() {
    let schema = "message x {
        required int32 n (INTEGER(32, false));
        required group meta { optional int64 id; }
        required boolean flag; required double score;
        optional binary raw; optional binary text (STRING);
    }";
    let group = vec![
        Column::Int32(vec![-1, 7]),
        Column::Int64(vec![Some(-5), Some(i64::MAX)]),
        Column::Bool(vec![true, false]),
        Column::Double(vec![0.5, -3.0]),
        Column::Bytes(vec![None, Some(b"r".to_vec())]),
        Column::Text(vec![some("x"), some("y")]),
    ];
    let bytes = write(schema, &[group], WriterProperties::builder());
    let (_folder, path) = in_file("x.parquet", &bytes);
    let fields = ["n", "flag", "score", "raw", "meta.id"];
    let options = ReadOptions { id_field: "meta.id".into(), ..with_fields(&fields) };
    let all = replayed(std::slice::from_ref(&path), &options, 1, None);
    let fields: Vec<_> = all.documents.iter().map(|(.., fields)| fields.clone()).collect();
    let first = [some("4294967295"), some("true"), some("0.5"), None, some("-5")];
    let second = [some("7"), some("false"), some("-3"), some("r"), some("9223372036854775807")];
    assert_eq!(fields, [first, second]);
    assert_eq!((&*all.documents[0].0, &*all.documents[1].1), ("-5", "y"));
    let error = |id: &str, text: &str| {
        let (id_field, text_field) = (id.to_owned(), text.to_owned());
        let options = ReadOptions { id_field, text_field, ..ReadOptions::default() };
        read_paths(&[&path], &options, 1).map(|_| ()).unwrap_err().to_string()
    };
    let present = "n: uint32, meta.id: int64, flag: boolean, score: double, raw: byte_array, \
                   text: string";
    let missing = error("id", "text");
    assert!(missing.contains("no column \"id\"") && missing.contains(present), "{missing}");
    let wrong = error("n", "flag");
    assert!(wrong.contains("\"flag\" must contain strings, but has type boolean"), "{wrong}");
    assert!(wrong.contains(present) && wrong.ends_with("with text_field"), "{wrong}");
    assert!(error("score", "text").contains("strings or whole numbers, but has type double"));
}

#[test]
fn nan_fields_have_no_value() {
    let schema = "message x {
        required float rank; required double score;
        optional binary id (STRING); optional binary text (STRING);
    }";
    let group = vec![
        Column::Float(vec![f32::NAN, -f32::NAN, 0.1]),
        Column::Double(vec![f64::NAN, -0.0, f64::INFINITY]),
        Column::Text(vec![some("NaN"), some("b"), some("c")]),
        Column::Text(vec![some("NaN"), some("x"), some("y")]),
    ];
    let bytes = write(schema, &[group], WriterProperties::builder());
    let (_folder, path) = in_file("x.parquet", &bytes);
    let all = replayed(&[path], &with_fields(&["rank", "score", "text"]), 1, None);
    let fields: Vec<_> = all.documents.iter().map(|(.., fields)| fields.clone()).collect();
    let rows = [
        [None, None, some("NaN")],
        [None, some("-0"), some("x")],
        [some("0.1"), some("inf"), some("y")],
    ];
    assert_eq!(fields, rows);
    assert_eq!(all.documents[0].0, "NaN");
}

#[test]
fn nested_and_odd_columns_are_refused() {
    for (schema, got) in [
        ("message x { required binary id (STRING); repeated binary text (STRING); }", "list of"),
        (
            "message x { required binary id (STRING); required fixed_len_byte_array(4) text; }",
            "fixed_len_byte_array",
        ),
        ("message x { required binary id (STRING); required int96 text; }", "int96"),
        ("message x { required int32 id (DECIMAL(9,2)); required binary text; }", "(Decimal"),
    ] {
        let bytes = write(schema, &[], WriterProperties::builder());
        let error = read("x.parquet", &bytes).map(|_| ()).unwrap_err();
        assert!(
            matches!(error, ReadError::Table { problem: TableProblem::ColumnType { .. }, .. }),
            "{error}"
        );
        assert!(error.to_string().contains(got), "{error}");
    }
    let twice = "message x { required binary a.b; required group a { required binary b; } \
                 required binary text; }";
    if parse_message_type(twice).is_ok() {
        let bytes = write(twice, &[], WriterProperties::builder());
        let options = ReadOptions { id_field: "a.b".into(), ..ReadOptions::default() };
        let error = read_named("x.parquet", &bytes, &options, 1).map(|_| ()).unwrap_err();
        assert!(
            matches!(
                error,
                ReadError::Table { problem: TableProblem::Column { found: 2, .. }, .. }
            ),
            "{error}"
        );
    }
}

#[test]
fn bad_rows() {
    let text = |text: &str| Some(text.as_bytes().to_vec());
    let group = vec![
        Column::Bytes(vec![text("a"), None, text("c"), text(""), text("e"), text("f")]),
        Column::Bytes(vec![
            text("x"),
            text("y"),
            None,
            text("z"),
            Some(vec![b'o', 0xFF]),
            text(""),
        ]),
    ];
    let bytes = write(PLAIN, &[group], WriterProperties::builder());
    let all = read_skipping("x.parquet", &bytes);
    assert_eq!(all.ids(), ["a", "f"]);
    let skipped: Vec<_> =
        all.skipped.iter().map(|s| (s.line.unwrap(), s.id.as_deref(), s.reason.clone())).collect();
    let null = |field, name: &str| SkipReason::Null { field, name: name.to_owned() };
    assert_eq!(
        skipped,
        [
            (2, None, null(Field::Id, "id")),
            (3, Some("c"), null(Field::Text, "text")),
            (4, None, SkipReason::EmptyId),
            (5, Some("e"), SkipReason::NotUtf8 { column: 2 }),
        ]
    );
    let error = read("x.parquet", &bytes).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("x.parquet:2: the column \"id\" is null in this row; name "), "{error}");
    let (_folder, path) = in_file("x.parquet", &bytes);
    assert_eq!(replayed(&[path], &with_fields(&[]), 1, None).lines.len(), 4);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// All forms of files give the same documents, for blocks of any size and any number of
    /// threads.
    #[test]
    fn any_make_is_read(
        texts in prop::collection::vec("[a-zé ]{0,30}", 1..60), group in 1..30usize,
        block_bytes in 1..400usize, dictionary in any::<bool>(), two in any::<bool>(),
        codec in 0..5usize, encoding in 0..3usize, page in 1..9usize,
    ) {
        let encodings =
            [Encoding::PLAIN, Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY];
        let codecs = [
            Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::LZ4_RAW,
            Compression::GZIP(GzipLevel::default()), Compression::ZSTD(ZstdLevel::default()),
        ];
        let version = if two { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_dictionary_enabled(dictionary)
            .set_encoding(encodings[encoding])
            .set_compression(codecs[codec])
            .set_write_batch_size(2)
            .set_data_page_row_count_limit(page);
        let rows: Vec<(String, String)> =
            texts.iter().enumerate().map(|(n, text)| (format!("d{n}"), text.clone())).collect();
        let borrowed: Vec<(&str, &str)> = rows.iter().map(|(i, t)| (&**i, &**t)).collect();
        let groups: Vec<&[(&str, &str)]> = borrowed.chunks(group).collect();
        let (_folder, path) = in_file("x.parquet", &plain(&groups, properties));
        let inputs = [path];
        let options = ReadOptions::default();
        let paths = Side::Paths(&inputs);
        let no_references = Side::Paths(&[]);
        let collection =
            Collection::with_block_bytes(paths, no_references, &options, block_bytes).unwrap();
        let found = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut scratch = ReadBuffers::default();
                    while let Some(block) = collection.next_block().unwrap() {
                        let mut records = Records::default();
                        block.read(&mut scratch, &mut records).unwrap();
                        found.lock().push((block.number(), records.documents));
                    }
                });
            }
        });
        let mut found = found.into_inner();
        found.sort();
        let all: Vec<_> =
            found.into_iter().flat_map(|(_, d)| d).map(|(id, text, _)| (id, text)).collect();
        prop_assert_eq!(&all, &rows);
        prop_assert_eq!(collection.bytes_read(), collection.bytes().unwrap());
        let all = replayed(&inputs, &with_fields(&["text"]), block_bytes, None);
        prop_assert_eq!(all.documents.len(), rows.len());
        for (_, text, fields) in all.documents {
            prop_assert_eq!(&fields[0], &Some(text));
        }
    }
}

/// Reads a possibly damaged file. Returns true if it could not be read to its end.
fn survives(path: &Path, bytes: &[u8]) -> bool {
    fs::write(path, bytes).unwrap();
    let options = with_fields(&["id"]);
    let Ok(collection) = Collection::open(&[path.to_owned()], &options) else { return true };
    let is_damage = |skipped: &SkippedItem| {
        assert!(skipped.source.ends_with("x.parquet"), "{skipped}");
        matches!(skipped.reason, SkipReason::Unreadable { .. } | SkipReason::NotRecords { .. })
    };
    let (mut scratch, mut records) = (ReadBuffers::default(), Taken::default());
    loop {
        match collection.next_block() {
            Ok(Some(block)) => block.read(&mut scratch, &mut records).unwrap(),
            Ok(None) => return collection.listed().iter().chain(&records.skipped).any(is_damage),
            Err(error) => {
                assert!(error.to_string().contains("x.parquet"), "{error}");
                return true;
            }
        }
    }
}

/// Small files of several forms, truncated and with a byte changed, at every position.
#[test]
fn damaged_files_are_errors() {
    let schema = "message x { optional binary id (STRING); optional binary text (STRING); }";
    let rows = || {
        vec![
            Column::Text(vec![some("a"), None, some("c")]),
            Column::Text(vec![some("some text"), some("some text"), some("other")]),
        ]
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    // The decoder sometimes panics, which is caught; suppress the messages.
    std::panic::set_hook(Box::new(|_| ()));
    let (mut errors, mut files) = (0, 0);
    for (two, dictionary, encoding, codec, flip) in [
        (false, true, Encoding::PLAIN, Compression::SNAPPY, 0x80),
        (true, true, Encoding::PLAIN, Compression::ZSTD(ZstdLevel::default()), 0x01),
        (true, false, Encoding::DELTA_BYTE_ARRAY, Compression::UNCOMPRESSED, 0x80),
        (false, false, Encoding::DELTA_LENGTH_BYTE_ARRAY, Compression::LZ4_RAW, 0x10),
        (true, false, Encoding::PLAIN, Compression::UNCOMPRESSED, 0xFF),
    ] {
        let version = if two { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 };
        let properties = WriterProperties::builder()
            .set_writer_version(version)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_created_by(String::new())
            .set_dictionary_enabled(dictionary)
            .set_encoding(encoding)
            .set_compression(codec);
        let bytes = write(schema, &[rows()], properties);
        assert!(!survives(&path, &bytes));
        for at in 0..bytes.len() {
            assert!(survives(&path, &bytes[..at]), "cut to {at}");
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            errors += usize::from(survives(&path, &bytes));
            files += 1;
        }
    }
    drop(std::panic::take_hook());
    assert!(errors * 4 > files, "{errors} of {files}");
}

#[test]
fn invalid_parquet_files_are_errors() {
    let bytes = plain(&[&[("a", "b")]], WriterProperties::builder());
    for (name, bytes) in [
        ("x.parquet", b"id,text\n1,2\n".to_vec()),
        ("x.parquet", Vec::new()),
        ("x", b"PAR1".to_vec()),
        ("x.parquet", [&bytes[..bytes.len() - 4], b"PARE"].concat()),
    ] {
        let error = read(name, bytes).map(|_| ()).unwrap_err();
        assert!(matches!(error, ReadError::Parquet { .. }), "{error}");
        assert!(error.to_string().contains("cannot be read as Parquet"), "{error}");
    }
    let error = read("x.parquet.gz", gzip(&bytes)).map(|_| ()).unwrap_err();
    assert!(
        matches!(error, ReadError::Table { problem: TableProblem::ParquetStream, .. }),
        "{error}"
    );
    // A file that shrinks after it was opened.
    let (_folder, path) = in_file("x.parquet", &bytes);
    let collection = Collection::open(std::slice::from_ref(&path), &ReadOptions::default());
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(matches!(collection.unwrap().next_block(), Err(ReadError::Parquet { .. })));
}
