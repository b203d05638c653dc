//! A generated client: another program creates it from `openapi.json`. The test compiles and runs
//! it.

use crate::serve::schema::DESCRIPTION;
use crate::serve::served::Served;
use std::path::PathBuf;
use std::process::Command;

/// The test program of the client; `sys.argv[1]` is the address of the server.
const PROGRAM: &str = r#"
import sys
from made import Client
from made.api.default import (
    delete, get, list_, put, queries, query, remove_by_filter, settings, stats,
    upkeep_jobs,
)
from made.models import NewDocument, Problem, Queries, QueryType1

client = Client(base_url=sys.argv[1])
text = "the quick brown fox jumps over the lazy dog in the green park"
for id in ("a", "b"):
    body = NewDocument.from_dict({"text": text, "metadata": {"language": "en"}})
    done = put.sync(id, client=client, body=body)
    assert (done.id, done.done) == (id, "added"), done
found = query.sync(client=client, body=QueryType1.from_dict({"id": "a"}))
assert [(one.id, one.similarity) for one in found.matches] == [("b", 1.0)], found
both = Queries.from_dict({"queries": [{"id": "a"}, {"id": "b"}]})
assert len(queries.sync(client=client, body=both).answers) == 2
gone = get.sync("gone", client=client)
assert isinstance(gone, Problem) and gone.code == "unknown-document", gone
assert [one.id for one in list_.sync(client=client).documents] == ["a", "b"]
assert stats.sync(client=client).documents == 2
assert settings.sync(client=client).writable is True
removed = remove_by_filter.sync(client=client, filter_=["language=en"], dry_run=True)
assert removed.removed == 2, removed
assert delete.sync_detailed("b", client=client).status_code == 204
assert upkeep_jobs.sync(client=client).jobs == []
print("used")
"#;

/// Finds a program in the folders of `PATH`.
#[expect(clippy::disallowed_methods, reason = "a test")]
fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|place| place.is_file())
}

#[test]
fn generated_clients_work() {
    let Some(generator) = program("openapi-python-client") else {
        let reason = "openapi-python-client is not installed (pip install \
                    openapi-python-client), so no client was made from openapi.json";
        lookalike_test_support::print_skipped(reason);
        return;
    };
    // The packages that the client needs are installed next to the generator.
    let python = generator.with_file_name("python");
    let served = Served::start();
    let folder = tempfile::tempdir().unwrap();
    let run = |command: &mut Command| {
        let output = command.current_dir(folder.path()).output().unwrap();
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        let why = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{stdout}{why}");
        stdout
    };
    std::fs::write(folder.path().join("openapi.json"), DESCRIPTION.to_string()).unwrap();
    // Omits the code formatting, which needs another program.
    std::fs::write(folder.path().join("config.yml"), "post_hooks: []\n").unwrap();
    let options = ["generate", "--path", "openapi.json", "--output-path", "made", "--meta", "none"];
    run(Command::new(&generator).args(options).args(["--config", "config.yml"]));
    run(Command::new(&python).args(["-m", "compileall", "-q", "made"]));
    let address = format!("http://{}", served.client.address);
    let stdout = run(Command::new(&python).args(["-c", PROGRAM, &address]));
    assert_eq!(stdout.trim(), "used");
}
