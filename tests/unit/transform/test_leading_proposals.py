"""Proposals that lead to others are looked at together: each attempt reads the whole program."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform import engine
from imbrex.transform.options import Options

FUNCTION = """\
double sum{k}(const double *u, int n) {{
    double local = {k}, global;
    for (int i = 0; i < n; i++) local += u[i] * u[i];
    MPI_Allreduce(&local, &global, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return global;
}}
"""
MAIN = """\
int main(int argc, char **argv) {{
    double u[64], x[64];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 64; i++) {{ u[i] = i; x[i] = 1.0 / (i + 1); }}
{uses}
    MPI_Finalize();
    return 0;
}}
"""
WORK = "    for (int i = 0; i < 64; i++) x[i] = 0.5 * x[i] + 0.25;\n"


def _attempts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that grows with each attempt to rewrite the communication of a text."""
    made: list[int] = []
    plain = engine._communication

    def counted(*given: engine.Any) -> engine.Outcome:
        made.append(1)
        return plain(*given)

    monkeypatch.setattr(engine, "_communication", counted)
    return made


def _source(functions: int, uses: list[str]) -> str:
    parts = ["#include <mpi.h>\n#include <stdio.h>\n"]
    parts += [FUNCTION.format(k=k) for k in range(functions)]
    return "".join(parts) + MAIN.format(uses="".join(uses).rstrip())


def test_functions_from_which_nothing_is_to_be_gained_are_left_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _attempts(monkeypatch)
    path = tmp_path / "sums.c"
    path.write_text(_source(9, [f'    printf("%g\\n", sum{k}(u, 64));\n' for k in range(9)]))
    outcome = engine.transform([path], Options(reassociation=True))
    assert outcome.after == outcome.before
    assert len(made) == 1


def test_why_the_function_behind_stays_is_told(tmp_path: Path) -> None:
    path = tmp_path / "sums.c"
    path.write_text(_source(1, [WORK, "    x[1] = sum0(u, 64);\n    x[2] = x[1];\n"]))
    outcome = engine.transform([path], Options())
    assert outcome.after == outcome.before
    (decision,) = outcome.decisions
    assert decision.barred is not None
    assert "--allow-reassociation" in decision.barred.text
    assert decision.barred.location.line == 6


def test_the_one_among_them_that_gains_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _attempts(monkeypatch)
    uses = [f'    printf("%g\\n", sum{k}(u, 64));\n' for k in range(8)]
    uses += [WORK, '    printf("%g\\n", sum8(u, 64) + x[0]);\n']
    path = tmp_path / "sums.c"
    path.write_text(_source(9, uses))
    outcome = engine.transform([path], Options(reassociation=True))
    (text,) = outcome.after.values()
    assert b"sum8_start(u, 64, &imbrex_sum8_value" in text
    assert text.count(b"_start(") == 2
    assert len(made) < 9
