//! Tokens and the certificate, which a running server reads again.

use crate::config::tls::TlsIdentity;
use crate::config::token::Tokens;
use parking_lot::RwLock;
use std::sync::Arc;

/// The tokens and the certificate in effect.
pub(crate) struct Credentials(RwLock<Arc<ReloadedConfig>>);

/// The part of a configuration that [`Config::reload`](crate::Config) reads again.
#[derive(Clone, Default)]
pub struct ReloadedConfig {
    /// Tokens of clients.
    pub tokens: Tokens,
    /// The certificate.
    pub tls: Option<TlsIdentity>,
}

/// Reads tokens and certificate again. An error is the message to report.
pub type ReloadConfig = Arc<dyn Fn() -> Result<ReloadedConfig, String> + Send + Sync>;

impl Credentials {
    pub(crate) fn new(tokens: &Tokens, tls: Option<&TlsIdentity>) -> Self {
        let now = ReloadedConfig { tokens: tokens.clone(), tls: tls.cloned() };
        Self(RwLock::new(Arc::new(now)))
    }

    /// The tokens and the certificate at this moment.
    pub(crate) fn now(&self) -> Arc<ReloadedConfig> {
        Arc::clone(&self.0.read())
    }

    /// Replaces the tokens and the certificate. A running server cannot start or stop using tokens
    /// or TLS.
    pub(crate) fn replace(&self, new: ReloadedConfig) -> Result<(), String> {
        let now = self.now();
        if now.tokens.is_empty() != new.tokens.is_empty() {
            return Err("tokens are not taken into use or out of it while it runs".to_owned());
        }
        if now.tls.is_some() != new.tls.is_some() {
            return Err("TLS is not taken into use or out of it while it runs".to_owned());
        }
        *self.0.write() = Arc::new(new);
        Ok(())
    }
}
