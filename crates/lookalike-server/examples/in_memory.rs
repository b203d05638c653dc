//! Serves an index that is gone with the process: `cargo run -p lookalike-server --example
//! in_memory -- 127.0.0.1:8377`.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "an example")]

use lookalike::core::params::{Params, ParamsBuilder};
use lookalike::read::Normalization;
use lookalike::store::Index;
use lookalike::store::memory::MemoryBackend;
use lookalike::store::settings::{IndexSettings, StoredContent};
use lookalike_server::{Config, Log, LogFormat, Server, StopHandle};
use std::sync::Arc;

fn main() {
    let params = Params::new(&ParamsBuilder::default()).unwrap();
    let settings =
        IndexSettings::new(&params, &Normalization::default().to_string(), StoredContent::Texts)
            .unwrap();
    let index = Index::new(Box::new(MemoryBackend::new(settings))).unwrap();
    let log = Log { format: LogFormat::Text, sink: Arc::new(|| Box::new(std::io::stderr())) };
    let mut config = Config { log, ..Config::default() };
    if let Some(address) = std::env::args().nth(1) {
        config.listen = address.parse().unwrap();
    }
    let server = Server::bind(index, config).unwrap();
    println!("http://{}", server.address());
    server.run(&StopHandle::new(), true).unwrap();
}
