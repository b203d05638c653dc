//! The page's own script and style → a content security policy that allows these and nothing else.
//!
//! The policy names them by their SHA-256 (FIPS 180-4), so mark-up that came into the page by a
//! mistake could not run. Computed when the page is written, so it cannot fall behind the files.

/// What the meta element holds: nothing is fetched, no form is sent, no frame or base is set.
pub(super) fn content_security_policy(script: &str, style: &str) -> String {
    format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
        source(script),
        source(style)
    )
}

/// `sha256-` and the digest in base 64.
fn source(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::from("sha256-");
    for three in sha256(text.as_bytes()).chunks(3) {
        let mut bits = 0u32;
        for at in 0..3 {
            bits = bits << 8 | u32::from(three.get(at).copied().unwrap_or(0));
        }
        for at in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * at)) as usize & 63];
            out.push(if at <= three.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    let (constants, mut state) = constants();
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((bytes.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks_exact(64) {
        let mut words = [0u32; 64];
        for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
            *word = bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        for at in 16..64 {
            let (w, x) = (words[at - 15], words[at - 2]);
            let s0 = w.rotate_right(7) ^ w.rotate_right(18) ^ (w >> 3);
            let s1 = x.rotate_right(17) ^ x.rotate_right(19) ^ (x >> 10);
            words[at] =
                words[at - 16].wrapping_add(s0).wrapping_add(words[at - 7]).wrapping_add(s1);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = state;
        for (word, constant) in words.into_iter().zip(constants) {
            let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = (e & f) ^ (!e & g);
            let one = h.wrapping_add(s1).wrapping_add(choice);
            let one = one.wrapping_add(constant).wrapping_add(word);
            let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let two = s0.wrapping_add((a & b) ^ (a & c) ^ (b & c));
            (h, g, f, e, d, c, b, a) =
                (g, f, e, d.wrapping_add(one), c, b, a, one.wrapping_add(two));
        }
        for (sum, value) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *sum = sum.wrapping_add(value);
        }
    }
    let mut digest = [0; 32];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    digest
}

/// The standard's constants: the first 32 bits behind the point of the cube roots of the first 64
/// primes, and of the square roots of the first eight. By whole numbers, so exactly.
fn constants() -> ([u32; 64], [u32; 8]) {
    let mut primes = (2u128..).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0));
    let (mut cubes, mut squares) = ([0; 64], [0; 8]);
    for (at, cube) in cubes.iter_mut().enumerate() {
        let prime = primes.next().unwrap_or(2);
        // The root of prime · 2^(32 · power) is the root of the prime, shifted by 32 bits.
        *cube = root(prime << 96, 3) as u32;
        if let Some(square) = squares.get_mut(at) {
            *square = root(prime << 64, 2) as u32;
        }
    }
    (cubes, squares)
}

/// The largest number whose power is at most `of`; below 2^36, so that no power overflows.
fn root(of: u128, power: u32) -> u128 {
    (0..36).rev().fold(0, |root, bit| {
        let larger = root | 1 << bit;
        if larger.pow(power) <= of { larger } else { root }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write;

    fn hexadecimal(bytes: &[u8]) -> String {
        bytes.iter().fold(String::new(), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
    }

    #[test]
    fn known_answers() {
        // FIPS 180-4, appendix, and lengths on both sides of the padding's edge.
        let digest = |text: &[u8]| hexadecimal(&sha256(text));
        assert_eq!(
            digest(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(digest(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        assert_eq!(
            digest(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        );
        assert_eq!(source(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn lengths_at_the_edge_of_a_block() {
        let digests = [
            (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
            (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
            (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        ];
        for (length, digest) in digests {
            assert_eq!(hexadecimal(&sha256(&vec![b'a'; length])), digest, "{length}");
        }
    }
}
