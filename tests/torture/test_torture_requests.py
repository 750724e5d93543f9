"""Requests of odd values: each has an answer, and the kernel stays whole. The long form is torture.requests."""

from __future__ import annotations

from hypothesis import settings
from torture.requests import attack

REQUESTS = max(6_000, 120 * settings().max_examples)
"""6,000 in `make test`, 14,400 in `make verify`: few of them come as far as a query."""


def test_a_request_of_odd_values_has_its_answer() -> None:
    met = attack(REQUESTS, 1)
    assert {"Published", "Subscribed", "event", "query", "definition", "refused by the decoder"} <= met.keys()
    assert "internal" not in met
