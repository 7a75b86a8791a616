"""What `imbrex compare` says where one run of each leaves open whether it helped."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

from imbrex.cli import cli
from imbrex.diagnosis.account import take_account
from imbrex.diagnosis.difference import Difference, differences
from imbrex.profile.format import Ended
from imbrex.profile.progress import Progress
from imbrex.profile.run import load_run
from imbrex.report.compare import print_comparison

OLD, NEW = ["mpirun", "-n", "2", "./wave"], ["mpirun", "-n", "2", "./wave 2"]
TRIAL = "imbrex compare --repeat 20 -- "


def ranks_with(run, **columns):
    """The same run with other columns of ranks.npy."""
    ranks = np.load(run.directory / "ranks.npy")
    for name, values in columns.items():
        ranks[name] = values
    np.save(run.directory / "ranks.npy", ranks)
    return load_run(run.directory)


def compared(before, after):
    return Difference(take_account(before), take_account(after))


@pytest.fixture
def pair(make_caused, call):
    """Two runs of 1 s whose lines differ."""
    rows = call("MPI_Recv", 4, 400, late_sender=400)
    return (
        make_caused(rows, compute_ms=(600, 600), command=OLD),
        make_caused(rows, compute_ms=(600, 600), name="after", command=NEW),
    )


@pytest.mark.parametrize(
    ("wall_ms", "between"),
    [
        (1030, "2 % faster and 8 % slower"),
        (970, "8 % faster and 2 % slower"),
        (1000, "5 % faster and 5 % slower"),
    ],
)
def test_what_the_noise_leaves_open_is_said_with_the_trial_that_decides_it(pair, wall_ms, between):
    before, after = pair
    difference = compared(before, ranks_with(after, wall_ns=wall_ms * 10**6))
    assert difference.answer == "open"
    assert f": the second is between {between}." in difference.sentence
    assert difference.advice.command == (TRIAL + "mpirun -n 2 ./wave --- mpirun -n 2 './wave 2'")


def test_an_answer_needs_no_trial(pair):
    before, after = pair
    for wall_ms, answer in ((900, "faster"), (1100, "slower")):
        difference = compared(before, ranks_with(after, wall_ns=wall_ms * 10**6))
        assert (difference.answer, difference.advice) == (answer, None)
        assert difference.sentence.startswith(f"10 % {answer}: 1 s before, ")


def test_runs_whose_computation_differs(pair):
    """Twice the computation: nothing bounds the change, and the sentence says what differs."""
    before, after = pair
    difference = compared(before, ranks_with(after, compute_ns=1_200_000_000))
    assert difference.sentence.startswith(
        "One run of each cannot tell whether it helped: 1 s and 1 s differ by 0 %, and what the "
        "ranks computed, which a rewrite leaves as it is, by 100 %. "
    )


def test_one_line_of_both_leaves_the_first_to_be_written(pair):
    before, after = pair
    after = replace(after, job=replace(after.job, command=tuple(OLD)))
    advice = compared(before, after).advice
    assert advice.command == TRIAL + "LINE_A --- mpirun -n 2 ./wave"
    assert "in place of LINE_A write that of the program as it was before" in advice.text


def test_the_helper_thread_comes_into_the_second_line(pair):
    before, after = pair
    progress = Progress(2, 1e-3, 0.03, 9, 3, 1e-3, 1e-3)
    after = replace(after, job=replace(after.job, command=tuple(OLD), progress=progress))
    assert compared(before, after).advice.command == (
        TRIAL + "mpirun -n 2 ./wave --- mpirun -n 2 imbrex-exec --progress ./wave"
    )


@pytest.mark.parametrize("broken", [0, 1])
def test_a_run_that_died_is_not_faster(pair, broken):
    runs = list(pair)
    runs[broken] = ranks_with(
        runs[broken], wall_ns=100_000_000, ended=[Ended.FINALIZED, Ended.DIED]
    )
    difference = compared(*runs)
    assert difference.answer == "open"
    name = ("before", "after")[broken]
    assert difference.sentence == (
        "These runs do not tell whether it helped: the runs ended differently: "
        f"{name}, rank 1 died (a signal, _exit, or killed)."
    )
    line = ("mpirun -n 2 ./wave", "mpirun -n 2 './wave 2'")[broken]
    assert difference.advice.command == f"imbrex run -- {line}"
    assert difference.advice.text.startswith(f"Measure the {('first', 'second')[broken]} run")


def test_runs_that_ended_alike_are_compared(pair):
    """Some programs never call MPI_Finalize."""
    before, after = (ranks_with(run, ended=Ended.EXITED) for run in pair)
    assert compared(before, ranks_with(after, wall_ns=500_000_000)).answer == "faster"


def test_exit_codes_and_run_times_that_do_not_compare(pair):
    before, after = pair
    failed = replace(after, job=replace(after.job, exit_code=3))
    before = replace(before, job=replace(before.job, exit_code=0))
    difference = compared(before, failed)
    assert difference.sentence.endswith("the program exited with 0 before and with 3 after.")
    assert difference.advice.text.startswith("Measure the second run again")
    empty = ranks_with(after, wall_ns=0, ended=Ended.MISSING)
    assert compared(empty, before).sentence.endswith("the run before has no run time.")
    assert compared(empty, before).advice.text.startswith("Measure the first run again")


def test_the_screen_and_the_json_have_the_command(pair):
    before, after = pair
    stream = io.StringIO()
    print_comparison(compared(before, after), Console(width=200, file=stream, highlight=False))
    lines = stream.getvalue().splitlines()
    command = TRIAL + "mpirun -n 2 ./wave --- mpirun -n 2 './wave 2'"
    assert f"   $ {command}" in lines
    assert max(len(text) for text in lines if "$" not in text) <= 100
    words = ["compare", str(before.directory), str(after.directory), "--json"]
    found = json.loads(CliRunner().invoke(cli, words, catch_exceptions=False).stdout)
    assert (found["answer"], found["command"]) == ("open", command)


def test_runs_without_a_call_site_in_common_are_told_apart(pair):
    before, after = pair
    sites = [replace(site, file="/src/other.f90", function="other") for site in after.sites]
    stranger = replace(after, sites=tuple(sites))
    told = "no call site is in both runs: if they are of two programs, "
    for second, lines in ((after, 0), (stranger, 1)):
        found = differences(before, second, compared(before, second).pairs)
        assert sum(line.startswith(told) for line in found) == lines
