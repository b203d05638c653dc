//! Tests of a server in this process over TCP. Every answer is compared with `openapi.json`.

#![allow(clippy::unwrap_used, clippy::format_collect, clippy::format_push_string, reason = "tests")]

mod access;
mod bad_input;
mod categories;
pub(crate) mod client;
mod decisions;
mod documents;
mod extraction;
mod generated_client;
mod group_filters;
mod group_sizes;
mod indexes;
mod limits;
mod originals;
mod passages;
mod programs;
mod reference_page;
mod schema;
mod schemathesis;
mod served;
mod similar;
mod tls;
mod upkeep;
mod warc;
mod webhooks;
