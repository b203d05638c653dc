//! Records of a crawl (WARC, ISO 28500).
