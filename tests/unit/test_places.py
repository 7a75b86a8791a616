"""Where Imbrex keeps, builds and writes: odd settings of the user's are one line, or no matter."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from imbrex.errors import ImbrexError
from imbrex.launch import run_directory
from imbrex.mpi_environment import native
from imbrex.mpi_environment.mpi_library import MpiLibrary, library_of_compiler
from imbrex.network import cache


def test_a_relative_cache_holds_in_any_working_directory(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("IMBREX_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "kept")
    assert native.cache_folder() == tmp_path / "kept" / "imbrex"
    assert cache.folder() == tmp_path / "kept" / "imbrex" / "machines"


def test_without_a_home_directory(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    with pytest.raises(ImbrexError, match="set XDG_CACHE_HOME"):
        native.cache_folder()


@pytest.mark.parametrize("name", ["a b", "a:b"])
def test_a_runtime_that_could_not_be_preloaded_is_not_built(monkeypatch, tmp_path, name):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
    (tmp_path / "libmpi.so").touch()
    library = MpiLibrary(tmp_path / "libmpi.so", "libmpi.so.40", "openmpi", tmp_path / "mpicc")
    with pytest.raises(ImbrexError, match="LD_PRELOAD takes no path with a blank or a colon"):
        native.build("runtime", library)
    assert not (tmp_path / name).exists()


def test_a_runtime_for_a_debugger_is_one_of_its_own(monkeypatch, tmp_path):
    library = MpiLibrary(tmp_path / "libmpi.so", "libmpi.so.40", "openmpi", tmp_path / "mpicc")
    built = []

    def make(tree, source, mpicc, build_type, target):
        built.append(build_type)
        target.mkdir()

    (tmp_path / "libmpi.so").touch()
    monkeypatch.setattr(native, "_build", make)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("IMBREX_BUILD_TYPE", raising=False)
    optimized = native.build("runtime", library)
    monkeypatch.setenv("IMBREX_BUILD_TYPE", "Debug")
    assert native.build("runtime", library) != optimized
    assert built == ["Release", "Debug"]
    monkeypatch.setenv("IMBREX_BUILD_TYPE", "Fast")
    with pytest.raises(ImbrexError, match="IMBREX_BUILD_TYPE=Fast: it is Release or Debug"):
        native.build("runtime", library)


def test_the_compiler_does_not_depend_on_the_user_s_temporary_files(monkeypatch, tmp_path):
    """gcc keeps to TMPDIR where Python turns to another folder."""
    monkeypatch.setenv("TMPDIR", str(tmp_path / "full"))
    compiler = tmp_path / "mpicc"
    compiler.write_text(f'#!/bin/sh\necho "$TMPDIR" > {tmp_path}/used\nexit 1\n')
    compiler.chmod(0o755)
    assert library_of_compiler(compiler) is None
    assert (tmp_path / "used").read_text().strip() != str(tmp_path / "full")


@pytest.mark.parametrize("before", [False, True])
def test_a_run_directory_that_cannot_be_written_leaves_nothing(monkeypatch, tmp_path, before):
    def full(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    if before:
        (tmp_path / "run").mkdir()
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ImbrexError, match="No space left"):
        run_directory.create(tmp_path / "run", force=before)
    assert (tmp_path / "run").exists() == before
