//! JSONL, lines and separated values: good records, bad records, and their messages.

use super::*;
use crate::{Field, Format, JsonLineReader, SkipReason};
use lookalike_test_support::{document_set_path, gzip};

const OBJECT: &[u8] = b"{\"id\":\"a\",\"text\":\"b\"}\n";

fn message(result: Result<All, ReadError>) -> String {
    result.map(|all| all.documents).unwrap_err().to_string()
}

#[test]
fn jsonl_records() {
    let all = read(
        "x.jsonl",
        "\u{FEFF}{\"id\":\"a\",\"text\":\"one\"}\n\r\n  \n \
         { \"text\" : \"t\\u0041\\n\\\"\\\\\\/\\b\\f\\r\\t\" , \"id\" : 17 }\r\n\
         {\"id\":\"e\\u0301\",\"text\":\"\\ud83d\\ude00\",\"x\":[{},[],{\"a\":[1.5e-7,true]}]}\n\
         {\"text\":\"first\",\"id\":-1.0e5,\"text\":\"second\"}",
    )
    .unwrap();
    assert_eq!(all.ids(), ["a", "17", "e\u{301}", "-1.0e5"]);
    assert_eq!(all.texts(), ["one", "tA\n\"\\/\u{8}\u{C}\r\t", "\u{1F600}", "second"]);
    let lines: Vec<&str> = all.places.iter().map(|p| p.rsplit(':').next().unwrap()).collect();
    assert_eq!(lines, ["1", "4", "5", "6"]);
}

#[test]
fn dotted_paths() {
    let options = ReadOptions {
        id_field: "a.b.c".into(),
        text_field: "m.t".into(),
        ..ReadOptions::default()
    };
    let line = |line: &str| {
        read_named("x.jsonl", line.as_bytes(), &options, 1 << 10).map(|mut all| {
            all.documents.pop().map(|(id, text)| format!("{id} {text}")).unwrap_or_default()
        })
    };
    assert_eq!(line(r#"{"a":{"b":{"c":"i"}},"m":{"t":"x\n"}}"#).unwrap(), "i x\n");
    // A key with a dot takes precedence over the path, and a longer key over a shorter one. If a
    // key is repeated, its last value is used.
    assert_eq!(line(r#"{"a.b.c":1,"a":{"b":{"c":2}},"m.t":"x","m":{"t":"y"}}"#).unwrap(), "1 x");
    assert_eq!(line(r#"{"a":{"b.c":1,"b":{"c":2}},"m":{"t":"x"},"m":{"t":"y"}}"#).unwrap(), "1 y");
    assert_eq!(line(r#"{"a.b":7,"a":{"b":{"c":2}},"m":{"t":"x"}}"#).unwrap(), "2 x");
    let error = line(r#"{"a":{"b":{"c":"i"}},"m":{"t":"x"},"m":{}}"#).unwrap_err().to_string();
    assert!(error.contains("no field \"m.t\"; the record has a, m"), "{error}");
}

/// Bad lines, each with a part of its message.
const BAD_JSON: &[(&[u8], &str)] = &[
    (b"{\"id\":null,\"text\":\"x\"}", "field \"id\" must be a string or a number, got null"),
    (b"{\"id\":true,\"text\":\"x\"}", "got true or false; name another field with id_field"),
    (b"{\"text\":\"x\"}", "no field \"id\"; the record has text; name the field with id_field"),
    (b"{\"id\":1,\"TEXT\":\"x\"}", "no field \"text\"; the record has id, TEXT; name the field"),
    (b"{}", "no field \"id\"; the record has none at all"),
    (b"{\"id\":1,\"text\":null}", "field \"text\" must be a string, got null"),
    (b"{\"id\":1,\"text\":[\"a\"]}", "must be a string, got a list; name another"),
    (b"{\"id\":1,\"text\":2}", "must be a string, got a number"),
    (b"{\"id\":1,\"text\":{}}", "must be a string, got an object"),
    (b"{\"id\":\"\",\"text\":\"x\"}", "the id is empty"),
    (b"{\"id\":1,\"text\":\"x", "expected '\"' at the end of a string at column 18, got the end"),
    (b"not json", "not JSON: expected a value at column 1, got 'n'"),
    (b"[1,2]", "expected a JSON object such as {\"id\":…}, got a list"),
    (b"\"x\"", "got a string"),
    (b"{\"id\":1,\"text\":\"x\"} {}", "expected the end of the line at column 21, got '{'"),
    (b"{\"id\":1,\"text\":\"caf\xE9\"}", "not UTF-8 at byte 20; name the file's encoding"),
    (b"{\"id\":1,\"text\":\"half \\ud83d pair\"}", "field \"text\" holds half a surrogate pair"),
    (b"{\"id\":\"\\ude00\",\"text\":\"x\"}", "field \"id\" holds half a surrogate pair"),
    (b"{\"id\":1,'text':2}", "expected a key in double quotes at column 9, got '\\''"),
    (b"{\"id\":1,\"text\":\"x\",}", "expected a key in double quotes at column 20, got '}'"),
    (b"{\"id\":1,\"text\":\"x\",\"v\":NaN}", "expected a value at column 24, got 'N'"),
    (b"{\"id\":01,\"text\":\"x\"}", "expected ',' or '}' at column 8, got '1'"),
    (b"{\"id\":1,\"text\":\"a\tb\"}", "expected control characters in strings as escapes"),
    (b"{\"id\":1,\"text\":\"a\x00b\"}", "expected control characters in strings as escapes"),
    (b"{\"id\":1,\"text\":\"\\q\"}", "expected one of \"\\/bfnrtu after"),
    (b"{\"id\":1,\"text\":\"\\u12G4\"}", "expected four hexadecimal digits"),
    (b"{\"id\":1 \"text\":\"x\"}", "expected ',' or '}' at column 9, got '\"'"),
    (b"{\"id\" 1}", "expected ':' at column 7"),
    (b"{,}", "expected a key in double quotes or '}' at column 2"),
    (b"{\"id\":1,\"text\":\"x\",\"v\":[1,]}", "expected a value at column 27"),
    (b"{\"id\":1,\"text\":\"x\",\"v\":[1}", "expected ',' or ']' at column 26"),
    (b"{\"id\":1,\"text\":\"x\",\"v\":1.}", "expected a digit at column 26"),
];

#[test]
fn bad_json_is_named_or_skipped() {
    for (line, expected) in BAD_JSON {
        let bytes = [OBJECT, line, b"\n", OBJECT].concat();
        let error = message(read("x.jsonl", &bytes));
        assert!(error.contains("x.jsonl:2: ") && error.contains(expected), "{error}");
        assert!(error.ends_with("skip and list such records with skip_bad"), "{error}");
        let all = read_skipping("x.jsonl", &bytes);
        assert_eq!((all.documents.len(), all.skipped.len()), (2, 1));
        assert_eq!(all.skipped[0].line, Some(2));
    }
}

#[test]
fn memory_lines_read_like_files() {
    let mut lines: Vec<&[u8]> = BAD_JSON.iter().map(|(line, _)| *line).collect();
    lines.extend([
        OBJECT,
        b"\xEF\xBB\xBF {\"id\":7,\"text\":\"\",\"m\":{\"n\":1.50}}\r\n",
        b" \t\r",
    ]);
    let fields = vec!["m.n".to_owned(), "text".to_owned()];
    let mut reader = JsonLineReader::new(ReadOptions { fields, ..ReadOptions::default() });
    for line in lines {
        // If no record has an id, the ids of a file are line numbers.
        let last = b"\n{\"id\":\"last\",\"text\":\"\"}";
        let mut all = read_skipping("x.jsonl", [line, last].concat());
        assert_eq!(all.documents.pop().map(|(id, _)| id).as_deref(), Some("last"));
        match reader.read(line) {
            None => assert!(all.documents.is_empty() && all.skipped.is_empty()),
            Some(Err(reason)) => assert_eq!([reason], [all.skipped[0].reason.clone()]),
            Some(Ok(document)) => {
                let value = line.contains(&b'.').then_some("1.50");
                assert_eq!(document.fields, [value, Some(document.text)]);
                assert_eq!(all.ids(), [document.id.unwrap()]);
                assert_eq!(all.texts(), [document.text]);
            }
        }
    }
}

#[test]
fn a_skipped_record_keeps_its_id() {
    let all = read_skipping(
        "x.jsonl",
        "{\"id\":\"k\",\"text\":1}\n{\"id\":\"l\",\"text\":\"\\ud800\"}\n",
    );
    let ids: Vec<_> = all.skipped.iter().map(|skipped| skipped.id.as_deref()).collect();
    assert_eq!(ids, [Some("k"), Some("l")]);
}

#[test]
fn ignored_values_nest_to_any_depth() {
    for depth in [5_000, 1_000_000] {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        let line = format!("{{\"id\":\"d\",\"v\":{open}{close},\"text\":\"x\"}}");
        assert_eq!(read("x.jsonl", line).unwrap().texts(), ["x"]);
        let line = format!("{{\"id\":\"d\",\"v\":{open},\"text\":\"x\"}}");
        assert!(message(read("x.jsonl", line)).contains("not JSON"));
    }
}

/// Compares the result of every line of the shared file of bad input.
#[test]
fn shared_bad_file_line_by_line() {
    let Some(path) = document_set_path("edge/bad.jsonl") else { return };
    let bytes = std::fs::read(path).unwrap();
    let all = read_skipping("bad.jsonl", &bytes);
    let documents = all.places.iter().map(|place| place.rsplit(':').next().unwrap().to_owned());
    assert_eq!(
        documents.collect::<Vec<_>>(),
        ["1", "2", "5", "6", "7", "8", "22", "23", "24", "28", "30", "31"]
    );
    assert_eq!(all.ids()[5], "17");
    assert_eq!(all.texts()[7], "nul \0 inside");
    assert_eq!(all.texts()[8], "second");
    assert_eq!(all.texts()[10], "A/\"\té");
    let skipped: Vec<u64> = all.skipped.iter().filter_map(|skipped| skipped.line).collect();
    assert_eq!(skipped, [9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 25, 26, 27, 29]);
    let text = |name: &str| SkipReason::MissingField {
        field: Field::Text,
        name: "text".into(),
        present: vec![name.into()],
    };
    assert_eq!(all.skipped[2].reason, text("id"));
    assert!(message(read("bad.jsonl", &bytes)).contains("bad.jsonl:9: "));
}

#[test]
fn line_ids() {
    let options = ReadOptions { line_ids: true, skip_bad: true, ..ReadOptions::default() };
    let all =
        read_named("x.jsonl", b"{\"text\":\"a\"}\n\n[]\n{\"text\":\"b\"}", &options, 16).unwrap();
    assert_eq!(all.ids(), all.places);
    assert!(all.ids()[1].ends_with("x.jsonl:4"));
    let all = read_named("x.train", b"\na b\n", &options, 16).unwrap();
    assert_eq!((all.ids(), all.texts()), (vec![all.places[0].as_str()], vec!["a b"]));
    let all = read_named("x.csv", b"text\n\"a\nb\"\nc\n", &options, 16).unwrap();
    let ids: Vec<_> = all.ids().iter().map(|id| id.rsplit(':').next().unwrap()).collect();
    assert_eq!((ids, all.texts()), (vec!["2", "4"], vec!["a\nb", "c"]));
}

#[test]
fn lines() {
    let all =
        read("x.train", "t1 one two\r\nt2\n\n  \r\nt3\ttab  two \nt4 \nlast no line feed").unwrap();
    assert_eq!(all.ids(), ["t1", "t2", "t3", "t4", "last"]);
    assert_eq!(all.texts(), ["one two", "", "tab  two ", "", "no line feed"]);
    let error = message(read("x.train", b"a b\nc caf\xE9\n"));
    assert!(error.contains("x.train:2: not UTF-8 at byte 6; name the file's encoding"), "{error}");
    let error = message(read("x.train", b"a b\nc \0\0\n"));
    assert!(error.contains("x.train:2: binary: it holds a NUL byte"), "{error}");
    assert!(message(read("x.train", b" b\n")).contains("the id is empty"));
}

#[test]
fn separated_values() {
    let all = read(
        "x.csv",
        "\u{FEFF}n,id,text\r\n1,a,\"one, \"\"two\"\"\r\nthree\"\r\n\r\n\
         2,b,5\" disk\r\n3,c,\n4,\"d\",\"\"\n",
    )
    .unwrap();
    assert_eq!(all.ids(), ["a", "b", "c", "d"]);
    assert_eq!(all.texts(), ["one, \"two\"\r\nthree", "5\" disk", "", ""]);
    let lines: Vec<&str> = all.places.iter().map(|p| p.rsplit(':').next().unwrap()).collect();
    assert_eq!(lines, ["2", "5", "6", "7"]);
    let marked = "\u{FEFF}\u{FEFF}id,text\n\u{FEFF}a,b\n\u{FEFF}c,d\n";
    for block_bytes in [1, 1 << 20] {
        let all = read_named("x.csv", marked.as_bytes(), &ReadOptions::default(), block_bytes);
        assert_eq!(all.unwrap().ids(), ["\u{FEFF}a", "\u{FEFF}c"]);
    }
    let all = read("x.tsv", "text\tid\n\"a\tb\"\t1\nx,y\t2").unwrap();
    assert_eq!((all.ids(), all.texts()), (vec!["1", "2"], vec!["a\tb", "x,y"]));
}

#[test]
fn bad_separated_values() {
    for (bytes, expected) in [
        (
            "a,b\n",
            "no column \"id\" in the header, which has a, b; name the id column with id_field",
        ),
        ("", "the input is empty; a table needs a first line"),
        (
            "id,x\n",
            "no column \"text\" in the header, which has id, x; name the text column with text",
        ),
        ("id,text,text\n", "2 columns have the name \"text\""),
    ] {
        let error = message(read("x.csv", bytes));
        assert!(error.contains(expected), "{error}");
    }
    for (record, expected) in [
        ("a", "the number of values differs from the header (1 instead of 2); put quotes"),
        ("a,b,c", "the number of values differs from the header (3 instead of 2)"),
        (",b", "the id is empty"),
        ("a,\0", "binary"),
        ("a,\"b", "a quoted value begins in this record and never ends"),
    ] {
        let bytes = format!("id,text\nx,y\n{record}\n");
        let error = message(read("x.csv", &bytes));
        assert!(error.contains("x.csv:3: ") && error.contains(expected), "{error}");
        let all = read_skipping("x.csv", &bytes);
        assert_eq!((all.documents.len(), all.skipped.len()), (1, 1));
    }
    let bytes = b"x,id,text\n\xE9,a,\"\"\"\xE9\"\n";
    assert!(message(read("x.csv", bytes)).contains("not UTF-8 at byte 8"));
    assert!(read("x.csv", "id,text\n").unwrap().documents.is_empty());
}

#[test]
fn tables_have_a_maximum_of_columns() {
    let header = |columns: usize| format!("id,text{}\n", ",x".repeat(columns - 2));
    assert!(read("x.csv", header(65_536)).unwrap().documents.is_empty());
    let error = message(read("x.csv", header(65_537)));
    assert!(
        error.contains("the header has 65537 columns, and a table has at most 65536"),
        "{error}"
    );
}

#[test]
fn other_encodings_of_records() {
    let forced = |label: &str| ReadOptions { encoding: Some(label.into()), ..Default::default() };
    let all = read_named("x.train", b"a caf\xE9\n", &forced("windows-1252"), 4).unwrap();
    assert_eq!(all.texts(), ["café"]);
    let wide: Vec<u8> =
        "\u{FEFF}id\ttext\r\n1\té😀\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for block_bytes in [1, 7, 1 << 20] {
        let all = read_named("x.tsv", &wide, &ReadOptions::default(), block_bytes).unwrap();
        assert_eq!(all.texts(), ["é😀"]);
    }
    let wide: Vec<u8> = "\u{FEFF}1 é😀".chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
    assert_eq!(read("x.train", &wide).unwrap().texts(), ["é😀"]);
    let error = message(read_named("x.train", b"a", &forced("utf-33"), 4));
    assert!(error.contains("encoding cannot be \"utf-33\""), "{error}");
}

#[test]
fn formats_by_name_and_first_byte() {
    let whole = |name: &str, text: &str| read(name, text).unwrap().texts().concat() == text;
    assert!(whole("x", "a b\nc d\n"));
    assert!(whole("x.md", "{{template}}"));
    assert!(whole("x.json", "{\n \"id\": 1}"));
    assert!(whole("x", ""));
    assert_eq!(read("x", " \n{ \"id\":1,\"text\":\"t\"}").unwrap().texts(), ["t"]);
    assert_eq!(read("x.GZ", gzip(OBJECT)).unwrap().texts(), ["b"]);
    assert_eq!(read("X.JSONL.ZST", zst(OBJECT)).unwrap().texts(), ["b"]);
    assert!("arrow".parse::<Format>().unwrap_err().to_string().contains("expected text, lines"));
    assert!("arrow".parse::<Format>().unwrap_err().to_string().contains("mbox, warc or tar"));
}
