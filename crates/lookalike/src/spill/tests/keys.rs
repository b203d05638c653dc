//! Records and keys as bytes.

use crate::spill::codec::{
    FieldReader, key_part, key_u64_descending, put_bytes, put_overlap, put_u32, put_u64,
};
use lookalike_core::verify::Overlap;
use proptest::prelude::*;
use std::cmp::Reverse;

/// Generates short byte strings of few values, so that equal beginnings and zeros are frequent.
fn part() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(vec![0u8, 1, b'a', 0xfe, 0xff]), 0..5)
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), 0..300u64, (0..64u32).prop_map(|bit| 1 << bit), Just(u64::MAX)]
}

proptest! {
    #[test]
    fn records_are_read_as_put(a in number(), b in any::<u32>(), c in part(), d in ".{0,9}") {
        let mut record = Vec::new();
        put_u64(&mut record, a);
        put_u32(&mut record, b);
        put_bytes(&mut record, &c);
        put_bytes(&mut record, d.as_bytes());
        let overlap = Overlap { intersection: b.into(), left: a, right: u64::MAX };
        put_overlap(&mut record, overlap);
        let mut reader = FieldReader::new(&record);
        prop_assert_eq!(reader.u64(), Some(a));
        prop_assert_eq!(reader.u32(), Some(b));
        prop_assert_eq!(reader.bytes(), Some(&c[..]));
        prop_assert_eq!(reader.str(), Some(&d[..]));
        prop_assert_eq!(reader.overlap(), Some(overlap));
        prop_assert!(reader.is_empty());
        for end in 0..record.len() {
            let mut reader = FieldReader::new(&record[..end]);
            let is_complete = reader.u64().is_some() && reader.u32().is_some()
                && reader.bytes().is_some() && reader.str().is_some()
                && reader.overlap().is_some();
            prop_assert!(!is_complete, "{} of {} bytes", end, record.len());
        }
    }

    #[test]
    fn field_reader_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let takes: [fn(&mut FieldReader<'_>) -> bool; 6] = [
            |r| r.u64().is_some(),
            |r| r.u32().is_some(),
            |r| r.bytes().is_some(),
            |r| r.str().is_some(),
            |r| r.overlap().is_some(),
            |r| r.key_u64_descending().is_some(),
        ];
        for take in takes {
            let mut reader = FieldReader::new(&bytes);
            while take(&mut reader) && !reader.is_empty() {}
            prop_assert!(reader.is_empty());
        }
    }

    #[test]
    fn keys_sort_like_their_values(
        a in (number(), part(), part()),
        b in (number(), part(), part()),
        equal in 0..3usize,
    ) {
        // The first parts are often equal, so that the later ones decide.
        let mut b = b;
        if equal > 0 { b.0 = a.0; }
        if equal > 1 { b.1.clone_from(&a.1); }
        let keys: Vec<Vec<u8>> = [&a, &b].map(|(down, part, last)| {
            let mut key = Vec::new();
            key_u64_descending(&mut key, *down);
            key_part(&mut key, part);
            key.extend_from_slice(last);
            key
        }).into();
        let naive = (Reverse(a.0), &a.1, &a.2).cmp(&(Reverse(b.0), &b.1, &b.2));
        prop_assert_eq!(keys[0].cmp(&keys[1]), naive);
        prop_assert_eq!(FieldReader::new(&keys[0]).key_u64_descending(), Some(a.0));
    }
}

#[test]
fn oversized_numbers_return_none() {
    let mut most = Vec::new();
    put_u64(&mut most, u64::MAX);
    assert_eq!(most.len(), 10);
    assert_eq!(FieldReader::new(&most).u64(), Some(u64::MAX));
    most[9] = 2;
    assert_eq!(FieldReader::new(&most).u64(), None, "65 bits");
    assert_eq!(FieldReader::new(&[0x80; 11]).u64(), None);
    let mut large = Vec::new();
    put_u64(&mut large, 1 << 32);
    assert_eq!(FieldReader::new(&large).u32(), None);
    let mut length = Vec::new();
    put_u64(&mut length, u64::MAX);
    assert_eq!(FieldReader::new(&length).bytes(), None);
}
