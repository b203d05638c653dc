//! Mailboxes, crawls and archives: the same documents wherever blocks end, compressed or not, and
//! the same when they are fetched again.

use super::{All, ReadOptions, gzip, read_named, zst};
use lookalike_extract::Options;
use std::path::Path;

fn fixture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/extract");
    std::fs::read(folder.join(name)).unwrap()
}

fn mailbox() -> Vec<u8> {
    let part = |number: u32| {
        format!(
            "From a@b Thu Jan  1 00:00:0{number} 1970\nFrom: a@b\nTo: c@d\nSubject: s{number}\n\
             MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\n\
             body {number} of a message\n>From here on\n--x\nContent-Type: text/plain\n\
             Content-Disposition: attachment; filename=a.txt\n\nattached {number}\n--x--\n\n"
        )
    };
    (0..9).map(part).collect::<String>().into_bytes()
}

fn everything(name: &str, bytes: &[u8], block_bytes: usize) -> All {
    let extract = Options { attachments: true, ..Options::default() };
    let options = ReadOptions { extract, ..ReadOptions::default() };
    read_named(name, bytes, &options, block_bytes).unwrap()
}

/// Ids without the folder that each reading is in.
fn ids(all: &All, name: &str) -> Vec<String> {
    let own = |id: &&str| id.rfind(name).map_or(id.to_string(), |at| id[at + name.len()..].into());
    all.ids().iter().map(own).collect()
}

#[test]
fn blocks_and_compression_do_not_matter() {
    let files = [
        ("in.mbox", mailbox(), 18),
        ("in.warc", fixture("mail/crawl.warc"), 1),
        ("in.tar", fixture("office/pax.tar"), 2),
    ];
    for (name, bytes, least) in files {
        let whole = everything(name, &bytes, 1 << 20);
        assert!(whole.documents.len() >= least, "{name}: {:?}", whole.ids());
        for block_bytes in [1, 100, 700, 5000] {
            let cut = everything(name, &bytes, block_bytes);
            assert_eq!(ids(&cut, name), ids(&whole, name), "{name} {block_bytes}");
            assert_eq!(cut.texts(), whole.texts(), "{name} {block_bytes}");
            assert_eq!(
                cut.skipped.len(),
                whole.skipped.len(),
                "{name} {block_bytes} {:?}",
                cut.skipped
            );
            assert!(cut.blocks >= whole.blocks);
        }
        for (end, packed) in [(".gz", gzip(&bytes)), (".zst", zst(&bytes))] {
            let packed_name = format!("{name}{end}");
            let unpacked = everything(&packed_name, &packed, 300);
            assert_eq!(ids(&unpacked, &packed_name), ids(&whole, name), "{packed_name}");
            assert_eq!(unpacked.texts(), whole.texts(), "{packed_name}");
        }
    }
}

#[test]
fn a_message_and_its_attachments_have_ids_of_their_own() {
    let all = everything("in.mbox", &mailbox(), 1 << 20);
    let ids = ids(&all, "in.mbox");
    assert_eq!(ids[..4], [":1", ":1/a.txt", ":19", ":19/a.txt"]);
    assert!(all.texts()[0].contains("body 0") && all.texts()[0].contains("From here"));
    assert!(all.texts()[1].contains("attached 0") && !all.texts()[0].contains("attached"));
}

#[test]
fn a_cut_off_archive_gives_what_is_there_and_says_so() {
    let bytes = fixture("office/pax.tar");
    let whole = everything("in.tar", &bytes, 1 << 20);
    for tenth in 1..10 {
        let cut = everything("in.tar", &bytes[..bytes.len() * tenth / 10], 1 << 20);
        assert!(cut.documents.len() <= whole.documents.len());
        let told = cut.reasons().iter().any(|reason| reason.contains("damaged"));
        assert!(told || cut.documents.len() == whole.documents.len(), "{tenth}: {:?}", cut.ids());
    }
}
