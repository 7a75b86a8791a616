"""`--run`: sites in the order of what they expose, those below the threshold left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.profile.summary import Sums
from imbrex.transform.command import explain
from imbrex.transform.engine import transform
from imbrex.transform.measured import Measured, read_measured, transform_measured
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#define N 100
static double a[N], b[N], c[N], d[N];
static void work(double *x)
{
    for (int i = 0; i < N; i++)
        x[i] = 0.5 * x[i] + 1.0;
}
int main(int argc, char **argv)
{
    int peer = 1;
    MPI_Init(&argc, &argv);
    MPI_Send(a, N, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD);
    work(c);
    MPI_Send(b, N, MPI_DOUBLE, peer, 1,
             MPI_COMM_WORLD);
    work(c);
    MPI_Send(d, N, MPI_DOUBLE, peer, 2, MPI_COMM_WORLD);
    work(c);
    MPI_Finalize();
    return 0;
}
"""


def sums(exposed_s: float) -> Sums:
    return Sums(count=10, call_s=exposed_s, transfer_max_s=2 * exposed_s, exposed_max_s=exposed_s)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    file = tmp_path / "program.c"
    file.write_text(PROGRAM)
    return file


def run(*sites: tuple[int, float]) -> Measured:
    """A run of 100 s over all ranks."""
    known = {("program.c", line): [("MPI_Send", sums(exposed_s))] for line, exposed_s in sites}
    return Measured(100.0, known)


def test_order_and_threshold(source: Path) -> None:
    # The second call's return address is on its second line.
    measured = run((13, 0.1), (16, 30.0))
    outcome = transform_measured([source], Options(), measured, 0.005)
    assert [d.site.call.line for d in outcome.decisions] == [15, 13, 18]
    first, second, third = outcome.decisions
    assert first.decision == "rewritten"
    assert first.measured is not None and first.measured["share"] == 0.3
    assert second.decision == third.decision == "nothing-to-gain"
    assert "at most 0.1 % of the ranks' time" in second.reason.text
    assert "did not come here" in third.reason.text
    text = outcome.after[str(source)].decode()
    assert text.count("MPI_Isend") == 1 and "MPI_Isend(b" in text
    told = "of at most 60 s of transfer 0 to 30 s exposed; at most 30 % of the ranks' time to save"
    assert told in explain(outcome)


def test_a_lower_threshold_takes_more(source: Path) -> None:
    measured = run((13, 0.1), (16, 30.0))
    outcome = transform_measured([source], Options(), measured, 0.001)
    assert outcome.after[str(source)].count(b"MPI_Isend") == 2


def test_nothing_is_worth_it(source: Path) -> None:
    outcome = transform_measured([source], Options(), run(), 0.005)
    assert outcome.after == outcome.before
    assert {d.decision for d in outcome.decisions} == {"nothing-to-gain"}


def test_no_call_saves_more_than_all_calls_take(source: Path) -> None:
    """Of 30 s exposed at one start, two transfers at a time, the ranks were 20 s in MPI."""
    measured = run((13, 0.1), (16, 30.0))
    measured.calls_s = 20.0
    first, second, _ = transform_measured([source], Options(), measured, 0.005).decisions
    assert first.measured is not None and first.measured["share"] == 0.2
    assert second.measured is not None and second.measured["share"] == 0.001


def test_copies_of_a_call_count_together(source: Path) -> None:
    """A compiler that copies a routine leaves several return addresses, on one line or on two."""
    copies = [("MPI_Send", sums(1.0)), ("MPI_Recv", sums(50.0)), ("MPI_Send", sums(8.0))]
    measured = Measured(
        100.0, {("program.c", 15): copies, ("program.c", 16): [("MPI_Send", sums(21.0))]}
    )
    outcome = transform_measured([source], Options(), measured, 0.005)
    first = outcome.decisions[0].measured
    assert first is not None
    assert (first["share"], first["count"]) == (pytest.approx(0.3), 30)


def test_a_wait_of_which_no_transfer_is_known_has_none(source: Path) -> None:
    for transfer_s, told in ((0.0, False), (1.0, True)):
        here = Sums(count=10, call_s=9.0, transfer_max_s=transfer_s, exposed_max_s=transfer_s)
        measured = Measured(100.0, {("program.c", 15): [("MPI_Send", here)]})
        outcome = transform_measured([source], Options(), measured, 0.0)
        text = explain(outcome)
        assert ("of transfer" in text.partition("measured: 10 calls")[2]) is told


def test_all_sites_of_matching_collectives_go_together(tmp_path: Path) -> None:
    source = tmp_path / "program.c"
    bcast = "MPI_Bcast({}, N, MPI_DOUBLE, 0, MPI_COMM_WORLD);"
    text = PROGRAM
    for name in "abd":
        start = text.index(f"MPI_Send({name}")
        text = text[:start] + bcast.format(name) + text[text.index(";", start) + 1 :]
    source.write_text(text)
    measured = Measured(100.0, {("program.c", 13): [("MPI_Bcast", sums(20.0))]})
    outcome = transform_measured([source], Options(), measured, 0.005)
    assert outcome.after[str(source)].count(b"MPI_Ibcast") == 3


def test_without_a_threshold_it_is_the_plain_rewrite(source: Path) -> None:
    outcome = transform_measured([source], Options(), run((13, 1.0)), 0.0)
    assert outcome.after == transform([source], Options()).after


@pytest.mark.parametrize(("message_s", "calls"), [(90e-6, 0), (110e-6, 3), (None, 3)])
def test_no_progress_calls_for_messages_shorter_than_their_interval(
    message_s: float | None, calls: int
) -> None:
    source = Path(__file__).parent / "progress" / "windows.c"
    text = source.read_text().splitlines()
    starts = [n for n, line in enumerate(text, 1) if "MPI_Irecv" in line or "MPI_Isend" in line]
    measured = Measured(100.0)
    if message_s is not None:
        measured.longest_s = {(source.name, line): message_s for line in starts}
    asked = Options(progress_interval_s=100e-6)
    outcome = transform_measured([source], asked, measured, 0.0)
    after = outcome.after[str(source)].decode()
    assert after.count("MPI_Request_get_status") + after.count("MPI_Iprobe") == calls
    reasons = [d.reason.text for d in outcome.decisions if "progress" in d.reason.text]
    assert any("at most 90 us, less than the 100 us" in text for text in reasons) == (calls == 0)


def test_no_run_there(tmp_path: Path) -> None:
    with pytest.raises(ImbrexError, match="no such run directory"):
        read_measured(tmp_path / "none")


def test_nothing_is_worth_it_where_a_nest_could_be_divided() -> None:
    """No site chosen means none rewritten, also where a preparing rewrite is tried."""
    folder = Path(__file__).parents[3] / "apps" / "halo"
    sources = sorted(folder.glob("halo2d*.c"))
    assert (
        transform(sources, Options()).after
        != transform_measured(sources, Options(), Measured(100.0), 0.005).after
    )
    outcome = transform_measured(sources, Options(), Measured(100.0), 0.005)
    assert outcome.after == outcome.before
    assert {d.decision for d in outcome.decisions} == {"nothing-to-gain"}
