//! Random trees of frames, sent and looked up: `transform_chains 100000`. What went in and what came out goes to standard output as
//! numbers, for a program that computes the same by other means (`scripts/checks/runtime/transforms.py`).
//!
//! A record has 159 numbers of 64 bits in the machine's byte order. First how many frames are between the source and the common ancestor, and how many
//! between the target and it. Then ten links of 15 numbers, those of the source first, each from the frame up: the transform before, the one after, and
//! how far the time is between the two. Then the answer. A transform is x, y, z of its translation and x, y, z, w of its rotation.

use std::io::Write;

use horus::messages::{Quaternion, Vector3};
use horus::time::MonotonicTime;
use horus::topic::Options;
use horus::transform::{Broadcaster, Frames, StaticBroadcaster, Transform};

/// Frames of a tree, the root among them.
const FRAMES: usize = 11;
/// Looked up in one tree.
const LOOKUPS: usize = 500;
/// Transforms of a moving frame that times are chosen from.
const REMEMBERED: usize = 100;

fn main() -> horus::Result {
    let count: usize = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(1000);
    let scratch = tempfile::tempdir_in("/dev/shm")?;
    let options = Options::default().directory(scratch.path());
    let mut random = Random(2026);
    let mut output = std::io::stdout().lock();
    let mut left = count;
    while left > 0 {
        let mut tree = Tree::random(&mut random, &options)?;
        let frames = Frames::open(&options)?;
        for _ in 0..left.min(LOOKUPS) {
            let record = tree.look_up(&mut random, &frames)?;
            output.write_all(&record.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<_>>())?;
        }
        left -= left.min(LOOKUPS);
    }
    Ok(())
}

/// How a frame is known in its parent.
#[expect(clippy::large_enum_variant, reason = "a handful stand in one list, for the length of an example")]
enum Link {
    Static(Transform),
    Moving { broadcaster: Broadcaster, sent: Vec<(u64, Transform)> },
}

struct Tree {
    /// The parent of each frame but the root, and the link to it.
    links: Vec<(usize, Link)>,
    _mounted: StaticBroadcaster,
    now: u64,
}

impl Tree {
    fn random(random: &mut Random, options: &Options) -> horus::Result<Self> {
        let mut mounted = StaticBroadcaster::open(options)?;
        let mut links = Vec::new();
        for child in 1..FRAMES {
            // Mostly a chain, so that many have a path of ten.
            let parent = if random.below(10) < 8 { child - 1 } else { random.below(child as u64) as usize };
            let (above, name) = (format!("f{parent}"), format!("f{child}"));
            let link = if random.below(3) == 0 {
                let transform = random.transform();
                mounted.add(&above, &name, &transform)?;
                Link::Static(transform)
            } else {
                Link::Moving { broadcaster: Broadcaster::open(&above, &name, options)?, sent: Vec::new() }
            };
            links.push((parent, link));
        }
        let mut tree = Self { links, _mounted: mounted, now: 1_000_000 };
        for _ in 0..3 {
            tree.send(random)?;
        }
        Ok(tree)
    }

    /// Sends each moving frame once, at times that differ.
    fn send(&mut self, random: &mut Random) -> horus::Result {
        self.now += 10_000_000;
        for (_, link) in &mut self.links {
            if let Link::Moving { broadcaster, sent } = link {
                let transform = match sent.last() {
                    Some((_, last)) if random.below(2) == 0 => random.near(last),
                    _ => random.transform(),
                };
                let time = self.now + random.below(5_000_000);
                broadcaster.send(MonotonicTime::from_nanos(time), &transform)?;
                sent.push((time, transform));
                if sent.len() > REMEMBERED {
                    sent.remove(0);
                }
            }
        }
        Ok(())
    }

    fn look_up(&mut self, random: &mut Random, frames: &Frames) -> horus::Result<Vec<f64>> {
        self.send(random)?;
        let (source, target) = (random.below(FRAMES as u64) as usize, random.below(FRAMES as u64) as usize);
        let oldest = self.moving().map(|sent| sent[0].0).max().unwrap_or(1);
        let newest = self.moving().map(|sent| sent[sent.len() - 1].0).min().unwrap_or(2);
        let time = oldest + random.below(newest - oldest + 1);
        let (up, down) = (self.path(source), self.path(target));
        let common = *up.iter().find(|frame| down.contains(frame)).expect("the root is in both");
        let until_common =
            |path: &[usize]| path.iter().take_while(|frame| **frame != common).copied().collect::<Vec<_>>();
        let (up, down) = (until_common(&up), until_common(&down));
        let mut record = vec![up.len() as f64, down.len() as f64];
        for frame in up.iter().chain(&down) {
            match &self.links[frame - 1].1 {
                Link::Static(transform) => {
                    [transform, transform].iter().for_each(|transform| record.extend(numbers(transform)));
                    record.push(0.0);
                }
                Link::Moving { sent, .. } => {
                    let after = sent.iter().position(|(sent, _)| *sent >= time).expect("not later than the newest");
                    let before = after.saturating_sub(1);
                    let ((from_ns, from), (to_ns, to)) = (sent[before], sent[after]);
                    record.extend(numbers(&from).into_iter().chain(numbers(&to)));
                    record.push(if to_ns == from_ns {
                        0.0
                    } else {
                        (time - from_ns) as f64 / (to_ns - from_ns) as f64
                    });
                }
            }
        }
        record.resize(2 + 15 * (FRAMES - 1), 0.0);
        let found = frames.at(&format!("f{target}"), &format!("f{source}"), MonotonicTime::from_nanos(time))?;
        record.extend(numbers(&found));
        Ok(record)
    }

    fn moving(&self) -> impl Iterator<Item = &Vec<(u64, Transform)>> {
        self.links.iter().filter_map(|(_, link)| if let Link::Moving { sent, .. } = link { Some(sent) } else { None })
    }

    /// A frame and those above it.
    fn path(&self, from: usize) -> Vec<usize> {
        std::iter::successors(Some(from), |&frame| (frame > 0).then(|| self.links[frame - 1].0)).collect()
    }
}

fn numbers(transform: &Transform) -> [f64; 7] {
    let (Vector3 { x, y, z }, rotation) = (transform.translation, transform.rotation);
    [x, y, z, rotation.x, rotation.y, rotation.z, rotation.w]
}

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// From -1 to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Anywhere within ten metres, turned in any way: a point of the ball in four dimensions, on its surface.
    fn transform(&mut self) -> Transform {
        loop {
            let [x, y, z, w] = std::array::from_fn(|_| self.unit());
            let length = (x * x + y * y + z * z + w * w).sqrt();
            if (0.1..=1.0).contains(&length) {
                let translation = self.vector(10.0);
                let rotation = Quaternion { x: x / length, y: y / length, z: z / length, w: w / length };
                return Transform { translation, rotation };
            }
        }
    }

    /// Beside another one, by an angle of 10^-12 to 1; and every second time by the quaternion of the other sign.
    fn near(&mut self, other: &Transform) -> Transform {
        let angle = 10_f64.powi(-(self.below(13) as i32));
        let step = self.vector(angle);
        let length = (1.0 + step.x * step.x + step.y * step.y + step.z * step.z).sqrt();
        let turned = Quaternion { x: step.x / length, y: step.y / length, z: step.z / length, w: 1.0 / length };
        let Transform { translation, rotation: q } = *other * Transform { translation: step, rotation: turned };
        let sign = if self.below(2) == 0 { 1.0 } else { -1.0 };
        let length = sign * (q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w).sqrt();
        let rotation = Quaternion { x: q.x / length, y: q.y / length, z: q.z / length, w: q.w / length };
        Transform { translation, rotation }
    }

    fn vector(&mut self, size: f64) -> Vector3 {
        Vector3 { x: size * self.unit(), y: size * self.unit(), z: size * self.unit() }
    }
}
