"""Persistent requests that are members of a class: said as such, not as requests of elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.transform.replacing import changed

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
MADE = "the request `req_` is persistent: MPI_Recv_init made it"
FOREIGN = "the request is not a variable of this routine"
STARTED = {
    "_init(": "(",
    "MPI_Recv": "MPI_Irecv",
    "MPI_Send": "MPI_Isend",
    "MPI_Startall(2, req_);": "",
}


@pytest.mark.parametrize(("replacements", "reason"), [({}, MADE), (STARTED, FOREIGN)])
def test_reason(tmp_path: Path, replacements: dict[str, str], reason: str) -> None:
    path = tmp_path / "halo.cpp"
    path.write_text(changed(PROGRAM, replacements))
    outcome = transform([path], Options())
    (wait,) = (d for d in outcome.decisions if d.site.call.name == "MPI_Waitall")
    assert wait.reason.text == reason
    assert outcome.after == outcome.before
