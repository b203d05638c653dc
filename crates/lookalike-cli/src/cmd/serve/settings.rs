//! What was said of the server's settings → its configuration.

use super::config_sources::{ConfigSources, SettingOrigin, split};
use crate::cmd::CommandError;
use crate::duration::patience;
use crate::terminal;
use lookalike::extract::ExtractOptions;
use lookalike::find::parse_memory;
use lookalike_server::{ClientToken, Config, Log, LogFormat, Right, ServerLimits, Tokens};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// The server's configuration, and how long another writer is waited for.
pub(super) struct ServeSettings {
    /// What the user should know.
    pub(super) warnings: Vec<String>,
    pub(super) config: Config,
    pub(super) wait: Duration,
}

/// Reads all of it.
pub(super) fn read(layers: &ConfigSources) -> Result<ServeSettings, CommandError> {
    let listen = layers.get("listen").value.parse();
    let listen = listen.map_err(|_| {
        layers.refuse("listen", "an address with a port, such as 127.0.0.1:8377 or [::1]:8377")
    })?;
    let format = match layers.get("log").value.as_str() {
        "text" => LogFormat::Text,
        "json" => LogFormat::Json,
        "off" => LogFormat::Off,
        _ => return Err(layers.refuse("log", "text, json or off")),
    };
    let read_only = match layers.get("read-only").value.as_str() {
        "true" => true,
        "false" => false,
        _ => return Err(layers.refuse("read-only", "true or false")),
    };
    let workers = match layers.get("workers").value.as_str() {
        "" => ServerLimits::default().workers,
        _ => number(layers, "workers")?,
    };
    let limits = ServerLimits {
        body_bytes: size(layers, "max-body")?,
        text_bytes: size(layers, "max-text")?,
        held_bytes: size(layers, "max-held")?,
        workers,
        queue: number(layers, "queue")?,
        connections: number(layers, "max-connections")?,
        request_time: time(layers, "request-time")?,
        head_time: time(layers, "head-time")?,
        idle_time: time(layers, "idle-time")?,
        cursor_time: time(layers, "cursor-time")?,
        grace: time(layers, "grace")?,
    };
    let config = Config {
        listen,
        hosts: split(&layers.get("host").value).map(str::to_owned).collect(),
        tokens: tokens(layers)?,
        writable: !read_only,
        limits,
        extract: ExtractOptions::default(),
        temp_dir: Some(std::env::temp_dir()),
        log: Log { format, sink: Arc::new(move || Box::new(log_stream(format))) },
    };
    Ok(ServeSettings { warnings: warnings(layers), config, wait: time(layers, "wait")? })
}

fn log_stream(format: LogFormat) -> impl Write {
    terminal::shared_stderr().json_if(format == LogFormat::Json)
}

fn size(layers: &ConfigSources, name: &str) -> Result<u64, CommandError> {
    parse_memory(&layers.get(name).value)
        .map_err(|_| layers.refuse(name, "a size such as 512KiB, 64MiB or 2GiB"))
}

fn number(layers: &ConfigSources, name: &str) -> Result<usize, CommandError> {
    let number = layers.get(name).value.parse().ok();
    number
        .filter(|number| (1..=65_536).contains(number))
        .ok_or_else(|| layers.refuse(name, "a number from 1 to 65536"))
}

fn time(layers: &ConfigSources, name: &str) -> Result<Duration, CommandError> {
    patience(&layers.get(name).value)
        .map_err(|_| layers.refuse(name, "a time such as 500ms, 30s or 2min"))
}

/// Files with tokens that other users of this machine can read.
fn warnings(layers: &ConfigSources) -> Vec<String> {
    let token_file = Some(layers.get("token-file").value).filter(|path| !path.is_empty());
    let config_files = ["read-tokens", "write-tokens"].map(|name| match layers.get(name).origin {
        SettingOrigin::File(path) => Some(path),
        _ => None,
    });
    let mut files: Vec<String> = config_files.into_iter().chain([token_file]).flatten().collect();
    files.sort_unstable();
    files.dedup();
    let open = files.into_iter().filter_map(|path| Some((mode_for_others(&path)?, path)));
    open.map(|(mode, path)| {
        format!("other users can read the tokens in {path} (mode {mode:o}): chmod 600 {path}")
    })
    .collect()
}

/// The mode of a file that users other than its owner and its group can read.
#[cfg(unix)]
fn mode_for_others(path: &str) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o004 != 0).then_some(mode)
}

#[cfg(not(unix))]
fn mode_for_others(_: &str) -> Option<u32> {
    None
}

fn tokens(layers: &ConfigSources) -> Result<Tokens, CommandError> {
    let mut tokens = Vec::new();
    for (name, right) in [("read-tokens", Right::Read), ("write-tokens", Right::Write)] {
        let values = layers.get(name).value;
        tokens.extend(split(&values).map(|value| token(right, None, value)));
    }
    let file = layers.get("token-file").value;
    if !file.is_empty() {
        let text = std::fs::read_to_string(&file).map_err(|error| {
            layers.refuse("token-file", &format!("a file that can be read ({error})"))
        })?;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let Some(token) = token_of_line(line) else {
                // The line may be a token, so it is not shown.
                let number = number + 1;
                let expected = "`read TOKEN`, `decide TOKEN` or `write TOKEN`, with the NAME of \
                                the client between them if it has one";
                return Err(CommandError::Usage(format!("{file}:{number}: expected {expected}")));
            };
            tokens.push(token);
        }
        if tokens.is_empty() {
            return Err(CommandError::Usage(format!("{file}: there is no token in it")));
        }
    }
    Tokens::new(tokens).map_err(|error| CommandError::Usage(error.to_string()))
}

fn token(right: Right, name: Option<&str>, value: &str) -> ClientToken {
    ClientToken { right, name: name.map(str::to_owned), value: value.to_owned() }
}

/// `RIGHT TOKEN` or `RIGHT NAME TOKEN`; a name may have spaces.
fn token_of_line(line: &str) -> Option<ClientToken> {
    let (right, rest) = line.split_once(char::is_whitespace)?;
    let right = Right::ALL.into_iter().find(|known| known.name() == right)?;
    Some(match rest.trim().rsplit_once(char::is_whitespace) {
        Some((name, value)) => token(right, Some(name.trim()), value),
        None => token(right, None, rest.trim()),
    })
}
