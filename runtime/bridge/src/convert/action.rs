//! What an action of ROS 2 puts around goals, feedbacks and results: `action_msgs`, and the messages that `rosidl` makes of an `.action` file.
//!
//! ```text
//! send_goal   goal_id(16) goal …                 → accepted(1) stamp(8)
//! get_result  goal_id(16)                        → status(1) result …
//! cancel_goal goal_id(16) stamp(8)               → return_code(1) [goal_id(16) stamp(8)] …
//! feedback    goal_id(16) feedback …
//! status      [goal_id(16) stamp(8) status(1)] …
//! ```
//! What follows `…` is aligned from the beginning of the whole, so it is never copied as one piece.

use std::sync::Arc;

use horus::action::GoalId;
use horus::message::layout::Layout;

use super::fields::{self, Step};
use super::plain;
use crate::cdr::{Malformed, Reader, Writer};
use crate::clock::{Offset, Time};
use crate::convert::Context;
use crate::interface::{Whole, standard};

/// Bytes of a goal's number with its stamp.
const GOAL_INFO: usize = 24;

/// How one part of an action becomes that of ROS, and back.
#[derive(Clone, Debug)]
pub struct Part {
    steps: Arc<[Step]>,
    bytes: usize,
}

impl Part {
    /// Pairs a part with that which ROS calls `name`, `my_robot/action/DriveTo_Goal`. Of an action that is not known it has the same fields.
    ///
    /// # Errors
    /// Which field does not fit, in words.
    pub fn new(layout: &Layout, name: &str) -> Result<Self, String> {
        let whole: Whole = match standard::get(name) {
            Some(_) => standard::whole(name).map_err(|error| error.to_string())?,
            None => plain::own(layout)?,
        };
        let steps = fields::plan(layout, &whole)?.into();
        Ok(Self { steps, bytes: layout.payload().bytes })
    }

    /// Writes a part of ours behind what stands there already.
    ///
    /// # Errors
    /// When it says what ROS's cannot say.
    pub fn write(&self, ours: &[u8], writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
        fields::write(&self.steps, ours, writer, context)
    }

    /// Writes one that says nothing.
    pub fn write_nothing(&self, writer: &mut Writer<'_>, context: &Context) {
        // Zeros are numbers, empty texts and empty lists.
        let _ = self.write(&vec![0; self.bytes], writer, context);
    }

    /// Reads what follows as a part of ours.
    ///
    /// # Errors
    /// When the bytes are no such part, or say what ours cannot say.
    pub fn read(&self, reader: &mut Reader<'_>, context: &Context) -> Result<Vec<u8>, Malformed> {
        let mut ours = vec![0; self.bytes];
        fields::read(&self.steps, reader, &mut ours, context)?;
        Ok(ours)
    }
}

/// Reads a goal's number.
///
/// # Errors
/// When the bytes end before it does.
pub fn read_id(reader: &mut Reader<'_>) -> Result<GoalId, Malformed> {
    let bytes = reader.u8s(16)?.first_chunk().ok_or(Malformed::Short)?;
    Ok(GoalId(*bytes))
}

/// Writes a goal's number.
pub fn write_id(id: GoalId, writer: &mut Writer<'_>) {
    writer.u8s(&id.0);
}

/// Writes a goal's number, and when it was accepted, on CLOCK_MONOTONIC.
pub fn write_info(id: GoalId, accepted_ns: u64, offset: Offset, writer: &mut Writer<'_>) {
    write_id(id, writer);
    write_time(accepted_ns, offset, writer);
}

/// Writes a time.
pub fn write_time(ns: u64, offset: Offset, writer: &mut Writer<'_>) {
    let Time { sec, nanosec } = offset.to_ros(ns);
    writer.i32(sec);
    writer.u32(nanosec);
}

/// Reads a goal's number and a time, on CLOCK_MONOTONIC; zero is not said.
///
/// # Errors
/// When the bytes end before they do.
pub fn read_info(reader: &mut Reader<'_>, offset: Offset) -> Result<(GoalId, u64), Malformed> {
    let id = read_id(reader)?;
    Ok((id, offset.from_ros(Time { sec: reader.i32()?, nanosec: reader.u32()? })))
}

/// Writes the answer to a request to cancel.
pub fn write_canceled(return_code: u8, goals: &[GoalId], writer: &mut Writer<'_>) {
    writer.u8(return_code);
    writer.count(goals.len());
    goals.iter().for_each(|id| write_info(*id, 0, Offset(0), writer));
}

/// Reads the answer to a request to cancel: the code, and the goals that are canceling.
///
/// # Errors
/// When the bytes are no such answer.
pub fn read_canceled(bytes: &[u8]) -> Result<(u8, Vec<GoalId>), Malformed> {
    let mut reader = Reader::new(bytes);
    let code = reader.u8()?;
    let count = reader.count(GOAL_INFO)?;
    let goals = (0..count).map(|_| read_info(&mut reader, Offset(0)).map(|(id, _)| id));
    Ok((code, goals.collect::<Result<_, _>>()?))
}

/// Writes where goals stand: number, when they were accepted, and status.
pub fn write_states(states: &[(GoalId, u64, u8)], offset: Offset, writer: &mut Writer<'_>) {
    writer.count(states.len());
    for (id, accepted_ns, status) in states {
        write_info(*id, *accepted_ns, offset, writer);
        writer.u8(*status);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cdr::ENCAPSULATION;

    #[test]
    fn a_result_behind_a_status_is_aligned_from_the_beginning() {
        let layout: Layout = "message a/BResult\n count i32\n side i32\n length f64".parse().unwrap();
        let part = Part::new(&layout, "a/action/B_Result").unwrap();
        let mut ours = vec![0; 16];
        ours[..4].copy_from_slice(&7_i32.to_le_bytes());
        ours[4..8].copy_from_slice(&8_i32.to_le_bytes());
        ours[8..].copy_from_slice(&0.5_f64.to_le_bytes());
        let mut cdr = Vec::new();
        let mut writer = Writer::new(&mut cdr);
        writer.u8(4);
        part.write(&ours, &mut writer, &Context::default()).unwrap();
        let cdr = &cdr[ENCAPSULATION.len()..];
        assert_eq!(cdr.len(), 24, "one byte and three, two numbers, four bytes and a number");
        let mut reader = Reader::new(cdr);
        assert_eq!(reader.u8(), Ok(4));
        assert_eq!(part.read(&mut reader, &Context::default()).unwrap(), ours);
        let mut cut = Reader::new(&cdr[..20]);
        assert!(cut.u8().is_ok() && part.read(&mut cut, &Context::default()).is_err());
    }

    #[test]
    fn canceled_goals_are_read_as_they_were_written_and_what_is_cut_is_refused() {
        let goals = [GoalId([1; 16]), GoalId([2; 16])];
        let mut cdr = Vec::new();
        write_canceled(0, &goals, &mut Writer::new(&mut cdr));
        let cdr = &cdr[ENCAPSULATION.len()..];
        assert_eq!(read_canceled(cdr).unwrap(), (0, goals.to_vec()));
        for length in 0..cdr.len() {
            assert!(read_canceled(&cdr[..length]).is_err(), "{length}");
        }
    }
}
