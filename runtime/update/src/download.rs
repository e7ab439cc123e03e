//! An update from a server, as one stream: where the line is cut, it goes on with the byte after the last one that came.
//!
//! What comes is verified as what comes from a file is, so neither the server nor the line is trusted. TLS keeps what is asked for to oneself.

use std::io::{self, Read};
use std::thread::park_timeout;
use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, Response, StatusCode};
use ureq::{Agent, Body, BodyReader};

/// How long a connection, an answer or the next byte is waited for.
const IDLE: Duration = Duration::from_secs(20);
/// How long a line may stay cut: a router that starts again takes two minutes.
const PATIENCE: Duration = Duration::from_secs(300);
/// What has to come for a line to be there again: one that is cut behind a few bytes each time is not.
const MENDED: u64 = 64 << 10;
/// What is between two tries.
const PAUSE: Duration = Duration::from_secs(2);

/// The bytes of a server's file. Reading waits where the line is cut, and fails when it stays so for five minutes.
pub struct Download {
    agent: Agent,
    url: String,
    /// Bytes that were read.
    at: u64,
    /// The file's length, if the server says it.
    total: Option<u64>,
    /// What tells the file from another one at its place: `ETag`, or the date of its last change.
    tag: Option<String>,
    body: Option<BodyReader<'static>>,
    cut: Option<Cut>,
    patience: Duration,
    pause: Duration,
    told: Box<dyn FnMut(&str)>,
}

/// A cut of the line that is not mended yet.
struct Cut {
    since: Instant,
    /// What had come before it.
    at: u64,
    /// Whether there is a line now.
    is_joined: bool,
}

/// Why there is no connection.
enum Refused {
    /// It is tried again.
    Now(String),
    /// It would not become better.
    ForGood(String),
}

/// Whether it names a file of a server.
#[must_use]
pub fn is_url(source: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| source.starts_with(scheme))
}

impl Download {
    /// Asks a server for a file. `told` hears, a sentence each, when the line is cut and when it is joined again.
    ///
    /// # Errors
    /// When the server does not give it, in words.
    pub fn open(url: &str, told: impl FnMut(&str) + 'static) -> Result<Self, String> {
        let config = Agent::config_builder().http_status_as_error(false).user_agent("horus-update");
        let config = config.timeout_connect(Some(IDLE)).timeout_recv_response(Some(IDLE)).timeout_per_read(Some(IDLE));
        let mut download = Self {
            agent: config.build().into(),
            url: url.to_owned(),
            at: 0,
            total: None,
            tag: None,
            body: None,
            cut: None,
            patience: PATIENCE,
            pause: PAUSE,
            told: Box::new(told),
        };
        match download.connect() {
            Ok(()) => Ok(download),
            Err(Refused::Now(reason) | Refused::ForGood(reason)) => Err(format!("{url}: {reason}")),
        }
    }

    /// Asks for the rest.
    fn connect(&mut self) -> Result<(), Refused> {
        let mut request = self.agent.get(&self.url);
        if self.at > 0 {
            request = request.header("Range", format!("bytes={}-", self.at));
            if let Some(tag) = &self.tag {
                request = request.header("If-Range", tag);
            }
        }
        let response = request.call().map_err(|error| match error {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => Refused::ForGood(error.to_string()),
            error => Refused::Now(error.to_string()),
        })?;
        let status = response.status();
        let tag = tag(response.headers());
        match status {
            StatusCode::OK if self.at == 0 => {
                (self.total, self.tag) = (response.body().content_length(), tag);
                self.body = Some(body(response));
            }
            // A part need not say again of what it is (RFC 9110, 15.3.7).
            StatusCode::OK | StatusCode::PARTIAL_CONTENT
                if tag != self.tag && (tag.is_some() || status == StatusCode::OK) =>
            {
                return Err(Refused::ForGood("it is another file now: begin again".to_owned()));
            }
            StatusCode::PARTIAL_CONTENT if self.begins_here(response.headers()) => self.body = Some(body(response)),
            // It gives whole files only: what is there already is read once more.
            StatusCode::OK => {
                let mut body = body(response);
                let passed = io::copy(&mut body.by_ref().take(self.at), &mut io::sink());
                match passed {
                    Ok(bytes) if bytes == self.at => {
                        self.body = Some(body);
                        // It may have taken longer than the patience with a line that is cut.
                        self.cut = self.cut.take().map(|cut| Cut { since: Instant::now(), ..cut });
                    }
                    Ok(_) => return Err(Refused::Now("the line was cut again".to_owned())),
                    Err(error) => return Err(Refused::Now(error.to_string())),
                }
            }
            StatusCode::PARTIAL_CONTENT => {
                return Err(Refused::ForGood("it sends another part than was asked for".to_owned()));
            }
            status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                return Err(Refused::Now(format!("the server says {status}")));
            }
            status => return Err(Refused::ForGood(format!("the server says {status}"))),
        }
        Ok(())
    }

    /// Whether a part begins behind what was read: `Content-Range: bytes 100-199/200`.
    fn begins_here(&self, headers: &HeaderMap) -> bool {
        let range = headers.get("content-range").and_then(|value| value.to_str().ok());
        range.and_then(|range| range.strip_prefix("bytes ")?.split('-').next()?.parse().ok()) == Some(self.at)
    }

    /// Reads what comes now; no bytes are the end.
    fn take(&mut self, buffer: &mut [u8]) -> Result<usize, Refused> {
        if self.body.is_none() {
            self.connect()?;
        }
        let Some(body) = &mut self.body else { return Ok(0) };
        match body.read(buffer) {
            Ok(0) if self.total.is_some_and(|total| self.at < total) && !buffer.is_empty() => {
                Err(Refused::Now("the server ended the line".to_owned()))
            }
            Ok(bytes) => Ok(bytes),
            Err(error) => Err(Refused::Now(error.to_string())),
        }
    }
}

impl Read for Download {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.take(buffer) {
                Ok(bytes) => {
                    if let Some(cut) = &mut self.cut
                        && !std::mem::replace(&mut cut.is_joined, true)
                    {
                        let at = self.at / 1_000_000;
                        (self.told)(&format!("the line is there again, and it goes on behind {at} MB"));
                    }
                    self.at += bytes as u64;
                    self.cut.take_if(|cut| self.at >= cut.at + MENDED);
                    return Ok(bytes);
                }
                Err(Refused::Now(reason)) => {
                    self.body = None;
                    let cut = self.cut.get_or_insert(Cut { since: Instant::now(), at: self.at, is_joined: true });
                    if std::mem::replace(&mut cut.is_joined, false) {
                        let at = self.at / 1_000_000;
                        (self.told)(&format!("the line was cut behind {at} MB, and is tried again: {reason}"));
                    }
                    if cut.since.elapsed() > self.patience {
                        return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
                    }
                    park_timeout(self.pause);
                }
                Err(Refused::ForGood(reason)) => return Err(io::Error::new(io::ErrorKind::ConnectionAborted, reason)),
            }
        }
    }
}

fn body(response: Response<Body>) -> BodyReader<'static> {
    response.into_body().into_reader()
}

/// A weak tag may be that of two files whose bytes differ, so it is none (RFC 9110, 13.1.5).
fn tag(headers: &HeaderMap) -> Option<String> {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    value("etag").filter(|tag| !tag.starts_with("W/")).or_else(|| value("last-modified"))
}

#[cfg(test)]
mod tests;
