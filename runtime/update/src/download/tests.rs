//! Downloads from a server on this machine that behaves in each way that servers and lines do.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;

use super::*;

const LENGTH: usize = 300_000;

/// What a server does. The first connection is cut behind `cut` bytes, the second behind twice as many, and so on.
#[derive(Clone, Copy)]
struct Server {
    cut: usize,
    gives_parts: bool,
    says_length: bool,
    /// What tells the file from another, in the first answer and in those of parts.
    tags: [&'static str; 2],
    /// Connections after which the file is another one.
    changes_after: usize,
    status: u16,
    /// Connections that are refused after the first one, by a server that has too much to do.
    busy: usize,
    /// By how many bytes a part begins too late.
    off: usize,
}

const GOOD: Server = Server {
    cut: 70_000,
    gives_parts: true,
    says_length: true,
    tags: ["ETag"; 2],
    changes_after: usize::MAX,
    status: 200,
    busy: 0,
    off: 0,
};

fn content() -> Vec<u8> {
    (0..LENGTH).map(|at| (at * 7 + at / 251) as u8).collect()
}

impl Server {
    /// Serves for as long as the test runs; gives the address of its file.
    fn start(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/update", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for (count, line) in listener.incoming().enumerate() {
                // A client that went away is no matter.
                let _ = self.answer(line.unwrap(), count);
            }
        });
        url
    }

    fn answer(&self, mut line: TcpStream, count: usize) -> io::Result<()> {
        let mut from = 0;
        for word in BufReader::new(line.try_clone()?).lines() {
            let word = word?.to_lowercase();
            if word.is_empty() {
                break;
            }
            if let Some(range) = word.strip_prefix("range: bytes=") {
                from = range.trim_end_matches('-').parse().unwrap();
            }
        }
        let (whole, tag) = (content(), if count >= self.changes_after { "b" } else { "a" });
        let is_part = self.gives_parts && from > 0 && tag == "a";
        let rest = if is_part { &whole[from..] } else { &whole[..] };
        let status = match is_part {
            _ if (1..=self.busy).contains(&count) => 503,
            true => 206,
            false => self.status,
        };
        write!(line, "HTTP/1.1 {status} Some\r\nConnection: close\r\n")?;
        if is_part {
            write!(line, "Content-Range: bytes {}-{}/{LENGTH}\r\n", from + self.off, LENGTH - 1)?;
        }
        if self.says_length {
            write!(line, "Content-Length: {}\r\n", rest.len())?;
        }
        if let name @ ("ETag" | "Last-Modified") = self.tags[usize::from(is_part)] {
            write!(line, "{name}: \"{tag}\"\r\n")?;
        }
        write!(line, "\r\n")?;
        line.write_all(&rest[..rest.len().min(self.cut * (count + 1))])
    }
}

/// What was read, or why not; and what was told.
fn download(server: Server, patience: Duration) -> (Result<Vec<u8>, String>, Vec<String>) {
    let told = Rc::new(RefCell::new(Vec::new()));
    let heard = told.clone();
    let opened = Download::open(&server.start(), move |text| heard.borrow_mut().push(text.to_owned()));
    let read = opened.and_then(|mut download| {
        (download.patience, download.pause) = (patience, Duration::from_millis(5));
        let mut all = Vec::new();
        download.read_to_end(&mut all).map(|_| all).map_err(|error| error.to_string())
    });
    let told = told.borrow().clone();
    (read, told)
}

#[test]
fn a_line_that_is_cut_again_and_again_gives_each_byte_once() {
    let (read, told) = download(GOOD, PATIENCE);
    assert!(read.unwrap() == content());
    assert_eq!(told.len(), 4, "300 kB are cut behind 70 and behind 210: {told:?}");
    assert!(told[0].contains("tried again") && told[1].contains("there again"), "{told:?}");
}

#[test]
fn a_server_without_parts_is_read_once_more_up_to_the_cut() {
    let (read, told) = download(Server { gives_parts: false, ..GOOD }, PATIENCE);
    assert!(read.unwrap() == content());
    assert_eq!(told.len(), 8, "a whole file of 300 kB is cut behind 70, 140, 210 and 280: {told:?}");
}

#[test]
fn a_file_that_changes_meanwhile_is_no_update() {
    let (read, _) = download(Server { changes_after: 2, ..GOOD }, PATIENCE);
    assert!(read.unwrap_err().contains("another file now"));
}

#[test]
fn a_server_that_is_busy_is_asked_again_and_a_part_may_say_less_than_the_whole() {
    for server in [Server { busy: 3, ..GOOD }, Server { tags: ["Last-Modified", ""], ..GOOD }] {
        let (read, told) = download(server, PATIENCE);
        assert!(read.unwrap() == content(), "{told:?}");
    }
}

#[test]
fn a_part_that_was_not_asked_for_is_refused() {
    let (read, _) = download(Server { off: 1, ..GOOD }, PATIENCE);
    assert!(read.unwrap_err().contains("another part"));
}

#[test]
fn what_the_server_refuses_is_told_at_once() {
    let (read, _) = download(Server { status: 404, ..GOOD }, PATIENCE);
    let said = read.unwrap_err();
    assert!(said.contains("404") && said.contains("127.0.0.1"), "{said}");
}

#[test]
fn a_line_that_stays_cut_ends_with_the_reason() {
    let server = Server { cut: 0, ..GOOD };
    let (read, told) = download(server, Duration::from_millis(1));
    assert!(read.is_err());
    assert_eq!(told.len(), 1, "{told:?}");
}

#[test]
fn a_file_without_tag_and_length_ends_where_its_line_ends() {
    let (read, told) = download(Server { says_length: false, tags: [""; 2], cut: 400_000, ..GOOD }, PATIENCE);
    assert!(read.unwrap() == content(), "{told:?}");
}

#[test]
fn only_two_schemes_are_downloads() {
    assert!(is_url("http://a/b") && is_url("https://a/b"));
    assert!(!is_url("/a") && !is_url("-") && !is_url("ftp://a/b"));
}
