//! Bounds the unfinished requests of a token and of an address, so that one client cannot take the
//! connections of all.

use crate::config::token::TokenHash;
use crate::http::problem::Problem;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

/// Unfinished requests that are always possible, however few connections there are.
const LEAST: usize = 4;

/// The address of the client of a connection, as an extension of its requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PeerAddress(pub(crate) IpAddr);

/// A source of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum RequestSource {
    Address(IpAddr),
    Token(TokenHash),
}

impl RequestSource {
    /// The source for an address. All addresses of an IPv6 network with a prefix of 64 bits are
    /// one source, since a single client has all of them.
    pub(crate) fn address(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(ip) => {
                let network = u128::from(ip) & (u128::MAX << 64);
                Ipv6Addr::from(network).into()
            }
            ip @ IpAddr::V4(_) => ip,
        })
    }
}

/// The unfinished requests of each source.
pub(crate) struct ClientRequests {
    connections: usize,
    counts: Mutex<HashMap<RequestSource, usize>>,
}

/// A request that is counted until it is dropped.
pub(crate) struct UnfinishedRequest {
    all: Arc<ClientRequests>,
    source: RequestSource,
}

impl ClientRequests {
    /// The requests on at most this many connections.
    pub(crate) fn new(connections: usize) -> Arc<Self> {
        Arc::new(Self { connections, counts: Mutex::default() })
    }

    /// The bound for a source: half of the connections for an address, which many tokens may share,
    /// and a quarter for a token.
    fn most(&self, source: RequestSource) -> usize {
        let part = match source {
            RequestSource::Address(_) => 2,
            RequestSource::Token(_) => 4,
        };
        (self.connections / part).max(LEAST)
    }

    /// Counts a request of a source.
    ///
    /// # Errors
    /// `busy` if too many of them are unfinished.
    pub(crate) fn begin(
        self: &Arc<Self>,
        source: RequestSource,
    ) -> Result<UnfinishedRequest, Problem> {
        let most = self.most(source);
        let mut counts = self.counts.lock();
        let count = counts.entry(source).or_default();
        if *count >= most {
            let name = match source {
                RequestSource::Address(_) => "address",
                RequestSource::Token(_) => "token",
            };
            return Err(Problem::busy(&format!(
                "{most} requests of this {name} are not finished, which is the maximum"
            )));
        }
        *count += 1;
        Ok(UnfinishedRequest { all: Arc::clone(self), source })
    }
}

impl Drop for UnfinishedRequest {
    fn drop(&mut self) {
        let mut counts = self.all.counts.lock();
        if let Some(count) = counts.get_mut(&self.source) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.source);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(address: &str) -> RequestSource {
        RequestSource::address(address.parse().unwrap())
    }

    #[test]
    fn sources_are_counted_separately() {
        let all = ClientRequests::new(20);
        let token = RequestSource::Token(TokenHash::of("a"));
        let mut of_token: Vec<_> = (0..5).map(|_| all.begin(token).unwrap()).collect();
        assert!(all.begin(token).is_err());
        let of_address: Vec<_> = (0..10).map(|_| all.begin(source("10.0.0.1")).unwrap()).collect();
        assert!(all.begin(source("::ffff:10.0.0.1")).is_err());
        assert!(all.begin(source("10.0.0.2")).is_ok());
        of_token.pop();
        assert!(all.begin(token).is_ok());
        drop((of_token, of_address));
        assert!(all.counts.lock().is_empty());
    }

    #[test]
    fn ipv6_networks_count_as_one_address() {
        assert_eq!(source("2001:db8::1"), source("2001:db8::ffff:1"));
        assert_ne!(source("2001:db8::1"), source("2001:db8:0:1::1"));
    }
}
