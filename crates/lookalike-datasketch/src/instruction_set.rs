//! The instructions of the processor, which select the variants of the inner loops.

use std::sync::OnceLock;

/// The vector instructions that loops are compiled for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vectors {
    /// Instructions of every processor of the architecture.
    Portable,
    /// 256 bits at a time.
    Avx2,
    /// 512 bits at a time, with products of 64 bits.
    Avx512,
}

/// Instructions of this processor. A value of this type proves that the processor has them, which
/// makes calls of loops with these instructions sound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InstructionSet {
    pub(crate) vectors: Vectors,
    /// Whether the processor has SHA-1 instructions.
    pub(crate) sha: bool,
}

impl InstructionSet {
    /// The fastest instructions of this processor.
    pub fn best() -> Self {
        static BEST: OnceLock<InstructionSet> = OnceLock::new();
        *BEST.get_or_init(|| Self::available().pop().unwrap_or(Self::portable()))
    }

    /// The instructions of every processor.
    pub const fn portable() -> Self {
        Self { vectors: Vectors::Portable, sha: false }
    }

    /// All instruction sets of this processor, the fastest last.
    pub fn available() -> Vec<Self> {
        let vectors = [Vectors::Portable, Vectors::Avx2, Vectors::Avx512];
        let available = vectors.into_iter().filter(|vectors| vectors.is_available());
        let with_sha: &[bool] = if has_sha() { &[false, true] } else { &[false] };
        available
            .flat_map(|vectors| with_sha.iter().map(move |&sha| Self { vectors, sha }))
            .collect()
    }

    /// The name of the set, such as `avx2+sha` or `portable`.
    pub fn name(self) -> String {
        let vectors = match self.vectors {
            Vectors::Portable => "portable",
            Vectors::Avx2 => "avx2",
            Vectors::Avx512 => "avx512",
        };
        if self.sha { format!("{vectors}+sha") } else { vectors.to_owned() }
    }
}

impl Vectors {
    fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512dq")
            }
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }
}

fn has_sha() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("sha") && is_x86_feature_detected!("sse4.1");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portable_comes_first_best_comes_last() {
        let available = InstructionSet::available();
        assert_eq!(available.first(), Some(&InstructionSet::portable()));
        assert_eq!(available.last(), Some(&InstructionSet::best()));
        let mut names: Vec<String> = available.into_iter().map(InstructionSet::name).collect();
        assert_eq!(names[0], "portable");
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
