//! Sends reports by HTTP, as a POST of JSON. Repeats a failed attempt a limited number of times.

use crate::cmd::CommandError;
use crate::service::trusted_certificates::tls_config;
use serde_json::Value;
use std::time::Duration;
use ureq::Agent;

/// The longest time for one attempt.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The pauses before further attempts.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(4)];

/// The receiver of reports: its address, and the HTTP client.
pub(super) struct Webhook {
    url: String,
    agent: Agent,
}

impl Webhook {
    /// A webhook with an address `http://host:port/path` or `https://…`.
    ///
    /// # Errors
    /// The address is invalid, or no trusted certificates are found for `https`.
    pub(super) fn new(url: &str) -> Result<Self, CommandError> {
        let wrong = |why: &str| Err(CommandError::Usage(format!("--webhook {url}: {why}")));
        let is_tls = url.starts_with("https://");
        let scheme = if is_tls { "https://" } else { "http://" };
        let rest = url.strip_prefix(scheme).unwrap_or_default();
        if rest.is_empty() || rest.starts_with('/') || url.parse::<ureq::http::Uri>().is_err() {
            return wrong("expected an address such as http://127.0.0.1:8080/new");
        }
        let config = Agent::config_builder().timeout_global(Some(TIMEOUT)).max_redirects(0);
        let config = config.user_agent("lookalike").proxy(None);
        let config = if is_tls { config.tls_config(tls_config()?) } else { config };
        let agent = config.build().new_agent();
        Ok(Self { url: url.to_owned(), agent })
    }

    /// Sends a report. `pause` waits between attempts, and returns false to stop.
    ///
    /// # Errors
    /// Returns the reason why the last attempt failed.
    pub(super) fn send(
        &self,
        report: &Value,
        pause: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<(), String> {
        let body = report.to_string();
        let mut pauses = PAUSES.iter();
        loop {
            let request = self.agent.post(&self.url).content_type("application/json");
            let why = match request.send(&body) {
                Ok(response) if response.status().is_success() => return Ok(()),
                Ok(response) => format!("it answered {}", response.status()),
                // Repeating the request does not correct an error of the client.
                Err(ureq::Error::StatusCode(code)) if (400..500).contains(&code) => {
                    return Err(format!("{}: it answered {code}", self.url));
                }
                Err(ureq::Error::StatusCode(code)) => format!("it answered {code}"),
                Err(error) => error.to_string(),
            };
            let attempts = PAUSES.len() + 1 - pauses.len();
            match pauses.next() {
                Some(wait) if pause(*wait) => {}
                _ => return Err(format!("{}: {why} ({attempts} attempts)", self.url)),
            }
        }
    }
}
