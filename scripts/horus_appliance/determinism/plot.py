"""Draws the arms as an SVG: for each the response times of its node under load, from the median to the worst of all boots, on a logarithmic axis."""

import math
from xml.sax.saxutils import escape

from horus_appliance.determinism.table import microseconds

WIDTH, LEFT, RIGHT, TOP, ROW = 860, 190, 40, 84, 52
LABELS = {
    ("rt", "tuned"): "HORUS", ("rt", "untuned"): "real-time kernel alone", ("stock", "tuned"): "our tuning, usual kernel", ("stock", "untuned"): "usual Linux",
}  # fmt: skip
# Either half brings its own ground, so that it is read on a light page and on a dark one.
STYLE = """
    text { font: 14px sans-serif; fill: #202124 }
    .title { font-size: 17px; font-weight: bold }
    .small { font-size: 12px; fill: #5f6368 }
    .over { paint-order: stroke; stroke: #ffffff; stroke-width: 4px }
    .end { text-anchor: end } .middle { text-anchor: middle }
    .ground { fill: #ffffff } .grid { stroke: #dadce0 } .deadline { stroke: #b3261e; stroke-width: 2; stroke-dasharray: 6 4 } .limit { fill: #b3261e }
    .rt { fill: #1a73e8 } .stock { fill: #e8710a }
    @media (prefers-color-scheme: dark) {
      text { fill: #e8eaed } .small { fill: #9aa0a6 } .over { stroke: #202124 } .ground { fill: #202124 } .grid { stroke: #5f6368 }
      .deadline { stroke: #f28b82 } .limit { fill: #f28b82 } .rt { fill: #8ab4f8 } .stock { fill: #fcad70 }
    }
"""


def draw(entries: list) -> str:
    """The picture of the entries of a summary."""
    deadline_ns = entries[0]["deadline_ns"]
    low = 10 ** math.floor(math.log10(min(entry["p50_ns"] for entry in entries)))
    high = 10 ** math.ceil(math.log10(max(deadline_ns, *(entry["max_ns"] for entry in entries)) * 1.5))

    def across(nanoseconds: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(nanoseconds / low) / math.log(high / low)

    bottom = TOP + ROW * len(entries)
    height = bottom + 58
    said = "; ".join(f"{label(entry)}: worst {microseconds(entry['max_ns'])} us, {entry['misses']} of {entry['samples']} deadlines missed" for entry in entries)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(said)}">',
        f"<style>{STYLE}</style>", f'<rect class="ground" width="{WIDTH}" height="{height}"/>',
        '<text class="title" x="20" y="30">How late is a 1 kHz control loop under load?</text>',
        f'<text class="small" x="20" y="50">{escape(caption(entries))}</text>',
    ]  # fmt: skip
    tick = low
    while tick <= high:
        parts.append(f'<line class="grid" x1="{across(tick):.1f}" x2="{across(tick):.1f}" y1="{TOP - 8}" y2="{bottom}"/>')
        parts.append(f'<text class="small middle" x="{across(tick):.1f}" y="{bottom + 18}">{duration(tick)}</text>')
        tick *= 10
    place = across(deadline_ns)
    parts.append(f'<line class="deadline" x1="{place:.1f}" x2="{place:.1f}" y1="{TOP - 8}" y2="{bottom}"/>')
    parts.append(f'<text class="limit middle" x="{place:.1f}" y="{TOP - 14}">deadline {duration(deadline_ns)}</text>')
    for number, entry in enumerate(entries):
        parts += row(entry, TOP + ROW * number, across)
    parts.append(f'<text class="small" x="20" y="{bottom + 42}">bar: from the median to the worst response of all boots; dots: the worst of each boot; logarithmic scale</text>')
    return "\n".join([*parts, "</svg>", ""])


def row(entry: dict, top: float, across) -> list:
    """An arm: its names, its bar, a dot for each boot, and what it means in words."""
    start, end, middle = across(entry["p50_ns"]), across(entry["max_ns"]), top + 18
    missed = "no deadline" if entry["misses"] == 0 else f"{100 * entry['misses'] / entry['samples']:.2g} % of deadlines"
    words = f"{duration(entry['max_ns'])}, {missed} missed"
    # Beside the bar; below it where the picture ends.
    beside = end + 12 + 8 * len(words) < WIDTH
    place = (end + 12, middle + 5, "over") if beside else (end, middle + 24, "end over")
    colour = entry["kernel"]
    return [
        f'<text class="end" x="{LEFT - 14}" y="{middle}">{label(entry)}</text>',
        f'<text class="small end" x="{LEFT - 14}" y="{middle + 16}">{"PREEMPT_RT" if colour == "rt" else "Debian"}, {entry["tuning"]}</text>',
        f'<rect class="{colour}" opacity="0.55" x="{start:.1f}" y="{middle - 7}" width="{max(end - start, 2):.1f}" height="14" rx="3"/>',
        *(f'<circle class="{colour}" cx="{across(each):.1f}" cy="{middle}" r="5"/>' for each in entry["max_ns_each"]),
        f'<text class="{place[2]}" x="{place[0]:.1f}" y="{place[1]:.1f}">{words}</text>',
    ]  # fmt: skip


def label(entry: dict) -> str:
    """What an arm is, in the words of a reader who has heard of neither kernel."""
    return LABELS[entry["kernel"], entry["tuning"]]


def caption(entries: list) -> str:
    """What was measured, how often, and on what."""
    fewest, most = min(entry["boots"] for entry in entries), max(entry["boots"] for entry in entries)
    return (
        f"response times; {fewest if fewest == most else f'{fewest} to {most}'} boot{'s' if most > 1 else ''} each, {min(entry['samples'] for entry in entries)} releases or more; "
        "one emulated CPU in virtual time (1 ns = 1 instruction), not a board"
    )


def duration(nanoseconds: float) -> str:
    """In the unit that people say."""
    return f"{nanoseconds / 1e6:.3g} ms" if nanoseconds >= 1e6 else f"{nanoseconds / 1e3:.3g} µs"
