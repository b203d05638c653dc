//! Bulk insertion: the binary format of the command COPY.

use super::failure::{failure, sending};
use super::pool::PooledConnection;
use crate::error::IndexError;
use std::io::{self, Write};

/// The header of the format: its signature, no flags, no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
/// Size of the send buffer.
const BLOCK: usize = 256 << 10;

/// Copies rows into a table.
///
/// # Errors
/// Errors of the server, and errors of `rows`.
pub(super) fn copy_in(
    connection: &mut PooledConnection,
    sql: &str,
    rows: impl FnOnce(&mut CopyRows<'_>) -> io::Result<()>,
) -> Result<(), IndexError> {
    let name = connection.pool().name().to_owned();
    let session = connection.session()?;
    let statement = session.statement(sql).map_err(|error| failure(&name, &error))?;
    let copy = session.client.copy_in(&statement);
    let mut copy = copy.map_err(|error| failure(&name, &error))?;
    let sent = (|| {
        let mut to = CopyRows { to: &mut copy, buffer: HEADER.to_vec() };
        rows(&mut to)?;
        to.buffer.extend((-1i16).to_be_bytes());
        to.send()
    })();
    sent.map_err(|error| sending(&name, &error))?;
    copy.finish().map(drop).map_err(|error| failure(&name, &error))
}

/// A writer of rows in the format.
pub(super) struct CopyRows<'a> {
    to: &'a mut dyn Write,
    buffer: Vec<u8>,
}

impl CopyRows<'_> {
    /// Starts a row with this number of values.
    pub(super) fn row(&mut self, values: i16) -> io::Result<()> {
        if self.buffer.len() >= BLOCK {
            self.send()?;
        }
        self.buffer.extend(values.to_be_bytes());
        Ok(())
    }

    pub(super) fn bytes_or_null(&mut self, value: Option<&[u8]>) -> io::Result<()> {
        let Some(value) = value else {
            self.buffer.extend((-1i32).to_be_bytes());
            return Ok(());
        };
        self.bytes(value)
    }

    pub(super) fn bigint_or_null(&mut self, value: Option<i64>) -> io::Result<()> {
        let bytes = value.map(i64::to_be_bytes);
        self.bytes_or_null(bytes.as_ref().map(|bytes| &bytes[..]))
    }

    pub(super) fn bytes(&mut self, value: &[u8]) -> io::Result<()> {
        self.start(value.len())?;
        self.buffer.extend(value);
        Ok(())
    }

    pub(super) fn bigint(&mut self, value: i64) -> io::Result<()> {
        self.bytes(&value.to_be_bytes())
    }

    /// Writes a signature: its values as consecutive little-endian bytes.
    pub(super) fn signature(&mut self, values: &[u32]) -> io::Result<()> {
        self.start(4 * values.len())?;
        self.buffer.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        Ok(())
    }

    /// Writes the length of a value.
    fn start(&mut self, len: usize) -> io::Result<()> {
        let too_long = |_| io::Error::other(format!("a value has {len} bytes"));
        self.buffer.extend(i32::try_from(len).map_err(too_long)?.to_be_bytes());
        Ok(())
    }

    fn send(&mut self) -> io::Result<()> {
        self.to.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}
