//! Invalid requests, sent by mistake or on purpose. The server answers with a problem and a remedy,
//! and continues.

use crate::serve::served::Served;
use lookalike::store::settings::StoredContent;

#[test]
fn bad_members_are_named() {
    let served = Served::start();
    let cases: &[(&str, &str, u16, &str)] = &[
        ("/v1/query", "", 400, "invalid-json"),
        ("/v1/query", "{", 400, "invalid-json"),
        ("/v1/query", "{\"text\":\"a\"}{}", 400, "invalid-json"),
        ("/v1/query", "{\"text\":\"a\",\"threshold\":NaN}", 400, "invalid-json"),
        ("/v1/query", "{\"text\":\"a\",\"threshold\":1e999}", 400, "invalid-json"),
        ("/v1/query", "[\"a\"]", 400, "bad-member"),
        ("/v1/query", "null", 400, "bad-member"),
        ("/v1/query", "{}", 400, "bad-member"),
        ("/v1/query", "{\"text\":\"a\",\"id\":\"b\"}", 400, "bad-member"),
        ("/v1/query", "{\"text\":7}", 400, "bad-member"),
        ("/v1/query", "{\"text\":\"a\",\"top\":0}", 400, "bad-member"),
        ("/v1/query", "{\"text\":\"a\",\"top\":1001}", 400, "bad-member"),
        ("/v1/query", "{\"text\":\"a\",\"top\":-1}", 400, "bad-member"),
        ("/v1/query", "{\"text\":\"a\",\"top\":99999999999999999999999}", 400, "bad-member"),
        ("/v1/query", "{\"text\":\"a\",\"threshold\":0}", 400, "bad-member"),
        ("/v1/query", "{\"text\":\"a\",\"threshold\":1.5}", 400, "bad-member"),
        ("/v1/query", "{\"text\":\"a\",\"threshold\":\"NaN\"}", 400, "bad-member"),
        ("/v1/query", "{\"text\":\"a\",\"filters\":[\"=x\"]}", 400, "bad-member"),
        ("/v1/query", "{\"text\":\"a\",\"filter\":[]}", 400, "unknown-member"),
        ("/v1/query?x=1", "{\"text\":\"a\"}", 400, "bad-parameter"),
        ("/v1/compare", "{\"a\":{\"text\":\"x\"}}", 400, "bad-member"),
        ("/v1/compare", "{\"a\":[\"x\"],\"b\":{\"text\":\"x\"}}", 400, "bad-member"),
        ("/v1/compare", "{\"a\":{\"txt\":\"x\"},\"b\":{\"text\":\"x\"}}", 400, "unknown-member"),
        ("/v1/compare", "{\"a\":{},\"b\":{\"text\":\"x\"}}", 400, "bad-member"),
    ];
    for (path, body, status, code) in cases {
        let headers = ["content-type: application/json; charset=UTF-8"];
        let answer = served.client.request("POST", path, &headers, body.as_bytes());
        answer.problem(*status, code);
    }
    let deep = format!("{{\"text\":\"a\",\"filters\":{}", "[".repeat(100_000));
    let headers = ["content-type: application/json"];
    let answer = served.client.request("POST", "/v1/query", &headers, deep.as_bytes());
    assert_eq!(answer.status, 400);
    let answer = served.client.request("POST", "/v1/query", &headers, b"{\"text\":\"\xff\"}");
    answer.problem(400, "invalid-utf8");
}

#[test]
fn invalid_documents_are_rejected() {
    let served = Served::start();
    let cases = [
        ("{\"text\":\"a\",\"expires\":\"tomorrow\"}", "bad-time"),
        ("{\"text\":\"a\",\"expires\":\"2001-01-01T00:00:00Z\"}", "bad-time"),
        ("{\"text\":\"a\",\"ttl_seconds\":0}", "bad-time"),
        ("{\"text\":\"a\",\"ttl_seconds\":18446744073709551615}", "bad-time"),
        ("{\"text\":\"a\",\"ttl_seconds\":1,\"expires\":\"2100-01-01T00:00:00Z\"}", "bad-member"),
        ("{\"text\":\"a\",\"modified\":\"0000-00-00T00:00:00Z\"}", "bad-time"),
        ("{\"text\":\"a\",\"metadata\":[]}", "bad-member"),
        ("{\"text\":\"a\",\"language\":\"en\"}", "unknown-member"),
        ("{\"text\":\"a\",\"text\":\"b\"}", "bad-member"),
    ];
    let headers = ["content-type: application/json"];
    for (body, code) in cases {
        let answer = served.client.request("PUT", "/v1/documents/a", &headers, body.as_bytes());
        answer.problem(if code == "bad-time" { 422 } else { 400 }, code);
    }
    let metadata = format!("{{\"text\":\"a\",\"metadata\":{{\"x\":\"{}\"}}}}", "y".repeat(1 << 20));
    let answer = served.client.request("PUT", "/v1/documents/a", &headers, metadata.as_bytes());
    answer.problem(400, "bad-member");
    let long = "x".repeat(17_000);
    for id in ["%", "%zz", "%ff", "%00", &long] {
        let path = format!("/v1/documents/{id}");
        served.client.request("PUT", &path, &headers, b"{\"text\":\"\"}").problem(400, "bad-id");
    }
    for (path, code) in [("/v1/documents/a/b", 404), ("/v1/documents/", 404)] {
        served.client.request("PUT", path, &headers, b"{}").problem(code, "unknown-address");
    }
    for query in ["?mode=replace", "?mode=add&mode=add", "?mod=add", "?mode=%ff"] {
        let path = format!("/v1/documents/a{query}");
        served
            .client
            .request("PUT", &path, &headers, b"{\"text\":\"\"}")
            .problem(400, "bad-parameter");
    }
    for query in ["limit=0", "limit=1001", "limit=x", "after=x", "after=-1", "limits=1"] {
        let path = format!("/v1/documents?{query}");
        served.client.get(&path).problem(400, "bad-parameter");
    }
    for query in ["threshold=NaN", "threshold=inf", "threshold=0", "threshold=2", "after=1"] {
        served.client.get(&format!("/v1/groups?{query}")).problem(400, "bad-parameter");
    }
    assert_eq!(served.client.get("/v1/stats").ok(200)["documents"], 0);
}

#[test]
fn bodies_of_another_kind_are_refused() {
    let served = Served::start();
    let body = b"{\"text\":\"a\"}";
    let kinds: [&[&str]; 5] = [
        &[],
        &["content-type: text/plain"],
        &["content-type: application/x-www-form-urlencoded"],
        &["content-type: application/json; charset=latin1"],
        &["content-type: application/json", "content-encoding: br"],
    ];
    for headers in kinds {
        let answer = served.client.request("POST", "/v1/query", headers, body);
        answer.problem(415, "wrong-content-type");
    }
    let json = ["content-type: application/json"];
    let answer = served.client.request("POST", "/v1/documents", &json, body);
    answer.problem(415, "wrong-content-type");
}

#[test]
fn incomplete_bodies_store_nothing() {
    let served = Served::start();
    let headers = ["content-type: application/json", "transfer-encoding: chunked"];
    let chunked = b"8\r\n{\"text\":\r\n4\r\n\"a\"}\r\n0\r\n\r\n";
    served.client.request("PUT", "/v1/documents/c", &headers, chunked).ok(201);
    let broken = b"zz\r\n{\"text\":";
    served.client.request("PUT", "/v1/documents/d", &headers, broken).problem(400, "bad-body");
    let head = format!(
        "PUT /v1/documents/e HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
         content-length: 1000\r\n\r\n{{\"text\"",
        served.client.address
    );
    for _ in 0..20 {
        let mut stream = served.client.connect();
        std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
        drop(stream);
    }
    served.client.get("/v1/documents/e").problem(404, "unknown-document");
    served.client.get("/v1/documents/c").ok(200);
}

#[test]
fn invalid_http_does_no_harm() {
    let served = Served::with(StoredContent::Sets, |_| {});
    let junk: [&[u8]; 6] = [
        b"\0\x01\x02\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello from TLS\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\r\nx: \xff\r\nconnection: close\r\n\r\n",
        b"POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
    ];
    for bytes in junk {
        served.client.raw(bytes);
    }
    let long = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "x".repeat(300_000));
    let answer = served.client.raw(long.as_bytes());
    assert!(matches!(answer.status, 0 | 414 | 431), "{}", answer.head);
    served.client.get("/v1/health").ok(200);
}

#[test]
fn parser_errors_are_problem_responses() {
    let served = Served::start();
    let host = "host: localhost\r\n";
    let cases = [
        ("\0\x01\x02\r\n\r\n".to_owned(), 400, "bad-head"),
        ("GET / HTTP/9.9\r\n\r\n".to_owned(), 400, "bad-head"),
        (format!("GET / HTTP/1.1\r\n{host}no colon\r\n\r\n"), 400, "bad-head"),
        (format!("GET /{} HTTP/1.1\r\n{host}\r\n", "x".repeat(70_000)), 414, "address-too-long"),
        (
            format!("GET / HTTP/1.1\r\n{host}x: {}\r\n\r\n", "y".repeat(3_000_000)),
            431,
            "head-too-large",
        ),
        (format!("GET / HTTP/1.1\r\n{host}{}\r\n", "x: y\r\n".repeat(200)), 431, "head-too-large"),
    ];
    for (request, status, code) in cases {
        let answer = served.client.raw(request.as_bytes());
        answer.problem(status, code);
        assert_eq!(answer.header("connection"), Some("close"));
    }
}

#[test]
fn metadata_and_filters_are_limited() {
    let served = Served::start();
    let put = |metadata: &str| {
        let body = format!("{{\"text\":\"a\",\"metadata\":{metadata}}}");
        let headers = ["content-type: application/json"];
        served.client.request("PUT", "/v1/documents/a", &headers, body.as_bytes())
    };
    for (element, count) in [("[],", 700_000), ("{\"\":0},", 100_000), ("\"\",", 700_000)] {
        let answer = put(&format!("{{\"a\":[{}0]}}", element.repeat(count)));
        answer.problem(400, "bad-member");
    }
    assert_eq!(put(&format!("{{\"a\":[{}0]}}", "0.5,".repeat(100_000))).status, 201);
    let metadata = served.client.get("/v1/documents/a").ok(200)["metadata"]["a"].clone();
    assert_eq!(metadata.as_array().unwrap().len(), 100_001);
    let filters = serde_json::json!({ "text": "a", "filters": vec!["a=b"; 101] });
    let problem = served.client.post("/v1/query", &filters).problem(400, "bad-member");
    assert!(problem["detail"].as_str().unwrap().contains("at most 100"), "{problem}");
}

#[test]
fn ambiguous_heads_are_rejected() {
    let served = Served::start();
    let two = ["host: localhost", "host: evil.example"];
    served.client.request("GET", "/v1/stats", &two, b"").problem(400, "bad-head");
    let head = "POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n";
    let body =
        "c\r\n{\"text\":\"a\"}\r\n0\r\n\r\nGET /v1/health HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let answer = served.client.raw(format!("{head}{body}").as_bytes());
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    assert!(!String::from_utf8_lossy(&answer.body).contains("HTTP/1.1"));
}
