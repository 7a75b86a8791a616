"""What MPI_THREAD_MULTIPLE adds to a call, from the rows of two starts of the probes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from imbrex.network.columns import Measurement
from imbrex.network.profile import CallPrice
from imbrex.network.thread_price import price, thread_price

PLAIN = ["0", "25.0", "22.0", "60.0"]


def test_the_difference_of_two_levels_by_kind_of_call() -> None:
    found = price([PLAIN], [["1", "45.0", "49.0", "110.0"]])
    assert found is not None
    assert (found.lowest_s, found.highest_s) == pytest.approx((20e-9, 27e-9))
    assert found.sendrecv_s == pytest.approx(50e-9)
    assert price([PLAIN], [["1", "24.0", "23.0", "59.0"]]) == CallPrice(
        0.0, pytest.approx(1e-9), 0.0
    )


@pytest.mark.parametrize(
    ("plain", "multiple"),
    [
        ([], [["1", "45.0", "49.0", "110.0"]]),
        ([PLAIN], []),
        ([PLAIN[:3]], [["1", "45.0", "49.0"]]),  # of another version of the probes
        ([PLAIN], [["0", "25.0", "22.0", "60.0"]]),  # a library that grants no such level
        (
            [["1", "45.0", "49.0", "110.0"]],
            [["1", "45.0", "49.0", "110.0"]],
        ),  # one that always has it
    ],
)
def test_what_is_not_known(plain: list[list[str]], multiple: list[list[str]]) -> None:
    assert price(plain, multiple) is None


@pytest.fixture
def probes(tmp_path: Path) -> Callable[[str], Path]:
    def make(prints: str) -> Path:
        script = tmp_path / "imbrex-probes"
        script.write_text(f'#!/bin/sh\necho "$@" >{tmp_path}/words\n{prints}\n')
        script.chmod(0o755)
        return script

    return make


def test_the_probes_are_started_once_more(probes: Callable[[str], Path], tmp_path: Path) -> None:
    script = probes("printf '# imbrex-probes 1\\n# ranks 2\\ncalls 1 45.0 49.0 110.0\\n# end\\n'")
    measured = Measurement(other={"calls": [PLAIN]})
    assert thread_price(measured, list, script, {}) == CallPrice(
        pytest.approx(20e-9), pytest.approx(27e-9), pytest.approx(50e-9)
    )
    assert (tmp_path / "words").read_text().startswith("--multiple --experiments calls ")


def test_probes_that_fail_leave_it_unknown(probes: Callable[[str], Path]) -> None:
    measured = Measurement(other={"calls": [PLAIN]})
    assert thread_price(measured, list, probes("exit 3"), {}) is None
    assert thread_price(Measurement(), list, probes("exit 3"), {}) is None
