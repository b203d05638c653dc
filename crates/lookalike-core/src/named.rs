//! The names of enum values, such as `fold` and `keep` of [`Case`](crate::params::Case).

/// Declares the names of an enum's values once, for parsing and printing.
macro_rules! named {
    ($type:ident, $parameter:ident, $expected:literal,
     $($variant:ident = $name:literal),+ $(,)?) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $name),+ })
            }
        }
        impl std::str::FromStr for $type {
            type Err = $crate::error::ParamsError;
            fn from_str(text: &str) -> Result<Self, $crate::error::ParamsError> {
                match text {
                    $($name => Ok(Self::$variant),)+
                    _ => Err($crate::error::ParamsError::Parse {
                        parameter: $crate::parameter::Parameter::$parameter,
                        got: text.to_owned(),
                        expected: $expected,
                    }),
                }
            }
        }
    };
}

pub(crate) use named;
