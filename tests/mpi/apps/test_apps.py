"""The mini-apps by themselves: they verify, agree with each other, and refuse bad usage."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.untimed

# name, options, and how far values may differ between numbers of ranks (relative; sums over ranks
# round differently; cg stops within its tolerance of the solution)
CASES = {
    "halo2d": (["--n", "150", "--steps", "20"], 1e-13),
    "halo3d": (["--n", "30", "--steps", "10"], 1e-13),
    "cg": (["--n", "16"], 1e-9),
    "wavefront": (["--n", "18", "--nz", "12", "--planes", "3", "--sweeps", "3"], 1e-12),
    "bucket": (["--log-keys", "14", "--iterations", "3"], 0.0),
    "fft": (["--n", "16", "--steps", "2"], 1e-13),
    "front": (["--cells", "500", "--planes", "12", "--steps", "8"], 1e-12),
    "bossworker": (["--cells", "6"], 0.0),
    "ssor": (["--n", "12"], 1e-12),
    "mg": (["--n", "16", "--cycles", "2"], 1e-12),
    "line": (["--n", "12", "--chunk", "16"], 1e-12),
    "sweep": (["--n", "12", "--planes", "4"], 1e-12),
}
VARIANTS = {
    "halo2d": ["blocking", "late-wait", "overlapped", "boundary-first"],
    "halo3d": ["blocking", "late-wait", "overlapped", "faces"],
    "cg": ["blocking", "separate", "overlapped"],
    "wavefront": ["blocking", "overlapped"],
}


@pytest.mark.parametrize("name", CASES)
def test_verifies_and_agrees(apps, name):
    options, tolerance = CASES[name]
    values = {}
    most = next(iter(apps))
    for library, built in apps.items():
        # One rank and four compute the same with every library.
        for ranks in (1, 2, 4) if library == most else (2,):
            variants = VARIANTS.get(name, [None])
            for variant in variants:
                chosen = [] if variant is None else ["--variant", variant]
                result = built.run(ranks, name, *options, *chosen)
                assert (result.exit_code, result.verdict) == (0, "PASSED"), result
                values[library, ranks, variant] = result.value

    reference = float(next(iter(values.values())))
    for key, value in values.items():
        assert float(value) == pytest.approx(reference, rel=tolerance, abs=0), key
    for (library, ranks, variant), value in values.items():
        # variants and libraries do the same arithmetic on the same number of ranks
        if name != "cg" and VARIANTS.get(name):
            assert value == values[library, ranks, VARIANTS[name][0]], (library, ranks, variant)


@pytest.mark.parametrize("name", CASES)
def test_same_bits_from_run_to_run(apps, name):
    options, _ = CASES[name]
    built = next(iter(apps.values()))
    first, second = (built.run(2, name, *options) for _ in range(2))
    assert first.value == second.value


@pytest.mark.parametrize(
    "program",
    [
        ["cg", "--n", "30", "--iterations", "5"],
        ["ssor", "--n", "12", "--iterations", "1"],
        ["line", "--n", "8", "--steps", "1"],
    ],
    ids=lambda program: program[0],
)
def test_says_when_it_has_not_converged(apps, execute, program):
    built = list(apps.values())[-1]
    result = execute([str(built.folder / program[0]), *program[1:]])
    assert (result.exit_code, result.verdict) == (1, "FAILED")


def test_boss_and_worker_as_two_programs(apps, execute):
    for built in apps.values():
        alone = built.run(1, "bossworker", "--cells", "6")
        for order in (("boss", "worker"), ("worker", "boss")):
            words = [f"mpirun.{built.library}"]
            for program in order:
                options = ["--cells", "6"] if program == "boss" else []
                words += [":"] if len(words) > 1 else []
                words += ["-n", "1", str(built.folder / program), *options]
            both = execute(words)
            assert (both.exit_code, both.value) == (0, alone.value), both
        nobody_leads = built.run(2, "worker")
        assert nobody_leads.exit_code == 2
        assert "one boss is needed" in nobody_leads.errors


def test_halo_divides_along_any_dimension(apps):
    built = next(iter(apps.values()))
    for variant in VARIANTS["halo3d"]:
        for shape in ([1, 1, 2], [1, 2, 1], [1, 2, 2]):
            words = [f"--p{axis}={count}" for axis, count in zip("xyz", shape, strict=True)]
            options = [part for argument in words for part in argument.split("=")]
            ranks = shape[0] * shape[1] * shape[2]
            result = built.run(
                ranks, "halo3d", "--n", "18", "--steps", "5", "--variant", variant, *options
            )
            assert (result.exit_code, result.verdict) == (0, "PASSED"), (shape, variant)


@pytest.mark.parametrize("name", CASES)
def test_command_line(apps, execute, name):
    # as a singleton: Open MPI's launcher takes seconds to end after a non-zero exit
    program = str(list(apps.values())[-1].folder / name)
    shown = execute([program, "--help"])
    assert shown.exit_code == 0
    assert CASES[name][0][0] in shown.output
    for bad in (["--no-such-option", "3"], [CASES[name][0][0], "many"], [CASES[name][0][0], "-1"]):
        refused = execute([program, *bad])
        assert refused.exit_code == 2, bad
        assert refused.errors.startswith("error: "), refused
        assert "verification" not in refused.output
