//! Requests to other programs over HTTP: a running service, and the certificates to trust.

#[cfg(feature = "serve")]
pub(crate) mod service_client;
pub(crate) mod trusted_certificates;
