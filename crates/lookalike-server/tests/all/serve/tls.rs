//! TLS: the server gives the same answers over TLS, and none without it.

use crate::serve::served::Served;
use lookalike::store::settings::StoredContent;
use lookalike_server::TlsIdentity;
use lookalike_server::config::tls::TlsError;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Creates a self-signed certificate of `localhost`. Returns false if `openssl` is not installed.
fn certificate(folder: &Path, name: &str) -> bool {
    let output = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-days", "2", "-subj", "/CN=localhost"])
        .args(["-addext", "subjectAltName=DNS:localhost"])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", &format!("{name}.key"), "-out", &format!("{name}.pem")])
        .current_dir(folder)
        .output();
    let Ok(output) = output else {
        lookalike_test_support::print_skipped("openssl is not installed, so TLS was not tried");
        return false;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

fn identity(folder: &Path, name: &str) -> TlsIdentity {
    let [certificate, key] = ["pem", "key"].map(|kind| folder.join(format!("{name}.{kind}")));
    TlsIdentity::read(&certificate, &key).unwrap()
}

/// Returns the answer for a client that trusts this certificate, or the error.
fn get(address: SocketAddr, trusted: &Path) -> std::io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(trusted).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(client, TcpStream::connect(address)?);
    let head = "GET /v1/health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn answers_are_within_tls_only() {
    let folder = tempfile::tempdir().unwrap();
    if !certificate(folder.path(), "own") || !certificate(folder.path(), "other") {
        return;
    }
    let served = Served::with(StoredContent::Texts, |config| {
        config.tls = Some(identity(folder.path(), "own"));
        config.limits.head_time = std::time::Duration::from_secs(20);
    });
    let address = served.client.address;
    let answer = get(address, &folder.path().join("own.pem")).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    get(address, &folder.path().join("other.pem")).unwrap_err();
    // A request without TLS gets no answer of the API and has no other effect.
    let plain = served.client.raw(b"GET /v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert!(!plain.head.contains("200 ok"), "{}", plain.head);
    // A silent connection does not prevent the server from stopping.
    let silent = TcpStream::connect(address).unwrap();
    assert!(get(address, &folder.path().join("own.pem")).is_ok());
    assert_eq!(served.end(), lookalike_server::StopOutcome::InOrder);
    drop(silent);
}

#[test]
fn invalid_certificates_and_keys_are_named() {
    let folder = tempfile::tempdir().unwrap();
    if !certificate(folder.path(), "one") || !certificate(folder.path(), "two") {
        return;
    }
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("text"), "no certificate").unwrap();
    let read = |certificate: &str, key: &str| {
        TlsIdentity::read(&path(certificate), &path(key)).err().unwrap()
    };
    for (file, why) in
        [("gone", "os error 2"), ("text", "the file contains none"), ("one.key", "none")]
    {
        let error = read(file, "one.key");
        assert!(matches!(error, TlsError::Certificate { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains(file) && message.contains(why), "{message}");
        assert!(message.contains("BEGIN CERTIFICATE"), "{message}");
    }
    for file in ["gone", "text", "one.pem"] {
        let error = read("one.pem", file);
        assert!(matches!(error, TlsError::Key { .. }), "{error:?}");
        let message = error.to_string();
        assert!(message.contains(file) && message.contains("PRIVATE KEY"), "{message}");
    }
    let error = read("one.pem", "two.key");
    assert!(matches!(error, TlsError::Pair { .. }), "{error:?}");
    let message = error.to_string();
    assert!(message.contains("one.pem") && message.contains("two.key"), "{message}");
}
