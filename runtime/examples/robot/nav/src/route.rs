//! The way through a grid: the cheapest one for a robot that is as wide as two cells, with its corners cut where nothing stands near.
//!
//! Dijkstra's algorithm from the goal outwards. All memory is there from the beginning: a step allocates nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use robot_base::messages::{Grid, Path};

use crate::costmap::{CELL, COLUMNS, OCCUPIED, ROWS, cell, middle};

const CELLS: usize = COLUMNS * ROWS;
/// The robot does not drive through so many cells around what stands there, and so many cost more: the robot turns within 15 cm of its middle.
const WALL: isize = 1;
const NEAR: isize = 3;
/// Of a cell, by what it is. A way through the door is worth a detour of a few cells, and no more.
const FREE_COST: u32 = 1;
const NEAR_COST: u32 = 6;
const FAR: u32 = u32::MAX;

/// Neighbours of a cell: columns, rows, and how long the way to one is, in tenths of a cell.
const AROUND: [(isize, isize, u32); 8] =
    [(1, 0, 10), (-1, 0, 10), (0, 1, 10), (0, -1, 10), (1, 1, 14), (1, -1, 14), (-1, 1, 14), (-1, -1, 14)];

/// The memory of a search.
pub struct Search {
    /// What it costs to be in a cell; 0: it is closed.
    cost: Box<[u32]>,
    /// What it costs to come from a cell to the goal.
    away: Box<[u32]>,
    open: BinaryHeap<Reverse<(u32, usize)>>,
}

impl Search {
    pub fn new() -> Self {
        let nothing = || vec![0; CELLS].into_boxed_slice();
        // A cell is entered at most once from each neighbour.
        Self { cost: nothing(), away: nothing(), open: BinaryHeap::with_capacity(CELLS * AROUND.len()) }
    }

    /// Puts the way from `here` to `goal` into `path`; whether there is one.
    pub fn route(&mut self, grid: &Grid, here: (f64, f64), goal: (f64, f64), path: &mut Path) -> bool {
        path.count = 0;
        let (Some(from), Some(to)) = (cell(here.0, here.1), cell(goal.0, goal.1)) else { return false };
        self.inflate(grid);
        // The robot may have been carried into a closed cell: it drives out of there.
        self.cost[from] = self.cost[from].max(NEAR_COST);
        if self.cost[to] == 0 {
            return false;
        }
        self.spread(to);
        if self.away[from] == FAR {
            return false;
        }
        self.walk(from, to, path);
        path.push(goal);
        true
    }

    fn inflate(&mut self, grid: &Grid) {
        self.cost.fill(FREE_COST);
        for occupied in (0..CELLS).filter(|cell| grid.cells[*cell] >= OCCUPIED) {
            for rows in -NEAR..=NEAR {
                for columns in -NEAR..=NEAR {
                    let Some(near) = beside(occupied, columns, rows) else { continue };
                    let is_wall = columns.abs().max(rows.abs()) <= WALL;
                    let cost = &mut self.cost[near];
                    *cost = if is_wall || *cost == 0 { 0 } else { NEAR_COST };
                }
            }
        }
    }

    fn spread(&mut self, goal: usize) {
        self.away.fill(FAR);
        self.open.clear();
        self.away[goal] = 0;
        self.open.push(Reverse((0, goal)));
        while let Some(Reverse((away, at))) = self.open.pop() {
            if away > self.away[at] {
                continue;
            }
            for (columns, rows, tenths) in AROUND {
                let Some(next) = beside(at, columns, rows) else { continue };
                let further = away + tenths * self.cost[next];
                if self.cost[next] > 0 && further < self.away[next] {
                    self.away[next] = further;
                    self.open.push(Reverse((further, next)));
                }
            }
        }
    }

    /// Goes downhill from cell to cell, and leaves out those that can be left out.
    fn walk(&self, from: usize, goal: usize, path: &mut Path) {
        let (mut at, mut corner) = (from, from);
        // A way that goes downhill has no circle, so this ends.
        while at != goal {
            let around = AROUND.iter().filter_map(|(columns, rows, _)| beside(at, *columns, *rows));
            let Some(next) = around.min_by_key(|next| self.away[*next]) else { return };
            if !self.is_clear(corner, next) {
                path.push(middle(at));
                corner = at;
            }
            at = next;
        }
    }

    /// Whether nothing is near the straight line between two cells.
    fn is_clear(&self, one: usize, other: usize) -> bool {
        let ((x, y), (to_x, to_y)) = (middle(one), middle(other));
        let steps = ((to_x - x).hypot(to_y - y) / (CELL / 2.0)).ceil().max(1.0);
        (0..=steps as usize).all(|step| {
            let share = step as f64 / steps;
            let at = cell(x + share * (to_x - x), y + share * (to_y - y));
            at.is_some_and(|at| self.cost[at] == FREE_COST)
        })
    }
}

/// The cell that is so many columns and rows from another one, if it is in the room.
fn beside(cell: usize, columns: isize, rows: isize) -> Option<usize> {
    let column = (cell % COLUMNS).checked_add_signed(columns).filter(|column| *column < COLUMNS)?;
    let row = (cell / COLUMNS).checked_add_signed(rows).filter(|row| *row < ROWS)?;
    Some(row * COLUMNS + column)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A room with a wall at x = 3 m that leaves a door above y = `door`.
    fn room(door: f64) -> Grid {
        let mut grid = Grid::zeroed();
        for row in 0..(door / CELL) as usize {
            grid.cells[row * COLUMNS + 30] = 255;
        }
        grid
    }

    #[test]
    fn the_way_goes_through_the_door_and_ends_at_the_goal() {
        let (mut search, mut path) = (Search::new(), Path::zeroed());
        assert!(search.route(&room(2.4), (1.0, 1.0), (5.0, 1.0), &mut path));
        let points: Vec<_> = path.points().collect();
        assert!(points.len() < 12 && points.iter().any(|(_, y)| *y > 2.5), "{points:?}");
        assert_eq!(points.last(), Some(&(5.0, 1.0)));
    }

    #[test]
    fn a_goal_that_nothing_leads_to_has_no_way() {
        let (mut search, mut path) = (Search::new(), Path::zeroed());
        assert!(!search.route(&room(4.0), (1.0, 1.0), (5.0, 1.0), &mut path));
        assert!(!search.route(&room(2.4), (1.0, 1.0), (7.0, 1.0), &mut path));
        assert!(!search.route(&room(2.4), (1.0, 1.0), (3.0, 1.0), &mut path), "a wall stands there");
        assert_eq!(path.count, 0);
    }

    #[test]
    fn the_heap_never_grows() {
        let (mut search, mut path) = (Search::new(), Path::zeroed());
        let before = search.open.capacity();
        search.route(&room(2.4), (1.0, 1.0), (5.0, 1.0), &mut path);
        assert_eq!(search.open.capacity(), before);
    }
}
