//! What a command tells the process that called it.

/// A number from 0 to 255; 0 for success. That of the standard library cannot be read again, and
/// an interpreter that calls commands needs the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    /// It went well.
    pub const SUCCESS: Self = Self(0);
    /// It went wrong.
    pub const FAILURE: Self = Self(1);

    /// 3, which `--exit-code` asks for where something was found; 0 otherwise.
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
