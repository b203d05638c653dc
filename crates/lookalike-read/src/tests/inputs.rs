//! Files, folders and streams under the names that users give.

use super::*;
use crate::{Format, SkipReason};
use lookalike_test_support::gzip;
use std::fs;
use std::path::Path;

fn write_files(folder: &Path, files: &[(&str, &[u8])]) {
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

fn open(path: &Path, options: &ReadOptions) -> Result<Collection, ReadError> {
    Collection::open(&[path.to_owned()], options)
}

fn listed(collection: &Collection, folder: &Path) -> Vec<(String, SkipReason)> {
    let inside = |path: &str| path.strip_prefix(folder.to_str().unwrap()).unwrap()[1..].to_owned();
    let skipped = collection.listed().iter();
    skipped.map(|skipped| (inside(&skipped.source), skipped.reason.clone())).collect()
}

#[test]
fn a_folder() {
    let folder = tempfile::tempdir().unwrap();
    write_files(
        folder.path(),
        &[
            ("b.txt", b"text b"),
            ("a/z.md", b"caf\xE9 et th\xE9, s'il vous pla\xEEt"),
            ("a.txt", b"sorted by bytes"),
            ("c.txt.gz", &gzip(b"packed")),
            ("d.jsonl", b"{\"id\":\"j\",\"text\":\"record\"}"),
            ("e.bin", b"PNG\0"),
            ("f.tar.zst", &zst(b"a\0\0")),
            ("g.txt.gz", &gzip(b"cut off")[..12]),
            ("h.csv", b"id,text\nx,y"),
            ("empty", b""),
        ],
    );
    let all = read_paths(&[folder.path()], &ReadOptions::default(), 20).unwrap();
    let ids = ["a.txt", "a/z.md", "b.txt", "c.txt.gz", "empty", "j", "x"];
    assert_eq!(all.ids(), ids);
    assert_eq!(all.texts()[1], "café et thé, s'il vous plaît");
    assert_eq!(all.texts()[3], "packed");
    let skipped: Vec<_> = all.skipped.iter().map(|s| (s.id.as_deref(), s.line)).collect();
    assert_eq!(
        skipped,
        [(Some("e.bin"), None), (Some("g.txt.gz"), None), (Some("f.tar.zst:1"), Some(1))]
    );
    assert_eq!(all.skipped[0].reason, SkipReason::Binary);
    assert!(all.reasons()[1].contains("g.txt.gz: cannot be read: "), "{:?}", all.reasons());
    // With several inputs, ids begin with the path of their input.
    let other = tempfile::tempdir().unwrap();
    write_files(other.path(), &[("b.txt", b"text b")]);
    let [inside, one] = [folder.path(), other.path()].map(|place| place.join("b.txt"));
    let all = read_paths(&[folder.path(), &one], &ReadOptions::default(), 20).unwrap();
    let expected = (inside.to_str().unwrap(), one.to_str().unwrap());
    assert_eq!((all.ids()[2], *all.ids().last().unwrap()), expected);
    // If a format is given, every file is read in that format.
    let options = ReadOptions { format: Some(Format::Lines), skip_bad: true, ..Default::default() };
    let all = read_named("x", b"a b\nc d", &options, 20).unwrap();
    assert_eq!(all.ids(), ["a", "c"]);
}

#[test]
fn hidden_and_ignored_files_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    write_files(
        folder.path(),
        &[
            (".gitignore", b"*.log\nbuild/\n"),
            (".ignore", b"skip.txt\n"),
            ("keep.txt", b"x"),
            ("skip.txt", b"x"),
            ("a.log", b"x"),
            ("build/deep/x.txt", b"x"),
            (".hidden/y.txt", b"x"),
        ],
    );
    let collection = open(folder.path(), &ReadOptions::default()).unwrap();
    let ignored = |name: &str| (name.to_owned(), SkipReason::Ignored);
    let hidden = |name: &str| (name.to_owned(), SkipReason::Hidden);
    assert_eq!(
        listed(&collection, folder.path()),
        [
            hidden(".gitignore"),
            hidden(".hidden/y.txt"),
            hidden(".ignore"),
            ignored("a.log"),
            ignored("build/deep/x.txt"),
            ignored("skip.txt"),
        ]
    );
    assert_eq!(drain(&collection).unwrap().ids(), ["keep.txt"]);
    let options = ReadOptions { hidden: true, ignore_files: false, ..ReadOptions::default() };
    let collection = open(folder.path(), &options).unwrap();
    assert!(collection.listed().is_empty());
    assert_eq!(drain(&collection).unwrap().documents.len(), 7);
    let own = vec![folder.path().join("keep.txt"), folder.path().join("a.log")];
    let collection = open(folder.path(), &ReadOptions { leave_out: own, ..options }).unwrap();
    assert!(collection.listed().is_empty());
    assert_eq!(drain(&collection).unwrap().documents.len(), 5);
    fs::remove_file(folder.path().join("keep.txt")).unwrap();
    let error = open(folder.path(), &ReadOptions::default()).map(|_| ()).unwrap_err().to_string();
    assert!(
        error.contains(
            "no file to read in this folder: 3 hidden (hidden reads them), 3 ignored (no"
        ),
        "{error}"
    );
    assert!(error.contains("no_ignore"), "{error}");
}

#[cfg(unix)]
#[test]
fn links_pipes_and_odd_names() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let odd = Path::new(std::ffi::OsStr::from_bytes(b"odd\xFF\\name.txt"));
    write_files(folder.path(), &[("a.txt", b"x"), ("sub/b.txt", b"y")]);
    fs::write(folder.path().join(odd), b"odd").unwrap();
    std::os::unix::fs::symlink("a.txt", folder.path().join("link.txt")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("broken")).unwrap();
    std::os::unix::fs::symlink("..", folder.path().join("sub/loop")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket")).unwrap();
    let collection = open(folder.path(), &ReadOptions::default()).unwrap();
    let link = |name: &str| (name.to_owned(), SkipReason::SymbolicLink);
    let expected = [
        link("broken"),
        link("link.txt"),
        ("socket".into(), SkipReason::NotAFile),
        link("sub/loop"),
    ];
    assert_eq!(listed(&collection, folder.path()), expected);
    assert_eq!(drain(&collection).unwrap().ids(), ["a.txt", "odd\\xFF\\x5Cname.txt", "sub/b.txt"]);
    let options = ReadOptions { follow_links: true, ..ReadOptions::default() };
    let collection = open(folder.path(), &options).unwrap();
    let names: Vec<_> = listed(&collection, folder.path()).into_iter().map(|(n, _)| n).collect();
    assert_eq!(names, ["broken", "socket", "sub/loop", "link.txt"]);
    assert_eq!(collection.listed()[3].reason, SkipReason::ReachedTwice);
    assert_eq!(drain(&collection).unwrap().documents.len(), 3);
}

#[cfg(unix)]
#[test]
fn unreadable_files_are_skipped_or_errors() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), &[("a.txt", b"x"), ("b.txt", b"y")]);
    let closed = folder.path().join("b.txt");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::File::open(&closed).is_ok() {
        lookalike_test_support::print_skipped("this user may read everything");
        return;
    }
    let all = read_paths(&[folder.path()], &ReadOptions::default(), 20).unwrap();
    assert!(all.reasons()[0].contains("b.txt: cannot be read: Permission denied"));
    let error = open(&closed, &ReadOptions::default()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("b.txt: cannot be read: Permission denied"), "{error}");
}

#[test]
fn vanished_folder_files_are_skipped() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), &[("a.txt", b"x"), ("b.txt", b"y")]);
    let collection = open(folder.path(), &ReadOptions::default()).unwrap();
    fs::remove_file(folder.path().join("b.txt")).unwrap();
    let all = drain(&collection).unwrap();
    assert_eq!((all.ids(), all.skipped.len()), (vec!["a.txt"], 1));
}

#[test]
fn named_binary_files_are_errors() {
    let error = read("x.pdf", b"%PDF\0").map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("x.pdf: binary: it holds a NUL byte; leave the file out"), "{error}");
    assert_eq!(read_skipping("x.pdf", b"%PDF\0").skipped.len(), 1);
}

#[test]
fn missing_inputs() {
    let folder = tempfile::tempdir().unwrap();
    let message =
        |result: Result<Collection, ReadError>| result.map(|_| ()).unwrap_err().to_string();
    let error = message(open(&folder.path().join("none"), &ReadOptions::default()));
    assert!(error.contains("none: no such file or folder"), "{error}");
    let error = message(open(folder.path(), &ReadOptions::default()));
    assert!(error.contains("no file to read in this folder; name a folder"), "{error}");
    assert!(message(Collection::open(&[], &ReadOptions::default())).contains("no input"));
}

#[test]
fn encodings_of_text_files() {
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_be_bytes).collect() };
    let text = |bytes: &[u8]| read("x.txt", bytes).unwrap().documents.pop().unwrap().1;
    assert_eq!(text(b"\xEF\xBB\xBFmarked"), "marked");
    assert_eq!(text(&wide("\u{FEFF}é😀")), "é😀");
    let wider: Vec<u8> = "\u{FEFF}é😀".chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
    assert_eq!(text(&wider), "é😀");
    assert_eq!(text("日本語".as_bytes()), "日本語");
    assert_eq!(text(b"cut in a character: \xE6\x97"), "cut in a character: \u{FFFD}");
    let (sjis, ..) = encoding_rs::SHIFT_JIS.encode("これは日本語の文章です。漢字とかな。");
    assert_eq!(text(&sjis), "これは日本語の文章です。漢字とかな。");
    let options = ReadOptions { encoding: Some("koi8-r".into()), ..ReadOptions::default() };
    let (koi8, ..) = encoding_rs::KOI8_R.encode("привет");
    assert_eq!(read_named("x.txt", &koi8, &options, 9).unwrap().texts(), ["привет"]);
    let options = ReadOptions { encoding: Some("utf-16be".into()), ..ReadOptions::default() };
    assert_eq!(read_named("x.txt", &wide("ab"), &options, 9).unwrap().texts(), ["ab"]);
}

#[cfg(unix)]
#[test]
fn pipes_are_streams() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    let result = std::process::Command::new("mkfifo").arg(&path).status();
    if !result.is_ok_and(|status| status.success()) {
        lookalike_test_support::print_skipped("no mkfifo");
        return;
    }
    let through = |bytes: Vec<u8>, options: &ReadOptions| {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // The reader may close the pipe early.
                let _ = fs::write(&path, bytes);
            });
            read_paths(&[&path], options, 8)
        })
    };
    let jsonl = b"{\"id\":1,\"text\":\"one\"}\n{\"id\":2,\"text\":\"two\"}\n";
    let default = ReadOptions::default();
    assert_eq!(through(jsonl.to_vec(), &default).unwrap().texts(), ["one", "two"]);
    assert_eq!(through(gzip(jsonl), &default).unwrap().texts(), ["one", "two"]);
    assert_eq!(through(zst(jsonl), &default).unwrap().texts(), ["one", "two"]);
    assert!(through(Vec::new(), &default).unwrap().documents.is_empty());
    let error = through(b"a b\n".to_vec(), &default).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("pipe: the format is not recognised; say format lines"), "{error}");
    let lines = ReadOptions { format: Some(Format::Lines), ..default.clone() };
    assert_eq!(through(b"a b\nc d".to_vec(), &lines).unwrap().ids(), ["a", "c"]);
    let text = ReadOptions { format: Some(Format::Text), ..default };
    let all = through(b"a b\ncaf\xE9 d".to_vec(), &text).unwrap();
    assert_eq!((all.texts(), all.blocks), (vec!["a b\ncafé d"], 1));
    assert_eq!(through(Vec::new(), &text).unwrap().texts(), [""]);
    let forced = |label: &str| ReadOptions { encoding: Some(label.into()), ..text.clone() };
    let all = through(b"caf\xE9".to_vec(), &forced("koi8-r")).unwrap();
    assert_eq!(all.texts(), ["cafИ"]);
    let all = through(b"caf\xE9 d".to_vec(), &forced("utf-8")).unwrap();
    assert_eq!(all.texts(), ["caf\u{FFFD} d"]);
    let all = through(b"a\0b\0".to_vec(), &forced("utf-16le")).unwrap();
    assert_eq!(all.texts(), ["ab"]);
}

/// The format of a file is unknown if its bytes cannot be read.
#[test]
#[cfg(target_os = "linux")]
fn files_with_unreadable_beginnings_are_errors() {
    let error = open(Path::new("/proc/self/mem"), &ReadOptions::default()).err().unwrap();
    assert!(matches!(&error, ReadError::Io { .. }), "{error}");
    assert!(error.to_string().contains("/proc/self/mem"), "{error}");
}

/// Damage is reported when the file is read, so that the file can be skipped.
#[test]
fn damaged_files_of_unknown_format_open() {
    let folder = tempfile::tempdir().unwrap();
    write_files(folder.path(), &[("x.gz", b"no gzip"), ("y.zst", b"no zstd")]);
    for name in ["x.gz", "y.zst"] {
        open(&folder.path().join(name), &ReadOptions::default()).unwrap();
    }
}
