//! `sensor_msgs/msg/BatteryState`.
//!
//! Charge is in coulombs here and in ampere hours there. ROS has no place for our bits of faults, and ours none for health,
//! technology and temperatures of cells.

use horus::messages::{BatteryState, Supply};

use super::{Context, header};
use crate::cdr::{Malformed, Reader, Writer};

const COULOMBS_PER_AMPERE_HOUR: f32 = 3600.0;

pub fn write(ours: &BatteryState, writer: &mut Writer<'_>, context: &Context) -> Result<(), Malformed> {
    header::write(writer, ours.stamp_ns, &context.frame, context);
    let hours = |coulombs: f32| coulombs / COULOMBS_PER_AMPERE_HOUR;
    writer.f32s(&[ours.voltage, ours.temperature, ours.current, hours(ours.charge), hours(ours.capacity)]);
    writer.f32s(&[f32::NAN, ours.level]); // as sold: not known
    writer.u8(ours.supply().map_or(0, |supply| supply.code() as u8)); // the same five numbers
    writer.u8(0); // health: unknown
    writer.u8(0); // technology: unknown
    writer.u8(1); // present
    writer.count(ours.cells().len());
    writer.f32s(ours.cells());
    writer.count(0);
    writer.text("");
    writer.text("");
    Ok(())
}

pub fn read(reader: &mut Reader<'_>, ours: &mut BatteryState, context: &Context) -> Result<(), Malformed> {
    (ours.stamp_ns, _) = header::read(reader, context)?;
    ours.voltage = reader.f32()?;
    ours.temperature = reader.f32()?;
    ours.current = reader.f32()?;
    ours.charge = reader.f32()? * COULOMBS_PER_AMPERE_HOUR;
    ours.capacity = reader.f32()? * COULOMBS_PER_AMPERE_HOUR;
    reader.f32()?;
    ours.level = reader.f32()?;
    let supply = u16::from(reader.u8()?);
    ours.supply_code = Supply::from_code(supply).map_or(Supply::Unknown.code(), Supply::code);
    reader.pass(3, 1)?;
    let cells = reader.count(4)?;
    let room = ours.cell_voltages.get_mut(..cells).ok_or(Malformed::TooMany)?;
    reader.f32s(room)?;
    ours.cell_voltages[cells..].fill(0.0);
    (ours.cell_count, ours.faults) = (cells as u32, 0); // at most 16
    let temperatures = reader.count(4)?;
    reader.pass(temperatures, 4)?;
    reader.text()?;
    reader.text().map(drop)
}
