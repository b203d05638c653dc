//! From a socket to a handler: connections, TLS, the rules of all requests, and routes.

pub(crate) mod connection_stream;
pub(crate) mod connections;
pub(crate) mod description;
pub(crate) mod index_dispatch;
pub(crate) mod listen;
pub(crate) mod middleware;
pub(crate) mod response_compression;
pub(crate) mod route_rights;
pub(crate) mod routes;
pub(crate) mod transport;
