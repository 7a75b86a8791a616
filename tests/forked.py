"""The `imbrex` command, in a process of its own that has its modules from the beginning.

Importing them takes longer than most commands. A server imports them once for each process of
pytest, and forks where a command is asked for: what runs then has its own arguments, folder,
environment, standard streams and exit code, and runs until the interpreter's end. What a new
interpreter alone can do, as another encoding, gets one.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

OF_THE_INTERPRETER = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_", "OPENBLAS_", "ASAN_", "TZ")
"""How the variables begin that Python and its libraries read when they start."""
_MOST_BYTES = 1 << 17
_ASKING = Lock()


def imbrex(
    words: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float,
    within: Sequence[str] = (),
    **streams: Any,
) -> subprocess.CompletedProcess[str]:
    """`imbrex WORDS` to its end, as subprocess.run with text=True; output is kept by default.

    `within`: the words in front of a command that is to run where they lead, as in a network
    namespace. Raises TimeoutExpired where it runs longer than `timeout` seconds, and ends it.
    """
    from tests import known_machine  # not for the server, which is this file too

    environment = dict(os.environ if env is None else env)
    known_machine.keep(words, environment)
    request = json.dumps([list(words), str(cwd or Path.cwd()), environment]).encode()
    if not _can_fork(environment) or streams or len(request) > _MOST_BYTES:
        kept = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
        line = [*within, sys.executable, "-m", "imbrex.cli", *words]
        return subprocess.run(
            line, cwd=cwd, env=environment, text=True, timeout=timeout, check=False, **kept
        )
    return _forked(words, request, timeout, tuple(within))


def _can_fork(environment: Mapping[str, str]) -> bool:
    """Whether a new interpreter would start with this environment as the server did."""
    return all(
        environment.get(name) == os.environ.get(name)
        for name in {*environment, *os.environ}
        if name.startswith(OF_THE_INTERPRETER)
    )


@cache
def _server(_pytest: int, within: tuple[str, ...]) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """The server of this process of pytest, at whose end it ends too, and the connection to it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # It is no process of the test that is the first to ask: see left_behind.py.
    environment = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
    with theirs:
        command = [*within, sys.executable, __file__, str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=environment)

    def end() -> None:
        ours.shutdown(socket.SHUT_RDWR)  # whoever else was forked with it open
        ours.close()
        process.wait()

    atexit.register(end)
    return ours, process


def _asked(request: bytes, within: tuple[str, ...], files: Sequence[int] = ()) -> int:
    """The server's answer, one number."""
    with _ASKING:
        connection, _ = _server(os.getpid(), within)
        socket.send_fds(connection, [request], list(files))
        return int(connection.recv(100))


def _forked(
    words: Sequence[str], request: bytes, timeout_s: float, within: tuple[str, ...]
) -> subprocess.CompletedProcess[str]:
    until = time.monotonic() + timeout_s
    pipes = [os.pipe(), os.pipe()]
    with Path(os.devnull).open() as nothing:
        process = _asked(request, within, [nothing.fileno(), *(write for _, write in pipes)])
    for _, write in pipes:
        os.close(write)
    kept = {read: b"" for read, _ in pipes}
    ended = os.pidfd_open(process)
    try:
        with selectors.DefaultSelector() as waiting:
            for file in (*kept, ended):
                waiting.register(file, selectors.EVENT_READ)
            while waiting.get_map():
                for key, _ in waiting.select(max(0.0, until - time.monotonic())):
                    data = os.read(key.fd, 1 << 16) if key.fd in kept else b""
                    if data:
                        kept[key.fd] += data
                    else:
                        waiting.unregister(key.fd)
                if time.monotonic() >= until and waiting.get_map():
                    signal.pidfd_send_signal(ended, signal.SIGKILL)
                    raise subprocess.TimeoutExpired(["imbrex", *words], timeout_s, *kept.values())
    finally:
        code = _asked(json.dumps(process).encode(), within)
        for file in (*kept, ended):
            os.close(file)
    out, err = (data.decode().replace("\r\n", "\n") for data in kept.values())
    return subprocess.CompletedProcess(["imbrex", *words], code, out, err)


def _serve(connection: socket.socket) -> None:
    """Fork for each command; returns in the process of the command alone."""
    while True:
        data, files, _, _ = socket.recv_fds(connection, _MOST_BYTES, 3)
        if not data:
            sys.exit()
        request = json.loads(data)
        if isinstance(request, int):
            _, status = os.waitpid(request, 0)
            answer = os.waitstatus_to_exitcode(status)
        else:
            answer = os.fork()
            if answer == 0:
                break
        for file in files:
            os.close(file)
        connection.send(str(answer).encode())
    connection.close()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    words, folder, environment = request
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    sys.argv[1:] = words


def _start() -> None:
    """Import what the commands need, serve, and run the command that is asked for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: it ends with pytest
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a thread is not forked with its process
    del sys.path[0]  # the folder of this file
    from imbrex import cli

    for command in cli.COMMANDS.values():
        importlib.import_module(command.target.partition(":")[0])
    gc.freeze()
    sys.argv[0] = f"{cli.__path__[0]}/__main__.py"
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        connection.set_inheritable(False)
        _serve(connection)
    cli.main()


if __name__ == "__main__":
    _start()
