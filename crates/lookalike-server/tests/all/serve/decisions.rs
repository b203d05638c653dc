//! Decisions over HTTP, and the groups that follow from them.

use crate::serve::client::{Answer, Client};
use crate::serve::served::{Served, token};
use lookalike::store::settings::StoredContent;
use lookalike_server::{Right, Tokens};
use serde_json::{Value, json};

const READ: &str = "read-read-read-read";
const ANN: &str = "ann-ann-ann-ann-ann";
const BOB: &str = "bob-bob-bob-bob-bob";
const WRITE: &str = "write-write-write-write";

fn put(client: &Client, id: &str, text: &str) {
    client.put(&format!("/v1/documents/{id}"), &json!({ "text": text })).ok(201);
}

/// Starts a server for two people who decide and one who writes.
fn served_to_two() -> Served {
    Served::with(StoredContent::Texts, |config| {
        config.tokens = Tokens::new(vec![
            token(Right::Write, None, WRITE),
            token(Right::Decide, Some("ann"), ANN),
            token(Right::Decide, Some("bob"), BOB),
        ]);
    })
}

/// Adds three documents that resemble each other, and two others that do.
fn fill(client: &Client) {
    let bridge = "the council decided on Tuesday to close the old bridge over the river";
    put(client, "a", bridge);
    put(client, "b", &format!("{bridge} now"));
    put(client, "c", &format!("{bridge} soon"));
    let harvest = "a text about the late harvest of apples in the valley";
    put(client, "d", harvest);
    put(client, "e", &format!("{harvest} and of pears near the lake"));
}

fn decide(client: &Client, decisions: &Value) -> Value {
    client.post("/v1/decisions", &json!({ "decisions": decisions })).ok(200)
}

/// Requests an address until the answer is ready, and returns it.
fn when(client: &Client, path: &str, is_ready: impl Fn(&Answer) -> bool) -> Answer {
    loop {
        let answer = client.get(path);
        if is_ready(&answer) {
            return answer;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Returns the groups of the current state of the index.
fn groups(client: &Client, query: &str) -> Value {
    let is_new = |answer: &Answer| answer.status == 200 && answer.json()["stale"] == json!(false);
    when(client, &format!("/v1/groups{query}"), is_new).ok(200)
}

/// Returns the keeper and the duplicates of each group, each with its decision.
fn ids_of_groups(groups: &Value) -> Vec<String> {
    let member = |member: &Value| {
        let decision = member.get("decision").map_or("", |decision| decision.as_str().unwrap());
        format!("{}:{decision}", member["id"].as_str().unwrap())
    };
    let group = |group: &Value| {
        let duplicates = group["duplicates"].as_array().unwrap().iter().map(member);
        let all: Vec<String> =
            std::iter::once(member(&group["keeper"])).chain(duplicates).collect();
        all.join(" ")
    };
    groups["groups"].as_array().unwrap().iter().map(group).collect()
}

/// Returns the lines of a review list when it is computed.
fn lines(client: &Client, path: &str) -> Vec<Value> {
    let answer = when(client, path, |answer| answer.status != 202);
    assert_eq!(answer.status, 200);
    let text = String::from_utf8(answer.joined()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_review_is_exported() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    let ids = |list: &[Value]| -> Vec<String> {
        list.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    };
    let removed = lines(client, "/v1/review/removed");
    assert_eq!(ids(&removed), ["a", "b", "d"]);
    assert_eq!(removed[2]["keeper"], "e");
    assert!(removed[2]["similarity"].as_f64().unwrap() >= 0.5);
    let kept = ids(&lines(client, "/v1/review/kept"));
    assert!(kept.contains(&"c".to_owned()) && kept.contains(&"e".to_owned()), "{kept:?}");
    // Each document is in exactly one of the two lists.
    let list = client.get("/v1/documents").ok(200);
    let mut all = ids(list["documents"].as_array().unwrap());
    let mut both = [ids(&removed), kept].concat();
    all.sort();
    both.sort();
    assert_eq!(both, all);
    // The lists follow decisions, and the export contains the unchanged decisions.
    let decision = json!([{ "decision": "not_duplicate", "documents": ["b", "c"], "note": "no" }]);
    decide(client, &decision);
    assert_eq!(ids(&lines(client, "/v1/review/removed")), ["a", "d"]);
    assert!(ids(&lines(client, "/v1/review/kept")).contains(&"b".to_owned()));
    let log = lines(client, "/v1/review/decisions");
    assert_eq!((log.len(), &log[0]["decision"]), (1, &json!("not_duplicate")));
    assert_eq!((&log[0]["note"], &log[0]["documents"]), (&json!("no"), &json!(["b", "c"])));
    assert_eq!(ids(&lines(client, "/v1/review/removed?threshold=1")).len(), 0);
    client.get("/v1/review/kept?threshold=2").problem(400, "bad-parameter");
    client.get("/v1/review/decisions?threshold=1").problem(400, "bad-parameter");
}

#[test]
fn groups_follow_decisions() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    let found = groups(client, "");
    assert_eq!(ids_of_groups(&found), ["c: a: b:", "e: d:"]);
    assert_eq!(found["groups_decided"], json!(0));
    let both = json!([
        { "decision": "duplicate", "documents": ["e", "d"], "who": "ann", "note": "same" },
        { "decision": "not_duplicate", "documents": ["b", "c"], "x": 1 },
    ]);
    assert_eq!(decide(client, &both), json!({ "added": 2, "unknown": 0, "last": 2 }));
    // The current list shows the decisions at once. The next list is computed with them.
    let found = client.get("/v1/groups?state=decided").ok(200);
    assert_eq!(ids_of_groups(&found), ["e: d:duplicate"]);
    let found = groups(client, "");
    assert_eq!(ids_of_groups(&found), ["c: a:", "e: d:duplicate"]);
    assert_eq!((&found["groups_total"], &found["groups_decided"]), (&json!(2), &json!(1)));
    assert_eq!(ids_of_groups(&groups(client, "?state=undecided")), ["c: a:"]);
    assert_eq!(ids_of_groups(&groups(client, "?order=doubt")), ["e: d:duplicate", "c: a:"]);
    assert_eq!(ids_of_groups(&groups(client, "?order=similarity")), ["c: a:", "e: d:duplicate"]);
    let listed = client.get("/v1/decisions?limit=1").ok(200);
    let first = &listed["decisions"][0];
    assert_eq!(
        (&first["number"], &first["who"], &first["note"]),
        (&json!(1), &json!("ann"), &json!("same"))
    );
    assert_eq!(first["contents"].as_array().unwrap().len(), 2);
    assert!(first["when"].is_string());
    let next = listed["next"].as_str().unwrap();
    let rest = client.get(&format!("/v1/decisions?after={next}")).ok(200);
    assert_eq!(rest["decisions"][0]["decision"], "not_duplicate");
    assert!(rest.get("next").is_none());

    // A decision is revoked. A pair becomes undecided when one of its texts changes.
    decide(client, &json!([{ "decision": "undecided", "documents": ["c", "b"], "seen": 2 }]));
    assert_eq!(ids_of_groups(&groups(client, "")), ["c: a: b:", "e: d:duplicate"]);
    let changed = "a text about the late harvest of apples in the valley of the river";
    client.put("/v1/documents/d", &json!({ "text": changed })).ok(200);
    assert_eq!(groups(client, "")["groups_decided"], json!(0));
    decide(client, &json!([{ "decision": "keep_all", "documents": ["a", "b", "c"] }]));
    assert!(!ids_of_groups(&groups(client, "")).iter().any(|group| group.starts_with("c:")));
}

/// Returns the total and the decided groups of a review. Groups that decisions have separated count
/// in both.
fn progress(groups: &Value) -> [u64; 2] {
    let [total, decided, dissolved] = ["groups_total", "groups_decided", "groups_dissolved"]
        .map(|name| groups[name].as_u64().unwrap());
    [total + dissolved, decided + dissolved]
}

#[test]
fn a_chosen_keeper_stays_decided() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    assert_eq!(ids_of_groups(&groups(client, "")), ["c: a: b:", "e: d:"]);
    // The page sends two decisions for each choice of another keeper: the pair is a pair of
    // duplicates, and its other document is kept.
    let instead = json!([
        { "decision": "duplicate", "documents": ["c", "a"] },
        { "decision": "keep", "documents": ["a"] },
        { "decision": "duplicate", "documents": ["e", "d"] },
        { "decision": "keep", "documents": ["d"] },
    ]);
    decide(client, &instead);
    let found = groups(client, "");
    assert_eq!(ids_of_groups(&found), ["a:keep b: c:duplicate", "d:keep e:duplicate"]);
    assert_eq!(progress(&found), [2, 1]);
    // Decides the pair with the former keeper, which the page still shows.
    decide(client, &json!([{ "decision": "duplicate", "documents": ["c", "b"] }]));
    let found = groups(client, "");
    assert_eq!(ids_of_groups(&found), ["a:keep b:duplicate c:duplicate", "d:keep e:duplicate"]);
    assert_eq!(progress(&found), [2, 2]);
}

#[test]
fn separated_groups_stay_counted() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    assert_eq!(progress(&groups(client, "")), [2, 0]);
    decide(client, &json!([{ "decision": "not_duplicate", "documents": ["e", "d"] }]));
    // The earlier list counts the group as decided. The next list does not contain it.
    let before = client.get("/v1/groups").ok(200);
    assert_eq!((progress(&before), &before["documents_changed"]), ([2, 1], &json!(false)));
    assert_eq!(before["stale"], json!(true));
    let found = groups(client, "");
    assert_eq!((ids_of_groups(&found), progress(&found)), (vec!["c: a: b:".to_owned()], [2, 1]));
    // If only a part of a group is separated, the rest remains undecided.
    decide(client, &json!([{ "decision": "not_duplicate", "documents": ["c", "b"] }]));
    assert_eq!(progress(&groups(client, "")), [2, 1]);
    decide(client, &json!([{ "decision": "keep_all", "documents": ["c", "a"] }]));
    let found = groups(client, "");
    assert_eq!(progress(&found)[1], 2, "{found}");
    // The decision is revoked, then `keep_all` separates the group again.
    decide(client, &json!([{ "decision": "undecided", "documents": ["e", "d"], "seen": 3 }]));
    assert_eq!(progress(&groups(client, ""))[1], 1);
    decide(client, &json!([{ "decision": "keep_all", "documents": ["e", "d"], "seen": 4 }]));
    assert_eq!(progress(&groups(client, ""))[1], 2);
    put(client, "f", "a text about something else");
    assert_eq!(client.get("/v1/groups").ok(200)["documents_changed"], json!(true));
}

#[test]
fn decisions_record_the_token_name() {
    let served = Served::with(StoredContent::Sets, |config| {
        config.tokens = Tokens::new(vec![
            token(Right::Read, None, READ),
            token(Right::Decide, Some("ann"), ANN),
            token(Right::Write, None, WRITE),
        ]);
    });
    let body = json!({ "decisions": [{ "decision": "keep", "documents": ["a"], "seen": 9 }] });
    let with = |token| served.client.with_token(token);
    served.client.post("/v1/decisions", &body).problem(401, "token-needed");
    put(&with(WRITE), "a", "one");
    let refused = with(READ).post("/v1/decisions", &body);
    let problem = refused.problem(403, "read-only-token");
    assert!(problem["detail"].as_str().unwrap().contains("may decide"), "{problem}");
    assert_eq!(with(ANN).post("/v1/decisions", &body).ok(200)["added"], json!(1));
    with(ANN).put("/v1/documents/a", &json!({ "text": "a" })).problem(403, "read-only-token");
    with(WRITE).post("/v1/decisions", &body).ok(200);
    let other = json!({ "decision": "keep", "documents": ["a"], "who": "bob", "seen": 9 });
    let other = json!({ "decisions": [other] });
    with(WRITE).post("/v1/decisions", &other).ok(200);
    with(ANN).post("/v1/decisions", &other).problem(422, "bad-decision");
    let listed = with(READ).get("/v1/decisions").ok(200);
    let who = |decision: &Value| decision.get("who").cloned();
    let all: Vec<Option<Value>> = listed["decisions"].as_array().unwrap().iter().map(who).collect();
    assert_eq!(all, [Some(json!("ann")), None, Some(json!("bob"))]);
}

#[test]
fn bad_decisions_are_problems() {
    let served = Served::start();
    let client = &served.client;
    for bad in [
        json!({}),
        json!({ "decisions": 7 }),
        json!({ "decisions": [{}] }),
        json!({ "decisions": [{ "decision": "keep" }] }),
        json!({ "decisions": [{ "decision": "keep", "documents": ["a"], "note": 7 }] }),
    ] {
        client.post("/v1/decisions", &bad).problem(400, "bad-member");
    }
    for bad in [
        json!({ "decision": "keep", "documents": [] }),
        json!({ "decision": "keep", "documents": ["a", "b"] }),
        json!({ "decision": "duplicate", "documents": ["a", "a"] }),
        json!({ "decision": "maybe", "documents": ["a"] }),
        json!({ "decision": "keep", "documents": ["a"], "contents": ["1"] }),
        json!({ "decision": "keep", "documents": ["a"], "note": "n".repeat(65_537) }),
        json!({ "decision": "keep", "documents": ["a"], "who": "n".repeat(1_025) }),
        json!({ "decision": "keep", "documents": ["a".repeat(1_048_577)] }),
        json!({ "decision": "keep_all", "documents": vec!["a"; 10_001] }),
    ] {
        let bad = json!({ "decisions": [bad] });
        client.post("/v1/decisions", &bad).problem(422, "bad-decision");
    }
    // All decisions of a request are stored, or none.
    let good = json!({ "decision": "keep", "documents": ["a"] });
    let bad = json!({ "decision": "keep", "documents": [] });
    let both = json!({ "decisions": [good, bad] });
    let problem = client.post("/v1/decisions", &both).problem(422, "bad-decision");
    assert!(problem["detail"].as_str().unwrap().starts_with("decisions[1]"), "{problem}");
    assert_eq!(client.get("/v1/decisions").ok(200)["decisions"], json!([]));
    client
        .post("/v1/decisions", &json!({ "decisions": [], "x": 1 }))
        .problem(400, "unknown-member");
    assert_eq!(decide(client, &json!([]))["last"], json!(0));
    put(client, "a", "one");
    let note = "é".repeat(32_768);
    decide(client, &json!([{ "decision": "keep", "documents": ["a"], "note": note }]));
    assert_eq!(client.get("/v1/decisions").ok(200)["decisions"][0]["note"], json!(note));
    for query in ["after=x", "after=-1", "after=%2B1", "limit=0", "limit=10001", "x=1"] {
        client.get(&format!("/v1/decisions?{query}")).problem(400, "bad-parameter");
    }
    for query in ["state=x", "order=x"] {
        client.get(&format!("/v1/groups?{query}")).problem(400, "bad-parameter");
    }
    let only_read = Served::with(StoredContent::Texts, |config| config.writable = false);
    only_read.client.post("/v1/decisions", &json!({ "decisions": [] })).problem(403, "read-only");
}

/// If two people decide at the same time, the server records both decisions in turn. The table of
/// agreement counts their disagreements.
#[test]
fn two_people_decide_at_once() {
    const EACH: usize = 40;
    let served = served_to_two();
    fill(&served.client.with_token(WRITE));
    let threads = [(ANN, "duplicate"), (BOB, "not_duplicate")].map(|(value, decision)| {
        let client = served.client.with_token(value);
        std::thread::spawn(move || {
            // Each person decides again after the last decision of the other.
            let (mut seen, mut stored) = (0, 0);
            while stored < EACH {
                let decision_body =
                    json!({ "decision": decision, "documents": ["a", "c"], "seen": seen });
                let answer = client.post("/v1/decisions", &json!({ "decisions": [decision_body] }));
                if answer.status == 200 {
                    (seen, stored) = (answer.json()["last"].as_u64().unwrap(), stored + 1);
                } else {
                    let problem = answer.problem(409, "decision-conflict");
                    seen = problem["conflicts"][0]["current"]["number"].as_u64().unwrap();
                }
            }
        })
    });
    for thread in threads {
        thread.join().unwrap();
    }
    let ann = served.client.with_token(ANN);
    let all = ann.get("/v1/decisions").ok(200);
    let all = all["decisions"].as_array().unwrap();
    let numbers: Vec<u64> = all.iter().map(|item| item["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=2 * EACH as u64).collect::<Vec<_>>());
    let of = |name: &str| all.iter().filter(|item| item["who"] == name).count();
    assert_eq!((of("ann"), of("bob")), (EACH, EACH));
    let found = ann.get("/v1/agreement").ok(200);
    assert_eq!(found["disputed_total"], 1);
    // The last decision applies to the groups.
    let is_duplicate = all.last().unwrap()["decision"] == "duplicate";
    let removed = lines(&ann, "/v1/review/removed");
    assert_eq!(removed.iter().any(|item| item["id"] == "a" && item["keeper"] == "c"), is_duplicate);
}

/// Two people judge the same pairs.
#[test]
fn agreement_is_counted_by_token_name() {
    let served = served_to_two();
    let writer = served.client.with_token(WRITE);
    fill(&writer);
    let [ann, bob] = [ANN, BOB].map(|value| served.client.with_token(value));
    assert_eq!(ann.get("/v1/agreement").ok(200)["people"], json!([]));
    let pair = |decision: &str, pair: [&str; 2]| {
        let seen = 99;
        json!([{ "decision": decision, "documents": pair, "seen": seen }])
    };
    decide(&ann, &pair("duplicate", ["a", "b"]));
    decide(&ann, &pair("duplicate", ["a", "c"]));
    decide(&bob, &pair("not_duplicate", ["b", "a"]));
    decide(&bob, &pair("duplicate", ["c", "a"]));
    decide(&writer, &pair("not_duplicate", ["c", "a"]));
    let found = bob.get("/v1/agreement").ok(200);
    let expected = json!([{
        "people": ["ann", "bob"], "pairs": 2, "both_duplicate": 1, "both_not_duplicate": 0,
        "only_first_duplicate": 1, "only_second_duplicate": 0, "kappa": 0.0,
    }]);
    assert_eq!(found["people"], expected);
    let disputed = json!([{
        "documents": ["a", "b"], "duplicate": ["ann"], "not_duplicate": ["bob"],
    }]);
    assert_eq!((&found["disputed"], &found["disputed_total"]), (&disputed, &json!(1)));
    bob.get("/v1/agreement?limit=0").problem(400, "bad-parameter");
    // Disputed pairs are listed page by page.
    for (a, b) in [("a", "d"), ("b", "c")] {
        decide(&ann, &pair("duplicate", [a, b]));
        decide(&bob, &pair("not_duplicate", [a, b]));
    }
    let (mut path, mut pages) = ("/v1/agreement?limit=1".to_owned(), Vec::new());
    loop {
        let page = bob.get(&path).ok(200);
        assert_eq!(page["disputed_total"], 3);
        pages.push(page["disputed"][0]["documents"].clone());
        let Some(next) = page.get("next") else { break };
        path = format!("/v1/agreement?limit=1&after={}", next.as_str().unwrap());
    }
    assert_eq!(pages, [json!(["a", "b"]), json!(["a", "d"]), json!(["b", "c"])]);
    for wrong in ["x", "6-61", "61-6g", "61", "-61", "%7B", ""] {
        bob.get(&format!("/v1/agreement?after={wrong}")).problem(400, "bad-parameter");
    }
}

/// If a client has not seen the last decision, the server stores nothing and answers with the
/// current state.
#[test]
fn unseen_decisions_are_not_overwritten() {
    let served = served_to_two();
    fill(&served.client.with_token(WRITE));
    let [ann, bob] = [ANN, BOB].map(|value| served.client.with_token(value));
    let body_of = |decision: &str, documents: Value, seen: u64| {
        let decision = decision.to_owned();
        json!({ "decision": decision, "documents": documents, "seen": seen })
    };
    let seen = groups(&ann, "")["last_decision"].as_u64().unwrap();
    decide(&ann, &json!([body_of("duplicate", json!(["c", "a"]), seen)]));
    let last =
        decide(&bob, &json!([body_of("not_duplicate", json!(["a", "c"]), 1)]))["last"].clone();
    // Ann sends two decisions. One revokes her decision about a pair that Bob has decided since.
    let rest =
        [body_of("duplicate", json!(["e", "d"]), seen), body_of("undecided", json!(["c", "a"]), 1)];
    let refused = ann.post("/v1/decisions", &json!({ "decisions": rest }));
    let problem = refused.problem(409, "decision-conflict");
    let current = &problem["conflicts"][0]["current"];
    assert_eq!(problem["conflicts_total"], 1);
    assert_eq!(problem["conflicts"][0]["position"], 1);
    assert_eq!(problem["conflicts"][0]["documents"], json!(["a", "c"]));
    assert_eq!((&current["number"], &current["who"]), (&last, &json!("bob")));
    assert_eq!(current["decision"], "not_duplicate");
    assert!(current["when"].is_string());
    assert_eq!(ann.get("/v1/decisions").ok(200)["decisions"].as_array().unwrap().len(), 2);
    // Without `seen`, the server stores only the first decision about a pair.
    let body = json!({ "decisions": [{ "decision": "duplicate", "documents": ["c", "a"] }] });
    ann.post("/v1/decisions", &body).problem(409, "decision-conflict");
    decide(&ann, &json!([body_of("undecided", json!(["c", "a"]), last.as_u64().unwrap())]));
    assert_eq!(groups(&ann, "")["last_decision"], 3);
}

#[test]
fn decisions_about_unknown_documents_are_refused() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    let body_of = |documents: [&str; 2]| json!({ "decision": "duplicate", "documents": documents });
    let body = json!({ "decisions": [body_of(["a", "b"]), body_of(["x", "a"])] });
    let problem = client.post("/v1/decisions", &body).problem(409, "decision-conflict");
    let conflict = json!({ "position": 1, "documents": ["a", "x"] });
    assert_eq!(problem["conflicts"], json!([conflict]));
    assert_eq!(client.get("/v1/decisions").ok(200)["decisions"], json!([]));
}

#[test]
fn decision_pages_are_bounded_by_bytes() {
    const DECISIONS: u64 = 600;
    let served = Served::start();
    let client = &served.client;
    fill(client);
    let note = "n".repeat(65_536);
    for from in (0..DECISIONS).step_by(200) {
        let entry = json!({ "decision": "keep", "documents": ["a"], "note": note, "seen": from });
        decide(client, &json!(vec![entry; 200]));
    }
    let (mut path, mut numbers) = ("/v1/decisions?limit=10000".to_owned(), Vec::new());
    loop {
        let answer = client.get(&path);
        assert!(answer.body.len() < 17 << 20, "{}", answer.body.len());
        let page = answer.ok(200);
        let decisions = page["decisions"].as_array().unwrap();
        numbers.extend(decisions.iter().map(|item| item["number"].as_u64().unwrap()));
        let Some(next) = page.get("next") else { break };
        path = format!("/v1/decisions?limit=10000&after={}", next.as_str().unwrap());
    }
    assert_eq!(numbers, (1..=DECISIONS).collect::<Vec<_>>());
}

/// Decisions in force may use only a part of the memory for requests.
#[test]
fn decisions_in_force_are_bounded() {
    let served = Served::with(StoredContent::Texts, |config| {
        config.limits.body_bytes = 64 << 10;
        config.limits.held_bytes = 256 << 10;
    });
    let client = &served.client;
    for id in 0..30 {
        put(client, &format!("{id}"), &format!("a text with the number {id} in it"));
    }
    let pairs = (0..30).flat_map(|a| (0..a).map(move |b| [format!("{a}"), format!("{b}")]));
    let pair = |documents: [String; 2]| {
        let entry = json!({ "decision": "not_duplicate", "documents": documents });
        json!({ "decisions": [entry] })
    };
    let answers: Vec<Answer> =
        pairs.map(|documents| client.post("/v1/decisions", &pair(documents))).collect();
    let stored = answers.iter().take_while(|answer| answer.status == 200).count();
    assert!((100..400).contains(&stored), "{stored}");
    answers[stored].problem(507, "decisions-full");
    // Revoking a decision makes room, and groups can still be computed.
    let revoked = json!([{ "decision": "undecided", "documents": ["1", "0"], "seen": 1 }]);
    decide(client, &revoked);
    client.post("/v1/decisions", &pair(["29", "28"].map(str::to_owned))).ok(200);
    groups(client, "");
}

#[test]
fn decisions_are_compacted_by_upkeep() {
    let served = Served::start();
    let client = &served.client;
    fill(client);
    for (seen, decision) in
        ["duplicate", "not_duplicate", "undecided", "duplicate"].iter().enumerate()
    {
        decide(client, &json!([{ "decision": decision, "documents": ["e", "d"], "seen": seen }]));
    }
    client.post("/v1/upkeep", &json!({ "job": "compact-decisions" })).ok(202);
    let is_done = |answer: &Answer| answer.json()["jobs"][0]["state"] != "running";
    let job = when(client, "/v1/upkeep", is_done).ok(200)["jobs"][0].clone();
    assert_eq!((&job["removed"], &job["left"]), (&json!(3), &json!(1)));
    let left = client.get("/v1/decisions").ok(200);
    assert_eq!(
        (&left["decisions"][0]["number"], left["decisions"][0]["decision"].as_str()),
        (&json!(4), Some("duplicate"))
    );
    assert_eq!(ids_of_groups(&groups(client, "?state=decided")), ["e: d:duplicate"]);
}
