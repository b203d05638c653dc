//! The exit code of a command.

/// A number from 0 to 255, 0 for success. An interpreter that calls commands needs the number, and
/// the standard library's type does not return it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    /// The command succeeded.
    pub const SUCCESS: Self = Self(0);
    /// The command failed.
    pub const FAILURE: Self = Self(1);

    /// Returns 3, the code of `--exit-code` for a result, if `is_found`; otherwise 0.
    pub(crate) fn found_if(is_found: bool) -> Self {
        Self(if is_found { 3 } else { 0 })
    }

    /// The number.
    pub fn number(self) -> u8 {
        self.0
    }
}

impl From<u8> for ExitCode {
    fn from(number: u8) -> Self {
        Self(number)
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.0)
    }
}
