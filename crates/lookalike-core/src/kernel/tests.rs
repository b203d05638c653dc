//! Every kernel returns the same bits as [`scalar`](super::scalar), also for unusual lengths and
//! texts.

use super::*;
use crate::hash::{self, SplitMix64};
use crate::params::Scheme;
use proptest::prelude::*;

fn parameters(scheme: Scheme, num_hashes: usize, seed: u64) -> HashParameters {
    let mut random = SplitMix64::new(seed);
    let padded = HashParameters::padded(num_hashes);
    HashParameters {
        scheme,
        num_hashes,
        a: (0..padded).map(|_| random.next_u32() | 1).collect(),
        b: (0..padded).map(|_| random.next_u32()).collect(),
        rounds: [(); 2].map(|()| (random.next_u32() | 1, random.next_u32())),
    }
}

fn tokens(kernel: Kernel, text: &str, rule: ScanRule) -> Vec<u64> {
    let mut out = TokenBuffer::default();
    out.reserve(text.len() + 2);
    out.push(1);
    kernel.scan(text, rule, &mut out);
    out.push(u64::from(out.unfolded()));
    out.tokens().to_vec()
}

const RULES: [TokenRule; 3] = [TokenRule::Words, TokenRule::WordRuns, TokenRule::Whitespace];

fn check_scan(text: &str) -> Result<(), TestCaseError> {
    let scalar = Kernel::named("scalar").unwrap();
    for tokens_rule in RULES {
        for fold in [false, true] {
            let rule = ScanRule { tokens: tokens_rule, fold };
            let expected = tokens(scalar, text, rule);
            for kernel in Kernel::available() {
                prop_assert_eq!(&tokens(kernel, text, rule), &expected, "{} {:?}", kernel, rule);
            }
        }
    }
    Ok(())
}

/// Text with all kinds of characters that a scan distinguishes, long enough for several blocks.
fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[a-zA-Z0-9]{1,24}",
        4 => "[ \t\n\r\u{b}\u{c}\u{1c}-\u{1f}]{1,3}",
        2 => "[-_.,;:!?'\"()/\u{0}\u{7f}]{1,3}",
        2 => "[éüßñÅçøĐłſΣσЖя\u{301}\u{308}]{1,12}",
        1 => "[\u{85}\u{a0}\u{2003}\u{2028}\u{3000}“”—…€]{1,4}",
        1 => "[漢字かなカナไทยខ្មែရ한국]{1,6}",
        1 => "[𝔘𝒎🎉👍\u{200d}\u{10ffff}]{1,3}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn scans_agree(text in any_text()) {
        check_scan(&text)?;
    }

    #[test]
    fn scans_of_dense_text_agree(text in "[aé漢 .]{0,300}") {
        check_scan(&text)?;
    }

    #[test]
    fn collapsed_texts_agree(
        text in any_text(),
        blanks in "[ \t\u{85}\u{a0}\u{1680}\u{2000}\u{200b}\u{202f}\u{205f}\u{3000}、aÀ]{0,200}",
    ) {
        for text in [text.clone(), blanks.clone(), format!("{text}{blanks}{text}")] {
            for fold in [false, true] {
                let mut expected = String::new();
                scalar::collapse(&text, fold, &mut expected);
                for kernel in Kernel::available() {
                    let mut out = String::from("left over");
                    kernel.collapse(&text, fold, &mut out);
                    prop_assert_eq!(&out, &expected, "{}", kernel);
                }
            }
        }
    }

    #[test]
    fn characters_and_bytes_agree(
        text in any_text(),
        dense in "[aé漢𝔘]{0,200}",
        ascii in "[ -~]{0,200}",
    ) {
        for text in [&text, &dense, &ascii, &format!("{ascii}{dense}{text}")] {
            let hash = |c: char| hash::token_hash(c.encode_utf8(&mut [0; 4]).as_bytes());
            let chars = text.chars().map(hash);
            let bytes = text.bytes().map(|byte| hash::token_hash(&[byte]));
            let expected: Vec<u64> = [1].into_iter().chain(chars).chain(bytes).collect();
            for kernel in Kernel::available() {
                let mut out = TokenBuffer::default();
                out.reserve(1);
                out.push(1);
                kernel.push_chars(text, &mut out);
                kernel.push_bytes(text.as_bytes(), &mut out);
                prop_assert_eq!(out.tokens(), &expected, "{}", kernel);
            }
        }
    }

    #[test]
    fn sorted_hashes_agree(seed in any::<u64>(), len in 0usize..3000, many in 1u64..40) {
        let mut random = SplitMix64::new(seed);
        for mask in [u64::MAX, 0xff, u64::MAX << 60] {
            let frequent = random.next_u64();
            let mut hash = || if random.below(many) == 0 { frequent } else { random.next_u64() };
            let mut hashes: Vec<u64> = (0..len).map(|_| hash() & mask).collect();
            if many % 2 == 0 {
                hashes.push(u64::MAX);
            }
            let mut expected = Vec::new();
            scalar::sort(&hashes, &mut expected);
            let mut distinct = expected.clone();
            distinct.dedup();
            for kernel in Kernel::available() {
                let (mut out, mut buffers) = (vec![7], SortBuffers::default());
                kernel.sort(&hashes, &mut out, &mut buffers);
                prop_assert_eq!(&out, &expected, "{}", kernel);
                // The second call finds used buffers.
                for _ in 0..2 {
                    kernel.sort_set(&hashes, &mut out, &mut buffers);
                    prop_assert_eq!(&out, &distinct, "{}", kernel);
                }
            }
        }
    }

    #[test]
    fn combinations_agree(hashes in prop::collection::vec(any::<u64>(), 0..200),
                          size in 1usize..40) {
        let mut buffer = TokenBuffer::default();
        buffer.reserve(hashes.len());
        for hash in &hashes {
            buffer.push(*hash);
        }
        for has_full_hashes in [false, true] {
            let mut expected: Option<(Vec<u32>, Vec<u64>, [u64; 2])> = None;
            for kernel in Kernel::available() {
                let mut out = ShingleBuffer::default();
                out.start(has_full_hashes);
                kernel.combine(&buffer, size, &mut out);
                kernel.combine(&buffer, size, &mut out);
                let got = (out.upper().to_vec(), out.full_hashes().to_vec(), out.sums);
                let count = (hashes.len() + 1).saturating_sub(size);
                prop_assert_eq!(got.0.len(), 2 * count);
                prop_assert_eq!(expected.get_or_insert_with(|| got.clone()), &got, "{}", kernel);
            }
        }
    }

    #[test]
    fn intersections_agree(a in prop::collection::btree_set(0u64..400, 0..150),
                           b in prop::collection::btree_set(0u64..400, 0..150),
                           more in prop::collection::btree_set(any::<u64>(), 0..3)) {
        let expected = a.intersection(&b).count();
        let large: Vec<u64> = a.iter().copied().collect();
        let b: Vec<u64> = b.into_iter().collect();
        let small: Vec<u64> = more.into_iter().collect();
        for kernel in Kernel::available() {
            prop_assert_eq!(kernel.intersect(&large, &b), expected);
            prop_assert_eq!(kernel.intersect(&b, &large), expected);
            let shared = small.iter().filter(|x| large.contains(x)).count();
            prop_assert_eq!(kernel.intersect(&small, &large), shared);
            prop_assert_eq!(kernel.intersect(&large, &large), large.len());
        }
    }

    #[test]
    fn equal_counts_agree(a in prop::collection::vec(0u32..3, 0..300)) {
        let mut b = a.clone();
        b.reverse();
        let expected = a.iter().zip(&b).filter(|(x, y)| x == y).count();
        for kernel in Kernel::available() {
            prop_assert_eq!(kernel.count_equal(&a, &b), expected);
        }
    }

    #[test]
    fn counts_of_rows_agree(
        probe in prop::collection::vec(0u8..4, 1..300),
        others in prop::collection::vec(any::<u64>(), 0..40),
    ) {
        let mut probe = probe;
        probe.resize(probe.len().next_multiple_of(ROW_BLOCK), 9);
        let mut rows = Vec::new();
        for seed in &others {
            let mut random = SplitMix64::new(*seed);
            rows.extend(probe.iter().map(|_| random.below(1 + seed % 5) as u8));
        }
        // One count more than rows: the last one must become 0.
        let mut expected = vec![7; others.len() + 1];
        scalar::count_equal_rows(&probe, &rows, &mut expected);
        prop_assert_eq!(expected.last(), Some(&0));
        for kernel in Kernel::available() {
            let mut counts = vec![3; others.len() + 1];
            kernel.count_equal_rows(&probe, &rows, &mut counts);
            prop_assert_eq!(&counts, &expected, "{}", kernel);
        }
    }
}

#[test]
fn galloping_equals_merging() {
    let mut random = SplitMix64::new(5);
    for _ in 0..300 {
        let mut large: Vec<u64> = (0..2_000).map(|_| random.below(6_000)).collect();
        let mut small: Vec<u64> = (0..random.below(30)).map(|_| random.below(6_000)).collect();
        for set in [&mut large, &mut small] {
            set.sort_unstable();
            set.dedup();
        }
        let expected = scalar::intersect(&small, &large);
        assert_eq!(scalar::intersect_galloping(&small, &large), expected);
    }
}

#[test]
fn pieces_up_to_the_longest_agree() {
    let mut random = SplitMix64::new(9);
    for len in [63, 64, 65, 127, 128, 4_000, PIECE - 1, PIECE] {
        let alphabets: [&[u8]; 3] = [b"ab ", b"a ", b"abcdefghijklmnopqrstuvwxyz "];
        for alphabet in alphabets {
            let pick = |_| alphabet[random.below(alphabet.len() as u64) as usize] as char;
            let text: String = (0..len).map(pick).collect();
            check_scan(&text).unwrap();
        }
    }
    check_scan(&"x".repeat(PIECE)).unwrap();
    check_scan(&"a ".repeat(PIECE / 2)).unwrap();
}

#[test]
fn long_sets_agree() {
    let mut random = SplitMix64::new(23);
    for len in [1 << 15, (1 << 15) + 1, 100_000] {
        let hashes: Vec<u64> = (0..len).map(|_| random.next_u64()).collect();
        let mut expected = hashes.clone();
        expected.sort_unstable();
        expected.dedup();
        for kernel in Kernel::available() {
            let (mut out, mut buffers) = (Vec::new(), SortBuffers::default());
            kernel.sort_set(&[&hashes[..], &hashes[..len / 2]].concat(), &mut out, &mut buffers);
            assert_eq!(out, expected, "{kernel} {len}");
            kernel.sort_set(&hashes, &mut out, &mut buffers);
            assert_eq!(out, expected, "{kernel} {len}");
        }
    }
}

#[test]
fn sketches_agree() {
    let scalar = Kernel::named("scalar").unwrap();
    let mut random = SplitMix64::new(17);
    for num_hashes in [1, 5, 16, 32, 64, 100, 128, 200, 256, 512, 1024] {
        let parameters = parameters(Scheme::FastSimilarity, num_hashes, num_hashes as u64);
        let mut expected = vec![0; HashParameters::padded(num_hashes)];
        let mut got = expected.clone();
        for n in
            [0, 1, 2, 15, 16, 17, 50, 300, 1_000, 6 * num_hashes + 5, 32 * num_hashes + 5, 20_011]
        {
            let shingles: Vec<u32> = (0..n).map(|_| random.next_u32()).collect();
            scalar.sketch(&parameters, &shingles, &mut expected);
            for kernel in Kernel::available() {
                kernel.sketch(&parameters, &shingles, &mut got);
                assert_eq!(got[..num_hashes], expected[..num_hashes], "{kernel} {num_hashes} {n}");
            }
        }
    }
}

#[test]
fn kernels_agree_on_the_greatest_hash() {
    let scalar = Kernel::named("scalar").unwrap();
    let mut random = SplitMix64::new(19);
    for num_hashes in [16, 32, 128, 256, 512] {
        let parameters = parameters(Scheme::FastSimilarity, num_hashes, 7);
        let (a, b) = parameters.rounds[0];
        // Newton's iteration: each step doubles the number of correct low bits.
        let inverse = (0..5).fold(a, |x, _| x.wrapping_mul(2_u32.wrapping_sub(a.wrapping_mul(x))));
        let greatest = inverse.wrapping_mul(u32::MAX) ^ b;
        assert_eq!((greatest ^ b).wrapping_mul(a), u32::MAX);
        let mut expected = vec![0; HashParameters::padded(num_hashes)];
        let mut got = expected.clone();
        for n in [0, 1, 20, 40 * num_hashes] {
            let mut shingles: Vec<u32> = (0..n).map(|_| random.next_u32()).collect();
            shingles.insert(n / 2, greatest);
            scalar.sketch(&parameters, &shingles, &mut expected);
            for kernel in Kernel::available() {
                kernel.sketch(&parameters, &shingles, &mut got);
                assert_eq!(got[..num_hashes], expected[..num_hashes], "{kernel} {num_hashes} {n}");
            }
        }
    }
}

#[test]
fn classic_minima_agree() {
    let scalar = Kernel::named("scalar").unwrap();
    let mut random = SplitMix64::new(18);
    for scheme in [Scheme::MultiplyShift, Scheme::ModPrime, Scheme::Xor, Scheme::XorMultiply] {
        for num_hashes in [1, 64, 100, 128, 200] {
            let mut parameters = parameters(scheme, num_hashes, 3);
            // The extremes of the modular reduction.
            parameters.a[0] = u32::MAX;
            parameters.b[0] = u32::MAX;
            parameters.a[1] = 1 << 31;
            let mut expected = vec![0; HashParameters::padded(num_hashes)];
            let mut got = expected.clone();
            for n in [0, 1, 2, 33, 500] {
                let mut shingles: Vec<u32> = (0..n).map(|_| random.next_u32()).collect();
                if n < 3 {
                    shingles.fill(if n == 1 { u32::MAX } else { 0 });
                }
                scalar.classic(&parameters, &shingles, &mut expected);
                for kernel in Kernel::available() {
                    kernel.classic(&parameters, &shingles, &mut got);
                    let agree = got[..num_hashes] == expected[..num_hashes];
                    assert!(agree, "{kernel} {scheme} {num_hashes} {n}");
                }
            }
        }
    }
}

#[test]
fn residues_next_to_the_prime_agree() {
    let scalar = Kernel::named("scalar").unwrap();
    let mut random = SplitMix64::new(20);
    for below in 1..300 {
        let x = random.next_u32();
        let mut parameters = parameters(Scheme::ModPrime, 64, below);
        for (a, b) in parameters.a.iter().zip(&mut parameters.b) {
            let product = u64::from(*a) * u64::from(x) % scalar::PRIME;
            let addend = (2 * scalar::PRIME - below - product) % scalar::PRIME;
            *b = u32::try_from(addend).unwrap_or(*b);
        }
        let (mut expected, mut got) = (vec![0; 64], vec![0; 64]);
        scalar.classic(&parameters, &[x], &mut expected);
        assert!(expected.contains(&u32::try_from(scalar::PRIME - below).unwrap_or(u32::MAX)));
        for kernel in Kernel::available() {
            kernel.classic(&parameters, &[x], &mut got);
            assert_eq!(got, expected, "{kernel} {below}");
        }
    }
}

/// `base` to the power of `exponent`, modulo the prime.
fn power(base: u64, exponent: u64) -> u64 {
    let times = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(scalar::PRIME)) as u64;
    (0..33).rev().fold(1, |power, bit| {
        times(times(power, power), if exponent >> bit & 1 == 1 { base } else { 1 })
    })
}

#[test]
fn neighbouring_residues_keep_their_order() {
    let prime = scalar::PRIME;
    let mut random = SplitMix64::new(21);
    for round in 0..40 {
        let parameters = parameters(Scheme::ModPrime, 128, round);
        for lane in 0..128 {
            let (a, b) = (u64::from(parameters.a[lane]), u64::from(parameters.b[lane]));
            let inverse = power(a, prime - 2);
            let least = [0, 1, prime - 2, random.next_u64() % (prime - 1)][lane % 4];
            // The shingle whose hash is `residue`.
            let shingle = |residue: u64| {
                let offset = (residue + prime - b % prime) % prime;
                u32::try_from((u128::from(offset) * u128::from(inverse) % u128::from(prime)) as u64)
            };
            let (Ok(x), Ok(y)) = (shingle(least), shingle(least + 1)) else { continue };
            for kernel in Kernel::available() {
                let mut got = vec![0; 128];
                kernel.classic(&parameters, &[y, x, y], &mut got);
                let expected = u32::try_from(least).unwrap_or(u32::MAX);
                assert_eq!(got[lane], expected, "{kernel}: {a}·{x} + {b}");
                let mut got = vec![0; 128];
                kernel.classic(&parameters, &[y], &mut got);
                assert_eq!(got[lane], u32::try_from(least + 1).unwrap_or(u32::MAX), "{kernel}");
            }
        }
    }
}

#[test]
fn an_unknown_kernel_is_refused() {
    assert!(Kernel::named("mmx").is_err());
    assert!(Kernel::available().contains(&Kernel::best()));
}
