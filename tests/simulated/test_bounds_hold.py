"""Random message programs on a simulated cluster: what the simulator says about each transfer must
lie within the bounds that the runtime gave from the calls alone.

IMBREX_SIMULATED_PROGRAMS sets how many programs run (half as many more with contention), and
IMBREX_SIMULATED_FIRST the first seed. docs/theory/truth.md quotes a run of 10,000.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from .cause_truth import CHECKED
from .conftest import EAGER, HERE, RANKS, RUNTIME, Simulator, checked, table_of
from .matched_truth import SHIFTED_NS, check_all_matched
from .truth import Verdict, check_all, read_log, read_programs

pytestmark = pytest.mark.untimed

PROGRAMS = int(os.environ.get("IMBREX_SIMULATED_PROGRAMS", "300"))
FIRST = int(os.environ.get("IMBREX_SIMULATED_FIRST", "0"))
CHUNK = 150  # programs of one simulation: SMPI keeps, and searches, what it has freed
MUTANTS = 40  # programs, from seed 0 on, that must show a fault put in on purpose


@dataclass(frozen=True)
class Cluster:
    """Four hosts, and what the programs' own calibration found."""

    simulator: Simulator
    programs: Path
    calibration: Path

    def verdict(
        self,
        folder: Path,
        count: int,
        *,
        first: int = FIRST,
        network: str = "quiet",
        eager_slack: str = "-1 -1",
        programs: Path | None = None,
        rate: float = 0,
        shift_ns: float = 0,
        waits_for: int = 0,
        polls: bool = False,
    ) -> Verdict:
        """`first`: the seed of the first program; `rate`: how fast the clocks of ranks may run;
        `shift_ns`: how wrong the judge is about the moments that belong to matched calls;
        `waits_for`: table_of; `polls`: the programs test and probe in place of waiting."""
        table = folder / "table"
        times = table_of(self.calibration, eager_slack, network == "quiet", waits_for)
        table.write_text(times)
        verdict, contention = Verdict(), network == "shared"
        for begin in range(first, first + count, CHUNK):
            some = min(CHUNK, first + count - begin)
            chosen = programs or self.programs
            words = (begin, some, *(["polls"] if polls else []), "out")
            log = run(self.simulator, chosen, network, folder, table, *words)
            programs_of = [read_programs(folder / f"out.{rank}") for rank in range(RANKS)]
            actions = read_log(log)
            if not rate:
                check_all(programs_of, actions, verdict, contention=contention, eager_below=EAGER)
            check_all_matched(
                *(programs_of, actions, verdict),
                contention=contention,
                eager_below=EAGER,
                rate=rate,
                shift_ns=shift_ns,
            )
        return verdict


def run(
    simulator: Simulator,
    programs: Path,
    network: str,
    folder: Path,
    table: Path | None,
    *arguments: object,
) -> Path:
    hosts = [f"n{rank}" for rank in range(RANKS)]
    platform = HERE / f"{network}.xml"
    return simulator.run(
        programs, *arguments, platform=platform, hosts=hosts, folder=folder, table=table
    )


@pytest.fixture(scope="module")
def cluster(
    simulator: Simulator, programs: Path, tmp_path_factory: pytest.TempPathFactory
) -> Cluster:
    folder = tmp_path_factory.mktemp("calibration")
    run(simulator, programs, "quiet", folder, None, "calibrate", "calibration")
    return Cluster(simulator, programs, folder / "calibration.0")


def test_the_truth_lies_within_the_bounds(cluster: Cluster, tmp_path: Path) -> None:
    verdict = cluster.verdict(tmp_path, PROGRAMS)
    print(f"\n{PROGRAMS} programs without contention\n{verdict.table()}")
    assert not verdict.violations, verdict.violations[:5]
    assert sum(map(len, verdict.widths.values())) > PROGRAMS * RANKS
    assert verdict.hidden_ns > 0
    claimed, true = (sum(wait[i] for wait in verdict.waits) for i in (0, 1))
    assert claimed > 0.5 * true
    assert verdict.checked["matched transfers"] > 0.9 * verdict.checked["transfers"]
    assert verdict.checked["expected transfers"] > 0.5 * verdict.checked["transfers"]
    assert set(verdict.late) == set(CHECKED)
    # What MPI_Finalize merged is what the last program's ranks had.
    measures = np.load(tmp_path / "run" / "measures.npy")
    for rank in range(RANKS):
        last = read_programs(tmp_path / f"out.{rank}")[FIRST + PROGRAMS - 1].sums()
        rows = measures[measures["rank"] == rank]
        assert int(rows["bytes"].sum()) == last["bytes"]
        assert int(rows["overlap_max_ns"].sum()) == last["o_max"]
        assert int(rows["call_ns"].sum()) == last["call"]


def test_under_contention_the_shares_lie_within_the_bounds(
    cluster: Cluster, tmp_path: Path
) -> None:
    verdict = cluster.verdict(tmp_path, PROGRAMS // 2, network="shared")
    print(f"\n{PROGRAMS // 2} programs with contention\n{verdict.table()}")
    assert not verdict.violations, verdict.violations[:5]
    assert verdict.checked["share hidden"] > PROGRAMS


def test_clocks_that_differ_leave_the_truth_within_the_bounds(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IMBREX_TEST_CLOCK", "1e6,20")  # rank r: r ms ahead, r * 20 ppm fast
    count = max(MUTANTS, PROGRAMS // 10)
    verdict = cluster.verdict(tmp_path, count, rate=1e-4)
    print(f"\n{count} programs with clocks that differ\n{verdict.table()}")
    assert not verdict.violations, verdict.violations[:5]
    assert verdict.checked["clocks differ"] == count


def test_what_polls_wait_for_lies_within_the_bounds(cluster: Cluster, tmp_path: Path) -> None:
    """Calls that find nothing are waits for what the last of them finds."""
    count = max(2 * MUTANTS, PROGRAMS // 3)
    verdict = cluster.verdict(tmp_path, count, polls=True)
    print(f"\n{count} programs that poll\n{verdict.table()}")
    assert not verdict.violations, verdict.violations[:5]
    waited, claimed = (sum(late[i] for late in verdict.late["late_sender"]) for i in (1, 0))
    assert claimed > 0.9 * waited > 0
    wrong = cluster.verdict(tmp_path, MUTANTS, first=0, polls=True, shift_ns=SHIFTED_NS)
    found = {violation.split(":")[0] for violation in wrong.violations}
    assert found >= {"late_sender at most", "late_receiver at most", "parts add up"}


def test_a_judge_who_errs_about_moments_finds_faults(cluster: Cluster, tmp_path: Path) -> None:
    verdict = cluster.verdict(tmp_path, MUTANTS, first=0, shift_ns=SHIFTED_NS)
    found = {violation.split(":")[0] for violation in verdict.violations}
    assert found >= {"matched hidden", "matched exposed", "late_sender at most"}
    assert found >= {"expected hidden", "expected exposed", "parts add up"}
    assert found >= {f"{cause} at most" for cause in CHECKED}
    assert "transfer at least" in found, found


@pytest.mark.parametrize("waits_for", [2, 3])
def test_a_handshake_that_nobody_waits_for_breaks_bounds(
    cluster: Cluster, tmp_path: Path, waits_for: int
) -> None:
    verdict = cluster.verdict(tmp_path, MUTANTS, first=0, waits_for=waits_for)
    found = {violation.split(":")[0] for violation in verdict.violations}
    assert found & {"expected hidden", "expected exposed"}
    assert not found - {"expected hidden", "expected exposed", "not contradicted"}, found


def test_without_the_slack_of_eager_messages_bounds_break(cluster: Cluster, tmp_path: Path) -> None:
    verdict = cluster.verdict(tmp_path, MUTANTS, first=0, eager_slack="0 0")
    assert any(v.startswith("hidden") for v in verdict.violations)


@pytest.mark.parametrize(
    ("file", "rule", "mutant", "user"),
    [
        ("wait.h", "    if (outside)\n", "    if (0)\n", "calls.c"),
        ("times.c", "return all_ns > x_hi_ns ? all_ns : x_hi_ns;", "return x_hi_ns;", "times.c"),
    ],
    ids=["debt", "collectives entered apart"],
)
def test_without_a_rule_of_the_wait_a_claim_is_wrong(
    cluster: Cluster, tmp_path: Path, file: str, rule: str, mutant: str, user: str
) -> None:
    """`user`: the one source file that the rule's file is compiled into."""
    source = (RUNTIME / "core" / file).read_text()
    assert source.count(rule) == 1, f"{file} has no rule to leave out: mend this test"
    mutated = tmp_path / "core" / file
    mutated.parent.mkdir()
    mutated.write_text(source.replace(rule, mutant))
    compiled = mutated if user == file else RUNTIME / "core" / user
    checked(
        [
            "gcc",
            "-std=gnu11",
            "-O1",
            "-fPIC",
            "-fvisibility=hidden",
            "-w",
            f"-I{tmp_path}",
            f"-I{RUNTIME}",
            "-c",
            compiled,
            "-o",
            tmp_path / "mutant.o",
        ]
    )
    programs = cluster.simulator.link(
        tmp_path / "mutant", sorted((HERE / "programs").glob("*.c")), [tmp_path / "mutant.o"]
    )
    # Some tens of programs apart, until one shows it.
    some = MUTANTS // 2
    verdicts = (
        cluster.verdict(tmp_path, some, first=first, programs=programs)
        for first in range(0, 6 * some, some)
    )
    assert any(v.startswith("least wait") for verdict in verdicts for v in verdict.violations)
