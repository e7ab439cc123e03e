"""What CI demands of the comparison: ratios and counts, which hold on every host, and no time."""

from horus_appliance.determinism.isolation import FOREIGN

# The usual kernel's worst response was a hundred times that of the real-time one.
TIMES_BETTER = 10
GROWTH = 1.05


def findings(entries: list) -> list:
    """What is wrong with a summary that has both kernels, tuned; empty when nothing is."""
    by_kernel = {entry["kernel"]: entry for entry in entries if entry["tuning"] == "tuned"}
    real_time, stock = by_kernel["rt"], by_kernel["stock"]
    found = []
    if real_time["samples"] == 0 or stock["samples"] == 0:
        found.append("an arm has no sample")
    if real_time["misses"] > 0:
        found.append(f"the real-time kernel missed {real_time['misses']} of {real_time['samples']} deadlines")
    if stock["max_ns"] < TIMES_BETTER * real_time["max_ns"]:
        found.append(f"the worst response is {real_time['max_ns']} ns with the real-time kernel and {stock['max_ns']} ns with the usual one: less than {TIMES_BETTER} times as long")
    if not real_time["valid"]:
        found.append(f"the run with the real-time kernel is not valid: {', '.join(real_time['invalid_reasons'])}")
    return found


def boot_cost(instructions: int | None, committed: int) -> list:
    """What is wrong with the instructions that a boot worked until its first node ran, beside those that are committed."""
    if instructions is None:
        return ["the boot did not say what it cost"]
    if instructions > GROWTH * committed:
        return [
            f"a boot works {instructions / 1e9:.2f} thousand million instructions until the first node runs, {committed / 1e9:.2f} before: {instructions / committed - 1:.1%} more. "
            "Find out what a boot does in addition; if it has to, say so in docs/data/boot/README.md and measure with ./scripts/boot-time."
        ]
    return []


def isolation(counted: dict) -> list:
    """What is wrong with the counts of an isolated CPU."""
    if counted["counts"][FOREIGN] > 0:
        return [f"foreign programs ran on the isolated CPU {counted['cpu']}: {counted['names'][FOREIGN]}"]
    return []
