//! An HTTP client over sockets, with one request per connection. It compares each answer with the
//! API description.

use crate::serve::schema;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) token: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn read(bytes: &[u8]) -> Self {
        let at = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..at]).to_ascii_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = bytes.get(at + 4..).unwrap_or_default().to_vec();
        Self { status, head, body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// Joins the chunks of the body.
    pub(crate) fn joined(&self) -> Vec<u8> {
        assert_eq!(self.header("transfer-encoding"), Some("chunked"));
        let (mut rest, mut all) = (&self.body[..], Vec::new());
        loop {
            let end = rest.windows(2).position(|pair| pair == b"\r\n").unwrap();
            let size = std::str::from_utf8(&rest[..end]).unwrap();
            let size = usize::from_str_radix(size, 16).unwrap();
            if size == 0 {
                return all;
            }
            all.extend_from_slice(&rest[end + 2..end + 2 + size]);
            rest = &rest[end + 2 + size + 2..];
        }
    }

    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {} {text}", self.head))
    }

    /// Returns the body of a successful answer, which must have this status.
    pub(crate) fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// Returns the body of a problem, which must have this status and code.
    pub(crate) fn problem(&self, status: u16, code: &str) -> Value {
        let body = self.json();
        assert_eq!((self.status, body["code"].as_str()), (status, Some(code)), "{body}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        assert_eq!(body["status"], status);
        assert!(body["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
        body
    }
}

impl Client {
    pub(crate) fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Sends bytes unchanged and reads until the server closes the connection.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // The server may close the connection before it has read everything. Its answer is still
        // read.
        let _ = stream.write_all(bytes);
        Answer::read(&rest(&mut stream))
    }

    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &[u8],
    ) -> Answer {
        let address = self.address;
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|line| line.starts_with("host:")) {
            head += &format!("host: {address}\r\n");
        }
        if let Some(token) = &self.token {
            head += &format!("authorization: Bearer {token}\r\n");
        }
        for line in headers {
            head += &format!("{line}\r\n");
        }
        if !headers.iter().any(|line| line.starts_with("transfer-encoding")) {
            head += &format!("content-length: {}\r\n", body.len());
        }
        let answer = self.raw(&[head.as_bytes(), b"\r\n", body].concat());
        schema::check(method, path, &answer);
        answer
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[], b"")
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.request("DELETE", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.request("POST", path, &["content-type: application/json"], body.to_string().as_bytes())
    }

    pub(crate) fn put(&self, path: &str, body: &Value) -> Answer {
        self.request("PUT", path, &["content-type: application/json"], body.to_string().as_bytes())
    }

    pub(crate) fn lines(&self, path: &str, body: &[u8]) -> Answer {
        self.request("POST", path, &["content-type: application/x-ndjson"], body)
    }
}

/// Reads until the end. A reset of the connection also counts as the end.
pub(crate) fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    // Keeps what came before a failed read. In contrast to `read`, continues after a signal.
    let _ = stream.read_to_end(&mut all);
    all
}
