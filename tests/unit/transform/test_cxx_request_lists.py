"""Exchanges whose requests are in a list: a `std::vector<MPI_Request>` of an object or a caller."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.transform.analysis.begun import Beginnings, Begun
from imbrex.transform.engine import transform
from imbrex.transform.model.routine import Routine
from imbrex.transform.model.statements import Block
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <cstdio>
#include <utility>
#include <vector>
@above@
class Halo {
  public:
    explicit Halo(MPI_Comm comm)@init@ {
        comm_ = comm;
        MPI_Comm_rank(comm_, &up_);
        down_ = up_ + 1;
        up_ = up_ > 0 ? up_ - 1 : MPI_PROC_NULL;
        @made@
    }
    void begin(double *u, int rows, int nx@with@) {
        @first@
        MPI_Irecv(u, nx, MPI_DOUBLE, up_, 0, comm_, @request0@);
        @push@
        MPI_Irecv(u + (rows + 1) * nx, nx, MPI_DOUBLE, down_, 1, comm_, @request1@);
        @push@
        MPI_Isend(u + nx, nx, MPI_DOUBLE, up_, 1, comm_, @request2@);
        @push@
        MPI_Isend(u + rows * nx, nx, MPI_DOUBLE, down_, 0, comm_, @request3@);
        @push@
    }
    void end(@list@) {
        @wait@
        @behind@
    }
    @methods@
    MPI_Comm comm_;
    int up_, down_;
    @members@
};
static void sweep(const double *u, double *v, int first, int last, int nx) {
    for (int i = first; i <= last; ++i)
        for (int j = 1; j < nx - 1; ++j)
            v[i * nx + j] = u[(i - 1) * nx + j] + u[(i + 1) * nx + j] + u[i * nx + j];
}
@below@
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    const int nx = 64, rows = 24;
    std::vector<double> u((rows + 2) * nx), v((rows + 2) * nx), w((rows + 2) * nx);
    Halo halo(MPI_COMM_WORLD), other(MPI_COMM_WORLD);
    @ahead@
    for (int step = 0; step < 20; ++step) {
        @calls@
        sweep(u.data(), v.data(), 1, rows, nx);
        std::swap(u, v);
        @round@
    }
    @last@
    std::printf("%g %g\\n", u[nx + 1], w[nx + 1]);
    MPI_Finalize();
}
"""
WAIT = "MPI_Waitall(requests_.size(), requests_.data(), MPI_STATUSES_IGNORE);"
BEGIN, END = "halo.begin(u.data(), rows, nx);", "halo.end();"
INDEXED = {f"request{k}": f"&requests_[{k}]" for k in range(4)}
NEXT = dict.fromkeys(INDEXED, "&request")
BACK = dict.fromkeys(INDEXED, "&requests_.back()")
EMPTIED = {
    "first": "requests_.clear(); requests_.resize(4);",
    **INDEXED,
    "wait": WAIT,
    "members": "std::vector<MPI_Request> requests_;",
    "calls": BEGIN + END,
}
PUSHED = {
    **EMPTIED,
    **NEXT,
    "first": "requests_.clear(); MPI_Request request;",
    "push": "requests_.push_back(request);",
}
# Empty, or sized once, when each filling begins.
CLOSED = {**PUSHED, "first": "MPI_Request request;", "behind": "requests_.clear();"}
SIZED = {**EMPTIED, "first": "", "init": " : requests_(4)"}
PASSED = {
    **NEXT,
    "first": "requests.clear(); MPI_Request request;",
    "push": "requests.push_back(request);",
    "with": ", std::vector<MPI_Request> &requests",
    "list": "std::vector<MPI_Request> &requests",
    "wait": WAIT.replace("requests_", "requests"),
    "ahead": "std::vector<MPI_Request> mine;",
    "calls": "halo.begin(u.data(), rows, nx, mine); halo.end(mine);",
}
EXCHANGE = f"""void exchange(double *u, int rows, int nx) {{
        MPI_Request request;
        MPI_Irecv(u, nx, MPI_DOUBLE, up_, 0, comm_, &request);
        requests_.push_back(request);
        receive(u + (rows + 1) * nx, nx);
        if (up_ >= 0) {{
            MPI_Isend(u + nx, nx, MPI_DOUBLE, up_, 1, comm_, &request);
            requests_.push_back(request);
        }}
        MPI_Isend(u + rows * nx, nx, MPI_DOUBLE, down_, 0, comm_, &request);
        requests_.push_back(request);
        {WAIT}
    }}
    void receive(double *to, int nx) {{
        MPI_Request request;
        MPI_Irecv(to, nx, MPI_DOUBLE, down_, 1, comm_, &request);
        requests_.push_back(request);
    }}"""
DONE: dict[str, dict[str, str]] = {
    "emptied": EMPTIED,
    "assigned": {**EMPTIED, "first": "requests_.assign(4, MPI_REQUEST_NULL);"},
    "pushed": PUSHED,
    "reserved": {**PUSHED, "first": PUSHED["first"] + "requests_.reserve(4);"},
    "the first element": {**PUSHED, "wait": WAIT.replace("requests_.data()", "&requests_[0]")},
    "a cast": {**PUSHED, "wait": WAIT.replace("(requests_.size()", "((int)requests_.size()")},
    "a number": {**PUSHED, "wait": WAIT.replace("requests_.size()", "int(requests_.size())")},
    "passed": PASSED,
    "a list of the block": {
        **PASSED,
        "first": "MPI_Request request;",
        "ahead": "",
        "calls": "std::vector<MPI_Request> mine;" + PASSED["calls"],
    },
    "a structure": {
        **{key: text.replace("requests_", "sent_.list") for key, text in PUSHED.items()},
        "above": "struct Sent { std::vector<MPI_Request> list; int count; };",
        "members": "Sent sent_;",
    },
    "a method of both": {
        **PUSHED,
        "methods": "void exchange(double *u, int rows, int nx) { begin(u, rows, nx); end(); }",
        "calls": "halo.exchange(u.data(), rows, nx);",
    },
    "two objects": {
        **PUSHED,
        "calls": f"other.begin(w.data(), rows, nx); {BEGIN} {END} other.end();",
    },
    "one method": {
        **PUSHED,
        "ahead": f"halo.begin(w.data(), rows, nx); {END}",
        "calls": "halo.exchange(u.data(), rows, nx);",
        "methods": EXCHANGE.replace("MPI_Request", "requests_.clear(); MPI_Request", 1),
    },
    "one method that empties behind": {
        **CLOSED,
        "ahead": f"halo.begin(w.data(), rows, nx); {END}",
        "calls": "halo.exchange(u.data(), rows, nx);",
        "methods": EXCHANGE.replace(WAIT, WAIT + " requests_.clear();"),
    },
    "emptied behind": CLOSED,
    "sized": SIZED,
    "resized": {**SIZED, "init": "", "made": "requests_.resize(4);"},
    "resized each time": {**SIZED, "init": "", "first": "requests_.resize(4);"},
    "a Cartesian communicator": {
        **PUSHED,
        "made": "int n[1] = {4}, round[1] = {0}; MPI_Cart_create(comm, 1, n, round, 0, &comm_);"
        "MPI_Cart_shift(comm_, 0, 1, &up_, &down_);",
    },
    "a pointer": {
        **CLOSED,
        "ahead": "Halo *h = &halo;",
        "calls": f"{BEGIN.replace('halo.', 'h->')} {END.replace('halo.', 'h->')}",
    },
    "twice": {**CLOSED, "calls": f"halo.begin(w.data(), rows, nx); {BEGIN} {END}"},
}
REFUSED: dict[str, dict[str, str]] = {
    "taken in later": {
        **PUSHED,
        "push": "",
        "request1": "&second",
        "request2": "&third",
        "request3": "&fourth); requests_.push_back(request); requests_.push_back(second);"
        "requests_.push_back(third); requests_.push_back(fourth",
        "first": PUSHED["first"] + "MPI_Request second, third, fourth;",
    },
    "two lists": {
        **PUSHED,
        "push": PUSHED["push"] + "more_.push_back(request);",
        "wait": "MPI_Waitall(more_.size(), more_.data(), MPI_STATUSES_IGNORE);",
        "members": PUSHED["members"] + "std::vector<MPI_Request> more_;",
        "calls": f"{BEGIN} {END}",
    },
    "a part": {
        **PUSHED,
        "wait": WAIT.replace("requests_.size()", "2"),
        "last": "halo.rest();",
        "methods": f"void rest() {{ {WAIT} }}",
    },
    "a part, and the rest late": {
        **SIZED,
        "wait": WAIT.replace("requests_.size()", "requests_.size() - 1"),
        "methods": f"void rest() {{ {WAIT} }}",
        "round": "halo.rest();",
    },
    "some": {
        **PUSHED,
        "wait": "for (std::size_t k = 0; k < requests_.size(); k++) { int at;"
        " MPI_Waitany(requests_.size(), requests_.data(), &at, MPI_STATUS_IGNORE); }",
    },
    "a copy of the object": {**PUSHED, "calls": f"{BEGIN} Halo copy = halo; copy.end(); {END}"},
    "an object that is assigned": {**CLOSED, "calls": f"{BEGIN} other = halo; other.end();"},
    "objects that are exchanged": {
        **CLOSED,
        "calls": f"{BEGIN} std::swap(halo, other); halo.end(); other.end();",
    },
    "copies in a vector": {
        **CLOSED,
        "ahead": "std::vector<Halo> all; all.push_back(halo);",
        "calls": f"{BEGIN} all.push_back(halo); all.back().end(); {END}",
    },
    "an object by value": {
        **CLOSED,
        "below": "static void late(Halo h) { h.end(); }",
        "calls": f"{BEGIN} late(halo); {END}",
    },
    "lists that are exchanged": {
        **CLOSED,
        "calls": f"{BEGIN} std::swap(halo.requests_, other.requests_); {END} other.end();",
    },
    "a list that swaps": {
        **CLOSED,
        "calls": f"{BEGIN} halo.requests_.swap(other.requests_); {END} other.end();",
    },
    "a list that is moved": {
        **CLOSED,
        "calls": f"{BEGIN} other.requests_ = std::move(halo.requests_); {END} other.end();",
    },
    "a list that is copied": {
        **CLOSED,
        "calls": f"{BEGIN} std::vector<MPI_Request> kept(halo.requests_); {END}",
    },
    "a list by value": {
        **PASSED,
        "list": "std::vector<MPI_Request> requests",
    },
    "a list of the callee": {
        **PASSED,
        "with": ", std::vector<MPI_Request> requests",
        "calls": "halo.begin(u.data(), rows, nx, mine); halo.end(mine);",
        "first": "MPI_Request request;",
    },
    "a pointer into the list": {
        **SIZED,
        "members": SIZED["members"] + "MPI_Request *first_;",
        "made": "first_ = requests_.data(); first_[0] = MPI_REQUEST_NULL;",
        "calls": f"{BEGIN} MPI_Request kept = halo.first_[0]; {END} "
        "MPI_Wait(&kept, MPI_STATUS_IGNORE);",
    },
    "a handle that is kept": {
        **SIZED,
        "calls": f"{BEGIN} MPI_Request kept = halo.requests_[0]; {END} kept = MPI_REQUEST_NULL;",
    },
    "a handle that is set": {
        **SIZED,
        "calls": f"MPI_Request w0; MPI_Irecv(w.data(), nx, MPI_DOUBLE, halo.up_, 3, MPI_COMM_WORLD,"
        f" &w0); {BEGIN} halo.requests_[0] = w0; {END}",
    },
    "all handles that are kept": {
        **SIZED,
        "calls": f"{BEGIN} std::vector<MPI_Request> kept; "
        f"for (MPI_Request r : halo.requests_) kept.push_back(r); {END}",
    },
    "a handle of another one": {
        **PUSHED,
        "members": PUSHED["members"] + "MPI_Request more_;",
        "push": PUSHED["push"] + "requests_.push_back(more_);",
    },
    "elements that are taken out": {
        **CLOSED,
        "calls": f"{BEGIN} halo.requests_.erase(halo.requests_.begin()); {END}",
    },
    "an element that is taken out": {
        **CLOSED,
        "calls": f"{BEGIN} halo.requests_.pop_back(); {END}",
    },
    "elements that are put in": {
        **CLOSED,
        "calls": f"{BEGIN} halo.requests_.insert(halo.requests_.begin(), MPI_REQUEST_NULL); {END}",
    },
    "a request that is freed": {
        **SIZED,
        "calls": f"{BEGIN} MPI_Request_free(&halo.requests_[2]); {END}",
    },
    "one method, and a beginning": {
        **CLOSED,
        "ahead": "halo.begin(w.data(), rows, nx);",
        "calls": "halo.exchange(u.data(), rows, nx);",
        "methods": EXCHANGE,
    },
    "one method, and a beginning of a call": {
        **CLOSED,
        "ahead": f"halo.begin(w.data(), rows, nx); {END}",
        "calls": "halo.begin(w.data(), rows, nx); halo.exchange(u.data(), rows, nx);",
        "methods": EXCHANGE,
        "behind": "",
    },
    "one method that waits for a part": {
        **CLOSED,
        "ahead": f"halo.begin(w.data(), rows, nx); {END}",
        "calls": "halo.exchange(u.data(), rows, nx);",
        "methods": EXCHANGE.replace("requests_.size()", "requests_.size() - 1"),
        "round": END,
    },
    "an end that is not always made": {**CLOSED, "calls": f"{BEGIN} if (step % 2) {END}"},
    "a wait that is not always made": {**CLOSED, "wait": f"if (up_ != 3) {WAIT}"},
    "a wait in a condition": {**CLOSED, "wait": f"up_ == 3 ? 0 : {WAIT}"},
    "the end of another object": {**CLOSED, "calls": f"{BEGIN} other.end(); {END}"},
    "the end of another object between": {
        **CLOSED,
        "calls": f"{BEGIN} other.end(); halo.begin(w.data(), rows, nx); {END}",
    },
    "what another round has begun": {
        **CLOSED,
        "ahead": BEGIN,
        "calls": END,
        "round": BEGIN,
        "last": END,
    },
    "what is begun behind it for another round": {
        **CLOSED,
        "calls": f"halo.begin(w.data(), rows, nx); {END}",
        "round": BEGIN,
        "last": END,
    },
    "an end inside": {
        **CLOSED,
        "calls": f"{BEGIN} for (int k = 0; k < 2; k++) {{ halo.begin(w.data(), rows, nx); {END}"
        " sweep(w.data(), v.data(), 1, rows, nx); }",
        "round": END,
    },
    "what was begun before": {**CLOSED, "ahead": "halo.begin(w.data(), rows, nx);"},
    "a begin that may leave": {**CLOSED, "push": CLOSED["push"] + "if (up_ == 9) return;"},
    "an end that may leave": {**CLOSED, "wait": f"if (up_ == 9) return; {WAIT}"},
    "emptied under a condition": {
        **PUSHED,
        "first": "MPI_Request request; if (rows > 3) requests_.clear();",
        "ahead": "halo.begin(w.data(), rows, nx);",
    },
    "another list that is emptied": {
        **PUSHED,
        "with": ", Halo &theirs",
        "first": "MPI_Request request; theirs.requests_.clear();",
        "ahead": "halo.begin(w.data(), rows, nx, other);",
        "calls": f"halo.begin(u.data(), rows, nx, other); {END}",
    },
    "a list of all calls": {
        **PASSED,
        "first": "MPI_Request request;",
        "ahead": "",
        "last": "halo.begin(w.data(), rows, nx, list()); halo.end(list());",
        "below": "static std::vector<MPI_Request> &list() { static std::vector<MPI_Request> all;"
        " return all; }",
        "calls": "std::vector<MPI_Request> &mine = list();" + PASSED["calls"],
    },
    "a static list": {
        **PASSED,
        "first": "MPI_Request request;",
        "ahead": "",
        "calls": "static std::vector<MPI_Request> mine; halo.begin(w.data(), rows, nx, mine);"
        "if (step % 2) { halo.end(mine); } " + PASSED["calls"],
    },
    "pushed in a lambda": {
        **PUSHED,
        "first": PUSHED["first"] + "auto put = [&](MPI_Request r) { requests_.push_back(r); };",
        "push": "put(request);",
    },
    "a reference to an element": {
        **PUSHED,
        "first": "requests_.clear(); requests_.reserve(4);",
        "push": "",
        **{f"request{k}": "&requests_.emplace_back()" for k in range(4)},
    },
    "an object that another routine changes": {
        **CLOSED,
        "below": "static void post(Halo *h, Halo *o, double *u) { h = o; h->begin(u, 24, 64); }",
        "calls": f"post(&halo, &other, u.data()); halo.begin(w.data(), rows, nx); {END}"
        "other.begin(w.data() + 4 * nx, 4, nx); other.end();",
    },
    "a list by value that takes more in": {
        **PASSED,
        "first": "MPI_Request request;",
        "ahead": "",
        "calls": "std::vector<MPI_Request> mine;" + PASSED["calls"],
        "list": "std::vector<MPI_Request> requests",
        "members": "double more_[2];",
        "wait": "MPI_Request more; MPI_Irecv(more_, 2, MPI_DOUBLE, up_, 4, comm_, &more);"
        "requests.push_back(more);" + PASSED["wait"],
    },
    "a handle of another object": {
        **PUSHED,
        **dict.fromkeys(INDEXED, "&theirs.more_"),
        "push": "requests_.push_back(more_);",
        "with": ", Halo &theirs",
        "members": PUSHED["members"] + "MPI_Request more_;",
        "calls": f"halo.begin(u.data(), rows, nx, other); {END}",
    },
    "emptied in an argument": {
        **PUSHED,
        "above": "static void put(bool) {}",
        "first": "MPI_Request request; put(rows > 3 && (requests_.clear(), true));",
        "ahead": "halo.begin(w.data(), rows, nx);",
    },
    "a copy while nothing is under way": {**CLOSED, "ahead": "Halo copy = halo;"},
    "a jump behind the beginning": {
        **PUSHED,
        "calls": f"if (step == 3) goto here; {BEGIN} here: ; {END}",
    },
    "assigned from others": {
        **PUSHED,
        "first": "MPI_Request request; requests_.assign({more_});",
        "members": PUSHED["members"] + "MPI_Request more_;",
    },
    "resized with another one": {
        **PUSHED,
        "first": PUSHED["first"] + "requests_.resize(1, more_);",
        "members": PUSHED["members"] + "MPI_Request more_;",
    },
    "an emptied object that changes": {
        **PUSHED,
        "ahead": "Halo *h = &halo;",
        "calls": f"{BEGIN.replace('halo.', 'h->')} h = &other; {END.replace('halo.', 'h->')}",
        "round": f"h = &halo; {END}",
    },
    "an object that changes": {
        **CLOSED,
        "ahead": "Halo *h = &halo;",
        "calls": f"{BEGIN.replace('halo.', 'h->')} h = &other; {END.replace('halo.', 'h->')}",
        "round": f"h = &halo; {END}",
    },
}


def after(folder: Path, pieces: dict[str, str]) -> str:
    text = PROGRAM
    for key in {key for key in PROGRAM.split("@") if key.isalnum()}:
        text = text.replace(f"@{key}@", pieces.get(key, ""))
    assert "@" not in text
    source = folder / "p.cpp"
    source.write_text(text)
    outcome = transform([source], Options())
    assert not outcome.skipped
    return outcome.after[str(source)].decode()


@pytest.mark.parametrize("name", DONE)
def test_the_interior_goes_ahead_of_the_end(name: str, tmp_path: Path) -> None:
    assert "sweep(u.data(), v.data(), 2, rows - 1, nx);" in after(tmp_path, DONE[name])


@pytest.mark.parametrize("name", REFUSED)
def test_the_sweep_stays_behind_the_end(name: str, tmp_path: Path) -> None:
    text = after(tmp_path, REFUSED[name])
    assert text == (tmp_path / "p.cpp").read_text()


@pytest.mark.parametrize(
    "name",
    [
        "the end of another object between",
        "what is begun behind it for another round",
        "an object that another routine changes",
        "a list by value that takes more in",
    ],
)
def test_what_the_end_ends_is_not_known(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: list[Begun | None] = []
    ended_by = Beginnings.ended_by

    def told(self: Beginnings, routine: Routine, block: Block, index: int) -> Begun | None:
        found = ended_by(self, routine, block, index)
        names = {call.name for call in block.statements[index].calls}
        if names & {"Halo::end", "MPI_Waitall"}:
            known.append(found)
        return found

    monkeypatch.setattr(Beginnings, "ended_by", told)
    after(tmp_path, REFUSED[name])
    assert known
    assert not any(known)


def test_an_end_in_another_routine(tmp_path: Path) -> None:
    late = """static void late(Halo &h, double *u, double *v, int rows, int nx) {
    h.end();
    sweep(u, v, 1, rows, nx);
}"""
    pieces = {
        **CLOSED,
        "below": late,
        "calls": f"{BEGIN} late(halo, u.data(), w.data(), rows, nx);",
    }
    assert late in after(tmp_path, pieces)
