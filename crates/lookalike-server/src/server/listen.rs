//! Sockets: accepts connections, applies time limits, shuts down gracefully.

use crate::config::Config;
use crate::config::config_error::ConfigError;
use crate::http::client_requests::PeerAddress;
use crate::server::connection_stream::{ConnectionStream, RequestBody};
use crate::server::connections::{Connection, Connections};
use crate::server::index_dispatch::IndexDispatch;
use crate::server::transport::Transport;
use crate::service_state::{ServiceState, ServiceStateError};
use crate::state::served_index::ServedIndex;
use crate::state::served_indexes::ServedIndexes;
use crate::state::service::Service;
use crate::threads::metrics::CountGuard;
use axum::body::Body;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use lookalike::store::{Index, IndexError};
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Runtime;
#[cfg(unix)]
use tokio::signal::unix::Signal;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep_until};
use tokio_rustls::TlsAcceptor;
use tower_service::Service as _;

/// Maximum size of a request's head: an id of maximum length with every byte as `%XX` fits.
const HEAD_BYTES: usize = 128 << 10;

/// Backlog of the listening socket; the system may allow less.
const BACKLOG: u32 = 4_096;
/// How long submitted work may take to end, and again after it is interrupted.
const END_TIME: Duration = Duration::from_secs(5);
/// Interval between attempts to close an idle connection for a new one.
const RETRY_TIME: Duration = Duration::from_millis(20);

/// A server that is bound to its address.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    indexes: Arc<ServedIndexes>,
}

/// The outcome of a shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopOutcome {
    /// Every running request was answered; all acknowledged changes are stored.
    InOrder,
    /// Requests were interrupted by the time limit or a second stop. All acknowledged changes are
    /// stored.
    Interrupted,
}

/// An error of starting a server.
#[derive(Debug)]
pub enum StartError {
    /// The configuration is invalid.
    Config(ConfigError),
    /// The index cannot be served.
    Index(IndexError),
    /// The file with waiting messages and kept answers cannot be used.
    State(ServiceStateError),
    /// The address cannot be listened on.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// The asynchronous runtime cannot start.
    System(io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::Index(error) => error.fmt(f),
            Self::State(error) => error.fmt(f),
            Self::Listen { address, source } => write!(
                f,
                "cannot listen on {address}: {source}; choose another address or port with --listen"
            ),
            Self::System(source) => write!(f, "cannot wait for connections: {source}"),
        }
    }
}

impl std::error::Error for StartError {}

/// Stops a running server. Clones stop the same server.
#[derive(Clone)]
pub struct StopHandle(Arc<watch::Sender<u8>>);

impl StopHandle {
    /// A handle for a server.
    pub fn new() -> Self {
        Self(Arc::new(watch::channel(0).0))
    }

    /// Stops the server gracefully: no more connections, running requests are finished. A second
    /// call interrupts them.
    pub fn stop(&self) {
        self.0.send_modify(|times| *times = times.saturating_add(1));
    }
}

impl Default for StopHandle {
    fn default() -> Self {
        Self::new()
    }
}

impl Server {
    /// Checks the configuration and listens. No request is answered before [`run`](Self::run).
    ///
    /// # Errors
    /// [`StartError`] with the remedy.
    pub fn bind(index: Index, config: Config) -> Result<Self, StartError> {
        Self::bind_all(vec![ServedIndex::only(index)], config)
    }

    /// Like [`bind`](Self::bind) for several indexes. Addresses without a name are about the first.
    ///
    /// # Errors
    /// [`StartError`] with the remedy, also for repeated names.
    pub fn bind_all(indexes: Vec<ServedIndex>, mut config: Config) -> Result<Self, StartError> {
        config.check().map_err(StartError::Config)?;
        check_names(&indexes).map_err(StartError::Config)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StartError::System)?;
        let address = config.listen;
        let unable = |source| StartError::Listen { address, source };
        let listener = runtime.block_on(async { listen(address) }).map_err(unable)?;
        let address = listener.local_addr().map_err(unable)?;
        config.listen = address;
        for served in indexes.iter().filter(|_| config.writable) {
            let url = url_of(&config, served);
            served.index.announce_service(&url).map_err(StartError::Index)?;
        }
        let state = |served: ServedIndex| {
            let state = ServiceState::open(served.state.as_deref().filter(|_| config.writable));
            state.map(|state| (served, state)).map_err(StartError::State)
        };
        let indexes = indexes.into_iter().map(state).collect::<Result<Vec<_>, _>>()?;
        let service = Service::start(config).map_err(StartError::Index)?;
        let indexes = ServedIndexes::start(indexes, service).map_err(StartError::Index)?;
        Ok(Self { runtime, listener, address, indexes })
    }

    /// The address it listens on, with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until it is stopped, by `stop` or, if `signals` is set, by an interrupt or
    /// a termination signal. The calling thread waits for sockets; worker threads do the work. When
    /// it returns, all acknowledged changes are stored.
    ///
    /// # Errors
    /// If signal handlers cannot be installed.
    pub fn run(self, stop: &StopHandle, signals: bool) -> io::Result<StopOutcome> {
        let Self { runtime, listener, indexes, .. } = self;
        let stopped = runtime.block_on(async {
            if signals {
                let service = Arc::clone(&indexes.service);
                tokio::spawn(stop_on_signals(service, signal_source()?, stop.clone()));
            }
            let stops = stop.0.subscribe();
            let (served, deadline) = serve(&indexes, listener, stops.clone()).await;
            io::Result::Ok(match served {
                StopOutcome::InOrder => finish_upkeep(&indexes, deadline, stops).await,
                StopOutcome::Interrupted => served,
            })
        })?;
        // Interrupted requests are dropped here.
        runtime.shutdown_background();
        end_threads(&indexes);
        Ok(stopped)
    }
}

/// Waits for jobs of upkeep until the end of the grace period or a second stop, and then interrupts
/// the indexes.
async fn finish_upkeep(
    indexes: &Arc<ServedIndexes>,
    deadline: Instant,
    mut stops: watch::Receiver<u8>,
) -> StopOutcome {
    let all = Arc::clone(indexes);
    let ended = tokio::task::spawn_blocking(move || all.finish_upkeep());
    tokio::select! {
        biased;
        _ = ended => return StopOutcome::InOrder,
        _ = stops.wait_for(|times| *times > 1) => {}
        () = sleep_until(deadline) => {}
    }
    indexes.interrupt();
    StopOutcome::Interrupted
}

/// Finishes submitted work and ends the threads. Work that takes long is interrupted; a thread that
/// does not end even then, for example since the disk does not answer, ends with the process.
fn end_threads(indexes: &Arc<ServedIndexes>) {
    let (report, ended) = mpsc::channel::<()>();
    let all = Arc::clone(indexes);
    let stop = move || {
        let _report = report;
        all.stop();
    };
    if std::thread::Builder::new().name("stop".to_owned()).spawn(stop).is_err() {
        indexes.stop();
        return;
    }
    let wait = || ended.recv_timeout(END_TIME) == Err(mpsc::RecvTimeoutError::Timeout);
    if wait() {
        indexes.interrupt();
        if wait() {
            indexes
                .service
                .log
                .say("stopping: a thread does not end; the end of the process ends it");
        }
    }
}

/// Checks that there are indexes, with different names. Case does not distinguish names, because
/// files and folders have these names and some systems ignore case.
fn check_names(indexes: &[ServedIndex]) -> Result<(), ConfigError> {
    let names = indexes.iter().map(|served| served.name.as_str().to_ascii_lowercase());
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    let duplicate = names.windows(2).find(|pair| pair[0] == pair[1]);
    match duplicate {
        Some(pair) => Err(ConfigError::IndexNames { twice: Some(pair[0].clone()) }),
        None if indexes.is_empty() => Err(ConfigError::IndexNames { twice: None }),
        None => Ok(()),
    }
}

/// The URL at which clients on this machine reach an index.
fn url_of(config: &Config, served: &ServedIndex) -> String {
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let mut address = config.listen;
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    let path = if served.is_named { format!("/v1/indexes/{}", served.name) } else { String::new() };
    format!("{scheme}://{address}{path}")
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Otherwise connections of an earlier server block the address for a minute.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Waits for the place of a connection. Closes the longest idle connection if no place is free.
async fn place(places: &Arc<Semaphore>, connections: &Connections) -> Option<OwnedSemaphorePermit> {
    loop {
        if let Ok(place) = Arc::clone(places).try_acquire_owned() {
            return Some(place);
        }
        connections.close_longest_idle();
        tokio::select! {
            place = Arc::clone(places).acquire_owned() => return place.ok(),
            () = tokio::time::sleep(RETRY_TIME) => {}
        }
    }
}

/// Serves until a stop, then finishes requests; returns the outcome and the end of the grace
/// period.
async fn serve(
    indexes: &Arc<ServedIndexes>,
    listener: TcpListener,
    mut stops: watch::Receiver<u8>,
) -> (StopOutcome, Instant) {
    let dispatch = IndexDispatch::new(indexes);
    let service = &indexes.service;
    let places = Arc::new(Semaphore::new(service.config.limits.connections));
    let connections = Arc::new(Connections::default());
    loop {
        let stream = tokio::select! {
            biased;
            _ = stops.wait_for(|times| *times > 0) => break,
            accepted = listener.accept() => accepted,
        };
        match stream {
            Ok((stream, peer)) => {
                let place = tokio::select! {
                    biased;
                    _ = stops.wait_for(|times| *times > 0) => break,
                    place = place(&places, &connections) => place,
                };
                let peer = PeerAddress(peer.ip());
                let state = Arc::new(Connection::new(&connections));
                let service = Arc::clone(service);
                let dispatch = dispatch.clone();
                let stops = stops.clone();
                tokio::spawn(async move {
                    let _place = place;
                    connection(&service, (stream, peer), state, dispatch, stops).await;
                });
            }
            Err(error) => {
                // Probably too many open files, which other connections release when they end.
                service.log.say(&format!("a connection could not be accepted: {error}"));
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    service.log.say("stopping: requests under way are finished");
    let all = u32::try_from(service.config.limits.connections).unwrap_or(u32::MAX);
    let deadline = Instant::now() + service.config.limits.grace;
    let outcome = tokio::select! {
        _ = places.acquire_many(all) => StopOutcome::InOrder,
        _ = stops.wait_for(|times| *times > 1) => StopOutcome::Interrupted,
        () = sleep_until(deadline) => StopOutcome::Interrupted,
    };
    (outcome, deadline)
}

async fn connection(
    service: &Service,
    (stream, peer): (TcpStream, PeerAddress),
    state: Arc<Connection>,
    dispatch: IndexDispatch,
    mut stops: watch::Receiver<u8>,
) {
    let _counted = CountGuard::one(&service.metrics.connections);
    // Responses are written as a whole, so that delayed sending (Nagle) has no benefit.
    let _ = stream.set_nodelay(true);
    let Some(transport) = transport(service, stream, &state, &mut stops).await else { return };
    let stream =
        ConnectionStream::new(transport, service.config.limits.idle_time, Arc::clone(&state));
    let of_requests = Arc::clone(&state);
    let answers = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer);
        let state = Arc::clone(&of_requests);
        state.set_busy();
        let body = |body| Body::new(RequestBody::new(body, Arc::clone(&state)));
        let (mut router, request) = dispatch.resolve(request.map(body));
        async move {
            let answer = router.call(request).await;
            state.set_idle();
            answer
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(service.config.limits.head_time)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), answers);
    tokio::pin!(served);
    // An error of a connection concerns its client only, which gets a response or is disconnected.
    loop {
        tokio::select! {
            _ = served.as_mut() => return,
            _ = stops.wait_for(|times| *times > 0) => break,
            () = state.needed() => {
                if state.is_idle() {
                    return;
                }
            }
        }
    }
    served.as_mut().graceful_shutdown();
    let _ = served.await;
}

/// The stream of a connection after the handshake of TLS, if the server speaks TLS. `None` if the
/// client does not, is too slow, or another connection needs the place.
async fn transport(
    service: &Service,
    stream: TcpStream,
    state: &Connection,
    stops: &mut watch::Receiver<u8>,
) -> Option<Transport> {
    let Some(identity) = service.credentials.now().tls.clone() else {
        return Some(Box::new(stream));
    };
    let handshake = TlsAcceptor::from(identity.config()).accept(stream);
    tokio::select! {
        result = tokio::time::timeout(service.config.limits.head_time, handshake) => {
            result.ok()?.ok().map(|stream| Box::new(stream) as Transport)
        }
        _ = stops.wait_for(|times| *times > 0) => None,
        () = state.needed() => None,
    }
}

/// Reads tokens and certificate again. If that fails, the present ones stay in effect.
#[cfg(unix)]
async fn reload(service: &Service) {
    let Some(read) = service.config.reload.clone() else {
        service.log.say("SIGHUP is ignored: SIGTERM or SIGINT stops the server");
        return;
    };
    let read = tokio::task::spawn_blocking(move || read()).await;
    let read = read.unwrap_or_else(|_| Err("reading them failed".to_owned()));
    match read.and_then(|new| service.credentials.replace(new)) {
        Ok(()) => service.log.say("SIGHUP: tokens and certificate were read again"),
        Err(why) => service.log.say(&format!("SIGHUP: those before stay in effect: {why}")),
    }
}

/// Stops the server on an interrupt or a termination signal, reads its credentials again on
/// SIGHUP.
#[cfg(unix)]
async fn stop_on_signals(service: Arc<Service>, signals: [Signal; 3], stop: StopHandle) {
    let [mut interrupt, mut terminate, mut hang_up] = signals;
    loop {
        tokio::select! {
            _ = interrupt.recv() => stop.stop(),
            _ = terminate.recv() => stop.stop(),
            // Sent when the terminal is closed, or to reload settings.
            _ = hang_up.recv() => reload(&service).await,
        }
    }
}

#[cfg(unix)]
fn signal_source() -> io::Result<[Signal; 3]> {
    use tokio::signal::unix::{SignalKind, signal};
    Ok([
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
        signal(SignalKind::hangup())?,
    ])
}

#[cfg(not(unix))]
async fn stop_on_signals(_: Arc<Service>, (): (), stop: StopHandle) {
    while tokio::signal::ctrl_c().await.is_ok() {
        stop.stop();
    }
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn signal_source() -> io::Result<()> {
    Ok(())
}
