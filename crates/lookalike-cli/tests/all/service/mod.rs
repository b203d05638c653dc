//! Commands that ask a running service.

mod answers;
mod commands;
