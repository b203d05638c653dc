//! The tests of the core from outside, one module for each subject.

mod laws;
mod sources;
mod statistics;
mod vectors;
