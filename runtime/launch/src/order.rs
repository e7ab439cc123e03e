//! Whether programs that start after each other have an order at all.

/// The first circle of programs that start after each other, as the path that leads back to its start; `None` if there is none. `after[i]`
/// are those that program `i` starts after.
pub fn circle(after: &[Vec<usize>]) -> Option<Vec<usize>> {
    let mut is_done = vec![false; after.len()];
    (0..after.len()).find_map(|start| search(after, start, &mut Vec::new(), &mut is_done))
}

fn search(after: &[Vec<usize>], at: usize, path: &mut Vec<usize>, is_done: &mut [bool]) -> Option<Vec<usize>> {
    if let Some(begin) = path.iter().position(|seen| *seen == at) {
        let mut circle = path[begin..].to_vec();
        circle.push(at);
        return Some(circle);
    }
    if is_done[at] {
        return None;
    }
    path.push(at);
    let found = after[at].iter().find_map(|next| search(after, *next, path, is_done));
    path.pop();
    is_done[at] = true;
    found
}

/// `chosen` and all that they start after.
pub fn with_those_before(after: &[Vec<usize>], chosen: &[usize]) -> Vec<usize> {
    let mut found: Vec<usize> = Vec::new();
    let mut open = chosen.to_vec();
    while let Some(at) = open.pop() {
        if !found.contains(&at) {
            found.push(at);
            open.extend(&after[at]);
        }
    }
    found.sort_unstable();
    found
}

/// For each program all that it starts after, also through others.
pub fn all_before(after: &[Vec<usize>]) -> Vec<Vec<usize>> {
    after.iter().map(|before| with_those_before(after, before)).collect()
}

/// The places in `kept` of those that program `at` starts after. In the place of one that is not kept stand those that it
/// starts after itself, so the order of the others stays.
pub fn kept_before(after: &[Vec<usize>], kept: &[usize], at: usize) -> Vec<usize> {
    let (mut found, mut seen) = (Vec::new(), Vec::new());
    // The last one is looked at first.
    let mut open: Vec<usize> = after[at].iter().rev().copied().collect();
    while let Some(before) = open.pop() {
        if seen.contains(&before) {
            continue;
        }
        seen.push(before);
        match kept.iter().position(|kept| *kept == before) {
            Some(place) => found.push(place),
            None => open.extend(after[before].iter().rev()),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_named_as_a_path_and_what_only_leads_to_it_is_left_out() {
        assert_eq!(circle(&[vec![], vec![0], vec![0, 1]]), None);
        assert_eq!(circle(&[vec![1], vec![2], vec![3], vec![1]]), Some(vec![1, 2, 3, 1]));
        assert_eq!(circle(&[vec![0]]), Some(vec![0, 0]));
    }

    #[test]
    fn who_is_chosen_brings_those_that_it_starts_after() {
        assert_eq!(with_those_before(&[vec![], vec![0], vec![1], vec![]], &[2]), [0, 1, 2]);
    }

    #[test]
    fn a_program_starts_after_all_that_those_before_it_start_after() {
        assert_eq!(all_before(&[vec![], vec![0], vec![1]]), [vec![], vec![0_usize], vec![0, 1]]);
    }

    #[test]
    fn in_the_place_of_a_program_that_is_left_out_stand_those_before_it() {
        let after = [vec![], vec![0], vec![1], vec![2, 0]];
        assert_eq!(kept_before(&after, &[0, 1, 2, 3], 3), [2, 0]);
        assert_eq!(kept_before(&after, &[0, 2, 3], 2), [0]);
        assert_eq!(kept_before(&after, &[0, 3], 3), [0]);
        assert_eq!(kept_before(&after, &[3], 3), [0; 0]);
    }
}
