"""`imbrex run --record` and `imbrex predict RUN` on real ranks: one command, one directory."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.browser import chromium, opened
from tests.complaints import complaints
from tests.imbrex_command import imbrex

from imbrex.profile.call_log import read_call_log
from imbrex.profile.recording_format import CALL

__all__ = ["chromium", "opened"]
pytestmark = pytest.mark.untimed

HALO = Path(__file__).resolve().parents[3] / "apps" / "halo"
LINES = {"halo2d_blocking.c:7", "halo2d_blocking.c:9"}


@pytest.fixture(scope="module")
def halo(mpi: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of halo2d, built in steps and through an archive, and of its recorded run."""
    folder = tmp_path_factory.mktemp("halo")
    for source in sorted(HALO.glob("halo2d*.c")):
        words = ("cc", f"--compiler={mpi.mpicc}", "-O2", "-g", "-MD", "-c", source)
        assert imbrex(folder, *words).returncode == 0
    members = sorted(str(file) for file in folder.glob("halo2d_*.o"))
    subprocess.run(["ar", "rcs", "libsteps.a", *members], cwd=folder, check=True)
    line = ("halo2d.o", "-L.", "-lsteps", "-lm", "-o", "halo2d")
    built = imbrex(folder, "cc", f"--compiler={mpi.mpicc}", *line)
    assert (built.returncode, built.stderr) == (0, "")
    done = imbrex(
        folder, "run", "--record", "-o", "run", "--", mpi.mpirun, "-n", "2",
        "./halo2d", "--n", "256", "--steps", "40",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    # Only the measured run speaks to the user.
    assert done.stdout.count("verification: PASSED") == 1
    assert "recorded 4 messages of 2 ranks" in done.stderr
    return folder


def test_a_program_has_a_plain_twin(halo: Path) -> None:
    symbols = {
        name: subprocess.run(["nm", halo / name], capture_output=True, text=True).stdout
        for name in ("halo2d", "halo2d.plain")
    }
    assert "__tsan_write8" in symbols["halo2d"]
    assert "__tsan" not in symbols["halo2d.plain"]
    run = json.loads((halo / "run" / "run.json").read_text())
    assert run["command"][-5].endswith("halo2d.plain")


def test_a_run_is_predicted(halo: Path) -> None:
    recorded = {file.name for file in (halo / "run" / "recording").iterdir()}
    assert {"messages.json", "elements.npy", "trace.npy", "model.toml"} <= recorded
    done = imbrex(halo, "predict", "run", "--json")
    document = json.loads(done.stdout)
    assert document["replayed"] is True
    assert document["differences"] == []
    assert {row["site"] for row in document["sites"]} == LINES
    for row in document["sites"]:
        assert row["calls"] == 40
        assert row["bytes"] == 40 * 256 * 8
        assert row["saves_s"]["independent"] >= 0
    saved = [max(row["saves_s"].values()) for row in document["sites"]]
    assert saved == sorted(saved, reverse=True)
    # The row sent north is written first in its sweep and read last: nearly two sweeps to hide it.
    independent = {row["site"]: row["potential_s"]["independent"] for row in document["sites"]}
    assert independent["halo2d_blocking.c:7"] > independent["halo2d_blocking.c:9"]
    assert document["networks"][0]["network"]["name"].startswith("as measured")
    for row in document["networks"]:
        times = row["time_s"]
        assert times["none"] >= times["as written"]
        assert times["independent"] >= times["consumer"] >= times["fine-grained"]
        assert times["as written"] <= row["today_min_s"] <= row["today_max_s"] <= times["none"]
    slow, fast = (
        next(r for r in document["networks"] if r["network"]["name"] == name)
        for name in ("GigE", "InfiniBand HDR")
    )
    # 40 iterations of two exchanges, each EEL + G * 2048 bytes; less where one rank was late, since
    # a message moves while its receiver is not there yet.
    exposed = slow["time_s"]["none"] - slow["without_network_s"]
    assert exposed >= 0.3 * 40 * 2 * (29e-6 + 2048 / 125e6)
    assert slow["time_s"]["none"] > fast["time_s"]["none"]


def test_a_part_of_the_calls_says_the_same(halo: Path, mpi: Any) -> None:
    done = imbrex(
        halo, "run", "--record", "--sample", "2%", "--force", "-o", "part", "--",
        mpi.mpirun, "-n", "2", "./halo2d", "--n", "256", "--steps", "5000",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    recording = halo / "part" / "recording"
    # The recorded run did not come to its end.
    assert "verification" in (recording / "timed.out").read_text()
    assert "verification" not in (recording / "recorded.out").read_text()
    whole, part = (
        json.loads((folder / "messages.json").read_text())
        for folder in (halo / "run" / "recording", recording)
    )
    assert (whole["sampled"], part["sampled"]) == (None, 0.02)
    for one, other in zip(whole["ranks"], part["ranks"], strict=True):
        for full, some in zip(one["messages"], other["messages"], strict=True):
            assert some["site"] == full["site"]
            assert 90 <= some["calls"] <= 101
            assert some["seen"] == full["seen"] == 256
    # The orders of accesses are those of the whole recording; so are not the sums at its end.
    tables = [np.load(f / "elements.npy") for f in (halo / "run" / "recording", recording)]
    whole_order, order = (t["position"][t["message"] < 2] for t in tables)
    assert order.size == 2 * 2 * 256
    assert (whole_order == order).all()
    done = imbrex(halo, "predict", "part", "-n", "GigE")
    assert done.returncode == 0, done.stderr
    assert "Only the first 2 % of each rank's calls were recorded" in done.stdout
    assert "no overlap" in done.stdout


def test_one_run_records_and_is_measured(halo: Path, mpi: Any) -> None:
    """With plain code beside the recorded one: the same orders from one start."""
    sources = sorted(map(str, HALO.glob("halo2d*.c")))
    words = ("cc", "--duplicate", f"--compiler={mpi.mpicc}", "-O2", "-g", *sources)
    built = imbrex(halo, *words, "-lm", "-o", "both")
    assert built.returncode == 0 and "no plain code" not in built.stderr
    line = ("./both", "--n", "256", "--steps", "200")
    done = imbrex(
        halo, "run", "--record", "--times", "switched", "-o", "once", "--",
        mpi.mpirun, "-n", "2", *line,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("verification: PASSED") == 1
    assert "recorded 4 messages of 2 ranks" in done.stderr
    recording = halo / "once" / "recording"
    assert not list(recording.glob("*.out")) and not (recording / "raw").exists()
    whole, part = (
        json.loads((folder / "messages.json").read_text())
        for folder in (halo / "run" / "recording", recording)
    )
    # Two sends a step, ten of 200 steps; ten plain ones and two in front are not measured either.
    assert part["sampled"] == pytest.approx(10 / 200, abs=0.01)
    assert part["plain_code"]["recorded"] < 0.01
    assert part["plain_code"]["untimed"] == 0
    for one, other in zip(whole["ranks"], part["ranks"], strict=True):
        assert [m["site"] for m in one["messages"]] == [m["site"] for m in other["messages"]]
        for full, some in zip(one["messages"], other["messages"], strict=True):
            assert 8 <= some["calls"] <= 11
            assert some["seen"] == full["seen"] == 256
    tables = [np.load(f / "elements.npy") for f in (halo / "run" / "recording", recording)]
    whole_order, order = (t["position"][t["message"] < 2] for t in tables)
    assert (whole_order == order).all()
    # An interval takes what it takes in plain code, not what it takes while recording.
    each = [
        entry["compute_s"] / entry["messages"][0]["calls"]
        for document in (whole, part)
        for entry in document["ranks"]
    ]
    assert max(each[2:]) < 2 * min(each[:2])
    text = imbrex(halo, "predict", "once", "-n", "GigE").stdout
    assert "halo2d_blocking.c:9" in text and "were recorded" in text
    # What cannot be had is said in one line.
    refused = imbrex(
        halo, "run", "--record", "--times", "switched", "--", mpi.mpirun, "-n", "2", "./halo2d"
    )
    assert refused.returncode == 2
    [said] = complaints(refused.stderr)
    assert "--times switched wants the plain code beside the recorded one" in said
    short = imbrex(
        halo, "run", "--record", "--times", "switched", "--rounds", "500", "-o", "short", "--",
        mpi.mpirun, "-n", "2", *line,
    )  # fmt: skip
    assert short.returncode == 0
    assert "not recorded: the program was over before" in short.stderr
    assert not (halo / "short" / "recording").exists()


def test_the_words_name_sites_and_networks(halo: Path) -> None:
    text = imbrex(halo, "predict", "run", "-n", "GigE").stdout
    assert "halo2d_blocking.c:9" in text
    answer, _, rest = text.partition("\n")
    assert " on GigE " in answer and "%" in answer
    assert rest.count("GigE") == 2  # a row of the table, and the sites
    assert "InfiniBand" not in text
    # The recording alone is predicted too.
    assert "GigE" in imbrex(halo, "predict", "run/recording", "-n", "GigE").stdout


@pytest.mark.parametrize("number", ["1", "6", "8", "9", "10"])
def test_figures_are_drawn(halo: Path, number: str) -> None:
    done = imbrex(halo, "predict", "run", "--figure", number, "-o", f"f{number}.svg")
    assert done.returncode == 0, done.stderr
    assert "</svg>" in (halo / f"f{number}.svg").read_text()


def test_the_report_has_the_prediction(halo: Path, opened: Callable[..., Any]) -> None:
    assert imbrex(halo, "report", "run", "-o", "report.html").returncode == 0
    browser = opened(halo / "report.html")
    [curves] = browser.find_elements(
        "xpath", "//section[contains(., 'Produced and consumed share')]"
    )
    assert curves.is_displayed()
    drawings = curves.find_elements("tag name", "svg")
    assert drawings and all(drawing.size["width"] > 300 for drawing in drawings)
    page = (halo / "report.html").read_text()
    assert "How much could be hidden" in page
    assert "Produced and consumed share" in page
    assert "src=" not in page


def test_what_cannot_be_asked_of_a_run(halo: Path) -> None:
    for arguments, said in (
        (("--figure", "7", "-o", "x.png"), "figure 7 is of a parameter file"),
        (("--figure", "1"), "--figure needs -o"),
        (("--table", "latency"), "recording/model.toml"),
    ):
        done = imbrex(halo, "predict", "run", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert len(complaints(done.stderr)) == 1


def test_the_measured_run_times_the_recording(halo: Path, mpi: Any) -> None:
    """Two runs where three are made else; the lengths of intervals are the measured ones."""
    done = imbrex(
        halo, "run", "--record", "--times", "counted", "--force", "-o", "two", "--",
        mpi.mpirun, "-n", "2", "./halo2d", "--n", "256", "--steps", "40",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    recording = halo / "two" / "recording"
    assert not (recording / "timed.out").exists()
    whole, counted = (
        json.loads((folder / "messages.json").read_text())
        for folder in (halo / "run" / "recording", recording)
    )
    for one, other in zip(whole["ranks"], counted["ranks"], strict=True):
        for full, own in zip(one["messages"], other["messages"], strict=True):
            assert (own["site"], own["calls"], own["seen"]) == (
                full["site"],
                full["calls"],
                full["seen"],
            )
            assert own["times"] == "counted"
    tables = [np.load(f / "elements.npy") for f in (halo / "run" / "recording", recording)]
    assert (tables[0]["position"] == tables[1]["position"]).all()
    ranks = np.load(halo / "two" / "ranks.npy")
    trace = np.load(recording / "trace.npy")
    for rank in (0, 1):
        # What lies before the log begins is the runtime's own.
        begins = read_call_log(halo / "two" / "log" / f"rank-{rank}.log").origin_ns
        computed = trace["ns"][(trace["rank"] == rank) & (trace["kind"] == CALL)].sum()
        assert computed == pytest.approx(ranks["compute_ns"][rank] - begins, rel=0.02)


def test_a_program_without_the_wrapper(halo: Path, mpi: Any) -> None:
    line = ("--", mpi.mpirun, "-n", "2", "./halo2d.plain")
    done = imbrex(halo, "run", "--record", "-o", "other", *line)
    assert done.returncode == 2
    assert "halo2d.plain: was not built with imbrex cc" in done.stderr
    assert len(complaints(done.stderr)) == 1
    assert not (halo / "other").exists()


def test_measuring_what_records_is_warned_of(halo: Path, mpi: Any) -> None:
    line = ("--", mpi.mpirun, "-n", "2", "./halo2d", "--n", "64", "--steps", "2")
    done = imbrex(halo, "run", "-q", "-o", "slow", *line)
    assert done.returncode == 0
    assert "halo2d records every access to memory" in done.stderr
    assert "measure" in done.stderr


def test_a_run_without_recording(halo: Path, mpi: Any) -> None:
    line = ("--", mpi.mpirun, "-n", "2", "./halo2d.plain", "--n", "256", "--steps", "40")
    assert imbrex(halo, "run", "-q", "--log", "off", "-o", "unrecorded", *line).returncode == 0
    done = imbrex(halo, "predict", "unrecorded", "-n", "GigE")
    assert "without a recording" in done.stdout
    assert "imbrex run --record" in done.stdout
    document = json.loads(imbrex(halo, "predict", "unrecorded", "-n", "GigE", "--json").stdout)
    (row,) = document["networks"]
    moved = sum(site["transfers"] for site in row["sites"] if "Sendrecv" in site["operation"])
    # Rank 0 sends and receives once per step, and so does rank 1.
    assert moved == 40 * 2 * 2
    assert 0 <= row["exposed_min_sum_s"] <= row["exposed_max_sum_s"] <= row["transfer_sum_s"]
    done = imbrex(halo, "predict", "unrecorded", "--figure", "1", "-o", "x.png")
    assert done.returncode == 2
    assert "has no recording" in done.stderr


DIVERGING = """
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    int rank;
    double values[4] = {1, 2, 3, 4};
    const char *mode = getenv("IMBREX_ACCESS");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (mode && strcmp(mode, "record") == 0)
        MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(values, 4, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(values, 4, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
"""


def test_runs_that_differ_are_said_to_where(mpi: Any, tmp_path: Path) -> None:
    (tmp_path / "app.c").write_text(DIVERGING)
    words = ("cc", f"--compiler={mpi.mpicc}", "-g", "app.c", "-o", "app")
    assert imbrex(tmp_path, *words).returncode == 0
    done = imbrex(tmp_path, "run", "--record", "-o", "run", "--", mpi.mpirun, "-n", "2", "./app")
    # The program ran well; only its recording is missing.
    assert done.returncode == 0
    said = "the two runs differ from MPI call 1 on: the plain program came to MPI_Send, "
    assert said + "the recorded one to MPI_Allreduce at app.c:13" in done.stderr
    assert not (tmp_path / "run" / "recording").exists()
    shown = imbrex(tmp_path, "predict", "run", "-n", "GigE")
    assert "not recorded: rank 0: the two runs differ" in shown.stdout
