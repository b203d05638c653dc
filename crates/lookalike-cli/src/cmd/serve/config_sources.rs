//! The origin of each setting of the server: an option, the environment, a file, or a default.

use crate::cmd::CommandError;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The prefix of variables in the environment.
pub(super) const PREFIX: &str = "LOOKALIKE_";

/// The setting that is a list of lines, because places of indexes may contain commas. The setting
/// is secret, because places may contain passwords.
const PLACES: &str = "index";

/// Every setting: its name, its default, and whether it is secret.
pub(super) const KNOWN: &[(&str, &str, bool)] = &[
    ("index", "", true),
    ("listen", "127.0.0.1:8377", false),
    ("host", "", false),
    ("token-file", "", false),
    ("tls-cert", "", false),
    ("tls-key", "", false),
    ("read-tokens", "", true),
    ("write-tokens", "", true),
    ("read-only", "false", false),
    ("keep", "longest", false),
    ("backup-dir", "", false),
    ("state-dir", "", false),
    ("webhook", "", true),
    ("webhook-secret", "", true),
    ("webhook-secret-file", "", false),
    ("webhook-threshold", "", false),
    ("log", "text", false),
    ("max-body", "64MiB", false),
    ("max-text", "32MiB", false),
    ("max-held", "512MiB", false),
    ("workers", "", false),
    ("queue", "256", false),
    ("max-connections", "1000", false),
    ("request-time", "30s", false),
    ("head-time", "10s", false),
    ("idle-time", "10s", false),
    ("cursor-time", "5min", false),
    ("grace", "30s", false),
    ("wait", "5s", false),
];

/// The origin of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SettingOrigin {
    Option,
    /// The name of the variable.
    Environment(String),
    /// The file.
    File(String),
    Default,
}

/// The value of a setting, and its origin.
#[derive(Debug, Clone)]
pub(super) struct LayeredValue {
    pub(super) value: String,
    pub(super) origin: SettingOrigin,
}

/// The values of all settings.
#[derive(Debug, Clone)]
pub(super) struct ConfigSources {
    values: BTreeMap<&'static str, LayeredValue>,
    /// Variables that look like settings but are not.
    pub(super) unknown: Vec<String>,
}

impl ConfigSources {
    /// Collects the settings. Options override the environment, the environment overrides the file,
    /// and the file overrides the defaults.
    pub(super) fn collect(
        flags: Vec<(&'static str, String)>,
        environment: impl Iterator<Item = (String, String)>,
        file: Option<&Path>,
    ) -> Result<Self, CommandError> {
        let default =
            |value: &str| LayeredValue { value: value.to_owned(), origin: SettingOrigin::Default };
        let mut values: BTreeMap<_, _> =
            KNOWN.iter().map(|(name, value, _)| (*name, default(value))).collect();
        if let Some(path) = file {
            let file = path.display().to_string();
            for (name, value) in read(path)? {
                values.insert(
                    name,
                    LayeredValue { value, origin: SettingOrigin::File(file.clone()) },
                );
            }
        }
        let mut unknown = Vec::new();
        for (variable, value) in environment {
            let name = variable.trim_start_matches(PREFIX).to_ascii_lowercase().replace('_', "-");
            match KNOWN.iter().find(|(known, ..)| *known == name) {
                Some((name, ..)) => {
                    values.insert(
                        name,
                        LayeredValue { value, origin: SettingOrigin::Environment(variable) },
                    );
                }
                None => unknown.push(variable),
            }
        }
        unknown.sort_unstable();
        for (name, value) in flags {
            values.insert(name, LayeredValue { value, origin: SettingOrigin::Option });
        }
        Ok(Self { values, unknown })
    }

    /// The value of a setting that is [`KNOWN`].
    pub(super) fn get(&self, name: &str) -> LayeredValue {
        let unset = || LayeredValue { value: String::new(), origin: SettingOrigin::Default };
        self.values.get(name).cloned().unwrap_or_else(unset)
    }

    /// The error of an invalid setting, with its origin.
    pub(super) fn refuse(&self, name: &str, expected: &str) -> CommandError {
        let LayeredValue { value, origin } = self.get(name);
        let place = match origin {
            SettingOrigin::Option => format!("--{name}"),
            SettingOrigin::Environment(variable) => variable,
            SettingOrigin::File(file) => format!("{file}: {name}"),
            SettingOrigin::Default => format!("the default of {name}"),
        };
        let is_secret = KNOWN.iter().any(|(known, _, secret)| *known == name && *secret);
        let got = if is_secret { "what it is".to_owned() } else { format!("{value:?}") };
        CommandError::Usage(format!("{place}: expected {expected}, got {got}"))
    }

    /// Writes all settings as a TOML file without secrets. A comment after each setting names its
    /// origin.
    pub(super) fn to_toml(&self) -> String {
        let mut text = String::new();
        for (name, _, secret) in KNOWN {
            let LayeredValue { value, origin } = self.get(name);
            let value = match (secret, value.is_empty()) {
                (true, false) => format!("{} of them", parts(name, &value).count()),
                _ => value,
            };
            let origin = match origin {
                SettingOrigin::Option => format!("--{name}"),
                SettingOrigin::Environment(variable) => variable,
                SettingOrigin::File(file) => file,
                SettingOrigin::Default => "default".to_owned(),
            };
            let hidden = if *secret && !value.is_empty() { "# " } else { "" };
            let value = toml::Value::String(value);
            let _ = writeln!(text, "{hidden}{name} = {} # {origin}", quoted(&value));
        }
        text
    }
}

/// Quotes a text for TOML. Uses the escapes of JSON, which are all valid in TOML.
fn quoted(value: &toml::Value) -> String {
    serde_json::Value::from(value.as_str().unwrap_or_default()).to_string()
}

/// Splits the value of a list setting with this name.
fn parts<'a>(name: &str, value: &'a str) -> impl Iterator<Item = &'a str> {
    let separator = if name == PLACES { '\n' } else { ',' };
    value.split(separator).map(str::trim).filter(|part| !part.is_empty())
}

/// Splits the value of a list setting.
pub(super) fn split(value: &str) -> impl Iterator<Item = &str> {
    parts("", value)
}

/// The settings of a file.
fn read(path: &Path) -> Result<Vec<(&'static str, String)>, CommandError> {
    let wrong = |why: String| CommandError::Usage(format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let message = error.message().replace('\n', ", ");
        wrong(format!(
            "line {line}: {message}; expected TOML such as `listen = \"127.0.0.1:8377\"`"
        ))
    })?;
    let mut settings = Vec::new();
    for (key, value) in table {
        let name = KNOWN.iter().find(|(known, ..)| *known == key).map(|(name, ..)| *name);
        let Some(name) = name else {
            let names: Vec<_> = KNOWN.iter().map(|(name, ..)| *name).collect();
            return Err(wrong(format!(
                "unknown setting {key:?}; expected one of {}",
                names.join(", ")
            )));
        };
        let value = match value {
            toml::Value::String(text) => text,
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(is) => is.to_string(),
            toml::Value::Array(values) => {
                let texts = values.iter().map(toml::Value::as_str);
                let texts: Option<Vec<_>> = texts.collect();
                let texts =
                    texts.ok_or_else(|| wrong(format!("{name}: expected a list of texts")))?;
                texts.join(if name == PLACES { "\n" } else { "," })
            }
            _ => {
                return Err(wrong(format!("{name}: expected a text, a number or a list of texts")));
            }
        };
        settings.push((name, value));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_override_environment_and_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("serve.toml");
        let text = "listen = \"127.0.0.1:1\"\nqueue = 7\nlog = \"json\"\n\
                    write-tokens = [\"0123456789abcdef\"]\n";
        std::fs::write(&file, text).unwrap();
        let environment = [
            ("LOOKALIKE_LISTEN", "127.0.0.1:2"),
            ("LOOKALIKE_QUEUE", "8"),
            ("LOOKALIKE_QUEU", "9"),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let flags = vec![("listen", "127.0.0.1:3".to_owned())];
        let layers = ConfigSources::collect(flags, environment.into_iter(), Some(&file)).unwrap();
        assert_eq!(layers.unknown, ["LOOKALIKE_QUEU"]);
        let toml = layers.to_toml();
        for line in [
            "listen = \"127.0.0.1:3\" # --listen\n",
            "queue = \"8\" # LOOKALIKE_QUEUE\n",
            "grace = \"30s\" # default\n",
            "# write-tokens = \"1 of them\" # ",
        ] {
            assert!(toml.contains(line), "{line} in\n{toml}");
        }
        assert!(!toml.contains("0123456789"), "{toml}");
        assert_eq!(layers.get("log").value, "json");
        let message = layers.refuse("queue", "a number").to_string();
        assert!(message.starts_with("LOOKALIKE_QUEUE: expected a number"), "{message}");
    }

    #[test]
    fn invalid_config_files_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("serve.toml");
        for text in ["listn = \"x\"", "listen = 1.5", "listen = [1]", "listen", "[listen]\na = 1"] {
            std::fs::write(&file, text).unwrap();
            let error =
                ConfigSources::collect(Vec::new(), std::iter::empty(), Some(&file)).unwrap_err();
            assert!(error.to_string().contains("serve.toml: "), "{error}");
        }
    }
}
