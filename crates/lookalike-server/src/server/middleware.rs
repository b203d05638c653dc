//! Middleware of all requests: rights, time limits, headers, metrics and log.

use crate::config::index_name::NamedIndex;
use crate::config::token::{Client, RefusedToken, Right, TokenHash, bearer, expired_detail};
use crate::http::client_requests::{PeerAddress, RequestSource, UnfinishedRequest};
use crate::http::gzip;
use crate::http::problem::{Code, Note, Problem};
use crate::http::response_memory;
use crate::page::files;
use crate::server::response_compression;
use crate::server::route_rights::{is_of_service, needed_right};
use crate::state::app::App;
use crate::threads::log::LogLine;
use crate::threads::metrics::CountGuard;
use axum::body::HttpBody;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONNECTION, HOST, ORIGIN, TRANSFER_ENCODING,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use lookalike::index::time;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The status in metrics and log of a request whose client disconnected before the response.
const CLIENT_LEFT: u16 = 499;
/// Delay of the response to a wrong token, against guessing.
const WRONG_TOKEN_TIME: Duration = Duration::from_millis(500);

/// Handles a request: rights, time limit, headers, log.
pub(crate) async fn pass(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or_else(|| "none".to_owned(), |path| path.as_str().to_owned());
    let serial = app.service.serial.fetch_add(1, Ordering::Relaxed);
    let id = format!("{:x}-{serial:x}", app.service.started);
    let of_service = is_of_service(&route);
    let is_named = request.extensions().get::<NamedIndex>().is_some();
    let mut trace = Trace {
        app: &app,
        index: app.label().filter(|_| !of_service || is_named),
        _counted: CountGuard::one(&app.service.metrics.in_flight),
        method: known_method(request.method()),
        route,
        id,
        since: Instant::now(),
        is_finished: false,
    };
    let is_chunked = request.headers().contains_key(TRANSFER_ENCODING);
    let changes = needed_right(&trace.route, request.method()) > Right::Read;
    let is_compressed = gzip::is_accepted(request.headers());
    let mut request = request;
    let counted = count(&app, &request);
    let admitted = match &counted {
        Ok(_) => admit(&app, &trace.route, &request),
        Err(problem) => Err(problem.clone()),
    };
    let mut response = match admitted {
        Ok(client) => {
            request.extensions_mut().insert(client);
            within_time(&app, &trace.route, request, next).await
        }
        Err(problem) => {
            if problem.code == Code::TOKEN_NEEDED && request.headers().contains_key(AUTHORIZATION) {
                tokio::time::sleep(WRONG_TOKEN_TIME).await;
            }
            problem.into_response()
        }
    };
    if is_compressed {
        response = response_compression::compressed(&app, response).await;
    }
    // Responses of changes are small and never refused.
    if !changes {
        response = response_memory::track(&app.service.memory, response);
    }
    headers(response.headers_mut(), &trace.id);
    if is_chunked {
        // The request may also have had a length, which hyper removed. An intermediary may have
        // used the length, so the following bytes may not be a request of this client (RFC 9112
        // §6.3).
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    trace.finish(&response);
    response
}

/// Counts a request among the unfinished ones of its address and of its token.
fn count(app: &App, request: &Request) -> Result<[Option<UnfinishedRequest>; 2], Problem> {
    let requests = &app.service.requests;
    let address = request.extensions().get::<PeerAddress>();
    let address = address.map(|address| requests.begin(RequestSource::address(address.0)));
    let has_tokens = !app.service.credentials.now().tokens.is_empty();
    let token = bearer(request.headers()).filter(|_| has_tokens).map(TokenHash::of);
    let token = token.map(|token| requests.begin(RequestSource::Token(token)));
    Ok([address.transpose()?, token.transpose()?])
}

async fn within_time(app: &App, route: &str, request: Request, next: Next) -> Response {
    // Documents as lines have no total limit; each batch has its own.
    if route == "/v1/documents" && request.method() == Method::POST {
        return next.run(request).await;
    }
    app.in_time(async { Ok(next.run(request).await) }).await.into_response()
}

/// Checks that a request is permitted, and returns its client.
fn admit(app: &App, route: &str, request: &Request) -> Result<Client, Problem> {
    let method = request.method();
    let headers = request.headers();
    if headers.get_all(HOST).iter().nth(1).is_some() {
        let detail = "the request has more than one header host; send one";
        return Err(Problem::new(Code::BAD_HEAD, detail));
    }
    let host = host(request.uri(), headers);
    check_host(app, host)?;
    let is_read = matches!(*method, Method::GET | Method::HEAD);
    if !(is_read && files::is_open(route) && is_navigation(headers)) {
        check_origin(host, headers)?;
    }
    // The page contains no documents, and monitoring needs the health.
    let is_open = files::is_open(route) || route == "/v1/health";
    let is_named = request.extensions().get::<NamedIndex>().is_some();
    if !is_named && (route == "none" || (is_read && is_open)) {
        return Ok(Client::unnamed(Right::Read));
    }
    // An address below the name of an index always needs a token, which keeps the names secret.
    let index = (is_named || !is_of_service(route)).then_some(&app.name);
    let client = app.service.credentials.now().tokens.client(bearer(headers), time::now(), index);
    let client = client.map_err(|refused| match refused {
        RefusedToken::OtherIndex if is_named => Problem::unknown_index(app.name.as_str()),
        RefusedToken::OtherIndex => {
            let detail = "the token does not open the index at this address; GET /v1/indexes lists \
                          its indexes";
            Problem::new(Code::OTHER_INDEX, detail)
        }
        RefusedToken::Unknown => {
            let detail =
                "send the header `authorization: Bearer TOKEN` with a token of this server";
            Problem::new(Code::TOKEN_NEEDED, detail)
        }
        RefusedToken::Expired(at) => Problem::new(Code::TOKEN_EXPIRED, expired_detail(at)),
    })?;
    let needed = needed_right(route, method);
    if client.right < needed {
        return Err(Problem::new(Code::READ_ONLY_TOKEN, refusal(needed)));
    }
    if needed > Right::Read && !is_read && route != "/v1/upkeep" {
        app.writer()?;
    }
    Ok(client)
}

/// Why a token without a right is refused.
const fn refusal(needed: Right) -> &'static str {
    match needed {
        Right::Decide => {
            "the token may read only: decisions are recorded with a token that may \
                          decide or write"
        }
        _ => {
            "the token may not write: documents are changed, exported and maintained with a write \
             token"
        }
    }
}

/// Name and port of the server in the request.
fn host<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let authority = uri.authority().map(axum::http::uri::Authority::as_str);
    authority.or_else(|| headers.get(HOST)?.to_str().ok())
}

/// The name without the port.
fn name(host: &str) -> &str {
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split_once(':').map_or(host, |(name, _)| name),
    }
}

/// Rejects requests of pages whose name resolves to this machine (DNS rebinding).
fn check_host(app: &App, host: Option<&str>) -> Result<(), Problem> {
    let config = &app.service.config;
    if !config.is_loopback() && config.hosts.is_empty() {
        return Ok(());
    }
    let name = host.map(name).unwrap_or_default();
    let address: Option<IpAddr> = name.parse().ok();
    let is_own = match address {
        Some(address) => {
            let address = address.to_canonical();
            address == config.listen.ip().to_canonical()
                || (config.is_loopback() && address.is_loopback())
        }
        None => config.is_loopback() && name.eq_ignore_ascii_case("localhost"),
    };
    if is_own || config.hosts.iter().any(|host| host.eq_ignore_ascii_case(name)) {
        return Ok(());
    }
    let name = lookalike::store::entry::shortened_id(name);
    let detail = format!(
        "the header host names {name:?}: use the address the server listens on, or start it with \
         --host NAME"
    );
    Err(Problem::new(Code::UNKNOWN_HOST, detail))
}

/// Whether a browser navigates to a page, for example by a link. The page does not reveal anything
/// to the site with the link.
fn is_navigation(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate")
}

/// Refuses requests that a browser sends for a page of another origin, including reads, which cost
/// work and reveal information by their duration. `same-site` is another port of this machine,
/// `none` a navigation of the user.
fn check_origin(host: Option<&str>, headers: &HeaderMap) -> Result<(), Problem> {
    let is_same = headers.get_all(ORIGIN).iter().all(|origin| {
        let origin = origin.to_str().unwrap_or_default();
        let authority = origin.split_once("://").map(|(_, authority)| authority);
        authority.zip(host).is_some_and(|(a, b)| a.eq_ignore_ascii_case(b))
    });
    let mut sites = headers.get_all("sec-fetch-site").iter();
    if is_same && sites.all(|site| site == "same-origin" || site == "none") {
        return Ok(());
    }
    let detail = "a page of another site sent the request; use this server's page, or a program";
    Err(Problem::new(Code::CROSS_ORIGIN, detail))
}

/// Methods for metrics: unknown ones share a name.
fn known_method(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::PUT => "PUT",
        Method::POST => "POST",
        Method::DELETE => "DELETE",
        _ => "OTHER",
    }
}

fn headers(headers: &mut HeaderMap, id: &str) {
    let fixed = [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    let policy = HeaderName::from_static("content-security-policy");
    let no_sources = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
    headers.entry(policy).or_insert(no_sources);
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(HeaderName::from_static("x-request-id"), id);
    }
}

/// A running request; counted and logged when it ends, even if it is dropped.
struct Trace<'a> {
    app: &'a App,
    /// The name of its index, if the server has several.
    index: Option<&'a str>,
    _counted: CountGuard<'a>,
    method: &'static str,
    route: String,
    id: String,
    since: Instant,
    is_finished: bool,
}

impl Trace<'_> {
    fn finish(&mut self, response: &Response) {
        self.is_finished = true;
        let note = response.extensions().get::<Note>().map(|note| note.0.as_str());
        let bytes = response.body().size_hint().exact().unwrap_or(0);
        self.record(response.status().as_u16(), bytes, note);
    }

    fn record(&self, status: u16, bytes: u64, note: Option<&str>) {
        let Self { app, index, method, route, id, since, .. } = self;
        let took = since.elapsed();
        app.service.metrics.request(*index, route, method, status, took);
        let index = *index;
        app.service.log.request(&LogLine { id, method, index, route, status, took, bytes, note });
    }
}

impl Drop for Trace<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            self.record(CLIENT_LEFT, 0, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names_lose_their_ports() {
        let cases = [
            ("localhost:80", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]:8377", "::1"),
            ("", ""),
            ("a:b:c", "a"),
        ];
        for (host, expected) in cases {
            assert_eq!(name(host), expected);
        }
    }

    #[test]
    fn other_origins_are_rejected() {
        let check = |host: &str, origin: Option<&'static str>| {
            let mut headers = HeaderMap::new();
            if let Some(origin) = origin {
                headers.insert(ORIGIN, HeaderValue::from_static(origin));
            }
            check_origin(Some(host), &headers).is_ok()
        };
        assert!(check("localhost:1", None));
        assert!(check("localhost:1", Some("http://LOCALHOST:1")));
        assert!(!check("localhost:1", Some("http://localhost:2")));
        assert!(!check("localhost:1", Some("https://evil.example")));
        assert!(!check("localhost:1", Some("null")));
    }
}
