"""Finding the programs in launcher lines, as manuals and guides of clusters write them."""

from __future__ import annotations

import os
from pathlib import Path
from unittest.mock import patch

import pytest

from imbrex.errors import ImbrexError
from imbrex.mpi_environment.launcher_line import (
    LauncherLine,
    launcher_family,
    parse_launcher_line,
    program_file,
    take_environment,
    unseen_launcher,
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
    ("command", "family"),
    [("mpirun", "openmpi"), ("mpiexec.hydra", "hydra"), ("srun", "srun"), ("mpiexec", "hydra")],
)
def test_family(launchers, command, family):
    assert launcher_family(command) == family
    assert launcher_family(str(launchers / command)) == family


def test_program_is_checked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ImbrexError, match="not found"):
        program_file(["./nope"])
    with pytest.raises(ImbrexError, match="is empty"):
        program_file([""])
    Path("text").write_text("x")
    with pytest.raises(ImbrexError, match="not executable"):
        program_file(["./text"])
    Path("folder").mkdir()
    with pytest.raises(ImbrexError, match="is a directory"):
        program_file(["./folder"])
    (tmp_path / "folder" / "app").write_text("#!/bin/sh\n")
    (tmp_path / "folder" / "app").chmod(0o755)
    assert program_file(["./app"], folder="folder") == Path("folder/app")


@pytest.mark.parametrize("wrapper", ["timeout 60", "timeout -k 5 60", "stdbuf -oL", "nice -n 5"])
def test_a_command_around_the_launcher_is_of_the_user_s_run_alone(launchers, wrapper):
    line = parse(f"{wrapper} mpirun -n 2 ./app 1")
    assert line.family == "openmpi"
    assert line.with_prefix(["P"]) == [*wrapper.split(), "mpirun", "-n", "2", "P", "./app", "1"]
    assert line.with_program(["probe"]) == ["mpirun", "-n", "2", "probe"]
    assert line.launcher_words == ("mpirun", "-n", "2")


def test_a_command_around_the_launcher_that_is_not_there(launchers, monkeypatch):
    monkeypatch.setenv("PATH", str(launchers))
    with pytest.raises(ImbrexError, match="timeout: program not found"):
        parse("timeout 60 mpirun -n 2 ./app")


def test_a_command_around_a_program_is_a_program(launchers):
    line = parse("timeout 60 ./app mpi")
    assert (line.family, line.programs()) == ("none", [["timeout", "60", "./app", "mpi"]])


@pytest.mark.parametrize(
    ("wrapper", "binding"),
    [
        ("taskset -c 0,1", "taskset -c 0,1"),
        ("taskset 3", "taskset 3"),
        ("nice -n 5 chrt -b 0 timeout 60", "chrt -b 0"),
        ("ionice -c2 -n 7", ""),
        ("time -f %e -o times", ""),
        ("stdbuf --output=L setsid -w nohup", ""),
        ("numactl -N 0 --membind 0 -l --physcpubind=0-1 --", "numactl -N 0 --membind 0 -l "),
    ],
)
def test_what_binds_stands_before_the_calibration_too(launchers, wrapper, binding):
    for name in ("numactl", "ionice", "time"):
        (launchers / name).write_text("#!/bin/sh\n")
        (launchers / name).chmod(0o755)
    line = parse(f"{wrapper} mpirun -n 2 ./app 1")
    bound = line.with_program(["probe"])[: -len(["mpirun", "-n", "2", "probe"])]
    assert " ".join(bound).startswith(binding) and bool(bound) == bool(binding)
    assert " ".join(line.with_prefix(["P"])) == f"{wrapper} mpirun -n 2 P ./app 1"
    assert line.launcher_words == ("mpirun", "-n", "2")
    assert line.circumstances == (*bound, "mpirun", "-n", "2")


@pytest.mark.parametrize(
    "line",
    [
        "./app mpirun",
        "nice -n 5 ./app mpirun -n 2 ./b",
        "nice -5 ./app mpirun",
        "timeout -k 5 60 ./app srun",
        "env A=1 ./app mpirun",
        "taskset -c 0 ./app mpirun",
        "taskset -p 1 mpirun -n 2 ./app",
        "nice --strange mpirun -n 2 ./app",
        "env",
        "timeout 60",
    ],
)
def test_an_argument_with_a_launcher_s_name_is_no_launcher(launchers, line):
    assert parse(line).family == "none"
    assert take_environment(line.split()) == tuple(line.split())


def test_env_before_a_launcher_is_taken_over(launchers):
    before = ["timeout", "60", "env", "-u", "GONE", "NEW=a=b", "OLD=2", "nice"]
    with patch.dict(os.environ, {"OLD": "1", "GONE": "1"}):
        words = take_environment([*before, "mpirun", "-n", "2", "./app", "X=1"])
        assert " ".join(words) == "timeout 60 nice mpirun -n 2 ./app X=1"
        assert (os.environ["NEW"], os.environ["OLD"]) == ("a=b", "2")
        assert "GONE" not in os.environ
    with patch.dict(os.environ):
        words = take_environment(["env", "-i", f"PATH={launchers}", "mpirun", "./app"])
        assert words == ("mpirun", "./app")
        assert dict(os.environ) == {"PATH": str(launchers)}


def test_env_that_was_not_taken_over_stays(launchers):
    line = parse("env A=1 mpirun -n 2 ./app")
    assert line.with_prefix(["P"]) == ["env", "A=1", "mpirun", "-n", "2", "P", "./app"]
    assert line.with_program(["probe"]) == ["env", "A=1", "mpirun", "-n", "2", "probe"]
    marked = parse("env A=1 aprun -n 2 imbrex-exec ./app")
    assert marked.with_program(["probe"]) == ["env", "A=1", "aprun", "-n", "2", "probe"]


def test_an_unknown_launcher_behind_a_known_command(launchers):
    with pytest.raises(ImbrexError, match="aprun is not known"):
        parse("timeout 60 aprun -n 2 ./app")


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        (["sh", "-c", "cd x && mpirun -n 2 ./app"], "mpirun"),
        (["timeout", "9", "bash", "-l", "-ec", "(/opt/bin/srun ./app)"], "/opt/bin/srun"),
        (["bash", "--norc", "-c", "aprun ./app"], "aprun"),
        (["bash", "-c", "./app", "mpirun"], None),
        (["bash", "job.sh", "mpirun"], None),
        (["./sh.py", "-c", "mpirun"], None),
        (["mpirun", "-n", "2", "sh", "-c", "./app mpirun"], None),
    ],
)
def test_a_launcher_in_a_shell_s_command_is_named(words, seen):
    said = unseen_launcher(words)
    assert said is None if seen is None else said.startswith(f"the {seen} inside the shell")


@pytest.mark.parametrize("option", ["--path {}", "-path {}", "--path /nowhere:{}"])
def test_a_program_where_the_launcher_is_told_to_look(launchers, tmp_path, option):
    """Behind a prefix it would look there for the prefix alone."""
    (tmp_path / "apps").mkdir()
    app = tmp_path / "apps" / "app"
    app.write_text("#!/bin/sh\n")
    app.chmod(0o755)
    line = f"mpirun {option.format(app.parent)} -n 1"
    parsed = parse(f"{line} app 1 : -n 2 ls")
    assert parsed.programs() == [[str(app), "1"], ["ls"]]
    assert " ".join(parsed.with_prefix(["p"])) == f"{line} p {app} 1 : -n 2 p ls"
    assert programs(f"{line} ./app") == ["./app"]
    assert programs(f"{line} other") == ["other"]
