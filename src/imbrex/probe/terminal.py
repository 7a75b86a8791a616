"""The probe's answer on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from imbrex.probe.answer import Answer
from imbrex.probe.in_short import in_short
from imbrex.probe.knobs import Tried, ends_unclear, overlaps_up_to
from imbrex.probe.point_to_point import Operation
from imbrex.probe.ranges import Range

_SYNCHRONIZES = {True: "overlaps", False: "no", None: "cannot tell"}
_COMPLETES = {True: "yes", False: "no", None: "cannot tell"}


def print_tried(tried: Sequence[Tried]) -> None:
    """Before and after, what it costs, and the line to export."""
    console = Console(highlight=False, soft_wrap=True)
    seen: set[str] = set()
    for t in tried:
        if t.knob.export not in seen:
            seen.add(t.knob.export)
            console.print(f"{t.knob.export}\n  {t.knob.effect}; costs {t.knob.cost}")
            console.print(f"  {memory_of(t)}")
        reach = (_up_to(t.before_bytes, t.before_unclear), _up_to(t.after_bytes, t.after_unclear))
        console.print(
            f"  {t.operation}, {t.path}: overlaps {' -> '.join(reach)}; "
            f"largest {t.before_class} -> {t.after_class}; X_hi of 1 B "
            f"{_us(t.latency_before_s)} -> {_us(t.latency_after_s)} us, of 1 MiB "
            f"{_us(t.mebibyte_before_s)} -> {_us(t.mebibyte_after_s)} us"
        )


def memory_of(t: Tried) -> str:
    """What a rank held before and after, and how that grows with the number of processes."""
    before, after = (
        "?" if size is None else f"{size / 1e6:.0f} MB"
        for size in (t.memory_before_bytes, t.memory_after_bytes)
    )
    peer = t.knob.memory_per_peer_bytes
    growth = (
        f"grows by up to {peer / 1024:,.0f} KiB for each further rank that sends to it"
        if peer
        else "does not grow with the number of processes"
    )
    return f"memory of a rank, measured: {before} -> {after}; {growth}"


def _us(seconds: float | None) -> str:
    return "?" if seconds is None else f"{seconds * 1e6:.2f}"


def _up_to(size: int | None, unclear: bool) -> str:
    if size is None:
        return "at all sizes"
    if unclear:
        return f"up to {size:,} (beyond: cannot tell)" if size else "cannot tell"
    return f"up to {size:,}" if size else "at no size"


def print_answer(found: Answer, file: Path | None) -> None:
    """The answer on the terminal: a table per operation and path, then what to do with it."""
    console = Console(highlight=False, soft_wrap=True)
    profile = found.profile
    console.print(
        f"{profile.library_name} {profile.library_version}, {profile.ranks} ranks on "
        f"{', '.join(profile.hosts)}"
    )
    for key, value in profile.settings.items():
        console.print(f"  {key}={value}")
    console.print("moved while computing: the sender/the receiver/both (share of the data)")
    for o in found.operations:
        table = Table(title=f"{o.operation}, {o.path}", title_justify="left", box=None)
        for column in ("bytes", "sync", "class"):
            table.add_column(column, no_wrap=True)
        for column in ("sender", "receiver", "both", "sure"):
            table.add_column(column, justify="right", no_wrap=True)
        for r in o.ranges:
            table.add_row(
                _span(r),
                _SYNCHRONIZES[r.synchronization],
                r.transfer_class,
                _percent(r.moved.sender_computing),
                _percent(r.moved.receiver_computing),
                _percent(r.moved.both_computing),
                _percent(r.confidence),
            )
        console.print(table)
        if o.early_sender:
            ends = _up_to(overlaps_up_to(o.early_sender), ends_unclear(o.early_sender))
            console.print(f"  if the send comes before its receive is posted: overlaps {ends}")
        if o.step:
            console.print(
                f"  synchronization overlap ends between {o.step.last_bytes:,} and "
                f"{o.step.first_bytes:,} bytes"
            )
    if found.further_operations:
        console.print(_further_operations_table(found.further_operations))
    if found.collectives:
        _print_collectives(console, found.collectives)
    for name, path in profile.paths.items():
        for kind, size in path.limits.items():
            console.print(f"{name}: {kind.removesuffix('_bytes')} up to {size:,} bytes")
    limits = [f"{k} {v:,}" for k, v in found.advertised.items() if v > 0]
    if limits:
        console.print(f"advertised by the library: {', '.join(limits)}")
    if found.krylov:
        console.print(found.krylov.sentence)
    console.print("in short:")
    for sentence in in_short(found):
        console.print(f"  {sentence}.")
    for note in found.notes:
        console.print(f"note: {note}")
    if found.missing:
        more = "" if found.interrupted else "; --time-limit SECONDS gives it more"
        console.print(f"missing, because {found.missing_because}: {found.missing_text}{more}")
    if not profile.paths:
        console.print("no machine profile: nothing was calibrated")
    elif file is not None:
        console.print(f"machine profile: {file}")


def _further_operations_table(further_operations: Sequence[Operation]) -> Table:
    """One line per range of the persistent, partitioned and one-sided operations."""
    table = Table(title="persistent, partitioned, one-sided", title_justify="left", box=None)
    for column in ("operation", "bytes", "sync", "class"):
        table.add_column(column, no_wrap=True)
    for column in ("moved", "sure"):
        table.add_column(column, justify="right", no_wrap=True)
    for o in further_operations:
        name = o.operation.replace("/MPI_Win_", ", ").split("/")[0]
        for r in o.ranges:
            moved = (r.moved.sender_computing, r.moved.receiver_computing, r.moved.both_computing)
            table.add_row(
                name,
                _span(r).replace(" and above", "+"),
                "-" if name.endswith("fence") else _SYNCHRONIZES[r.synchronization],
                r.transfer_class,
                "/".join(_percent(m).removesuffix(" %") for m in moved) + " %",
                _percent(r.confidence),
            )
    return table


@dataclass(frozen=True)
class CollectiveShares:
    """Hidden shares of nonblocking collectives: operations down, sizes across, as text.

    `barriers`: which move nothing; whether they are over although all compute, without and with
    calls in the work.
    """

    sizes: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]
    barriers: tuple[tuple[str, str, str], ...]


def collective_shares(found: Sequence[Operation], arrow: str = "->") -> CollectiveShares:
    """Of each size what was hidden without and with MPI_Test calls: `4 -> 78 %`."""
    sizes = sorted({r.last_measured_bytes for o in found for r in o.ranges} - {0})
    rows, barriers = [], []
    for o in found:
        pairs = {
            r.last_measured_bytes: (r, tested) for r, tested in zip(o.ranges, o.tested, strict=True)
        }
        if 0 in pairs:
            without, tested = (_COMPLETES[of.synchronization] for of in pairs[0])
            barriers.append((o.operation, without, tested))
            continue
        cells = tuple(_without_and_with(*pairs[s], arrow) if s in pairs else "-" for s in sizes)
        rows.append((o.operation, cells))
    return CollectiveShares(tuple(f"{s:,}" for s in sizes), tuple(rows), tuple(barriers))


def _without_and_with(without: Range, tested: Range, arrow: str) -> str:
    before, after = (_percent(of.moved.both_computing) for of in (without, tested))
    return f"{before.removesuffix(' %')} {arrow} {after}"


def _print_collectives(console: Console, collectives: Sequence[Operation]) -> None:
    found = collective_shares(collectives)
    title = "hidden while all ranks compute: without -> with MPI_Test calls, by bytes"
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("operation", no_wrap=True)
    for size in found.sizes:
        table.add_column(size, justify="right", no_wrap=True)
    for operation, cells in found.rows:
        table.add_row(operation, *cells)
    console.print(table)
    for operation, without, tested in found.barriers:
        console.print(f"  {operation}, over although all compute: {without}; with calls: {tested}")


def _span(r: Range) -> str:
    return (
        f"{r.from_bytes:,} and above" if r.to_bytes is None else f"{r.from_bytes:,}-{r.to_bytes:,}"
    )


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"
