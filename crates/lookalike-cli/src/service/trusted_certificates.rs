//! The certificates that clients of this program trust for `https://`.

use crate::cmd::CommandError;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// The variable that names a file of certificates to trust.
const AUTHORITIES: &str = "LOOKALIKE_SERVICE_CA";
/// Common paths of the certificates that a system trusts.
const SYSTEM_AUTHORITIES: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// The file of trusted certificates: `LOOKALIKE_SERVICE_CA`, or the system's default.
#[expect(clippy::disallowed_methods, reason = "the command line reads the environment")]
fn authorities() -> Result<PathBuf, CommandError> {
    if let Some(path) = std::env::var_os(AUTHORITIES) {
        return Ok(path.into());
    }
    let place = SYSTEM_AUTHORITIES.iter().map(Path::new).find(|place| place.is_file());
    place.map(Path::to_owned).ok_or_else(|| {
        CommandError::Usage(format!(
            "this system has no known file of certificates to trust: set {AUTHORITIES} to one in \
             PEM"
        ))
    })
}

/// The certificates that are trusted, in PEM.
///
/// # Errors
/// The file cannot be read, or the system has no such file.
pub(crate) fn trusted_certificates() -> Result<Vec<u8>, CommandError> {
    let path = authorities()?;
    std::fs::read(&path)
        .map_err(|error| CommandError::Usage(format!("{AUTHORITIES}: {}: {error}", path.display())))
}

/// Returns TLS settings that trust these certificates.
///
/// # Errors
/// The file cannot be read or has no certificate, or the system has no such file.
pub(crate) fn tls_config() -> Result<TlsConfig, CommandError> {
    let path = authorities()?;
    let wrong = |why: &dyn std::fmt::Display| {
        CommandError::Usage(format!("{AUTHORITIES}: {}: {why}", path.display()))
    };
    let bytes = trusted_certificates()?;
    let certificates = parse_pem(&bytes).filter_map(|item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(Ok(certificate)),
        Ok(_) => None,
        Err(error) => Some(Err(error)),
    });
    let certificates: Result<Vec<Certificate<'static>>, _> = certificates.collect();
    let certificates = certificates.map_err(|error| wrong(&error))?;
    if certificates.is_empty() {
        return Err(wrong(&"the file contains no certificate"));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(certificates)))
        .unversioned_rustls_crypto_provider(provider)
        .build())
}
