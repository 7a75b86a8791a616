"""Which differences of two outputs are other results, and which are times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from imbrex.tune.results import comparable, difference, may_be_chance
from imbrex.tune.times_in_output import TIME, without_times

LAMMPS = """Created 32000 atoms
  create_atoms CPU = {cpu} seconds
Step Temp E_pair
       0         1.44   -6.7733681
      50   0.74009346   {energy}
Loop time of {loop} on 2 procs for 50 steps with 32000 atoms
{use}% CPU use with 2 MPI tasks x 1 OpenMP threads
Section |  min time  |  avg time  |  max time  |%varavg| %total
---------------------------------------------------------------
Pair    | 0.6075     | 0.68524    | 0.76297    |   {vary} | 27.10
Other   |            | 0.002702   |            |       |  {other}
Nlocal:        16000.0 ave       16009 max       15991 min
Total wall time: 0:00:0{wall}
"""
SAME = {"cpu": 0.003, "energy": -5.73, "loop": 1.25, "use": 96.1, "vary": 0.5, "other": 0.11}
"""What all runs of the program as it is print alike by chance."""
OTHER = {"cpu": 0.002, "energy": -5.73, "loop": 1.25, "use": 95.2, "vary": 0.4, "other": 0.12}


@pytest.mark.parametrize(
    ("baselines", "found"),
    [
        (("2.784", "3.911"), "0.984"),
        (("12.34", "12.51"), "9.98"),
        (("0.984", "0.991"), "1.032"),
        (("0.984", "1.041"), "1.032"),
    ],
)
def test_a_time_that_passes_a_power_of_ten_is_no_result(
    baselines: tuple[str, ...], found: str
) -> None:
    """It has three digits on one side, which may be alike by chance, and four on the other."""
    line = "norm 3.527493336511e-01 time {} s\n"
    table = "step  residual  time [s]\n 1  3.527493336511e-01  {}\n"
    for text in (line, line + table) if len(found) < len(baselines[0]) else (line,):
        known = [text.format(time, time) for time in baselines]
        assert difference(known, text.format(found, found)) is None
        wrong = text.format(found, found).replace("3.527493336511", "3.527493336521")
        assert difference(known, wrong) is not None


def test_times_that_agree_by_chance_are_no_results() -> None:
    base = [LAMMPS.format(**SAME, wall=2)] * 4
    assert comparable(base)
    assert difference(base, LAMMPS.format(**OTHER, wall=1)) is None
    wrong = difference(base, LAMMPS.format(**{**OTHER, "energy": -5.74}, wall=1))
    assert str(wrong) == "line 5 of its output has '-5.74', not '-5.73'"


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("create_atoms CPU = 0.001 seconds", 3),
        ("Total wall time: 0:00:03", 3),
        ("Time in seconds = 0.12", 4),
        ("elapsed time (s): 1.2", 3),
        ("wall-clock time = 12", 3),
        ("time: 0.3 s, residual 0.003", 1),
        ("solve took 12 ms", 2),
        ("rank 3 is ready in 0.12 s", 5),
        ("t_solve=0.5s elapsed=0.7", 1),
        ("finished at 12:04", 2),
        ("Started on Tue Nov 24 18:40 2026", 5),
        ("rate 12.5 GFlop/s", 1),
        ("bandwidth: 94 MB/s", 1),
        ("16.5% CPU use", 0),
        ("time per step 0.003 s", 3),
    ],
)
def test_what_is_a_time(line: str, place: int) -> None:
    words = line.split()
    assert without_times([words]) == [[*words[:place], TIME, *words[place + 1 :]]]


@pytest.mark.parametrize(
    "line",
    [
        "result 42",
        "residual = 3e-05",
        "time 0.5 energy 0.3",
        "final time 0.5 s",
        "simulated time: 3 s",
        "time step = 0.005 s",
        "half-life 3.1 s",
        "decay time = 0.2 s",
        "velocity 3.2 m/s",
        "flux at the wall = 0.31",
        "took 12 iterations",
        "on 2 procs in 3 sweeps",
        "ratio 3:12",
        "time: 0.50133 s",
        "CPU time saved: -0.1",
        "period 3 s",
    ],
)
def test_what_is_none(line: str) -> None:
    assert without_times([line.split()]) == [line.split()]
    changed = line.replace("3", "4").replace("2", "3").replace("5", "6").replace("1", "2")
    assert difference([line] * 4, changed) is not None


def test_columns_below_a_head_of_times() -> None:
    table = ["Routine calls time(s)", "solve 12 0.31", "other 7 0.02"]
    shown = without_times([line.split() for line in table])
    assert shown[1:] == [["solve", "12", TIME], ["other", "7", TIME]]
    # A time of the model has no unit in its head, and the columns beside it are results.
    table = ["step time energy", "1 0.1 3.5", "2 0.2 3.4"]
    assert without_times([line.split() for line in table]) == [line.split() for line in table]


def test_a_number_of_few_digits_may_be_chance() -> None:
    few = difference(["x 0.003", "x 0.003"], "x 0.002")
    many = difference(["x 0.0031234", "x 0.0031234"], "x 0.0031235")
    assert few is not None and may_be_chance(few)
    assert many is not None and not may_be_chance(many)
    verdict = difference(["right", "right"], "wrong")
    assert verdict is not None and not may_be_chance(verdict)


def test_last_digits_may_differ_and_no_others() -> None:
    """Sums in another order: the runs of the program as it is say by how much."""
    base = ["sum 3.628262611 of 8\n", "sum 3.628262613 of 8\n", "sum 3.628262612 of 8\n"]
    assert difference(base, "sum 3.628262615 of 8\n") is None
    assert difference(base, "sum 3.628263 of 8\n") is not None
    assert difference(base, "sum 9.9 of 8\n") is not None
    assert difference(base, "sum nan of 8\n") is not None
    assert difference(base, "of 8\n") is not None


def test_what_has_no_number_any_more_differs() -> None:
    base = ["residual 3.1e-16", "residual 2.4e-16"]
    assert difference(base, "residual 9.9e-17") is None
    assert difference(base, "residual nan") is not None
    assert difference(base, "residual") is not None


@given(
    st.lists(
        st.sampled_from(["energy {}", "x = {} and y = {}", "step {} temp {} press {}", "{}"]),
        min_size=1,
        max_size=6,
    ),
    st.data(),
)
def test_no_result_without_a_label_is_ever_taken_for_a_time(
    lines: list[str], data: st.DataObject
) -> None:
    def filled(number: float) -> str:
        return "\n".join(line.replace("{}", f"{number:g}") for line in lines)

    one = data.draw(st.integers(0, 999)) / 100
    other = data.draw(st.integers(0, 999).filter(lambda n: n / 100 != one)) / 100
    assert difference([filled(one)] * 4, filled(one)) is None
    assert difference([filled(one)] * 4, filled(other)) is not None
