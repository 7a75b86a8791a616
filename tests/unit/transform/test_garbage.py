"""What a transformation leaves behind in a process that does many."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from imbrex.transform import garbage
from imbrex.transform.garbage import keep, uncollected


@pytest.fixture(autouse=True)
def _nothing_is_left_out(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a process that transforms a program or two; see tests/conftest.py."""
    monkeypatch.setattr(garbage, "_left_out", False)
    gc.unfreeze()
    yield
    gc.collect()
    gc.freeze()


class _Model:
    """Refers to itself, as a program model does."""

    def __init__(self) -> None:
        self.own = self


def _left_models(count: int) -> list[weakref.ref[_Model]]:
    left = []
    for _ in range(count):
        with uncollected():
            left.append(weakref.ref(_Model()))
    return left


def test_models_of_earlier_calls_are_let_go() -> None:
    left = _left_models(40)
    assert sum(model() is not None for model in left) < 10


def test_within_a_call_nothing_is_searched() -> None:
    with uncollected():
        left = _left_models(40)
        assert not gc.isenabled()
        assert all(model() is not None for model in left)


@pytest.mark.parametrize("for_good", [False, True])
def test_what_a_call_keeps_is_let_go_behind_it(for_good: bool) -> None:
    if for_good:  # a process whose older objects no search goes over
        garbage.leave_out()
    with uncollected():
        (model,) = (weakref.ref(each) for each in [_Model()])
        keep()
        gc.collect()
        assert (model() is None) is for_good
    gc.collect()
    assert model() is None


@pytest.mark.parametrize("enabled", [True, False])
def test_python_s_own_setting_comes_back(enabled: bool) -> None:
    try:
        if not enabled:
            gc.disable()
        with uncollected():
            pass
        assert gc.isenabled() is enabled
        assert gc.get_freeze_count() == 0
    finally:
        gc.enable()


def test_models_of_attempts_are_let_go_where_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    with uncollected():
        few = weakref.ref(_Model())
        garbage.collect(0)
        assert few() is not None
        monkeypatch.setattr(garbage, "_OBJECTS_LEFT", 1000)
        many = [weakref.ref(_Model()) for _ in range(2000)]
        garbage.collect(10_000)  # of which there are not three yet
        assert few() is not None
        garbage.collect(100)
        assert few() is None and not any(model() for model in many)


def test_what_is_left_out_is_not_searched_again() -> None:
    earlier = _Model()
    kept = weakref.ref(earlier)
    garbage.leave_out()
    del earlier
    left = _left_models(40)
    assert gc.isenabled()
    gc.collect()
    assert kept() is not None and not any(model() for model in left)
