//! Where the places of a graph stand: in layers, so that most arrows go from left to right, and in each layer so that few of them cross.
//!
//! The steps are those of K. Sugiyama, S. Tagawa and M. Toda, "Methods for visual understanding of hierarchical system structures", IEEE Transactions on
//! Systems, Man and Cybernetics 11 (1981): arrows that close a circle are turned round, each place gets the layer behind the last one that leads to
//! it, long arrows get a bend in each layer between, and layers are sorted by the mean places of their neighbours.

/// How often layers are sorted, once in each direction.
const SWEEPS: usize = 8;

/// A graph in layers. The first vertices are the places; those behind them are bends of long arrows.
#[derive(Debug)]
pub struct Layers {
    /// The vertices of each layer, from top to bottom.
    pub layers: Vec<Vec<usize>>,
    /// For each arrow: the vertices that it goes through, from its beginning to its end.
    pub ways: Vec<Vec<usize>>,
}

/// Puts `places` places with these arrows into layers.
pub fn arrange(places: usize, arrows: &[(usize, usize)]) -> Layers {
    let forward = without_circles(places, arrows);
    let layer_of = layers_of(places, &forward);
    let mut layers = vec![Vec::new(); layer_of.iter().max().map_or(0, |last| last + 1)];
    (0..places).for_each(|place| layers[layer_of[place]].push(place));
    let mut vertices = places;
    let mut ways = Vec::new();
    for (&(from, to), &(left, right)) in arrows.iter().zip(&forward) {
        let mut way = vec![left];
        for layer in &mut layers[layer_of[left] + 1..layer_of[right].max(layer_of[left] + 1)] {
            layer.push(vertices);
            way.push(vertices);
            vertices += 1;
        }
        way.push(right);
        if (from, to) != (left, right) {
            way.reverse();
        }
        ways.push(way);
    }
    sort(&mut layers, &ways, vertices);
    Layers { layers, ways }
}

/// The arrows, of which those that lead back to where one comes from are turned round.
fn without_circles(places: usize, arrows: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut forward = arrows.to_vec();
    // 0 not seen, 1 on the way, 2 done.
    let mut seen = vec![0; places];
    let is_fed = |place: usize| arrows.iter().any(|(_, to)| *to == place);
    let (first, others): (Vec<_>, Vec<_>) = (0..places).partition(|place| !is_fed(*place));
    for place in first.into_iter().chain(others) {
        if seen[place] == 0 {
            search(place, arrows, &mut forward, &mut seen);
        }
    }
    forward
}

fn search(place: usize, arrows: &[(usize, usize)], forward: &mut [(usize, usize)], seen: &mut [u8]) {
    // By hand, and not by calls: a long chain must not use up the stack.
    let mut open = vec![(place, 0)];
    seen[place] = 1;
    while let Some((at, next)) = open.pop() {
        let Some(number) = (next..arrows.len()).find(|number| arrows[*number].0 == at) else {
            seen[at] = 2;
            continue;
        };
        open.push((at, number + 1));
        let to = arrows[number].1;
        match seen[to] {
            0 => {
                seen[to] = 1;
                open.push((to, 0));
            }
            1 => forward[number] = (to, at),
            _ => {}
        }
    }
}

/// The layer of each place: behind the last one that leads to it.
fn layers_of(places: usize, forward: &[(usize, usize)]) -> Vec<usize> {
    let mut layers = vec![0; places];
    for _ in 0..places {
        for &(from, to) in forward.iter().filter(|(from, to)| from != to) {
            layers[to] = layers[to].max(layers[from] + 1);
        }
    }
    layers
}

fn sort(layers: &mut [Vec<usize>], ways: &[Vec<usize>], vertices: usize) {
    let mut neighbours = vec![Vec::new(); vertices];
    for pair in ways.iter().flat_map(|way| way.windows(2)) {
        neighbours[pair[0]].push(pair[1]);
        neighbours[pair[1]].push(pair[0]);
    }
    let mut layer_of = vec![0; vertices];
    layers.iter().enumerate().for_each(|(layer, members)| members.iter().for_each(|vertex| layer_of[*vertex] = layer));
    let mut place_of = vec![0.0; vertices];
    let count = layers.len();
    for sweep in 0..2 * SWEEPS {
        for step in 0..count {
            let (layer, beside) = if sweep % 2 == 0 {
                (step, step.checked_sub(1))
            } else {
                (count - 1 - step, (step > 0).then_some(count - step))
            };
            if let Some(beside) = beside {
                let mean = |vertex: usize| {
                    let near: Vec<f64> = neighbours[vertex]
                        .iter()
                        .filter(|near| layer_of[**near] == beside)
                        .map(|near| place_of[*near])
                        .collect();
                    if near.is_empty() { place_of[vertex] } else { near.iter().sum::<f64>() / near.len() as f64 }
                };
                let means: Vec<f64> = (0..vertices).map(mean).collect();
                layers[layer].sort_by(|one, other| means[*one].total_cmp(&means[*other]));
            }
            // In the middle of the layer stands 0, so that short and long layers agree.
            let middle = layers[layer].len() as f64 / 2.0;
            layers[layer].iter().enumerate().for_each(|(place, vertex)| place_of[*vertex] = place as f64 - middle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_go_to_the_right_but_for_those_that_close_a_circle() {
        let arrows = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 3)];
        let arranged = arrange(4, &arrows);
        assert_eq!(arranged.layers.iter().map(Vec::len).collect::<Vec<_>>(), [1, 3, 3, 1]);
        let ends: Vec<_> = arranged.ways.iter().map(|way| (way[0], way[way.len() - 1])).collect();
        assert_eq!(ends, arrows);
        assert_eq!(arranged.ways[4].len(), 4, "it has a bend in each layer between");
    }

    #[test]
    fn two_chains_do_not_cross() {
        // As they are numbered, they would.
        let arranged = arrange(4, &[(0, 3), (1, 2)]);
        assert_eq!(arranged.layers[1], [3, 2]);
    }

    #[test]
    fn nothing_and_an_arrow_to_itself_have_layers() {
        assert!(arrange(0, &[]).layers.is_empty());
        let arranged = arrange(1, &[(0, 0)]);
        assert_eq!((arranged.layers, arranged.ways), (vec![vec![0]], vec![vec![0, 0]]));
    }
}
