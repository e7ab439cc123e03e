//! Who out there DDS has brought together with us: what a service asks before it calls or replies.

use std::collections::VecDeque;

use rustdds::GUID;

/// Which readers and writers out there DDS has brought together with ours.
#[derive(Debug, Default)]
pub struct Matches(Vec<(GUID, GUID)>);

impl Matches {
    /// One of ours and one of theirs were brought together.
    pub fn come(&mut self, ours: GUID, theirs: GUID) {
        if !self.has(ours, theirs) {
            self.0.push((ours, theirs));
        }
    }

    /// One of ours or theirs went.
    pub fn go(&mut self, guid: GUID) {
        self.0.retain(|(ours, theirs)| *ours != guid && *theirs != guid);
    }

    /// A participant went with all that it had.
    pub fn leave(&mut self, is_of_it: impl Fn(&GUID) -> bool) {
        self.0.retain(|(_, theirs)| !is_of_it(theirs));
    }

    /// Whether they are together.
    pub fn has(&self, ours: GUID, theirs: GUID) -> bool {
        self.0.contains(&(ours, theirs))
    }

    /// Whether one participant hears the requests of this writer and sends replies to this reader.
    pub fn is_served(&self, writer: GUID, reader: GUID) -> bool {
        let of = |own: GUID| self.0.iter().filter(move |(ours, _)| *ours == own).map(|(_, theirs)| theirs.prefix);
        of(writer).any(|one| of(reader).any(|other| one == other))
    }
}

/// Events that wait to be told.
pub type Waiting = VecDeque<rustdds::DomainParticipantStatusEvent>;

#[cfg(test)]
mod tests {
    use super::*;

    fn guid(participant: u8, entity: u8) -> GUID {
        let mut bytes = [participant; 16];
        bytes[12..].copy_from_slice(&[0, 0, entity, 0]);
        GUID::from_bytes(bytes)
    }

    #[test]
    fn a_service_is_served_when_one_participant_hears_requests_and_sends_replies() {
        let (writer, reader) = (guid(1, 1), guid(1, 2));
        let mut matches = Matches::default();
        matches.come(writer, guid(2, 7));
        matches.come(reader, guid(3, 8));
        assert!(!matches.is_served(writer, reader), "another client and half of a server");
        matches.come(reader, guid(2, 9));
        matches.come(reader, guid(2, 9));
        assert!(matches.is_served(writer, reader) && !matches.is_served(reader, writer.max(guid(9, 9))));
        matches.go(guid(2, 9));
        assert!(!matches.is_served(writer, reader));
        matches.come(reader, guid(2, 9));
        matches.leave(|theirs| theirs.prefix == guid(2, 0).prefix);
        assert!(!matches.is_served(writer, reader) && matches.has(reader, guid(3, 8)));
    }
}
