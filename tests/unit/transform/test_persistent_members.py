"""Requests that are members of a class, which its constructor makes, or starts."""

from __future__ import annotations

from pathlib import Path

from tests.unit.transform.replacing import changed, rewritten

from imbrex.transform.engine import transform
from imbrex.transform.options import Options

PROGRAM = """\
#include <mpi.h>
#include <vector>
class Halo {
public:
    Halo(MPI_Comm comm, int peer, int n, std::vector<double> &u)
    {
        MPI_Recv_init(&u[0], n, MPI_DOUBLE, peer, 0, comm, &req_[0]);
        MPI_Send_init(&u[n], n, MPI_DOUBLE, peer, 0, comm, &req_[1]);
    }
    ~Halo()
    {
        for (auto &r : req_) MPI_Request_free(&r);
    }
    void exchange()
    {
        MPI_Startall(2, req_);
        MPI_Waitall(2, req_, MPI_STATUSES_IGNORE);
    }
private:
    MPI_Request req_[2];
};
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int n = 64;
    std::vector<double> u(2 * n), v(2 * n);
    {
        Halo halo(MPI_COMM_WORLD, 0, n, u);
        for (int it = 0; it < 10; it++) {
            halo.exchange();
            for (int i = 0; i < n; i++) v[i] = v[i] + i;
        }
    }
    MPI_Finalize();
}
"""
STARTED = {
    "_init(": "(",
    "MPI_Recv": "MPI_Irecv",
    "MPI_Send": "MPI_Isend",
    "MPI_Startall(2, req_);": "",
}


def test_persistent_ones_are_awaited_behind_the_work(tmp_path: Path) -> None:
    text = rewritten(tmp_path / "halo.cpp", PROGRAM)
    start, work = text.index("halo.exchange_start();"), text.index("v[i] = v[i] + i;")
    assert start < work < text.index("halo.exchange_finish();")


def test_others_stay(tmp_path: Path) -> None:
    path = tmp_path / "halo.cpp"
    path.write_text(changed(PROGRAM, STARTED))
    outcome = transform([path], Options())
    (wait,) = (d for d in outcome.decisions if d.site.call.name == "MPI_Waitall")
    assert wait.reason.text == "the request `req_` is passed to MPI_Request_free"
    assert outcome.after == outcome.before
