//! What stands where: puts what the lidar sees into a grid of the room.
//!
//! A service forgets a part of it. The grid is a latched topic. Who comes late gets it at once: a viewer, and this node itself when its program starts again.

use horus::messages::Vector3;
use horus::prelude::*;
use horus::service::NodeServer;
use horus::transform::Frames;
use robot_base::messages::{BEAMS, ClearMap, Grid, MapCleared, Sweep, direction};
use robot_base::room::{FARTHEST, planar};

/// Cells along x.
pub const COLUMNS: usize = 60;
/// Cells along y.
pub const ROWS: usize = 40;
/// Of a cell, metres.
pub const CELL: f64 = 0.1;
/// From this on something stands in a cell.
pub const OCCUPIED: u8 = 128;
/// What a beam that ends in a cell adds to it, and what one that goes through it takes away. Two sweeps that agree are believed, and what
/// stood in the way and has gone is forgotten after a second.
const HIT: u8 = 70;
const THROUGH: u8 = 12;

struct Costmap {
    sweeps: Input<Sweep>,
    frames: Frames,
    requests: NodeServer<ClearMap, MapCleared>,
    map: Output<Grid>,
    grid: Box<Grid>,
}

/// Declares the node.
pub fn costmap(app: &mut App) -> horus::Result {
    let latched = Options::latest(2).latched();
    let mut before = Subscriber::<Grid>::open("map", &latched)?;
    let known = before.try_recv().map(|received| received.message);
    let node = Costmap {
        sweeps: app.input("lidar")?,
        frames: app.transforms()?,
        requests: app.server("map.clear")?,
        map: app.output_with("map", latched)?,
        grid: Box::new(known.unwrap_or_else(Grid::zeroed)),
    };
    // A service that is asked once a week is not stale.
    app.node("costmap", node).rate(5.0).stale_after_of("map.clear", secs(604_800));
    Ok(())
}

/// The place of a point in a grid, if it is in the room.
pub fn cell(x: f64, y: f64) -> Option<usize> {
    let (column, row) = ((x / CELL).floor(), (y / CELL).floor());
    let is_inside = (0.0..COLUMNS as f64).contains(&column) && (0.0..ROWS as f64).contains(&row);
    is_inside.then(|| row as usize * COLUMNS + column as usize)
}

/// The middle of a cell.
pub fn middle(cell: usize) -> (f64, f64) {
    (((cell % COLUMNS) as f64 + 0.5) * CELL, ((cell / COLUMNS) as f64 + 0.5) * CELL)
}

/// Puts one beam into the grid: from where the lidar is to where it ends.
fn draw(grid: &mut Grid, from: (f64, f64), angle: f64, metres: f64) {
    let (sine, cosine) = angle.sin_cos();
    let at = |way: f64| cell(from.0 + way * cosine, from.1 + way * sine);
    let end = at(metres);
    let mut before = None;
    for step in 0..(metres / CELL) as usize {
        let through = at(step as f64 * CELL);
        // A cell that the beam only just leaves is met twice.
        if through != end
            && through != before
            && let Some(value) = through.and_then(|cell| grid.cells.get_mut(cell))
        {
            *value = value.saturating_sub(THROUGH);
        }
        before = through;
    }
    if metres < FARTHEST
        && let Some(value) = end.and_then(|cell| grid.cells.get_mut(cell))
    {
        *value = value.saturating_add(HIT);
    }
}

/// Forgets what is around a point; in how many cells something stood.
fn clear(grid: &mut Grid, request: &ClearMap) -> u64 {
    let is_near = |at: usize| {
        let (x, y) = middle(at);
        (x - request.x).hypot(y - request.y) < request.radius
    };
    let near = grid.cells.iter_mut().enumerate().filter(|(at, _)| is_near(*at));
    near.map(|(_, value)| u64::from(std::mem::take(value) >= OCCUPIED)).sum()
}

impl Node for Costmap {
    fn step(&mut self, cycle: &Cycle) {
        let Self { requests, grid, .. } = self;
        // Answered in the step, and not by a node of their own: both would write the grid.
        while requests.serve(|request, answer| {
            let cells = clear(grid, &request);
            cycle.log(info!("{} cells are forgotten around x {:.2} y {:.2}", cells, request.x, request.y));
            let _ = answer.send(MapCleared { cells });
        }) {}
        let Some(sweep) = self.sweeps.fresh() else { return };
        // Refused as long as the place of the lidar at that time is not known: the next sweep will do.
        let Ok(lidar) = self.frames.at("map", "lidar", MonotonicTime::from_nanos(sweep.stamp_ns)) else { return };
        let Vector3 { x, y, .. } = lidar.translation;
        let (.., yaw) = planar(&lidar);
        for beam in 0..BEAMS {
            draw(&mut self.grid, (x, y), yaw + direction(beam), f64::from(sweep.metres[beam]));
        }
        self.grid.stamp_ns = sweep.stamp_ns;
        self.map.set(*self.grid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beam_ends_in_what_stands_there_and_clears_what_has_gone() {
        let mut grid = Grid::zeroed();
        for _ in 0..2 {
            draw(&mut grid, (1.05, 1.05), 0.0, 2.0);
        }
        let at = |grid: &Grid, x: f64| grid.cells[cell(x, 1.05).unwrap()];
        assert!(at(&grid, 3.05) >= OCCUPIED && at(&grid, 2.95) == 0);
        for _ in 0..12 {
            draw(&mut grid, (1.05, 1.05), 0.0, 4.0);
        }
        assert!(at(&grid, 3.05) == 0 && at(&grid, 5.05) >= OCCUPIED);
    }

    #[test]
    fn what_is_around_a_point_is_forgotten_and_nothing_else() {
        let mut grid = Grid::zeroed();
        for x in [1.05, 1.55, 2.05] {
            grid.cells[cell(x, 1.05).unwrap()] = 255;
        }
        assert_eq!(clear(&mut grid, &ClearMap { x: 1.0, y: 1.0, radius: 0.7 }), 2);
        assert_eq!(grid.cells[cell(2.05, 1.05).unwrap()], 255);
    }
}
