//! A PostgreSQL server for tests. If `DATABASE_URL` is set, tests use its server. Otherwise the
//! test process starts an installed server in a temporary folder, and stops it at the end.

use crate::skipped::print_skipped;
use parking_lot::Mutex;
use postgres::{Client, NoTls};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Maximum time for the start of a server.
const PATIENCE: Duration = Duration::from_secs(60);

/// The number in the name of the next index. It makes names unique in this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Returns the server for this process. A server that the process started stops when the process
/// ends. If no server can be started, prints `SKIPPED` for each caller and returns `None`.
pub fn server() -> Option<&'static PostgresServer> {
    static SERVER: OnceLock<Result<PostgresServer, String>> = OnceLock::new();
    let server = SERVER.get_or_init(PostgresServer::find).as_ref();
    server.inspect_err(|reason| skipped(reason)).ok()
}

/// A server with a database for the indexes of tests.
pub struct PostgresServer {
    /// The address of a database without an index.
    base: String,
    /// The processes of the watcher and of the server. The watcher stops the server after the end
    /// of this process, even if this process was killed. `None` with `DATABASE_URL`.
    watcher: Option<Mutex<[Child; 2]>>,
}

impl PostgresServer {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests read the address of a server from the environment"
    )]
    fn find() -> Result<Self, String> {
        if let Ok(base) = std::env::var("DATABASE_URL") {
            return Ok(Self { base, watcher: None });
        }
        if !cfg!(unix) {
            return Err("tests start a server on Unix only".to_owned());
        }
        Self::start()
    }

    /// Starts a server as the user of this process. For root, starts it as an unprivileged user,
    /// because PostgreSQL refuses to run as root.
    ///
    /// # Errors
    /// If the programs of the server are absent, cannot be run, or fail. The error
    /// contains their output.
    pub fn start() -> Result<Self, String> {
        Self::start_with(&["listen_addresses="], &|_, _| {})
    }

    /// Like [`start`](Self::start), with more settings of the form `name=value`. Calls `prepare`
    /// before the server starts, with the data folder and, if another user runs the server, the id
    /// of this user.
    ///
    /// # Errors
    /// Errors of [`start`](Self::start).
    pub fn start_with(more: &[&str], prepare: &dyn Fn(&Path, Option<u32>)) -> Result<Self, String> {
        // The data need not survive a crash of the machine.
        let settings = ["fsync=off", "shared_buffers=64MB", "autovacuum=off"];
        let programs =
            programs().ok_or("neither DATABASE_URL nor initdb and postgres were found")?;
        let user = unprivileged()?;
        let run = |program: &str| {
            let mut command = Command::new("setpriv");
            match &user {
                Some(user) => {
                    let ids = [format!("--reuid={user}"), format!("--regid={user}")];
                    command.args(ids).arg("--clear-groups").arg(programs.join(program));
                }
                None => command = Command::new(programs.join(program)),
            }
            command
        };
        let folder = tempfile::Builder::new().prefix("lookalike-pg-").tempdir();
        let folder = folder.map_err(|error| error.to_string())?.keep();
        open_to_all(&folder).map_err(|error| error.to_string())?;
        let data = folder.join("data");
        let initdb = run("initdb")
            .arg("-D")
            .arg(&data)
            .args(["-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale", "C"])
            .current_dir(&folder)
            .output();
        match initdb {
            Ok(output) if output.status.success() => {}
            Ok(output) => return Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => return Err(format!("initdb cannot be started: {error}")),
        }
        let log = std::fs::File::create(folder.join("log")).map_err(|error| error.to_string())?;
        let mut server = run("postgres");
        prepare(&data, user.as_ref().and_then(|user| user.parse().ok()));
        server.arg("-D").arg(&data).arg("-k").arg(&folder);
        server.args(["-c", "max_connections=200"]);
        for setting in settings.iter().chain(more) {
            server.args(["-c", setting]);
        }
        server.current_dir(&folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let mut server = server.spawn().map_err(|error| format!("postgres: {error}"))?;
        let watcher = watch(&server, &folder)?;
        let base = format!("postgres:///postgres?host={}&user=postgres", folder.display());
        let port = more.iter().find_map(|setting| setting.strip_prefix("port="));
        let port = port.map(|port| format!("&port={port}"));
        let base = base + port.as_deref().unwrap_or_default();
        wait_for(&base, &mut server, &folder)?;
        Ok(Self { base, watcher: Some(Mutex::new([watcher, server])) })
    }

    /// Returns true if this process started the server.
    pub fn is_own(&self) -> bool {
        self.watcher.is_some()
    }

    /// Returns the address of an index that no other test uses.
    pub fn fresh(&self) -> String {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.index(&format!("test {} {number}", std::process::id()))
    }

    /// Returns the address of the index with this name.
    pub fn index(&self, name: &str) -> String {
        let name = name.replace('%', "%25").replace('&', "%26").replace('#', "%23");
        let sign = if self.base.contains('?') { '&' } else { '?' };
        format!("{}{sign}index={name}", self.base)
    }

    /// Returns the folder of the server's socket and data. Only for servers that
    /// this process started.
    pub fn folder(&self) -> &str {
        self.base.split("host=").nth(1).unwrap().split('&').next().unwrap()
    }

    /// Connects to the database, for changes that bypass an index.
    pub fn client(&self) -> Client {
        Client::connect(&self.base, NoTls).unwrap()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let Some(watcher) = &self.watcher else { return };
        let [watcher, server] = &mut *watcher.lock();
        // The watcher stops the server at the end of its input.
        drop(watcher.stdin.take());
        let _ = server.wait();
        let _ = watcher.wait();
    }
}

/// Reports that a test is skipped because PostgreSQL cannot be used.
pub fn skipped(why: &str) {
    print_skipped(&format!("PostgreSQL: {why}"));
}

/// Removes an index that a test created.
pub fn drop_index(server: &PostgresServer, url: &str) {
    let name = url.rsplit("index=").next().unwrap();
    let name = name.replace("%26", "&").replace("%23", "#").replace("%25", "%");
    let sql = format!("DROP SCHEMA IF EXISTS \"{}\" CASCADE", name.replace('"', "\"\""));
    server.client().batch_execute(&sql).unwrap();
}

/// Finds the folder of the server's programs: `TEST_POSTGRESQL`, or the folder of the newest
/// installed version.
#[expect(clippy::disallowed_methods, reason = "the folder of the programs is in the environment")]
fn programs() -> Option<PathBuf> {
    let has_server =
        |folder: &PathBuf| ["initdb", "postgres"].iter().all(|name| folder.join(name).exists());
    if let Some(folder) = std::env::var_os("TEST_POSTGRESQL") {
        return Some(PathBuf::from(folder)).filter(has_server);
    }
    let mut folders: Vec<(u32, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten() {
        let number = entry.file_name().to_string_lossy().parse().unwrap_or(0);
        folders.push((number, entry.path().join("bin")));
    }
    folders.sort();
    let mut all: Vec<PathBuf> = folders.into_iter().rev().map(|(_, folder)| folder).collect();
    all.extend(["/usr/local/bin", "/usr/local/pgsql/bin", "/usr/bin"].map(PathBuf::from));
    all.into_iter().find(has_server)
}

/// Returns the id of the user for the server if this process runs as root. Returns `None` if the
/// server can run as the user of this process.
fn unprivileged() -> Result<Option<String>, String> {
    let output = Command::new("id").arg("-u").output().map_err(|error| format!("id: {error}"))?;
    if String::from_utf8_lossy(&output.stdout).trim() != "0" {
        return Ok(None);
    }
    if Command::new("setpriv").arg("--version").output().is_err() {
        return Err("root may not run it, and setpriv was not found".to_owned());
    }
    // The user id of `nobody` on every system that has this user.
    Ok(Some("65534".to_owned()))
}

/// Allows every user to write to a folder.
#[cfg(unix)]
fn open_to_all(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777))
}

/// Does nothing, because the server runs as the same user.
#[cfg(not(unix))]
fn open_to_all(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Starts the watcher: a process that waits until the pipe from this process is closed, then stops
/// the server and removes its folder. It also does this if this process was killed.
fn watch(server: &Child, folder: &Path) -> Result<Child, String> {
    let script = "cat >/dev/null; kill -QUIT \"$1\" 2>/dev/null; \
                  for i in 1 2 3 4 5 6 7 8 9; do kill -0 \"$1\" 2>/dev/null || break; \
                  sleep 0.1; done; rm -rf \"$2\"";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh", &server.id().to_string()]).arg(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map_err(|error| format!("sh: {error}"))
}

/// Waits until the server accepts connections. Fails if the server ends before, or after
/// [`PATIENCE`].
fn wait_for(base: &str, server: &mut Child, folder: &Path) -> Result<(), String> {
    let begun = Instant::now();
    loop {
        match Client::connect(base, NoTls) {
            Ok(_) => return Ok(()),
            Err(error) if begun.elapsed() > PATIENCE || !matches!(server.try_wait(), Ok(None)) => {
                let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
                return Err(format!("it does not start: {error}\n{log}"));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}
