//! Parts of requests and responses: strict parsing within limits, JSON, problems.

pub(crate) mod address;
pub(crate) mod body;
pub(crate) mod client_requests;
pub(crate) mod gzip;
pub(crate) mod json;
pub(crate) mod metadata;
pub(crate) mod problem;
pub(crate) mod response;
pub(crate) mod response_memory;
