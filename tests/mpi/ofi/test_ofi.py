"""Events from inside libfabric, over its real providers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.untimed

HERE = Path(__file__).resolve().parent
RUNTIME = HERE.parents[2] / "runtime"
TRANSPORT = RUNTIME / "transport"
SOURCES = ("ofi", "ofi_objects", "ofi_rma", "ofi_atomic", "onesided", "inflight", "self_messages")


@pytest.fixture(scope="module")
def headers() -> None:
    """Skip where libfabric's headers are not installed."""
    if not Path("/usr/include/rdma/fabric.h").exists():
        pytest.skip("no libfabric headers (libfabric-dev)")


def test_the_declared_interface_is_that_of_the_headers(headers: None) -> None:
    command = ["gcc", "-fsyntax-only", f"-I{RUNTIME}", str(HERE / "programs" / "abi.c")]
    subprocess.run(command, check=True)


@pytest.fixture(scope="module")
def loopback(headers: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("ofi") / "loopback"
    sources = [HERE / "programs" / "loopback.c", *sorted((RUNTIME / "core").glob("*.c"))]
    sources += [RUNTIME / "base" / "clock.c"]
    sources += [TRANSPORT / f"{n}.c" for n in SOURCES]
    command = ["gcc", "-O1", "-g", "-D_GNU_SOURCE", f"-I{RUNTIME}", "-o", str(program)]
    libraries = ["-rdynamic", "-lfabric", "-lpthread", "-ldl"]
    subprocess.run([*command, *map(str, sources), *libraries], check=True)
    return program


@pytest.mark.parametrize("provider", ["tcp;ofi_rxm", "shm"])
def test_every_message_of_an_endpoint_to_itself(loopback: Path, provider: str) -> None:
    done = subprocess.run(
        [str(loopback), provider],
        env={**os.environ, "IMBREX_EVENTS": "ofi", "FI_IFACE": "lo"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip(f"libfabric has no {provider} here")
    assert done.returncode == 0, done.stdout + done.stderr


def test_valgrind_finds_no_error_of_ours(loopback: Path, tmp_path: Path) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind is not installed")
    log = tmp_path / "log"
    command = ["valgrind", "-q", f"--log-file={log}", str(loopback), "tcp;ofi_rxm"]
    environment = {**os.environ, "IMBREX_EVENTS": "ofi", "FI_IFACE": "lo"}
    done = subprocess.run(command, env=environment, timeout=120, check=False)
    if done.returncode == 77:
        pytest.skip("libfabric has no tcp;ofi_rxm here")
    assert done.returncode == 0
    # an error is ours if its first frame is; what libraries do among themselves is not
    first_frames = re.findall(r"at 0x[0-9A-F]+: (\S+)", log.read_text())
    assert [
        f
        for f in first_frames
        if f.startswith(("ix_", "tagged_", "rma_", "atomic_", "cq_", "ended"))
    ] == []
