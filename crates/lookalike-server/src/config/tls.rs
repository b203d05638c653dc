//! TLS: the certificate of the server and its key.

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A certificate with its chain and its private key.
#[derive(Clone)]
pub struct TlsIdentity(Arc<ServerConfig>);

/// Invalid files of a certificate and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsError {
    /// The file of the certificate.
    Certificate {
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// The file of the key.
    Key {
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// The certificate belongs to another key, or TLS does not use this kind of key.
    Pair {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// The problem.
        why: String,
    },
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Certificate { path, why } => write!(
                f,
                "{}: {why}; expected certificates in PEM (`-----BEGIN CERTIFICATE-----`): the \
                 server certificate, then its issuers",
                path.display()
            ),
            Self::Key { path, why } => write!(
                f,
                "{}: {why}; expected a private key in PEM without a password (`-----BEGIN PRIVATE \
                 KEY-----`)",
                path.display()
            ),
            Self::Pair { certificate, key, why } => write!(
                f,
                "{} and {} do not belong together: {why}; expected a certificate and its key",
                certificate.display(),
                key.display()
            ),
        }
    }
}

impl std::error::Error for TlsError {}

impl TlsIdentity {
    /// Reads a certificate with its chain, and its key, from files in PEM. Clients need TLS 1.2 or
    /// 1.3.
    ///
    /// # Errors
    /// [`TlsError`] with the file and its problem.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let chain = read_chain(certificate)
            .map_err(|why| TlsError::Certificate { path: certificate.to_owned(), why })?;
        let secret = PrivateKeyDer::from_pem_file(key)
            .map_err(|error| TlsError::Key { path: key.to_owned(), why: cause(&error) })?;
        let unfit = |error: rustls::Error| TlsError::Pair {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            why: error.to_string(),
        };
        let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().map_err(unfit)?;
        let config = builder.with_no_client_auth().with_single_cert(chain, secret);
        let mut config = config.map_err(unfit)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }

    pub(crate) fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0)
    }
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| cause(&error))?;
    let chain: Result<Vec<_>, _> = certificates.collect();
    let chain = chain.map_err(|error| cause(&error))?;
    if chain.is_empty() { Err(cause(&pem::Error::NoItemsFound)) } else { Ok(chain) }
}

fn cause(error: &pem::Error) -> String {
    match error {
        pem::Error::Io(error) => error.to_string(),
        pem::Error::NoItemsFound => "the file contains none".to_owned(),
        error => format!("it is not valid PEM ({error})"),
    }
}
