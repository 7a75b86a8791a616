"""Numbers and places as a user reads them."""

from __future__ import annotations

from imbrex.profile.run import Run
from imbrex.profile.summary import Row, size_label


def seconds(value: float) -> str:
    """A time with three figures and a fitting unit."""
    magnitude = abs(value)
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if 0 < magnitude < limit:
            return f"{value * factor:.3g} {unit}"
    if magnitude < 1000:
        return f"{value:.3g} s" if magnitude < 100 else f"{value:.0f} s"
    return f"{value:,.0f} s"


def interval(low: float, high: float) -> str:
    """An interval of times; one number where both ends read alike."""
    first, last = seconds(low), seconds(high)
    return first if first == last else f"{first} to {last}"


def share(part: float, whole: float) -> str:
    """A percentage of a whole, or a dash where there is no whole."""
    return f"{100 * part / whole:.1f} %" if whole > 0 else "-"


def sizes(row: Row) -> str:
    """The range of message sizes of a row (size classes, so powers of two)."""
    if row.sizes is None:
        return "-"
    low, high = row.sizes
    return size_label(low) if low == high else f"{size_label(low)} - {size_label(high)}"


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
        return next(iter(sources.values()))
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
