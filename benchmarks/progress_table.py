"""What the progress thread brings, beside other remedies, and what it costs where it helps nothing.

    sudo python benchmarks/progress_table.py exchange|calls [--library mpich] [--sizes 1,4]
        [--ways naive,progress] [--rounds 6] [--build FOLDER] [--save FILE]
        [--insert docs/theory/progress.md]

exchange: two hosts in network namespaces (TCP, 800 Mbit/s), one rank and one core each, so that a
thread takes its time from the program. tests/network/exchange.c exchanges messages around 50 ms of
work: blocking, naively overlapped, and that with each remedy, in turns. The baseline is the naive
overlap of the same round.

calls: ns of a call of one rank while nothing is open that needs progress (call_overhead.c): bare,
bare under MPI_THREAD_MULTIPLE, and with libimbrex-progress.so preloaded, IMBREX_PROGRESS on and
off, in turns. The baseline is the bare call of the same round.

The interval is hodges_lehmann's (interval.py): 95 % from six rounds on, below that the range.
--save keeps what was measured in a file, to which further calls add; --rounds 0 only prints it. A
round of exchanges takes half a minute a library, one of calls three seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from interval import hodges_lehmann
from network_table import launcher
from page import insert
from preloaded import ROOT, build_runtime
from two_hosts import Network, two_hosts

WORK_MS = 50
ITERATIONS = 12
LIMIT_S = 12
"""Of one run of the exchange, which takes two seconds."""
REPETITIONS = "50"
"""Of call_overhead.c."""
EXEC = ROOT / "runtime" / "imbrex-exec"
SETTINGS = {
    "openmpi": "OMPI_MCA_btl_tcp_progress_thread=1",
    "mpich": "MPIR_CVAR_ASYNC_PROGRESS=1",
}
BASELINE = {"exchange": "naive", "calls": "bare"}
WAYS = {
    "exchange": {
        "blocking": "blocking: MPI_Sendrecv, then the work",
        "naive": "naive: MPI_Irecv, MPI_Isend, the work, MPI_Waitall",
        "progress": "naive, `imbrex-exec --progress`",
        "tested": "100 MPI_Testall written into the work",
        "setting": "naive, `{setting}`",
        "spinning": "naive, a thread that spins, as APSM's (`benchmarks/spinning_thread.c`)",
    },
    "calls": {
        "bare": "bare",
        "multiple": "bare, MPI_THREAD_MULTIPLE",
        "loaded": "`libimbrex-progress.so`, `IMBREX_PROGRESS=off`",
        "progress": "`--progress`",
    },
}
CALLS = {"MPI_Irecv, MPI_Isend, MPI_Waitall": 0, "MPI_Iprobe": 1, "MPI_Sendrecv": 5}
"""Where call_overhead.c prints what it found."""


@dataclass(frozen=True)
class Finding:
    """One run: `what` was measured, of which `way`, in s. `round` numbers the turns of a file."""

    kind: str  # exchange or calls
    library: str
    measurand: str  # the size, or the call
    way: str
    round: int
    seconds: float
    work_s: float = 0.0  # of the exchange: the work alone


def helped(runtime: Path, program: Sequence[str]) -> list[str]:
    """The program behind imbrex-exec, unmeasured."""
    words = ["env", "-u", "IMBREX_DIR", f"IMBREX_RUNTIME={runtime}", "sh", str(EXEC), "--progress"]
    return [*words, *program]


class Built:
    """What is measured with one library, built in `folder`."""

    def __init__(self, library: str, folder: Path) -> None:
        self.library = library
        self.folder = folder / library
        self.folder.mkdir(parents=True, exist_ok=True)
        mpicc = shutil.which(f"mpicc.{library}")
        if mpicc is None:
            sys.exit(f"mpicc.{library} is not installed")
        self._mpicc = mpicc
        self.runtime = build_runtime(mpicc, self.folder, production=True)
        self._exchange = self._program(ROOT / "tests" / "network" / "exchange.c")
        self._calls = self._program(ROOT / "benchmarks" / "call_overhead.c")
        self._spinning = str(self.folder / "spinning_thread.so")
        source = str(ROOT / "benchmarks" / "spinning_thread.c")
        flags = ["-O2", "-w", "-fPIC", "-shared", "-pthread"]
        subprocess.run([mpicc, *flags, "-o", self._spinning, source], check=True)

    def _program(self, source: Path) -> str:
        program = self.folder / source.stem
        words = [self._mpicc, "-O2", "-w", "-o", str(program), str(source), "-lm"]
        subprocess.run(words, check=True)
        return str(program)

    def exchange(self, network: Network, way: str, size: str, turn: int) -> Finding | None:
        """One run; None where it does not come to its end, which is said."""
        style = {"blocking": "blocking", "tested": "tested"}.get(way, "late")
        words = [self._exchange, style, str(int(float(size) * 1e6)), str(WORK_MS), str(ITERATIONS)]
        if way == "progress":
            words = helped(self.runtime, words)
        elif way == "setting":
            words = ["env", SETTINGS[self.library], *words]
        elif way == "spinning":
            words = ["env", f"LD_PRELOAD={self._spinning}", *words]
        line = [*launcher(self.library, network.folder), *words]
        try:
            printed = network.run(line, timeout_s=LIMIT_S).split()
        except subprocess.TimeoutExpired:
            print(f"{self.library}, {size} MB, {way}: no end in {LIMIT_S} s", file=sys.stderr)
            return None
        at = printed.index("seconds")
        seconds, work_s = float(printed[at + 1]), float(printed[at + 2])
        return Finding("exchange", self.library, size, way, turn, seconds, work_s)

    def calls(self, way: str, turn: int) -> Iterator[Finding]:
        """One run of one rank, started without a launcher."""
        words, environment = [self._calls, REPETITIONS], dict(os.environ)
        environment.pop("IMBREX_DIR", None)
        if way == "multiple":
            words.append("multiple")
        elif way in ("progress", "loaded"):
            environment["LD_PRELOAD"] = str(self.runtime.with_name("libimbrex-progress.so"))
            environment["IMBREX_PROGRESS"] = "on" if way == "progress" else "off"
        done = subprocess.run(
            words, check=True, capture_output=True, text=True, cwd=self.folder, env=environment
        )
        printed = done.stdout.split()
        for measurand, place in CALLS.items():
            ns = float(printed[place])
            yield Finding("calls", self.library, measurand, way, turn, ns * 1e-9)


def measure(
    kind: str, built: Built, ways: Sequence[str], sizes: Sequence[str], turns: range
) -> Iterator[Finding]:
    """All ways in each turn, beginning with another one each time.

    A way that did not come to its end twice is not tried again.
    """
    endless: Counter[tuple[str, str]] = Counter()
    if kind == "calls":
        for turn in turns:
            for i in range(len(ways)):
                yield from built.calls(ways[(turn + i) % len(ways)], turn)
        return
    with two_hosts() as network:
        for turn in turns:
            for size in sizes:
                for i in range(len(ways)):
                    way = ways[(turn + i) % len(ways)]
                    if endless[way, size] == 2:
                        continue
                    found = built.exchange(network, way, size, turn)
                    if found is not None:
                        yield found
                    else:
                        endless[way, size] += 1


def rows(findings: Sequence[Finding]) -> Iterator[str]:
    """The lines of one library and size or call: each way beside the baseline."""
    kind, library, measurand = findings[0].kind, findings[0].library, findings[0].measurand
    baseline = {f.round: f.seconds for f in findings if f.way == BASELINE[kind]}
    unit, factor = ("ms", 1e3) if kind == "exchange" else ("ns", 1e9)
    label = f"{measurand} MB" if kind == "exchange" else measurand
    for way, name in WAYS[kind].items():
        mine = {f.round: f.seconds for f in findings if f.way == way and f.round in baseline}
        if not mine:
            continue
        time = f"{factor * statistics.median(mine.values()):.1f} {unit}"
        if way == BASELINE[kind]:
            ratio = "1"
        else:
            middle, low, high = hodges_lehmann([s / baseline[turn] for turn, s in mine.items()])
            rounds = f"{len(mine)} round{'s' if len(mine) > 1 else ''}"
            ratio = f"{middle:.2f} ({low:.2f} to {high:.2f}, {rounds})"
        said = name.format(setting=SETTINGS[library])
        yield f"| {library} | {label} | {said} | {time} | {ratio} |"
    if kind == "exchange":
        work_s = statistics.median(f.work_s for f in findings)
        yield f"| {library} | {label} | the work alone | {factor * work_s:.1f} {unit} | |"


def table(kind: str, findings: Sequence[Finding]) -> str:
    """All that was measured of this kind."""
    heads = {
        "exchange": "| library | message | way | an iteration | of the naive |",
        "calls": "| library | calls | way | a call | of the bare |",
    }
    lines = [heads[kind], "|---|---|---|--:|--:|"]
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        if finding.kind == kind:
            groups.setdefault((finding.library, finding.measurand), []).append(finding)
    for key in sorted(groups):
        lines += rows(groups[key])
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kind", choices=list(WAYS))
    parser.add_argument("--library", action="append", choices=list(SETTINGS))
    parser.add_argument("--sizes", default="1,4", help="MB, separated by commas")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--build", type=Path, help="build here and keep it")
    parser.add_argument("--save", type=Path, help="add what was measured to this file")
    parser.add_argument("--insert", type=Path, help="the page that gets the table")
    parser.add_argument("--ways", help="some of them, with commas between")
    options = parser.parse_args()
    ways = options.ways.split(",") if options.ways else list(WAYS[options.kind])
    if unknown := [way for way in ways if way not in WAYS[options.kind]]:
        parser.error(f"no way {unknown[0]}: {', '.join(WAYS[options.kind])}")
    os.environ |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    findings: list[Finding] = []
    if options.save and options.save.exists():
        for line in options.save.read_text().splitlines():
            findings.append(Finding(**json.loads(line)))
    first = 1 + max((f.round for f in findings if f.kind == options.kind), default=-1)
    with tempfile.TemporaryDirectory(prefix="imbrex-progress-") as scratch:
        folder = options.build.absolute() if options.build else Path(scratch)
        for library in (options.library or list(SETTINGS)) if options.rounds > 0 else []:
            built = Built(library, folder)
            turns = range(first, first + options.rounds)
            for finding in measure(options.kind, built, ways, options.sizes.split(","), turns):
                findings.append(finding)
                if options.save is not None:
                    with options.save.open("a") as file:
                        file.write(json.dumps(asdict(finding)) + "\n")
    text = table(options.kind, findings)
    print(text)
    if options.insert:
        insert(options.insert, text, options.kind)


if __name__ == "__main__":
    main()
