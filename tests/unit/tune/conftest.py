"""Runs whose causes are known, as the diagnosis has them."""

from tests.unit.diagnosis.conftest import call, make_caused

__all__ = ["call", "make_caused"]
