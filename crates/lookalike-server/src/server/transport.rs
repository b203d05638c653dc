//! The bytes of a connection, plain or within TLS.

use tokio::io::{AsyncRead, AsyncWrite};

/// A stream of bytes in both directions.
pub(crate) trait TransportStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> TransportStream for T {}

/// The stream of a connection.
pub(crate) type Transport = Box<dyn TransportStream>;
