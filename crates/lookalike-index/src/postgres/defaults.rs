//! Defaults for parameters that an address may omit.

use super::address::{Address, wrong};
use crate::error::IndexError;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use postgres::config::Host;
use std::path::{Path, PathBuf};

/// ASCII characters that are encoded in an address. Non-ASCII characters are always encoded.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Default values for an address. The caller reads the environment; this crate does not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Defaults {
    /// The password.
    pub password: Option<String>,
    /// A password file in the format of `.pgpass`, used if no other password is set.
    pub password_file: Option<PathBuf>,
    /// `sslmode`.
    pub ssl_mode: Option<String>,
    /// `sslrootcert`: a PEM file of certificates to trust.
    pub root_certificates: Option<PathBuf>,
}

/// Completes an address with defaults. The result may contain a password: do not show it.
///
/// # Errors
/// [`IndexError::Database`] for an invalid address, [`IndexError::Io`] for a password file that
/// cannot be read or that other users may read.
pub fn with_defaults(url: &str, defaults: &Defaults) -> Result<String, IndexError> {
    let address = Address::parse_unverified(url)?;
    let mut all = url.to_owned();
    let mut add = |name: &str, value: &str| {
        let sign = if all.contains('?') { "&" } else { "?" };
        all.extend([sign, name, "="].into_iter().chain(utf8_percent_encode(value, RESERVED)));
    };
    if address.mode.is_none()
        && let Some(mode) = &defaults.ssl_mode
    {
        add("sslmode", mode);
    }
    if address.roots.is_none()
        && let Some(roots) = &defaults.root_certificates
    {
        let text = roots.to_str();
        add("sslrootcert", text.ok_or_else(|| wrong("sslrootcert is not valid Unicode"))?);
    }
    if address.config.get_password().is_none() {
        let mut password = defaults.password.clone();
        if let (None, Some(file)) = (&password, &defaults.password_file) {
            password = from_file(file, &address)?;
        }
        if let Some(password) = password {
            add("password", &password);
        }
    }
    Ok(all)
}

/// The password of the first line that matches the address.
fn from_file(file: &Path, address: &Address) -> Result<Option<String>, IndexError> {
    let failed = |source| IndexError::io(file, source);
    let text = std::fs::read_to_string(file).map_err(failed)?;
    let config = &address.config;
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    let hosts = config.get_hosts();
    let ports = config.get_ports();
    let found = text.lines().find_map(|line| {
        hosts.iter().enumerate().find_map(|(at, host)| {
            let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432).to_string();
            let names = match host {
                Host::Tcp(host) => vec![host.clone()],
                Host::Unix(path) => vec![path.display().to_string(), "localhost".to_owned()],
            };
            names.iter().find_map(|host| matching(line, [host, &port, database, user]))
        })
    });
    if found.is_some() && others_may_read(file).map_err(failed)? {
        let why = "other users may read it, so its passwords are not used: chmod 600".to_owned();
        return Err(failed(std::io::Error::new(std::io::ErrorKind::PermissionDenied, why)));
    }
    Ok(found)
}

/// The password of a line `host:port:database:user:password` that matches. `*` matches anything,
/// and `\` escapes a `:` or `\` in a value.
fn matching(line: &str, expected: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            ':' if fields.len() < 4 => fields.push(std::mem::take(&mut field)),
            '\\' => field.extend(characters.next()),
            other => field.push(other),
        }
    }
    let fits = |(field, expected): (&String, &str)| field == "*" || field == expected;
    (fields.len() == 4 && fields.iter().zip(expected).all(fits)).then_some(field)
}

#[cfg(unix)]
fn others_may_read(file: &Path) -> std::io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    let data = file.metadata()?;
    Ok(data.is_file() && data.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn others_may_read(_: &Path) -> std::io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::super::tls::TlsMode;
    use super::*;

    #[test]
    fn password_lines_match_like_libpq() {
        let expected = ["db", "5432", "news", "ann"];
        let cases = [
            ("db:5432:news:ann:s3cret", Some("s3cret")),
            ("*:*:*:*:a:b", Some("a:b")),
            ("*:*:*:*:a\\:b\\\\", Some("a:b\\")),
            ("db:5433:news:ann:x", None),
            ("#*:*:*:*:x", None),
            ("db:5432:news:ann", None),
            ("", None),
        ];
        for (line, password) in cases {
            assert_eq!(matching(line, expected).as_deref(), password, "{line}");
        }
    }

    #[test]
    fn defaults_complete_missing_address_parts() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("passwords");
        std::fs::write(&file, "# mine\nother:*:*:*:no\ndb:5432:news:ann:from file\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |mode| std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&file, mode(0o644)).unwrap();
            let defaults = Defaults { password_file: Some(file.clone()), ..Defaults::default() };
            let error = with_defaults("postgres://ann@db/news", &defaults).unwrap_err();
            assert!(error.to_string().contains("chmod 600"), "{error}");
            assert!(with_defaults("postgres://bob@db/news", &defaults).is_ok());
            std::fs::set_permissions(&file, mode(0o600)).unwrap();
        }
        let mut defaults = Defaults {
            password_file: Some(file),
            ssl_mode: Some("require".to_owned()),
            ..Defaults::default()
        };
        let complete = |url: &str, defaults: &Defaults| {
            let url = with_defaults(url, defaults).unwrap();
            let address = Address::parse(&url).unwrap();
            assert!(!address.name.contains("file") && !address.name.contains("s3cret"));
            let password = address.config.get_password().unwrap_or_default();
            (String::from_utf8_lossy(password).into_owned(), address.mode)
        };
        let require = Some(TlsMode::Require);
        let file = ("from file".to_owned(), require);
        assert_eq!(complete("postgres://ann@db/news?index=a", &defaults), file);
        assert_eq!(complete("postgres://bob@db/news", &defaults).0, "");
        let own = complete("postgres://ann:own@db/news?sslmode=disable", &defaults);
        assert_eq!(own, ("own".to_owned(), Some(TlsMode::Disable)));
        defaults.password = Some("s3cret &é".to_owned());
        assert_eq!(complete("postgres://ann@db/news", &defaults).0, "s3cret &é");
    }
}
