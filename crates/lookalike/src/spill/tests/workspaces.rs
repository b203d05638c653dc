//! Folders that are removed at the end of the run, and folders that are kept.

use crate::spill::TempSpace;
use crate::spill::error::SpillError;
use crate::spill::file::SpillFile;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Returns a space whose folder exists already.
fn temporary(parent: &Path) -> TempSpace {
    let space = TempSpace::new(parent.to_owned());
    space.folder().unwrap();
    space
}

fn path(space: &TempSpace) -> PathBuf {
    space.folder().unwrap().path().to_owned()
}

fn create(space: &TempSpace, name: &str) -> SpillFile {
    space.open(name, 0).unwrap()
}

fn description() -> Value {
    json!({"inputs": [{"name": "a", "bytes": 10}, {"name": "b", "bytes": 20}],
           "params": {"threshold": 0.1, "pairs": false, "recall": 0.987_654_321_012_345_6}})
}

#[test]
fn temporary_folder_lives_until_last_file() {
    let parent = tempfile::tempdir().unwrap();
    let workspace = temporary(parent.path());
    let name = names(parent.path()).pop().unwrap();
    assert!(name.starts_with("lookalike-") && Path::new(&name).extension().unwrap() == "tmp");
    let file = create(&workspace, "part");
    assert!(file.path().starts_with(path(&workspace)) && file.path().ends_with("part"));
    drop(workspace);
    file.append(b"still there").unwrap();
    let mut back = [0; 11];
    file.read_at(&mut back, 0).unwrap();
    assert_eq!(&back, b"still there");
    drop(file);
    assert!(names(parent.path()).is_empty());
}

#[test]
fn panics_remove_the_temporary_folder() {
    let parent = tempfile::tempdir().unwrap();
    let result = std::panic::catch_unwind(|| {
        let workspace = temporary(parent.path());
        let _file = create(&workspace, "part");
        // Unlike a panic, this writes no message to the log of the tests.
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(result.is_err());
    assert!(names(parent.path()).is_empty());
}

#[test]
#[cfg(unix)]
fn temporary_files_are_unnamed_and_private() {
    use std::os::unix::fs::PermissionsExt;
    let parent = tempfile::tempdir().unwrap();
    let workspace = temporary(parent.path());
    let file = create(&workspace, "part");
    file.append(b"x").unwrap();
    assert!(names(&path(&workspace)).is_empty(), "a killed run leaves nothing of its documents");
    let resumable = TempSpace::resumable(parent.path(), "n", &json!({})).unwrap();
    let scratch = resumable.scratch("sort").unwrap();
    scratch.append(b"x").unwrap();
    assert_eq!(names(&path(&resumable)), ["lock", "run.json"]);
    for folder in [path(&workspace), path(&resumable)] {
        assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn resumable_folder_stays_until_finish() {
    let parent = tempfile::tempdir().unwrap();
    let start = || TempSpace::resumable(parent.path(), "x", &description());
    let workspace = start().unwrap();
    create(&workspace, "data").append(b"0123456789").unwrap();
    drop(workspace);
    assert_eq!(names(parent.path()), ["lookalike-x.run"]);
    let workspace = start().unwrap();
    let data = workspace.open("data", 4).unwrap();
    assert_eq!((data.len(), data.append(b"abc").unwrap()), (4, 4));
    assert_eq!(fs::read(data.path()).unwrap(), b"0123abc");
    let error = workspace.open("data", 8).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("expected 8 bytes, found 7"), "{message}");
    assert_eq!(fs::read(data.path()).unwrap(), b"0123abc", "nothing is changed");
    let spool = workspace.spool("data", 7).unwrap();
    assert_eq!(spool.append(b"!").unwrap(), 7);
    assert_eq!(fs::read(data.path()).unwrap(), b"0123abc!");
    drop((data, spool));
    workspace.finish().unwrap();
    assert!(names(parent.path()).is_empty());
}

#[test]
fn different_run_descriptions_are_errors() {
    let parent = tempfile::tempdir().unwrap();
    drop(TempSpace::resumable(parent.path(), "x", &description()).unwrap());
    let mut other = description();
    other["params"]["threshold"] = json!(0.2);
    other["inputs"][1]["bytes"] = json!(21);
    other["inputs"].as_array_mut().unwrap().push(json!("c"));
    other["params"].as_object_mut().unwrap().remove("pairs");
    let error = TempSpace::resumable(parent.path(), "x", &other).unwrap_err();
    let SpillError::RunDiffers { differences, .. } = &error else { panic!("{error}") };
    let found: Vec<_> = differences
        .iter()
        .map(|d| (d.member.as_str(), d.stored.as_deref(), d.wanted.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            ("inputs[1].bytes", Some("20"), Some("21")),
            ("inputs[2]", None, Some("\"c\"")),
            ("params.pairs", Some("false"), None),
            ("params.threshold", Some("0.1"), Some("0.2")),
        ]
    );
    let message = error.to_string();
    for part in ["params.threshold was 0.1 and is 0.2", "was absent", "lookalike-x.run"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(message.contains("temp_dir"), "{message}");
    drop(TempSpace::resumable(parent.path(), "x", &description()).unwrap());
}

#[test]
fn long_difference_lists_are_truncated() {
    let parent = tempfile::tempdir().unwrap();
    drop(TempSpace::resumable(parent.path(), "x", &json!(vec!["ü".repeat(99); 20])).unwrap());
    let error = TempSpace::resumable(parent.path(), "x", &json!(vec![1; 20])).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("and 12 more"), "{message}");
    assert!(message.len() < 3000, "{message}");
}

#[test]
fn another_format_version_is_another_run() {
    let parent = tempfile::tempdir().unwrap();
    let workspace = TempSpace::resumable(parent.path(), "x", &json!({"a": 1})).unwrap();
    let stored = path(&workspace).join("run.json");
    drop(workspace);
    let text = fs::read_to_string(&stored).unwrap();
    assert!(text.contains("\"format_version\": 1"), "{text}");
    fs::write(&stored, text.replace("\"format_version\": 1", "\"format_version\": 0")).unwrap();
    let error = TempSpace::resumable(parent.path(), "x", &json!({"a": 1})).unwrap_err();
    assert!(error.to_string().contains("format_version was 0 and is 1"), "{error}");
}

#[test]
fn concurrent_second_run_is_an_error() {
    let parent = tempfile::tempdir().unwrap();
    let start = || TempSpace::resumable(parent.path(), "x", &description());
    let first = start().unwrap();
    let error = start().unwrap_err();
    assert!(matches!(error, SpillError::RunInUse { .. }), "{error}");
    assert!(error.to_string().contains("in use by another run"), "{error}");
    let file = create(&first, "data");
    drop(first);
    assert!(start().is_err(), "its files are still open");
    drop(file);
    start().unwrap();
}

#[test]
fn foreign_run_folders_are_untouched() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("lookalike-x.run");
    fs::create_dir(&folder).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&folder, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    fs::write(folder.join("thesis"), "precious").unwrap();
    let error = TempSpace::resumable(parent.path(), "x", &json!({})).unwrap_err();
    assert!(matches!(error, SpillError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("thesis"), "{error}");
    fs::remove_file(folder.join("thesis")).unwrap();
    // A start was stopped before it stored its description.
    fs::write(folder.join(".unfinished-abc"), "{").unwrap();
    drop(TempSpace::resumable(parent.path(), "x", &json!({})).unwrap());
    fs::write(folder.join("run.json"), "{").unwrap();
    let error = TempSpace::resumable(parent.path(), "x", &json!({})).unwrap_err();
    assert!(matches!(error, SpillError::Damaged { .. }), "{error}");
    let file = parent.path().join("lookalike-y.run");
    fs::write(&file, "precious").unwrap();
    let error = TempSpace::resumable(parent.path(), "y", &json!({})).unwrap_err();
    assert!(matches!(error, SpillError::RunNotPrivate { .. }), "{error}");
    assert_eq!(fs::read(&file).unwrap(), b"precious");
}

#[test]
fn unusable_parent_errors_name_the_remedy() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    fs::write(&file, "").unwrap();
    for bad in [parent.path().join("missing"), file] {
        let space = TempSpace::new(bad.clone());
        let errors = [
            TempSpace::resumable(&bad, "x", &json!({})).unwrap_err(),
            space.folder().unwrap_err(),
            space.scratch("x").unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(&error, SpillError::TempDir { path, .. } if *path == bad), "{error}");
            let message = error.to_string();
            assert!(message.contains("temp_dir names a folder that exists"), "{message}");
        }
    }
}

#[test]
fn temp_space_creates_its_folder_lazily() {
    let parent = tempfile::tempdir().unwrap();
    let space = TempSpace::new(parent.path().to_owned());
    assert!(names(parent.path()).is_empty());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| drop(create(&space, "x")));
        }
    });
    assert_eq!(names(parent.path()).len(), 1);
    drop(space);
    assert!(names(parent.path()).is_empty());
    let space = TempSpace::resumable(parent.path(), "x", &json!({})).unwrap();
    let path = path(&space);
    assert!(path.exists() && path.ends_with("lookalike-x.run"));
    space.finish().unwrap();
    assert!(!path.exists());
}

#[cfg(unix)]
mod private {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    fn refused(parent: &Path) -> String {
        let error = TempSpace::resumable(parent, "x", &json!({})).unwrap_err();
        assert!(matches!(error, SpillError::RunNotPrivate { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains("lookalike-x.run") && message.contains("temp_dir"), "{message}");
        message
    }

    #[test]
    fn resumable_files_are_private() {
        let parent = tempfile::tempdir().unwrap();
        let workspace = TempSpace::resumable(parent.path(), "x", &json!({})).unwrap();
        create(&workspace, "data").append(b"x").unwrap();
        let folder = path(&workspace);
        assert_eq!(mode(&folder), 0o700);
        for name in ["data", "lock", "run.json"] {
            assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
        }
        // A file that is open to others becomes private when it is opened again.
        set_mode(&folder.join("data"), 0o644);
        assert_eq!(workspace.open("data", 1).unwrap().len(), 1);
        assert_eq!(mode(&folder.join("data")), 0o600);
    }

    #[test]
    fn shared_or_linked_folders_are_errors() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("lookalike-x.run");
        drop(TempSpace::resumable(parent.path(), "x", &json!({})).unwrap());
        for loose in [0o770, 0o707, 0o755, 0o701] {
            set_mode(&folder, loose);
            let message = refused(parent.path());
            assert!(message.contains(&format!("mode {loose:o}, expected 700")), "{message}");
        }
        set_mode(&folder, 0o700);
        drop(TempSpace::resumable(parent.path(), "x", &json!({})).unwrap());
        let elsewhere = parent.path().join("elsewhere");
        fs::rename(&folder, &elsewhere).unwrap();
        symlink("elsewhere", &folder).unwrap();
        assert!(refused(parent.path()).contains("it is a link or a file"));
    }

    #[test]
    fn folders_of_other_users_are_errors() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("lookalike-x.run");
        fs::create_dir(&folder).unwrap();
        set_mode(&folder, 0o700);
        let user = fs::metadata(&folder).unwrap().uid();
        if std::os::unix::fs::chown(&folder, Some(user + 1), None).is_err() {
            let skipped = "only the superuser gives a folder to another user, so this \
                           test shows nothing";
            lookalike_test_support::print_skipped(skipped);
            return;
        }
        let message = refused(parent.path());
        let expected = format!("belongs to the user {}, and this is the user {user}", user + 1);
        assert!(message.contains(&expected), "{message}");
    }

    #[test]
    fn links_in_resumable_folders_are_errors() {
        let parent = tempfile::tempdir().unwrap();
        let victim = parent.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let start = || TempSpace::resumable(parent.path(), "x", &json!({}));
        let workspace = start().unwrap();
        let folder = path(&workspace);
        symlink(&victim, folder.join("data")).unwrap();
        fs::hard_link(&victim, folder.join("second")).unwrap();
        for (name, problem) in [("data", "it is a link"), ("second", "it has a second name")] {
            let error = workspace.open(name, 0).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(problem), "{error}");
        }
        drop(workspace);
        for name in ["lock", "run.json"] {
            let kept = folder.join("kept");
            fs::rename(folder.join(name), &kept).unwrap();
            symlink(&victim, folder.join(name)).unwrap();
            let error = start().unwrap_err().to_string();
            assert!(error.contains("it is a link"), "{name}: {error}");
            fs::rename(&kept, folder.join(name)).unwrap();
        }
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
        drop(start().unwrap());
    }
}
