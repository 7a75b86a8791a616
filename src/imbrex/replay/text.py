"""The prediction of a recorded run for a reader."""

from __future__ import annotations

from typing import Any

from imbrex.diagnosis.lines import lines as wrapped
from imbrex.diagnosis.wording import percent, seconds
from imbrex.replay.modes import BOUNDARY_FIRST, BOUNDARY_LAST, NONE
from imbrex.replay.prediction import BEST
from imbrex.replay.verdict import recorded_verdict

_MOST_SITES = 12
_LEAST_SHARE = 0.01
_MOST_COLLECTIVES = 5
_LIMIT = "    "
"""Before what stands below the row of a site."""


def run_text(document: dict[str, Any]) -> str:
    """Run time by network and mode, then the sites, then how to read it."""
    measured = document["measured_s"]
    first = [*wrapped(recorded_verdict(document)), ""] if document["replayed"] is True else []
    head = f"{document['ranks']} ranks, {seconds(document['computation_s'])} of computation"
    lines = [*first, head + (f", measured {seconds(measured)}" if measured is not None else "")]
    if document.get("sampled") is not None:
        lines += wrapped(
            f"Only the first {100 * document['sampled']:.3g} % of each rank's calls were recorded: "
            "all but the measured time is of these."
        )
    lines += _plain_code_lines(document.get("plain_code"))
    if document["replayed"] is True:
        lines += ["", *_network_lines(document)]
    else:
        lines += ["", *wrapped(f"Run time cannot be predicted: {document['replayed']}.")]
    if document["sites"] or document["collective_sites"]:
        lines += ["", *_site_lines(document)]
    if document.get("blind_spots"):
        lines += ["", "What was not seen:", *(f"  {line}" for line in document["blind_spots"])]
    if document["differences"]:
        lines += ["", "The program did not do the same in the measured and the recorded run:"]
        lines += [f"  {line}" for line in document["differences"][:_MOST_SITES]]
    return "\n".join(lines)


def _plain_code_lines(shares: dict[str, float] | None) -> list[str]:
    """Where times of a run with --times switched are those of recorded code."""
    lines = []
    if shares and shares["recorded"] >= _LEAST_SHARE:
        lines += wrapped(
            f"{percent(shares['recorded'])} of the accesses are in functions that were entered "
            "while recording, as main, and stayed recorded: their times, and the measured one, are "
            "too long (--times watched takes two runs more)."
        )
    if shares and shares["untimed"] >= _LEAST_SHARE:
        lines += wrapped(
            f"{percent(shares['untimed'])} of the computation lies between calls that plain code "
            "had not passed before: its time is that of recorded code, too long."
        )
    return lines


def _network_lines(document: dict[str, Any]) -> list[str]:
    titles = ("no overlap", "today", "independent", "+ consumer", "+ both", "boundary")
    lines = [
        "Run time, over that without any network time "
        f"({seconds(document['networks'][0]['without_network_s'])}):",
        f"{'network':<28}" + "".join(f"{title:>12}" for title in titles),
    ]
    for row in document["networks"]:
        base, times = row["without_network_s"], row["time_s"]
        cells = [f"{times[NONE] / base:.3f}"]
        low, high = row["today_min_s"] / base, row["today_max_s"] / base
        cells.append(f"{low:.3f}" if high - low < 5e-4 else f"{low:.3f}-{high:.3f}")
        cells += [f"{times[m] / base:.3f}" for m in ("independent", "consumer", "fine-grained")]
        cells.append(f"{times[BEST] / base:.3f}")
        lines.append(f"{row['network']['name'][:27]:<28}" + "".join(f"{c:>12}" for c in cells))
    lines += wrapped(
        "today: between what the measurement proves hidden and what it allows. independent: sent "
        "when written, awaited when read."
    )
    lines += wrapped(
        "+ consumer, + both: element by element. boundary: loop indexing, the message's elements "
        "first (or last) of their loop."
    )
    if document["collectives"]:
        lines += wrapped(
            f"{document['collectives']} collective calls per rank take up to 2 log2(N) latencies "
            "and the time of their bytes; no mode hides them."
        )
    return lines


def _site_lines(document: dict[str, Any]) -> list[str]:
    network = document["networks"][0]["network"]["name"] if document["networks"] else ""
    lines = []
    if document["sites"]:
        lines += [
            "Sending call sites, those that would save most first"
            + (f" (on {network}):" if network else ":"),
            f"{'site':<24}{'calls':>8}{'bytes':>9}{'delay':>9}{'independent':>12}"
            f"{'normalized':>11}{'saves':>9}{'all':>9}{'boundary':>9}",
        ]
    for row in document["sites"][:_MOST_SITES]:
        saves = row.get("saves_s")
        cells = ["", "", ""]
        if saves is not None:
            boundary = max(saves[BOUNDARY_FIRST], saves[BOUNDARY_LAST])
            cells = [seconds(saves["independent"]), seconds(saves["fine-grained"])]
            cells.append(seconds(boundary))
        normalized = row["normalized_overlap"]["independent"]
        size = row["bytes"] // max(row["calls"], 1)
        lines.append(
            f"{row['site'][:23]:<24}{row['calls']:>8}{size:>9}{seconds(row['delay_s']):>9}"
            f"{seconds(row['potential_s']['independent']):>12}"
            f"{'any' if normalized is None else f'{normalized:.2f}':>11}"
            + "".join(f"{cell:>9}" for cell in cells)
        )
        limit = row["limit"] or "none, independent work is enough"
        lines += wrapped(f"{_LIMIT}limit: {limit}", indent=_LIMIT)
    left = len(document["sites"]) - _MOST_SITES
    if left > 0:
        lines.append(f"  and {left} more (--json)")
    for row in document["collective_sites"][:_MOST_COLLECTIVES]:
        lines += wrapped(
            f"{row['site'][:23]:<24}{row['calls']:>8}  {row['operation']}: "
            f"{seconds(row['delay_s'])} each, {seconds(row['independent_s'])} of independent work "
            "beside it; limit: collective",
            indent=_LIMIT,
        )
    if any(row["times"] == "counted" for row in document["sites"]):
        lines += wrapped(
            "Where times are counted, not watched (docs/guide/recorder.md), the split between "
            "producing and computing after it is rough."
        )
    return lines
