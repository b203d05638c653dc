//! Blocks of any size give the same documents, threads share sources, and memory is released.

use super::*;
use crate::{Format, Side};
use lookalike_test_support::gzip;
use parking_lot::Mutex;
use proptest::prelude::*;

/// Renders a file of a format with these documents.
fn render(format: Format, texts: &[String], line_end: &str) -> String {
    let mut file = match format {
        Format::Csv => format!("id,text{line_end}"),
        Format::Tsv => format!("id\ttext{line_end}"),
        _ => String::new(),
    };
    for (number, text) in texts.iter().enumerate() {
        let record = match format {
            Format::Lines => format!("d{number} {}", text.replace(['\n', '\r', '"'], "")),
            Format::Jsonl => {
                serde_json::json!({"id": format!("d{number}"), "text": text}).to_string()
            }
            Format::Csv => format!("d{number},\"{}\"", text.replace('"', "\"\"")),
            Format::Tsv => format!("d{number}\t\"{}\"", text.replace('"', "\"\"")),
            _ => String::new(),
        };
        file += &record;
        file += line_end;
    }
    file
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn block_sizes_give_equal_documents(
        texts in prop::collection::vec("[a-zé\"\n,\r ]{0,20}", 0..12),
        block_bytes in 1..80usize, crlf in any::<bool>(), last in any::<bool>(),
        packing in 0..3,
    ) {
        for format in [Format::Lines, Format::Jsonl, Format::Csv, Format::Tsv] {
            let mut file = render(format, &texts, if crlf { "\r\n" } else { "\n" });
            if !last {
                file.truncate(file.trim_end_matches(['\r', '\n']).len());
            }
            let (name, bytes) = match packing {
                0 => (format!("x.{format}"), file.into_bytes()),
                1 => (format!("x.{format}.gz"), gzip(file.as_bytes())),
                _ => (format!("x.{format}.zst"), zst(file.as_bytes())),
            };
            let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
            if bytes.is_empty() && matches!(format, Format::Csv | Format::Tsv) { continue; }
            let whole = read_named(&name, &bytes, &options, 1 << 20).unwrap();
            let pieces = read_named(&name, &bytes, &options, block_bytes).unwrap();
            prop_assert_eq!(&whole.documents, &pieces.documents);
            let line = |place: &String| place.rsplit(':').next().map(str::to_owned);
            let lines = |all: &All| all.places.iter().map(line).collect::<Vec<_>>();
            prop_assert_eq!(lines(&whole), lines(&pieces));
            if format != Format::Lines {
                let expected: Vec<_> = texts.iter().map(String::as_str).collect();
                prop_assert_eq!(whole.texts(), expected);
            }
        }
    }

    /// Quotes at any place, closed or not. Blocks end where records end.
    #[test]
    fn odd_quotes_give_equal_records(
        body in "[ab,\"\n\r]{0,60}", block_bytes in 1..20usize,
    ) {
        let file = format!("id,text\n{body}");
        let options = ReadOptions { skip_bad: true, ..ReadOptions::default() };
        let whole = read_named("x.csv", file.as_bytes(), &options, 1 << 20).unwrap();
        let pieces = read_named("x.csv", file.as_bytes(), &options, block_bytes).unwrap();
        prop_assert_eq!(&whole.documents, &pieces.documents);
        prop_assert_eq!(whole.skipped.len(), pieces.skipped.len());
        for (a, b) in whole.skipped.iter().zip(&pieces.skipped) {
            prop_assert_eq!((a.line, &a.reason), (b.line, &b.reason));
        }
    }
}

#[test]
fn a_record_longer_than_many_blocks() {
    let long = "word ".repeat(100_000);
    let file = format!("a 1\nb {long}\nc 3\n");
    let all = read_named("x.train", file.as_bytes(), &ReadOptions::default(), 64).unwrap();
    assert_eq!(all.ids(), ["a", "b", "c"]);
    assert_eq!(all.texts()[1], long);
    assert!(all.blocks >= 2);
}

#[test]
fn a_document_of_100_mb() {
    let long = "hundred megabytes ".repeat(5_700_000);
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("x.jsonl");
    std::fs::write(&record, format!("{{\"id\":1,\"text\":\"{long}\"}}\n")).unwrap();
    let file = folder.path().join("long.txt");
    std::fs::write(&file, &long).unwrap();
    let all = read_paths(&[&record, &file], &ReadOptions::default(), 1 << 20).unwrap();
    assert!(all.texts().iter().all(|text| **text == long));
}

#[test]
fn threads_read_each_block_once() {
    let folder = tempfile::tempdir().unwrap();
    for file in 0..5 {
        let lines = (0..200).map(|n| format!("{{\"id\":\"{file}-{n}\",\"text\":\"t\"}}\n"));
        let lines = lines.collect::<String>();
        let path = folder.path().join(format!("{file}.jsonl"));
        match file {
            0 => std::fs::write(path.with_extension("jsonl.gz"), gzip(lines.as_bytes())).unwrap(),
            1 => std::fs::write(path.with_extension("jsonl.zst"), zst(lines.as_bytes())).unwrap(),
            _ => std::fs::write(path, lines).unwrap(),
        }
    }
    let inputs = [folder.path().to_owned()];
    let run = |threads: usize| {
        let collection = Collection::with_block_bytes(
            Side::Paths(&inputs),
            Side::Paths(&[]),
            &ReadOptions::default(),
            100,
        )
        .unwrap();
        let found = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut scratch = ReadBuffers::default();
                    while let Some(block) = collection.next_block().unwrap() {
                        let mut taken = Taken::default();
                        block.read(&mut scratch, &mut taken).unwrap();
                        let ids: Vec<_> = taken.documents.into_iter().map(|(id, ..)| id).collect();
                        found.lock().push((block.number(), ids));
                    }
                });
            }
        });
        let mut found = found.into_inner();
        found.sort();
        (found, collection.bytes_read() == collection.bytes().unwrap())
    };
    let one = run(1);
    assert!(one.1);
    assert_eq!(one.0.iter().map(|(_, ids)| ids.len()).sum::<usize>(), 1000);
    assert_eq!(one, run(4));
}

#[test]
fn concatenated_members_form_one_stream() {
    let (a, b) =
        (b"{\"id\":1,\"te".as_slice(), b"xt\":\"x\"}\n{\"id\":2,\"text\":\"y\"}\n".as_slice());
    for (name, bytes) in
        [("x.jsonl.gz", [gzip(a), gzip(b)].concat()), ("x.jsonl.zst", [zst(a), zst(b)].concat())]
    {
        assert_eq!(read(name, &bytes).unwrap().ids(), ["1", "2"]);
        let error = read(name, &bytes[..bytes.len() - 3]).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("cannot be read"), "{error}");
    }
    let error = read("x.jsonl.gz", b"plain").map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("x.jsonl.gz: cannot be read"), "{error}");
}

#[test]
fn a_changed_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.jsonl");
    let text = folder.path().join("t.txt");
    let good = "{\"id\":\"a\",\"text\":\"x\"}\n{\"id\":\"b\",\"text\":\"y\"}\n";
    for (changed, what) in [
        ("{\"id\":\"a\",\"text\":\"x\"}\n", "failed to fill whole buffer"),
        (&good.replace("\"b\"", "\"c\""), "the id is \"c\", was \"b\""),
        (&good.replace("\"y\"}", "\"y\"]"), "not JSON"),
    ] {
        std::fs::write(&path, good).unwrap();
        std::fs::write(&text, "first").unwrap();
        let inputs = [path.clone(), text.clone()];
        let collection = Collection::open(&inputs, &ReadOptions::default()).unwrap();
        let blocks = blocks(&collection).unwrap();
        std::fs::write(&path, changed).unwrap();
        std::fs::write(&text, "longer than before").unwrap();
        let mut scratch = ReadBuffers::default();
        let mut fetch = |block: usize, document: usize| {
            let (retained, taken) = &blocks[block];
            let (id, _, place) = &taken.documents[document];
            retained.fetch(*place, id, &mut scratch, |_| ()).unwrap_err().to_string()
        };
        let error = fetch(0, 1);
        assert!(
            error.contains("x.jsonl:2: changed while reading") && error.contains(what),
            "{error}"
        );
        let error = fetch(1, 0);
        assert!(error.contains("t.txt: changed while reading (18 bytes, were 5)"), "{error}");
    }
}
