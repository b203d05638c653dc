//! A client of `lookalike serve`, for the commands that maintain an index.

use crate::cmd::CommandError;
use crate::service::trusted_certificates::tls_config;
use lookalike::report::phrases::one_line;
use serde_json::Value;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::time::Duration;
use ureq::http::Response;
use ureq::{Agent, Body};

/// The environment variables for a token, and for the path of a file with a token.
const TOKEN: &str = "LOOKALIKE_SERVICE_TOKEN";
const TOKEN_FILE: &str = "LOOKALIKE_SERVICE_TOKEN_FILE";
/// The part of an address between the server and the name of an index.
const INDEXES: &str = "/v1/indexes/";
/// Attempts of a request that can be repeated without harm.
const ATTEMPTS: u32 = 6;
/// Maximum size of an answer that is read as a whole.
const ANSWER_BYTES: u64 = 64 << 20;
/// Content types of answers: JSON, lines of JSON, and a problem.
const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";
const PROBLEM: &str = "application/problem+json";
/// The status of an answer without a body.
const NO_CONTENT: u16 = 204;
/// Time limits of a connection, and of an answer.
const CONNECT_TIME: Duration = Duration::from_secs(10);
const ANSWER_TIME: Duration = Duration::from_secs(120);

/// A service, or an index of it, by its address.
pub(crate) struct ServiceClient {
    /// As the user gave it, without `/` at the end.
    address: String,
    /// The prefix of the addresses of the API.
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

/// A request to a path below `/v1`.
#[derive(Clone, Copy)]
pub(crate) struct ServiceRequest<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) body: ClientBody<'a>,
    /// The status of a successful answer; 204 has no body.
    pub(crate) success: u16,
}

impl std::fmt::Display for ServiceRequest<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{} {}`", self.method, one_line(self.path))
    }
}

impl<'a> ServiceRequest<'a> {
    /// A request to read something.
    pub(crate) fn get(path: &'a str) -> Self {
        Self { method: "GET", path, body: ClientBody::None, success: 200 }
    }
}

/// The answer to a request: its JSON, and its status, of success or of a problem.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl ServiceClient {
    /// A client of the service at an address, with the token in the environment, if any.
    ///
    /// # Errors
    /// A file of a token or of certificates cannot be read, or the address has no scheme or has
    /// other parts than a scheme, a name, a port and `/v1/indexes/NAME`.
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
                "{}: expected the address of a service, such as http://127.0.0.1:8377, or of one \
                 of its indexes, such as http://127.0.0.1:8377/v1/indexes/news",
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

    /// The address.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Sends a request. Repeats it if the service was busy or the connection failed, but not if
    /// the connection was refused. Problems of the service are errors.
    pub(crate) fn ask(&self, request: ServiceRequest<'_>) -> Result<Value, CommandError> {
        let answer = self.answer(request)?;
        if answer.status < 400 { Ok(answer.body) } else { Err(self.problem(&answer)) }
    }

    /// Like [`ask`](Self::ask), with problems as answers.
    pub(crate) fn answer(&self, request: ServiceRequest<'_>) -> Result<Answer, CommandError> {
        let mut attempt = 1;
        loop {
            let (pause, failure) = match self.send(request) {
                Ok(response) => {
                    let status = response.status().as_u16();
                    let pause = retry_after(&response);
                    // If the answer was lost, the first request with this key may still be under
                    // way.
                    let is_busy = status == 503
                        || (status == 409 && matches!(request.body, ClientBody::Lines(..)));
                    let answer = self.read(response, request)?;
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

    /// The lines of an answer, which are read as they come.
    pub(crate) fn stream(&self, path: &str) -> Result<impl Read, CommandError> {
        let request = ServiceRequest::get(path);
        let response = self.send(request).map_err(|error| self.unreachable(&error))?;
        if response.status().as_u16() >= 400 {
            let answer = self.read(response, request)?;
            return Err(self.problem(&answer));
        }
        self.expect(&response, request, LINES)?;
        Ok(response.into_body().into_reader())
    }

    fn send(&self, request: ServiceRequest<'_>) -> Result<Response<Body>, ureq::Error> {
        let ServiceRequest { method, path, body, .. } = request;
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.api));
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        match body {
            ClientBody::None => self.agent.run(request.body(())?),
            ClientBody::Json(value) => {
                let request = request.header("content-type", JSON);
                self.agent.run(request.body(value.to_string())?)
            }
            ClientBody::Lines(lines, key) => {
                let request = request.header("content-type", LINES);
                self.agent.run(request.header("idempotency-key", key).body(lines)?)
            }
        }
    }

    fn read(
        &self,
        response: Response<Body>,
        request: ServiceRequest<'_>,
    ) -> Result<Answer, CommandError> {
        self.expect(&response, request, JSON)?;
        let status = response.status().as_u16();
        if status == NO_CONTENT {
            return Ok(Answer { status, body: Value::Null });
        }
        let mut bytes = Vec::new();
        let reader = response.into_body().into_reader().take(ANSWER_BYTES);
        let read = { reader }.read_to_end(&mut bytes);
        read.map_err(|error| CommandError::Data(format!("{}: {error}", self.address)))?;
        let body = serde_json::from_slice(&bytes).map_err(|_| {
            let found = if bytes.is_empty() { "an empty body" } else { "a body other than JSON" };
            self.unexpected(&format!("answers {status} to {request} with {found}"))
        })?;
        Ok(Answer { status, body })
    }

    /// Refuses the answers of proxies and other programs: unexpected statuses and content types.
    /// Does not follow a redirect, because the other address would get the token.
    fn expect(
        &self,
        response: &Response<Body>,
        request: ServiceRequest<'_>,
        content_type: &str,
    ) -> Result<(), CommandError> {
        let status = response.status().as_u16();
        let header =
            |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        let found =
            header("content-type").map(|found| found.split(';').next().unwrap_or(found).trim());
        let is_expected = match status {
            NO_CONTENT if request.success == NO_CONTENT => true,
            400.. => found == Some(PROBLEM),
            _ => status == request.success && found == Some(content_type),
        };
        if is_expected {
            return Ok(());
        }
        if let (300..400, Some(to)) = (status, header("location")) {
            return Err(CommandError::Data(format!(
                "{} redirects {request} to {} (status {status}): redirects are not followed, \
                 because the other address would receive the token; name the address of the \
                 service",
                self.address,
                one_line(to)
            )));
        }
        let found = found.map_or_else(|| "no content type".into(), one_line);
        let success = request.success;
        let expected = match success {
            NO_CONTENT => format!("{success}"),
            _ => format!("{success} with {content_type}"),
        };
        Err(self.unexpected(&format!(
            "answers {status} to {request} with {found}, expected {expected}"
        )))
    }

    /// The number that an answer has under a name.
    ///
    /// # Errors
    /// The answer has no such number, so another program made it.
    pub(crate) fn number(&self, answer: &Value, name: &str) -> Result<u64, CommandError> {
        let missing = || self.unexpected(&format!("answers without the number `{name}`"));
        answer[name].as_u64().ok_or_else(missing)
    }

    /// The list that an answer has under a name.
    ///
    /// # Errors
    /// The answer has no such list, so another program made it.
    pub(crate) fn list<'a>(
        &self,
        answer: &'a Value,
        name: &str,
    ) -> Result<&'a [Value], CommandError> {
        let missing = || self.unexpected(&format!("answers without the list `{name}`"));
        answer[name].as_array().map(Vec::as_slice).ok_or_else(missing)
    }

    /// The error of an answer that a service of this version does not make.
    pub(crate) fn unexpected(&self, found: &str) -> CommandError {
        let address = &self.address;
        CommandError::Data(format!("{address} {found}; is it `lookalike serve` of this version?"))
    }

    /// The problem of an answer, with a remedy if the token is the problem.
    pub(crate) fn problem(&self, answer: &Answer) -> CommandError {
        let detail = answer.body["detail"].as_str().unwrap_or("the service reports no reason");
        let remedy = match answer.status {
            401 | 403 => format!(" (the token is read from {TOKEN} or {TOKEN_FILE})"),
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

/// Returns true if the connection was refused.
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
