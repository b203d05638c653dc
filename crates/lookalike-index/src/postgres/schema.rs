//! Creates the tables of an index, and checks them when it is opened.

use super::pool::{ConnectionPool, PooledConnection};
use super::row::column;
use crate::error::IndexError;
use crate::settings::IndexSettings;
use std::sync::Arc;

/// The statements that create the tables.
const SCHEMA: &str = include_str!("schema.sql");
/// The version of the tables.
pub(super) const TABLES_VERSION: u32 = 1;

/// Minimum version of PostgreSQL.
const OLDEST_SERVER: i32 = 13;

/// Creates an empty index.
pub(super) fn create(
    pool: &Arc<ConnectionPool>,
    settings: &IndexSettings,
) -> Result<(), IndexError> {
    let mut connection = begin_new(pool)?;
    fill_new(&mut connection, settings)?;
    connection.commit()?.map_err(|error| creation_error(pool, &error))
}

/// Begins a transaction and creates the schema; [`fill_new`] creates the tables.
pub(super) fn begin_new(pool: &Arc<ConnectionPool>) -> Result<PooledConnection, IndexError> {
    let (mut connection, _) = pool.begin("BEGIN")?;
    check_server(pool, &mut connection)?;
    let rows = connection.query(
        "SELECT (SELECT count(*) FROM pg_class c WHERE c.relnamespace = n.oid) \
         FROM pg_namespace n WHERE nspname = $1",
        &[&pool.address().schema],
    )?;
    match rows.first().map(|row| column::<i64>(row, "pg_class", 0)).transpose()? {
        Some(0) => {}
        Some(_) => return Err(IndexError::Exists { index: pool.name().to_owned() }),
        None => {
            let sql = format!("CREATE SCHEMA {}", pool.address().quoted());
            let result = connection.session()?.client.batch_execute(&sql);
            result.map_err(|error| creation_error(pool, &error))?;
        }
    }
    Ok(connection)
}

/// Creates the tables in the transaction of [`begin_new`].
pub(super) fn fill_new(
    connection: &mut PooledConnection,
    settings: &IndexSettings,
) -> Result<(), IndexError> {
    let pool = Arc::clone(connection.pool());
    let result = connection.session()?.client.batch_execute(SCHEMA);
    result.map_err(|error| creation_error(&pool, &error))?;
    connection.query(
        "INSERT INTO settings (version, settings) VALUES ($1, $2)",
        &[&TABLES_VERSION.cast_signed(), &settings.to_json(pool.name())?],
    )?;
    Ok(())
}

/// Checks the tables of an index, and reads its settings.
pub(super) fn open(pool: &Arc<ConnectionPool>) -> Result<IndexSettings, IndexError> {
    let (mut connection, _) = pool.begin("BEGIN")?;
    check_server(pool, &mut connection)?;
    check_tables(pool, &mut connection)?;
    let rows = connection.query("SELECT version, settings FROM settings", &[])?;
    let Some(row) = rows.first() else {
        return Err(IndexError::not_an_index(pool.name(), "its table `settings` has no row"));
    };
    check_version(pool.name(), column(row, "settings", 0)?)?;
    let json: String = column(row, "settings", 1)?;
    let settings = IndexSettings::from_json(&json, pool.name())?;
    connection.commit()?.map_err(|error| pool.failure(&error))?;
    Ok(settings)
}

/// Checks the version of the tables.
///
/// # Errors
/// [`IndexError::Version`], and [`IndexError::Damaged`] for a negative number.
fn check_version(index: &str, version: i32) -> Result<(), IndexError> {
    let got = u32::try_from(version).map_err(|_| {
        let what = format!("table `settings` of {index}");
        IndexError::damaged(what, format!("its version is {version}"))
    })?;
    if got == TABLES_VERSION {
        return Ok(());
    }
    Err(IndexError::Version { index: index.to_owned(), got, expected: TABLES_VERSION })
}

fn check_server(
    pool: &ConnectionPool,
    connection: &mut PooledConnection,
) -> Result<(), IndexError> {
    let row = connection.query_one(
        "SELECT current_setting('server_version_num')::int / 10000, \
         current_setting('server_encoding')",
        &[],
        "its version and encoding",
    )?;
    let server: i32 = column(&row, "pg_settings", 0)?;
    let encoding: String = column(&row, "pg_settings", 1)?;
    let why = if server < OLDEST_SERVER {
        format!("the server is PostgreSQL {server}, expected {OLDEST_SERVER} or later")
    } else if encoding != "UTF8" {
        format!(
            "the database has the encoding {encoding}, expected UTF8, which holds any id: CREATE \
             DATABASE … ENCODING 'UTF8' TEMPLATE template0"
        )
    } else {
        return Ok(());
    };
    Err(IndexError::database(pool.name(), why))
}

/// Checks that the schema has the tables of an index.
fn check_tables(
    pool: &ConnectionPool,
    connection: &mut PooledConnection,
) -> Result<(), IndexError> {
    let rows = connection.query(
        "SELECT has_schema_privilege(n.oid, 'USAGE'), \
         (SELECT count(*) FROM pg_class c WHERE c.relnamespace = n.oid), \
         (SELECT count(*) FROM pg_class c WHERE c.relnamespace = n.oid AND c.relkind = 'r' \
          AND c.relname IN ('settings', 'state', 'docs', 'bands')), \
         EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass('settings') \
          AND attname = 'version') \
         FROM pg_namespace n WHERE nspname = $1",
        &[&pool.address().schema],
    )?;
    let index = pool.name().to_owned();
    let Some(row) = rows.first() else { return Err(IndexError::Missing { index }) };
    let number = |at| column::<i64>(row, "pg_class", at);
    let may: bool = column(row, "pg_namespace", 0)?;
    let all = number(1)?;
    let own_tables = number(2)?;
    if all == 0 {
        return Err(IndexError::Missing { index });
    }
    if !may {
        let why = "this user may not use its schema: GRANT USAGE ON SCHEMA, and SELECT on its \
                   tables";
        return Err(IndexError::database(index, why));
    }
    let has_version: bool = column(row, "pg_attribute", 3)?;
    match own_tables {
        4 if has_version => Ok(()),
        4 => Err(IndexError::not_an_index(
            pool.name(),
            "its table `settings` has no column `version`: export it with the program that wrote \
             it and create it again",
        )),
        0 => Err(IndexError::not_an_index(pool.name(), "the schema has other tables")),
        _ => Err(IndexError::not_an_index(
            pool.name(),
            "the schema has not all of the tables settings, state, docs and bands",
        )),
    }
}

/// The error of a statement that creates a schema or tables. Another process may have created them
/// first.
fn creation_error(pool: &ConnectionPool, error: &postgres::Error) -> IndexError {
    let code = error.code().map_or("", |code| code.code());
    // Codes for a schema, a table, or a row of the server's catalogue that already exists.
    if ["42P06", "42P07", "23505"].contains(&code) {
        return IndexError::Exists { index: pool.name().to_owned() };
    }
    pool.failure(error)
}
