"""What is said of code that was not recorded."""

from __future__ import annotations

from typing import Any

from imbrex.profile.blind_lines import blind_lines
from imbrex.recorder.blind_spots import is_blind


def send(**fields: Any) -> dict[str, Any]:
    return {"kind": "send", "operation": "MPI_Send", "site": "app.c:7", "tag": 1, **fields}


def said(*messages: dict[str, Any], **document: Any) -> list[str]:
    ranks = [{"messages": list(messages), "collectives": []}]
    return list(blind_lines({"not_recorded": [], "ranks": ranks, **document}))


def test_nothing_is_said_of_what_was_seen() -> None:
    assert said(send(written_unseen=0, touched_by=[])) == []
    assert said(send()) == []


def test_libraries_are_named_with_the_calls_that_led_into_them() -> None:
    touch = {"library": "/usr/lib/libblas.so.3", "function": "dscal_", "samples": 3}
    message = send(touched_by=[{**touch, "call": "app.c:5"}])
    # Once, however many ranks and messages say the same.
    lines = said(message, message, not_recorded=["/usr/lib/libblas.so.3"])
    assert lines == [
        "not recorded, so what they read and write was not seen: libblas.so.3",
        "libblas.so.3 (dscal_), called at app.c:5, wrote the message of MPI_Send at app.c:7",
    ]
    (line,) = said({**send(touched_by=[{**touch, "call": None}]), "kind": "receive"})
    assert line == "libblas.so.3 (dscal_), read the message of MPI_Send at app.c:7"


def test_elements_that_changed_unseen_are_added_up() -> None:
    (line,) = said(send(written_unseen=4), send(written_unseen=3))
    assert line.startswith("app.c:7: 7 elements sent had been written by what is not recorded")


def test_messages_that_were_left_out_are_counted() -> None:
    ranks = [{"messages": [], "collectives": [], "dropped": n} for n in (2, 0, 3)]
    (line,) = blind_lines({"not_recorded": [], "ranks": ranks})
    assert line.startswith("5 messages were not recorded")


def test_only_the_call_sites_with_most_are_listed() -> None:
    lines = said(*(send(site=f"app.c:{n}", written_unseen=n) for n in range(1, 8)))
    assert [line.split(":")[1] for line in lines[:4]] == ["7", "6", "5", "4"]
    assert lines[4] == "3 more call sites: 6 such elements (`written_unseen` of each)"
    assert len(lines) == 5


def test_what_comes_with_mpi_is_no_blind_spot() -> None:
    names = ("libmpi_mpifh.so.40", "libopen-pal.so.40", "libhwloc.so.15", "libevent_core-2.1.so.7")
    assert [is_blind(f"/nowhere/{name}") for name in names] == [False] * 4
    assert is_blind("/nowhere/libsolver.so")
