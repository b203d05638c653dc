//! What the processor can do, and which of the inner loops are run on it.

use std::sync::OnceLock;

/// The instruction sets that there are loops for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Vectors {
    /// What every processor of the architecture has.
    Portable,
    /// 256 bits at a time.
    Avx2,
    /// 512 bits at a time, with products of 64 bits.
    Avx512,
}

/// What the loops are run with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kernel {
    pub(super) vectors: Vectors,
    /// Whether there are instructions for SHA-1.
    pub(super) sha: bool,
}

impl Kernel {
    /// The quickest that this processor has.
    pub(super) fn best() -> Self {
        static BEST: OnceLock<Kernel> = OnceLock::new();
        *BEST.get_or_init(|| Self::all().pop().unwrap_or(Self::portable()))
    }

    /// What every processor has.
    pub(super) const fn portable() -> Self {
        Self { vectors: Vectors::Portable, sha: false }
    }

    /// All that this processor has, the quickest last.
    pub(super) fn all() -> Vec<Self> {
        let vectors = [Vectors::Portable, Vectors::Avx2, Vectors::Avx512];
        let available = vectors.into_iter().filter(|vectors| vectors.is_available());
        let with_sha: &[bool] = if has_sha() { &[false, true] } else { &[false] };
        available
            .flat_map(|vectors| with_sha.iter().map(move |&sha| Self { vectors, sha }))
            .collect()
    }

    /// `avx2+sha`, `portable`, …
    pub(super) fn name(self) -> String {
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
                is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq")
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
