//! The generator MT19937 with the seeding and the draws of `NumPy`'s `RandomState`.
//!
//! The crate `rand_mt` has the generator and seeding with one word, but not the masked rejection of
//! `RandomState.randint`, which is a third of this file. About 60 lines of code save a dependency.
//! Speed is not a reason, because parameters are drawn once for each seed.
//!
//! The speeds have not been compared (November 2026).

const LENGTH: usize = 624;
const SHIFT: usize = 397;

/// Matsumoto and Nishimura's generator of 32-bit numbers.
pub struct MersenneTwister {
    state: [u32; LENGTH],
    next: usize,
}

impl MersenneTwister {
    /// Creates a generator seeded like `init_genrand` of its authors and like `RandomState(seed)`.
    pub fn new(seed: u32) -> Self {
        let mut state = [0; LENGTH];
        let mut word = seed;
        for (k, place) in state.iter_mut().enumerate() {
            *place = word;
            word = 1_812_433_253u32.wrapping_mul(word ^ (word >> 30)).wrapping_add(k as u32 + 1);
        }
        Self { state, next: LENGTH }
    }

    /// The next 32-bit number.
    pub fn next32(&mut self) -> u32 {
        if self.next == LENGTH {
            self.refill();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    /// The next 64-bit number. The first draw is its upper half.
    pub fn next64(&mut self) -> u64 {
        let high = u64::from(self.next32());
        high << 32 | u64::from(self.next32())
    }

    /// A number from 0 to `most`. Draws numbers with as many bits as `most` until one is in this
    /// range.
    pub fn at_most(&mut self, most: u64) -> u64 {
        let mask = u64::MAX.checked_shr(most.leading_zeros()).unwrap_or(0);
        loop {
            let draw = self.next64() & mask;
            if draw <= most {
                return draw;
            }
        }
    }

    fn refill(&mut self) {
        for k in 0..LENGTH {
            let next = self.state[(k + 1) % LENGTH];
            let word = (self.state[k] & 0x8000_0000) | (next & 0x7fff_ffff);
            let twist = if next & 1 == 1 { 0x9908_b0df } else { 0 };
            self.state[k] = self.state[(k + SHIFT) % LENGTH] ^ (word >> 1) ^ twist;
        }
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_match_numpy() {
        // `numpy.random.RandomState(seed).bytes(2800)` as numbers of 32 bits.
        let mut twister = MersenneTwister::new(1);
        let draws: Vec<u32> = (0..700).map(|_| twister.next32()).collect();
        assert_eq!(
            [draws[0], draws[623], draws[624], draws[699]],
            [1_791_095_845, 2_006_116_153, 1_104_314_680, 2_514_098_677]
        );
        assert_eq!(MersenneTwister::new(0).next32(), 0x8c7f_0aac);
        assert_eq!(MersenneTwister::new(u32::MAX).next64(), 0x18fe_69a3_1c92_4122);
    }

    #[test]
    fn bounded_draws_match_randint() {
        // `RandomState(1).randint` of uint64 from 1 and from 0 to 2⁶¹ − 2, both included.
        let mut twister = MersenneTwister::new(1);
        assert_eq!(twister.at_most((1 << 61) - 3) + 1, 775_169_054_918_279_404);
        assert_eq!(twister.at_most((1 << 61) - 2), 1_758_426_461_858_698_312);
        assert_eq!(twister.at_most(0), 0);
        assert!((0..1000).all(|_| twister.at_most(2) <= 2));
    }
}
