//! Reads the head of one HTTP request, and trusts nothing of it.

use std::{
    io::{ErrorKind, Read},
    time::{Duration, Instant},
};

/// Most bytes of a head.
const LONGEST: usize = 16 << 10;

/// Time for the whole head to come.
const PATIENCE: Duration = Duration::from_secs(10);

/// What matters of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub method: String,
    pub target: String,
    /// The only `Host` line.
    pub host: String,
}

/// Why there is no request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// The other side went away without a word.
    Gone,
    /// It took too long.
    Late,
    /// More bytes than any browser sends.
    Long,
    /// Not HTTP/1.
    Version,
    /// Anything else that is wrong.
    Malformed(&'static str),
}

impl Problem {
    pub(super) fn code(&self) -> u16 {
        match self {
            Self::Late => 408,
            Self::Long => 431,
            Self::Version => 505,
            Self::Gone | Self::Malformed(_) => 400,
        }
    }

    pub(super) fn text(&self) -> &'static str {
        match self {
            Self::Gone => "no request",
            Self::Late => "the request took too long",
            Self::Long => "the request is too long",
            Self::Version => "only HTTP/1.0 and HTTP/1.1",
            Self::Malformed(what) => what,
        }
    }
}

/// Reads up to the empty line. A body, which no request of ours has, stays unread.
pub(super) fn read(stream: &mut impl Read) -> Result<Request, Problem> {
    let started = Instant::now();
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    loop {
        if let Some(end) = head.windows(4).position(|w| w == b"\r\n\r\n") {
            head.truncate(end);
            return parse(&head);
        }
        if head.len() > LONGEST {
            return Err(Problem::Long);
        }
        if started.elapsed() > PATIENCE {
            return Err(Problem::Late);
        }
        match stream.read(&mut piece) {
            Ok(0) if head.is_empty() => return Err(Problem::Gone),
            Ok(0) => return Err(Problem::Malformed("the request ends too early")),
            Ok(count) => head.extend_from_slice(piece.get(..count).unwrap_or_default()),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return Err(Problem::Late);
            }
            Err(_) => return Err(Problem::Gone),
        }
    }
}

fn parse(head: &[u8]) -> Result<Request, Problem> {
    let text = std::str::from_utf8(head).map_err(|_| Problem::Malformed("the request is not text"))?;
    let mut lines = text.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or("").split(' ').collect();
    let [method, target, version] = words.as_slice() else {
        return Err(Problem::Malformed("the first line must be: method target version"));
    };
    if !version.starts_with("HTTP/") {
        return Err(Problem::Malformed("the first line must be: method target version"));
    }
    if !matches!(*version, "HTTP/1.0" | "HTTP/1.1") {
        return Err(Problem::Version);
    }
    if method.is_empty() || !method.bytes().all(|b| b.is_ascii_alphabetic()) {
        return Err(Problem::Malformed("the method must be letters"));
    }
    if !target.starts_with('/') || !target.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(Problem::Malformed("the target must be a path"));
    }
    let mut host = None;
    for line in lines {
        let (name, value) =
            line.split_once(':').ok_or(Problem::Malformed("a header must be: name, colon, value"))?;
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(Problem::Malformed("the name of a header must be plain letters"));
        }
        if name.eq_ignore_ascii_case("host") && host.replace(value.trim()).is_some() {
            return Err(Problem::Malformed("more than one Host"));
        }
    }
    let host = host.ok_or(Problem::Malformed("no Host"))?;
    Ok(Request { method: (*method).to_owned(), target: (*target).to_owned(), host: host.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_math::testkit::SplitMix64;

    const GOOD: &[u8] = b"GET /recording?from=12 HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAccept: */*\r\n\r\nrest";

    #[test]
    fn a_good_request_is_read_in_pieces_of_any_size() {
        struct Slow<'a>(&'a [u8], usize);
        impl Read for Slow<'_> {
            fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
                let count = self.1.min(self.0.len()).min(out.len());
                out[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        for size in 1..GOOD.len() {
            let request = read(&mut Slow(GOOD, size)).unwrap();
            assert_eq!(
                (request.target.as_str(), request.host.as_str()),
                ("/recording?from=12", "127.0.0.1:8000")
            );
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases: [(&[u8], u16); 11] = [
            (b"", 400),
            (b"GET / HTTP/1.1\r\n", 400),
            (b"GET /\r\nHost: a\r\n\r\n", 400),
            (b"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
            (b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            (b"G3T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            (b"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nAccept: a\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nHost a\r\n\r\n", 400),
            (b"GET / HTTP/1.1\r\nHost: \xff\r\n\r\n", 400),
        ];
        for (bytes, code) in cases {
            let problem = read(&mut &*bytes).unwrap_err();
            assert_eq!(problem.code(), code, "{}", String::from_utf8_lossy(bytes));
        }
        let endless = std::io::repeat(b'a');
        assert_eq!(read(&mut { endless }).unwrap_err(), Problem::Long);
    }

    #[test]
    fn mutated_requests_are_read_or_refused() {
        let mut random = SplitMix64(3);
        let mut read_well = 0;
        for _ in 0..20_000 {
            let mut bytes = GOOD.to_vec();
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                match random.below(3) {
                    0 => bytes[at] = random.below(256) as u8,
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, b" \r\n:/\0"[random.below(6)]),
                }
            }
            read_well += usize::from(read(&mut &*bytes).is_ok());
        }
        assert!((100..19_000).contains(&read_well), "{read_well}");
    }
}
