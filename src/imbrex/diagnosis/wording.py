"""Numbers and places as a user reads them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

from imbrex.profile.run import Run
from imbrex.profile.summary import Row, size_label

MOST_NAMED = 3
"""So many ranks are named."""
_UNITS = ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1.0, 1e3, "ms"))


def _unit(magnitude: float) -> tuple[float, str]:
    """The factor and name of the unit in which a time is read best."""
    for limit, factor, unit in _UNITS:
        if 0 < magnitude < limit:
            return factor, unit
    return 1.0, "s"


def _figures(value: float) -> str:
    """Three figures, and no exponent."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def seconds(value: float) -> str:
    """A time with three figures and a fitting unit."""
    factor, unit = _unit(abs(value))
    return f"{_figures(value * factor)} {unit}"


def interval(low: float, high: float) -> str:
    """An interval of times in the unit of its upper end; one number where both ends read alike."""
    factor, unit = _unit(abs(high))
    first, last = (_figures(value * factor) for value in (low, high))
    if low > 0 and float(first.replace(",", "")) < 0.01 * float(last.replace(",", "")):
        first = f"{max(low * factor, 1e-3):.1g}"
    return f"{last} {unit}" if first == last else f"{first} to {last} {unit}"


def share(part: float, whole: float) -> str:
    """A percentage of a whole, or a dash where there is no whole."""
    return f"{100 * part / whole:.1f} %" if whole > 0 else "-"


def percent(value: float) -> str:
    """A share of 1 as a percentage with as many figures as say something."""
    value *= 100
    if value >= 10 or value == 0:
        return f"{value:.0f} %"
    if value >= 1:
        return f"{value:.1f}".removesuffix(".0") + " %"
    return f"{value:.1g} %" if value >= 0.01 else "< 0.01 %"


def percents(low: float, high: float) -> str:
    """An interval of shares; one number where both ends read alike."""
    if low < 0.01 * high:
        return f"up to {percent(high)}"
    first, last = percent(low), percent(high)
    return last if first == last else f"{first.removesuffix(' %')} to {last}"


def part(number: int, whole: int) -> str:
    """How many of a whole, with the percentage where that is not next to nothing."""
    percent = f" ({share(number, whole)})" if number >= 0.001 * whole else ""
    return f"{number:,} of {whole:,}{percent}"


def shares(interval: tuple[float, float] | None) -> str:
    """An interval of shares in whole percent, rounded outwards; a dash where there is none."""
    if interval is None:
        return "-"
    low, high = floor(100 * interval[0] + 1e-9), ceil(100 * interval[1] - 1e-9)
    return f"{low} %" if low == high else f"{low} to {high} %"


def sizes(row: Row) -> str:
    """The message sizes of a row: the mean within one size class, else the range of classes."""
    if row.sizes is None:
        return "-"
    low, high = row.sizes
    mean = row.sums.bytes / row.sums.transfers if row.sums.transfers else 0.0
    if low == high and 1 << low <= mean < 2 << low:
        return amount(mean)
    return size_label(low) if low == high else f"{size_label(low)} - {size_label(high)}"


def any_line(found: Sequence[Row]) -> bool:
    """Whether some site has a source line, so that its function says more than the site."""
    return any(row.site is not None and row.site.file is not None for row in found)


def amount(size_bytes: float) -> str:
    """An amount of data."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size_bytes) < 1024:
            return f"{size_bytes:.0f} {unit}" if unit == "B" else f"{size_bytes:.1f} {unit}"
        size_bytes /= 1024
    return f"{size_bytes:.1f} TiB"


def library(run: Run) -> str:
    """The MPI library's name and version."""
    name, version = run.job.library
    return f"{name} {version}".strip() or "unknown MPI library"


def events(run: Run) -> str:
    """Where the events came from, per path where paths differ."""
    sources = run.job.events
    if len(set(sources.values())) == 1:
        source = next(iter(sources.values()))
        reason = run.job.events_reason
        return f"{source} (none from inside the library: {reason})" if reason else source
    return ", ".join(f"{path}: {source}" for path, source in sources.items()) or "call"


def machine(run: Run) -> str:
    """Which machine profile gave the transfer times."""
    profile = run.job.machine
    created = f", measured {profile.created}" if profile.created else ""
    return {
        "given": f"{profile.file}{created}",
        "cached": f"cached for this MPI, hosts and settings{created}",
        "quick": f"quick calibration before this run{created}",
    }.get(profile.origin, "none: transfer times are unknown")


def name_ranks(ranks: tuple[int, ...], many: str = "") -> str:
    """`rank 3`, `ranks 3, 4 and 7`; of more than MOST_NAMED `many`, or how many they are."""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if len(ranks) <= MOST_NAMED:
        return f"ranks {', '.join(map(str, ranks[:-1]))} and {ranks[-1]}"
    return many or f"{len(ranks)} ranks"
