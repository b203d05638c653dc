//! Sockets: accepts connections, applies time limits, shuts down gracefully.

use crate::app::App;
use crate::config::Config;
use crate::config_error::ConfigError;
use crate::connection_stream::{ConnectionStream, RequestBody};
use crate::connections::{Connection, Connections};
use crate::metrics::CountGuard;
use crate::routes::router;
use crate::transport::Transport;
use axum::Router;
use axum::body::Body;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use lookalike::store::{Index, IndexError};
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_rustls::TlsAcceptor;
use tower_service::Service;

/// Maximum size of a request's head: an id of maximum length with every byte as `%XX` fits.
const HEAD_BYTES: usize = 128 << 10;

/// Backlog of the listening socket; the system may allow less.
const BACKLOG: u32 = 4_096;
/// Interval between attempts to close an idle connection for a new one.
const RETRY_TIME: Duration = Duration::from_millis(20);

/// A server that is bound to its address.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
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
    pub fn bind(index: Index, mut config: Config) -> Result<Self, StartError> {
        config.check().map_err(StartError::Config)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StartError::System)?;
        let address = config.listen;
        let unable = |source| StartError::Listen { address, source };
        let listener = runtime.block_on(async { listen(address) }).map_err(unable)?;
        let address = listener.local_addr().map_err(unable)?;
        config.listen = address;
        if config.writable {
            index.announce_service(&url(&config)).map_err(StartError::Index)?;
        }
        let app = App::start(index, config).map_err(StartError::Index)?;
        Ok(Self { runtime, listener, address, app })
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
        let Self { runtime, listener, app, .. } = self;
        let stopped = runtime.block_on(async {
            if signals {
                tokio::spawn(stop_on_signals(Arc::clone(&app), signal_source()?, stop.clone()));
            }
            io::Result::Ok(serve(&app, listener, stop.0.subscribe()).await)
        })?;
        // Interrupted requests are dropped here.
        runtime.shutdown_background();
        if stopped == StopOutcome::InOrder {
            app.upkeep.stop();
        }
        app.stop();
        Ok(stopped)
    }
}

/// Where clients on this machine reach the server.
fn url(config: &Config) -> String {
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let mut address = config.listen;
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    format!("{scheme}://{address}")
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Otherwise connections of an earlier server block the address for a minute.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Waits for the place of a connection; closes the longest idle connection if there is none.
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

async fn serve(
    app: &Arc<App>,
    listener: TcpListener,
    mut stops: watch::Receiver<u8>,
) -> StopOutcome {
    let router = router(app);
    let places = Arc::new(Semaphore::new(app.config.limits.connections));
    let connections = Arc::new(Connections::default());
    loop {
        let stream = tokio::select! {
            biased;
            _ = stops.wait_for(|times| *times > 0) => break,
            accepted = listener.accept() => accepted,
        };
        match stream {
            Ok((stream, _)) => {
                let place = tokio::select! {
                    biased;
                    _ = stops.wait_for(|times| *times > 0) => break,
                    place = place(&places, &connections) => place,
                };
                let state = Arc::new(Connection::new(&connections));
                let (app, router, stops) = (Arc::clone(app), router.clone(), stops.clone());
                tokio::spawn(async move {
                    let _place = place;
                    connection(&app, stream, state, router, stops).await;
                });
            }
            Err(error) => {
                // Probably too many open files, which other connections release when they end.
                app.log.say(&format!("a connection could not be accepted: {error}"));
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    app.log.say("stopping: requests under way are finished");
    let all = u32::try_from(app.config.limits.connections).unwrap_or(u32::MAX);
    tokio::select! {
        _ = places.acquire_many(all) => StopOutcome::InOrder,
        _ = stops.wait_for(|times| *times > 1) => StopOutcome::Interrupted,
        () = tokio::time::sleep(app.config.limits.grace) => StopOutcome::Interrupted,
    }
}

async fn connection(
    app: &App,
    stream: TcpStream,
    state: Arc<Connection>,
    router: Router,
    mut stops: watch::Receiver<u8>,
) {
    let _counted = CountGuard::one(&app.metrics.connections);
    // Responses are written as a whole, so that delayed sending (Nagle) has no benefit.
    let _ = stream.set_nodelay(true);
    let Some(transport) = transport(app, stream, &state, &mut stops).await else { return };
    let stream = ConnectionStream::new(transport, app.config.limits.idle_time, Arc::clone(&state));
    let of_requests = Arc::clone(&state);
    let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let state = Arc::clone(&of_requests);
        state.set_busy();
        let body = |body| Body::new(RequestBody::new(body, Arc::clone(&state)));
        let answer = router.clone().call(request.map(body));
        async move {
            let answer = answer.await;
            state.set_idle();
            answer
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(app.config.limits.head_time)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
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
    app: &App,
    stream: TcpStream,
    state: &Connection,
    stops: &mut watch::Receiver<u8>,
) -> Option<Transport> {
    let Some(identity) = app.credentials.now().tls.clone() else {
        return Some(Transport::Plain(stream));
    };
    let handshake = TlsAcceptor::from(identity.config()).accept(stream);
    tokio::select! {
        done = tokio::time::timeout(app.config.limits.head_time, handshake) => {
            done.ok()?.ok().map(|stream| Transport::Tls(Box::new(stream)))
        }
        _ = stops.wait_for(|times| *times > 0) => None,
        () = state.needed() => None,
    }
}

/// Reads tokens and certificate again. What is in effect stays where they cannot be read.
#[cfg(unix)]
async fn reload(app: &App) {
    let Some(read) = app.config.reload.clone() else {
        app.log.say("SIGHUP is ignored: SIGTERM or SIGINT stops the server");
        return;
    };
    let read = tokio::task::spawn_blocking(move || read()).await;
    let read = read.unwrap_or_else(|_| Err("reading them failed".to_owned()));
    match read.and_then(|new| app.credentials.replace(new)) {
        Ok(()) => app.log.say("SIGHUP: tokens and certificate were read again"),
        Err(why) => app.log.say(&format!("SIGHUP: those before stay in effect: {why}")),
    }
}

/// Stops the server on an interrupt or a termination signal, reads its credentials again on
/// SIGHUP.
#[cfg(unix)]
async fn stop_on_signals(app: Arc<App>, mut signals: Signals, stop: StopHandle) {
    loop {
        tokio::select! {
            _ = signals.interrupt.recv() => stop.stop(),
            _ = signals.terminate.recv() => stop.stop(),
            // Sent when the terminal is closed, or to reload settings.
            _ = signals.hang_up.recv() => reload(&app).await,
        }
    }
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hang_up: tokio::signal::unix::Signal,
}

#[cfg(unix)]
fn signal_source() -> io::Result<Signals> {
    use tokio::signal::unix::{SignalKind, signal};
    let (interrupt, terminate) = (SignalKind::interrupt(), SignalKind::terminate());
    Ok(Signals {
        interrupt: signal(interrupt)?,
        terminate: signal(terminate)?,
        hang_up: signal(SignalKind::hangup())?,
    })
}

#[cfg(not(unix))]
async fn stop_on_signals(_: Arc<App>, (): (), stop: StopHandle) {
    while tokio::signal::ctrl_c().await.is_ok() {
        stop.stop();
    }
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn signal_source() -> io::Result<()> {
    Ok(())
}
