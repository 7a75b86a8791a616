"""Which settings are tried, and which are left as the user has set them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from imbrex.diagnosis.account import Account, take_account
from imbrex.diagnosis.interval import Interval
from imbrex.tune.settings import setting_candidates

PML = "OMPI_MCA_pml=ucx OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any"


@pytest.fixture
def account(make_caused: Any, call: Any, monkeypatch: pytest.MonkeyPatch) -> Account:
    for name in ("OMPI_MCA_pml", "OMPI_MCA_btl"):
        monkeypatch.delenv(name, raising=False)
    point = {"size_bytes": 1 << 20, "x_lo_s": 1e-3, "x_hi_s": 2e-3, "class": "unknown"}
    profile = {
        **{"format": "imbrex-machine-profile", "schema_version": 1, "created": "x"},
        **{"imbrex_version": "0", "quick": False, "hosts": [], "ranks": 2, "settings": {}},
        **{"library": {"name": "Open MPI", "version": "4.1.4"}, "collectives": []},
        **{"paths": {"intra-node": {"points": [point], "gap_s_per_byte": 1e-9}}},
    }
    run = make_caused(call("MPI_Waitall", 3, 400, transfer=400, gainable=400), profile=profile)
    found = take_account(run)
    return replace(found, whole=replace(found.whole, gainable=Interval(0.0, 0.4)))


def test_what_the_library_knows_is_tried(account: Account) -> None:
    found, notes = setting_candidates(account, 0.01)
    assert PML in [candidate.label for candidate in found]
    assert notes == ()


def test_what_the_user_exports_is_left(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_MCA_pml", "ob1")
    found, notes = setting_candidates(account, 0.01)
    assert PML not in [candidate.label for candidate in found]
    assert notes == (f"{PML}: not tried: OMPI_MCA_pml=ob1 is set by you",)


def test_what_the_line_sets_is_left(account: Account) -> None:
    words = ("mpirun", "--mca", "pml", "ob1", "-n", "2")
    told = replace(account, knowledge=replace(account.knowledge, launcher=words))
    found, notes = setting_candidates(told, 0.01)
    assert PML not in [candidate.label for candidate in found]
    assert notes == (f"{PML}: not tried: OMPI_MCA_pml=ob1 is set by you",)


def test_without_a_machine_profile_it_is_said(account: Account) -> None:
    told = replace(account, knowledge=replace(account.knowledge, profile=None))
    assert setting_candidates(told, 0.01) == (
        [],
        (
            "the settings: not tried: no machine profile tells what this MPI library does here "
            "(imbrex calibrate)",
        ),
    )
