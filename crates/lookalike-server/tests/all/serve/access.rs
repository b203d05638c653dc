//! Access rights, and the checks of browser headers.

use crate::serve::served::{Served, token};
use lookalike::store::Index;
use lookalike::store::memory::MemoryBackend;
use lookalike::store::settings::StoredContent;
use lookalike_server::StartError;
use lookalike_server::{Config, Right, Server, Tokens};
use serde_json::json;

const READ: &str = "read-read-read-read";
const WRITE: &str = "write-write-write-write";

fn with_tokens() -> Served {
    Served::with(StoredContent::Texts, |config| {
        config.tokens =
            Tokens::new(vec![token(Right::Read, None, READ), token(Right::Write, None, WRITE)]);
    })
}

#[test]
fn tokens_limit_endpoints_by_right() {
    let served = with_tokens();
    let body = json!({ "text": "a" });
    let (reader, writer) = (served.client.with_token(READ), served.client.with_token(WRITE));
    for client in [served.client.clone(), served.client.with_token("read-read-read-reaD")] {
        let refused = client.get("/v1/stats");
        refused.problem(401, "token-needed");
        assert_eq!(refused.header("www-authenticate"), Some("bearer"));
        client.put("/v1/documents/a", &body).problem(401, "token-needed");
        client.post("/v1/query", &body).problem(401, "token-needed");
        assert_eq!(client.get("/metrics").status, 401);
        client.get("/v1/health").ok(200);
        assert_eq!(client.get("/").status, 200);
        assert_eq!(client.get("/openapi.json").status, 200);
    }
    reader.put("/v1/documents/a", &body).problem(403, "read-only-token");
    reader.lines("/v1/documents", b"").problem(403, "read-only-token");
    reader.delete("/v1/documents/a").problem(403, "read-only-token");
    writer.put("/v1/documents/a", &body).ok(201);
    for client in [reader, writer] {
        client.get("/v1/documents/a").ok(200);
        client.post("/v1/query", &body).ok(200);
    }
    let scheme = ["authorization: Basic cmVhZC1yZWFkLXJlYWQtcmVhZA=="];
    served.client.request("GET", "/v1/stats", &scheme, b"").problem(401, "token-needed");
}

#[test]
fn a_wrong_token_takes_its_time() {
    let served = with_tokens();
    let since = std::time::Instant::now();
    let wrong = served.client.with_token("read-read-read-reaD");
    wrong.get("/v1/stats").problem(401, "token-needed");
    assert!(since.elapsed() >= std::time::Duration::from_millis(500));
}

#[test]
fn readers_see_no_server_folders() {
    let served = with_tokens();
    let (reader, writer) = (served.client.with_token(READ), served.client.with_token(WRITE));
    let text = "the quick brown fox jumps over the lazy dog in the green park";
    let sources =
        ["/srv/private/a.txt", "C:\\private\\a.txt", "../private/a.txt", "file:///private/a.txt"];
    for (nth, source) in sources.iter().enumerate() {
        let body = json!({ "text": text, "metadata": { "source": source, "kind": "x" } });
        writer.put(&format!("/v1/documents/{nth}"), &body).ok(201);
    }
    let web = json!({ "text": text, "metadata": { "source": "https://example.org/x/y" } });
    writer.put("/v1/documents/web", &web).ok(201);
    while reader.get("/v1/groups").status == 202 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let all = |client: &crate::serve::client::Client| {
        let answers = [
            client.get("/v1/documents/0").ok(200),
            client.get("/v1/documents").ok(200),
            client.post("/v1/query", &json!({ "text": text })).ok(200),
            client.get("/v1/groups").ok(200),
        ];
        answers.map(|answer| answer.to_string())
    };
    for answer in all(&reader) {
        assert!(answer.contains("\"source\":\"a.txt\"") && !answer.contains("private"), "{answer}");
    }
    for answer in all(&writer) {
        assert!(answer.contains("/srv/private/a.txt"), "{answer}");
    }
    assert!(all(&reader)[1].contains("https://example.org/x/y"));
}

/// A server with a secret name in the path of its folder and in the metadata of its documents, for
/// clients that may read or write.
struct SecretFolder {
    _parent: tempfile::TempDir,
    served: Served,
}

const SECRET: &str = "quartz";
const TEXT: &str = "the quick brown fox jumps over the lazy dog in the green park";

impl SecretFolder {
    fn start() -> Self {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join(SECRET);
        std::fs::create_dir(&folder).unwrap();
        let served = Served::with_folder(&folder.join("index"), |config| {
            config.tokens =
                Tokens::new(vec![token(Right::Read, None, READ), token(Right::Write, None, WRITE)]);
        });
        let writer = served.client.with_token(WRITE);
        for id in ["a", "b"] {
            let source = format!("/srv/{SECRET}/{id}.txt");
            let body = json!({ "text": TEXT, "metadata": { "source": source, "kind": "x" } });
            writer.put(&format!("/v1/documents/{id}"), &body).ok(201);
        }
        let reader = served.client.with_token(READ);
        while reader.get("/v1/groups").status == 202 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        Self { _parent: parent, served }
    }

    fn reader(&self) -> crate::serve::client::Client {
        self.served.client.with_token(READ)
    }
}

#[test]
fn no_endpoint_shows_readers_a_folder() {
    let secret = SecretFolder::start();
    let reader = secret.reader();
    let api = reader.get("/openapi.json").ok(200);
    let mut answered = 0;
    for (path, methods) in api["paths"].as_object().unwrap() {
        let path = path.replace("{id}", "a").replace("{version}", "1").replace("{index}", "index");
        let methods = methods.as_object().unwrap().keys();
        for method in methods.filter(|method| *method != "parameters") {
            let bodies = [
                json!({}),
                json!({ "text": TEXT }),
                json!({ "id": "a", "nearest": 5 }),
                json!({ "queries": [{ "text": TEXT }, { "id": "b", "texts": true }] }),
                json!({ "left": { "id": "a" }, "right": { "id": "b" } }),
            ];
            for body in bodies {
                let method = method.to_uppercase();
                let headers = ["content-type: application/json"];
                let answer = reader.request(&method, &path, &headers, body.to_string().as_bytes());
                let message = String::from_utf8_lossy(&answer.body).to_lowercase();
                assert!(!answer.head.contains(SECRET), "{method} {path}: {}", answer.head);
                assert!(!message.contains(SECRET), "{method} {path} {body}: {message}");
                answered += usize::from(answer.status == 200);
            }
        }
    }
    assert!(answered > 20, "{answered}");
}

#[test]
fn filters_reveal_no_folders_to_readers() {
    let secret = SecretFolder::start();
    let reader = secret.reader();
    let ask = |filter: &str| {
        let escaped = filter.replace('>', "%3E");
        let query = |filter: &str| json!({ "text": TEXT, "filters": [filter] });
        let answers = [
            reader.post("/v1/query", &query(filter)),
            reader.post("/v1/query", &json!({ "id": "a", "filters": [filter] })),
            reader.post("/v1/query", &json!({ "id": "a", "nearest": 3, "filters": [filter] })),
            reader.post("/v1/queries", &json!({ "queries": [query(filter)] })),
            reader.get(&format!("/v1/documents?filter={escaped}")),
            reader.get(&format!("/v1/groups?filter={escaped}")),
        ];
        answers.map(|answer| answer.ok(200).to_string())
    };
    for operator in ["~", "=", ">", "!="] {
        // A filter with the secret name gives a reader the same answer as one with any other name.
        let found = ask(&format!("source{operator}/srv/{SECRET}/a.txt"));
        assert_eq!(found, ask(&format!("source{operator}/srv/granite/a.txt")), "{operator}");
    }
    assert_ne!(ask("source=a.txt"), ask("source=c.txt"));
    let writer = secret.served.client.with_token(WRITE);
    let body = json!({ "text": TEXT, "filters": [format!("source~{SECRET}")] });
    assert_eq!(writer.post("/v1/query", &body).ok(200)["found"], 2);
    assert_eq!(reader.post("/v1/query", &body).ok(200)["found"], 0);
}

#[test]
fn public_servers_need_tokens() {
    let index = || {
        Index::new(Box::new(MemoryBackend::new(crate::serve::served::settings(
            StoredContent::Sets,
        ))))
    };
    let mut config = Config { listen: "0.0.0.0:0".parse().unwrap(), ..Config::default() };
    let error = Server::bind(index().unwrap(), config.clone()).err().unwrap();
    assert!(matches!(error, StartError::Config(_)));
    assert!(error.to_string().contains("--token-file"), "{error}");
    config.tokens = Tokens::new(vec![token(Right::Read, None, READ)]);
    Server::bind(index().unwrap(), config).unwrap();
}

#[test]
fn unknown_hosts_and_origins_are_rejected() {
    let served =
        Served::with(StoredContent::Texts, |config| config.hosts = vec!["docs.example".into()]);
    let client = &served.client;
    let get = |host: &str| client.request("GET", "/v1/stats", &[&format!("host: {host}")], b"");
    for host in ["localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]:9", "docs.example:443"] {
        get(host).ok(200);
    }
    for host in ["evil.example", "localhost.evil.example", "10.0.0.1", "", "127.0.0.1.example"] {
        get(host).problem(421, "unknown-host");
    }
    let body = b"{\"text\":\"a\"}";
    let post = |line: &str| {
        let headers = ["content-type: application/json", "host: localhost:5", line];
        client.request("POST", "/v1/query", &headers, body)
    };
    post("origin: http://localhost:5").ok(200);
    for line in ["origin: http://evil.example", "origin: null", "sec-fetch-site: cross-site"] {
        post(line).problem(403, "cross-origin");
    }
}

#[test]
fn pages_of_other_origins_cannot_read() {
    let served = Served::start();
    let client = &served.client;
    client.put("/v1/documents/a", &json!({ "text": "a" })).ok(201);
    let get = |path: &str, line: &str| client.request("GET", path, &[line], b"");
    let paths = [
        "/v1/health",
        "/v1/settings",
        "/v1/stats",
        "/v1/documents",
        "/v1/documents/a",
        "/v1/groups?threshold=0.77",
        "/metrics",
        "/openapi.json",
        "/app.js",
        "/v1/nothing",
    ];
    for path in paths {
        for line in [
            "sec-fetch-site: cross-site",
            "sec-fetch-site: same-site",
            "sec-fetch-site: anything",
            "sec-fetch-site: none\r\nsec-fetch-site: cross-site",
            "origin: http://localhost:1",
            "origin: null",
        ] {
            get(path, line).problem(403, "cross-origin");
        }
        for line in ["sec-fetch-site: none", "sec-fetch-site: same-origin", "x: y"] {
            assert_ne!(get(path, line).status, 403, "{path} {line}");
        }
    }
    // Other sites may link to the page, but not to answers of the API.
    let link = "sec-fetch-site: cross-site\r\nsec-fetch-mode: navigate";
    assert_eq!(get("/", link).status, 200);
    get("/v1/stats", link).problem(403, "cross-origin");
}

#[test]
fn browsers_are_reported_to_be_strict() {
    let served = Served::start();
    let page = served.client.get("/");
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"));
    assert!(!policy.contains("unsafe"), "{policy}");
    assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    let tag = format!("if-none-match: {}", page.header("etag").unwrap());
    let second = served.client.request("GET", "/", &[&tag], b"");
    assert_eq!((second.status, second.body.len()), (304, 0));
    let head = served.client.request("HEAD", "/app.js", &[], b"");
    assert_eq!((head.status, head.body.len()), (200, 0));
    let data = served.client.get("/v1/stats");
    assert_eq!(data.header("cache-control"), Some("no-store"));
    assert_eq!(data.header("access-control-allow-origin"), None);
    assert!(data.header("x-request-id").is_some());
}

#[test]
fn expired_tokens_are_rejected() {
    let expired = |mut token: lookalike_server::ClientToken, at: &str| {
        token.expires = lookalike::index::time::parse(at);
        token
    };
    let served = Served::with(StoredContent::Texts, |config| {
        config.tokens = Tokens::new(vec![
            expired(token(Right::Write, Some("ann"), WRITE), "2020-01-01T00:00:00Z"),
            expired(token(Right::Read, None, READ), "2200-01-01T00:00:00Z"),
        ]);
    });
    served.client.with_token(READ).get("/v1/stats").ok(200);
    let refused = served.client.with_token(WRITE).get("/v1/stats");
    let problem = refused.problem(401, "token-expired");
    assert!(problem["detail"].as_str().unwrap().contains("2020-01-01T00:00:00"), "{problem}");
    assert_eq!(refused.header("www-authenticate"), Some("bearer"));
}
