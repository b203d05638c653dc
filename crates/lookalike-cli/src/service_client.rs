//! A client of `lookalike serve`, for the commands that maintain an index.

use crate::cmd::CommandError;
use crate::trusted_certificates::tls_config;
use lookalike::report::phrases::one_line;
use serde_json::Value;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::Duration;
use ureq::http::Response;
use ureq::{Agent, Body};

/// The variables that a token, or the file of a token, is in.
const TOKEN: &str = "LOOKALIKE_SERVICE_TOKEN";
const TOKEN_FILE: &str = "LOOKALIKE_SERVICE_TOKEN_FILE";
/// What is between a server and the name of an index.
const INDEXES: &str = "/v1/indexes/";
/// Attempts of a request that does no harm when it is sent again.
const ATTEMPTS: u32 = 6;
/// Maximum size of an answer that is read as a whole.
const ANSWER_BYTES: u64 = 64 << 20;
/// Time limits of a connection, and of an answer.
const CONNECT_TIME: Duration = Duration::from_secs(10);
const ANSWER_TIME: Duration = Duration::from_secs(120);

/// A service, or an index of it, by its address.
pub(crate) struct ServiceClient {
    /// As the user gave it, without `/` at the end.
    address: String,
    /// What the addresses of the API begin with.
    api: String,
    agent: Agent,
    token: Option<String>,
}

/// Whether a text is the address of a service.
pub(crate) fn is_service(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme))
}

/// A body of a request, and its type.
#[derive(Clone, Copy)]
pub(crate) enum ClientBody<'a> {
    None,
    Json(&'a Value),
    /// Lines of JSON, with the key that makes it safe to send them again.
    Lines(&'a [u8], &'a str),
}

/// The answer to a request: its status and its JSON.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl ServiceClient {
    /// A client of the service at an address, with the token in the environment, if any.
    ///
    /// # Errors
    /// A file of a token or of certificates that cannot be read, an address with more than a name
    /// and a port, or these and `/v1/indexes/NAME`.
    pub(crate) fn new(address: &str) -> Result<Self, CommandError> {
        let address = address.trim_end_matches('/');
        let authority = address.split_once("://").map_or("", |(_, rest)| rest);
        let (authority, index) = match authority.split_once(INDEXES) {
            Some((authority, name)) => (authority, Some(name)),
            None => (authority, None),
        };
        let is_wrong = |text: &str| text.is_empty() || text.contains(['/', '?', '#', '@']);
        if is_wrong(authority) || index.is_some_and(is_wrong) {
            return Err(CommandError::Usage(format!(
                "{}: expected the address of a service, such as http://127.0.0.1:8377, or of one of \
                 its indexes, such as http://127.0.0.1:8377/v1/indexes/news",
                one_line(address)
            )));
        }
        let api = if index.is_some() { address.to_owned() } else { format!("{address}/v1") };
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None)
            .timeout_connect(Some(CONNECT_TIME))
            .timeout_recv_response(Some(ANSWER_TIME));
        let is_tls = address.starts_with("https://");
        let config = if is_tls { config.tls_config(tls_config()?) } else { config };
        let agent = config.build().new_agent();
        Ok(Self { address: address.to_owned(), api, agent, token: token()? })
    }

    /// Its address.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Sends a request to a path below `/v1`, again where that does no harm and the service was
    /// busy or not reached. Problems of the service are errors.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        body: ClientBody<'_>,
    ) -> Result<Value, CommandError> {
        let answer = self.answer(method, path, body)?;
        if answer.status < 400 { Ok(answer.body) } else { Err(self.problem(&answer)) }
    }

    /// The same with problems as answers.
    pub(crate) fn answer(
        &self,
        method: &str,
        path: &str,
        body: ClientBody<'_>,
    ) -> Result<Answer, CommandError> {
        let mut attempt = 1;
        loop {
            let (pause, failure) = match self.send(method, path, body) {
                Ok(response) => {
                    let status = response.status().as_u16();
                    let pause = retry_after(&response);
                    // A request with this key is under way where the answer to it was lost.
                    let is_busy =
                        status == 503 || (status == 409 && matches!(body, ClientBody::Lines(..)));
                    let answer = self.read(response)?;
                    if !is_busy || pause.is_none() || attempt == ATTEMPTS {
                        return Ok(answer);
                    }
                    (pause.unwrap_or_default(), None)
                }
                Err(error) => (Duration::from_millis(200 << attempt), Some(error)),
            };
            if let Some(error) = failure
                && (attempt == ATTEMPTS || is_refused(&error))
            {
                return Err(self.unreachable(&error));
            }
            attempt += 1;
            std::thread::sleep(pause);
        }
    }

    /// The body of an answer, which is read as it comes.
    pub(crate) fn stream(&self, path: &str) -> Result<impl Read, CommandError> {
        let response = self.send("GET", path, ClientBody::None);
        let response = response.map_err(|error| self.unreachable(&error))?;
        if response.status().as_u16() >= 400 {
            let answer = self.read(response)?;
            return Err(self.problem(&answer));
        }
        Ok(response.into_body().into_reader())
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        body: ClientBody<'_>,
    ) -> Result<Response<Body>, ureq::Error> {
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.api));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        match body {
            ClientBody::None => self.agent.run(request.body(())?),
            ClientBody::Json(value) => {
                let request = request.header("content-type", "application/json");
                self.agent.run(request.body(value.to_string())?)
            }
            ClientBody::Lines(lines, key) => {
                let request = request.header("content-type", "application/x-ndjson");
                self.agent.run(request.header("idempotency-key", key).body(lines)?)
            }
        }
    }

    fn read(&self, response: Response<Body>) -> Result<Answer, CommandError> {
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        let reader = response.into_body().into_reader().take(ANSWER_BYTES);
        let read = { reader }.read_to_end(&mut bytes);
        read.map_err(|error| CommandError::Data(format!("{}: {error}", self.address)))?;
        let is_empty = bytes.is_empty();
        let body = if is_empty { Ok(Value::Null) } else { serde_json::from_slice(&bytes) };
        let body = body.map_err(|_| {
            CommandError::Data(format!(
                "{} answers {status} with something else than JSON: is it `lookalike serve`?",
                self.address
            ))
        })?;
        Ok(Answer { status, body })
    }

    /// The problem of an answer, with the remedy where it is the token.
    pub(crate) fn problem(&self, answer: &Answer) -> CommandError {
        let detail = answer.body["detail"].as_str().unwrap_or("it gives no reason");
        let remedy = match answer.status {
            401 | 403 => format!(" (the token is that of {TOKEN} or {TOKEN_FILE})"),
            _ => String::new(),
        };
        CommandError::Data(format!("{}: {}{remedy}", self.address, one_line(detail)))
    }

    fn unreachable(&self, error: &ureq::Error) -> CommandError {
        CommandError::Data(format!(
            "{} cannot be reached: {error}; is `lookalike serve` running there?",
            self.address
        ))
    }
}

/// Whether nobody listens at the address.
fn is_refused(error: &ureq::Error) -> bool {
    matches!(error, ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused)
}

fn retry_after(response: &Response<Body>) -> Option<Duration> {
    let seconds = response.headers().get("retry-after")?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The token in the environment.
#[expect(clippy::disallowed_methods, reason = "the command line reads the environment")]
fn token() -> Result<Option<String>, CommandError> {
    if let Ok(token) = std::env::var(TOKEN) {
        return Ok(Some(token.trim().to_owned()));
    }
    let Some(path) = std::env::var_os(TOKEN_FILE) else { return Ok(None) };
    let text = std::fs::read_to_string(&path).map_err(|error| {
        let path = Path::new(&path).display();
        CommandError::Usage(format!("{TOKEN_FILE}: {path}: {error}"))
    })?;
    Ok(text.lines().next().map(|line| line.trim().to_owned()))
}
