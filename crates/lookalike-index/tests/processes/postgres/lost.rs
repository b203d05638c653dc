//! Connections that end during a batch and between calls.

use super::{WRITE, postgres_open};
use crate::conformance::documents::{Document, Maker, settings};
use crate::conformance::{assert_clean, now, page};
use lookalike_index::IndexError;
use lookalike_index::backend::Change;
use lookalike_index::postgres;
use lookalike_index::settings::StoredContent;
use lookalike_test_support::postgres_server::{PostgresServer, drop_index, server, skipped};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

fn documents(count: u64) -> Vec<Document> {
    let mut maker = Maker::new(&settings(StoredContent::Sets), 3);
    (0..count).map(|i| maker.document(&format!("d{i}"), i % 4)).collect()
}

fn puts(documents: &[Document]) -> Vec<Change<'_>> {
    documents.iter().map(Document::put).collect()
}

/// Ends the sessions that satisfy an SQL condition, as soon as there is one.
fn end_who_waits(server: &PostgresServer, how: &str) {
    let mut client = server.client();
    let sql = format!(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE application_name = 'lookalike' AND {how}"
    );
    let started = Instant::now();
    while client.query_one(&sql, &[]).unwrap().get::<_, i64>(0) == 0 {
        assert!(started.elapsed() < PATIENCE, "nobody waits");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn assert_transient<T: std::fmt::Debug>(result: Result<T, IndexError>, says: &str) {
    match result {
        Err(IndexError::Database { transient: true, why, .. }) => {
            assert!(why.contains(says), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

/// Starts a separate server, because the tests find sessions by their state.
fn own() -> Option<PostgresServer> {
    if !server()?.is_own() {
        skipped("sessions are ended on a server of the test's own only");
        return None;
    }
    Some(PostgresServer::start().unwrap())
}

#[test]
fn lost_session_rolls_back_the_batch() {
    let Some(server) = own() else { return };
    let url = server.index("lost in a batch");
    let backend = postgres::create(&url, &settings(StoredContent::Sets)).unwrap();
    let before = documents(30);
    backend.write(&puts(&before[..10])).unwrap();
    let stored = now(&*backend);
    for table in ["state", "docs", "bands"] {
        // The lock stops the batch at this table.
        let mut client = server.client();
        client.batch_execute("SET search_path TO \"lost in a batch\"; BEGIN").unwrap();
        client.batch_execute(&format!("LOCK TABLE {table} IN EXCLUSIVE MODE")).unwrap();
        std::thread::scope(|scope| {
            let write = scope.spawn(|| backend.write(&puts(&before)));
            end_who_waits(&server, "wait_event_type = 'Lock'");
            if table == "state" {
                // A batch that has not begun is retried once on another connection.
                end_who_waits(&server, "wait_event_type = 'Lock'");
            }
            assert_transient(write.join().unwrap(), "");
        });
        client.batch_execute("ROLLBACK").unwrap();
        assert_eq!(now(&*backend), stored, "{table}");
        assert_clean(&*backend);
    }
    backend.write(&puts(&before)).unwrap();
    assert_eq!(now(&*backend).len(), 30);
    assert_clean(&*backend);
    drop(backend);
    drop_index(&server, &url);
}

#[test]
fn lost_idle_sessions_are_replaced() {
    let Some(server) = own() else { return };
    let url = server.index("lost idle");
    let backend = postgres::create(&url, &settings(StoredContent::Sets)).unwrap();
    let all = documents(9);
    for (round, part) in all.chunks(3).enumerate() {
        let both = (backend.snapshot().unwrap(), backend.snapshot().unwrap());
        drop(both);
        end_who_waits(&server, "state = 'idle'");
        backend.write(&puts(part)).unwrap();
        end_who_waits(&server, "state = 'idle'");
        assert_eq!(now(&*backend).len(), 3 * round + 3);
    }
    let mut snapshot = backend.snapshot().unwrap();
    end_who_waits(&server, "state = 'idle in transaction'");
    assert_transient(snapshot.number_of("d1"), "");
    drop(snapshot);
    assert!(backend.snapshot().unwrap().number_of("d1").unwrap().is_some());
    drop(backend);
    drop_index(&server, &url);
}

#[test]
fn lost_commits_report_their_outcome() {
    let Some(server) = own() else { return };
    let url = server.index("lost commit");
    let backend = postgres::create(&url, &settings(StoredContent::Sets)).unwrap();
    let all = documents(20);
    backend.write(&puts(&all[..5])).unwrap();
    let mut client = server.client();

    // The session ends before the commit takes effect.
    let slow = "SET search_path TO \"lost commit\"; \
                CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql \
                AS 'BEGIN PERFORM pg_sleep(100); RETURN NULL; END'; \
                CREATE CONSTRAINT TRIGGER slow AFTER UPDATE ON state \
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()";
    client.batch_execute(slow).unwrap();
    std::thread::scope(|scope| {
        let write = scope.spawn(|| backend.write(&puts(&all)));
        end_who_waits(&server, "wait_event = 'PgSleep'");
        assert_transient(write.join().unwrap(), "nothing of the batch is stored");
    });
    client.batch_execute("DROP TRIGGER slow ON state").unwrap();
    assert_eq!(now(&*backend).len(), 5);

    let done = AtomicBool::new(false);
    // The session ends after the commit takes effect, while the server waits for a standby server
    // before it reports success.
    let standby = "ALTER SYSTEM SET synchronous_standby_names = 'nobody'";
    client.batch_execute(standby).unwrap();
    client.batch_execute("SELECT pg_reload_conf()").unwrap();
    std::thread::scope(|scope| {
        // The server applies the setting a little later, so some batches may succeed before.
        let write = scope.spawn(|| {
            while !done.load(Ordering::Acquire) {
                assert_eq!(backend.write(&puts(&all)).unwrap().len(), 20);
            }
        });
        end_who_waits(&server, "wait_event = 'SyncRep'");
        client.batch_execute("ALTER SYSTEM RESET synchronous_standby_names").unwrap();
        client.batch_execute("SELECT pg_reload_conf()").unwrap();
        done.store(true, Ordering::Release);
        write.join().unwrap();
    });
    assert_eq!(now(&*backend).len(), 20);
    assert_clean(&*backend);
}

#[test]
fn lost_compaction_commits_report_their_outcome() {
    let Some(server) = own() else { return };
    let url = server.index("lost compaction");
    let settings = settings(StoredContent::Originals);
    let backend = postgres::create(&url, &settings).unwrap();
    let mut maker = Maker::new(&settings, 3);
    let [base, other] = ["base", "other"].map(|id| page(&mut maker, id, 3));
    backend.write(&[base.put()]).unwrap();
    backend.write(&[other.put()]).unwrap();
    backend.write(&[Change::Remove("base")]).unwrap();
    let slow = "SET search_path TO \"lost compaction\"; \
                CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql \
                AS 'BEGIN PERFORM pg_sleep(100); RETURN NULL; END'; \
                CREATE CONSTRAINT TRIGGER slow AFTER DELETE ON originals \
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION slow()";
    let mut client = server.client();
    client.batch_execute(slow).unwrap();
    std::thread::scope(|scope| {
        let compaction = scope.spawn(|| backend.compact(0));
        end_who_waits(&server, "wait_event = 'PgSleep'");
        assert_transient(compaction.join().unwrap(), "nothing of the batch is stored");
    });
    client.batch_execute("DROP TRIGGER slow ON originals").unwrap();
    backend.compact(0).unwrap();
    assert_eq!(backend.stats().unwrap().originals.unwrap().originals, 1);
    assert_clean(&*backend);
    drop(backend);
    drop_index(&server, &url);
}

#[test]
fn statement_timeouts_are_transient_errors() {
    let Some(server) = server() else { return };
    let url = server.fresh();
    drop(postgres::create(&url, &settings(StoredContent::Sets)).unwrap());
    // In milliseconds. Long enough for every statement that is not blocked, also on a busy machine.
    let limited = format!("{url}&options=-c%20statement_timeout%3D5000");
    let backend = postgres_open(&limited, WRITE);
    let name = url.rsplit("index=").next().unwrap();
    let mut client = server.client();
    client.batch_execute(&format!("SET search_path TO \"{name}\"; BEGIN")).unwrap();
    client.batch_execute("LOCK TABLE docs IN ACCESS EXCLUSIVE MODE").unwrap();
    let result = backend.write(&puts(&documents(2)));
    assert_transient(result, "statement timeout");
    client.batch_execute("ROLLBACK").unwrap();
    backend.write(&puts(&documents(2))).unwrap();
    drop(backend);
    drop_index(server, &url);
}

#[test]
fn refused_connections_are_transient_errors() {
    let url = "postgres://ann:s3cret@127.0.0.1:9/news?index=a";
    let error = postgres::open(url, WRITE).err().unwrap();
    assert!(!error.to_string().contains("s3cret"), "{error}");
    assert_transient::<()>(Err(error), "refused");
}
