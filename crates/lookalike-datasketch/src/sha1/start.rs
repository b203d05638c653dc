//! The initial state.

/// The initial state of SHA-1 (FIPS 180-4, 5.3.1).
pub(crate) const START: [u32; 5] =
    [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
