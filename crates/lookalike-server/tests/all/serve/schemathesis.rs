//! Schemathesis, a test program without knowledge of this server, reads the API description and
//! tries to break the server.

use crate::serve::served::Served;
use std::process::Command;

#[test]
fn schemathesis_finds_no_problems() {
    try_all(&Served::start(), "--exclude-operation-id=bulk");
}

/// Paths with an index name have the same handlers as those without, so a part of them suffices.
#[test]
fn schemathesis_accepts_named_indexes() {
    let served = Served::with_indexes(&["news", "mail"], |_| {});
    try_all(&served, "--include-path-regex=^/v1/indexes(/[^/]+)?(/(stats|documents|query))?$");
}

/// Sends generated requests to the operations that an option selects.
fn try_all(served: &Served, chosen: &str) {
    if Command::new("schemathesis").arg("--version").output().is_err() {
        let reason = "schemathesis is not installed (pip install schemathesis), so requests \
                    made from openapi.json were not tried";
        lookalike_test_support::print_skipped(reason);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // A well-formed request may still be refused, for example if its time is past.
    let config = "[checks]\n\
        positive_data_acceptance.expected-statuses = \
            [\"2xx\", \"404\", \"409\", \"410\", \"422\", \"503\"]\n\
        not_a_server_error.expected-statuses = [\"2xx\", \"3xx\", \"4xx\", \"503\"]\n";
    std::fs::write(folder.path().join("schemathesis.toml"), config).unwrap();
    let output = Command::new("schemathesis")
        .args(["run", "--no-color", "--max-examples=30", "--seed=1", "--generation-database=none"])
        // Schemathesis cannot generate JSON lines.
        .args([chosen, "--exclude-operation-id=bulkOfIndex"])
        .args(["--checks=all", "--exclude-checks=unsupported_method,ignored_auth"])
        .arg(format!("http://{}/openapi.json", served.client.address))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}{}", String::from_utf8_lossy(&output.stderr));
    served.client.get("/v1/health").ok(200);
}
