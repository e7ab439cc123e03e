//! What a battery says.

use super::{TooMany, counted, fill};

crate::message! {
    /// State of a battery, 104 bytes. What the battery cannot measure is NaN.
    pub struct BatteryState = "horus/BatteryState" {
        /// When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
        stamp_ns: u64,
        /// Voltage between the terminals, volts.
        voltage: f32,
        /// Current into the battery, amperes; negative while it discharges.
        current: f32,
        /// Temperature, degrees Celsius (REP 103 keeps them beside the SI units).
        temperature: f32,
        /// Charge that is left, coulombs; 3600 of them are one ampere hour.
        charge: f32,
        /// Charge when full, as of now and not as sold, coulombs.
        capacity: f32,
        /// What is left as a fraction of what fits, 0 to 1.
        level: f32,
        /// Voltages of the single cells, volts; the first `cell_count` of them count: read [`cells`](Self::cells).
        cell_voltages: [f32; 16],
        /// How many cells are given, 0 to 16.
        cell_count: u32,
        /// Code of a [`Supply`]: read [`supply`](Self::supply).
        supply_code: u16,
        /// One bit for each fault that the battery reports, as its maker numbers them; 0 when it is well.
        faults: u16,
    }
}
const _: () = assert!(size_of::<BatteryState>() == 104);

/// What a battery is doing: the states of Linux's power_supply class
/// (<https://docs.kernel.org/power/power_supply_class.html>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Supply {
    /// The battery does not say.
    Unknown,
    /// It is being charged.
    Charging,
    /// It feeds the machine.
    Discharging,
    /// External power is there, and it is not being charged.
    NotCharging,
    /// It holds what it can.
    Full,
}

impl Supply {
    const ALL: [Self; 5] = [Self::Unknown, Self::Charging, Self::Discharging, Self::NotCharging, Self::Full];

    /// The number that stands in a message for this state: 0 to 4 in the order of the variants.
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The state that a message's number stands for.
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

impl BatteryState {
    /// Most cells that a message holds.
    pub const CELLS: usize = 16;

    /// A battery of which nothing is known.
    pub fn unknown() -> Self {
        let (voltage, current, temperature) = (f32::NAN, f32::NAN, f32::NAN);
        let (charge, capacity, level) = (f32::NAN, f32::NAN, f32::NAN);
        Self { voltage, current, temperature, charge, capacity, level, ..Self::zeroed() }
    }

    /// Voltages of the single cells, volts; at most [`CELLS`](Self::CELLS), whatever the count says.
    pub fn cells(&self) -> &[f32] {
        counted(&self.cell_voltages, self.cell_count)
    }

    /// Sets the voltages of the single cells, volts, and their count.
    pub fn set_cells(&mut self, volts: &[f32]) -> Result<(), TooMany> {
        self.cell_count = fill(&mut self.cell_voltages, volts)?;
        Ok(())
    }

    /// What the battery is doing; `None` for a code that means nothing.
    pub fn supply(&self) -> Option<Supply> {
        Supply::from_code(self.supply_code)
    }
}
