//! Several indexes in one service.

use crate::serve::served::{Served, token};
use lookalike_server::StartError;
use lookalike_server::{Config, IndexName, Right, ServedIndex, Server, Tokens};
use serde_json::{Value, json};

const ALL: &str = "all-all-all-all-all";
const MAIL: &str = "mail-mail-mail-mail";
const TEXT: &str = "a quick brown fox jumps over the lazy dog in the park at night";

fn names(list: &Value) -> Vec<&str> {
    list["indexes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|index| index["name"].as_str().unwrap())
        .collect()
}

/// Starts a server with one token for all indexes, and one that may read `news` and write `mail`.
fn with_tokens() -> Served {
    let only = |right, name: &str| {
        let indexes = Some(vec![IndexName::new(name).unwrap()]);
        lookalike_server::ClientToken { indexes, ..token(right, Some("ann"), MAIL) }
    };
    Served::with_indexes(&["first", "news", "mail"], |config| {
        config.tokens = Tokens::new(vec![
            token(Right::Write, None, ALL),
            only(Right::Read, "news"),
            only(Right::Write, "mail"),
        ]);
    })
}

#[test]
fn each_index_is_served_separately() {
    let served = Served::with_indexes(&["news", "mail"], |_| {});
    let client = &served.client;
    let list = client.get("/v1/indexes").ok(200);
    let entry = |name: &str, default: bool| {
        json!({
            "name": name, "address": format!("/v1/indexes/{name}"), "default": default,
            "right": "write", "writable": true,
        })
    };
    assert_eq!(list["indexes"], json!([entry("news", true), entry("mail", false)]));
    assert_eq!(client.get("/v1/indexes/mail").ok(200), entry("mail", false));
    let body = json!({ "text": TEXT });
    client.put("/v1/documents/a%2Fb", &body).ok(201);
    client.put("/v1/indexes/mail/documents/a%2Fb", &body).ok(201);
    client.put("/v1/indexes/mail/documents/c", &body).ok(201);
    let found = |path: &str| client.post(path, &json!({ "id": "a/b" })).ok(200)["found"].clone();
    assert_eq!(found("/v1/query"), 0);
    assert_eq!(found("/v1/indexes/news/query"), 0);
    assert_eq!(found("/v1/indexes/mail/query"), 1);
    assert_eq!(client.get("/v1/indexes/mail/documents?limit=1").ok(200)["next"], "1");
    assert_eq!(client.get("/v1/indexes/mail/settings").ok(200)["name"], "mail");
    let decision = json!({ "decisions": [{ "decision": "keep", "documents": ["c"] }] });
    client.post("/v1/indexes/mail/decisions", &decision).ok(200);
    assert_eq!(client.get("/v1/decisions").ok(200)["decisions"], json!([]));
    client.delete("/v1/indexes/news/documents/a%2Fb");
    client.get("/v1/documents/a%2Fb").problem(404, "unknown-document");
    client.get("/v1/indexes/mail/documents/a%2Fb?text=true").ok(200);
    client.get("/v1/indexes/mail/health").ok(200);
    client.post("/v1/indexes/mail/upkeep", &json!({ "job": "check" })).ok(202);
    assert_eq!(client.get("/v1/upkeep").ok(200)["jobs"], json!([]));
    let figures = String::from_utf8(client.get("/metrics").body).unwrap();
    for line in [
        "lookalike_documents{index=\"news\"} 0\n",
        "lookalike_documents{index=\"mail\"} 2\n",
        "lookalike_requests_total{index=\"mail\",route=\"/v1/query\",method=\"POST\",\
         status=\"200\"} 1\n",
        "lookalike_requests_total{index=\"news\",route=\"/v1/query\",method=\"POST\",\
         status=\"200\"} 2\n",
    ] {
        assert!(figures.contains(line), "{line} in\n{figures}");
    }
    assert_eq!(figures.matches("# TYPE lookalike_documents ").count(), 1);
}

#[test]
fn unknown_index_addresses_are_errors() {
    let served = Served::with_indexes(&["news", "mail"], |_| {});
    let client = &served.client;
    for path in ["/v1/indexes/nobody", "/v1/indexes/nobody/stats", "/v1/indexes/new%73/stats"] {
        client.get(path).problem(404, "unknown-index");
    }
    client.put("/v1/indexes/nobody/documents/a", &json!({})).problem(404, "unknown-index");
    for path in ["/v1/indexes/mail/nothing", "/v1/indexes/mail/", "/v1/indexes/mail/indexes"] {
        client.get(path).problem(404, "unknown-address");
    }
    client.get("/v1/indexes/mail/indexes/news/stats").problem(404, "unknown-address");
    client.post("/v1/indexes", &json!({})).problem(405, "wrong-method");
    client.post("/v1/indexes/mail/stats", &json!({})).problem(405, "wrong-method");
    client.get("/v1/indexes/mail/stats?x=1").problem(400, "bad-parameter");
}

#[test]
fn tokens_open_only_their_indexes() {
    let served = with_tokens();
    let (all, mail) = (served.client.with_token(ALL), served.client.with_token(MAIL));
    assert_eq!(names(&all.get("/v1/indexes").ok(200)), ["first", "news", "mail"]);
    let list = mail.get("/v1/indexes").ok(200);
    assert_eq!(names(&list), ["news", "mail"]);
    let rights: Vec<_> =
        list["indexes"].as_array().unwrap().iter().map(|index| &index["right"]).collect();
    assert_eq!(rights, ["read", "write"]);
    let body = json!({ "text": TEXT });
    mail.get("/v1/indexes/news/stats").ok(200);
    mail.put("/v1/indexes/news/documents/a", &body).problem(403, "read-only-token");
    mail.put("/v1/indexes/mail/documents/a", &body).ok(201);
    mail.get("/v1/stats").problem(403, "other-index");
    mail.put("/v1/documents/a", &body).problem(403, "other-index");
    assert_eq!(mail.get("/metrics").status, 403);
    assert_eq!(all.get("/metrics").status, 200);
    mail.get("/v1/indexes/first").problem(404, "unknown-index");
    mail.get("/v1/health").ok(200);
}

/// A client without a token, or with one for other indexes, cannot find out which names exist.
#[test]
fn index_names_are_hidden_without_token() {
    let served = with_tokens();
    let answer_of = |token: Option<&str>, path: &str| {
        let client = token.map_or_else(|| served.client.clone(), |it| served.client.with_token(it));
        let answer = client.get(path);
        let mut body = answer.json();
        body["detail"] = body["detail"].as_str().unwrap().replace("first", "other").into();
        (answer.status, body)
    };
    for rest in ["", "/", "/stats", "/health", "/nothing", "/documents/a", "/openapi.json"] {
        for token in [None, Some(MAIL)] {
            let known = answer_of(token, &format!("/v1/indexes/first{rest}"));
            assert_eq!(known, answer_of(token, &format!("/v1/indexes/other{rest}")), "{rest}");
        }
    }
    assert_eq!(answer_of(None, "/v1/indexes").0, 401);
    // Every client can read the description. If there are tokens, it contains the form of a name
    // but no names.
    let description = served.client.get("/openapi.json").json();
    let name = &description["paths"]["/v1/indexes/{index}/stats"]["parameters"][0]["schema"];
    assert_eq!(
        *name,
        json!({ "type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$" })
    );
}

#[test]
fn single_index_services_list_it() {
    let served = Served::start();
    let list = served.client.get("/v1/indexes").ok(200);
    assert_eq!(names(&list), ["index"]);
    served.client.put("/v1/indexes/index/documents/a", &json!({ "text": TEXT })).ok(201);
    served.client.get("/v1/documents/a").ok(200);
    // The metrics and the description of a single index contain no name.
    let figures = String::from_utf8(served.client.get("/metrics").body).unwrap();
    assert!(figures.contains("lookalike_documents 1\n"), "{figures}");
    let description = served.client.get("/openapi.json").json();
    assert!(description["paths"].get("/v1/indexes/{index}/stats").is_none());
}

#[test]
fn api_description_covers_every_index() {
    let served = Served::with_indexes(&["news", "mail"], |_| {});
    let description = served.client.get("/openapi.json").json();
    let paths = description["paths"].as_object().unwrap();
    let item = &paths["/v1/indexes/{index}/documents/{id}"];
    assert_eq!(item["parameters"][0]["schema"]["enum"], json!(["news", "mail"]));
    assert_eq!(item["parameters"][1]["name"], "id");
    assert_eq!(item["get"]["operationId"], "getOfIndex");
    let of_index = paths.keys().filter(|path| path.starts_with("/v1/indexes/{index}/")).count();
    let of_first = paths.keys().filter(|path| path.starts_with("/v1/")).count();
    assert_eq!(of_first, 2 * of_index + 2, "those of the list and of its entries are once");
    let mut ids: Vec<&str> = Vec::new();
    for item in paths.values() {
        let operations = item.as_object().unwrap().values();
        ids.extend(operations.filter_map(|operation| operation["operationId"].as_str()));
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn health_covers_all_indexes() {
    let served = with_tokens();
    served.client.get("/v1/health").ok(200);
    served.gate.set_down(true);
    served.client.get("/v1/health").problem(503, "unreadable");
    served.client.with_token(ALL).get("/v1/indexes/mail/health").problem(503, "unreadable");
}

#[test]
fn index_names_must_be_unique() {
    let index = |name: &str| {
        use lookalike::store::Index;
        use lookalike::store::memory::MemoryBackend;
        use lookalike::store::settings::StoredContent;
        let settings = crate::serve::served::settings(StoredContent::Sets);
        let index = Index::new(Box::new(MemoryBackend::new(settings))).unwrap();
        ServedIndex::named(IndexName::new(name).unwrap(), index)
    };
    let config = || Config { listen: "127.0.0.1:0".parse().unwrap(), ..Config::default() };
    let repeated = vec![index("a"), index("b"), index("a")];
    for indexes in [vec![], repeated, vec![index("a"), index("A")]] {
        let error = Server::bind_all(indexes, config()).err().unwrap();
        assert!(matches!(error, StartError::Config(_)), "{error}");
    }
}
