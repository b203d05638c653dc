//! A program that knows nothing of this server reads its description and tries to break it.

use crate::serve::served::Served;
use std::process::Command;

#[test]
fn nothing_that_the_description_allows_breaks_it() {
    try_all(&Served::start(), "--exclude-operation-id=bulk");
}

/// The addresses of an index with a name are those of the first one: the lists suffice.
#[test]
fn nothing_breaks_an_index_with_a_name() {
    let served = Served::with_indexes(&["news", "mail"], |_| {});
    try_all(&served, "--include-path-regex=^/v1/indexes(/[^/]+)?(/(stats|documents|query))?$");
}

/// Makes requests from the description, of the operations that an option chooses.
fn try_all(served: &Served, chosen: &str) {
    if Command::new("schemathesis").arg("--version").output().is_err() {
        let said = "schemathesis is not installed (pip install schemathesis), so requests \
                    made from openapi.json were not tried";
        lookalike_test_support::print_skipped(said);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // What is well-formed may still be refused: a time that is past, a list that is computed again.
    let config = "[checks]\n\
        positive_data_acceptance.expected-statuses = \
            [\"2xx\", \"404\", \"409\", \"410\", \"422\", \"503\"]\n\
        not_a_server_error.expected-statuses = [\"2xx\", \"3xx\", \"4xx\", \"503\"]\n";
    std::fs::write(folder.path().join("schemathesis.toml"), config).unwrap();
    let output = Command::new("schemathesis")
        .args(["run", "--no-color", "--max-examples=30", "--seed=1", "--generation-database=none"])
        // It knows no way to make lines of JSON.
        .args([chosen, "--exclude-operation-id=bulkOfIndex"])
        .args(["--checks=all", "--exclude-checks=unsupported_method,ignored_auth"])
        .arg(format!("http://{}/openapi.json", served.client.address))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    served.client.get("/v1/health").ok(200);
}
