"""Finding the programs in launcher lines, as manuals and guides of clusters write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.launcher_line import (
    LauncherLine,
    launcher_family,
    parse_launcher_line,
    program_file,
)


@pytest.fixture
def launchers(tmp_path, monkeypatch):
    """Launchers that answer --version as the real ones do."""
    answers = {
        "mpirun": "mpirun (Open MPI) 5.0.3\n",
        "prterun": "",
        "mpiexec.hydra": "Intel(R) MPI Library for Linux* OS, Version 2021.13\n",
        "mpiexec": "HYDRA build details:\n    Version:   4.2.1\n",
        "mpirun.strange": "strange launcher 1.0\n",
        "srun": "slurm 23.11\n",
    }
    for name, answer in answers.items():
        file = tmp_path / "bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\nprintf '%s' '{answer}'\n")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    return tmp_path / "bin"


def parse(line: str) -> LauncherLine:
    return parse_launcher_line(line.split())


def programs(line: str) -> list[str]:
    return [" ".join(words) for words in parse(line).programs()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # Open MPI 4 and 5
        ("mpirun -n 4 ./app a b", ["./app a b"]),
        ("mpirun -np 4 --bind-to core --map-by ppr:2:socket ./app -n 5", ["./app -n 5"]),
        ("mpirun --mca btl tcp,self -x PATH -x OMP_NUM_THREADS=4 ./app", ["./app"]),
        ("mpirun -H aa,bb -npernode 2 -bind-to none ./app", ["./app"]),
        ("mpirun --host node1:2 --oversubscribe --tag-output -wdir /tmp ./app", ["./app"]),
        ("mpirun -n 1 ./boss : -n 3 ./worker 7", ["./boss", "./worker 7"]),
        ("mpirun --display map,bind --output tag:file=x --rank-by fill app", ["app"]),
        ("mpirun --prtemca ras simulator --runtime-options donotlaunch ./a", ["./a"]),
        ("mpirun --map-by=node -n 2 -- ./app", ["./app"]),
        ("mpirun --timeout 30 -q numactl -N 0 ./app", ["numactl -N 0 ./app"]),
        # Hydra: MPICH and Intel MPI
        ("mpiexec -n 4 -ppn 2 -hosts a,b -genv A 1 -genvall ./app x", ["./app x"]),
        ("mpiexec -f hosts -genv A=1 -n 2 ./app", ["./app"]),
        ("mpiexec -n 1 -env X y ./a : -n 2 -env X z ./b 1", ["./a", "./b 1"]),
        ("mpiexec -launcher ssh -iface eth0 -bind-to core:2 -l -n 2 ./app", ["./app"]),
        ("mpiexec.hydra -bootstrap slurm -perhost 2 -print-rank-map ./app", ["./app"]),
        ("mpiexec.hydra -host n1 -n 1 ./a : -host n2 -n 1 ./b", ["./a", "./b"]),
        ("mpiexec.hydra -prot -cpu-bind cores -silent-abort -n 2 ./app", ["./app"]),
        ("mpiexec -rankmap 0,1 -hybrid-hosts -n 2 ./app", ["./app"]),
        ("mpirun --pmixmca psec none --memory-alloc-kinds mpi -n 2 ./app", ["./app"]),
        # srun
        ("srun -b now --tmp 1G -n 2 ./app", ["./app"]),
        ("srun -n 4 ./app", ["./app"]),
        ("srun -n4 -N2 --mpi=pmix ./app -N 3", ["./app -N 3"]),
        ("srun --ntasks 4 --cpus-per-task=2 -l --cpu-bind=cores ./app", ["./app"]),
        ("srun -ln4 --exclusive --mem 4G -w node[1-2] ./app", ["./app"]),
        ("srun --kill-on-bad-exit=1 -K0 -I5 --label -p debug -t 0:10:00 ./app", ["./app"]),
        ("srun --partit debug --nodes=1 ./app", ["./app"]),
        ("srun -n1 ./a : -n2 ./b x", ["./a", "./b x"]),
        # no launcher
        ("./app 1 2 : 3", ["./app 1 2 : 3"]),
        ("python3 script.py", ["python3 script.py"]),
        # the prefix written by the user
        ("aprun -n 4 --odd imbrex-exec ./app x", ["./app x"]),
        ("mpirun -n 1 imbrex-exec ./a : -n 1 /opt/bin/imbrex-exec ./b", ["./a", "./b"]),
    ],
)
def test_programs_of_a_line(launchers, line, expected):
    assert programs(line) == expected


def test_lines_are_rebuilt(launchers):
    line = parse("mpirun -n 1 ./boss 1 : -n 3 ./worker 7")
    rebuilt = " ".join(line.with_prefix(["P"]))
    assert rebuilt == "mpirun -n 1 P ./boss 1 : -n 3 P ./worker 7"
    assert " ".join(line.with_program(["q", "r"])) == "mpirun -n 1 q r : -n 3 q r"
    assert " ".join(line.launcher_words) == "mpirun -n 1 : -n 3"


def test_the_users_prefix_is_replaced(launchers):
    line = parse("aprun -n 2 imbrex-exec ./app 1")
    assert line.family == "other"
    assert " ".join(line.with_prefix(["P"])) == "aprun -n 2 P ./app 1"
    assert " ".join(line.with_program(["q"])) == "aprun -n 2 q"


def test_without_a_launcher(launchers):
    line = parse_launcher_line(["./app", "1"])
    assert line == LauncherLine(("./app", "1"), "none", None, line.segments)
    assert line.with_prefix(["P"]) == ["P", "./app", "1"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("aprun -n 4 ./app", "aprun is not known: write imbrex-exec"),
        ("mpirun --quite-new 3 ./app", "--quite-new is not known here; write imbrex-exec"),
        ("srun --qu ./app", "--qu is not known"),
        ("mpirun --app file", "from a file: write imbrex-exec"),
        ("mpiexec -configfile file", "from a file: write imbrex-exec"),
        ("srun -n4 --multi-prog file", "from a file: write imbrex-exec"),
        ("mpirun -n 4", "no program"),
        ("mpirun -n 1 ./a : -n 1", "no program"),
        ("mpirun -n 1 imbrex-exec ./a : -n 1 ./b", "not before all"),
        ("mpirun -n 1 imbrex-exec", "no program after imbrex-exec"),
        ("mpirun.strange -n 1 ./a", "neither Open MPI's nor"),
        ("mpiexec.gforker -n 1 ./a", "launcher not found"),
    ],
)
def test_lines_that_cannot_be_served(launchers, line, message):
    with pytest.raises(ImbrexError, match=message) as error:
        parse_launcher_line(line.split())
    assert "\n" not in str(error.value)


def test_no_command():
    with pytest.raises(ImbrexError, match="no command"):
        parse_launcher_line([])


@pytest.mark.parametrize(
    ("word", "family"),
    [("mpirun", "openmpi"), ("mpiexec.hydra", "hydra"), ("srun", "srun"), ("mpiexec", "hydra")],
)
def test_family(launchers, word, family):
    assert launcher_family(word) == family
    assert launcher_family(str(launchers / word)) == family


def test_program_is_checked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ImbrexError, match="not found"):
        program_file(["./nope"])
    Path("text").write_text("x")
    with pytest.raises(ImbrexError, match="not executable"):
        program_file(["./text"])
    Path("folder").mkdir()
    with pytest.raises(ImbrexError, match="is a directory"):
        program_file(["./folder"])
    (tmp_path / "folder" / "app").write_text("#!/bin/sh\n")
    (tmp_path / "folder" / "app").chmod(0o755)
    assert program_file(["./app"], folder="folder") == Path("folder/app")


@pytest.mark.parametrize("around", ["timeout 60", "timeout -k 5 60", "stdbuf -oL", "nice -n 5"])
def test_a_command_around_the_launcher_is_of_the_user_s_run_alone(launchers, around):
    line = parse(f"{around} mpirun -n 2 ./app 1")
    assert line.family == "openmpi"
    assert line.with_prefix(["P"]) == [*around.split(), "mpirun", "-n", "2", "P", "./app", "1"]
    assert line.with_program(["probe"]) == ["mpirun", "-n", "2", "probe"]
    assert line.launcher_words == ("mpirun", "-n", "2")


def test_a_command_around_the_launcher_that_is_not_there(launchers, monkeypatch):
    monkeypatch.setenv("PATH", str(launchers))
    with pytest.raises(ImbrexError, match="timeout: program not found"):
        parse("timeout 60 mpirun -n 2 ./app")


def test_a_command_around_a_program_is_a_program(launchers):
    line = parse("timeout 60 ./app mpi")
    assert (line.family, line.programs()) == ("none", [["timeout", "60", "./app", "mpi"]])
