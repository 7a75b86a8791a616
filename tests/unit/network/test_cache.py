"""Which circumstances make a profile usable again, and which settings count."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from imbrex.cli.calibrate import calibrate
from imbrex.errors import ImbrexError
from imbrex.mpi_environment.mpi_library import MpiLibrary
from imbrex.network import cache, load, obtain, settings
from imbrex.network.profile import MachineProfile, NetworkPath, Point
from imbrex.probe import calibrate as calibration


def example_profile(name: str) -> MachineProfile:
    return MachineProfile(
        library_name=name,
        library_version="1",
        hosts=("a",),
        ranks=1,
        settings={},
        paths={"self": NetworkPath((Point(1, 0.0, 1e-6),), 0.0)},
        collectives=(),
        created="",
        imbrex_version="",
        quick=True,
    )


LINE = ("mpirun", "-n", "2")


def test_key_changes_with_what_changes_transfers(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("a\n")
    line = (*LINE, "--hostfile", str(hosts))
    keys = [
        cache.key("lib", LINE, {}),
        cache.key("other", LINE, {}),
        cache.key("lib", ("mpirun", "-n", "4"), {}),
        cache.key("lib", (*LINE, "--mca", "btl", "tcp,self"), {}),
        cache.key("lib", LINE, {"UCX_TLS": "tcp"}),
        cache.key("lib", LINE, {"SLURM_JOB_NODELIST": "n[1-2]"}),
        cache.key("lib", line, {}),
    ]
    hosts.write_text("b\n")
    keys.append(cache.key("lib", line, {}))
    assert len(set(keys)) == len(keys)
    assert cache.key("lib", LINE, {"HOME": "/elsewhere", "PATH": "x"}) == keys[0]


def test_settings_of_launcher_and_environment() -> None:
    words = ["mpirun", "--mca", "btl", "tcp,self", "-x", "UCX_TLS=tcp", "-genv", "FI_PROVIDER", "x"]
    found = settings.relevant(words, {"UCX_TLS": "rc", "OMPI_MCA_pml": "ucx", "EDITOR": "vi"})
    assert found == {
        "OMPI_MCA_btl": "tcp,self",
        "OMPI_MCA_pml": "ucx",
        "UCX_TLS": "tcp",
        "FI_PROVIDER": "x",
    }


def test_obtain_prefers_what_is_given_then_what_is_kept(tmp_path: Path) -> None:
    environment = {"IMBREX_CACHE": str(tmp_path)}
    kept, given = example_profile("kept"), example_profile("given")
    cache.keep(cache.key("lib", LINE, environment), kept, environment)
    file = tmp_path / "given.json"
    given.save(file)

    def never() -> Path:
        raise AssertionError("the probes are not needed")

    def line(argv: object) -> list[str]:
        raise AssertionError("nothing is to be started")

    assert obtain(line, never, "lib", LINE, environment=environment) == (kept, "cached")
    found = obtain(line, never, "lib", LINE, environment=environment, machine_file=file)
    assert found == (given, "given")


def test_obtain_measures_when_the_kept_profile_is_broken(tmp_path: Path) -> None:
    environment = {"IMBREX_CACHE": str(tmp_path)}
    name = cache.key("lib", LINE, environment)
    file = cache.keep(name, example_profile("kept"), environment)
    assert file is not None and load(file)
    file.write_text("{")
    with pytest.raises(ImbrexError, match="cannot start"):
        obtain(
            lambda argv: ["/no/such/launcher", *argv],
            Path("probes"),
            "lib",
            LINE,
            environment=environment,
        )


def test_key_changes_with_the_method_and_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile that another method made is not met again."""
    before = cache.key("lib", LINE, {})
    with monkeypatch.context() as changed:
        changed.setattr(cache, "fingerprint_of_method", lambda: "another")
        assert cache.key("lib", LINE, {}) != before
    with monkeypatch.context() as changed:
        changed.setattr(cache, "__version__", "another")
        assert cache.key("lib", LINE, {}) != before
    assert cache.key("lib", LINE, {}) == before


def test_method_is_the_probes_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cache, "source_folder", lambda tree: tmp_path)
    (tmp_path / "a.c").write_text("1")
    digest = cache.fingerprint_of_method.__wrapped__
    first = digest()
    (tmp_path / "a.c").write_text("2")
    second = digest()
    (tmp_path / "a.o").write_text("no source")
    assert first != second == digest()


def test_a_calibration_that_cannot_be_kept_is_not_begun(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It takes minutes, and without -o its profile would be gone."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("IMBREX_CACHE", str(tmp_path / "file"))
    assert cache.unwritable() == (
        f"{tmp_path}/file/machines: profiles cannot be kept there (Not a directory)"
    )
    done = CliRunner().invoke(calibrate, ["--", "/no/such/launcher"])
    assert isinstance(done.exception, ImbrexError)
    assert "name a file with -o" in str(done.exception)
    monkeypatch.setenv("IMBREX_CACHE", str(tmp_path / "new"))
    assert cache.unwritable() is None


@pytest.mark.parametrize("most_bytes", [None, 4096])
def test_a_profile_of_smaller_messages_is_in_its_file_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, most_bytes: int | None
) -> None:
    commands: list[list[str]] = []

    def started(command: list[str], *_: object) -> None:
        commands.append(command)
        raise ImbrexError("nothing is started here")

    def measured(*given: object, **how: object) -> MachineProfile:
        with pytest.raises(ImbrexError, match="nothing is started"):
            calibrate_as_asked(*given, **how)
        return example_profile("Open MPI")

    calibrate_as_asked = calibration.network.calibrate
    library = MpiLibrary(Path(__file__), "libmpi.so.40", "openmpi")
    module = importlib.import_module("imbrex.network.obtain")
    monkeypatch.setattr(module, "run_probes", started)
    monkeypatch.setattr(calibration.network, "calibrate", measured)
    monkeypatch.setattr(calibration, "library_of_launcher", lambda *_: library)
    monkeypatch.setattr(calibration, "build", lambda *_: tmp_path)
    monkeypatch.setenv("IMBREX_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "machine.json"
    calibration.calibrate(calibration.Request(LINE, file, quick=True, most_bytes=most_bytes))
    (command,) = commands
    asked = ["--max-bytes", "4096"]
    assert (command[-3:-1] == asked) == (most_bytes is not None)
    assert file.exists()
    kept = list((tmp_path / "cache").rglob("*.json"))
    assert len(kept) == (most_bytes is None)
