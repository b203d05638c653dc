//! An index over HTTP, with a web page.

mod config_sources;
mod index_places;
mod settings;

use crate::cmd::{CommandError, CommandResult};
use crate::exit_code::ExitCode;
use crate::extraction::WorkerOption;
use crate::index_place::place;
use crate::output::terminal;
use config_sources::ConfigSources;
use lookalike::store::index::{Access, IndexLocation, open};
use lookalike_server::StartError;
use lookalike_server::{IndexName, ServedIndex, Server, StopHandle, StopOutcome};
use std::io::Write;
use std::path::{Path, PathBuf};

const EXAMPLE: &str = "\
Examples:
  lookalike serve news                      http://127.0.0.1:8377, only locally
  lookalike serve news --listen 0.0.0.0:8377 --token-file tokens
  lookalike serve news --config serve.toml --print-config
  lookalike serve --index news=/srv/news --index mail=/srv/mail

docs/reference/http.md describes the API. Each option can also be set in a TOML file (`max-body = \
\"64MiB\"`, --config) or in the environment (LOOKALIKE_MAX_BODY). Options override the \
environment, and the environment overrides the file.

Tokens can be in the TOML file (`read-tokens`, `write-tokens`), in the environment \
(LOOKALIKE_WRITE_TOKENS, with commas between them) or in a file of their own (--token-file).";

/// Serves an index over HTTP, with a web page
#[derive(clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct ServeArgs {
    /// The index: a folder, or postgres://… where `lookalike --version` lists PostgreSQL
    #[arg(value_name = "INDEX")]
    only: Option<String>,
    /// An index and its name in addresses, without INDEX. Repeat it for several indexes; addresses
    /// without a name mean the first
    #[arg(long = "index", value_name = "NAME=PLACE", conflicts_with = "only")]
    indexes: Vec<String>,
    /// A TOML file with any of these options
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print what is in effect and where it comes from, and do nothing else
    #[arg(long)]
    print_config: bool,
    #[command(flatten)]
    flags: ServeFlags,
}

/// Options that a file or the environment can also set. All values are texts here, because one
/// parser reads them from every origin.
#[derive(clap::Args)]
struct ServeFlags {
    /// Where to listen [default: 127.0.0.1:8377]
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<String>,
    /// A name of the server, as clients know it; may be repeated
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// A file of tokens, as `lookalike token` writes it; read again on SIGHUP
    #[arg(long, value_name = "FILE")]
    token_file: Option<String>,
    /// The certificate of the server, with those that signed it, in PEM; read again on SIGHUP
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<String>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE")]
    tls_key: Option<String>,
    /// Take no documents and remove none
    #[arg(long)]
    read_only: bool,
    /// Which document of a group is kept: a rule of `index groups --keep`, which may be repeated,
    /// such as `--keep name --keep longest` for ids that are paths of files [default: longest]
    #[arg(long, value_name = "RULE")]
    keep: Vec<String>,
    /// The folder that backups over HTTP are made in; without it, none are
    #[arg(long, value_name = "FOLDER")]
    backup_dir: Option<String>,
    /// The folder of what waits to be sent to webhooks, and of answers for idempotency keys
    /// [default: the index; memory for PostgreSQL]
    #[arg(long, value_name = "FOLDER")]
    state_dir: Option<String>,
    /// An address that messages about new near-duplicates are sent to; may be repeated
    #[arg(long, value_name = "URL")]
    webhook: Vec<String>,
    /// A file with the secret that messages are signed with: `whsec_` and random bytes in base64
    #[arg(long, value_name = "FILE")]
    webhook_secret_file: Option<String>,
    /// The least similarity of messages [default: threshold of the index]
    #[arg(long, value_name = "SIMILARITY")]
    webhook_threshold: Option<String>,
    /// How requests are logged on standard error: text, json or off [default: text]
    #[arg(long, value_name = "FORMAT")]
    log: Option<String>,
    /// The largest body of a request, and the longest line of many documents [default: 64MiB]
    #[arg(long, value_name = "SIZE")]
    max_body: Option<String>,
    /// The longest text [default: 32MiB]
    #[arg(long, value_name = "SIZE")]
    max_text: Option<String>,
    /// The most memory for all bodies at once [default: 512MiB]
    #[arg(long, value_name = "SIZE")]
    max_held: Option<String>,
    /// Threads that do the work [default: twice as many as processors]
    #[arg(long, value_name = "N")]
    workers: Option<String>,
    /// Requests that may wait for a thread; more are refused with Retry-After [default: 256]
    #[arg(long, value_name = "N")]
    queue: Option<String>,
    /// Connections at once [default: 1000]
    #[arg(long, value_name = "N")]
    max_connections: Option<String>,
    /// The longest time for an answer, such as 30s or 500ms [default: 30s]
    #[arg(long, value_name = "TIME")]
    request_time: Option<String>,
    /// The longest time for the head of a request [default: 10s]
    #[arg(long, value_name = "TIME")]
    head_time: Option<String>,
    /// The longest pause within a body [default: 10s]
    #[arg(long, value_name = "TIME")]
    idle_time: Option<String>,
    /// How long a list of groups is kept for the pages that follow, after each page [default: 5min]
    #[arg(long, value_name = "TIME")]
    cursor_time: Option<String>,
    /// How long requests under way may take when the server is stopped [default: 30s]
    #[arg(long, value_name = "TIME")]
    grace: Option<String>,
    /// How long to wait for another process that writes to the index [default: 5s]
    #[arg(long, value_name = "TIME")]
    wait: Option<String>,
}

impl ServeFlags {
    /// Names and values of the options in use.
    fn values(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("listen", &self.listen),
            ("token-file", &self.token_file),
            ("tls-cert", &self.tls_cert),
            ("tls-key", &self.tls_key),
            ("backup-dir", &self.backup_dir),
            ("state-dir", &self.state_dir),
            ("webhook-secret-file", &self.webhook_secret_file),
            ("webhook-threshold", &self.webhook_threshold),
            ("log", &self.log),
            ("max-body", &self.max_body),
            ("max-text", &self.max_text),
            ("max-held", &self.max_held),
            ("workers", &self.workers),
            ("queue", &self.queue),
            ("max-connections", &self.max_connections),
            ("request-time", &self.request_time),
            ("head-time", &self.head_time),
            ("idle-time", &self.idle_time),
            ("cursor-time", &self.cursor_time),
            ("grace", &self.grace),
            ("wait", &self.wait),
        ];
        let values = all.into_iter().filter_map(|(name, value)| Some((name, value.clone()?)));
        let lists = [("host", &self.host), ("keep", &self.keep), ("webhook", &self.webhook)];
        let lists = lists.into_iter().filter(|(_, values)| !values.is_empty());
        let lists = lists.map(|(name, values)| (name, values.join(",")));
        let read_only = self.read_only.then(|| ("read-only", "true".to_owned()));
        values.chain(lists).chain(read_only).collect()
    }
}

/// Serves until it is stopped.
pub(crate) fn run(args: &ServeArgs, worker: WorkerOption<'_>) -> CommandResult {
    let environment = std::env::vars_os().filter_map(|(name, value)| {
        let name =
            name.into_string().ok().filter(|name| name.starts_with(config_sources::PREFIX))?;
        // Variables with this prefix are for the clients of a service.
        if name.starts_with("LOOKALIKE_SERVICE_") {
            return None;
        }
        Some((name, value.to_string_lossy().into_owned()))
    });
    let mut flags = args.flags.values();
    if !args.indexes.is_empty() {
        flags.push(("index", args.indexes.join("\n")));
    }
    let layers = ConfigSources::collect(flags, environment, args.config.as_deref())?;
    for name in &layers.unknown {
        let warning = format!("warning: {name} is ignored, because `serve` has no such option");
        terminal::stderr().message(&warning)?;
    }
    let mut settings = settings::read(&layers)?;
    settings.config.extract.worker = worker.cloned();
    for warning in &settings.warnings {
        terminal::stderr().message(&format!("warning: {warning}"))?;
    }
    if args.print_config {
        write!(terminal::stdout(), "{}", layers.to_toml())?;
        return Ok(ExitCode::SUCCESS);
    }
    settings.config.check().map_err(|error| CommandError::Usage(error.to_string()))?;
    let writable = settings.config.writable;
    let wait = settings.wait;
    let access = || if writable { Access::Write { wait } } else { Access::Read };
    let scheme = if settings.config.tls.is_some() { "https" } else { "http" };
    let mut indexes = Vec::new();
    let mut served = Vec::new();
    for (name, text) in index_places::read(args.only.as_deref(), &layers)? {
        let location = place(&text)?;
        let index = open(&location, access())?;
        let path = name.as_ref().map(|name| format!("/v1/indexes/{name}"));
        served.push((index.name().to_owned(), path.unwrap_or_default()));
        let served_index = match name {
            Some(name) => ServedIndex::named(name, index),
            None => ServedIndex::only(index),
        };
        indexes.push(
            match state_file(&location, served_index.name(), settings.state_dir.as_deref()) {
                Some(file) => served_index.with_state(file),
                None => served_index,
            },
        );
    }
    let server = Server::bind_all(indexes, settings.config).map_err(failed)?;
    let address = server.address();
    let mut out = terminal::stdout();
    for (name, path) in served {
        out.message(&format!("{name} is served at {scheme}://{address}{path}"))?;
    }
    out.flush()?;
    drop(out);
    let stopped =
        server.run(&StopHandle::new(), true).map_err(|error| failed(StartError::System(error)))?;
    match stopped {
        StopOutcome::InOrder => Ok(ExitCode::SUCCESS),
        StopOutcome::Interrupted => Err(CommandError::Data(
            "requests in progress were interrupted; all acknowledged changes are stored".to_owned(),
        )),
    }
}

/// Returns the file that keeps pending messages and the answers to keyed requests. It is in the
/// state folder, or else in the folder of the index.
fn state_file(
    location: &IndexLocation,
    name: &IndexName,
    folder: Option<&Path>,
) -> Option<PathBuf> {
    match (folder, location) {
        (Some(folder), _) => Some(folder.join(format!("{name}.sqlite"))),
        (None, IndexLocation::Folder(folder)) => Some(folder.join("service.sqlite")),
        (None, IndexLocation::Postgres(_)) => None,
    }
}

fn failed(error: StartError) -> CommandError {
    match error {
        StartError::Config(error) => CommandError::Usage(error.to_string()),
        StartError::Index(error) => error.into(),
        other => CommandError::Data(other.to_string()),
    }
}
