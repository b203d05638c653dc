//! The generator MT19937 with the seeding and the draws of `NumPy`'s `RandomState`.
//!
//! The crate `rand_mt` has the generator alone: seeding with one word as here, but not the masked
//! rejection of `RandomState.randint`, which is a third of this file. A reader of 60 lines saves a
//! dependency; speed is no reason, since parameters are drawn once for each seed.

const LENGTH: usize = 624;
const SHIFT: usize = 397;

/// Matsumoto and Nishimura's generator, of 32-bit numbers.
pub struct MersenneTwister {
    state: [u32; LENGTH],
    next: usize,
}

impl MersenneTwister {
    /// A generator seeded as `init_genrand` of its authors does, and `RandomState(seed)`.
    pub fn new(seed: u32) -> Self {
        let mut state = [0; LENGTH];
        let mut word = seed;
        for (k, place) in state.iter_mut().enumerate() {
            *place = word;
            word = 1_812_433_253u32.wrapping_mul(word ^ (word >> 30)).wrapping_add(k as u32 + 1);
        }
        Self { state, next: LENGTH }
    }

    /// A number of 32 bits.
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

    /// A number of 64 bits: the first draw is its upper half.
    pub fn next64(&mut self) -> u64 {
        let high = u64::from(self.next32());
        high << 32 | u64::from(self.next32())
    }

    /// A number from 0 to `most`: draws of as many bits until one is not above it.
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
