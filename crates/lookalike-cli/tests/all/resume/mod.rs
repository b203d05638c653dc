//! Interrupted runs resume and end with the same bytes, or report the reason why they cannot.
#![allow(clippy::unwrap_used, reason = "a test")]

mod passages;

use crate::command::Place;
use crate::crash::{
    Random, change_unseen, end, halted, is_prepared, journal, names, short_documents, start,
};
use crate::crash::{signal, stored_run};
use lookalike_test_support::{gzip, is_soak};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Options that divide few documents into many chunks, bands and batches.
const SMALL: &[&str] = &["--memory", "47MiB", "--threads", "1", "--bands", "24", "--rows", "4"];

const TWO_THREADS: [&str; 9] =
    ["a.jsonl.gz", "b.jsonl", "--skip-bad", "--memory", "57MiB", "--threads", "2", "--bands", "24"];

/// A run: its name, its arguments, and the files that it writes.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) args: Vec<&'static str>,
    pub(crate) files: Vec<&'static str>,
}

impl Scenario {
    fn new(name: &'static str, args: &[&'static str]) -> Self {
        let mut all = vec!["find"];
        all.extend_from_slice(args);
        all.extend(["-q", "-o", "g.jsonl"]);
        let mut files = vec!["g.jsonl"];
        for option in ["--pairs", "--skipped", "--report"] {
            if let Some(at) = args.iter().position(|arg| *arg == option) {
                files.push(args[at + 1]);
            }
        }
        Self { name, args: all, files }
    }

    pub(crate) fn resumed(&self) -> Vec<&'static str> {
        [&self.args[..], &["--temp-dir", "t", "--resume"]].concat()
    }

    /// Returns the files of an uninterrupted run, which are then removed, and the time it takes.
    pub(crate) fn expected(&self, place: &Place) -> (Vec<String>, Duration) {
        let begun = Instant::now();
        place.run(&self.args).ok();
        let time = begun.elapsed();
        (self.take(place), time)
    }

    fn take(&self, place: &Place) -> Vec<String> {
        let take = |name: &&str| {
            let content = without_times(&place.read(name));
            fs::remove_file(place.path(name)).unwrap();
            content
        };
        self.files.iter().map(take).collect()
    }

    /// Starts the resumable run in a folder without results.
    pub(crate) fn start(&self, place: &Place) -> std::process::Child {
        self.files.iter().for_each(|name| drop(fs::remove_file(place.path(name))));
        start(&place.path(""), &self.resumed())
    }

    /// Checks that the run left its result and no temporary files, and that the result is correct.
    pub(crate) fn check(&self, place: &Place, expected: &[String], when: &str) {
        assert_eq!(names(&place.path("t")), [""; 0], "{}, {when}", self.name);
        let parts = names(&place.path("")).into_iter().filter(|name| name.contains(".part"));
        assert_eq!(parts.collect::<Vec<_>>(), [""; 0], "{}, {when}", self.name);
        let found = self.take(place);
        for ((found, expected), file) in found.iter().zip(expected).zip(&self.files) {
            assert!(found == expected, "{}, {when}: {file} is not what it was", self.name);
        }
    }
}

/// Returns a report without its times, which come last, or other content unchanged.
fn without_times(content: &str) -> String {
    content.rsplit_once("\"times\":").map_or(content, |(report, _)| report).to_owned()
}

/// Returns the plain input `b.jsonl`: documents of many sources, followed by more bad records than
/// a run holds in memory.
fn with_bad_records() -> String {
    let mut lines = String::new();
    for (i, line) in short_documents(500_000, 13_000).lines().enumerate() {
        let fields = line.strip_prefix('{').unwrap();
        writeln!(lines, "{{\"from\":\"source {}\",{fields}", i * 7 % 1_300).unwrap();
    }
    lines + &"no record\n{\"id\":\"x\"}\n".repeat(3_000)
}

/// Returns a folder with two inputs: `a`, plain and compressed, and `b` with bad records.
fn place_with_inputs() -> Place {
    let place = Place::new();
    fs::create_dir(place.path("t")).unwrap();
    let a = short_documents(0, 26_000);
    place.file("a.jsonl", &a).file("b.jsonl", with_bad_records());
    place.file("a.jsonl.gz", gzip(a.as_bytes()));
    place
}

fn scenarios() -> Vec<Scenario> {
    let with = |args: &[&'static str]| [args, SMALL].concat();
    let bad = ["--skip-bad", "--skipped", "s.csv"];
    let pairs = ["--pairs", "p.csv", "--source-field", "from", "--report", "r.json"];
    vec![
        Scenario::new("plain", &with(&[&["a.jsonl", "b.jsonl"], &bad[..], &pairs].concat())),
        Scenario::new("compressed", &with(&[&["a.jsonl.gz", "b.jsonl"], &bad[..]].concat())),
        Scenario::new(
            "exact",
            &["a.jsonl.gz", "--exact", "--memory", "47MiB", "--threads", "1", "--pairs", "p.csv"],
        ),
        // Two threads write to temporary files at the same time.
        Scenario::new("two threads", &TWO_THREADS),
    ]
}

/// Starts the run up to eight times and kills it after a random time, then lets it end. Returns the
/// number of kills before the run ended.
pub(crate) fn kill_and_resume(
    scenario: &Scenario,
    place: &Place,
    expected: &[String],
    time: Duration,
    random: &mut Random,
) -> usize {
    let (temp, args) = (place.path("t"), scenario.resumed());
    let mut before: Vec<String> = Vec::new();
    for kills in 0..8 {
        let mut child = start(&place.path(""), &args);
        std::thread::sleep(time * random.below(120) as u32 / 100);
        if child.try_wait().unwrap().is_some() {
            let (code, message) = end(child);
            assert_eq!(code, Some(0), "{}: {message}", scenario.name);
            scenario.check(place, expected, "ended by itself");
            return kills;
        }
        child.kill().unwrap();
        end(child);
        if stored_run(&temp).is_none() {
            // The kill came before the run created its folder, or while it removed it, which is its
            // last step.
            assert!(before.is_empty() || fs::exists(place.path(scenario.files[0])).unwrap());
            before.clear();
        } else {
            let now = journal(&temp);
            assert!(now.starts_with(&before), "{}: a step that was done is lost", scenario.name);
            let prepared = is_prepared(&before);
            let chunks = |journal: &[String]| {
                journal.iter().filter(|line| line.contains("\"Chunk\"")).count()
            };
            assert!(!prepared || chunks(&now) == chunks(&before), "the input is read again");
            before = now;
        }
        // After the last step, the result files may exist already. They must be complete.
        for (file, expected) in scenario.files.iter().zip(expected) {
            let found = fs::read_to_string(place.path(file)).map(|found| without_times(&found));
            assert!(found.is_err() || found.unwrap() == *expected, "{file} is half written");
        }
    }
    let (code, message) = end(start(&place.path(""), &args));
    assert_eq!(code, Some(0), "{}: {message}", scenario.name);
    scenario.check(place, expected, "after eight kills");
    8
}

#[test]
fn killed_runs_resume_to_equal_bytes() {
    let place = place_with_inputs();
    let mut random = Random::new(7);
    let mut kills = 0;
    let scenarios = scenarios();
    let expected: Vec<_> = scenarios.iter().map(|scenario| scenario.expected(&place)).collect();
    let enough = if is_soak() { 200 } else { 10 };
    while kills < enough {
        for (scenario, (expected, time)) in scenarios.iter().zip(&expected) {
            kills += kill_and_resume(scenario, &place, expected, *time, &mut random);
        }
    }
}

/// Kills a run after its first `Batch` step, when the journal is nearly complete. Returns the
/// steps.
fn killed_late(scenario: &Scenario, place: &Place) -> Vec<String> {
    let temp = place.path("t");
    let late = |steps: &[String]| steps.iter().any(|line| line.contains("\"Batch\""));
    let mut child = halted(|| scenario.start(place), &temp, late);
    child.kill().unwrap();
    end(child);
    journal(&temp)
}

/// A run stores the ranges of units together with their documents.
#[test]
fn resumed_runs_keep_units() {
    let place = place_with_inputs();
    let texts: Vec<String> = short_documents(0, 26_000).lines().map(str::to_owned).collect();
    let text = |line: &String| -> String {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        value["text"].as_str().unwrap().to_owned()
    };
    let documents = texts.chunks(4).enumerate().map(|(i, lines)| {
        let text = lines.iter().map(text).collect::<Vec<_>>().join("\r\n\u{2029}");
        serde_json::json!({ "id": i.to_string(), "text": text }).to_string() + "\n"
    });
    place.file("u.jsonl", documents.collect::<String>());
    let args = [&["u.jsonl", "--unit", "line", "--pairs", "p.csv"], SMALL].concat();
    let scenario = Scenario::new("units", &args);
    let (expected, _) = scenario.expected(&place);
    assert!(expected[0].contains("\"parent\":") && expected[1].contains(",start_char_b,"));
    assert!(expected[1].lines().count() > 100, "{}", expected[1].lines().count());
    for step in ["\"Chunk\"", "\"Prepared\"", "\"Batch\""] {
        let is_done = |steps: &[String]| steps.iter().any(|line| line.contains(step));
        let mut child = halted(|| scenario.start(&place), &place.path("t"), is_done);
        child.kill().unwrap();
        end(child);
        let (code, message) = end(start(&place.path(""), &scenario.resumed()));
        assert_eq!(code, Some(0), "{message}");
        scenario.check(&place, &expected, step);
    }
}

/// Estimates are calculated from signatures, which the first step stores.
#[test]
fn resumed_runs_keep_estimates() {
    let place = place_with_inputs();
    let args = [&["a.jsonl.gz", "--pairs", "p.csv", "--estimates"], SMALL].concat();
    let scenario = Scenario::new("estimates", &args);
    let (expected, _) = scenario.expected(&place);
    assert!(expected[1].starts_with("id_a,id_b,jaccard,estimated_jaccard,error,standard_error\n"));
    assert!(expected[1].lines().count() > 100, "{}", expected[1].lines().count());
    for step in ["\"Prepared\"", "\"Batch\""] {
        let is_done = |steps: &[String]| steps.iter().any(|line| line.contains(step));
        let mut child = halted(|| scenario.start(&place), &place.path("t"), is_done);
        child.kill().unwrap();
        end(child);
        let (code, message) = end(start(&place.path(""), &scenario.resumed()));
        assert_eq!(code, Some(0), "{message}");
        scenario.check(&place, &expected, step);
    }
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    // A folder that other users can open would be refused.
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for name in names(from) {
        fs::copy(from.join(&name), to.join(&name)).unwrap();
    }
}

/// A kill can leave any prefix of the journal, and other files that contain more than this prefix
/// lists.
#[test]
fn every_journal_prefix_resumes_correctly() {
    let place = place_with_inputs();
    let torn = ["", "0123456789abcdef {\"Batch\"", "0123456789abcdef {}\n"];
    for scenario in scenarios() {
        let (expected, _) = scenario.expected(&place);
        let steps = killed_late(&scenario, &place);
        let run = stored_run(&place.path("t")).unwrap();
        fs::rename(&run, place.path("kept")).unwrap();
        let stride = steps.len().div_ceil(if is_soak() { 12 } else { 4 });
        for (i, length) in (0..steps.len()).step_by(stride).chain([steps.len()]).enumerate() {
            copy_folder(&place.path("kept"), &run);
            let complete: String = steps[..length].iter().map(|step| step.clone() + "\n").collect();
            fs::write(run.join("steps"), complete + torn[i % torn.len()]).unwrap();
            let (code, message) = end(start(&place.path(""), &scenario.resumed()));
            assert_eq!(code, Some(0), "{}, {length} steps: {message}", scenario.name);
            scenario.check(&place, &expected, &format!("{length} steps"));
        }
        fs::remove_dir_all(place.path("kept")).unwrap();
    }
}

/// The first step stores the texts of compressed input, so a resumed run does not read it again.
/// Here the input is unreadable by then.
#[test]
fn resumed_find_skips_read_inputs() {
    let place = place_with_inputs();
    let scenario = Scenario::new("compressed", &[&["a.jsonl.gz"], SMALL].concat());
    let (expected, _) = scenario.expected(&place);
    let mut child = halted(|| scenario.start(&place), &place.path("t"), is_prepared);
    child.kill().unwrap();
    end(child);
    change_unseen(&place.path("a.jsonl.gz"));
    let (code, message) = end(start(&place.path(""), &scenario.resumed()));
    assert_eq!(code, Some(0), "{message}");
    scenario.check(&place, &expected, "without its input");
}

/// A run may resume with another memory limit and another number of threads.
#[test]
fn runs_resume_with_other_limits() {
    let place = place_with_inputs();
    let scenario = &scenarios()[0];
    let (expected, _) = scenario.expected(&place);
    for other in [&["--memory", "80MiB", "--threads", "2"][..], &["--threads", "2"]] {
        killed_late(scenario, &place);
        let kept: Vec<_> = scenario.resumed().into_iter().collect();
        let at = kept.iter().position(|arg| *arg == "--memory").unwrap();
        let args = [&kept[..at], &kept[at + 4..], other].concat();
        let (code, message) = end(start(&place.path(""), &args));
        assert_eq!(code, Some(0), "{message}");
        scenario.check(&place, &expected, "with another limit");
    }
}

#[test]
fn resume_rejects_a_different_run() {
    let place = place_with_inputs();
    let scenario = Scenario::new("plain", &[&["a.jsonl", "b.jsonl", "--skip-bad"], SMALL].concat());
    let (expected, _) = scenario.expected(&place);
    killed_late(&scenario, &place);
    let args = scenario.resumed();
    let refused = |args: &[&str], parts: &[&str]| {
        let message = place.run(args).fails(1);
        for part in ["is another one", "remove the folder", "--temp-dir"].iter().chain(parts) {
            assert!(message.contains(part), "{part}: {message}");
        }
    };
    refused(&[&args[..], &["--threshold", "0.9"]].concat(), &["0.8", "0.9"]);
    refused(&[&args[..], &["--keep", "first"]].concat(), &["longest", "first"]);
    refused(&[&args[..], &["--group", "components"]].concat(), &["Stars", "Components"]);
    refused(&[&args[..], &["--id-field", ":line"]].concat(), &["line_ids"]);
    refused(&[&args[..], &["--pairs", "p.csv"]].concat(), &["pairs was false and is true"]);
    // One of the files becomes a reference.
    let files = args.iter().position(|arg| *arg == "b.jsonl").unwrap();
    let with_reference = [&args[..files], &["--reference", "b.jsonl"], &args[files + 1..]].concat();
    refused(&with_reference, &["reference_sources was 0 and is 1"]);

    // The inputs have another time or another length.
    let b = place.path("b.jsonl");
    let file = fs::File::options().append(true).open(&b).unwrap();
    let before = file.metadata().unwrap().modified().unwrap();
    let length = file.metadata().unwrap().len();
    file.set_modified(before + Duration::from_secs(5)).unwrap();
    refused(&args, &["inputs.b.jsonl was", &format!("{length} bytes, changed"), "and is"]);
    file.set_len(length - 1).unwrap();
    refused(&args, &[&format!("{length} bytes"), &format!("{} bytes", length - 1)]);
    file.set_len(length).unwrap();
    drop(file);
    fs::write(&b, with_bad_records()).unwrap();
    fs::File::options().append(true).open(&b).unwrap().set_modified(before).unwrap();
    let (code, message) = end(start(&place.path(""), &args));
    assert_eq!(code, Some(0), "{message}");
    scenario.check(&place, &expected, "as it was started");
}

#[test]
fn unresumable_runs_are_errors() {
    let place = place_with_inputs();
    let input = short_documents(0, 10);
    let stdin = ["find", "-", "--temp-dir", "t", "--resume"];
    let message = place.run_with_input(&stdin, input.as_bytes()).fails(1);
    assert!(message.contains("stdin") && message.contains("--resume"), "{message}");
    place.run(&["find", "a.jsonl", "--resume"]).fails(2);
    assert_eq!(names(&place.path("t")), [""; 0]);

    // A second run starts while the first one is halted.
    let scenario = Scenario::new("plain", &[&["a.jsonl"], SMALL].concat());
    let (expected, _) = scenario.expected(&place);
    let args = scenario.resumed();
    let started = |steps: &[String]| !steps.is_empty();
    let first = halted(|| scenario.start(&place), &place.path("t"), started);
    let message = place.run(&args).fails(1);
    assert!(message.contains("in use by another run"), "{message}");
    if cfg!(unix) {
        signal(&first, "-CONT");
    }
    assert_eq!(end(first).0, Some(0));
    scenario.check(&place, &expected, "next to a second one");
}

#[test]
fn damaged_run_folders_are_errors() {
    let place = place_with_inputs();
    let inputs = ["a.jsonl.gz", "b.jsonl", "--skip-bad"];
    let scenario = Scenario::new("compressed", &[&inputs, SMALL].concat());
    let (expected, _) = scenario.expected(&place);
    let steps = killed_late(&scenario, &place);
    let run = stored_run(&place.path("t")).unwrap();
    fs::rename(&run, place.path("kept")).unwrap();
    let refused = |damage: &dyn Fn(&Path)| {
        copy_folder(&place.path("kept"), &run);
        damage(&run);
        let message = place.run(&scenario.resumed()).fails(1);
        assert!(message.contains(&format!("remove the folder {}", "t/lookalike-")), "{message}");
        assert!(!fs::exists(place.path("g.jsonl")).unwrap(), "{message}");
        fs::remove_dir_all(&run).unwrap();
        message
    };
    for name in ["columns", "rows", "skipped", "texts", "buckets", "results"] {
        let message = refused(&|run| {
            let file = fs::File::options().write(true).open(run.join(name)).unwrap();
            file.set_len(10).unwrap();
        });
        assert!(message.contains(name) && message.contains(" bytes, found 10;"), "{message}");
        let message = refused(&|run| fs::remove_file(run.join(name)).unwrap());
        assert!(message.contains(name), "{message}");
    }
    let message = refused(&|run| {
        let broken = steps[0].replacen("Chunk", "Chink", 1) + "\n" + &steps[1] + "\n";
        fs::write(run.join("steps"), broken).unwrap();
    });
    assert!(message.contains("line 1 does not match its checksum"), "{message}");
    let message = refused(&|run| fs::write(run.join("run.json"), "{}").unwrap());
    assert!(message.contains("run.json"), "{message}");

    // After the folder is removed, as the message recommends, the run starts again. Files that
    // remain from the interrupted removal of a folder do not prevent this.
    copy_folder(&place.path("kept"), &run.with_extension("run.done"));
    let (code, message) = end(start(&place.path(""), &scenario.resumed()));
    assert_eq!(code, Some(0), "{message}");
    scenario.check(&place, &expected, "again");
}

/// A folder that other users could have created or filled is refused.
#[cfg(unix)]
#[test]
fn publicly_writable_run_folders_are_errors() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = place_with_inputs();
    let scenario = Scenario::new("plain", &[&["a.jsonl"], SMALL].concat());
    let (expected, _) = scenario.expected(&place);
    killed_late(&scenario, &place);
    let run = stored_run(&place.path("t")).unwrap();
    let set_mode = |mode| fs::set_permissions(&run, PermissionsExt::from_mode(mode)).unwrap();
    set_mode(0o777);
    let message = place.run(&scenario.resumed()).fails(1);
    for part in ["mode 777, expected 700", "remove it if it is yours", "--temp-dir"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    set_mode(0o700);
    place.file("victim", "precious");
    fs::rename(run.join("rows"), run.join("kept")).unwrap();
    symlink(place.path("victim"), run.join("rows")).unwrap();
    let message = place.run(&scenario.resumed()).fails(1);
    assert!(message.contains("rows: it is a link"), "{message}");
    assert_eq!(place.read("victim"), "precious");
    fs::rename(run.join("kept"), run.join("rows")).unwrap();
    let (code, message) = end(start(&place.path(""), &scenario.resumed()));
    assert_eq!(code, Some(0), "{message}");
    scenario.check(&place, &expected, "with a private folder");
}
