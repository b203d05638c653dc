//! Builds the server's configuration from its settings.

use super::config_sources::{ConfigSources, SettingOrigin, split};
use crate::arguments::duration::patience;
use crate::cmd::CommandError;
use crate::output::terminal;
use crate::service::trusted_certificates::trusted_certificates;
use lookalike::core::keep::{KeepPolicy, KeepRule};
use lookalike::extract::ExtractOptions;
use lookalike::find::parse_memory;
use lookalike_server::config::reload::ReloadedConfig;
use lookalike_server::config::token_file;
use lookalike_server::{
    ClientToken, Config, Log, LogFormat, Right, ServerLimits, TlsIdentity, Tokens, WebhookSecret,
    Webhooks,
};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The server's configuration, and the time to wait for another writer.
pub(super) struct ServeSettings {
    /// Warnings for the user.
    pub(super) warnings: Vec<String>,
    pub(super) config: Config,
    pub(super) state_dir: Option<PathBuf>,
    pub(super) wait: Duration,
}

/// Reads all settings.
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
    let reload_layers = layers.clone();
    let config = Config {
        listen,
        hosts: split(&layers.get("host").value).map(str::to_owned).collect(),
        tokens: tokens(layers)?,
        tls: tls(layers)?,
        reload: Some(Arc::new(move || reload(&reload_layers).map_err(|error| error.to_string()))),
        writable: !read_only,
        keep: keep(layers)?,
        limits,
        extract: ExtractOptions::default(),
        temp_dir: Some(std::env::temp_dir()),
        backup_dir: folder(layers, "backup-dir")?,
        webhooks: webhooks(layers)?,
        log: Log { format, sink: Arc::new(move || Box::new(log_stream(format))) },
    };
    let wait = time(layers, "wait")?;
    let state_dir = folder(layers, "state-dir")?;
    Ok(ServeSettings { warnings: warnings(layers), config, state_dir, wait })
}

/// The rules of the keep order.
fn keep(layers: &ConfigSources) -> Result<KeepPolicy, CommandError> {
    let rules = layers.get("keep").value;
    let rules = split(&rules).map(str::parse).collect::<Result<Vec<KeepRule>, _>>();
    let rules = rules.ok().filter(|rules| !rules.is_empty()).ok_or_else(|| {
        layers.refuse("keep", "rules of `index groups --keep`, such as name or longest")
    })?;
    Ok(KeepPolicy::new(rules))
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

/// Returns warnings about files with secrets that other users of this machine can read.
fn warnings(layers: &ConfigSources) -> Vec<String> {
    let file = |name: &str| Some(layers.get(name).value).filter(|path| !path.is_empty());
    let token_file = file("token-file");
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
    .chain(secret_warning(file("tls-key"), "key"))
    .chain(secret_warning(file("webhook-secret-file"), "secret"))
    .collect()
}

fn secret_warning(file: Option<String>, secret: &str) -> Option<String> {
    let path = file?;
    let mode = mode_for_others(&path)?;
    Some(format!("other users can read the {secret} in {path} (mode {mode:o}): chmod 600 {path}"))
}

/// Returns the mode of a file if users other than its owner and its group can read it.
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

/// Reads the tokens of the settings and of the token file.
fn tokens(layers: &ConfigSources) -> Result<Tokens, CommandError> {
    let mut tokens = Vec::new();
    for (name, right) in [("read-tokens", Right::Read), ("write-tokens", Right::Write)] {
        for value in split(&layers.get(name).value) {
            let token = ClientToken::new(right, None, value);
            tokens.push(token.map_err(|error| CommandError::Usage(error.to_string()))?);
        }
    }
    let file = layers.get("token-file").value;
    if !file.is_empty() {
        let text = std::fs::read_to_string(&file).map_err(|error| {
            layers.refuse("token-file", &format!("a file that can be read ({error})"))
        })?;
        let of_file = token_file::parse(&text)
            .map_err(|error| CommandError::Usage(format!("{file}:{}: {error}", error.line)))?;
        if of_file.is_empty() {
            return Err(CommandError::Usage(format!(
                "{file} contains no token; `lookalike token --token-file {file}` creates one"
            )));
        }
        tokens.extend(of_file);
    }
    Ok(Tokens::new(tokens))
}

/// The webhooks, with their secret.
fn webhooks(layers: &ConfigSources) -> Result<Option<Webhooks>, CommandError> {
    let urls: Vec<String> = split(&layers.get("webhook").value).map(str::to_owned).collect();
    if urls.is_empty() {
        return Ok(None);
    }
    let file = layers.get("webhook-secret-file").value;
    let (name, secret) = if file.is_empty() {
        ("webhook-secret", layers.get("webhook-secret").value)
    } else {
        let read = std::fs::read_to_string(&file).map_err(|error| {
            layers.refuse("webhook-secret-file", &format!("a file that can be read ({error})"))
        })?;
        ("webhook-secret-file", read)
    };
    let secret = WebhookSecret::parse(&secret)
        .map_err(|error| CommandError::Usage(format!("{name}: {error}")))?;
    let threshold = layers.get("webhook-threshold").value;
    let threshold = match threshold.as_str() {
        "" => None,
        text => {
            let value = text.parse().ok().filter(|value: &f64| *value > 0.0 && *value <= 1.0);
            let wrong = || layers.refuse("webhook-threshold", "a number above 0, at most 1");
            Some(value.ok_or_else(wrong)?)
        }
    };
    let authorities = if urls.iter().any(|url| url.starts_with("https://")) {
        trusted_certificates()?
    } else {
        Vec::new()
    };
    let pauses = Webhooks::default_pauses();
    Ok(Some(Webhooks { urls, secret, threshold, authorities: authorities.into(), pauses }))
}

/// Returns the folder of a setting, if it is set. The folder must exist.
fn folder(layers: &ConfigSources, name: &str) -> Result<Option<PathBuf>, CommandError> {
    let folder = layers.get(name).value;
    if folder.is_empty() {
        return Ok(None);
    }
    let folder = PathBuf::from(folder);
    let is_there = folder.is_dir();
    is_there.then_some(Some(folder)).ok_or_else(|| layers.refuse(name, "a folder"))
}

/// Reads the certificate and its key, if they are set. One without the other is an error.
fn tls(layers: &ConfigSources) -> Result<Option<TlsIdentity>, CommandError> {
    let [certificate, key] = ["tls-cert", "tls-key"].map(|name| layers.get(name).value);
    match (certificate.as_str(), key.as_str()) {
        ("", "") => Ok(None),
        ("", _) => Err(layers.refuse("tls-cert", "the file of the certificate of --tls-key")),
        (_, "") => Err(layers.refuse("tls-key", "the file of the key of --tls-cert")),
        (certificate, key) => {
            let identity = TlsIdentity::read(Path::new(certificate), Path::new(key));
            identity.map(Some).map_err(|error| CommandError::Usage(error.to_string()))
        }
    }
}

/// Reads the files of the tokens and the certificate again.
fn reload(layers: &ConfigSources) -> Result<ReloadedConfig, CommandError> {
    Ok(ReloadedConfig { tokens: tokens(layers)?, tls: tls(layers)? })
}
