//! Conversions that every error of a use case implements.

/// Implements `From` of an error for the outer error that wraps it in a variant. The variants after
/// the colon are unwrapped first, so that each cause has one form in the outer error.
macro_rules! wraps_error {
    ($outer:ident::$variant:ident($inner:ident $(: $($shared:ident),+)?)) => {
        impl From<$inner> for $outer {
            fn from(error: $inner) -> Self {
                match error {
                    $($($inner::$shared(error) => error.into(),)+)?
                    error => Self::$variant(error.into()),
                }
            }
        }
    };
}
pub(crate) use wraps_error;

/// Implements `From` of engine errors, `Display` and `Error` for an error that has a variant `Find`
/// and messages in `NamesParameters`. Each arm returns the source of a further variant.
macro_rules! wraps_find_error {
    ($error:ident $(, $variant:pat => $source:expr)*) => {
        impl<E: Into<FindError>> From<E> for $error {
            fn from(error: E) -> Self {
                Self::Find(error.into())
            }
        }

        impl std::fmt::Display for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.fmt_with(f, lookalike_core::parameter::Parameter::plain)
            }
        }

        impl std::error::Error for $error {
            fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
                match self {
                    Self::Find(error) => error.source(),
                    $($variant => $source,)*
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use wraps_find_error;
