//! Writes ZIP and tar archives, including invalid ones.

use flate2::{Compression, Crc, write::DeflateEncoder};
use std::io::Write as _;

/// A file to add to an archive.
#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) content: Vec<u8>,
    pub(crate) method: u16,
    pub(crate) flags: u16,
    /// The system that wrote the file, and its attributes on that system.
    pub(crate) host: u8,
    pub(crate) attributes: u32,
    pub(crate) extra: Vec<u8>,
}

pub(crate) fn entry(name: &str, content: &[u8]) -> Entry {
    Entry {
        name: name.as_bytes().to_vec(),
        content: content.to_vec(),
        method: 8,
        flags: 0,
        host: 3,
        attributes: 0,
        extra: Vec::new(),
    }
}

/// The form of an archive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Usual,
    /// Sizes follow the contents.
    Described,
    /// Sizes of 64 bits follow the contents.
    LongDescribed,
    /// All numbers have 64 bits.
    Long,
}

fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn crc(content: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(content);
    crc.sum()
}

fn push_numbers(out: &mut Vec<u8>, numbers16: &[u16]) {
    for number in numbers16 {
        out.extend(number.to_le_bytes());
    }
}

fn put32(out: &mut Vec<u8>, numbers32: &[u32]) {
    for number in numbers32 {
        out.extend(number.to_le_bytes());
    }
}

/// 2024-05-06 07:08:10
const TIME: [u16; 2] = [7 << 11 | 8 << 5 | 5, 44 << 9 | 5 << 5 | 6];

pub(crate) fn zip_as(form: Form, entries: &[Entry]) -> Vec<u8> {
    let (mut out, mut list) = (Vec::new(), Vec::new());
    for entry in entries {
        let data = if entry.method == 8 { deflated(&entry.content) } else { entry.content.clone() };
        let sizes = [crc(&entry.content), data.len() as u32, entry.content.len() as u32];
        let offset = out.len() as u32;
        let described = matches!(form, Form::Described | Form::LongDescribed);
        let flags = entry.flags | if described { 8 } else { 0 };
        let lens = [entry.name.len() as u16, 0];
        out.extend(b"PK\x03\x04");
        push_numbers(&mut out, &[20, flags, entry.method, TIME[0], TIME[1]]);
        put32(&mut out, if described { &[0, 0, 0] } else { &sizes });
        push_numbers(&mut out, &lens);
        out.extend(&entry.name);
        out.extend(&data);
        if described {
            out.extend(b"PK\x07\x08");
            if form == Form::Described {
                put32(&mut out, &sizes);
            } else {
                put32(&mut out, &[sizes[0], sizes[1], 0, sizes[2], 0]);
            }
        }
        let mut extra = entry.extra.clone();
        if form == Form::Long {
            push_numbers(&mut extra, &[1, 24]);
            for number in [sizes[2], sizes[1], offset] {
                extra.extend(u64::from(number).to_le_bytes());
            }
        }
        list.extend(b"PK\x01\x02");
        list.extend([20, entry.host]);
        push_numbers(&mut list, &[20, flags, entry.method, TIME[0], TIME[1]]);
        let long = form == Form::Long;
        let max = u32::MAX;
        put32(&mut list, &if long { [sizes[0], max, max] } else { sizes });
        push_numbers(&mut list, &[lens[0], extra.len() as u16, 0, 0, 0]);
        put32(&mut list, &[entry.attributes, if long { max } else { offset }]);
        list.extend(&entry.name);
        list.extend(extra);
    }
    let (start, len, count) = (out.len() as u64, list.len() as u64, entries.len());
    out.extend(list);
    if form == Form::Long {
        let record = out.len() as u64;
        out.extend(b"PK\x06\x06");
        out.extend(44u64.to_le_bytes());
        push_numbers(&mut out, &[45, 45, 0, 0, 0, 0]);
        for number in [count as u64, count as u64, len, start] {
            out.extend(number.to_le_bytes());
        }
        out.extend(b"PK\x06\x07");
        put32(&mut out, &[0]);
        out.extend(record.to_le_bytes());
        put32(&mut out, &[1]);
        out.extend(b"PK\x05\x06");
        push_numbers(&mut out, &[0, 0, 0xFFFF, 0xFFFF]);
        put32(&mut out, &[u32::MAX, u32::MAX]);
    } else {
        out.extend(b"PK\x05\x06");
        push_numbers(&mut out, &[0, 0, count as u16, count as u16]);
        put32(&mut out, &[len as u32, start as u32]);
    }
    push_numbers(&mut out, &[0]);
    out
}

pub(crate) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let entries: Vec<Entry> = files.iter().map(|(name, content)| entry(name, content)).collect();
    zip_as(Form::Usual, &entries)
}
