//! Other programs that are asked over HTTP: a running service, and whom to trust.

#[cfg(feature = "serve")]
pub(crate) mod service_client;
pub(crate) mod trusted_certificates;
