"""Orders, periods and corrected times of one message; matching sends and receives; bad folders."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from imbrex.errors import ImbrexError
from imbrex.model.model_file import load_model
from imbrex.recorder.documents import matching_receive, model_toml, sites_json, worst_rank
from imbrex.recorder.rank_record import (
    RankRecord,
    Recorded,
    correct_times,
    read_ranks,
    without_copying,
)


def message(
    is_send: bool, times: list[float], rank: int = 0, peer: int = 1, tag: int = 0, calls: int = 11
) -> Recorded:
    """A message whose counted times are its times; NaN: never seen."""
    values = np.array(times)
    return Recorded(
        rank=rank,
        is_send=is_send,
        peer=peer,
        tag=tag,
        image="app",
        offset=16,
        element_bytes=8,
        calls=calls,
        first_ns=0.0,
        last_ns=1e6,
        accesses=values,
        counted_ns=values,
        time_ns=values,
        spread_ns=np.zeros(values.size),
        seen=np.where(np.isnan(values), 0, 5).astype(np.uint32),
        samples=0,
    )


def rank_of(*messages: Recorded) -> RankRecord:
    return RankRecord(messages[0].rank, 1e6, 100, 0, True, messages)


NAN = float("nan")


def test_the_last_write_before_the_send_is_the_last_position() -> None:
    send = message(True, [10.0, 40.0, 20.0, 30.0])
    assert send.order.tolist() == [3, 0, 2, 1]
    assert (send.beside_ns, send.period_ns) == (10.0, 10.0)


def test_the_first_read_after_the_arrival_is_the_first_position() -> None:
    receive = message(False, [7.0, 5.0, 9.0])
    assert receive.order.tolist() == [1, 0, 2]
    assert (receive.beside_ns, receive.period_ns) == (5.0, 2.0)


def test_unknown_elements_come_first_in_production_and_last_in_consumption() -> None:
    assert message(True, [1.0, NAN, 2.0]).order.tolist() == [2, 0, 1]
    assert message(False, [2.0, NAN, 1.0]).order.tolist() == [1, 2, 0]
    nothing = message(False, [NAN, NAN])
    assert nothing.order.tolist() == [0, 1]
    assert (nothing.beside_ns, nothing.period_ns) == (0.0, 0.0)


def corrected(counted: list[float], places: list[float], times: list[float]) -> list[float]:
    result = correct_times(np.array(counted), np.array(places), np.array(times))
    return list(result.tolist())


def test_without_measured_times_the_counted_ones_stay() -> None:
    assert corrected([1.0, 2.0], [], []) == [1.0, 2.0]


def test_one_measured_time_shifts_all() -> None:
    assert corrected([10.0, 12.0], [10.0], [4.0]) == [4.0, 6.0]
    assert corrected([1.0, 12.0], [10.0], [4.0]) == [0.0, 6.0]  # nothing lies behind the send


def test_between_two_measured_times_the_map_is_linear() -> None:
    assert corrected([0.0, 10.0, 15.0, 20.0, 25.0], [10.0, 20.0], [100.0, 300.0]) == [
        *(0.0, 100.0, 200.0, 300.0, 400.0),
    ]


def test_noise_never_turns_the_order_round() -> None:
    """Two times that contradict the order of accesses are both their mean."""
    assert corrected([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [10.0, 40.0, 20.0]) == [10.0, 30.0, 30.0]


def test_equal_places_take_the_mean_of_their_times() -> None:
    assert corrected([5.0, 6.0], [5.0, 5.0, 6.0], [1.0, 3.0, 4.0]) == [2.0, 4.0]


def test_unseen_elements_stay_unknown() -> None:
    assert np.isnan(corrected([1.0, NAN, 3.0], [1.0, 3.0], [2.0, 4.0])[1])


def test_a_receive_matches_by_peer_tag_and_size() -> None:
    send = message(True, [1.0, 2.0], rank=0, peer=1, tag=4)
    wrong_tag = message(False, [1.0, 2.0], rank=1, peer=0, tag=5)
    wrong_size = message(False, [1.0, 2.0, 3.0], rank=1, peer=0, tag=4)
    wrong_peer = message(False, [1.0, 2.0], rank=1, peer=2, tag=4)
    right = message(False, [1.0, 2.0], rank=1, peer=-1, tag=4)
    ranks = {1: rank_of(wrong_tag, wrong_size, wrong_peer, right)}
    assert matching_receive(send, ranks) is right
    assert matching_receive(send, {1: rank_of(wrong_tag, wrong_size, wrong_peer)}) is None
    assert matching_receive(send, {}) is None


def test_the_worst_rank_sends_most() -> None:
    few = rank_of(message(True, [1.0, 2.0], rank=0))
    many = rank_of(message(True, [1.0, 2.0, 3.0], rank=1, peer=0))
    assert worst_rank([few, many]) is many


def test_the_model_has_the_numbers_of_both_sides(tmp_path: Path) -> None:
    send = message(True, [500.0, 700.0, 600.0], rank=0, peer=1)
    receive = message(False, [300.0, 350.0, 400.0], rank=1, peer=0)
    text = model_toml("app", [rank_of(send), rank_of(receive)], {("app", 16): "app.c:3"})
    file = tmp_path / "model.toml"
    file.write_text(text)
    program = load_model(file).programs[0]
    # 1 ms passed between the first and the last of eleven sends: 100 us each.
    assert program.computation_s == pytest.approx(100e-6)
    (got,) = program.messages
    assert got.produced_at.tolist() == [2, 0, 1]
    assert got.consumed_at.tolist() == [0, 1, 2]
    assert got.t_produce_s == pytest.approx(100e-9)
    assert got.t_consume_s == pytest.approx(50e-9)
    assert got.independent.after_produce_s == pytest.approx(500e-9)
    assert got.independent.before_consume_s == pytest.approx(300e-9)
    # t(i) = T_AP + T_AC + T_P (N_P - P(i) - 1) + T_C C(i)
    expected = [0.8 + 0.0 + 0.0, 0.8 + 0.2 + 0.05, 0.8 + 0.1 + 0.1]
    assert got.element_potential_s("fine-grained") * 1e6 == pytest.approx(expected)


def test_times_of_a_call_site_over_ranks() -> None:
    """T_P is 10 and 30 ns, T_AP 100 and 200; a rank that saw nothing has no times."""
    ranks = [
        rank_of(message(True, [100.0, 110.0], rank=0)),
        rank_of(message(True, [200.0, 230.0], rank=1)),
        rank_of(message(True, [NAN, NAN], rank=2), message(False, [5.0, 6.0], rank=2)),
    ]
    sent, received = sites_json(ranks, {("app", 16): "app.c:3"})
    assert (sent["site"], sent["kind"], sent["ranks"], sent["messages"]) == (
        "app.c:3",
        "send",
        2,
        2,
    )
    assert sent["t_produce_s"] == pytest.approx({"least": 10e-9, "mean": 20e-9, "most": 30e-9})
    assert sent["after_produce_s"] == pytest.approx({"least": 1e-7, "mean": 1.5e-7, "most": 2e-7})
    assert (received["kind"], received["ranks"]) == ("receive", 1)
    assert received["t_consume_s"] == pytest.approx({"least": 1e-9, "mean": 1e-9, "most": 1e-9})


def test_a_send_without_receive_is_nothing_to_predict() -> None:
    assert model_toml("app", [rank_of(message(True, [1.0]))], {("app", 16): "app.c:3"}) is None


def left(folder: Path, **changes: object) -> None:
    """The files of a rank without messages."""
    document = {"rank": 0, "compute_ns": 1.0, "accesses": 9, "dropped": 0, "diverged_at": -1}
    document |= {"watchpoints": False, "messages": []} | changes
    (folder / "access.0.json").write_text(json.dumps(document))
    (folder / "anchors.0.json").write_text(json.dumps({"watchpoints": True, "messages": []}))
    (folder / "elements.0.bin").write_bytes(b"")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"accesses": 0}, "not built with imbrex cc"),
        ({"diverged_at": 6}, "differ from MPI call 7 on"),
        ({"messages": [{"elements": 3}]}, "not complete"),
    ],
)
def test_bad_recordings_are_named(tmp_path: Path, changes: dict[str, object], reason: str) -> None:
    left(tmp_path, **changes)
    with pytest.raises(ImbrexError, match=reason):
        read_ranks(tmp_path)


def test_a_folder_without_recording_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImbrexError, match="nothing was recorded"):
        read_ranks(tmp_path)
    left(tmp_path)
    assert read_ranks(tmp_path)[0].messages == ()
    (tmp_path / "access.0.json").write_text("{")
    with pytest.raises(ImbrexError, match="damaged"):
        read_ranks(tmp_path)


def test_packing_is_no_work_that_could_hide_the_message() -> None:
    # Written 10 ns apart, the last one 12 ns before the send; packed in a loop of 3 ns each.
    written, packed = np.array([42.0, 32.0, 22.0, 12.0]), np.array([9.0, 6.0, 3.0, 0.0])
    # The last leaves when all are packed; behind the first, three others are packed in any case.
    assert without_copying(written, packed).tolist() == [39.0, 26.0, 13.0, 0.0]
    # Packed where they are written: nothing to save but the copy itself.
    net_times = without_copying(
        np.array([31.0, 21.0, 11.0, 1.0]), np.array([30.0, 20.0, 10.0, 0.0])
    )
    assert net_times.tolist() == [21.0, 11.0, 1.0, 0.0]


def test_other_work_between_packing_and_the_send_stays() -> None:
    written, packed = np.array([120.0, NAN, 110.0]), np.array([104.0, 102.0, 100.0])
    times = without_copying(written, packed)
    assert times[[0, 2]].tolist() == [116.0, 104.0]
    assert np.isnan(times[1])


def test_unpacking_is_no_work_that_could_hide_the_message() -> None:
    # Unpacked forwards from 2 ns on, 2 ns each; read backwards from 20 ns on.
    read, unpacked = np.array([26.0, 23.0, 20.0]), np.array([2.0, 4.0, 6.0])
    assert without_copying(read, unpacked).tolist() == [24.0, 19.0, 14.0]
    assert without_copying(read, np.array([2.0, NAN, NAN])).tolist() == read.tolist()
