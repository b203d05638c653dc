//! Tests of the server: over HTTP, and its page in a browser.

mod page;
mod serve;
