//! The size of long tests.

/// Returns true if long tests run at their full size. `cargo x soak` sets `LOOKALIKE_SOAK` in the
/// environment.
#[expect(clippy::disallowed_methods, reason = "the size of tests is in the environment")]
pub fn is_soak() -> bool {
    std::env::var_os("LOOKALIKE_SOAK").is_some()
}
