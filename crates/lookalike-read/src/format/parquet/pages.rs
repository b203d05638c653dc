//! The bytes and the pages of a Parquet file. Both are checked for plausibility before the decoder
//! uses them, because the decoder allocates memory for as many values as a page claims.

use crate::bytes::read_exact_at;
use ::parquet::basic::Type;
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

/// Number of bytes that are read at a time to find a page's header.
const HEADER_BYTES: usize = 1 << 10;

/// A file that all threads read at their own positions.
#[derive(Clone)]
pub(super) struct SharedFile {
    file: Arc<File>,
    length: u64,
}

impl SharedFile {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), length })
    }
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<From>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(HEADER_BYTES, From { shared: self.clone(), at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!(
                "{length} bytes at {start}, the file has {}",
                self.length
            )));
        }
        let mut bytes = vec![0; length];
        read_exact_at(&self.file, &mut bytes, start)?;
        Ok(bytes.into())
    }
}

/// The file from a position on.
pub(super) struct From {
    shared: SharedFile,
    at: u64,
}

impl Read for From {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.shared.length.saturating_sub(self.at);
        let count = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        read_exact_at(&self.shared.file, &mut buffer[..count], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// The pages of a column of a row group.
pub(super) struct CheckedPages<P> {
    pub(super) pages: P,
    pub(super) kind: Type,
    /// Number of rows that are not in the pages read so far.
    pub(super) rows: u64,
}

impl<P: PageReader> CheckedPages<P> {
    fn check(&mut self, page: &Page) -> Result<()> {
        let bytes = page.buffer().len() as u64;
        let values = u64::from(page.num_values());
        match page {
            Page::DictionaryPage { .. } => {
                let most = match self.kind {
                    Type::BOOLEAN => bytes * 8,
                    Type::INT64 | Type::DOUBLE => bytes / 8,
                    _ => bytes / 4,
                };
                if values > most {
                    return Err(promise(values, "values of a dictionary", most));
                }
                return Ok(());
            }
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                if levels > bytes {
                    return Err(promise(levels, "bytes of levels", bytes));
                }
            }
            Page::DataPage { .. } => {}
        }
        if values > self.rows {
            return Err(promise(values, "rows", self.rows));
        }
        self.rows -= values;
        Ok(())
    }
}

fn promise(got: u64, unit: &str, most: u64) -> ParquetError {
    ParquetError::General(format!("a page promises {got} {unit}, there can be {most}"))
}

impl<P: PageReader> Iterator for CheckedPages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

impl<P: PageReader> PageReader for CheckedPages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check(page)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }
}
