"""What else this machine did while a program ran: other load, stolen time, swapping.

Read from Linux's own counts before and after. What they do not tell (other hosts, the network) is
noise that the statistics see.
"""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass
from pathlib import Path

OTHER_LOAD = 0.1
"""Cores kept busy by others, on average, from which a run counts as disturbed."""
OTHER_LOAD_BEFORE = 0.25
"""The same in the short time before it."""
FULL = 0.9
"""The share of the cores that is busy on average, from which none is idle when it is needed."""
OURS = 0.02
"""The share of the busy time that is at least our children's where they are the ranks."""
GRAIN_S = 0.02
"""What the counts of a core are known to."""
STOLEN = 0.02
"""The share of the cores' time that a hypervisor took."""
SWAPPED_PAGES = 256
_PROC = Path("/proc")
_STAT, _SWAP = "stat", "vmstat"


@dataclass(frozen=True)
class Counts:
    """What the machine and our ended children used until a moment, in s of processor time."""

    wall_s: float
    busy_s: float
    stolen_s: float
    own_s: float
    swapped_pages: int

    @property
    def known(self) -> bool:
        """Whether the machine tells anything."""
        return self.busy_s > 0


def counts(wall_s: float, proc: Path = _PROC) -> Counts:
    """The counts now; `wall_s` is the time of any clock."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    mine = resource.getrusage(resource.RUSAGE_SELF)
    own_s = used.ru_utime + used.ru_stime + mine.ru_utime + mine.ru_stime
    ticks = _first_line(proc / _STAT)
    hertz = os.sysconf("SC_CLK_TCK")
    # user nice system idle iowait irq softirq steal; guest time is within user
    busy = sum(ticks[k] for k in (0, 1, 2, 5, 6)) / hertz if len(ticks) >= 8 else 0.0
    stolen = ticks[7] / hertz if len(ticks) >= 8 else 0.0
    return Counts(wall_s, busy, stolen, own_s, _swapped(proc / _SWAP))


def busy_before(before: Counts, after: Counts) -> float:
    """How many cores others kept busy between two counts in which nothing of ours ran."""
    wall_s = after.wall_s - before.wall_s
    return max(0.0, after.busy_s - before.busy_s - GRAIN_S) / wall_s if wall_s > 0 else 0.0


def disturbance(before: Counts, after: Counts, busy_cores: float = 0.0) -> str | None:
    """Why a run between two counts cannot be trusted, in words; None where nothing is known.

    `busy_cores` others kept busy just before it. That decides where our children used less than
    half of the processor time: ranks that a daemon started look like others' work.
    """
    if (told := _of_the_machine(before, after)) is not None or not _comparable(before, after):
        return told
    wall_s, cores = after.wall_s - before.wall_s, os.cpu_count() or 1
    busy, own = after.busy_s - before.busy_s, after.own_s - before.own_s
    other_load, most = max(0.0, busy - own - GRAIN_S * cores) / wall_s, OTHER_LOAD
    if own < busy / 2:
        other_load, most = busy_cores, OTHER_LOAD_BEFORE
    if other_load > most:
        return f"other processes kept {other_load:.1f} of {cores} cores busy"
    return None


def crowding(before: Counts, after: Counts) -> str | None:
    """What on this machine made a run slower, in words: less is asked than by `disturbance`.

    Other load counts where next to no core was idle, and where a part of the processor time was
    our children's: ranks that a daemon started cannot be told from others' work.
    """
    if (told := _of_the_machine(before, after)) is not None or not _comparable(before, after):
        return told
    wall_s, cores = after.wall_s - before.wall_s, os.cpu_count() or 1
    busy, own = after.busy_s - before.busy_s, after.own_s - before.own_s
    other_load = max(0.0, busy - own - GRAIN_S * cores) / wall_s
    if other_load > OTHER_LOAD and own >= OURS * busy and busy >= FULL * cores * wall_s:
        return (
            f"other processes kept {other_load:.1f} of {cores} cores busy and next to none was idle"
        )
    return None


def _comparable(before: Counts, after: Counts) -> bool:
    return after.wall_s > before.wall_s and before.known


def _of_the_machine(before: Counts, after: Counts) -> str | None:
    """Swapping and stolen time, whoever caused it."""
    if not _comparable(before, after):
        return None
    if (pages := after.swapped_pages - before.swapped_pages) >= SWAPPED_PAGES:
        return f"the machine swapped {pages} pages"
    cores = os.cpu_count() or 1
    wall_s = after.wall_s - before.wall_s
    if (stolen := (after.stolen_s - before.stolen_s) / (wall_s * cores)) > STOLEN:
        return f"the hypervisor took {100 * stolen:.0f} % of the cores"
    return None


def _first_line(file: Path) -> list[int]:
    try:
        words = file.read_text(encoding="ascii", errors="replace").partition("\n")[0].split()
    except OSError:
        return []
    return [int(text) for text in words[1:] if text.isdigit()]


def _swapped(file: Path) -> int:
    try:
        text = file.read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    found = dict(line.split(" ", 1) for line in text.splitlines() if " " in line)
    names = ("pswpin", "pswpout")
    return sum(int(found[name]) for name in names if found.get(name, "").strip().isdigit())
