//! The charts: a histogram with both scales logarithmic, as OSADL draws latencies, and the worst of each second.
//!
//! Quiet and load are told apart by a dashed line too, not by colour alone. What a chart shows is in a sentence for those who do
//! not see it, and every figure of it is in the report file.

use std::fmt::Write;

use crate::record::interval::Intervals;
use crate::record::schema::{Phase, Report};
use crate::view::escape::markup;

use super::axis::{self, BOTTOM, HEIGHT, LEFT, Log, RIGHT, TOP, WIDTH};

/// Steps in a decade of a histogram: finer ones would be thinner than a line.
const STEPS: f64 = 30.0;

/// Which histogram of a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Completion less release.
    Response,
    /// Wake-up less release.
    Jitter,
}

impl Figure {
    fn classes(self, phase: &Phase) -> &[(u64, u64)] {
        match self {
            Self::Response => &phase.histogram,
            Self::Jitter => &phase.jitter_histogram,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Response => "Response time",
            Self::Jitter => "Release jitter",
        }
    }
}

/// A node phase with the class of its lines.
type Line<'a> = (&'a Phase, &'static str);

/// The node phases that were measured, in groups for a chart each: a load beside the quiet phase of the same period.
fn groups(report: &Report) -> Vec<Vec<Line<'_>>> {
    let is_loaded = |phase: &Phase| phase.load.is_some() || phase.name.ends_with("load"); // the name alone in older files
    let measured = report.phases.iter().filter(|phase| phase.is_node() && phase.measured);
    let (loaded, quiet): (Vec<&Phase>, Vec<&Phase>) = measured.partition(|phase| is_loaded(phase));
    if loaded.len() < 2 {
        return vec![
            quiet.iter().map(|phase| (*phase, "quiet")).chain(loaded.iter().map(|phase| (*phase, "load"))).collect(),
        ];
    }
    let beside =
        |load: &Phase| quiet.iter().find(|phase| phase.period_ns == load.period_ns).map(|phase| (*phase, "quiet"));
    loaded.iter().map(|load| beside(load).into_iter().chain([(*load, "load")]).collect()).collect()
}

/// A chart of each group, by what `draw` makes of it and its number. Of several, all but the one with the longest response are folded.
fn of_groups(report: &Report, draw: impl Fn(usize, &[Line<'_>]) -> String) -> String {
    let groups = groups(report);
    let worst = |group: &[Line<'_>]| group.last().and_then(|(phase, _)| phase.latency.max_ns);
    let most = groups.iter().map(|group| worst(group)).max().flatten();
    let drawn = groups.iter().enumerate().map(|(number, group)| (group, draw(number, group)));
    let fold = |(group, chart): (&Vec<Line<'_>>, String)| {
        let name = group.last().map_or("", |(phase, _)| &phase.name);
        let (open, name) = (if worst(group) == most { " open" } else { "" }, markup(name));
        if groups.len() == 1 || chart.is_empty() {
            chart
        } else {
            format!("<details{open}><summary>{name}</summary>{chart}</details>\n")
        }
    };
    drawn.map(fold).collect()
}

/// The histograms of a figure; nothing where no node phase has one.
pub fn histograms(report: &Report, figure: Figure) -> String {
    of_groups(report, |number, nodes| histogram(number, nodes, figure))
}

fn histogram(number: usize, nodes: &[Line<'_>], figure: Figure) -> String {
    let nodes: Vec<_> = nodes.iter().filter(|(phase, _)| !figure.classes(phase).is_empty()).collect();
    let classes = || nodes.iter().flat_map(|(phase, _)| figure.classes(phase));
    let (Some(least), Some(most)) = (classes().map(|class| class.0).min(), classes().map(|class| class.0).max()) else {
        return String::new();
    };
    let deadline = nodes.iter().filter_map(|(phase, _)| phase.deadline_ns).max().filter(|_| figure == Figure::Response);
    let x = Log::new(least as f64, most.max(deadline.unwrap_or(0)) as f64, LEFT, RIGHT);
    let steps: Vec<_> = nodes.iter().map(|(phase, class)| (*class, in_steps(figure.classes(phase)))).collect();
    let highest = steps.iter().flat_map(|(_, steps)| steps).map(|step| step.1).max().unwrap_or(1);
    let y = Log::new(1.0, highest as f64, BOTTOM - 8.0, TOP); // a single sample stands above the axis
    let mut inside = String::new();
    y.marks().iter().for_each(|mark| inside += &axis::horizontal(y.at(*mark), &power(*mark)));
    x.marks().iter().for_each(|mark| inside += &axis::vertical(x.at(*mark), &axis::time(*mark)));
    for (class, steps) in &steps {
        let mut path = String::new();
        for (step, count) in steps {
            let (from, to, top) = (x.at(edge(*step)), x.at(edge(step + 1)), y.at(*count as f64));
            let _ = write!(path, "M{from:.1} {BOTTOM}V{top:.1}H{to:.1}V{BOTTOM}");
        }
        let _ = write!(inside, "<path class=\"area {class}\" d=\"{path}\"/>");
    }
    if let Some(deadline) = deadline {
        inside += &deadline_line(x.at(deadline as f64));
    }
    let what = format!("{} of the node, samples a class, both scales logarithmic", figure.name());
    inside += &axis::caption_below(&format!("{}; samples in each class upwards", figure.name().to_lowercase()));
    let describe = |(phase, _): &&Line<'_>| {
        let classes = figure.classes(phase);
        let samples: u64 = classes.iter().map(|class| class.1).sum();
        let largest = classes.last().map_or(0, |class| class.0);
        format!("{}: {samples} samples, the largest {}", phase.name, axis::time(largest as f64))
    };
    let details: Vec<_> = nodes.iter().map(describe).collect();
    svg(
        &format!("histogram-{}-{number}", figure.name().split(' ').next().unwrap_or_default().to_lowercase()),
        &what,
        &details.join(". "),
        &inside,
    )
}

/// A histogram in steps of equal width on a logarithmic scale.
fn in_steps(classes: &[(u64, u64)]) -> Vec<(i32, u64)> {
    let mut steps: Vec<(i32, u64)> = Vec::new();
    for (value, count) in classes {
        let step = ((*value).max(1) as f64).log10() * STEPS;
        match steps.last_mut() {
            Some((last, sum)) if *last == step as i32 => *sum += count,
            _ => steps.push((step as i32, *count)),
        }
    }
    steps
}

/// Where a step begins.
fn edge(step: i32) -> f64 {
    10_f64.powf(f64::from(step) / STEPS)
}

/// The worst response of each second of node phases; nothing for reports that do not have it.
pub fn seconds(report: &Report) -> String {
    of_groups(report, worst_of_seconds)
}

fn worst_of_seconds(number: usize, nodes: &[Line<'_>]) -> String {
    let nodes: Vec<(&Phase, &str, &Intervals)> =
        nodes.iter().filter_map(|(phase, class)| Some((*phase, *class, phase.intervals.as_ref()?))).collect();
    let maxima = || nodes.iter().flat_map(|(_, _, intervals)| intervals.maxima());
    let (Some(least), Some(most)) = (maxima().min(), maxima().max()) else { return String::new() };
    let deadline = nodes.iter().filter_map(|(phase, ..)| phase.deadline_ns).max();
    let y = Log::new(least as f64, most.max(deadline.unwrap_or(0)) as f64, BOTTOM, TOP);
    let length = nodes.iter().map(|(_, _, intervals)| intervals.rows.len() as f64 * intervals.width_ns as f64 / 1e9);
    let length = length.fold(1.0, f64::max);
    let x = |second: f64| LEFT + (RIGHT - LEFT) * second / length;
    let mut inside = String::new();
    y.marks().iter().for_each(|mark| inside += &axis::horizontal(y.at(*mark), &axis::time(*mark)));
    axis::seconds(length).iter().for_each(|second| inside += &axis::vertical(x(*second), &format!("{second}")));
    for (_, class, intervals) in &nodes {
        let width = intervals.width_ns as f64 / 1e9;
        let mut path = String::new();
        for (number, row) in intervals.rows.iter().enumerate() {
            let Some(ns) = row.response_ns else { continue };
            let (from, to) = (x(number as f64 * width), x((number + 1) as f64 * width));
            let start = if path.is_empty() { 'M' } else { 'L' };
            let _ = write!(path, "{start}{from:.1} {:.1}H{to:.1}", y.at(ns as f64));
        }
        let _ = write!(inside, "<path class=\"line {class}\" d=\"{path}\"/>");
    }
    if let Some(deadline) = deadline {
        let at = y.at(deadline as f64);
        let _ = write!(
            inside,
            "<line class=\"deadline\" x1=\"{LEFT}\" x2=\"{RIGHT}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"deadline-mark\" x=\"{RIGHT}\" y=\"{:.1}\" text-anchor=\"end\">deadline</text>",
            at - 5.0
        );
    }
    inside += &axis::caption_below("seconds since the phase began; longest response time upwards");
    let describe = |(phase, _, intervals): &(&Phase, &str, &Intervals)| {
        let maxima = intervals.maxima();
        let (low, high) = (maxima.iter().min().copied().unwrap_or(0), maxima.iter().max().copied().unwrap_or(0));
        let each = axis::time(intervals.width_ns as f64);
        format!(
            "{}: {} intervals of {each}, their maxima from {} to {}",
            phase.name,
            maxima.len(),
            axis::time(low as f64),
            axis::time(high as f64)
        )
    };
    let details: Vec<_> = nodes.iter().map(describe).collect();
    svg(&format!("seconds-{number}"), "Longest response time in each second", &details.join(". "), &inside)
}

fn deadline_line(x: f64) -> String {
    format!(
        "<line class=\"deadline\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{BOTTOM}\"/>\
         <text class=\"deadline-mark\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">deadline</text>",
        x - 5.0,
        TOP + 11.0
    )
}

/// `1`, `10`, `100`, `1000`, then `10⁴`.
fn power(value: f64) -> String {
    let decade = value.log10().round() as i32;
    let digit = |digit: char| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(digit.to_digit(10).unwrap_or(0) as usize).unwrap_or(digit);
    if decade < 4 {
        format!("{value}")
    } else {
        format!("10{}", decade.to_string().chars().map(digit).collect::<String>())
    }
}

/// A chart with its name and what it shows in words.
fn svg(id: &str, name: &str, description: &str, inside: &str) -> String {
    let (name, description) = (markup(name), markup(description));
    format!(
        "<figure><div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{name}\">\
         <svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
         <title id=\"{id}-t\">{name}</title><desc id=\"{id}-d\">{description}</desc>{inside}</svg></div>\
         <figcaption>{description}.</figcaption></figure>"
    )
}
