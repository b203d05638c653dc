//! TLS and passwords, on a server with a certificate.

use super::WRITE;
use crate::conformance::documents::settings;
use lookalike_index::IndexError;
use lookalike_index::index::Access;
use lookalike_index::postgres::{self, Defaults, with_defaults};
use lookalike_index::settings::StoredContent;
use lookalike_test_support::postgres_server::{PostgresServer, skipped};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Runs `openssl`. Returns false if it is not installed.
fn openssl(folder: &Path, arguments: &str) -> bool {
    let output = Command::new("openssl").args(arguments.split(' ')).current_dir(folder).output();
    let Ok(output) = output else { return false };
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    true
}

/// Creates an authority and a certificate of `localhost` that it has signed.
fn certificates(folder: &Path) -> bool {
    std::fs::write(folder.join("names"), "subjectAltName=DNS:localhost\n").unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    ["ca", "other"].iter().all(|name| {
        openssl(
            folder,
            &format!("req -x509 {key} -keyout {name}.key -out {name}.pem -subj /CN={name} -days 2"),
        )
    }) && openssl(folder, &format!("req {key} -keyout server.key -out server.csr -subj /CN=x"))
        && openssl(
            folder,
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial \
             -out server.crt -days 2 -extfile names",
        )
}

const RULES: &str = "local all all trust
hostssl all postgres 127.0.0.1/32 trust
hostssl all ann 127.0.0.1/32 scram-sha-256
hostnossl all bob 127.0.0.1/32 trust
";

fn prepare(certificates: &Path, data: &Path, user: Option<u32>) {
    for name in ["server.key", "server.crt"] {
        let path = data.join(name);
        std::fs::copy(certificates.join(name), &path).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
        std::os::unix::fs::chown(&path, user, user).unwrap();
    }
    std::fs::write(data.join("pg_hba.conf"), RULES).unwrap();
    // The setting is in the file, because a command-line setting could not be changed later.
    let settings = data.join("postgresql.conf");
    let with_tls = std::fs::read_to_string(&settings).unwrap() + "\nssl = on\n";
    std::fs::write(&settings, with_tls).unwrap();
}

/// Starts a server with TLS, and returns it with its port. Another process can take a port between
/// its choice and the start of the server, so several ports are tried.
fn start(certificates: &Path) -> Result<(PostgresServer, u16), String> {
    let attempt = || {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let more = ["listen_addresses=127.0.0.1", &format!("port={port}")];
        let server =
            PostgresServer::start_with(&more, &|data, user| prepare(certificates, data, user))?;
        Ok((server, port))
    };
    attempt().or_else(|_: String| attempt()).or_else(|_| attempt())
}

#[test]
fn tls_mode_controls_encryption_and_verification() {
    let folder = tempfile::tempdir().unwrap();
    if !certificates(folder.path()) {
        return skipped("certificates cannot be made without openssl");
    }
    let (server, port) = match start(folder.path()) {
        Ok(started) => started,
        Err(why) => return skipped(&why),
    };
    let mut client = server.client();
    client
        .batch_execute(
            "CREATE ROLE ann LOGIN SUPERUSER PASSWORD 's3cret: \\x'; \
             CREATE ROLE bob LOGIN SUPERUSER",
        )
        .unwrap();
    drop(postgres::create(&server.index("a"), &settings(StoredContent::Sets)).unwrap());
    let pem = |name: &str| format!("&sslrootcert={}", folder.path().join(name).display());
    let (ca, other) = (pem("ca.pem"), pem("other.pem"));
    let open = |user: &str, host: &str, rest: &str| {
        let url = format!("postgres://{user}@{host}:{port}/postgres?index=a{rest}");
        postgres::open(&url, Access::Read).map(drop)
    };
    let with = |mode: &str, rest: &str| format!("&sslmode={mode}{rest}");
    // The server accepts this user only over TLS.
    for (host, rest) in [
        ("localhost", String::new()),
        ("localhost", with("prefer", "")),
        ("localhost", with("require", "")),
        ("localhost", with("require", &ca)),
        ("localhost", with("verify-ca", &ca)),
        ("127.0.0.1", with("verify-ca", &ca)),
        ("localhost", with("verify-full", &ca)),
    ] {
        let opened = open("postgres", host, &rest);
        assert!(opened.is_ok(), "{host} {rest}: {opened:?}");
    }
    for (host, rest, why) in [
        ("localhost", with("disable", ""), "no encryption"),
        ("localhost", with("require", &other), "certificate"),
        ("localhost", with("verify-ca", &other), "certificate"),
        ("localhost", with("verify-full", &other), "certificate"),
        ("127.0.0.1", with("verify-full", &ca), "certificate"),
        ("localhost", with("verify-full", ""), "sslrootcert"),
    ] {
        let error = open("postgres", host, &rest).unwrap_err().to_string();
        assert!(error.contains(why), "{host} {rest}: {error}");
    }
    passwords(folder.path(), &format!("postgres://ann@localhost:{port}/postgres?index=a"));
    // Turns TLS off.
    client.batch_execute("ALTER SYSTEM SET ssl = off").unwrap();
    client.batch_execute("SELECT pg_reload_conf()").unwrap();
    let started = std::time::Instant::now();
    while open("bob", "localhost", &with("prefer", "")).is_err() {
        assert!(started.elapsed().as_secs() < 60, "the server does not read its settings");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    open("bob", "localhost", &with("disable", "")).unwrap();
    let error = open("bob", "localhost", &with("require", "")).unwrap_err().to_string();
    assert!(error.contains("does not support TLS"), "{error}");
}

fn passwords(folder: &Path, url: &str) {
    let open = |defaults: &Defaults| {
        let url = with_defaults(url, defaults).unwrap();
        postgres::open(&url, WRITE).map(drop)
    };
    let error = open(&Defaults::default()).unwrap_err();
    assert!(matches!(error, IndexError::Database { .. }), "{error}");
    let password =
        |password: &str| Defaults { password: Some(password.to_owned()), ..Defaults::default() };
    open(&password("wrong")).unwrap_err();
    open(&password("s3cret: \\x")).unwrap();
    let file = folder.join("passwords");
    std::fs::write(&file, "localhost:*:postgres:ann:s3cret\\: \\\\x\n").unwrap();
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let from_file = Defaults { password_file: Some(file), ..Defaults::default() };
    open(&from_file).unwrap();
}
