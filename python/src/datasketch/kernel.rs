//! The inner loops: SHA-1 of tokens and the permutations of hash values.
//!
//! Every loop over permutations is written once, in plain Rust, and compiled once for each
//! instruction set, so that all give the same bits. SHA-1 is written twice: by the processor's own
//! instructions, two tokens at a time because each waits long for its own last result, and plainly.
#![expect(unsafe_code, reason = "instructions that not every processor has are called")]
#![expect(clippy::inline_always, reason = "loops must become a part of what they are compiled for")]

use std::sync::OnceLock;

/// Permutations whose parameters and minima stay in registers while hash values pass.
const BLOCK32: usize = 32;
/// The same, for values of 64 bits.
const BLOCK64: usize = 8;
/// 2⁶¹ − 1, the prime of the scheme `legacy`.
pub(super) const MERSENNE: u64 = (1 << 61) - 1;

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
    vectors: Vectors,
    sha: bool,
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

/// A loop compiled for each instruction set, and the choice among them.
macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident = $body:ident ($($arg:ident: $type:ty),*)) => {
        $(#[$doc])*
        pub(super) fn $name(kernel: Kernel, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2($($arg: $type),*) {
                $body($($arg),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq")]
            fn avx512($($arg: $type),*) {
                $body($($arg),*);
            }
            match kernel.vectors {
                Vectors::Portable => $body($($arg),*),
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Kernel::all` has asked the processor.
                Vectors::Avx2 => unsafe { avx2($($arg),*) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: as above.
                Vectors::Avx512 => unsafe { avx512($($arg),*) },
                #[cfg(not(target_arch = "x86_64"))]
                _ => $body($($arg),*),
            }
        }
    };
}

dispatched! {
    /// Lowers `minima[k]` to the least `a[k]·h + b[k]` mod 2³² of `hashes`, which are mixed before.
    affine32 = affine32_body(a: &[u32], b: &[u32], hashes: &mut [u32], minima: &mut [u32])
}
dispatched! {
    /// Lowers `minima[k]` to the least `a[k]·h + b[k]` mod 2⁶⁴ of `hashes`, which are mixed before.
    affine64 = affine64_body(a: &[u64], b: &[u64], hashes: &mut [u64], minima: &mut [u64])
}
dispatched! {
    /// Lowers `minima[k]` to the least `((a[k]·h + b[k]) mod 2⁶⁴) mod (2⁶¹ − 1) mod 2³²`.
    legacy = legacy_body(a: &[u64], b: &[u64], hashes: &[u64], minima: &mut [u64])
}
dispatched! {
    /// Lowers each of `minima` to that of `others`.
    least32 = least_body(minima: &mut [u32], others: &[u32])
}
dispatched! {
    /// What consistent weighted sampling gives for one sample: see [`Sample`].
    sample = sample_body(sample: &mut Sample<'_>)
}

#[inline(always)]
fn affine32_body(a: &[u32], b: &[u32], hashes: &mut [u32], minima: &mut [u32]) {
    for hash in &mut *hashes {
        *hash = mix32(*hash);
    }
    let hashes: &[u32] = hashes;
    let mut a = a.chunks_exact(BLOCK32);
    let mut b = b.chunks_exact(BLOCK32);
    let mut least = minima.chunks_exact_mut(BLOCK32);
    for ((a, b), least) in (&mut a).zip(&mut b).zip(&mut least) {
        let (mut at, mut bt, mut lt) = ([0; BLOCK32], [0; BLOCK32], [0; BLOCK32]);
        at.copy_from_slice(a);
        bt.copy_from_slice(b);
        lt.copy_from_slice(least);
        for &hash in hashes {
            for k in 0..BLOCK32 {
                lt[k] = lt[k].min(at[k].wrapping_mul(hash).wrapping_add(bt[k]));
            }
        }
        least.copy_from_slice(&lt);
    }
    let rest = a.remainder().iter().zip(b.remainder());
    for ((&a, &b), least) in rest.zip(least.into_remainder()) {
        for &hash in hashes {
            *least = (*least).min(a.wrapping_mul(hash).wrapping_add(b));
        }
    }
}

#[inline(always)]
fn affine64_body(a: &[u64], b: &[u64], hashes: &mut [u64], minima: &mut [u64]) {
    // Added to the summand, it turns the upper half of the values into negative numbers.
    const BIAS: u64 = 1 << 63;
    for hash in &mut *hashes {
        *hash = mix64(*hash);
    }
    blocks64::<BIAS>(a, b, hashes, minima, |a, b, hash| a.wrapping_mul(hash).wrapping_add(b));
}

#[inline(always)]
fn legacy_body(a: &[u64], b: &[u64], hashes: &[u64], minima: &mut [u64]) {
    if hashes.iter().all(|&hash| u32::try_from(hash).is_ok()) {
        // A factor of 32 bits spares a part of the product.
        blocks64::<0>(a, b, hashes, minima, |a, b, hash| legacy_value(a, b, hash & 0xffff_ffff));
    } else {
        blocks64::<0>(a, b, hashes, minima, legacy_value);
    }
}

#[inline(always)]
fn legacy_value(a: u64, b: u64, hash: u64) -> u64 {
    let product = a.wrapping_mul(hash).wrapping_add(b);
    let folded = (product & MERSENNE) + (product >> 61);
    // Less by the prime where it is not below it; of the low 32 bits that is one more.
    (folded + ((folded + 1) >> 61)) & 0xffff_ffff
}

/// Lowers minima to the least values. They are compared as signed numbers, which AVX2 can: `BIAS`
/// is added to each summand, and to the minima, so that these have the order of the unsigned ones.
#[inline(always)]
fn blocks64<const BIAS: u64>(
    a: &[u64],
    b: &[u64],
    hashes: &[u64],
    minima: &mut [u64],
    value: impl Fn(u64, u64, u64) -> u64 + Copy,
) {
    let mut a = a.chunks_exact(BLOCK64);
    let mut b = b.chunks_exact(BLOCK64);
    let mut least = minima.chunks_exact_mut(BLOCK64);
    if hashes.is_empty() {
        return;
    }
    for ((a, b), least) in (&mut a).zip(&mut b).zip(&mut least) {
        let (mut at, mut bt, mut lt) = ([0; BLOCK64], [0; BLOCK64], [0; BLOCK64]);
        at.copy_from_slice(a);
        for k in 0..BLOCK64 {
            bt[k] = b[k].wrapping_add(BIAS);
            // Without a bias every value is below 2³²; what was set to more than that loses anyway.
            let most = if BIAS == 0 { i64::MAX.cast_unsigned() } else { u64::MAX };
            lt[k] = least[k].min(most).wrapping_add(BIAS).cast_signed();
        }
        for &hash in hashes {
            for k in 0..BLOCK64 {
                lt[k] = lt[k].min(value(at[k], bt[k], hash).cast_signed());
            }
        }
        for k in 0..BLOCK64 {
            least[k] = lt[k].cast_unsigned().wrapping_sub(BIAS);
        }
    }
    let rest = a.remainder().iter().zip(b.remainder());
    for ((&a, &b), least) in rest.zip(least.into_remainder()) {
        for &hash in hashes {
            *least = (*least).min(value(a, b, hash));
        }
    }
}

#[inline(always)]
fn least_body(minima: &mut [u32], others: &[u32]) {
    for (least, &other) in minima.iter_mut().zip(others) {
        *least = (*least).min(other);
    }
}

/// The finalizer of `MurmurHash3` for 32 bits.
#[inline(always)]
fn mix32(mut hash: u32) -> u32 {
    hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
    hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
    hash ^ (hash >> 16)
}

/// The finalizer of `MurmurHash3` for 64 bits.
#[inline(always)]
fn mix64(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

/// One sample of a vector of weights: what `t` and `ln a` are in each dimension.
pub(super) struct Sample<'a> {
    /// Logarithms of the weights; not a number where there is none.
    pub(super) logs: &'a [f32],
    /// The parameters of the sample, one for each of `logs`.
    pub(super) rates: &'a [f32],
    /// The same.
    pub(super) betas: &'a [f32],
    /// The same.
    pub(super) ln_cs: &'a [f32],
    /// Whether the rate is taken off within the product, as `minhash_many` of datasketch does.
    pub(super) is_many: bool,
    /// Written: the quantised logarithms.
    pub(super) levels: &'a mut [f32],
    /// Written: what the sample is the least of.
    pub(super) ln_as: &'a mut [f32],
}

#[inline(always)]
fn sample_body(sample: &mut Sample<'_>) {
    let length = sample.logs.len();
    let (logs, rates) = (&sample.logs[..length], &sample.rates[..length]);
    let (betas, ln_cs) = (&sample.betas[..length], &sample.ln_cs[..length]);
    let (levels, ln_as) = (&mut sample.levels[..length], &mut sample.ln_as[..length]);
    for k in 0..length {
        levels[k] = (logs[k] / rates[k] + betas[k]).floor();
        ln_as[k] = if sample.is_many {
            ln_cs[k] - (levels[k] - betas[k] + 1.0) * rates[k]
        } else {
            ln_cs[k] - (levels[k] - betas[k]) * rates[k] - rates[k]
        };
    }
}

/// The state that SHA-1 begins with.
const START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// The first eight bytes of the SHA-1 of each token as a number, the first byte the lowest.
pub(super) fn sha1(kernel: Kernel, tokens: &[&[u8]], hashes: &mut Vec<u64>) {
    hashes.reserve(tokens.len());
    #[cfg(target_arch = "x86_64")]
    if kernel.sha {
        // SAFETY: `Kernel::all` has asked the processor for these instructions.
        unsafe { sha_x86_64::hash_all(tokens, hashes) };
        return;
    }
    hashes.extend(tokens.iter().map(|token| sha1_of(kernel, token)));
}

/// The first eight bytes of the SHA-1 of one token.
pub(super) fn sha1_of(kernel: Kernel, token: &[u8]) -> u64 {
    let mut state = [START];
    let (blocks, rest) = token.as_chunks::<64>();
    for block in blocks {
        compress(kernel, &mut state, &[*block]);
    }
    let mut last = [0; 64];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    if rest.len() >= 56 {
        compress(kernel, &mut state, &[last]);
        last = [0; 64];
    }
    last[56..].copy_from_slice(&(token.len() as u64 * 8).to_be_bytes());
    compress(kernel, &mut state, &[last]);
    first_bytes(&state[0])
}

fn first_bytes(state: &[u32; 5]) -> u64 {
    u64::from(state[0].swap_bytes()) | u64::from(state[1].swap_bytes()) << 32
}

/// The block that a token of fewer than 56 bytes is padded to.
#[inline(always)]
fn last_block(token: &[u8]) -> [u8; 64] {
    let mut block = [0; 64];
    let length = token.len();
    // Pieces of fixed lengths, the last one up to the end: a call for a few bytes takes longer.
    if let (Some(first), Some(last)) = (token.first_chunk::<32>(), token.last_chunk::<32>()) {
        block[..32].copy_from_slice(first);
        block[length - 32..length].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (token.first_chunk::<16>(), token.last_chunk::<16>())
    {
        block[..16].copy_from_slice(first);
        block[length - 16..length].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (token.first_chunk::<8>(), token.last_chunk::<8>()) {
        block[..8].copy_from_slice(first);
        block[length - 8..length].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (token.first_chunk::<4>(), token.last_chunk::<4>()) {
        block[..4].copy_from_slice(first);
        block[length - 4..length].copy_from_slice(last);
    } else {
        block.iter_mut().zip(token).for_each(|(to, &from)| *to = from);
    }
    block[length] = 0x80;
    block[62..].copy_from_slice(&(length as u16 * 8).to_be_bytes());
    block
}

/// One block of each of several messages.
#[inline]
fn compress<const N: usize>(kernel: Kernel, states: &mut [[u32; 5]; N], blocks: &[[u8; 64]; N]) {
    #[cfg(target_arch = "x86_64")]
    if kernel.sha {
        // SAFETY: `Kernel::all` has asked the processor for these instructions.
        unsafe { sha_x86_64::compress(states, blocks) };
        return;
    }
    let _ = kernel;
    for (state, block) in states.iter_mut().zip(blocks) {
        compress_portable(state, block);
    }
}

/// FIPS 180-4, section 6.1.2.
fn compress_portable(state: &mut [u32; 5], block: &[u8; 64]) {
    let mut words = [0; 80];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for t in 16..80 {
        let word: u32 = words[t - 3] ^ words[t - 8] ^ words[t - 14] ^ words[t - 16];
        words[t] = word.rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (t, word) in words.into_iter().enumerate() {
        let (choice, constant) = match t / 20 {
            0 => ((b & c) | (!b & d), 0x5a82_7999),
            1 => (b ^ c ^ d, 0x6ed9_eba1),
            2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6),
        };
        let sum = a.rotate_left(5).wrapping_add(choice).wrapping_add(e);
        let next = sum.wrapping_add(constant).wrapping_add(word);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    for (word, add) in state.iter_mut().zip([a, b, c, d, e]) {
        *word = word.wrapping_add(add);
    }
}

#[cfg(target_arch = "x86_64")]
mod sha_x86_64 {
    use std::arch::x86_64::{
        __m128i, _mm_add_epi32, _mm_extract_epi32, _mm_loadu_si128, _mm_set_epi8, _mm_set_epi32,
        _mm_sha1msg1_epu32, _mm_sha1msg2_epu32, _mm_sha1nexte_epu32, _mm_sha1rnds4_epu32,
        _mm_shuffle_epi8, _mm_xor_si128,
    };

    use super::{Kernel, START, Vectors, first_bytes, last_block, sha1_of};

    /// The hashes of all tokens: two at a time where both are short.
    #[target_feature(enable = "sha,sse4.1")]
    pub(super) fn hash_all(tokens: &[&[u8]], hashes: &mut Vec<u64>) {
        let (pairs, rest) = tokens.as_chunks::<2>();
        let kernel = Kernel { vectors: Vectors::Portable, sha: true };
        for [one, two] in pairs {
            if one.len() < 56 && two.len() < 56 {
                let mut states = [START; 2];
                compress(&mut states, &[last_block(one), last_block(two)]);
                hashes.extend(states.map(|state| first_bytes(&state)));
            } else {
                hashes.extend([one, two].map(|token| sha1_of(kernel, token)));
            }
        }
        hashes.extend(rest.iter().map(|token| sha1_of(kernel, token)));
    }

    /// What four rounds of each message work on.
    struct Rounds<const N: usize> {
        words: [[__m128i; 4]; N],
        state: [__m128i; N],
        before: [__m128i; N],
    }

    impl<const N: usize> Rounds<N> {
        /// The rounds 4·`group` to 4·`group` + 3, from the 16th on: their words are made first.
        #[inline]
        #[target_feature(enable = "sha,sse4.1")]
        fn four<const FUNCTION: i32>(&mut self, group: usize) {
            for k in 0..N {
                let words = &mut self.words[k];
                let mixed = _mm_sha1msg1_epu32(words[group & 3], words[(group + 1) & 3]);
                let mixed = _mm_xor_si128(mixed, words[(group + 2) & 3]);
                words[group & 3] = _mm_sha1msg2_epu32(mixed, words[(group + 3) & 3]);
            }
            self.turn::<FUNCTION>(group);
        }

        #[inline]
        #[target_feature(enable = "sha,sse4.1")]
        fn turn<const FUNCTION: i32>(&mut self, group: usize) {
            for k in 0..N {
                let e = _mm_sha1nexte_epu32(self.before[k], self.words[k][group & 3]);
                self.before[k] = self.state[k];
                self.state[k] = _mm_sha1rnds4_epu32::<FUNCTION>(self.state[k], e);
            }
        }
    }

    #[inline]
    #[target_feature(enable = "sha,sse4.1")]
    pub(super) fn compress<const N: usize>(states: &mut [[u32; 5]; N], blocks: &[[u8; 64]; N]) {
        let reverse = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let zero = _mm_set_epi32(0, 0, 0, 0);
        let mut rounds = Rounds { words: [[zero; 4]; N], state: [zero; N], before: [zero; N] };
        let mut first = [(zero, zero); N];
        for k in 0..N {
            let [a, b, c, d, e] = states[k].map(u32::cast_signed);
            first[k] = (_mm_set_epi32(a, b, c, d), _mm_set_epi32(e, 0, 0, 0));
            rounds.state[k] = first[k].0;
            for (word, bytes) in rounds.words[k].iter_mut().zip(blocks[k].as_chunks::<16>().0) {
                // SAFETY: sixteen bytes are there; the load needs no alignment.
                let loaded = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
                *word = _mm_shuffle_epi8(loaded, reverse);
            }
            let e = _mm_add_epi32(first[k].1, rounds.words[k][0]);
            rounds.before[k] = rounds.state[k];
            rounds.state[k] = _mm_sha1rnds4_epu32::<0>(rounds.state[k], e);
        }
        rounds.turn::<0>(1);
        rounds.turn::<0>(2);
        rounds.turn::<0>(3);
        rounds.four::<0>(4);
        rounds.four::<1>(5);
        rounds.four::<1>(6);
        rounds.four::<1>(7);
        rounds.four::<1>(8);
        rounds.four::<1>(9);
        rounds.four::<2>(10);
        rounds.four::<2>(11);
        rounds.four::<2>(12);
        rounds.four::<2>(13);
        rounds.four::<2>(14);
        rounds.four::<3>(15);
        rounds.four::<3>(16);
        rounds.four::<3>(17);
        rounds.four::<3>(18);
        rounds.four::<3>(19);
        for k in 0..N {
            let sum = _mm_add_epi32(rounds.state[k], first[k].0);
            let e = _mm_sha1nexte_epu32(rounds.before[k], first[k].1);
            states[k] = [
                _mm_extract_epi32::<3>(sum),
                _mm_extract_epi32::<2>(sum),
                _mm_extract_epi32::<1>(sum),
                _mm_extract_epi32::<0>(sum),
                _mm_extract_epi32::<3>(e),
            ]
            .map(i32::cast_unsigned);
        }
    }
}
