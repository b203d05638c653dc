//! TLS to the server, by rustls. The parameter `sslmode` selects the mode:
//!
//! | `sslmode` | encrypted | the server's certificate |
//! |---|---|---|
//! | `disable` | never | |
//! | `prefer`, the default, and `allow` | if the server supports it | is not verified |
//! | `require` | always | is not verified, unless `sslrootcert` is given: then like `verify-ca` |
//! | `verify-ca` | always | is signed by a certificate of `sslrootcert` |
//! | `verify-full` | always | like `verify-ca`, and names the host |
//!
//! These are the modes of libpq. Local sockets are never encrypted.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use std::path::Path;
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

/// The TLS mode of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TlsMode {
    Disable,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl TlsMode {
    /// Returns the mode for a value of `sslmode`; `None` if the value is unknown.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "disable" => Self::Disable,
            "allow" | "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => return None,
        })
    }

    /// The mode of the client: whether TLS is off, optional or required.
    pub(super) fn config(self) -> postgres::config::SslMode {
        match self {
            Self::Disable => postgres::config::SslMode::Disable,
            Self::Prefer => postgres::config::SslMode::Prefer,
            Self::Require | Self::VerifyCa | Self::VerifyFull => postgres::config::SslMode::Require,
        }
    }
}

/// The TLS connector; `None` for [`TlsMode::Disable`].
///
/// # Errors
/// A description of the problem with mode or certificates.
pub(super) fn connector(
    mode: TlsMode,
    roots: Option<&Path>,
) -> Result<Option<MakeRustlsConnect>, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier: Arc<dyn ServerCertVerifier> = match (mode, roots) {
        (TlsMode::Disable, _) => return Ok(None),
        (TlsMode::Prefer, _) | (TlsMode::Require, None) => {
            Arc::new(ChainVerifier { provider: Arc::clone(&provider), chain: None })
        }
        (TlsMode::VerifyCa | TlsMode::VerifyFull, None) => {
            return Err(
                "sslmode=verify-ca and verify-full need the certificates to trust: name a \
                        PEM file with sslrootcert=FILE"
                    .to_owned(),
            );
        }
        (TlsMode::Require | TlsMode::VerifyCa, Some(roots)) => {
            let chain = Some(verifier(roots, &provider)?);
            Arc::new(ChainVerifier { provider: Arc::clone(&provider), chain })
        }
        (TlsMode::VerifyFull, Some(roots)) => verifier(roots, &provider)?,
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be used: {error}"))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    Ok(Some(MakeRustlsConnect::new(config)))
}

fn verifier(
    roots: &Path,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, String> {
    let wrong = |why: String| format!("sslrootcert={}: {why}", roots.display());
    let certificates = CertificateDer::pem_file_iter(roots)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| wrong(format!("no certificates can be read: {error}")))?;
    let mut store = RootCertStore::empty();
    let (added, _) = store.add_parsable_certificates(certificates);
    if added == 0 {
        return Err(wrong("it has no certificate, expected PEM".to_owned()));
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider))
        .build()
        .map_err(|error| wrong(error.to_string()))
}

/// Verifies that the server has the key of its certificate. If `chain` is set, also verifies the
/// chain of certificates. Does not verify the host that the certificate names.
#[derive(Debug)]
struct ChainVerifier {
    provider: Arc<CryptoProvider>,
    chain: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for ChainVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        // The chain is verified before the host.
        match chain.verify_server_cert(certificate, others, host, ocsp, now) {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
