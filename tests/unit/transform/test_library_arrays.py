"""Requests in a `std::array`: of a routine, whose caller has it then, or of an object."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

pytestmark = pytest.mark.slow

PROGRAM = """#include <mpi.h>
#include <array>
#include <cstdio>
#include <vector>
class Halo {
public:
  Halo(int lo, int hi, MPI_Comm comm) : lo_(lo), hi_(hi), comm_(comm) {}
  void exchange(std::vector<double> &u, int n, int m) {
    std::array<MPI_Request, 4> req;
    MPI_Irecv(&u[0], m, MPI_DOUBLE, lo_, 0, comm_, &req[0]);
    MPI_Irecv(&u[(n + 1) * m], m, MPI_DOUBLE, hi_, 1, comm_, &req[1]);
    MPI_Isend(&u[m], m, MPI_DOUBLE, lo_, 1, comm_, &req[2]);
    MPI_Isend(&u[n * m], m, MPI_DOUBLE, hi_, 0, comm_, &req[3]);
    MPI_Waitall(4, req.data(), MPI_STATUSES_IGNORE);
  }
private:
  int lo_, hi_;
  MPI_Comm comm_;
};
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Halo halo((rank + size - 1) % size, (rank + 1) % size, MPI_COMM_WORLD);
  const int n = 40, m = 60;
  std::vector<double> u((n + 2) * m, rank), v((n + 2) * m, 0.0);
  for (int t = 0; t < 30; t++) {
    halo.exchange(u, n, m);
    for (int i = 1; i <= n; i++)
      for (int j = 0; j < m; j++)
        v[i * m + j] = 0.5 * (u[(i - 1) * m + j] + u[(i + 1) * m + j]);
    u.swap(v);
  }
  std::printf("%f\\n", u[m]);
  MPI_Finalize();
}
"""
LOCAL = "    std::array<MPI_Request, 4> req;\n"
FIRST = "&req[0]"
WAIT = "    MPI_Waitall(4, req.data(), MPI_STATUSES_IGNORE);\n"
MEMBER = {
    LOCAL: "",
    "  int lo_, hi_;\n": "  std::array<MPI_Request, 4> req;\n  int lo_, hi_;\n",
}
CALL = "    halo.exchange(u, n, m);\n"
DIVIDED: dict[str, dict[str, str]] = {
    "of the routine": {},
    "as many as it has": {"Waitall(4": "Waitall(req.size()"},
    "by a name of the library": {
        "class Halo": "using namespace std;\nclass Halo",
        LOCAL: LOCAL.replace("std::", ""),
    },
    "one of two": {LOCAL: LOCAL.replace("req;", "req, others;")},
    "of the object": MEMBER,
    "of the object, as many as it has": MEMBER | {"Waitall(4, ": "Waitall((int)req.size(), "},
    "of the object, by its name": MEMBER | {"&req[": "&this->req[", "req.data": "this->req.data"},
}
REFUSED: dict[str, dict[str, str]] = {
    "with values": {LOCAL: LOCAL.replace("req;", "req{};")},
    "of a length that only the routine knows": {
        LOCAL: "    constexpr int many = 4;\n" + LOCAL.replace("4", "many")
    },
    "too few of the object's": MEMBER | {"Waitall(4, ": "Waitall(3, "},
    "another object's": MEMBER
    | {
        "  void exchange(": "  void exchange(Halo &o, ",
        CALL: CALL.replace("u, n", "halo, u, n"),
        "req.data": "o.req.data",
    },
    "the object's from the second on": MEMBER | {"req.data()": "req.data() + 1", "all(4": "all(3"},
}


def after(folder: Path, changes: dict[str, str]) -> str:
    source = folder / "p.cpp"
    source.write_text(changed(PROGRAM, changes))
    outcome = transform([source], Options())
    assert not outcome.skipped
    return outcome.after[str(source)].decode()


@pytest.mark.parametrize("name", DIVIDED)
def test_the_exchange_is_split(name: str, tmp_path: Path) -> None:
    text = after(tmp_path, DIVIDED[name])
    assert "halo.exchange_start(u, n, m" in text
    assert "for (int i = 2; i <= n - 1; i++)" in text


@pytest.mark.parametrize("name", REFUSED)
def test_the_exchange_stays(name: str, tmp_path: Path) -> None:
    assert "exchange_start" not in after(tmp_path, REFUSED[name])


def test_the_caller_has_the_array(tmp_path: Path) -> None:
    text = after(tmp_path, {})
    assert "  std::array<MPI_Request, 4> exchange_req;\n" in text
    assert "void exchange_finish(std::array<MPI_Request, 4> &req)" in text


@pytest.mark.parametrize(("header", "split"), [("#include <array>\n", True), ("", False)])
def test_a_file_that_may_have_no_name_for_it(tmp_path: Path, header: str, split: bool) -> None:
    body = PROGRAM.partition("  void exchange(")[2].partition("private:")[0]
    body = body.replace("lo_", "lo").replace("hi_", "hi").replace("comm_", "MPI_COMM_WORLD")
    given = "exchange(std::vector<double> &u, int n, int m, int lo, int hi)"
    text = PROGRAM.partition("class Halo")[0] + f"void {given} {{" + body.partition("{")[2]
    (tmp_path / "halo.cpp").write_text(text)
    main = PROGRAM.partition("class Halo")[0].replace("#include <array>\n", header)
    main += f"void {given};\nint main(" + PROGRAM.partition("int main(")[2]
    main = changed(
        main,
        {
            CALL: "    exchange(u, n, m, (rank + size - 1) % size, (rank + 1) % size);\n",
            "  Halo halo((rank + size - 1) % size, (rank + 1) % size, MPI_COMM_WORLD);\n": "",
        },
    )
    (tmp_path / "main.cpp").write_text(main)
    outcome = transform([tmp_path / "halo.cpp", tmp_path / "main.cpp"], Options())
    assert not outcome.skipped
    assert ("exchange_start" in outcome.after[str(tmp_path / "main.cpp")].decode()) is split
