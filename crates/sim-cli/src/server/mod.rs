//! A web server for one page on this machine, while the run that it shows goes on.
//!
//! It listens on 127.0.0.1 alone, and answers only requests whose `Host` is that address or `localhost` with its port:
//! a web page from elsewhere that had its name point here (DNS rebinding) is refused.
//! A connection has one request, a few seconds and a few kilobytes; what is malformed gets an answer and nothing else
//! happens. There are [`MOST`] connections at a time.
//!
//! | path | answer |
//! |---|---|
//! | `/` | the page, without a recording |
//! | `/recording?from=N` | the recording from byte N on, and how far the run is |

mod request;

use request::{Problem, Request};
use serde_json::json;
use std::{
    io::{self, Read as _, Write as _},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use crate::commands::film::Tape;

/// Connections at the same time.
pub const MOST: usize = 16;

/// Longest silence of the other side, and time for an answer to be taken.
const PATIENCE: Duration = Duration::from_secs(5);

/// How far a run is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Progress {
    /// Simulated time, s.
    pub time: f64,
    /// Simulated time at the end, s.
    pub until: f64,
    /// No more frames come.
    pub ended: bool,
    /// Why the run could not go on.
    pub failed: Option<String>,
}

/// What is served.
#[derive(Debug, Clone, Default)]
pub struct Show {
    /// The page.
    pub page: Arc<String>,
    /// The recording as far as it is.
    pub tape: Tape,
    progress: Arc<Mutex<Progress>>,
}

impl Show {
    /// A page, and a tape that is being written.
    #[must_use]
    pub fn new(page: String, tape: Tape) -> Self {
        Self { page: Arc::new(page), tape, progress: Arc::default() }
    }

    /// How far the run is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Says how far the run is.
    pub fn set(&self, progress: Progress) {
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = progress;
    }
}

/// A listening server.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Listens on this machine; port 0 means any free one.
    ///
    /// # Errors
    /// The port is taken or not allowed.
    pub fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where the page is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Answers for ever, each connection on a thread of its own.
    pub fn serve(&self, show: &Show) {
        let busy = Arc::new(AtomicUsize::new(0));
        let port = self.address.port();
        for stream in self.listener.incoming() {
            // A connection that broke before it began is nobody's problem.
            let Ok(stream) = stream else { continue };
            if busy.fetch_add(1, SeqCst) >= MOST {
                busy.fetch_sub(1, SeqCst);
                let _ = answer(&stream, &Answer::problem(503, "too many connections"));
                continue;
            }
            let (show, mine) = (show.clone(), busy.clone());
            let started = thread::Builder::new().spawn(move || {
                // The other side may go away at any time.
                let _ = talk(&stream, port, &show);
                mine.fetch_sub(1, SeqCst);
            });
            if started.is_err() {
                busy.fetch_sub(1, SeqCst);
            }
        }
    }
}

/// One request and its answer.
fn talk(stream: &TcpStream, port: u16, show: &Show) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let reply = match request::read(&mut &*stream) {
        Ok(request) => reply(&request, port, show),
        Err(Problem::Gone) => return Ok(()),
        Err(problem) => Answer::problem(problem.code(), problem.text()),
    };
    answer(stream, &reply)?;
    // What the other side still sends is read, or its system would throw our answer away.
    stream.shutdown(Shutdown::Write)?;
    let mut rest = [0; 4096];
    for _ in 0..16 {
        if (&*stream).read(&mut rest)? == 0 {
            break;
        }
    }
    Ok(())
}

fn reply(request: &Request, port: u16, show: &Show) -> Answer {
    if !is_here(&request.host, port) {
        return Answer::problem(403, "this server answers to this machine only");
    }
    if request.method != "GET" && request.method != "HEAD" {
        return Answer::problem(405, "only GET and HEAD");
    }
    let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
    let mut reply = match path {
        "/" => Answer {
            kind: "text/html; charset=utf-8",
            body: show.page.as_bytes().to_vec(),
            ..Answer::default()
        },
        "/recording" => recording(query, show),
        _ => Answer::problem(404, "there is only / and /recording"),
    };
    reply.head_only = request.method == "HEAD";
    reply
}

/// Only our own names for this machine: another name that leads here belongs to somebody else.
fn is_here(host: &str, port: u16) -> bool {
    ["127.0.0.1", "localhost"].iter().any(|name| host.eq_ignore_ascii_case(&format!("{name}:{port}")))
}

fn recording(query: &str, show: &Show) -> Answer {
    let Ok(from) = query.strip_prefix("from=").map_or(Ok(0), str::parse::<usize>) else {
        return Answer::problem(400, "from must be a number of bytes");
    };
    // First how far, then the bytes: an end that is announced has all its bytes.
    let p = show.progress();
    let progress = json!({ "time": p.time, "until": p.until, "ended": p.ended, "failed": p.failed });
    Answer {
        kind: "application/octet-stream",
        body: show.tape.from(from),
        progress: Some(progress.to_string()),
        ..Answer::default()
    }
}

#[derive(Debug)]
struct Answer {
    code: u16,
    kind: &'static str,
    body: Vec<u8>,
    /// JSON in a header of its own.
    progress: Option<String>,
    head_only: bool,
}

impl Default for Answer {
    fn default() -> Self {
        Self {
            code: 200,
            kind: "text/plain; charset=utf-8",
            body: Vec::new(),
            progress: None,
            head_only: false,
        }
    }
}

impl Answer {
    fn problem(code: u16, what: &str) -> Self {
        Self { code, body: format!("{what}\n").into_bytes(), ..Self::default() }
    }
}

fn answer(mut stream: &TcpStream, answer: &Answer) -> io::Result<()> {
    let reason = match answer.code {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        431 => "Request Header Fields Too Large",
        505 => "HTTP Version Not Supported",
        _ => "Service Unavailable",
    };
    let mut head = format!(
        "HTTP/1.1 {} {reason}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
         Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n",
        answer.code,
        answer.kind,
        answer.body.len()
    );
    if let Some(progress) = &answer.progress {
        // JSON of ours has no line breaks, and other letters than ASCII may not stand in a header.
        let ascii: String =
            progress.chars().map(|c| if (' '..='~').contains(&c) { c } else { '?' }).collect();
        head.push_str(&format!("X-Progress: {ascii}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    if !answer.head_only {
        stream.write_all(&answer.body)?;
    }
    stream.flush()
}
