//! Compares temporary files with vectors, and checks files that are damaged on purpose.

mod files;
mod journal;
mod keys;
mod logs;
mod sorting;
mod workspaces;
