//! Loops over blocks of fixed width, which the compiler turns into vectors of the target's width.
//! They serve processors without a variant of their own, and the x86-64 variants wherever
//! intrinsics are not faster.
//!
//! Only whole blocks are computed: buffers are padded, and a partly used block costs less than a
//! branch on its length (measured 6.5 → 4.0 ns per word for shingles).

use super::buffers::{HashBuckets, HashParameters, PAD, ROW_BLOCK, ShingleBuffer, SortBuffers};
use super::scalar::{self, FALLBACK, PRIME};
use crate::hash;
use crate::params::Scheme;

/// Shingles computed side by side.
const BLOCK: usize = 32;
const _: () = assert!(BLOCK <= PAD, "the last block must fit the padding");
/// Maximum number of hash functions that are computed one by one, over a vector of shingles. A
/// vector of functions would compute unused values.
pub(super) const FEW: usize = 8;
/// Number of shingles that are hashed before their bins are lowered.
const HASHED: usize = 128;
/// Maximum number of bins that are selected by the top bits of a hash.
const BINS: usize = 512;
/// Signature values whose minima stay in registers together.
const LANES: usize = 64;

/// See [`super::Kernel::combine`]; `tokens` is padded, room for `count` shingles has been made.
#[inline(always)]
pub(super) fn combine(tokens: &[u64], count: usize, size: usize, out: &mut ShingleBuffer) {
    let mut at = 0;
    while at < count {
        let mut sums = [0u64; BLOCK];
        for j in 0..size {
            // The last block reads past the last shingle's tokens, at most BLOCK + size entries.
            let Some(tokens) = tokens.get(at + j..).and_then(|t| t.first_chunk::<BLOCK>()) else {
                break;
            };
            for (sum, token) in sums.iter_mut().zip(tokens) {
                *sum = sum.wrapping_mul(hash::P).wrapping_add(*token);
            }
        }
        for sum in &mut sums {
            *sum = hash::finish(*sum);
        }
        let used = BLOCK.min(count - at);
        for sum in &sums[..used] {
            out.sums[0] = out.sums[0].wrapping_add(*sum);
            out.sums[1] = out.sums[1].wrapping_add(scalar::product(*sum));
        }
        for (upper, sum) in out.upper[out.len + at..][..BLOCK].iter_mut().zip(&sums) {
            *upper = (*sum >> 32) as u32;
        }
        if out.has_full_hashes {
            out.full_hashes[out.len + at..][..BLOCK].copy_from_slice(&sums);
        }
        at += BLOCK;
    }
    out.len += count;
}

/// See [`super::Kernel::sketch`]. The later round and the fallback run only while values are empty.
#[inline(always)]
pub(super) fn sketch(parameters: &HashParameters, shingles: &[u32], out: &mut [u32]) {
    out.fill(u32::MAX);
    if shingles.is_empty() {
        return;
    }
    let k = parameters.num_hashes;
    let out = &mut out[..k];
    let by_bits = k.is_power_of_two() && (2..=BINS).contains(&k);
    for (round, functions) in (0..).zip(&parameters.rounds) {
        if !by_bits {
            each_block(*functions, shingles, |hashes| lower_bins(hashes, round, out));
        } else if round == 0 {
            first_round(*functions, shingles, out);
        } else {
            let mut is_empty = [false; BINS];
            for (is_empty, value) in is_empty.iter_mut().zip(&*out) {
                *is_empty = *value == u32::MAX;
            }
            each_block(*functions, shingles, |hashes| {
                // Few bins are empty: a branch for each hash would be mispredicted.
                let mut hits = [0; HASHED];
                let mut count = 0;
                for &z in hashes {
                    hits[count] = z;
                    count += usize::from(is_empty[bin_by_bits(z, k)]);
                }
                lower_bins(&hits[..count], round, out);
            });
        }
        if !out.contains(&u32::MAX) {
            return;
        }
    }
    fill_empty(parameters, shingles, out);
}

/// Hashes the shingles with one function, and passes the hashes to `take` block by block.
#[inline(always)]
fn each_block((a, b): (u32, u32), shingles: &[u32], mut take: impl FnMut(&[u32])) {
    for shingles in shingles.chunks(HASHED) {
        let mut hashes = [0; HASHED];
        for (hash, x) in hashes.iter_mut().zip(shingles) {
            *hash = (x ^ b).wrapping_mul(a);
        }
        take(&hashes[..shingles.len()]);
    }
}

/// Lowers the value of the bin of each hash.
#[inline(always)]
fn lower_bins(hashes: &[u32], round: u32, out: &mut [u32]) {
    for &z in hashes {
        let (bin, value) = scalar::bin(z, out.len(), round);
        let least = &mut out[bin];
        *least = if value < *least { value } else { *least };
    }
}

/// The bin of a hash, if the number of bins is a power of two from 2 to [`BINS`].
#[inline(always)]
fn bin_by_bits(z: u32, bins: usize) -> usize {
    (z >> (u32::BITS - bins.trailing_zeros())) as usize % BINS
}

/// Round 0, if the number of bins is a power of two. The hashes of one bin have the same order as
/// their values, so bins store whole hashes until the end.
#[inline(always)]
fn first_round(functions: (u32, u32), shingles: &[u32], out: &mut [u32]) {
    let k = out.len();
    let mut bins = [u32::MAX; BINS];
    let mut greatest = 0;
    each_block(functions, shingles, |hashes| {
        for &z in hashes {
            let least = &mut bins[bin_by_bits(z, k)];
            *least = if z < *least { z } else { *least };
        }
        greatest = hashes.iter().fold(greatest, |greatest, z| greatest.max(*z));
    });
    for (value, &z) in out.iter_mut().zip(&bins) {
        *value = if z == u32::MAX { z } else { scalar::bin(z, k, 0).1 };
    }
    // The greatest hash and an empty value have the same bits.
    if greatest == u32::MAX {
        out[k - 1] = out[k - 1].min(scalar::bin(greatest, k, 0).1);
    }
}

/// Computes the classic minimum for every empty value, a few at a time.
#[inline(always)]
fn fill_empty(parameters: &HashParameters, shingles: &[u32], out: &mut [u32]) {
    const GROUP: usize = 32;
    let mut next = 0;
    while next < out.len() {
        let (mut places, mut filled) = ([0usize; GROUP], 0);
        let (mut a, mut b) = ([0u32; GROUP], [0u32; GROUP]);
        while next < out.len() && filled < GROUP {
            if out[next] == u32::MAX {
                places[filled] = next;
                a[filled] = parameters.a[next];
                b[filled] = parameters.b[next];
                filled += 1;
            }
            next += 1;
        }
        if filled == 0 {
            return;
        }
        let mut least = [u32::MAX; GROUP];
        if filled <= FEW {
            for lane in 0..filled {
                let hashes = shingles.iter().map(|x| (x ^ b[lane]).wrapping_mul(a[lane]));
                least[lane] = hashes.fold(u32::MAX, u32::min);
            }
        } else {
            for &x in shingles {
                for lane in 0..GROUP {
                    least[lane] = least[lane].min((x ^ b[lane]).wrapping_mul(a[lane]));
                }
            }
        }
        for lane in 0..filled {
            out[places[lane]] = FALLBACK | least[lane] >> 2;
        }
    }
}

/// See [`super::Kernel::classic`]. One loop per family, so that the choice is outside of the loop.
#[inline(always)]
pub(super) fn classic(parameters: &HashParameters, shingles: &[u32], out: &mut [u32]) {
    classic_by::<8>(parameters, shingles, out, least_sums);
}

/// Like [`classic`], with another [`least_sums`] for `WIDE` functions modulo a prime.
#[inline(always)]
pub(super) fn classic_by<const WIDE: usize>(
    parameters: &HashParameters,
    shingles: &[u32],
    out: &mut [u32],
    least_sums: impl Fn(&[u64; WIDE], &[u64; WIDE], &[u32]) -> [i64; WIDE],
) {
    match parameters.scheme {
        Scheme::MultiplyShift => {
            minima(parameters, shingles, out, |x, a, b| x.wrapping_mul(a).wrapping_add(b));
        }
        Scheme::ModPrime => mod_prime_minima(parameters, shingles, out, least_sums),
        Scheme::Xor => minima(parameters, shingles, out, |x, _, b| x ^ b),
        Scheme::XorMultiply | Scheme::FastSimilarity => {
            minima(parameters, shingles, out, |x, a, b| (x ^ b).wrapping_mul(a));
        }
    }
}

/// The least `factor·x + addend` of each function, as signed numbers that wrap.
#[inline(always)]
fn least_sums<const WIDE: usize>(
    factors: &[u64; WIDE],
    addends: &[u64; WIDE],
    shingles: &[u32],
) -> [i64; WIDE] {
    let mut least = [i64::MAX; WIDE];
    for &x in shingles {
        for lane in 0..WIDE {
            let sum = factors[lane].wrapping_mul(u64::from(x)).wrapping_add(addends[lane]);
            least[lane] = least[lane].min(sum.cast_signed());
        }
    }
    least
}

#[inline(always)]
fn minima(
    parameters: &HashParameters,
    shingles: &[u32],
    out: &mut [u32],
    hash: impl Fn(u32, u32, u32) -> u32,
) {
    let parameters = parameters.a.chunks_exact(LANES).zip(parameters.b.chunks_exact(LANES));
    for (out, (a, b)) in out.chunks_exact_mut(LANES).zip(parameters) {
        let mut least = [u32::MAX; LANES];
        for &x in shingles {
            for lane in 0..LANES {
                least[lane] = least[lane].min(hash(x, a[lane], b[lane]));
            }
        }
        out.copy_from_slice(&least);
    }
}

/// Minima of `(a·x + b) mod PRIME` with one 64-bit multiplication for each shingle.
///
/// For a residue r, `r / PRIME` is the fractional part of `(a·x + b) / PRIME`. In units of 2⁻⁶⁴,
/// this part is the wrapping sum `factor·x + addend`. The factor is `a·2⁶⁴ / PRIME`, rounded to the
/// nearest integer. Rounding moves a sum by at most about x / 2, half of the distance of two
/// residues. Hence sums have the order of their residues, and only the least sum is converted back
/// to a residue. Rounding moves all sums in one direction. If they move down, the addend moves them
/// up, so that r = 0 does not wrap. Sums are compared as signed integers, because AVX2 has no other
/// comparison.
#[inline(always)]
fn mod_prime_minima<const WIDE: usize>(
    parameters: &HashParameters,
    shingles: &[u32],
    out: &mut [u32],
    least_sums: impl Fn(&[u64; WIDE], &[u64; WIDE], &[u32]) -> [i64; WIDE],
) {
    /// 2⁶⁴ = `UNIT` · `PRIME` + `REST`.
    const UNIT: u64 = u64::MAX / PRIME;
    const REST: u64 = u64::MAX % PRIME + 1;
    const HALF: u64 = 1 << 31;
    const SIGN: u64 = 1 << 63;
    let (a, _) = parameters.a.as_chunks::<WIDE>();
    let (b, _) = parameters.b.as_chunks::<WIDE>();
    for (out, (a, b)) in out.as_chunks_mut::<WIDE>().0.iter_mut().zip(a.iter().zip(b)) {
        let mut factors = [0u64; WIDE];
        let mut addends = [0u64; WIDE];
        for lane in 0..WIDE {
            let (a, b) = (u64::from(a[lane]), u64::from(b[lane]));
            let half = !(a * REST) & HALF;
            factors[lane] = (a * UNIT).wrapping_add((a * REST + HALF) >> 32);
            addends[lane] = (b * UNIT + ((b * REST) >> 32) + 1 + half) ^ SIGN;
        }
        for (out, least) in out.iter_mut().zip(least_sums(&factors, &addends, shingles)) {
            let sum = least.cast_unsigned() ^ SIGN;
            let residue = ((u128::from(sum) * u128::from(PRIME)) >> 64) as u64;
            *out = u32::try_from(residue).unwrap_or(u32::MAX);
        }
    }
}

/// See [`super::Kernel::count_equal_rows`].
#[inline(always)]
pub(super) fn count_equal_rows(probe: &[u8], rows: &[u8], counts: &mut [u16]) {
    let (probe_blocks, rest) = probe.as_chunks::<ROW_BLOCK>();
    debug_assert!(rest.is_empty(), "rows have whole blocks");
    counts.fill(0);
    let rows = rows.chunks_exact(probe.len().max(1));
    for (count, row) in counts.iter_mut().zip(rows) {
        for (a, b) in row.as_chunks::<ROW_BLOCK>().0.iter().zip(probe_blocks) {
            // At most the length of a block, which fits in a byte.
            let equal: u8 = a.iter().zip(b).map(|(x, y)| u8::from(x == y)).sum();
            *count += u16::from(equal);
        }
    }
}

/// Buckets of at most this many hashes are not sorted by comparison.
pub(super) const SMALL_BUCKET: usize = 8;

/// See [`super::Kernel::sort`]. Hashes are uniform, so their top bits divide them into small
/// buckets in O(n). `sort_small` writes small buckets to their place in `out`, in ascending order.
/// Larger buckets, such as repeats of a frequent word, are sorted by comparison.
#[inline(always)]
pub(super) fn sort_by_buckets(
    hashes: &[u64],
    out: &mut Vec<u64>,
    buffers: &mut SortBuffers,
    sort_small: impl Fn(HashBuckets<'_>, &mut [u64]),
) {
    if hashes.len() < 32 || hashes.len() > u32::MAX as usize {
        return scalar::sort(hashes, out);
    }
    let SortBuffers { starts, buckets, .. } = buffers;
    let bits = hashes.len().ilog2();
    let shift = 64 - bits;
    starts.clear();
    starts.resize((1 << bits) + 2, 0);
    for &hash in hashes {
        starts[(hash >> shift) as usize + 2] += 1;
    }
    let mut largest = 0;
    for i in 1..starts.len() {
        largest = largest.max(starts[i]);
        starts[i] += starts[i - 1];
    }
    if buckets.len() < hashes.len() + SMALL_BUCKET {
        buckets.resize(hashes.len() + SMALL_BUCKET, 0);
    }
    // Moves the start of each bucket to its end, which is the start of the next one.
    for &hash in hashes {
        let at = &mut starts[(hash >> shift) as usize + 1];
        buckets[*at as usize] = hash;
        *at += 1;
    }
    out.resize(hashes.len(), 0);
    buckets[hashes.len()..][..SMALL_BUCKET].fill(u64::MAX);
    let hashes = &buckets[..hashes.len()];
    sort_small(HashBuckets { hashes, padded: buckets, starts, shift }, out);
    if largest as usize > SMALL_BUCKET {
        for ends in starts[..=1 << bits].windows(2) {
            let bucket = ends[0] as usize..ends[1] as usize;
            if bucket.len() > SMALL_BUCKET {
                out[bucket.clone()].copy_from_slice(&buckets[bucket.clone()]);
                out[bucket].sort_unstable();
            }
        }
    }
}

/// See [`super::Kernel::sort`].
pub(super) fn sort(hashes: &[u64], out: &mut Vec<u64>, buffers: &mut SortBuffers) {
    sort_by_buckets(hashes, out, buffers, |buckets, out| {
        for (i, &hash) in buckets.hashes.iter().enumerate() {
            let start = buckets.starts[(hash >> buckets.shift) as usize] as usize;
            // Buckets that are larger are sorted afterwards.
            let least = start.max((i + 1).saturating_sub(SMALL_BUCKET));
            let mut at = i;
            while at > least && out[at - 1] > hash {
                out[at] = out[at - 1];
                at -= 1;
            }
            out[at] = hash;
        }
    });
}
