//! `sim view` through raw sockets: the page, the growing recording, strangers, and nonsense.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may stop them")]

use scene::Recording;
use sim_math::testkit::SplitMix64;
use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// The program as a child, ended with the test.
struct View {
    child: Child,
    address: SocketAddr,
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn view(scene: &str, more: &[&str]) -> View {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sim"))
        .args(["view", scene, "--no-open", "--quiet"])
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("http://").and_then(|l| l.split_once('/')).unwrap().0.parse().unwrap();
    View { child, address }
}

impl View {
    /// Sends bytes and returns the whole answer.
    fn raw(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // A server that has answered already may close before all is written.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    fn get(&self, target: &str, host: &str) -> (u16, String, Vec<u8>) {
        let answer = self.raw(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
        let end = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        (head[9..12].parse().unwrap(), head, answer[end + 4..].to_vec())
    }

    fn here(&self, target: &str) -> (u16, String, Vec<u8>) {
        self.get(target, &self.address.to_string())
    }

    /// Asks as the page does until the run has ended; returns the bytes and what was said on the way.
    fn watch(&self) -> (Vec<u8>, Vec<String>) {
        let (mut bytes, mut said) = (Vec::new(), Vec::new());
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(120) {
            let (code, head, more) = self.here(&format!("/recording?from={}", bytes.len()));
            assert_eq!(code, 200, "{head}");
            bytes.extend(more);
            let line = head.lines().find_map(|l| l.strip_prefix("X-Progress: ")).unwrap();
            said.push(line.to_owned());
            if line.contains("\"ended\":true") {
                return (bytes, said);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the run did not end: {said:?}");
    }
}

// proves: FON-49
// proves-part: FON-88
#[test]
fn the_page_and_the_growing_recording_come_from_this_machine() {
    // How many answers come before the end depends on how fast the machine is: a longer run, until one is seen growing.
    let mut until = 0.5;
    let (view, bytes, until) = loop {
        let view = view("pool-break", &["--until", &until.to_string()]);
        assert!(view.address.ip().is_loopback());
        let (code, head, page) = view.here("/");
        assert_eq!(code, 200);
        assert!(head.contains("text/html") && String::from_utf8(page).unwrap().contains("@LIVE@"));
        let (bytes, said) = view.watch();
        assert!(said.last().unwrap().contains(&format!("\"time\":{until}")), "{said:?}");
        if said.len() > 1 {
            break (view, bytes, until);
        }
        assert!(until < 500.0, "no answer came before the end: {said:?}");
        until *= 2.0;
    };
    let recording = Recording::from_bytes(bytes).unwrap();
    assert_eq!(recording.len(), (60.0 * until) as usize + 1);
    recording.verify().unwrap();
    // Watched or not, the run is the same, to the last bit of every energy and momentum, and so are its live counters.
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("unwatched.tumble");
    let until = until.to_string();
    let run = ["run", "pool-break", "--until", &until, "--quiet", "--record", file.to_str().unwrap()];
    assert!(Command::new(env!("CARGO_BIN_EXE_sim")).args(run).status().unwrap().success());
    assert_eq!(Recording::open(&file).unwrap().sums(), recording.sums());
    // Later requests have nothing new.
    assert!(view.here(&format!("/recording?from={}", recording.bytes().len())).2.is_empty());
}

#[test]
fn strangers_and_nonsense_are_refused_and_the_server_lives() {
    let view = view("bouncing-balls", &["--until", "0.1"]);
    let port = view.address.port();
    for host in ["evil.example", "127.0.0.1", "127.0.0.1:1", &format!("evil.example:{port}"), "", "localhost"]
    {
        assert_eq!(view.get("/", host).0, 403, "{host}");
        assert_eq!(view.get("/recording", host).0, 403, "{host}");
    }
    assert_eq!(view.get("/", &format!("LocalHost:{port}")).0, 200);
    let here = format!("Host: 127.0.0.1:{port}\r\n\r\n");
    for (first, code) in [
        ("GET /else HTTP/1.1", "404"),
        ("POST / HTTP/1.1", "405"),
        ("GET / HTTP/3", "505"),
        ("GET /../etc/passwd HTTP/1.1", "404"),
        ("GET /recording?from=-1 HTTP/1.1", "400"),
        ("GET /recording?from=99999999999999999999999 HTTP/1.1", "400"),
        ("hello", "400"),
        ("", "400"),
    ] {
        let answer = view.raw(format!("{first}\r\n{here}").as_bytes());
        assert_eq!(String::from_utf8_lossy(&answer)[9..12].to_owned(), code, "{first}");
    }
    assert_eq!(view.here("/recording?from=99999999").2.len(), 0);
    // Longer than any request, and not even text.
    assert!(view.raw(&[b'a'; 100_000]).starts_with(b"HTTP/1.1 431"));
    let mut random = SplitMix64(8);
    for _ in 0..200 {
        let bytes: Vec<u8> = (0..random.below(300)).map(|_| random.below(256) as u8).collect();
        let answer = view.raw(&bytes);
        assert!(
            answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"),
            "{}",
            String::from_utf8_lossy(&answer)
        );
    }
    // Connections that say nothing leave room for others.
    let idle: Vec<TcpStream> = (0..10).map(|_| TcpStream::connect(view.address).unwrap()).collect();
    assert_eq!(view.here("/").0, 200);
    drop(idle);
    assert_eq!(view.here("/").0, 200);
}

#[test]
fn too_many_connections_are_told_so() {
    let view = view("bouncing-balls", &["--until", "0.1"]);
    let idle: Vec<TcpStream> =
        (0..sim_cli::server::MOST).map(|_| TcpStream::connect(view.address).unwrap()).collect();
    let refused = Instant::now();
    while view.here("/").0 != 503 {
        assert!(refused.elapsed() < Duration::from_secs(4), "nobody is refused");
    }
    drop(idle);
    let again = Instant::now();
    while view.here("/").0 != 200 {
        assert!(again.elapsed() < Duration::from_secs(20), "nobody is let in again");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_that_fails_is_told_to_the_page_and_a_bad_scene_to_the_terminal() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let scene = folder.join("view-fails.ron");
    let text = "(bodies: [(name: \"floor\", kind: fixed, shape: half_space()), \
        (name: \"ball\", shape: sphere(radius: 0.1), position: (0, 0, 0.12))], stepper: (envelope: 1e-6, max_events: 10), \
        run: (until: 10))";
    std::fs::write(&scene, text).unwrap();
    let view = view(scene.to_str().unwrap(), &[]);
    let (_, said) = view.watch();
    assert!(said.last().unwrap().contains("used up 10 events"), "{said:?}");
    let bad = Command::new(env!("CARGO_BIN_EXE_sim")).args(["view", "domnos", "--no-open"]).output().unwrap();
    assert_eq!(bad.status.code(), Some(2));
}

#[test]
fn a_recording_is_shown_as_it_is() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("view.tumble");
    let name = file.to_str().unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_sim"))
        .args(["run", "bouncing-balls", "--until", "0.2", "--record", name])
        .output()
        .unwrap();
    assert!(run.status.success());
    let view = view(name, &[]);
    let (bytes, said) = view.watch();
    assert_eq!((bytes, said.len()), (std::fs::read(&file).unwrap(), 1));
}
