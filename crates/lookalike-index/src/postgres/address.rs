//! Parses the address of an index: server, database, name.

use super::tls::{self, TlsMode};
use crate::error::IndexError;
use crate::percent;
use postgres::config::Host;
use postgres::{Client, Config, NoTls};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres_rustls::MakeRustlsConnect;

/// The default name of an index.
const DEFAULT_INDEX: &str = "lookalike";
/// Maximum length of the name of a schema in bytes; PostgreSQL truncates longer names.
const MAX_NAME_BYTES: usize = 63;
/// Default connection timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Default timeout of unacknowledged TCP data.
const TCP_TIMEOUT: Duration = Duration::from_secs(60);

/// The address of an index.
#[derive(Clone)]
pub(super) struct Address {
    /// Parameters of the connection.
    pub(super) config: Config,
    /// The name of the schema, unquoted.
    pub(super) schema: String,
    /// The name for messages: without user and password.
    pub(super) name: String,
    /// The TLS mode; `None` if the address has none.
    pub(super) mode: Option<TlsMode>,
    /// The file of trusted certificates.
    pub(super) roots: Option<PathBuf>,
    tls: Option<MakeRustlsConnect>,
}

impl Address {
    /// Parses `postgres://user:password@host:port/database?index=name&…`. All other parameters are
    /// the parameters of PostgreSQL's own addresses.
    pub(super) fn parse(url: &str) -> Result<Self, IndexError> {
        let mut address = Self::parse_unverified(url)?;
        let hosts = address.config.get_hosts();
        let is_local = hosts.iter().all(|host| matches!(host, Host::Unix(_)));
        let mode =
            if is_local { TlsMode::Disable } else { address.mode.unwrap_or(TlsMode::Prefer) };
        address.config.ssl_mode(mode.config());
        let tls = tls::connector(mode, address.roots.as_deref());
        address.tls = tls.map_err(|why| wrong(&why))?;
        Ok(address)
    }

    /// Like [`parse`](Self::parse), without reading certificates, so that the result cannot
    /// connect.
    pub(super) fn parse_unverified(url: &str) -> Result<Self, IndexError> {
        let (front, query) = url.split_once('?').unwrap_or((url, ""));
        let authority = front.split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split('/').next().unwrap_or_default();
        if authority.matches('@').count() > 1 {
            return Err(wrong("write an `@` in the user or the password as %40"));
        }
        let mut schema = DEFAULT_INDEX.to_owned();
        let mut other_parameters = String::new();
        let mut mode = None;
        let mut roots = None;
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            if let Some(name) = parameter.strip_prefix("index=") {
                schema = decoded("index=", name)?;
            } else if let Some(name) = parameter.strip_prefix("sslmode=") {
                mode = Some(TlsMode::named(name).ok_or_else(|| {
                    wrong(
                        "sslmode= is none of disable, allow, prefer, require, verify-ca and \
                         verify-full",
                    )
                })?);
            } else if let Some(file) = parameter.strip_prefix("sslrootcert=") {
                let file = decoded("sslrootcert=", file)?;
                if file.is_empty() {
                    return Err(wrong("sslrootcert= names no file"));
                }
                roots = Some(file.into());
            } else {
                let sign = if other_parameters.is_empty() { '?' } else { '&' };
                let _ = write!(other_parameters, "{sign}{parameter}");
            }
        }
        check_name(&schema)?;
        let config = format!("{front}{other_parameters}").parse::<Config>();
        let mut config = config.map_err(|error| wrong(&super::failure::reported(&error)))?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(TCP_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("lookalike");
        }
        let name = display_name(&config, &schema);
        Ok(Self { config, schema, name, mode, roots, tls: None })
    }

    /// Opens a connection.
    pub(super) fn connect(&self) -> Result<Client, postgres::Error> {
        match &self.tls {
            Some(tls) => self.config.connect(tls.clone()),
            None => self.config.connect(NoTls),
        }
    }

    /// The name of the schema, quoted for SQL.
    pub(super) fn quoted(&self) -> String {
        format!("\"{}\"", self.schema.replace('"', "\"\""))
    }
}

/// The address for messages: without user and password; `None` if it cannot be read.
pub fn shown(url: &str) -> Option<String> {
    Address::parse_unverified(url).ok().map(|address| address.name)
}

fn check_name(name: &str) -> Result<(), IndexError> {
    let problem = if name.is_empty() {
        "index= is empty: add a name"
    } else if name.len() > MAX_NAME_BYTES {
        "the name of the index has more than 63 bytes: shorten it"
    } else if name.contains('\0') {
        "the name of the index has a NUL character: remove it"
    } else if name.starts_with("pg_") || name == "information_schema" {
        "names that start with pg_, and information_schema, belong to PostgreSQL: choose another"
    } else {
        return Ok(());
    };
    Err(wrong(problem))
}

/// An error that contains nothing of the address, which may contain a password.
pub(super) fn wrong(problem: &str) -> IndexError {
    let why = format!(
        "{problem}; expected postgres://user:password@host:port/database?index=name, with anything \
         but letters, digits and -._~ percent-encoded"
    );
    IndexError::database("postgres://…", why)
}

fn display_name(config: &Config, schema: &str) -> String {
    let mut hosts = Vec::new();
    let mut socket = None;
    let ports = config.get_ports();
    for (at, host) in config.get_hosts().iter().enumerate() {
        let port = ports.get(at).or(ports.first()).filter(|port| **port != 5432);
        match host {
            Host::Tcp(host) => {
                hosts.push(port.map_or(host.clone(), |port| format!("{host}:{port}")));
            }
            Host::Unix(path) => socket = Some(path.display().to_string()),
        }
    }
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    let socket = socket.map_or(String::new(), |path| format!("host={path}&"));
    format!("postgres://{}/{database}?{socket}index={schema}", hosts.join(","))
}

/// The value of a parameter, decoded.
fn decoded(parameter: &str, value: &str) -> Result<String, IndexError> {
    let decoded = percent::decode(value).map_err(|why| wrong(&format!("{parameter} {why}")))?;
    Ok(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_names_contain_no_secrets() {
        let cases = [
            ("postgres://ann:s3cret@db.example:5433/news?index=a", "db.example:5433/news?index=a"),
            ("postgresql://ann:s3cret@db/news", "db/news?index=lookalike"),
            (
                "postgres:///news?host=/run/pg&user=ann&password=s3cret&index=x",
                "/news?host=/run/pg&index=x",
            ),
            (
                "postgres://ann@%2Frun%2Fpg/news?index=a%22b%20%C3%A9",
                "/news?host=/run/pg&index=a\"b é",
            ),
        ];
        for (url, expected) in cases {
            let address = Address::parse(url).unwrap();
            assert_eq!(address.name, format!("postgres://{expected}"));
        }
        let address = Address::parse("postgres://a@h/d?index=a%22b").unwrap();
        assert_eq!(address.quoted(), "\"a\"\"b\"");
        assert_eq!(address.schema, "a\"b");
    }

    #[test]
    fn invalid_addresses_are_errors_without_secrets() {
        let long = format!("postgres://ann:s3cret@h/d?index={}", "x".repeat(64));
        let cases = [
            "postgres://ann:s3cret@x@h/d",
            "postgres://ann:s3cret@h:port/d",
            "postgres://ann:s3cret@h/d?index=",
            "postgres://ann:s3cret@h/d?index=pg_x",
            "postgres://ann:s3cret@h/d?index=%00",
            "postgres://ann:s3cret@h/d?index=%f",
            "postgres://ann:s3cret@h/d?index=%ff",
            "postgres://ann:s3cret@h/d?sslmode=verify-ca&sslrootcert=%f",
            "postgres://ann:s3cret@h/d?sslmode=verify-ca&sslrootcert=",
            "postgres://ann:s3cret@h/d?colour=red",
            "postgres://ann:s3cret@h/d?sslmode=maybe",
            "postgres://ann:s3cret@h/d?sslmode=verify-full",
            "postgres://ann:s3cret@h/d?sslmode=verify-ca&sslrootcert=/absent.pem",
            "postgres://ann:s3cret@h/d?connect_timeout=s3cret",
            &long,
        ];
        for url in cases {
            let error = Address::parse(url).err().unwrap().to_string();
            assert!(!error.contains("s3cret") && error.contains("index=name"), "{error}");
        }
    }
}
