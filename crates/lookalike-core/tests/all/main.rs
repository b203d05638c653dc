//! Tests of the public interface of the core, one module for each subject.

mod laws;
mod sources;
mod statistics;
mod vectors;
