//! Names of files in archives. They are never used as paths for writing.

/// A relative path separated by `/`: leading slashes and drive letters are removed, `..` is kept.
/// Control characters become U+FFFD, so that a name fits on one line; an empty name becomes
/// `unnamed`.
pub(crate) fn clean(name: &str, backslashes: bool) -> String {
    let clean: String = name
        .chars()
        .map(|c| match c {
            '\\' if backslashes => '/',
            c if c.is_control() => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect();
    let mut rest = clean.as_str();
    loop {
        rest = match rest.as_bytes() {
            [b'/', ..] => rest.trim_start_matches('/'),
            [drive, b':', b'/', ..] if drive.is_ascii_alphabetic() => &rest[2..],
            _ => break,
        };
    }
    if rest.is_empty() { "unnamed".to_owned() } else { rest.to_owned() }
}

/// The upper half of code page 437, the encoding of names in old ZIP archives.
const CP437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»\
░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// Decodes code page 437.
pub(crate) fn cp437(bytes: &[u8]) -> String {
    let upper = |byte: u8| CP437.chars().nth(usize::from(byte) - 128);
    bytes.iter().map(|&b| if b < 128 { char::from(b) } else { upper(b).unwrap_or('?') }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_never_absolute() {
        let known = [
            ("a/b.txt", "a/b.txt"),
            ("/etc/passwd", "etc/passwd"),
            ("//x//y", "x//y"),
            ("C:\\Users\\x", "Users/x"),
            ("/C:/D:/x", "x"),
            ("../../x", "../../x"),
            ("a\nb\0c", "a\u{fffd}b\u{fffd}c"),
            ("", "unnamed"),
            ("///", "unnamed"),
        ];
        for (name, expected) in known {
            assert_eq!(clean(name, true), expected, "{name:?}");
        }
        assert_eq!(clean("a\\b", false), "a\\b");
    }

    #[test]
    fn code_page_437_is_complete() {
        assert_eq!(CP437.chars().count(), 128);
        // From Python: bytes([…]).decode("cp437").
        assert_eq!(cp437(&[b'a', 0x80, 0x81, 0xe1, 0xb0, 0xc4, 0xff]), "aÇüß░─\u{a0}");
    }
}
