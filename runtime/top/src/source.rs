//! The program that prints the pages.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::thread;

use crate::page::Page;

/// How much is read of what it says when it fails.
const MAX_WORDS: u64 = 4096;

/// The program; ended when it is dropped.
pub struct Source {
    child: Child,
    pages: Receiver<Result<Page, String>>,
    problem: Option<String>,
}

/// What came since the last look.
pub enum News {
    /// A page.
    Page(Page),
    /// Nothing.
    Nothing,
    /// The last page has come.
    End,
}

impl Source {
    /// Starts `command`.
    pub fn start(command: &[OsString]) -> Result<Self, String> {
        let usage = "which pages? Type `horus top`, which starts this program";
        let (program, arguments) = command.split_first().ok_or(usage)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("cannot start {}: {error}", program.display()))?;
        let lines = BufReader::new(child.stdout.take().expect("stdout is a pipe")).lines();
        let (sender, pages) = mpsc::channel();
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let page = serde_json::from_str(&line).map_err(|error| format!("this is no page ({error}): {line}"));
                if sender.send(page).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, pages, problem: None })
    }

    /// What came last, without waiting.
    pub fn news(&mut self) -> News {
        let mut news = News::Nothing;
        loop {
            match self.pages.try_recv() {
                Ok(Ok(page)) => news = News::Page(page),
                Ok(Err(problem)) => {
                    self.problem = Some(problem);
                    return News::End;
                }
                Err(TryRecvError::Empty) => return news,
                Err(TryRecvError::Disconnected) => return News::End,
            }
        }
    }

    /// Why there are no more pages.
    pub fn last_words(&mut self) -> String {
        if let Some(problem) = self.problem.take() {
            return problem;
        }
        let _ = self.child.kill();
        let mut words = String::new();
        if let Some(stderr) = self.child.stderr.take() {
            let _ = stderr.take(MAX_WORDS).read_to_string(&mut words);
        }
        match words.trim() {
            "" => "the pages ended".to_owned(),
            words => words.to_owned(),
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ = self.child.wait();
    }
}
