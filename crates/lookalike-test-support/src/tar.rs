//! Creates entries of tar archives. An archive ends with 1,024 zeros, which the caller appends.

/// Returns the entry of a regular file.
pub fn tar(name: &str, content: &[u8]) -> Vec<u8> {
    tar_entry(name, b'0', content)
}

/// Returns an entry of the type `kind`: a header in the ustar format, and the content padded to
/// whole blocks.
pub fn tar_entry(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 512];
    out[..name.len()].copy_from_slice(name.as_bytes());
    out[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
    out[136..147].copy_from_slice(b"00000000000");
    out[148..156].copy_from_slice(b"        ");
    out[156] = kind;
    out[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = out.iter().map(|&b| u32::from(b)).sum();
    out[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    out.extend(content);
    out.resize(out.len().next_multiple_of(512), 0);
    out
}
