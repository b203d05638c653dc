//! Webhooks: where messages about new near-duplicates go, and how they are signed.
//!
//! Messages follow Standard Webhooks, so that receivers verify them with its libraries.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The prefix of a secret.
const SECRET: &str = "whsec_";
/// Lengths of a secret, in bytes.
const SECRET_MIN: usize = 24;
const SECRET_MAX: usize = 64;

/// Webhooks of a server.
#[derive(Clone)]
pub struct Webhooks {
    /// The addresses that every message is sent to: `http://…` or `https://…`.
    pub urls: Vec<String>,
    /// The secret that messages are signed with.
    pub secret: WebhookSecret,
    /// The least similarity of reported documents; the threshold of the index if `None`.
    pub threshold: Option<f64>,
    /// Certificates in PEM that are trusted for `https://`.
    pub authorities: Arc<[u8]>,
    /// Pauses before a message is sent again; after the last attempt it is dropped.
    pub pauses: Vec<Duration>,
}

impl Webhooks {
    /// The default pauses: 8 attempts within 3 hours.
    pub fn default_pauses() -> Vec<Duration> {
        [1, 5, 30, 120, 600, 3_000, 7_200].map(Duration::from_secs).to_vec()
    }
}

/// A secret that messages are signed with.
#[derive(Clone)]
pub struct WebhookSecret(Arc<[u8]>);

/// An invalid secret, which is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WebhookSecretError;

impl fmt::Display for WebhookSecretError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected `{SECRET}` and {SECRET_MIN} to {SECRET_MAX} random bytes in base64, such as \
             the output of `echo {SECRET}$(openssl rand -base64 32)`"
        )
    }
}

impl std::error::Error for WebhookSecretError {}

impl WebhookSecret {
    /// Reads `whsec_` and the bytes in base64.
    ///
    /// # Errors
    /// [`WebhookSecretError`] for everything else.
    pub fn parse(text: &str) -> Result<Self, WebhookSecretError> {
        let encoded = text.trim().strip_prefix(SECRET).ok_or(WebhookSecretError)?;
        let bytes = STANDARD.decode(encoded).map_err(|_| WebhookSecretError)?;
        let is_fit = (SECRET_MIN..=SECRET_MAX).contains(&bytes.len());
        is_fit.then(|| Self(bytes.into())).ok_or(WebhookSecretError)
    }

    /// Signs a message that is sent at `timestamp`, in s since 1970. The signature is the
    /// HMAC-SHA256 of id, time and body, in base64.
    pub fn sign(&self, id: &str, timestamp: i64, body: &str) -> String {
        // A key may have any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return String::new() };
        mac.update(format!("{id}.{timestamp}.{body}").as_bytes());
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the documentation of Svix, whose signatures Standard Webhooks specifies.
    #[test]
    fn webhook_signatures_match_the_standard() {
        let secret = WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signature =
            secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, "{\"test\": 2432232314}");
        assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn weak_secrets_are_refused() {
        let short = format!("whsec_{}", STANDARD.encode([1; 23]));
        let long = format!("whsec_{}", STANDARD.encode([1; 65]));
        let bare = STANDARD.encode([1; 32]);
        for wrong in ["", "whsec_", "whsec_not base64", &short, &long, &bare] {
            assert!(WebhookSecret::parse(wrong).is_err(), "{wrong}");
        }
    }
}
