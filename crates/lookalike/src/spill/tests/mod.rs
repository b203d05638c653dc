//! Temporary files against what is simple: vectors, and files that are broken on purpose.

mod files;
mod journal;
mod keys;
mod logs;
mod sorting;
mod workspaces;
