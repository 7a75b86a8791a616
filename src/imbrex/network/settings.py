"""What of the environment and the launcher line changes how messages move."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

PREFIXES = (
    "OMPI_MCA_",
    "PMIX_MCA_",
    "PRTE_MCA_",
    "MPIR_CVAR_",
    "MPICH_",
    "MV2_",
    "UCX_",
    "FI_",
    "I_MPI_",
    "PSM2_",
    "SLURM_MPI",
)
_WITHOUT_EFFECT = re.compile(
    r"""
    (OMPI|PRTE|PMIX)_MCA_(
        rmaps_base_oversubscribe | \w*_verbose | \w*show_help\w*
        | plm_\w* | ras_\w* | odls_\w* | orte_(?!process)\w* | mpi_(warn|show|yield)\w*
        | btl_base_warn_component_unused | \w*_tmpdir\w* )
    | UCX_(LOG_\w+ | WARN_\w+ | HANDLE_ERRORS | ERROR_\w+ | STATS_\w+ | VFS_\w+)
    | FI_LOG_\w+ | I_MPI_(DEBUG\w* | HYDRA_\w+ | ROOT | STATS\w*)
    | MPIR_CVAR_(\w*DEBUG\w* | ERROR_CHECKING | \w*STACK\w*)
    """,
    re.VERBOSE,
)
"""Variables that change what is printed and where ranks may start, and not how data moves."""
_WORDS_WITHOUT_EFFECT = frozenset(
    [
        "--oversubscribe",
        "-oversubscribe",
        "--allow-run-as-root",
        "-q",
        "--quiet",
        "-l",
        "--show-progress",
        "--tag-output",
        "-tag-output",
        "--timestamp-output",
        "-timestamp-output",
    ]
)
_ALLOCATION = ("SLURM_JOB_NODELIST", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE", "COBALT_NODEFILE")
_MCA = ("--mca", "-mca", "--gmca", "-gmca", "--prtemca", "--pmixmca")
_LARGEST_HOST_FILE_BYTES = 1 << 20


def _matters(variable: str, value: str) -> bool:
    if not variable.startswith(PREFIXES) or _WITHOUT_EFFECT.fullmatch(variable):
        return False
    return value != ":oversubscribe"  # of a mapping policy: only what it permits


def words_that_matter(words: Sequence[str]) -> list[str]:
    """The launcher's line without what only changes its output or permits more ranks than cores.

    Its settings are known by `relevant`, however they are given.
    """
    kept: list[str] = []
    rest = iter(words)
    for argument in rest:
        if argument in _MCA:
            name, value = next(rest, ""), next(rest, "")
            kept += [argument, name, value] if _matters(f"OMPI_MCA_{name}", value) else []
        elif argument not in _WORDS_WITHOUT_EFFECT:
            kept.append(argument)
    return kept


def from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of `environment` that MPI libraries and their transports read."""
    return {k: v for k, v in sorted(environment.items()) if _matters(k, v)}


def from_launcher(words: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The settings that a launcher line carries: MCA parameters and exported variables.

    `--mca btl tcp,self` becomes OMPI_MCA_btl, as the library itself has it.
    """
    found: dict[str, str] = {}
    for i, argument in enumerate(words):
        following = [*words[i + 1 : i + 3], "", ""]
        if argument in _MCA:
            found[f"OMPI_MCA_{following[0]}"] = following[1]
        elif argument in ("-genv", "--genv", "-env", "--env"):
            found[following[0]] = following[1]
        elif argument == "-x":
            name, equals, value = following[0].partition("=")
            found[name] = value if equals else environment.get(name, "")
    return {k: v for k, v in sorted(found.items()) if _matters(k, v)}


def relevant(words: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Both together; the launcher line wins, as it does in the library."""
    return {**from_environment(environment), **from_launcher(words, environment)}


def fingerprint_of_hosts(words: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """What decides on which hosts the ranks run: the allocation, and the host files named."""
    found = {k: environment[k] for k in _ALLOCATION if k in environment}
    for argument in (*words, *(environment[k] for k in _ALLOCATION if k in environment)):
        file = Path(argument.partition("=")[2] or argument)
        try:
            if file.is_file() and file.stat().st_size <= _LARGEST_HOST_FILE_BYTES:
                found[str(file)] = hashlib.sha256(file.read_bytes()).hexdigest()
        except OSError:
            continue
    return found
