"""`imbrex run -- srun`: a Slurm of one node, started by hand and ended with the tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from imbrex.profile.run import load_run
from imbrex.profile.summary import rows

pytestmark = pytest.mark.untimed

SOURCE = r"""
#include <mpi.h>
#include <stdio.h>
static char buffer[5000];
int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 20; i++)
        MPI_Sendrecv_replace(buffer, 5000, MPI_CHAR, (rank + 1) % size, 0, (rank + size - 1) % size,
                             0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("%d ranks\n", size);
    MPI_Finalize();
    return 3;
}
"""
CONF = """\
ClusterName=imbrex
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
NodeName=n0 NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=n0 Default=YES MaxTime=10 State=UP OverSubscribe=FORCE:4
"""


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment in which srun reaches our Slurm; skipped where it cannot be started."""
    for command in ("munged", "slurmctld", "slurmd", "srun", "sinfo"):
        if shutil.which(command, path=f"{os.environ['PATH']}:/usr/sbin") is None:
            pytest.skip(f"{command} is not installed (slurm-wlm, munge)")
    if os.getuid() != 0:
        pytest.skip("slurmd needs root")
    folder = tmp_path_factory.mktemp("slurm")
    for name in ("munge", "state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge" / "key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)
    conf = folder / "slurm.conf"
    host = socket.gethostname().split(".")[0]
    conf.write_text(CONF.format(host=host, folder=folder, ports=_free_ports(2)))
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    munge = folder / "munge"
    daemons = []

    def start(*command: str) -> None:
        with (folder / f"{Path(command[0]).name}.out").open("w") as log:
            daemons.append(
                subprocess.Popen(
                    command, stdout=log, stderr=log, env=environment, start_new_session=True
                )
            )

    path = f"{os.environ['PATH']}:/usr/sbin"
    munged, slurmctld, slurmd = (
        str(shutil.which(n, path=path)) for n in ("munged", "slurmctld", "slurmd")
    )
    try:
        start(
            *(munged, "--foreground", "--force", f"--key-file={key}"),
            *(f"--socket={munge}/socket", f"--pid-file={munge}/pid", f"--log-file={munge}/log"),
            *(f"--seed-file={munge}/seed", "--num-threads=2"),
        )
        _wait_for((munge / "socket").exists, 30, folder)
        start(slurmctld, "-D", "-f", str(conf))
        start(slurmd, "-D", "-f", str(conf), "-N", "n0")

        def idle() -> bool:
            done = subprocess.run(
                ["sinfo", "-h", "-o", "%T"],
                env=environment,
                capture_output=True,
                text=True,
                timeout=20,
                check=False,
            )
            return done.stdout.strip() == "idle"

        _wait_for(idle, 90, folder)
        yield environment
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
        for daemon in daemons:
            try:
                daemon.wait(timeout=10)
            except subprocess.TimeoutExpired:
                daemon.kill()


def _wait_for(ready, limit_s: float, folder: Path) -> None:
    end = time.monotonic() + limit_s
    while not ready():
        if time.monotonic() > end:
            logs = [*folder.glob("*.out"), *folder.glob("*.log")]
            said = " | ".join(
                line for log in logs for line in log.read_text().splitlines() if "rror" in line
            )
            pytest.skip(f"Slurm does not start here: {said[-500:] or 'no reason given'}")
        time.sleep(0.3)


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_srun(name, slurm, tmp_path):
    mpicc = f"mpicc.{name}"
    plugin = {"mpich": "pmi2", "openmpi": "pmix"}[name]
    if shutil.which(mpicc) is None:
        pytest.skip(f"{mpicc} is not installed")
    listed = subprocess.run(
        ["srun", "--mpi=list"], env=slurm, capture_output=True, text=True, timeout=30, check=False
    )
    if plugin not in listed.stdout + listed.stderr:
        pytest.skip(f"this Slurm has no --mpi={plugin}: {listed.stdout + listed.stderr}")
    (tmp_path / "app.c").write_text(SOURCE)
    subprocess.run([mpicc, "-g", "app.c", "-o", "app"], cwd=tmp_path, check=True)
    line = ["srun", "-n", "2", f"--mpi={plugin}", "./app"]
    bare = subprocess.run(
        line, env=slurm, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    if "2 ranks" not in bare.stdout:
        pytest.skip(f"srun --mpi={plugin} does not start {name} here: {bare.stderr[-300:]}")
    done = subprocess.run(
        [sys.executable, "-m", "imbrex.cli", "run", "-o", "run", "--", *line],
        env=slurm,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("2 ranks\n", bare.returncode), done.stderr
    run = load_run(tmp_path / "run")
    assert len(run.ranks) == 2
    calls = {row.operation: row.sums for row in rows(run, "operation")}
    assert calls["MPI_Sendrecv_replace"].count == 40
