//! Folders as people have them: every kind of file, in archives and mailboxes, and files that
//! cannot be read.
#![allow(clippy::unwrap_used, reason = "this is a test")]

mod command;

use command::{Place, root, words};
use std::fs;
use std::path::Path;

/// Copies the files of `fixtures/extract`, without what tells how they were made.
fn fixtures(place: &Place, folder: &str) {
    let from = root().join("fixtures/extract");
    for kind in ["html", "mail", "office", "pdf"] {
        for entry in fs::read_dir(from.join(kind)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
            if !matches!(ending, Some("txt" | "py")) {
                place.file(&format!("{folder}/{kind}/{name}"), fs::read(&path).unwrap());
            }
        }
    }
}

fn message(number: u32, body: &str) -> String {
    format!(
        "From a@b.example Thu Jan  1 00:00:{number:02} 1970\nFrom: a@b.example\nTo: c@d.example\n\
         Subject: number {number}\nMessage-ID: <m{number}@b.example>\n\
         Date: Thu, 01 Jan 1970 00:00:{number:02} +0000\n\n{body}\n\n"
    )
}

/// Groups as `{"keeper": …, "duplicates": […]}`, by their ids.
fn groups(place: &Place, args: &[&str]) -> Vec<Vec<String>> {
    let all = ["find", "-q", "-o", "g.csv"].iter().chain(args).copied().collect::<Vec<_>>();
    place.run(&all).ok();
    let mut groups: Vec<Vec<String>> = Vec::new();
    for line in place.read("g.csv").lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        if fields[2] == "keeper" {
            groups.push(Vec::new());
        }
        groups.last_mut().unwrap().push(fields[1].to_owned());
    }
    groups
}

#[test]
fn a_folder_of_everything() {
    let place = Place::new();
    fixtures(&place, "docs");
    let found = groups(&place, &["docs", "--skipped", "s.csv"]);
    let docx = ["office/text.docx", "office/utf16.docx"];
    assert!(found.contains(&docx.map(str::to_owned).to_vec()), "{found:?}");
    // The same file in two kinds of archive.
    let archived = ["office/gnu.tar/a.txt", "office/pax.tar/a.txt", "office/plain.zip/a.txt"];
    assert!(found.contains(&archived.map(str::to_owned).to_vec()), "{found:?}");
    let skipped = place.read("s.csv");
    for (name, reason) in [
        ("docs/office/locked.epub", "encrypted"),
        ("docs/office/password.odt", "encrypted"),
        ("docs/pdf/encrypted.pdf", "encrypted"),
        ("docs/pdf/scanned.pdf", "a PDF of 2 pages without text"),
        ("docs/mail/crawl.warc", "damaged"),
        ("docs/office/pax.tar", "a link"),
    ] {
        let listed = |line: &str| line.starts_with(name) && line.contains(reason);
        assert!(skipped.lines().any(listed), "{name} {reason}\n{skipped}");
    }
    assert!(!place.read("g.csv").contains("scanned"));
}

#[test]
fn archives_give_what_folders_give_in_any_memory() {
    let place = Place::new();
    fixtures(&place, "docs");
    for (name, text) in [("a.txt", words(1, 90)), ("b.txt", words(1, 90) + "end")] {
        place.file(&format!("docs/{name}"), text);
    }
    let tar = |args: &[&str]| {
        let done =
            std::process::Command::new("tar").args(args).current_dir(place.path(".")).status();
        assert!(done.unwrap().success());
    };
    tar(&["--sort=name", "-czf", "docs.tgz", "docs"]);
    let expected = groups(&place, &["docs"]);
    assert!(expected.len() > 3, "{expected:?}");
    let little: &[&str] = &["docs.tgz", "--memory", "80MiB", "--threads", "2"];
    for args in [&["docs.tgz"][..], little] {
        let found = groups(&place, args);
        let own = |id: &String| id.replacen("docs.tgz/docs/", "", 1);
        let mut found: Vec<Vec<String>> =
            found.iter().map(|group| group.iter().map(own).collect()).collect();
        found.sort();
        let mut wanted = expected.clone();
        wanted.sort();
        assert_eq!(found, wanted, "{args:?}");
    }
}

#[test]
fn a_mailbox_is_searched_and_thinned_message_by_message() {
    let place = Place::new();
    let (first, second) = (words(1, 60), words(2, 60));
    let reply = format!("{second}\n\nOn Thu, a@b.example wrote:\n> {first}\n");
    let box_ = [message(1, &first), message(2, &reply), message(3, &first)].concat();
    place.file("in.mbox", &box_);
    let newest = ["in.mbox", "--keep", "field:date", "--id-field", "message-id"];
    assert_eq!(groups(&place, &newest), [["m3@b.example", "m1@b.example"]]);
    assert_eq!(groups(&place, &["in.mbox"]), [["in.mbox:1", "in.mbox:23"]]);
    place.run(&["dedup", "in.mbox", "-o", "out.mbox", "-q"]).ok();
    assert_eq!(place.read("out.mbox"), [message(1, &first), message(2, &reply)].concat());
    // What a reply quotes counts, unless it is cut.
    place.file("one.eml", &message(1, &first)[42..]).file("two.eml", &message(2, &reply)[42..]);
    let contained = ["one.eml", "two.eml", "--measure", "containment"];
    assert_eq!(groups(&place, &contained).len(), 1);
    let cut = [&contained[..], &["--quotes", "cut"]].concat();
    assert_eq!(groups(&place, &cut).len(), 0);
}

#[test]
fn copies_without_text_are_told_and_never_matched() {
    let place = Place::new();
    let png = [&b"\x89PNG\r\n\x1a\n\0\0\0"[..], words(5, 50).as_bytes()].concat();
    place.file("in/a.png", &png).file("in/b.png", &png).file("in/c.png", [&png[..], b"x"].concat());
    let scanned = fs::read(root().join("fixtures/extract/pdf/scanned.pdf")).unwrap();
    place.file("in/d.pdf", &scanned).file("in/e.txt", &scanned).file("in/f.txt", words(9, 30));
    let run = place.run(&["find", "in", "--skipped", "s.csv", "--report", "r.json"]);
    assert!(
        run.err.contains("2 of them are the same bytes as another: in/b.png as in/a.png"),
        "{}",
        run.err
    );
    let skipped = place.read("s.csv");
    assert!(skipped.contains("the same bytes as in/a.png"), "{skipped}");
    assert!(skipped.contains("the same bytes as in/d.pdf"), "{skipped}");
    assert_eq!(skipped.matches("the same bytes").count(), 2, "{skipped}");
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let twins: Vec<&serde_json::Value> =
        report["skipped"].as_array().unwrap().iter().map(|each| &each["same_bytes_as"]).collect();
    assert_eq!(twins.iter().filter(|twin| twin.is_string()).count(), 2);
    assert_eq!(report["counts"]["groups"], 0);
}

#[test]
fn a_named_file_without_text_is_an_error() {
    let place = Place::new();
    let file = |name: &str| fs::read(root().join("fixtures/extract").join(name)).unwrap();
    place.file("a.pdf", file("pdf/encrypted.pdf")).file("b.docx", file("office/text.docx"));
    let message = place.run(&["find", "a.pdf", "b.docx"]).fails(1);
    assert!(message.contains("a.pdf: encrypted") && message.contains("--skip-bad"), "{message}");
    place.run(&["find", "a.pdf", "b.docx", "--skip-bad", "-q"]).ok();
    let message = place.run(&["compare", "a.pdf", "b.docx"]).fails(1);
    assert!(message.contains("encrypted"), "{message}");
    place.file("z.zip", file("office/plain.zip"));
    let message = place.run(&["compare", "z.zip", "b.docx"]).fails(2);
    assert!(message.contains("documents; compare takes two texts"), "{message}");
}

#[test]
fn limits_are_told_and_can_be_moved() {
    let place = Place::new();
    fixtures(&place, "docs");
    place.file("docs/a.txt", words(1, 50));
    let reason = |args: &[&str]| {
        let all = [&["find", "docs", "-q", "-o", "g.csv", "--skipped", "s.csv"], args].concat();
        place.run(&all).ok();
        place.read("s.csv")
    };
    for (option, value, said) in [
        ("--max-file-size", "1KiB", "more than 1024 bytes"),
        ("--max-pages", "1", "more than 1 pages"),
        ("--max-depth", "0", "more than 0 levels of files in files"),
        ("--max-expanded", "1KiB", "more than 1024 expanded bytes"),
        ("--max-members", "1", "more than 1 members"),
        ("--max-seconds", "0", "not read after 0 s"),
    ] {
        let skipped = reason(&[option, value]);
        assert!(skipped.contains(&format!("{said} ({option} allows more)")), "{skipped}");
    }
}

#[test]
fn spellings_and_words_are_one_where_that_is_asked_for() {
    let place = Place::new();
    let accents = "élan vital café crème naïve façade déjà vu rôle fête";
    let decomposed: String = accents
        .chars()
        .flat_map(|c| match c {
            'é' => vec!['e', '\u{301}'],
            'è' => vec!['e', '\u{300}'],
            'ê' => vec!['e', '\u{302}'],
            'ï' => vec!['i', '\u{308}'],
            'ç' => vec!['c', '\u{327}'],
            'à' => vec!['a', '\u{300}'],
            'ô' => vec!['o', '\u{302}'],
            c => vec![c],
        })
        .collect();
    place.file("in/a.txt", accents).file("in/b.txt", decomposed);
    assert_eq!(groups(&place, &["in"]).len(), 0);
    assert_eq!(groups(&place, &["in", "--normalize", "nfc"]), [["a.txt", "b.txt"]]);
    place.file("th/a.txt", "ภาษาไทยสนุก").file("th/b.txt", "ภาษา ไทย สนุก");
    assert_eq!(groups(&place, &["th", "--segment", "dictionary", "--shingle", "words:2"]).len(), 1);
    let auto = ["en", "--shingle", "bag", "--language", "auto"];
    let first = "The river was flowing through the valley, and the people of the village were \
                 there with their horses and the merchants from the castle.";
    let second = "A river that is flowing through a valley; some people of a village, and what \
                  horses they have, and some merchants who are from a castle.";
    place.file("en/a.txt", first).file("en/b.txt", second);
    assert_eq!(groups(&place, &auto[..3]).len(), 0);
    assert_eq!(groups(&place, &auto), [["b.txt", "a.txt"]]);
}

#[test]
fn a_tar_archive_with_a_repeated_name_is_read_like_any_other() {
    let place = Place::new();
    place.file("docs/other.txt", words(7, 60)).file("a.txt", words(1, 60));
    let tar = |args: &[&str]| {
        let done =
            std::process::Command::new("tar").args(args).current_dir(place.path(".")).status();
        assert!(done.unwrap().success());
    };
    tar(&["-cf", "docs/x.tar", "a.txt"]);
    tar(&["-rf", "docs/x.tar", "a.txt"]);
    assert_eq!(groups(&place, &["docs"]), [["x.tar/a.txt", "x.tar/a.txt#2"]]);
    place.run(&["dedup", "docs", "-o", "kept", "-q"]).ok();
}

#[cfg(unix)]
#[test]
fn a_pipe_that_nothing_is_written_to_is_named() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};
    let place = Place::new();
    let fifo = place.path("records");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let mut run = Command::new(env!("CARGO_BIN_EXE_lookalike"))
        .args(["find", "records"])
        .current_dir(place.path("."))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut err = BufReader::new(run.stderr.take().unwrap());
    let (sender, said) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut line = String::new();
        err.read_line(&mut line).unwrap();
        sender.send(line).unwrap();
        // Until the end, so that the run can write the rest.
        std::io::copy(&mut err, &mut std::io::sink()).unwrap();
    });
    // The run ends only when it gets its input.
    let Ok(line) = said.recv_timeout(std::time::Duration::from_secs(120)) else {
        run.kill().unwrap();
        panic!("nothing was written while the run waited for its input");
    };
    assert!(line.starts_with("waiting for input: records is a pipe"), "{line}");
    let mut records = std::fs::OpenOptions::new().write(true).open(&fifo).unwrap();
    records.write_all(b"{\"id\":\"a\",\"text\":\"some words\"}\n").unwrap();
    drop(records);
    assert!(run.wait().unwrap().success());
    reader.join().unwrap();
}
