"""Cases worked out by hand, each from one rule of docs/theory/measuring.md.

The table: on path 2 (intra-node) a message of 1000 bytes takes between 800 and 1000 ns, its tail is
300 ns and its head 100 ns; on path 3 neither is known.
"""

from __future__ import annotations

from typing import Any

import pytest

TABLE = (
    "imbrex-table 1;path intra-node;point 1000 800 1000 300 100;"
    "path inter-node;point 1000 800 1000 -1 -1;"
    "collective MPI_Allreduce 2 any intra-node;point 8 0 600 -1 -1;"
    "collective MPI_Bcast 2 root intra-node;point 8 0 700 -1 -1;end"
)
SEND, RECV, ISEND, IRECV, WAIT, ALLREDUCE, BCAST = range(1, 8)
NAMES = [
    "count", "transfers", "bytes", "transfer_min", "transfer_max", "overlap_min", "overlap_max",
    "exposed_min", "exposed_max", "call", "wait_min", "wait_max", "undetermined", "contradicted",
    "uncalibrated", "unknown_end",
]  # fmt: skip
SECTION = 2


def message(size: int = 1000, path: int = 2, slack: int = 0, flags: int = 0) -> str:
    return f"{size} {path} {slack} {flags} 0 0 0"


def collective(operation: int, ranks: int = 2, role: int = 0) -> str:
    return f"8 2 3 2 {role} {ranks} {operation}"


def call(operation: int, before: str, ns: int, thread: int = 0) -> list[str]:
    """A call of `ns` with the commands `before` (joined by |) at its end; site = operation."""
    inner = [f"{thread} {c}" for c in before.split("|") if c]
    return [
        f"{thread} enter {operation} {operation}",
        f"0 advance {ns}",
        *inner,
        f"{thread} leave",
    ]


class Result:
    def __init__(self, output: list[str]) -> None:
        self.rows: list[tuple[list[str], dict[str, int]]] = []
        self.rank: list[int] = []
        for line in output:
            kind, *rest = line.split(" ")
            if kind == "row":
                values = dict(zip(NAMES, map(int, rest[6:]), strict=True))
                self.rows.append((rest[:6], values))
            elif kind == "rank":
                self.rank = list(map(int, rest))

    def of(self, operation: int) -> dict[str, int]:
        """The sum of the rows of an operation."""
        found = [v for k, v in self.rows if int(k[1]) == operation]
        return {n: sum(v[n] for v in found) for n in NAMES}


@pytest.fixture
def run(driver: Any) -> Any:
    def run(*parts: list[str] | str, limits: str = "0 0 0 0 0 0 0", threading: int = 1) -> Result:
        lines = [f"table {TABLE}", f"limits {limits}", f"threading {threading}", "part ", "init"]
        for part in parts:
            lines += [part] if isinstance(part, str) else part
        return Result(driver.run([*lines, "stop", "dump"]))

    return run


def bounds(row: dict[str, int]) -> tuple[int, int, int, int]:
    return row["overlap_min"], row["overlap_max"], row["exposed_min"], row["exposed_max"]


def test_both_ends_in_one_call_hide_nothing(run: Any) -> None:
    row = run(call(SEND, f"blocking {message()}", 5000)).of(SEND)
    assert bounds(row) == (0, 0, 800, 1000)
    assert (row["wait_min"], row["wait_max"]) == (4000, 4200)


@pytest.mark.parametrize("threading", [0, 1, 2])
def test_both_ends_in_one_call_hide_nothing_however_often(run: Any, threading: int) -> None:
    """The runtime knows more of what a site began before; the second and third time differ."""
    each = [*call(RECV, f"blocking {message()}", 5000), "0 advance 3000"]
    both = [*call(SEND, f"blocking {message()}|blocking {message(slack=1)}", 5000), "0 advance 9"]
    result = run(*4 * [each], *4 * [both], threading=threading)
    assert bounds(result.of(RECV)) == (0, 0, 4 * 800, 4 * 1000)
    assert bounds(result.of(SEND)) == (0, 4 * 300, 4 * (800 + 500), 4 * 2000)


def test_ends_in_two_calls_with_enough_computation(run: Any) -> None:
    result = run(
        call(ISEND, f"begin 7 {message()}", 100), "0 advance 5000", call(WAIT, "finish 7 -1 -1", 50)
    )
    assert bounds(result.of(ISEND)) == (650, 1000, 0, 150)
    assert result.of(WAIT)["transfers"] == 0
    assert result.of(WAIT)["wait_min"] == 0


def test_ends_in_two_calls_with_too_little_computation(run: Any) -> None:
    result = run(
        call(ISEND, f"begin 7 {message()}", 100),
        "0 advance 200",
        call(WAIT, "finish 7 -1 -1", 5000),
    )
    assert bounds(result.of(ISEND)) == (0, 200, 600, 1000)
    # of the 600 exposed for certain at most 100 were in MPI_Isend
    assert result.of(WAIT)["wait_max"] == 4500
    assert result.of(WAIT)["wait_min"] == 4000


def test_one_end_known_proves_nothing(run: Any) -> None:
    result = run(
        call(ISEND, f"begin 7 {message()}", 100), "0 advance 200", call(WAIT, "free 7", 10)
    )
    row = result.of(ISEND)
    assert bounds(row) == (0, 1000, 0, 1000)
    assert (row["unknown_end"], row["undetermined"]) == (1, 1)
    assert (row["transfer_min"], row["bytes"]) == (800, 1000)


def test_the_tail_of_a_send_is_slack_and_delays_the_wait(run: Any) -> None:
    result = run(
        call(SEND, f"blocking {message(slack=1)}", 400), "0 advance 100", call(WAIT, "", 1000)
    )
    # X_lo 800 into C 0 + N 400 + slack 300 does not go: contradicted
    row = result.of(SEND)
    assert bounds(row) == (0, 300, 0, 700)
    assert row["contradicted"] == 1
    # the tail ends 300 after the send, 200 of it in the next call
    assert result.of(WAIT)["wait_min"] == 800
    long = run(call(SEND, f"blocking {message(slack=1)}", 2000)).of(SEND)
    assert bounds(long) == (0, 300, 500, 1000)


def test_the_head_of_a_receive_is_slack_and_a_debt(run: Any) -> None:
    result = run(
        call(RECV, f"blocking {message(slack=2)}", 950), "0 advance 100", call(WAIT, "", 1000)
    )
    assert bounds(result.of(RECV)) == (0, 100, 700, 1000)
    # 950 of X_hi = 1000 were covered in the call itself: at most 50 came before
    assert result.of(WAIT)["wait_min"] == 950


def test_a_debt_that_no_later_call_pays_is_taken_back(run: Any) -> None:
    result = run(call(WAIT, "", 1000), call(RECV, f"blocking {message(slack=2)}", 10))
    assert result.of(WAIT)["wait_min"] == 900


@pytest.mark.parametrize("slack", [1, 2, 3])
def test_slack_that_nobody_measured_is_the_whole_transfer(run: Any, slack: int) -> None:
    row = run(call(SEND, f"blocking {message(path=3, slack=slack)}", 5000)).of(SEND)
    assert bounds(row) == (0, 1000, 0, 1000)
    assert row["undetermined"] == 1


def test_a_barrier_is_all_wait(run: Any) -> None:
    row = run(call(WAIT, "", 1234)).of(WAIT)
    assert (row["wait_min"], row["wait_max"], row["call"]) == (1234, 1234, 1234)


def test_collectives_are_undetermined_and_keyed_by_role_and_ranks(run: Any) -> None:
    row = run(call(ALLREDUCE, f"blocking {collective(ALLREDUCE)}", 5000)).of(ALLREDUCE)
    assert bounds(row) == (0, 600, 0, 600)
    # entered apart, two messages (in and out) of at most 1000 may come one after the other
    assert (row["wait_min"], row["wait_max"], row["undetermined"]) == (3000, 5000, 1)
    other = run(call(BCAST, f"blocking {collective(BCAST, role=2)}", 5000)).of(BCAST)
    assert (other["transfer_max"], other["uncalibrated"]) == (0, 1)
    more = run(call(ALLREDUCE, f"blocking {collective(ALLREDUCE, ranks=3)}", 5000)).of(ALLREDUCE)
    assert (more["transfer_max"], more["uncalibrated"], more["wait_min"]) == (0, 1, 0)


def test_a_receive_counts_what_came(run: Any) -> None:
    result = run(
        call(IRECV, f"begin 7 {message(1 << 20, 4, 2, 1)}", 10),
        "0 advance 5000",
        call(WAIT, "finish 7 1000 2", 40),
    )
    row = result.of(IRECV)
    assert (row["bytes"], row["transfers"], row["count"]) == (1000, 1, 1)
    assert bounds(row) == (650, 1000, 0, 150)


def test_a_send_keeps_its_size_whatever_the_status_says(run: Any) -> None:
    result = run(call(ISEND, f"begin 7 {message()}", 10), call(WAIT, "finish 7 99999 3", 40))
    assert result.of(ISEND)["bytes"] == 1000
    assert [k[4] for k, v in result.rows if v["transfers"]] == ["2"]


@pytest.mark.parametrize("arguments", ["0 2 0 0 0 0 0", "1000 0 0 0 0 0 0"])
def test_nothing_moves_for_zero_bytes_or_proc_null(run: Any, arguments: str) -> None:
    row = run(call(SEND, f"blocking {arguments}", 100)).of(SEND)
    assert (row["count"], row["transfers"], row["wait_min"]) == (1, 0, 100)


def test_shared_handles_end_at_their_begin(run: Any) -> None:
    inner = "|".join(f"begin 7 {message()}" for _ in range(6))
    row = run("0 shared 7", call(ISEND, inner, 5000)).of(ISEND)
    assert (row["transfers"], row["unknown_end"], row["undetermined"]) == (6, 0, 0)
    assert row["exposed_min"] == 6 * 800


def test_duplicates_end_first_in_first_out_with_all_slack(run: Any) -> None:
    result = run(
        call(ISEND, f"begin 7 {message()}", 2000),
        call(SEND, f"begin 7 {message(500)}", 2000),
        call(WAIT, "finish 7 -1 -1", 2000),
    )
    first, second = result.of(ISEND), result.of(SEND)
    assert bounds(first) == (0, 1000, 0, 1000)
    assert (first["undetermined"], first["unknown_end"]) == (1, 0)
    assert second["unknown_end"] == 1  # open at the end


def test_each_thread_completes_what_it_began(run: Any) -> None:
    """A send's handle is freed, and another thread receives with it before the send is seen to be
    over: the size in a send's status is anything."""
    result = run(
        call(ISEND, f"begin 7 {message()}", 100),
        call(IRECV, f"begin 7 {message(900, flags=1)}", 100, thread=1),
        call(WAIT, "finish 7 500 -1", 100, thread=1),
        call(WAIT, f"finish 7 {1 << 60} -1", 100),
        threading=2,
    )
    sent, received = result.of(ISEND), result.of(IRECV)
    assert (sent["transfers"], sent["bytes"], sent["undetermined"]) == (1, 1000, 1)
    assert (received["transfers"], received["bytes"], received["undetermined"]) == (1, 500, 1)
    assert sent["unknown_end"] == received["unknown_end"] == 0


def test_a_size_beyond_what_was_posted_is_that_of_another_with_the_handle(run: Any) -> None:
    result = run(
        call(ISEND, f"begin 7 {message()}", 100),
        call(IRECV, f"begin 7 {message(900, flags=1)}", 100),
        call(WAIT, "finish 7 500 -1", 100, thread=1),
        call(WAIT, f"finish 7 {1 << 60} -1", 100, thread=1),
        threading=2,
    )
    received = result.of(IRECV)
    assert (received["bytes"], received["unknown_end"]) == (0, 1)
    assert 0 < received["transfer_max"] <= 1000


def test_a_full_table_counts_with_unknown_end(run: Any) -> None:
    result = run(
        *[call(ISEND, f"begin {h} {message()}", 100) for h in (1, 2, 3)],
        *[call(WAIT, f"finish {h} -1 -1", 100) for h in (1, 2, 3)],
        limits="0 0 0 0 0 0 2",
    )
    row = result.of(ISEND)
    assert (row["transfers"], row["unknown_end"]) == (3, 1)


def test_persistent_requests_begin_at_each_start(run: Any) -> None:
    cycle = [*call(ISEND, "start 7", 100), "0 advance 900", *call(WAIT, "finish 7 -1 -1", 100)]
    result = run(call(SEND, f"persistent 7 {message()}", 10), cycle, cycle, cycle)
    row = result.of(ISEND)
    assert (row["transfers"], row["count"]) == (3, 3)
    assert bounds(row) == (3 * 600, 3 * 900, 0, 3 * 200)
    assert result.of(SEND)["transfers"] == 0


def test_a_persistent_request_that_starts_again_has_ended(run: Any) -> None:
    result = run(
        call(SEND, f"persistent 7 {message()}", 10),
        call(ISEND, "start 7", 100),
        call(ISEND, "start 7", 100),
        "0 advance 900",
        call(WAIT, "finish 7 -1 -1", 100),
    )
    row = result.of(ISEND)
    assert (row["transfers"], row["unknown_end"]) == (2, 1)
    assert bounds(row)[0] == 600  # of the second alone


def test_partitions_begin_at_their_pready(run: Any) -> None:
    result = run(
        call(SEND, f"persistent 7 {message(0)}", 10),
        call(ISEND, "start 7", 10),
        "0 advance 1000",
        call(RECV, f"group 7 0 {message()}", 10),
        "0 advance 500",
        call(RECV, f"group 7 1 {message()}", 10),
        call(WAIT, "finish 7 -1 -1", 100),
    )
    assert result.of(RECV)["transfers"] == 2
    row = result.of(RECV)
    # C = 500, N = 120, and C = 0, N = 110: neither has room for 800
    assert row["contradicted"] == 2
    assert (row["overlap_max"], row["exposed_max"]) == (500, 230)


def test_rma_transfers_end_with_their_epoch_or_target(run: Any) -> None:
    result = run(
        call(ISEND, f"group 99 0 {message()}|group 99 1 {message()}", 10),
        "0 advance 5000",
        call(WAIT, "endgroup 99 1 0", 100),
        call(BCAST, "endgroup 99 -1 1", 100),
    )
    row = result.of(ISEND)
    # target 1 over at the flush: C 5000, N 110; target 0 local at the second: N 210, tail 300
    assert bounds(row) == (690 + 290, 2000, 0, 110 + 510)


def test_a_group_that_is_forgotten_makes_room(run: Any) -> None:
    result = run(
        call(ISEND, f"group 99 0 {message()}", 10),
        call(WAIT, "endgroup 99 -1 0|forget 99", 100),
        call(SEND, f"begin 1 {message()}|begin 2 {message()}", 10),
        call(WAIT, "finish 1 -1 -1|finish 2 -1 -1", 100),
        limits="0 0 0 0 0 0 2",
    )
    assert (result.of(SEND)["transfers"], result.of(SEND)["unknown_end"]) == (2, 0)


def test_wait_is_not_certain_while_a_window_is_exposed(run: Any) -> None:
    result = run("0 exposed 1", call(WAIT, "exposed -1", 1000), call(BCAST, "", 1000))
    assert result.of(WAIT)["wait_min"] == 0
    assert result.of(WAIT)["wait_max"] == 1000
    assert result.of(BCAST)["wait_min"] == 1000


def test_completion_by_another_thread(run: Any) -> None:
    result = run(
        call(ISEND, f"begin 7 {message()}", 100),
        "0 advance 5000",
        call(WAIT, "finish 7 -1 -1", 50, thread=1),
        threading=2,
    )
    assert bounds(result.of(ISEND)) == (0, 1000, 0, 1000)
    assert result.rank[7] == 2


def test_a_thread_that_ends_leaves_its_place_as_new(run: Any) -> None:
    """Thread 2 gets the place of thread 1, which ended in a section and within a call."""
    result = run(
        "1 section inner",
        ["1 enter 1 1", "0 advance 60", f"1 begin 7 {message()}", "1 leave"],
        ["1 enter 5 5", "0 advance 40", f"1 blocking {message()}", "1 finish 7 -1 -1", "1 exit"],
        "0 advance 100000",
        call(ALLREDUCE, "", 30, thread=2),
        threading=2,
    )
    assert result.of(SEND)["transfers"] == 1
    waited = result.of(WAIT)
    assert (waited["count"], waited["transfers"], waited["call"]) == (1, 1, 40)
    row = result.of(ALLREDUCE)
    assert (row["count"], row["transfers"], row["call"], row["wait_min"]) == (1, 0, 30, 30)
    assert [key[2:4] for key, _ in result.rows if key[1] == str(ALLREDUCE)] == [['""', "-1"]]
    assert result.rank[6] == 1  # the section that was open


@pytest.mark.parametrize("begun", [f"begin 7 {message()}", f"post 0 0 2 {message()}"])
def test_what_an_ended_thread_began_is_not_timed_by_its_successor(run: Any, begun: str) -> None:
    ended = "finish 7 -1 -1" if begun.startswith("begin") else "complete 0 0 -1 0 2"
    result = run(
        call(ISEND, begun, 100, thread=1),
        "1 exit",
        "0 advance 5000",
        call(WAIT, ended, 50, thread=2),
        threading=2,
    )
    assert bounds(result.of(ISEND)) == (0, 1000, 0, 1000)
    assert result.of(ISEND)["contradicted"] == 0


def test_a_pause_is_slack(run: Any) -> None:
    result = run(
        call(ISEND, f"begin 7 {message()}", 100),
        "0 advance 400",
        "0 pause",
        "0 advance 50",
        call(BCAST, f"begin 8 {message()}", 100),
        "0 resume",
        "0 advance 5000",
        call(WAIT, "finish 7 -1 -1|finish 8 -1 -1", 50),
    )
    row = result.of(ISEND)
    assert bounds(row) == (800 - 150 - 150, 1000, 0, 300)
    assert result.of(BCAST)["count"] == 0
    assert result.rank[4] == 1  # dropped
    assert result.rank[:4] == [5700, 5400, 150, 2]


@pytest.mark.parametrize("path", [2, 4])
def test_what_a_source_shows_too_is_dropped_once(run: Any, path: int) -> None:
    x = message(path=path)  # 4: a receive from any source
    result = run(
        "0 source 4",
        "0 pause",
        call(IRECV, f"begin 7 {x}|post 0 0 2 {x}", 100),
        call(WAIT, "complete 0 0 -1 0 2|finish 7 -1 2", 50),
        call(ISEND, f"begin 8 {message(path=3)}", 100),
        call(WAIT, "finish 8 -1 -1", 50),
        "0 resume",
    )
    assert result.rank[4] == 2


def test_nested_calls_count_once(run: Any) -> None:
    result = run(["0 enter 1 1", *call(RECV, f"blocking {message()}", 500), "0 leave"])
    assert result.of(RECV)["count"] == 0
    assert result.of(SEND)["call"] == 500


def test_callbacks_have_their_own_time(run: Any) -> None:
    result = run(
        call(ISEND, f"post 0 20 2 {message()}", 100),
        "0 advance 2000",
        call(WAIT, "complete 0 30 -1 0 2", 100),
    )
    row = result.of(ISEND)
    # begun 20 before the end of the first call, over 30 before the end of the second: N = 90
    assert bounds(row) == (710, 1000, 0, 90)
    assert [k[5] for k, v in result.rows if v["transfers"]] == ["2"]


def test_what_is_seen_over_ends_before_its_request(run: Any) -> None:
    result = run(
        call(ISEND, f"begin 7 {message(slack=1)}|note 0 7", 100),
        "0 advance 900",
        call(RECV, "early 0 30", 100),
        "0 advance 5000",
        call(WAIT, "finish 7 -1 -1", 100),
    )
    # 900 computed, 100 and 70 in calls, both ends known: the tail does not count any more
    assert bounds(result.of(ISEND)) == (630, 900, 0, 170)
    assert result.of(ISEND)["transfers"] == 1


def test_a_request_of_the_same_handle_is_another_transfer(run: Any) -> None:
    result = run(
        call(ISEND, f"begin 7 {message()}|note 0 7", 100),
        call(WAIT, "finish 7 -1 -1", 100),
        call(SEND, f"begin 7 {message()}", 100),
        call(RECV, "early 0 0", 100),
        "0 advance 2000",
        call(WAIT, "finish 7 -1 -1", 100),
    )
    assert bounds(result.of(SEND)) == (500, 1000, 0, 300)


def test_rows_that_do_not_fit_go_to_other(run: Any) -> None:
    result = run(*[call(o, "", 10) for o in range(1, 6)], limits="3 0 0 0 0 0 0")
    assert sum(v["count"] for _, v in result.rows) == 5
    assert result.rank[5] == 3  # overflow
    assert any(k[0] == "0" and v["count"] == 3 for k, v in result.rows)


def test_sites_that_do_not_fit_go_to_other(run: Any) -> None:
    result = run(*[call(o, "", 10) for o in range(1, 6)], limits="0 0 0 3 0 0 0")
    assert sum(v["count"] for k, v in result.rows if k[0] == "0") == 3
    assert result.rank[5] == 3


def test_sections_nest_and_count_their_errors(run: Any) -> None:
    result = run(
        "0 section solve",
        "0 section halo",
        call(SEND, "", 10),
        "0 endsection solve",  # halo was open: one error
        "0 endsection solve",  # not open: one error
        call(SEND, "", 10),
        "0 section never",
    )
    assert sorted(k[SECTION] for k, _ in result.rows) == ['""', '"solve/halo"']
    assert result.rank[6] == 3


def test_a_section_name_too_long_counts_into_its_parent(run: Any) -> None:
    long = "x" * 125
    result = run(
        "0 section ab", f"0 section {long}", call(SEND, "", 10), f"0 endsection {long}",
        call(RECV, "", 10), "0 endsection ab",
    )  # fmt: skip
    assert [k[SECTION] for k, _ in result.rows] == ['"ab"', '"ab"']
    assert result.rank[5:7] == [1, 0]


def test_measuring_the_overhead_leaves_no_trace(run: Any) -> None:
    result = run("0 overhead 1001", call(WAIT, "", 100))
    assert [v["count"] for _, v in result.rows] == [1]
    assert result.of(WAIT)["wait_min"] == 100
