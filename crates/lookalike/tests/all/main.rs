//! The tests of the library, one module for each subject. `html` is a test program of its own.

mod audit;
mod candidates;
mod collection;
mod containment;
mod dedup;
mod exact;
mod files;
mod held;
mod huge;
mod index;
mod laws;
mod memory;
mod read;
mod scripts;
mod truth;
