//! The plot of opened and closed gaps over time, as coordinates for an inline SVG and as figures for a table.

use crate::clock::Millis;
use crate::gaps::{Gap, Moment};

const DAY: Millis = 24 * 3600 * 1000;
/// Steps of the plot at most.
const STEPS: i64 = 26;
/// What is older than two years is part of where the plot begins.
const LONGEST: i64 = 730;

/// Width of the drawing; one unit is a pixel at full size.
pub const WIDTH: f64 = 1120.0;
/// Height of the drawing.
pub const HEIGHT: f64 = 216.0;
/// Where the plot begins; the values of the axis stand left of it.
pub const LEFT: f64 = 56.0;
/// Where it ends.
pub const RIGHT: f64 = 1108.0;
const TOP: f64 = 12.0;
/// Where the curve of open gaps stands.
const FLOOR: f64 = 120.0;
/// The line between opened (above) and settled (below).
pub const MIDDLE: f64 = 162.0;
const BAR: f64 = 26.0;
/// Where the days are written.
pub const LABELS: f64 = 212.0;

/// One step of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Its first day.
    pub day: String,
    /// Gaps that were asked for the first time.
    pub opened: usize,
    /// Gaps that were closed or dismissed.
    pub settled: usize,
    /// Gaps open at its end.
    pub open: usize,
}

/// A rectangle.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Left edge.
    pub x: String,
    /// Upper edge.
    pub y: String,
    /// Width.
    pub width: String,
    /// Height.
    pub height: String,
}

/// Everything that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The steps, oldest first.
    pub figures: Vec<Figures>,
    /// Days that a step lasts.
    pub days: i64,
    /// Path of the curve of open gaps.
    pub curve: String,
    /// Path of the area below it.
    pub area: String,
    /// Bars of opened gaps, above the middle.
    pub opened: Vec<Bar>,
    /// Bars of settled gaps, below it.
    pub settled: Vec<Bar>,
    /// Values of the axis: height and number.
    pub ticks: Vec<(String, usize)>,
    /// Days under the plot: place and day.
    pub labels: Vec<(String, String)>,
}

/// The plot of `gaps` up to `now`; `None` when there is nothing to draw.
pub fn plot(gaps: &[Gap], now: Millis) -> Option<Plot> {
    let first = gaps.iter().map(|gap| gap.first_seen.0).min()?;
    let age = ((now - first).max(0) / DAY + 1).min(LONGEST);
    let days = (age + STEPS - 1) / STEPS;
    let steps = ((age + days - 1) / days).max(2);
    // The last step ends with today.
    let end = (now.div_euclid(DAY) + 1) * DAY;
    let begin = end - steps * days * DAY;
    let figures: Vec<Figures> = (0..steps)
        .map(|step| {
            let (from, to) = (begin + step * days * DAY, begin + (step + 1) * days * DAY);
            // What is older than the plot is open from its beginning.
            let within = |at: Millis| (from..to).contains(&at);
            let settled = |gap: &Gap| gap.settled_at.map(|at| at.0);
            Figures {
                day: Moment(from).day(),
                opened: gaps.iter().filter(|gap| within(gap.first_seen.0)).count(),
                settled: gaps.iter().filter(|gap| settled(gap).is_some_and(within)).count(),
                open: gaps
                    .iter()
                    .filter(|g| g.first_seen.0 < to && settled(g).is_none_or(|at| at >= to))
                    .count(),
            }
        })
        .collect();
    Some(drawn(figures, days))
}

fn drawn(figures: Vec<Figures>, days: i64) -> Plot {
    let width = (RIGHT - LEFT) / figures.len() as f64;
    let most = |of: fn(&Figures) -> usize| figures.iter().map(of).max().unwrap_or(0).max(1) as f64;
    let top = round_up(most(|f| f.open) as usize);
    let height = |open: usize| FLOOR - (FLOOR - TOP) * open as f64 / top as f64;
    let points: Vec<(f64, f64)> = figures
        .iter()
        .enumerate()
        .map(|(at, f)| (LEFT + width * (at as f64 + 0.5), height(f.open)))
        .collect();
    let curve: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    let curve = format!("M{}", curve.join(" L"));
    let (from, to) = (points.first().map_or(LEFT, |p| p.0), points.last().map_or(RIGHT, |p| p.0));
    let area = format!("{curve} L{to:.1} {FLOOR:.1} L{from:.1} {FLOOR:.1} Z");
    let tallest = most(|f| f.opened).max(most(|f| f.settled));
    let bars = |of: fn(&Figures) -> usize, up: bool| {
        let bar = |(at, figures): (usize, &Figures)| {
            let tall = BAR * of(figures) as f64 / tallest;
            let y = if up { MIDDLE - 0.5 - tall } else { MIDDLE + 0.5 };
            (tall > 0.0).then(|| Bar {
                x: format!("{:.1}", LEFT + width * (at as f64 + 0.18)),
                y: format!("{y:.1}"),
                width: format!("{:.1}", width * 0.64),
                height: format!("{tall:.1}"),
            })
        };
        figures.iter().enumerate().filter_map(bar).collect::<Vec<_>>()
    };
    let every = figures.len().div_ceil(6);
    let label = |(at, figures): (usize, &Figures)| {
        (format!("{:.1}", LEFT + width * (at as f64 + 0.5)), figures.day.clone())
    };
    let labels = figures.iter().enumerate().filter(|(at, _)| at % every == 0).map(label).collect();
    let ticks = [0, top / 2, top].into_iter().map(|value| (format!("{:.1}", height(value)), value)).collect();
    let (opened, settled) = (bars(|f| f.opened, true), bars(|f| f.settled, false));
    Plot { days, curve, area, opened, settled, ticks, labels, figures }
}

/// The next number that halves into a number people like to read.
fn round_up(most: usize) -> usize {
    let magnitude = 10_usize.pow((most.max(1)).ilog10());
    let steps = [1, 2, 4, 6, 8, 10].into_iter().map(|step| step * magnitude);
    steps.filter(|value| value % 2 == 0).find(|value| *value >= most).unwrap_or(most + most % 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaps::{Kind, State};

    fn gap(first: Millis, settled: Option<Millis>) -> Gap {
        Gap {
            id: "x".into(),
            kind: Kind::Missing,
            state: State::Open,
            score: 0.0,
            askers: 1,
            votes: 0,
            wrong_answers: 0,
            projects: 1,
            first_seen: Moment(first),
            last_seen: Moment(first),
            settled_at: settled.map(Moment),
            closed: None,
            nearest: None,
            why: None,
            issues: vec![],
        }
    }

    #[test]
    fn every_gap_is_counted_once_and_the_curve_ends_at_what_is_open() {
        let now = 20_000 * DAY + 5000;
        let gaps: Vec<Gap> =
            (0..100).map(|n| gap(now - n * 3 * DAY, (n % 3 == 0).then_some(now - n * DAY))).collect();
        let plot = plot(&gaps, now).unwrap();
        assert!(plot.figures.len() <= 26);
        assert_eq!(plot.figures.iter().map(|f| f.opened).sum::<usize>(), 100);
        assert_eq!(plot.figures.iter().map(|f| f.settled).sum::<usize>(), 34);
        assert_eq!(plot.figures.last().unwrap().open, 66);
        assert!(plot.opened.iter().all(|bar| bar.height.parse::<f64>().unwrap() <= BAR));
    }

    #[test]
    fn nothing_is_no_plot_and_one_day_is_one() {
        assert_eq!(plot(&[], 0), None);
        let plot = plot(&[gap(5, None)], 10).unwrap();
        assert_eq!(plot.figures.last().unwrap().open, 1);
    }

    #[test]
    fn the_axis_ends_at_a_round_even_number() {
        for (most, top) in
            [(1, 2), (2, 2), (3, 4), (7, 8), (9, 10), (11, 20), (66, 80), (190, 200), (1999, 2000)]
        {
            assert_eq!(round_up(most), top, "{most}");
        }
    }
}
