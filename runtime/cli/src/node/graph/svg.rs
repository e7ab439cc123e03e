//! A graph as a picture, in SVG of our own.
//!
//! Nodes are boxes with the name of their program above them, topics are round, and a process without nodes is dashed. An arrow that releases its
//! node is thick. Where all stands is said by `layers.rs`.

mod layers;

use std::collections::BTreeMap;
use std::fmt::Write;

use horus_evidence::view::escape::markup;

use super::{Graph, Place};
use layers::arrange;

/// Of a character, at 12 pixels: the widest letters of most fonts are wider, and the mean of a line is not.
const CHARACTER: f64 = 7.0;
const LINE: f64 = 16.0;
const MARGIN: f64 = 12.0;
/// Between layers, and between what stands in one.
const ACROSS: f64 = 64.0;
const DOWN: f64 = 22.0;
/// The height of a bend.
const BEND: f64 = 10.0;

const STYLE: &str = "text{font:12px sans-serif;fill:#222}.name{font-weight:bold}.program{fill:#666;font-size:11px}\
rect{fill:#fff;stroke:#36648b;stroke-width:1.2}.topic{stroke:#999;fill:#f4f4f4}.other{stroke-dasharray:5 3}\
path{fill:none;stroke:#888}.releases{stroke:#36648b;stroke-width:2.2}marker path{fill:#555;stroke:none}";

/// What is drawn at a place.
struct Drawn<'a> {
    place: &'a Place,
    program: &'a str,
    class: &'static str,
    width: f64,
    height: f64,
}

impl<'a> Drawn<'a> {
    fn new(place: &'a Place, program: &'a str, class: &'static str) -> Self {
        let longest = place.lines.iter().map(|line| line.chars().count()).chain([program.chars().count()]).max();
        let lines = place.lines.len() + usize::from(!program.is_empty());
        let width = longest.unwrap_or_default() as f64 * CHARACTER + 2.0 * MARGIN;
        Self { place, program, class, width, height: lines as f64 * LINE + MARGIN }
    }
}

/// The middle of what stands there, and its width.
#[derive(Clone, Copy, Debug, Default)]
struct Spot {
    x: f64,
    y: f64,
    width: f64,
}

/// The picture.
pub fn picture(graph: &Graph) -> String {
    let nodes = graph.programs.iter().flat_map(|program| {
        let class = if program.name.is_empty() { "other" } else { "node" };
        program.nodes.iter().map(move |place| Drawn::new(place, &program.name, class))
    });
    let drawn: Vec<_> = nodes.chain(graph.topics.iter().map(|place| Drawn::new(place, "", "topic"))).collect();
    let number: BTreeMap<&str, usize> =
        drawn.iter().enumerate().map(|(at, drawn)| (drawn.place.id.as_str(), at)).collect();
    let arrows: Vec<_> = graph
        .arrows
        .iter()
        .filter_map(|arrow| {
            Some(((*number.get(arrow.from.as_str())?, *number.get(arrow.to.as_str())?), arrow.releases))
        })
        .collect();
    let ends: Vec<_> = arrows.iter().map(|(ends, _)| *ends).collect();
    let arranged = arrange(drawn.len(), &ends);
    let (spots, width, height) = spots(&drawn, &arranged);
    let below = graph.chains.len() as f64 * LINE;
    let longest = graph.chains.iter().map(|chain| chain.chars().count()).max().unwrap_or_default() as f64;
    let width = width.max(longest * CHARACTER + 2.0 * MARGIN);
    let (all, label) =
        (height + below + if below > 0.0 { MARGIN } else { 0.0 }, "Nodes and topics, and who talks to whom");
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{all:.0}\" viewBox=\"0 0 {width:.0} {all:.0}\" role=\"img\" \
         aria-label=\"{label}\">\n<style>{STYLE}</style>\n<defs><marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
         markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" style=\"stroke:none\"/>\n"
    );
    for (way, (_, releases)) in arranged.ways.iter().zip(&arrows) {
        let class = if *releases { " class=\"releases\"" } else { "" };
        let _ = writeln!(text, "<path{class} d=\"{}\" marker-end=\"url(#end)\"/>", curve(way, &spots));
    }
    drawn.iter().zip(&spots).for_each(|(drawn, spot)| draw(&mut text, drawn, *spot));
    for (line, chain) in graph.chains.iter().enumerate() {
        let _ = writeln!(
            text,
            "<text x=\"{MARGIN}\" y=\"{:.0}\">{}</text>",
            height + (line as f64 + 0.8) * LINE,
            markup(chain)
        );
    }
    text + "</svg>\n"
}

/// Where each vertex stands, and how large it all is.
fn spots(drawn: &[Drawn], arranged: &layers::Layers) -> (Vec<Spot>, f64, f64) {
    let size = |vertex: usize| drawn.get(vertex).map_or((0.0, BEND), |drawn| (drawn.width, drawn.height));
    let height_of = |layer: &[usize]| layer.iter().map(|vertex| size(*vertex).1 + DOWN).sum::<f64>() - DOWN;
    let tallest = arranged.layers.iter().map(|layer| height_of(layer)).fold(0.0, f64::max);
    let vertices = arranged.layers.iter().map(Vec::len).sum();
    let (mut spots, mut left) = (vec![Spot::default(); vertices], MARGIN);
    for layer in &arranged.layers {
        let widest = layer.iter().map(|vertex| size(*vertex).0).fold(0.0, f64::max);
        let mut top = MARGIN + (tallest - height_of(layer)) / 2.0;
        for &vertex in layer {
            let (width, height) = size(vertex);
            spots[vertex] = Spot { x: left + widest / 2.0, y: top + height / 2.0, width };
            top += height + DOWN;
        }
        left += widest + ACROSS;
    }
    (spots, (left - ACROSS + MARGIN).max(2.0 * MARGIN), tallest + 2.0 * MARGIN)
}

/// A smooth line through the vertices of a way. It leaves a place at the side of the next one.
fn curve(way: &[usize], spots: &[Spot]) -> String {
    let mut text = String::new();
    for pair in way.windows(2) {
        let (from, to) = (spots[pair[0]], spots[pair[1]]);
        // To itself: out at the right, and in again at the left.
        let side = if to.x < from.x { -1.0 } else { 1.0 };
        let (begin, end) = (from.x + side * from.width / 2.0, to.x - side * to.width / 2.0);
        let middle = if pair[0] == pair[1] { begin + ACROSS } else { f64::midpoint(begin, end) };
        if text.is_empty() {
            let _ = write!(text, "M{begin:.1} {:.1}", from.y);
        } else {
            let _ = write!(text, "L{begin:.1} {:.1}", from.y);
        }
        let _ = write!(text, "C{middle:.1} {:.1} {middle:.1} {:.1} {end:.1} {:.1}", from.y, to.y, to.y);
    }
    text
}

fn draw(text: &mut String, drawn: &Drawn, spot: Spot) {
    let Drawn { place, program, class, width, height } = drawn;
    let (left, top) = (spot.x - width / 2.0, spot.y - height / 2.0);
    let round = if *class == "topic" { height / 2.0 } else { 4.0 };
    let _ = writeln!(
        text,
        "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{round:.1}\"/>"
    );
    let program = (!program.is_empty()).then_some((*program, "program"));
    let names =
        place.lines.iter().enumerate().map(|(line, words)| (words.as_str(), if line == 0 { "name" } else { "" }));
    for (line, (words, class)) in program.into_iter().chain(names).enumerate() {
        let y = top + (line as f64 + 1.0) * LINE;
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(
            text,
            "<text{class} x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>",
            spot.x,
            markup(words)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Arrow, Program};
    use super::*;

    fn graph() -> Graph {
        let place = |id: &str, lines: &[&str]| Place {
            id: id.to_owned(),
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        };
        let arrow = |from: &str, to: &str, releases| Arrow { from: from.to_owned(), to: to.to_owned(), releases };
        Graph {
            schema: "",
            programs: vec![
                Program {
                    name: "nav".to_owned(),
                    nodes: vec![place("n0", &["drive", "on odom"]), place("n1", &["plan"])],
                },
                Program { name: String::new(), nodes: vec![place("p0", &["a \"b\" <c> & d"])] },
            ],
            topics: vec![place("t0", &["odom", "100 /s"]), place("t1", &["path"])],
            arrows: vec![
                arrow("p0", "t0", false),
                arrow("t0", "n0", true),
                arrow("n1", "t1", false),
                arrow("t1", "n0", false),
            ],
            chains: vec!["nav/plan → nav/drive: predicted 1 ms".to_owned()],
        }
    }

    /// The numbers of an attribute of each rectangle that is a place.
    fn numbers(picture: &str, name: &str) -> Vec<f64> {
        let places = picture.lines().filter(|line| line.starts_with("<rect class="));
        let of =
            |line: &str| line.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
        places.map(of).collect()
    }

    #[test]
    fn each_place_and_each_arrow_is_drawn_once_and_names_are_harmless() {
        let text = picture(&graph());
        assert!(text.starts_with("<svg xmlns=") && text.ends_with("</svg>\n"));
        assert_eq!(text.matches("<rect class=").count(), 5);
        assert_eq!(text.matches("marker-end").count(), 4);
        assert_eq!(text.matches("<path class=\"releases\"").count(), 1);
        for words in
            [">a &quot;b&quot; &lt;c&gt; &amp; d<", ">nav<", ">100 /s<", ">nav/plan → nav/drive: predicted 1 ms<"]
        {
            assert!(text.contains(words), "{words}\n{text}");
        }
        // Of tags that are not closed at once, as many are closed as are opened.
        for tag in ["text", "svg", "defs", "marker", "style"] {
            let opened = text.matches(&format!("<{tag}>")).count() + text.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, text.matches(&format!("</{tag}>")).count(), "{tag}");
        }
    }

    #[test]
    fn no_place_covers_another_one_and_all_are_in_the_picture() {
        let text = picture(&graph());
        let [x, y, width, height] = ["x", "y", "width", "height"].map(|name| numbers(&text, name));
        for one in 0..x.len() {
            assert!(x[one] >= 0.0 && y[one] >= 0.0);
            for other in 0..one {
                let apart =
                    |at: &[f64], size: &[f64]| at[one] + size[one] <= at[other] || at[other] + size[other] <= at[one];
                assert!(apart(&x, &width) || apart(&y, &height), "{one} {other}\n{text}");
            }
        }
    }

    #[test]
    fn a_robot_that_does_not_run_is_an_empty_picture() {
        let nothing =
            Graph { programs: Vec::new(), topics: Vec::new(), arrows: Vec::new(), chains: Vec::new(), schema: "" };
        assert!(picture(&nothing).contains("viewBox=\"0 0 24 24\""), "{}", picture(&nothing));
    }
}
