"""The comparison as plain text: one table of the arms, one of what reaches the CPU of real-time nodes."""

from horus_appliance.determinism import isolation

NOT_REAL_TIME = "not real-time"


def microseconds(nanoseconds: float | None) -> str:
    """Three digits, as people read them."""
    if nanoseconds is None:
        return "-"
    value = nanoseconds / 1e3
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def spread(entry: dict, name: str, middle: str) -> str:
    """Median over the boots and, of several boots, the range."""
    if f"{name}_range" not in entry:
        return "-"
    low, high = entry[f"{name}_range"]
    return microseconds(entry[middle]) + (f" ({microseconds(low)} to {microseconds(high)})" if entry["boots"] > 1 else "")


def cost(entry: dict) -> str:
    """Thousand million instructions until the first node runs."""
    value = entry.get("boot_instructions")
    return "-" if value is None else f"{value / 1e9:.2f}"


def grid(rows: list) -> str:
    """Rows of texts in columns: the first to the left, figures to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join([row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def arms(entries: list) -> str:
    """The arms, whatever their kernel. A run without a real-time kernel is not valid as evidence, and marked."""
    rows = [("kernel, tuning", "boots", "p50", "p99", "worst", "misses", "misses at 10 kHz", "worst cyclictest", "audit", "boot", "valid")]
    for entry in entries:
        rows.append((
            f"{entry['kernel']}, {entry['tuning']}", str(entry["boots"]), spread(entry, "p50_ns", "p50_ns"), spread(entry, "p99_ns", "p99_ns"),
            spread(entry, "max_ns", "max_ns_median"), f"{entry['misses']} of {entry['samples']}",
            "-" if entry["misses_at_10_khz"] is None else f"{entry['misses_at_10_khz']} of {entry['samples_at_10_khz']}",
            microseconds(entry["cyclictest_max_ns"]), str(entry["audit_score"]), cost(entry), validity(entry),
        ))  # fmt: skip
    return grid(rows)


def validity(entry: dict) -> str:
    """Whether the runs are evidence; a kernel that is not real-time is the usual reason why they are not."""
    if entry["valid"]:
        return "yes"
    return NOT_REAL_TIME if all("PREEMPT_RT" in reason for reason in entry["invalid_reasons"]) else "NO"


def reach(entries: list) -> str:
    """What reached the CPU of real-time nodes, a second."""
    rows = [("a second on the last CPU", *(f"{entry['cpus']} CPUs, {entry['tuning']}" for entry in entries))]
    for kind in isolation.COUNTS:
        rows.append((kind, *(f"{entry['counts'][kind] / entry['seconds']:.1f}" for entry in entries)))
    return grid(rows)


def whole(data: dict) -> str:
    """All that was measured, with what the columns mean."""
    parts = []
    if data["arms"]:
        parts.append(
            f"{data['arms'][0]['phase']}, times in us of virtual time (1 ns = 1 instruction): median over the boots (range)\n\n{arms(data['arms'])}\n\n"
            "boot: thousand million instructions that the CPU worked from the kernel's start to the first node"
        )
    if data["isolation"]:
        parts.append(f"What reaches the last CPU, which the tuning isolates, under load: counts, not times\n\n{reach(data['isolation'])}")
    return "\n\n".join(parts)
