//! One program's connection: nothing that it says is believed, and what it does wrong ends this connection only.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Instant;

use horus::witness::protocol::{Answer, MAX_PACKET, Missed, Recording, Request, Thread};
use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recv, sendmsg};

use crate::notice::Notice;
use crate::witness::{Witness, unknown};

/// The most threads of one program, and so the most descriptors of an answer.
const MOST_THREADS: usize = 128;
/// The longest name of a node.
const LONGEST_NAME: usize = 256;

/// A program.
pub struct Peer {
    /// Where it is.
    pub socket: OwnedFd,
    /// Its process, by the kernel's word.
    pub process: u32,
    /// Its user, too.
    pub user: u32,
    /// When it came.
    pub came: Instant,
    /// Whether it has said which threads it has.
    pub is_enrolled: bool,
    /// The threads that it enrolled, and their CPUs.
    threads: BTreeMap<u32, u32>,
    /// What was recorded of the cycle that it asks about next.
    recorded: Option<Recording>,
}

impl Peer {
    /// A program that just came.
    pub fn new(socket: OwnedFd) -> io::Result<Self> {
        let caller = socket_peercred(&socket)?;
        let process = u32::try_from(caller.pid.as_raw_nonzero().get()).map_err(io::Error::other)?;
        let user = caller.uid.as_raw();
        Ok(Self {
            socket,
            process,
            user,
            came: Instant::now(),
            is_enrolled: false,
            threads: BTreeMap::new(),
            recorded: None,
        })
    }

    /// Answers its next packet. `false` says that it left.
    ///
    /// # Errors
    /// When it did what a program does not do: in words.
    pub fn answer(&mut self, witness: &mut Witness, notice: &mut dyn FnMut(Notice)) -> Result<bool, String> {
        let mut packet = vec![0; MAX_PACKET + 1];
        let length = match recv(&self.socket, &mut packet[..], RecvFlags::DONTWAIT | RecvFlags::TRUNC) {
            Ok((_, 0)) | Err(Errno::CONNRESET) => return Ok(false),
            Ok((_, length)) => length,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(true),
            Err(errno) => return Err(format!("it cannot be read: {errno}")),
        };
        if length > MAX_PACKET {
            return Err(format!("its packet has {length} bytes, at most {MAX_PACKET} are taken"));
        }
        let request =
            serde_json::from_slice(&packet[..length]).map_err(|error| format!("its packet is no request: {error}"))?;
        match request {
            Request::Enrol { threads, .. } => self.enrol(&threads, witness)?,
            Request::Recorded(recording) => self.recorded = Some(recording),
            Request::Missed(missed) => {
                self.check(&missed)?;
                let recorded = self.recorded.take().filter(|recorded| recorded.cycle == missed.cycle);
                let verdict = match self.threads.values().any(|cpu| *cpu == missed.cpu) {
                    true => witness.judge(&missed, recorded.as_ref(), notice),
                    false => unknown(&missed, "its program has no thread that is bound to that CPU"),
                };
                self.say(&Answer::Verdict(verdict), &[])?;
            }
        }
        Ok(true)
    }

    fn enrol(&mut self, threads: &[Thread], witness: &Witness) -> Result<(), String> {
        if threads.len() > MOST_THREADS {
            return Err(format!("it enrols {} threads, at most {MOST_THREADS} are taken", threads.len()));
        }
        if let Some(thread) = threads.iter().find(|thread| !self.owns(thread.tid)) {
            return Err(format!("it enrols thread {}, which is not its own", thread.tid));
        }
        self.is_enrolled = true;
        self.threads = threads.iter().map(|thread| (thread.tid, thread.cpu)).collect();
        let wanted: BTreeSet<u32> = threads.iter().map(|thread| thread.cpu).collect();
        let (mut cpus, mut markers, mut reason) = (Vec::new(), Vec::new(), "it has no thread with a CPU".to_owned());
        for cpu in wanted {
            match witness.marker(cpu) {
                Ok(marker) => {
                    cpus.push(cpu);
                    markers.push(marker);
                }
                Err(why) => reason = why,
            }
        }
        let answer = if cpus.is_empty() { Answer::Refused { reason } } else { Answer::Enrolled { cpus } };
        self.say(&answer, &markers)
    }

    /// Whether a thread is one of this process.
    fn owns(&self, tid: u32) -> bool {
        Path::new(&format!("/proc/{}/task/{tid}", self.process)).exists()
    }

    fn check(&self, missed: &Missed) -> Result<(), String> {
        if !self.threads.contains_key(&missed.tid) {
            return Err(format!("it asks about thread {}, which it did not enrol", missed.tid));
        }
        if missed.node.len() > LONGEST_NAME {
            return Err(format!("its node's name has {} bytes, at most {LONGEST_NAME} are taken", missed.node.len()));
        }
        Ok(())
    }

    /// Sends an answer without waiting.
    fn say(&self, answer: &Answer, descriptors: &[OwnedFd]) -> Result<(), String> {
        let text = serde_json::to_vec(answer).map_err(|error| error.to_string())?;
        let borrowed: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_THREADS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !borrowed.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&borrowed)) {
            return Err("it enrols more CPUs than an answer carries".to_owned());
        }
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match sendmsg(&self.socket, &[IoSlice::new(&text)], &mut control, flags) {
            Ok(_) => Ok(()),
            // It has left meanwhile, as one does that is killed: no trouble, and the next look at its socket finds the end.
            Err(Errno::PIPE | Errno::CONNRESET) => Ok(()),
            Err(Errno::AGAIN) => Err("it does not read its answers".to_owned()),
            Err(errno) => Err(format!("it cannot be answered: {errno}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    use super::*;

    #[test]
    fn a_program_that_left_before_its_answer_is_no_trouble_and_one_that_reads_no_answers_is() {
        let pair = || socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
        let answer = Answer::Refused { reason: "nothing is traced".to_owned() };
        let (ours, theirs) = pair();
        drop(theirs);
        assert_eq!(Peer::new(ours).unwrap().say(&answer, &[]), Ok(()));
        let (ours, _theirs) = pair();
        let peer = Peer::new(ours).unwrap();
        let refused = (0..100_000).find_map(|_| peer.say(&answer, &[]).err());
        assert_eq!(refused.as_deref(), Some("it does not read its answers"));
    }
}
