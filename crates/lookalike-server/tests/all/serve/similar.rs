//! Queries, comparisons and groups give the results of the library.

use crate::serve::client::Client;
use crate::serve::served::{Served, containment, with_scheme};
use lookalike::core::keep::KeepPolicy;
use lookalike::core::params::Scheme;
use lookalike::store::settings::StoredContent;
use serde_json::{Value, json};
use std::time::Duration;

const FOX: &str = "the quick brown fox jumps over the lazy dog in the green park";

fn fill(client: &Client) {
    for (id, end, language) in [("a", "today", "en"), ("b", "now", "en"), ("c", "", "de")] {
        let text = format!("{FOX} {end}");
        let body = json!({ "text": text, "metadata": { "language": language } });
        client.put(&format!("/v1/documents/{id}"), &body).ok(201);
    }
    client
        .put("/v1/documents/other", &json!({ "text": "a wholly different text of words" }))
        .ok(201);
}

fn ids(answer: &Value) -> Vec<&str> {
    let matches = answer["matches"].as_array().unwrap().iter();
    matches.map(|item| item["id"].as_str().unwrap()).collect()
}

#[test]
fn queries_find_similar_documents() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    let all = client.post("/v1/query", &json!({ "text": format!("{FOX} today") })).ok(200);
    assert_eq!(ids(&all), ["a", "c", "b"]);
    let [first, .., last] = all["matches"].as_array().unwrap().as_slice() else { panic!("{all}") };
    assert_eq!((&first["similarity"], &last["similarity"]), (&json!(1.0), &json!(0.818_182)));
    assert_eq!((&last["shared"], &last["shingles"]), (&json!(9), &json!(10)));
    assert_eq!(last["containment_of_match"], 0.9);
    assert_eq!((&first["metadata"]["language"], &first["text"]), (&json!("en"), &Value::Null));
    assert_eq!(
        (&all["found"], &all["shingles"], &all["threshold"]),
        (&json!(3), &json!(10), &json!(0.5))
    );
    let own = json!({ "id": "a", "top": 1, "texts": true, "metadata": false, "threshold": 0.6 });
    let own = client.post("/v1/query", &own).ok(200);
    assert_eq!((ids(&own), &own["found"]), (vec!["c"], &json!(2)));
    assert_eq!(own["matches"][0]["text"], format!("{FOX} "));
    assert!(own["matches"][0].get("metadata").is_none());
    let german = json!({ "text": FOX, "filters": ["language=de"] });
    assert_eq!(ids(&client.post("/v1/query", &german).ok(200)), ["c"]);
    client.post("/v1/query", &json!({ "id": "gone" })).problem(404, "unknown-document");
}

#[test]
fn nearest_matches_need_no_threshold() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    // The query shares one shingle of five words, far below the threshold of the index.
    let text = "in the green park today we saw a dog that ran and a cat that slept";
    let answer = client.post("/v1/query", &json!({ "text": text })).ok(200);
    assert_eq!((answer["found"].as_u64(), answer.get("nearest")), (Some(0), None));
    let found = client.post("/v1/query", &json!({ "text": text, "nearest": 5 })).ok(200);
    assert_eq!(ids(&found), ["a"]);
    assert_eq!(found["matches"][0]["shared"], json!(1));
    assert_eq!(
        (&found["nearest"], &found["threshold"], &found["found"], &found["predicted_recall"]),
        (&json!(5), &json!(0.0), &json!(1), &json!(1.0))
    );
    let own = json!({ "id": "a", "nearest": 1, "filters": ["language=en"] });
    assert_eq!(ids(&client.post("/v1/query", &own).ok(200)), ["b"]);
    for bad in [
        json!({ "id": "a", "nearest": 0 }),
        json!({ "id": "a", "nearest": 1001 }),
        json!({ "id": "a", "nearest": 3, "top": 3 }),
        json!({ "id": "a", "nearest": 3, "threshold": 0.5 }),
    ] {
        client.post("/v1/query", &bad).problem(400, "bad-member");
    }
}

#[test]
fn xor_responses_include_a_caveat() {
    let served = Served::with_settings(with_scheme(Scheme::Xor), |_| {});
    let client = &served.client;
    fill(client);
    let usual = Served::start();
    fill(&usual.client);
    let query = json!({ "text": FOX });
    let nearest = json!({ "text": FOX, "nearest": 2 });
    let predictions = |client: &Client| {
        [
            client.get("/v1/settings").ok(200),
            client.post("/v1/query", &query).ok(200),
            client.post("/v1/query", &nearest).ok(200),
        ]
    };
    for answer in predictions(client) {
        let caveat = answer["recall_caveat"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(caveat.contains("does not hold for the scheme xor"), "{caveat}");
    }
    for answer in predictions(&usual.client) {
        assert!(answer["predicted_recall"].is_number(), "{answer}");
        assert_eq!(answer.get("recall_caveat"), None, "{answer}");
    }
}

#[test]
fn the_nearest_by_containment_are_refused() {
    let served = Served::with_settings(containment(), |_| {});
    let client = &served.client;
    fill(client);
    let nearest = json!({ "text": FOX, "nearest": 3 });
    let problem = client.post("/v1/query", &nearest).problem(400, "bad-member");
    assert_eq!(
        problem["detail"],
        "nearest: expected an index with the measure jaccard, got one with containment, which \
         signatures do not estimate: query it with a low threshold instead"
    );
    let found = client.post("/v1/query", &json!({ "text": FOX, "threshold": 0.1 })).ok(200);
    assert!(ids(&found).contains(&"a"), "{found}");
}

#[test]
fn an_index_of_signatures_estimates() {
    let served = Served::with(StoredContent::Signatures, |_| {});
    let client = &served.client;
    fill(client);
    let found = client.post("/v1/query", &json!({ "id": "a", "texts": true })).ok(200);
    let first = &found["matches"][0];
    assert_eq!(
        (&first["estimated"], &first["shared"], &first["text"]),
        (&json!(true), &Value::Null, &Value::Null)
    );
    let sides = json!({ "a": { "id": "a" }, "b": { "text": FOX }, "differences": true });
    let compared = client.post("/v1/compare", &sides).ok(200);
    assert_eq!((&compared["estimated"], &compared["differences"]), (&json!(true), &Value::Null));
    assert!(compared["differences_missing"].as_str().unwrap().contains("--store texts"));
    assert_eq!(client.get("/v1/documents/a").ok(200)["shingles"], Value::Null);
    let groups = loop {
        let answer = client.get("/v1/groups");
        if answer.status != 202 {
            break answer;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    groups.problem(422, "no-sets");
}

#[test]
fn comparisons_list_differing_words() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    let sides = json!({ "a": { "id": "a" }, "b": { "text": format!("{FOX} tomorrow, maybe") },
        "differences": true });
    let compared = client.post("/v1/compare", &sides).ok(200);
    assert_eq!((&compared["shingles_a"], &compared["shingles_b"]), (&json!(10), &json!(11)));
    assert_eq!((&compared["shared"], &compared["jaccard"]), (&json!(9), &json!(0.75)));
    let expected_differences = json!([{ "kind": "same", "text": format!("{FOX} ") },
        { "kind": "a", "text": "today" }, { "kind": "b", "text": "tomorrow, maybe" }]);
    assert_eq!(compared["differences"], expected_differences);
    let counts = json!({ "words": 1, "same_words": 0, "case": 0, "punctuation": 0,
        "white_space": 0, "moved": 0 });
    assert_eq!(compared["difference_counts"], counts);
    let sides = json!({ "a": { "id": "a" }, "b": { "id": "a" } });
    let same = client.post("/v1/compare", &sides).ok(200);
    assert_eq!((&same["jaccard"], same.get("differences")), (&json!(1.0), None));
}

#[test]
fn comparisons_reproduce_both_texts() {
    let served = Served::start();
    let a = "Paid FOR the room\n-5.20 EUR on Monday";
    let b = "paid for the room 5,20 EUR on Tuesday";
    let sides = json!({ "a": { "text": a }, "b": { "text": b }, "differences": true });
    let compared = served.client.post("/v1/compare", &sides).ok(200);
    let parts = compared["differences"].as_array().unwrap();
    let side = |kind: &str| -> String {
        let parts = parts.iter().filter(|part| part["kind"] == "same" || part["kind"] == kind);
        parts.map(|part| part["text"].as_str().unwrap()).collect()
    };
    assert_eq!((side("a").as_str(), side("b").as_str()), (a, b));
    let same_words = json!({ "kind": "b", "text": "paid for", "same_words": true });
    assert!(parts.contains(&same_words), "{compared}");
    assert!(parts.contains(&json!({ "kind": "b", "text": "Tuesday" })), "{compared}");
    let counts = json!({ "words": 1, "same_words": 3, "case": 1, "punctuation": 2,
        "white_space": 1, "moved": 0 });
    assert_eq!(compared["difference_counts"], counts);
}

#[test]
fn a_comparison_marks_moved_blocks() {
    let served = Served::start();
    let words: Vec<String> = (0..60).map(|i| format!("word{i}")).collect();
    let rest = format!(" {}", words.join(" "));
    let block = "This sentence of eight words is a block";
    let (a, b) = (format!("{block}. It{rest} ends"), format!("It{rest} goes on. {block}"));
    let sides = json!({ "a": { "text": a }, "b": { "text": b }, "differences": true });
    let compared = served.client.post("/v1/compare", &sides).ok(200);
    let parts = compared["differences"].as_array().unwrap();
    let side = |kind: &str| -> String {
        let parts = parts.iter().filter(|part| part["kind"] == "same" || part["kind"] == kind);
        parts.map(|part| part["text"].as_str().unwrap()).collect()
    };
    assert_eq!((side("a"), side("b")), (a, b), "the parts are both texts");
    for kind in ["a", "b"] {
        let part = json!({ "kind": kind, "text": block, "moved": 1 });
        assert!(parts.contains(&part), "{compared}");
    }
    assert_eq!(parts.iter().filter(|part| part.get("moved").is_some()).count(), 2);
    assert_eq!(compared["difference_counts"]["moved"], 1);
}

#[test]
fn equal_texts_are_marked_in_matches() {
    let served = Served::start();
    let client = &served.client;
    for (id, text) in [
        ("a", format!("{FOX} now")),
        ("b", format!("{FOX} NOW!")),
        ("c", format!("{FOX} now")),
        ("d", format!("{FOX} today")),
    ] {
        client.put(&format!("/v1/documents/{id}"), &json!({ "text": text })).ok(201);
    }
    let equal = |list: &Value| -> Vec<(String, Value)> {
        let pair =
            |item: &Value| (item["id"].as_str().unwrap().to_owned(), item["equal_text"].clone());
        let mut all: Vec<_> = list.as_array().unwrap().iter().map(pair).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    };
    let expected = |all: &[(&str, Value)]| -> Vec<(String, Value)> {
        all.iter().map(|(id, value)| ((*id).to_owned(), value.clone())).collect()
    };
    let body = json!({ "text": format!("{FOX} now"), "beginning": 5, "threshold": 0.6 });
    let found = client.post("/v1/query", &body).ok(200);
    let expected_texts =
        [("a", json!(true)), ("b", json!(false)), ("c", json!(true)), ("d", Value::Null)];
    assert_eq!(equal(&found["matches"]), expected(&expected_texts));
    let body = json!({ "id": "b", "texts": true, "threshold": 0.6 });
    let found = client.post("/v1/query", &body).ok(200);
    let expected_texts = [("a", json!(false)), ("c", json!(false)), ("d", Value::Null)];
    assert_eq!(equal(&found["matches"]), expected(&expected_texts));
    // Without `texts`, the server does not read the texts and reports no equality.
    let found = client.post("/v1/query", &json!({ "id": "b", "threshold": 0.6 })).ok(200);
    assert!(
        found["matches"].as_array().unwrap().iter().all(|item| item.get("equal_text").is_none())
    );
    // The longest document is the keeper.
    let groups = settled(client, "/v1/groups?beginning=5&threshold=0.6");
    let group = &groups["groups"][0];
    assert_eq!(group["keeper"]["id"], "d");
    let groups = settled(client, "/v1/groups?beginning=5&threshold=0.99");
    let group = &groups["groups"][0];
    assert_eq!(group["keeper"]["id"], "b");
    let expected_texts = [("a", json!(false)), ("c", json!(false))];
    assert_eq!(equal(&group["duplicates"]), expected(&expected_texts));
}

/// Returns the groups when they are up to date.
fn settled(client: &Client, path: &str) -> Value {
    loop {
        let answer = client.get(path);
        if answer.status == 200 && answer.json()["stale"] == false {
            return answer.json();
        }
        if answer.status != 200 {
            assert_eq!(answer.ok(202)["status"], "pending");
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn groups_follow_the_keep_order() {
    let text = "the council decided on Tuesday to close the old bridge over the river";
    for (keep, keeper) in
        [(KeepPolicy::default(), "letter-copy.txt"), (KeepPolicy::of_files(), "letter.txt")]
    {
        let served = Served::with(StoredContent::Texts, |config| config.keep = keep);
        let client = &served.client;
        for (id, text) in
            [("letter.txt", text.to_owned()), ("letter-copy.txt", format!("{text} now"))]
        {
            client.put(&format!("/v1/documents/{id}"), &json!({ "text": text })).ok(201);
        }
        let found = settled(client, "/v1/groups");
        assert_eq!(found["groups"][0]["keeper"]["id"], keeper);
    }
}

#[test]
fn group_lists_survive_recomputation() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    client
        .put("/v1/documents/other2", &json!({ "text": "a wholly different text of words" }))
        .ok(201);
    let settled = |path: &str| settled(client, path);
    let first = settled("/v1/groups?limit=1");
    assert_eq!((&first["groups_total"], &first["duplicates_total"]), (&json!(2), &json!(3)));
    let group = &first["groups"][0];
    assert_eq!(
        (&group["keeper"]["id"], group["duplicates"].as_array().unwrap().len()),
        (&json!("a"), 2)
    );
    assert_eq!(group["keeper"]["metadata"]["language"], "en");
    let next = format!("/v1/groups?limit=1&after={}", first["next"].as_str().unwrap());
    let second = client.get(&next).ok(200);
    assert_eq!((&second["groups"][0]["keeper"]["id"], second.get("next")), (&json!("other"), None));
    client.delete("/v1/documents/other2");
    assert_eq!(client.get(&next).ok(200)["stale"], true);
    assert_eq!(settled("/v1/groups")["groups_total"], 1);
    // A client that pages through a list continues with this list, even if a newer one is computed.
    let next_page = client.get(&next).ok(200);
    assert_eq!((&next_page["groups_total"], &next_page["stale"]), (&json!(2), &json!(true)));
    assert_eq!(settled("/v1/groups?threshold=0.95")["groups_total"], 0);
}

#[test]
fn group_cursors_expire() {
    let served =
        Served::with(StoredContent::Texts, |config| config.limits.cursor_time = Duration::ZERO);
    let client = &served.client;
    fill(client);
    let other = json!({ "text": "a wholly different text of words" });
    client.put("/v1/documents/other2", &other).ok(201);
    let first = settled(client, "/v1/groups?limit=1");
    let next = format!("/v1/groups?limit=1&after={}", first["next"].as_str().unwrap());
    client.delete("/v1/documents/other2");
    assert_eq!(settled(client, "/v1/groups")["groups_total"], 1);
    client.get(&next).problem(410, "cursor-expired");
}

#[test]
fn requested_thresholds_are_all_answered() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    let mut waiting: Vec<String> =
        (0..20).map(|n| format!("/v1/groups?threshold={}", 0.5 + 0.01 * f64::from(n))).collect();
    waiting.push("/v1/groups".to_owned());
    for _ in 0..1_000 {
        waiting.retain(|path| match client.get(path).status {
            200 => false,
            status => {
                assert!(matches!(status, 202 | 503), "{status}");
                true
            }
        });
        if waiting.is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("never answered: {waiting:?}");
}

#[test]
fn unreachable_thresholds_name_the_least() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    for threshold in ["5e-324", "1e-9", "0.0001"] {
        let problem =
            client.get(&format!("/v1/groups?threshold={threshold}")).problem(400, "bad-parameter");
        let detail = problem["detail"].as_str().unwrap();
        let least = detail.split("from ").nth(1).unwrap().split(' ').next().unwrap();
        assert!(least.parse::<f64>().unwrap() < 0.1, "{detail}");
        settled(client, &format!("/v1/groups?threshold={least}"));
    }
}

#[test]
fn figures_are_reported() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    let text = String::from_utf8(client.get("/metrics").body).unwrap();
    for line in [
        "lookalike_requests_total{route=\"/v1/documents/{id}\",method=\"PUT\",status=\"201\"} 4\n",
        "lookalike_documents 4\n",
        "lookalike_write_changes_count 4\n",
        "lookalike_index_readable 1\n",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
}

#[test]
fn large_groups_continue_on_next_pages() {
    let served = Served::start();
    let client = &served.client;
    let body = json!({ "text": FOX, "metadata": { "x": "y".repeat(900_000) } });
    for n in 0..40 {
        client.put(&format!("/v1/documents/{n:02}"), &body).ok(201);
    }
    let mut page = settled(client, "/v1/groups");
    let mut ids = Vec::new();
    loop {
        assert!(page.to_string().len() < 20 << 20);
        let [group] = page["groups"].as_array().unwrap().as_slice() else { panic!("one group") };
        assert_eq!(group["keeper"]["id"], "00");
        assert_eq!(
            (&group["duplicates_before"], &group["duplicates_total"]),
            (&json!(ids.len()), &json!(39))
        );
        let duplicates = group["duplicates"].as_array().unwrap();
        ids.extend(duplicates.iter().map(|item| item["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        page = client.get(&format!("/v1/groups?after={next}")).ok(200);
    }
    assert_eq!(ids, (1..40).map(|n| format!("{n:02}")).collect::<Vec<_>>());
}

#[test]
fn expired_documents_leave_their_groups() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    let short = json!({ "text": FOX, "ttl_seconds": 2 });
    client.put("/v1/documents/short", &short).ok(201);
    let first = settled(client, "/v1/groups?limit=1");
    // On a slow machine, the document may have expired already. The loop then ends at once.
    let version = first["version"].clone();
    loop {
        let answer = client.get("/v1/groups").ok(200);
        let is_shown = answer["groups"].to_string().contains("\"short\"");
        if answer["stale"] == false && !is_shown {
            assert_eq!((&answer["version"], &answer["duplicates_total"]), (&version, &json!(2)));
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    client.get("/v1/documents/short").problem(404, "unknown-document");
    let matches = client.post("/v1/query", &json!({ "text": FOX })).ok(200)["matches"].to_string();
    assert!(matches.contains("\"a\"") && !matches.contains("\"short\""), "{matches}");
}

#[test]
fn id_queries_read_one_snapshot() {
    let served = Served::start();
    fill(&served.client);
    let before = served.gate.passed();
    let found = served.client.post("/v1/query", &json!({ "id": "a" })).ok(200);
    assert_eq!(ids(&found), ["c", "b"]);
    // With two snapshots, a document that is replaced between them would find itself.
    assert_eq!(served.gate.passed() - before, 1);
}
