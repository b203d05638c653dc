//! Filters files with random schemas and rows, and compares the results with the same rows filtered
//! in memory.

use super::*;
use crate::dedup::AnnotationSubject;
use crate::read::Format;
use lookalike_core::params::Measure;
use parquet::basic::{
    BrotliLevel, Compression, GzipLevel, LogicalType, Type as Physical, ZstdLevel,
};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Row;
use parquet::schema::types::ColumnPath;
use proptest::prelude::*;
use std::fs::File;
use std::path::Path;

/// Numbers that look random and depend on the seed only.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// Levels and values of a leaf of the schema.
#[derive(Default)]
struct Leaf {
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    values: Vec<u64>,
}

fn field(draw: &mut Draw, name: &str, depth: u64) -> TypePtr {
    let repetition =
        [Repetition::REQUIRED, Repetition::OPTIONAL, Repetition::REPEATED][draw.below(3) as usize];
    if depth < 3 && draw.below(3) == 0 {
        let count = 1 + draw.below(3);
        let fields = (0..count).map(|i| field(draw, &format!("{name}{i}"), depth + 1)).collect();
        let group = Type::group_type_builder(name).with_repetition(repetition).with_fields(fields);
        return Arc::new(group.build().unwrap());
    }
    let physical = [
        Physical::BOOLEAN,
        Physical::INT32,
        Physical::INT64,
        Physical::INT96,
        Physical::FLOAT,
        Physical::DOUBLE,
        Physical::BYTE_ARRAY,
        Physical::FIXED_LEN_BYTE_ARRAY,
    ][draw.below(8) as usize];
    let text = physical == Physical::BYTE_ARRAY && draw.below(2) == 0;
    let leaf = Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_length(if physical == Physical::FIXED_LEN_BYTE_ARRAY { 5 } else { 0 })
        .with_logical_type(text.then_some(LogicalType::String));
    Arc::new(leaf.build().unwrap())
}

fn leaves_below(field: &Type) -> usize {
    if field.is_primitive() { 1 } else { field.get_fields().iter().map(|f| leaves_below(f)).sum() }
}

/// Draws one value of a field and writes its levels to the leaves below it.
fn shred(field: &Type, draw: &mut Draw, at: (i16, i16, i16), leaves: &mut [Leaf]) {
    let (repetition, definition, depth) = at;
    let (count, definition, depth) = match field.get_basic_info().repetition() {
        Repetition::REQUIRED => (1, definition, depth),
        Repetition::OPTIONAL if draw.below(3) == 0 => (0, definition, depth),
        Repetition::OPTIONAL => (1, definition + 1, depth),
        Repetition::REPEATED => match draw.below(4) {
            0 => (0, definition, depth),
            count => (count, definition + 1, depth + 1),
        },
    };
    if count == 0 {
        for leaf in leaves.iter_mut() {
            leaf.repetitions.push(repetition);
            leaf.definitions.push(definition);
        }
    }
    for i in 0..count {
        let repetition = if i == 0 { repetition } else { depth };
        if field.is_primitive() {
            leaves[0].repetitions.push(repetition);
            leaves[0].definitions.push(definition);
            leaves[0].values.push(draw.next());
            continue;
        }
        let mut rest = &mut *leaves;
        for child in field.get_fields() {
            let (now, later) = rest.split_at_mut(leaves_below(child));
            shred(child, draw, (repetition, definition, depth), now);
            rest = later;
        }
    }
}

fn write(writer: &mut SerializedColumnWriter<'_>, leaf: &Leaf) {
    let levels = (Some(leaf.definitions.as_slice()), Some(leaf.repetitions.as_slice()));
    let values = &leaf.values;
    macro_rules! put {
        ($writer:expr, $value:expr) => {{
            let values: Vec<_> = values.iter().map($value).collect();
            $writer.write_batch(&values, levels.0, levels.1).unwrap();
        }};
    }
    let text = |v: &u64| format!("text {} é", v % 50).into_bytes();
    match writer.untyped() {
        ColumnWriter::BoolColumnWriter(w) => put!(w, |v: &u64| v.is_multiple_of(2)),
        ColumnWriter::Int32ColumnWriter(w) => put!(w, |v: &u64| (*v as u32).cast_signed()),
        ColumnWriter::Int64ColumnWriter(w) => put!(w, |v: &u64| v.cast_signed()),
        ColumnWriter::Int96ColumnWriter(w) => {
            put!(w, |v: &u64| Int96::from(vec![*v as u32, 0, 2_440_588 + (*v % 9_000) as u32]));
        }
        ColumnWriter::FloatColumnWriter(w) => put!(w, |v: &u64| *v as f32),
        ColumnWriter::DoubleColumnWriter(w) => put!(w, |v: &u64| *v as f64),
        ColumnWriter::ByteArrayColumnWriter(w) => put!(w, |v: &u64| ByteArray::from(text(v))),
        ColumnWriter::FixedLenByteArrayColumnWriter(w) => put!(w, |v: &u64| {
            FixedLenByteArray::from(ByteArray::from(v.to_be_bytes()[3..].to_vec()))
        }),
    }
}

use parquet::file::writer::SerializedColumnWriter;

const COMPRESSIONS: usize = 6;

fn compression(n: usize) -> Compression {
    [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
    ][n % COMPRESSIONS]
}

/// Writes a file of random rows; a third of the row groups is empty or small.
fn random_file(path: &Path, seed: u64, groups: u64) -> usize {
    let mut draw = Draw(seed);
    let count = 1 + draw.below(4);
    let fields = (0..count).map(|i| field(&mut draw, &format!("c{i}"), 0)).collect();
    let schema = Arc::new(Type::group_type_builder("top").with_fields(fields).build().unwrap());
    let version = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0][draw.below(2) as usize];
    let mut properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_dictionary_enabled(draw.below(2) == 0)
        .set_data_page_row_count_limit(7)
        .set_write_batch_size(3)
        .set_key_value_metadata(Some(vec![KeyValue::new("who".to_owned(), "me".to_owned())]));
    let descriptor = parquet::schema::types::SchemaDescriptor::new(Arc::clone(&schema));
    for column in descriptor.columns() {
        let path: &ColumnPath = column.path();
        let n = draw.below(COMPRESSIONS as u64) as usize;
        properties = properties.set_column_compression(path.clone(), compression(n));
    }
    let file = File::create(path).unwrap();
    let mut writer =
        SerializedFileWriter::new(file, Arc::clone(&schema), Arc::new(properties.build())).unwrap();
    let mut rows = 0;
    for _ in 0..groups {
        let count = draw.below(40);
        let mut leaves: Vec<Leaf> = (0..leaves_below(&schema)).map(|_| Leaf::default()).collect();
        for _ in 0..count {
            let mut rest = &mut leaves[..];
            for child in schema.get_fields() {
                let (now, later) = rest.split_at_mut(leaves_below(child));
                shred(child, &mut draw, (0, 0, 0), now);
                rest = later;
            }
        }
        let mut group = writer.next_row_group().unwrap();
        for leaf in &leaves {
            let mut column = group.next_column().unwrap().unwrap();
            write(&mut column, leaf);
            column.close().unwrap();
        }
        group.close().unwrap();
        rows += count as usize;
    }
    writer.close().unwrap();
    rows
}

fn reader(path: &Path) -> SerializedFileReader<File> {
    SerializedFileReader::new(File::open(path).unwrap()).unwrap()
}

fn rows(path: &Path) -> Vec<Row> {
    reader(path).get_row_iter(None).unwrap().map(Result::unwrap).collect()
}

fn origin(path: &Path) -> DocumentOrigin {
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    DocumentOrigin { name, path: Some(path.to_owned()), format: Format::Jsonl, reference: false }
}

fn duplicate(n: u64) -> Outcome<'static> {
    Outcome::Duplicate { group: n, keeper: "kö", similarity: "0.912345", reason: "longest" }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn rewritten_parquet_keeps_rows_and_schema(
        seed in any::<u64>(),
        groups in 0u64..5,
        files in 1usize..3,
        mask in any::<u64>(),
        bad in any::<u64>(),
        annotated in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out.parquet");
        let measure = Measure::Jaccard;
        let annotate = annotated.then(|| Annotate {
            field: "lookalike".to_owned(),
            subject: AnnotationSubject::Groups(measure),
        });
        let mut rewriter = Rewriter::new(Output::named(&out).unwrap(), annotate);
        let mut expected = Vec::new();
        let mut first = None;
        for _ in 0..files {
            // The same seed yields the same schema and rows. Only the kept rows differ.
            let path = folder.path().join("in.parquet");
            let count = random_file(&path, seed, groups);
            first.get_or_insert_with(|| path.clone());
            rewriter.source(&origin(&path)).unwrap();
            let all = rows(&path);
            prop_assert_eq!(all.len(), count);
            for (n, row) in all.into_iter().enumerate() {
                let bit = n as u32 % 64;
                if bad.rotate_right(bit) % 8 == 0 {
                    continue;
                }
                let kept = mask.rotate_right(bit) % 2 == 0;
                let outcome = match (kept, n % 2) {
                    (true, 0) => Outcome::Unique,
                    (true, _) => Outcome::Related { neighbour: "kö", similarity: "0.812345" },
                    (false, _) => duplicate(n as u64),
                };
                rewriter.row(n as u64, &outcome).unwrap();
                if kept || annotated {
                    expected.push((row, kept, n));
                }
            }
        }
        rewriter.finish().unwrap();
        let got = rows(&out);
        prop_assert_eq!(got.len(), expected.len());
        for (got, (row, kept, n)) in got.iter().zip(&expected) {
            let mut got = got.clone().into_columns();
            let notes = if annotated { got.split_off(row.len()) } else { Vec::new() };
            prop_assert_eq!(&got, &row.clone().into_columns());
            let notes: Vec<String> = notes.iter().map(|(_, value)| value.to_string()).collect();
            if annotated && *kept {
                let (reason, near, similarity) = if n % 2 == 0 {
                    ("\"unique\"", "null", "null")
                } else {
                    ("\"related\"", "\"kö\"", "0.812345")
                };
                let expected = ["true", "null", "null", "null", reason, near, similarity, "1"];
                prop_assert_eq!(notes, expected);
            } else if annotated {
                let n = n.to_string();
                let known = ["false", &n, "\"kö\"", "0.912345", "\"longest\"", "null", "null"];
                let keeper = [&known[..], &["null"]].concat();
                prop_assert_eq!(notes, keeper);
            }
        }
        let (before, after) = (reader(&first.unwrap()), reader(&out));
        let fields = before.metadata().file_metadata().schema().get_fields();
        let written = after.metadata().file_metadata().schema().get_fields();
        prop_assert_eq!(&written[..fields.len()], fields);
        prop_assert_eq!(written.len() - fields.len(), if annotated { 8 } else { 0 });
        prop_assert_eq!(
            after.metadata().file_metadata().key_value_metadata(),
            before.metadata().file_metadata().key_value_metadata()
        );
        if let (Some(a), Some(b)) =
            (before.metadata().row_groups().first(), after.metadata().row_groups().first())
        {
            for (a, b) in a.columns().iter().zip(b.columns()) {
                prop_assert_eq!(a.compression(), b.compression());
            }
        }
    }
}

#[test]
fn files_with_other_columns_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let make = |name: &str, columns: &[(&str, Cell)]| {
        let path = folder.path().join(name);
        let fields = columns
            .iter()
            .map(|(n, c)| column_type(n, *c, Repetition::OPTIONAL).unwrap())
            .collect();
        let schema = Type::group_type_builder("s").with_fields(fields).build().unwrap();
        let file = File::create(&path).unwrap();
        SerializedFileWriter::new(file, Arc::new(schema), Arc::default()).unwrap().close().unwrap();
        path
    };
    let a = make("a.parquet", &[("id", Cell::Text), ("text", Cell::Text)]);
    let b = make("b.parquet", &[("id", Cell::Text), ("text", Cell::Int64)]);
    let existing = make("c.parquet", &[("id", Cell::Text), ("lookalike_kept", Cell::Bool)]);
    let out = folder.path().join("out.parquet");
    let mut rewriter = Rewriter::new(Output::named(&out).unwrap(), None);
    rewriter.source(&origin(&a)).unwrap();
    let message = rewriter.source(&origin(&b)).unwrap_err().to_string();
    assert!(
        message.contains("column 2 of a.parquet is `OPTIONAL BYTE_ARRAY text (STRING)`"),
        "{message}"
    );
    assert!(message.contains("that of b.parquet is `OPTIONAL INT64 text`"), "{message}");
    let subject = AnnotationSubject::Groups(Measure::Jaccard);
    let annotate = Annotate { field: "lookalike".to_owned(), subject };
    let mut rewriter = Rewriter::new(Output::named(&out).unwrap(), Some(annotate));
    let message = rewriter.source(&origin(&existing)).unwrap_err().to_string();
    assert!(
        message.contains("column \"lookalike_kept\"; choose another name with annotate_field"),
        "{message}"
    );
    assert!(!out.exists());
}

/// Writes two row groups of five rows. In the second, the data of the last column are damaged.
fn damaged_file(path: &Path) {
    let fields = [("id", Cell::Text), ("text", Cell::Text), ("url", Cell::Text)];
    let fields = fields.iter().map(|(n, c)| column_type(n, *c, Repetition::REQUIRED).unwrap());
    let schema = Type::group_type_builder("s").with_fields(fields.collect());
    let properties = WriterProperties::builder()
        .set_compression(Compression::GZIP(GzipLevel::default()))
        .set_dictionary_enabled(false);
    let file = File::create(path).unwrap();
    let (schema, properties) = (Arc::new(schema.build().unwrap()), Arc::new(properties.build()));
    let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
    for group_number in 0..2 {
        let mut group = writer.next_row_group().unwrap();
        while let Some(mut column) = group.next_column().unwrap() {
            let value = |row| ByteArray::from(format!("value {}", group_number * 5 + row).as_str());
            let values: Vec<_> = (0..5).map(value).collect();
            column
                .typed::<parquet::data_type::ByteArrayType>()
                .write_batch(&values, None, None)
                .unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
    let column = reader(path).metadata().row_group(1).column(2).clone();
    let mut bytes = std::fs::read(path).unwrap();
    let end = usize::try_from(column.data_page_offset() + column.compressed_size()).unwrap();
    bytes[end - 12..end].fill(0);
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn rows_of_damaged_columns_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, out) = (folder.path().join("in.parquet"), folder.path().join("out.parquet"));
    damaged_file(&path);
    let mut rewriter = Rewriter::new(Output::named(&out).unwrap(), None);
    rewriter.skips_unreadable = true;
    rewriter.source(&origin(&path)).unwrap();
    for row in 0..10 {
        let outcome = if row % 5 == 0 { duplicate(row) } else { Outcome::Unique };
        rewriter.row(row, &outcome).unwrap();
    }
    let unreadable = rewriter.finish().unwrap();
    assert_eq!((unreadable.kept, unreadable.removed), (4, 1));
    assert_eq!(unreadable.listed.len(), 1);
    let reason = &unreadable.listed[0].1;
    assert!(reason.starts_with("rows 6 to 10 cannot be read: "), "{reason}");
    assert_eq!(rows(&out).len(), 4);
}
