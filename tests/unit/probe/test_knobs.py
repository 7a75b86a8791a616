"""Which settings are tried, and how before and after are told."""

from __future__ import annotations

from imbrex.probe.knobs import knobs_for, overlaps_up_to
from imbrex.probe.ranges import Range
from imbrex.probe.transfer_class import Moved


def test_progress_thread_is_tried_over_tcp_only_and_not_twice() -> None:
    def names(settings: dict[str, str]) -> set[str]:
        return {name for knob in knobs_for("Open MPI", settings) for name in knob.variables}

    thread = "OMPI_MCA_btl_tcp_progress_thread"
    assert thread in names({"OMPI_MCA_btl": "tcp,self"})
    assert thread not in names({"OMPI_MCA_btl": "vader,self"})
    assert thread not in names({"OMPI_MCA_btl": "tcp,self", thread: "1"})
    vader = "OMPI_MCA_btl_vader_eager_limit"
    assert vader in names({}) and vader not in names({"OMPI_MCA_btl": "tcp,self"})
    assert not any(n.startswith("OMPI") for k in knobs_for("MPICH", {}) for n in k.variables)


def test_line_to_export() -> None:
    knob = knobs_for("MPICH", {})[0]
    assert knob.export == "export MPIR_CVAR_ASYNC_PROGRESS=1"


def made(*verdicts: tuple[int | None, bool | None]) -> list[Range]:
    ranges = []
    begin = 1
    for end, synchronization in verdicts:
        ranges.append(
            Range(begin, end, begin, synchronization, "unknown", Moved(None, None, None), 1)
        )
        begin = (end or 0) + 1
    return ranges


def test_size_up_to_which_everything_overlaps() -> None:
    assert overlaps_up_to(made((None, True))) is None
    assert overlaps_up_to(made((None, False))) == 0
    assert overlaps_up_to(made((100, True), (None, False))) == 100
    assert overlaps_up_to(made((100, True), (200, True), (None, None))) == 200
