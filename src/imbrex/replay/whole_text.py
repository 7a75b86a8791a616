"""The prediction from a plain run, for a reader: the answer, networks, critical path, sites."""

from __future__ import annotations

from typing import Any

from imbrex.diagnosis.division import has_causes
from imbrex.diagnosis.lines import lines as wrapped
from imbrex.diagnosis.rank_divisions import divide_all
from imbrex.diagnosis.wording import percent, seconds
from imbrex.profile.run import Run
from imbrex.replay.evaluate import PARTS
from imbrex.replay.verdict import MATTERS, crowded, next_command, whole_verdict
from imbrex.replay.whole import TOLERATED, as_measured

_REPRODUCED = 0.01
_MOST_OF = 0.5
_MOST_SITES = 8
_MOST_LEFT_OUT = 4
_FEW_MESSAGES = 0.01
"""Of the calls: fewer messages whose order another network may change are not told."""
_WIDE = 0.02
"""Less apart may be what a farm takes by chance before both are told."""
_SAVED = ("transfer", "hidden saves at most", "progress saves")
"""Figures of `agreement` of which the run has an upper limit."""


def whole_text(run: Run, document: dict[str, Any]) -> str:
    """What `imbrex predict RUN` prints of a plain run."""
    command = next_command(run, document)
    lines = [
        *wrapped(whole_verdict(document)),
        *([f"Next: {command}"] if command else []),
        "",
        f"{document['ranks']} ranks, {document['calls']:,} calls, measured "
        f"{seconds(document['measured_s'])}, replayed from the log of its calls.",
        *wrapped(_reproduction(run, document)),
        *wrapped(_in_step(document)),
        *wrapped(_paused(document)),
        *_left_out(document),
        *_first_come(document),
        *body(document, _no_core_is_idle(run)),
    ]
    return "\n".join(lines)


def _no_core_is_idle(run: Run) -> str:
    """What is to be said of progress where the ranks leave no core to whoever makes it."""
    cores, ranks = run.job.cores, len(run.ranks)
    if cores is None or cores > ranks:
        return ""
    return (
        f"No core is idle ({ranks} ranks, {cores} cores): a thread that makes progress takes its "
        "time from the computation, and saves less."
    )


def body(document: dict[str, Any], of_progress: str = "") -> list[str]:
    """Networks, critical path and sites; `of_progress` stands where progress saves something."""
    sites = _sites(document)
    told = any("progress saves" in line for line in sites)
    return [
        "",
        *_networks(document),
        "",
        *_critical_path(document),
        *sites,
        *(wrapped(of_progress) if told else []),
        *_beside_the_run(document),
    ]


def _reproduction(run: Run, document: dict[str, Any]) -> str:
    """How far the replay is from the run that it was made of, and why."""
    row = as_measured(document)
    if row is None:
        return "The run has no machine profile, so the network that it had is not among these."
    measured = document["measured_s"]
    off = row["time_s"] / measured - 1.0
    line = f"As measured the replay gives {seconds(row['time_s'])}, {signed(off)}"
    if abs(off) <= _REPRODUCED:
        return f"{line}."
    if row.get("in_step_s", row["time_s"]) < measured < row["time_s"]:
        return f"{line}: messages both ways were in step for a part of the run."
    if off > 0:
        return (
            f"{line}: messages were faster than the machine profile says; `imbrex calibrate` again."
        )
    return f"{line}: {_disturbed(run, document)}."


def _in_step(document: dict[str, Any]) -> str:
    """Where messages that pass both ways at once may do so in turns or together."""
    row = document["networks"][0]
    in_step_s = row.get("in_step_s", row["time_s"])
    if abs(in_step_s / row["time_s"] - 1) <= _REPRODUCED:
        return ""
    return (
        "Large messages both ways between two ranks are taken to pass in turns, as answers wait "
        f"behind data here; {seconds(in_step_s)} as long as both sides stay in step, which the "
        "least disturbance ends."
    )


def _paused(document: dict[str, Any]) -> str:
    paused_s = document.get("paused_s", 0.0)
    if paused_s <= _REPRODUCED * document["measured_s"]:
        return ""
    return (
        f"Around pauses of the program (MPI_Pcontrol) lie {seconds(paused_s)}, which pass as they "
        "did: messages in them are not known."
    )


def _disturbed(run: Run, document: dict[str, Any]) -> str:
    """What the calls' causes say that no replay has: stalls, and the library's own time."""
    reason = "the run was slower than its computation and the network of the profile explain"
    if shared := crowded(document):
        reason = shared
        if document.get("core_wait_share") is None:
            reason = f"{shared}, so that they wait for each other's core"
    if shared or not has_causes(run):
        return reason
    row = document["networks"][0]
    off = 1 - row["time_s"] / document["measured_s"]
    division = divide_all(run)
    busy = float(run.ranks["compute_ns"].sum() + run.ranks["call_ns"].sum()) * 1e-9
    shares = [
        (division.parts[name].middle / busy, words)
        for name, words in (
            ("stalled", "stalled (cores, memory or link shared, or no progress)"),
            ("library", "MPI itself"),
            ("file_io", "file I/O"),
        )
        if name in division.parts and division.parts[name].middle / busy >= MATTERS
    ]
    told = " and ".join(f"{percent(share)} {words}" for share, words in shares)
    if sum(share for share, _ in shares) >= _MOST_OF * off:
        return f"of the run {told} is in no network's figures"
    return f"{reason} (of it {told})" if told else reason


def _left_out(document: dict[str, Any]) -> list[str]:
    rows = document["not_replayed"]
    if not rows:
        return _divided(document)
    share = document["not_replayed_share"]
    lines = [f"Not replayed, and taken to last as long as it did ({percent(share)} of the run):"]
    for row in rows[:_MOST_LEFT_OUT]:
        lines.append(f"  {row['site']}: {row['calls']:,} {row['reason']}")
    if len(rows) > _MOST_LEFT_OUT:
        lines.append(f"  and {len(rows) - _MOST_LEFT_OUT} more (--json)")
    return lines + _divided(document)


def _divided(document: dict[str, Any]) -> list[str]:
    rows = document["divided_equally"]
    if not rows:
        return []
    lines = ["Blocks of different sizes that the log does not tell, taken to be equal:"]
    lines += [f"  {row['site']}: {row['calls']} collectives" for row in rows[:_MOST_LEFT_OUT]]
    if len(rows) > _MOST_LEFT_OUT:
        lines.append(f"  and {len(rows) - _MOST_LEFT_OUT} more (--json)")
    return lines


def _first_come(document: dict[str, Any]) -> list[str]:
    """Where the order of the run need not be that of another network, if that can matter."""
    rows = document.get("first_come", [])
    messages = sum(row["messages"] for row in rows)
    if messages < _FEW_MESSAGES * document["calls"]:
        return []
    networks = document["networks"][1 if as_measured(document) is not None else 0 :]
    if networks and all(row.get("served_s") for row in networks):
        return [
            "On other networks work goes to whoever asks first, as in the program.",
            *_chance(networks),
        ]
    lines = [
        f"{messages} messages were taken before one of another rank that was on its way too; the",
        "replay keeps the order of the run, which on another network may be another:",
    ]
    lines += [f"  {row['site']}: {row['messages']} messages" for row in rows[:_MOST_LEFT_OUT]]
    if len(rows) > _MOST_LEFT_OUT:
        lines.append(f"  and {len(rows) - _MOST_LEFT_OUT} more (--json)")
    return lines


def _chance(rows: list[dict[str, Any]]) -> list[str]:
    """Where it hangs on little which tasks a boss takes itself."""
    spans = [(row["network"]["name"], *row["served_s"]) for row in rows]
    wide = [span for span in spans if span[2] - span[1] > _WIDE * span[1]]
    if not wide:
        return []
    lines = ["Which tasks it takes itself hangs on less than the log tells; so run time may be:"]
    lines += [f"  {name}: {seconds(a)} to {seconds(b)}" for name, a, b in wide[:_MOST_LEFT_OUT]]
    if len(wide) > _MOST_LEFT_OUT:
        lines.append(f"  and {len(wide) - _MOST_LEFT_OUT} more (--json)")
    return lines


def _networks(document: dict[str, Any]) -> list[str]:
    rows = document["networks"]
    ideal, none = _differs(rows, "ideal_progress_s"), _differs(rows, "no_progress_s")
    base = rows[0]["time_s"]
    own = as_measured(document) is not None
    against = "as measured" if own else f"on {rows[0]['network']['name']}"
    lines = [
        "On other networks: run time, and how much longer or shorter than " + against + ";",
        "transfer: the share of it that no latency and endless bandwidth would save;",
        *(["progress: if the library moved large messages all the time;"] if ideal else []),
        *(["no progress: if the library moved large messages in calls alone;"] if none else []),
        "+1, 2, 5 %: up to which latency run time grows by no more than that.",
    ]
    head = f"{'network':<28}{'run time':>11}{'change':>9}{'transfer':>10}"
    head += f"{'progress':>11}" if ideal else ""
    head += f"{'no progress':>13}" if none else ""
    lines.append(f"{head}{'latency for +1, 2, 5 %':>32}")
    for row in rows:
        change = signed(row["time_s"] / base - 1) if row is not rows[0] else ""
        line = f"{row['network']['name'][:27]:<28}{seconds(row['time_s']):>11}{change:>9}"
        line += f"{_tenths(1 - row['efficiency']['transfer']):>10}"
        line += f"{seconds(row['ideal_progress_s']):>11}" if ideal else ""
        line += f"{seconds(row['no_progress_s']):>13}" if none else ""
        tolerated = [row["latency_tolerance"][f"{share:.0%}"] for share in TOLERATED]
        told = ", ".join("any" if value is None else seconds(value) for value in tolerated)
        lines.append(line + f"{told:>32}")
    return lines


def _differs(rows: list[dict[str, Any]], name: str) -> bool:
    """Whether a column says anything beside that of run time."""
    return any(abs(row[name] / max(row["time_s"], 1e-30) - 1) > MATTERS for row in rows)


def _tenths(share: float) -> str:
    """A share with one decimal, as the others of its column."""
    return f"{100 * share:.1f} %"


def signed(share: float) -> str:
    """A change, with its sign and one decimal; from a tenth on without."""
    return f"{100 * share:+.{0 if abs(share) >= 0.1 else 1}f} %"


def _critical_path(document: dict[str, Any]) -> list[str]:
    row = document["networks"][0]
    path = row["critical_path"]
    whole = max(sum(path[f"{part}_s"] for part in PARTS), 1e-30)
    shares = [(path[f"{part}_s"] / whole, part) for part in PARTS]
    told = ", ".join(f"{part} {percent(share)}" for share, part in shares if share >= 5e-4)
    ranks = ", ".join(
        f"{entry['rank']} ({percent(entry['time_s'] / whole)})"
        for entry in path["ranks"][:4]
        if entry["time_s"] / whole >= 0.05
    )
    efficiency = row["efficiency"]
    return [
        *wrapped(f"Critical path on {row['network']['name']}: {told}; on rank {ranks}."),
        *wrapped(
            f"Efficiency {efficiency['parallel']:.2f} = balance {efficiency['load_balance']:.2f} x "
            f"serialization {efficiency['serialization']:.2f} x transfer "
            f"{efficiency['transfer']:.2f} (serialization: ranks wait for each other in turn)."
        ),
    ]


def _sites(document: dict[str, Any]) -> list[str]:
    first = document["networks"][0]
    if "sites" not in first:
        return []
    least = MATTERS * first["time_s"]
    rows = [
        row
        for row in first.get("sites", [])
        if max(row["saves_at_most_s"], row.get("progress_saves_s", 0.0)) >= least
    ]
    if not rows:
        return [
            f"No call site's transfers, hidden, would save {percent(MATTERS)} of run time there."
        ]
    progress = any("progress_saves_s" in row for row in rows)
    lines = [
        "",
        f"{'where':<36}{'call':<14}{'hidden saves at most':>22}"
        + (f"{'progress saves':>18}" if progress else ""),
    ]
    for row in rows[:_MOST_SITES]:
        share = percent(row["saves_at_most_s"] / first["time_s"])
        line = f"{row['site'][:35]:<36}{row['operation'].removeprefix('MPI_'):<14}"
        told = f"{seconds(row['saves_at_most_s'])} ({share})"
        line += f"{told:>22}"
        if progress:
            saved = row.get("progress_saves_s", 0.0)
            told = f"{seconds(saved)} ({percent(saved / first['time_s'])})"
            line += f"{told:>18}"
        lines.append(line)
    return lines


def _beside_the_run(document: dict[str, Any]) -> list[str]:
    """Where the run itself says that less can be saved, and why; run time is told above."""
    lines = []
    least = MATTERS * document["networks"][0]["time_s"]
    for found in document.get("agreement", ()):
        most = found["run"][1]
        if found["within"] or found["figure"] not in _SAVED or found["predicted"] - most < least:
            continue
        subject = f"{found['site']}, {found['figure']}" if found["site"] else "all transfers"
        why = found["why"] or "and nothing in the run explains it"
        lines += wrapped(f"{subject}: by the run's own calls at most {seconds(most)}: {why}.")
    return ["", *lines] if lines else []
