//! Commands that use a running service.

mod answers;
mod commands;
