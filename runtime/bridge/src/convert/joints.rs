//! `sensor_msgs/msg/JointState`.

use horus::messages::JointState;

use super::{Context, header};
use crate::cdr::{Malformed, Reader, Writer};

/// Bit of each quantity in `measured`.
const POSITION: u32 = 1;
const VELOCITY: u32 = 2;
const EFFORT: u32 = 4;

pub fn write(ours: &JointState, writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    header::write(writer, ours.stamp_ns, &context.frame, context);
    writer.count(ours.names().count());
    ours.names().for_each(|name| writer.text(name));
    for (bit, values) in [(POSITION, ours.positions()), (VELOCITY, ours.velocities()), (EFFORT, ours.efforts())] {
        // An empty list says that nothing was measured.
        let values = if ours.measured & bit != 0 { values } else { &[] };
        writer.count(values.len());
        writer.f64s(values);
    }
    Ok(())
}

pub fn read(reader: &mut Reader<'_>, ours: &mut JointState, context: &Context) -> Result<(), Malformed> {
    (ours.stamp_ns, _) = header::read(reader, context)?;
    let count = reader.count(5)?; // the shortest text
    let names = ours.name_texts.get_mut(..count).ok_or(Malformed::TooMany)?;
    names.iter_mut().try_for_each(|field| header::keep(field, reader.text()?))?;
    ours.name_texts[count..].fill([0; 32]);
    ours.count = count as u32; // at most 16
    ours.measured = 0;
    let quantities = [(POSITION, &mut ours.position), (VELOCITY, &mut ours.velocity), (EFFORT, &mut ours.effort)];
    for (bit, values) in quantities {
        let given = reader.count(8)?;
        if given != 0 && given != count {
            return Err(Malformed::Unlike("there are not as many values as names"));
        }
        reader.f64s(&mut values[..given])?;
        values[given..].fill(0.0);
        ours.measured |= if given > 0 { bit } else { 0 };
    }
    Ok(())
}
