"""Where the sources of a program are, how it is built, and that its tree stays as it is."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.tune.building import build
from imbrex.tune.copied import copy
from imbrex.tune.obstacle import NotPossibleError
from imbrex.tune.sources import Sources, Told, find_sources

CC = shutil.which("cc")
pytestmark = pytest.mark.skipif(CC is None, reason="no C compiler")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sources and a header in folders, and the program beside them."""
    folder = tmp_path / "project"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "half.h").write_text("int half(int x);\n")
    (folder / "lib" / "half.c").write_text('#include "half.h"\nint half(int x) { return x / 2; }\n')
    (folder / "app.c").write_text('#include "half.h"\nint main(void) { return half(1); }\n')
    monkeypatch.chdir(folder)
    compiled(folder)
    return folder


def compiled(folder: Path, *options: str) -> None:
    words = ["cc", *(options or ("-g", "-O1")), "-Ilib", "-o", "app", "app.c", "lib/half.c"]
    subprocess.run(words, cwd=folder, check=True)


def found(folder: Path, told: Told = Told(), mpicc: str | None = CC) -> Sources:  # noqa: B008
    output = folder / "imbrex-tune"
    return find_sources(folder / "app", told, Path(mpicc) if mpicc else None, output)


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(file.relative_to(folder)): (file.read_bytes(), file.stat().st_mtime_ns)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def test_from_debug_information_alone(project: Path, tmp_path: Path) -> None:
    sources = found(project)
    assert sources.root == sources.folder == project
    assert [file.name for file in sources.files] == ["app.c", "half.c"]
    assert sources.build.startswith(str(CC))
    assert sources.build.endswith(" -g -O1 -Ilib -o app app.c lib/half.c -lm")
    assert f"-I{project / 'lib'}" in sources.flags_of[project / "app.c"]
    # It builds in a copy, and the tree stays as it is.
    before = contents(project)
    assert {str(file) for file in sources.copied} == {"app.c", "lib/half.c", "lib/half.h"}
    tree = tmp_path / "out" / "copy"
    copy(sources.root, sources.copied, tree)
    (tree / "lib" / "half.c").write_text("int half(int x) { return x + 41; }\n")
    program = build(sources, tree, 60)
    assert program == tree / "app"
    assert subprocess.run([program], check=False).returncode == 42
    assert contents(project) == before


def test_the_wrapper_for_cxx_builds_cxx(project: Path, tmp_path: Path) -> None:
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    for name in ("mpicc.other", "mpicxx.other"):
        (tmp_path / name).write_text(f'#!/bin/sh\nexec {compiler} "$@"\n')
        (tmp_path / name).chmod(0o755)
    shutil.rmtree(project / "lib")
    (project / "app.c").rename(project / "app.cpp")
    (project / "app.cpp").write_text("int main() { return [] { return 41; }(); }\n")
    subprocess.run([compiler, "-g", "-std=c++17", "-o", "app", "app.cpp"], check=True)
    sources = found(project, mpicc=str(tmp_path / "mpicc.other"))
    assert sources.build.startswith(str(tmp_path / "mpicxx.other"))
    assert "-std=c++17" in sources.build
    tree = tmp_path / "out" / "copy"
    copy(sources.root, sources.copied, tree)
    program = build(sources, tree, 60)
    assert subprocess.run([program], check=False).returncode == 41
    # In C and C++ together none of the wrappers is the obvious one.
    (project / "half.c").write_text("int half(int x) { return x / 2; }\n")
    subprocess.run(["cc", "-g", "-c", "half.c"], check=True)
    subprocess.run([compiler, "-g", "-o", "app", "app.cpp", "half.o"], check=True)
    with pytest.raises(NotPossibleError, match="is not known"):
        found(project, mpicc=str(tmp_path / "mpicc.other"))


@pytest.mark.parametrize(("rule", "command"), [("app: app.c", "make app"), ("all: app.c", "make")])
def test_make_builds_the_program_alone(project: Path, rule: str, command: str) -> None:
    lines = f"{rule}\n\tcc -g -Ilib -o app app.c lib/half.c\n"
    (project / "Makefile").write_text(lines)
    sources = found(project)
    assert (sources.folder, sources.build) == (project, command)


def test_make_builds_for_the_mpi_of_the_program(project: Path, tmp_path: Path) -> None:
    """`mpicc` of a Makefile is the one of the launcher's MPI, and the user's where he says how."""
    (project / "Makefile").write_text("app: app.c\n\tmpicc -g -Ilib -o app app.c lib/half.c\n")
    wrapper = tmp_path / "bin" / "mpicc.other"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\ntouch used\nexec {CC} "$@"\n')
    wrapper.chmod(0o755)
    tree = tmp_path / "out" / "copy"
    sources = find_sources(project / "app", Told(), wrapper, tmp_path / "out")
    copy(sources.root, sources.copied, tree)
    assert build(sources, tree, 60) == tree / "app"
    assert (tree / "used").exists()
    assert found(project, Told(build="make app"), str(wrapper)).mpicc is None


def test_the_makefile_that_knows_the_program_builds_it(project: Path) -> None:
    top = project.parent
    (project / "Makefile").write_text("app: app.c\n\tcc -g -Ilib -o app app.c lib/half.c\n")
    (top / "Makefile").write_text("all:\n\ttrue\n")
    subprocess.run(["git", "init", "-q", str(top)], check=True)
    os.chdir(top)
    sources = found(project)
    assert (sources.root, sources.folder, sources.build) == (top, project, "make app")


def test_looking_for_the_target_makes_nothing_in_the_users_folder(project: Path) -> None:
    """`make -n` makes what a Makefile includes, and -B makes it again."""
    (project / "Makefile").write_text(
        "include made.mk\n"
        "app: app.c\n\tcc -g -Ilib -o app app.c lib/half.c\n"
        "made.mk: app.c\n\ttouch made.mk\n"
    )
    (project / "made.mk").touch()
    os.utime(project / "made.mk", (0, 0))  # older than what it is made of
    before = contents(project)
    assert found(project).build == "make app"
    assert contents(project) == before
    assert list((project / "imbrex-tune").iterdir()) == []


def test_a_makefile_that_is_not_copied_builds_nothing(project: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    (project / ".gitignore").write_text("Makefile\n")
    (project / "Makefile").write_text("app: app.c\n\tcc -o app app.c\n")
    assert found(project).build.startswith(str(CC))


def test_cmake_builds_elsewhere(project: Path) -> None:
    (project / "CMakeLists.txt").write_text("project(app C)\n")
    assert "cmake --build imbrex-build" in found(project).build


def test_what_the_user_says_comes_first(project: Path) -> None:
    (project / "Makefile").touch()
    sources = found(project, Told(build="sh build.sh"))
    assert sources.build == "sh build.sh"


def test_what_git_ignores_is_not_copied(project: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    (project / ".gitignore").write_text("large\n")
    (project / "large").write_text("x")
    (project / "build").mkdir()
    (project / "build" / "CMakeCache.txt").write_text("x")
    names = {str(name) for name in found(project).copied}
    assert {"app.c", "lib/half.h"} <= names
    assert "large" not in names


def test_runs_and_other_builds_are_not_copied(project: Path) -> None:
    for folder, mark in (("build", "CMakeCache.txt"), ("imbrex-run", "run.json")):
        (project / folder).mkdir()
        (project / folder / mark).touch()
    (project / "imbrex-tune" / "build").mkdir(parents=True)
    (project / "imbrex-tune" / "build" / "app.c").touch()
    names = {str(name) for name in found(project).copied}
    assert names == {"app.c", "lib/half.c", "lib/half.h"}


def test_what_stands_in_the_way_is_said(project: Path, tmp_path: Path) -> None:
    with pytest.raises(NotPossibleError, match=r"how app is built is not known.*--build"):
        found(project, mpicc=None)
    with pytest.raises(NotPossibleError, match=r"app\.c is not in .*--sources"):
        found(project, Told(root=project / "lib"))
    later = project.stat().st_mtime + 100
    os.utime(project / "app.c", (later, later))
    with pytest.raises(NotPossibleError, match=r"app\.c is newer than app: build that first: /"):
        found(project)
    (project / "app.c").rename(tmp_path / "app.c")
    (project / "lib" / "half.c").rename(tmp_path / "half.c")
    with pytest.raises(NotPossibleError, match="the sources of app are not here"):
        found(project)


@pytest.mark.parametrize(
    ("made", "where", "command"),
    [
        (("Makefile",), ".", "make app"),
        (("Makefile",), "lib", "(cd {} && make app)"),
        (("CMakeLists.txt", "CMakeCache.txt"), "lib", "cmake --build .."),
    ],
)
def test_the_line_that_builds_it_again(
    project: Path, monkeypatch: pytest.MonkeyPatch, made: tuple[str, ...], where: str, command: str
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: CC)  # mpicc is that of the program
    for name in made:
        (project / name).write_text("app:\n\tcc -g -Ilib -o app app.c lib/half.c\n")
    later = project.stat().st_mtime + 100
    os.utime(project / "app.c", (later, later))
    monkeypatch.chdir(project / where)
    with pytest.raises(NotPossibleError) as error:
        found(project)
    assert str(error.value).endswith(f": build that first: {command.format(project)}")
    if made == ("Makefile",):
        subprocess.run(command.format(project), shell=True, check=True)
        os.utime(project / "app", (later + 1, later + 1))
        assert found(project).files


def test_another_mpi_on_path_would_build_another_program(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "Makefile").write_text("app:\n\tcc -g -Ilib -o app app.c lib/half.c\n")
    assert found(project, Told(build="make -j2")).again == "make -j2"
    other = tmp_path / "mpicc"
    other.touch()
    monkeypatch.setattr(shutil, "which", lambda name: str(other))
    sources = found(project)
    assert (sources.build, sources.again) == ("make app", "")


@pytest.mark.parametrize(("name", "why"), [("python3.11", "in Python"), ("go.sh", "is a script")])
def test_what_is_not_compiled_is_not_asked_for_debug_information(
    project: Path, name: str, why: str
) -> None:
    (project / name).write_text("#!/bin/sh\n")
    with pytest.raises(NotPossibleError, match=why):
        find_sources(project / name, Told(), None, project / "imbrex-tune")


def test_without_debug_information(project: Path) -> None:
    compiled(project, "-O1")
    with pytest.raises(NotPossibleError, match="compile it with -g"):
        found(project)


def test_a_build_that_fails_is_one_line(project: Path, tmp_path: Path) -> None:
    command = "echo app.c:3: error: no such thing; exit 4"
    sources = found(project, Told(build=command))
    tree = tmp_path / "out" / "copy"
    copy(sources.root, sources.copied, tree)
    with pytest.raises(NotPossibleError, match=r"exit code 4 .*app\.c:3: error: no such thing"):
        build(sources, tree, 60)
    with pytest.raises(NotPossibleError, match="made no app: give --build"):
        build(found(project, Told(build="true")), tree, 60)
    with pytest.raises(NotPossibleError, match="did not end in time"):
        build(found(project, Told(build="sleep 600")), tree, 1)


def test_a_damaged_compile_database_is_one_line(project: Path) -> None:
    (project / "compile_commands.json").write_text("{")
    with pytest.raises(ImbrexError, match="not a readable compile database"):
        found(project)


def test_a_wrapper_that_finds_its_headers_beside_itself(project: Path, tmp_path: Path) -> None:
    """As that of MPICH's wheel, which asks for its own path."""
    prefix = tmp_path / "an mpi"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "include").mkdir()
    (prefix / "include" / "found.h").touch()
    mpicc = prefix / "bin" / "mpicc"
    mpicc.write_text(f'#!/bin/sh\nexec {CC} -I"$(dirname "$0")/../include" "$@"\n')
    mpicc.chmod(0o755)
    rule = "app: app.c\n\tmpicc -g -include found.h -Ilib -o app app.c lib/half.c\n"
    (project / "Makefile").write_text(rule)
    sources = found(project, mpicc=str(mpicc))
    assert sources.build == "make app"
    copy(sources.root, sources.copied, tmp_path / "tree")
    assert build(sources, tmp_path / "tree", 60.0) == tmp_path / "tree" / "app"
