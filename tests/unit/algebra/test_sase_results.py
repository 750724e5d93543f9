"""What the meaning of SASE+ patterns says of the order and the form of results."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from strategies.sase import histories, lowered, queries

from broker.algebra.sase.semantics import Event, known_after, matches, returned


@given(queries(), histories())
def test_results_are_reported_in_order_and_as_their_schema_says(text: str, events: list[Event]) -> None:
    pattern = lowered(text)
    found = matches(pattern, events)
    moments = [known_after(pattern, events, match) for match in found]
    assert moments == sorted(moments)
    kinds = {"string": str, "int": int, "float": float, "bool": bool}
    for match in found:
        row = returned(pattern, events, match)
        for attribute, value in zip(pattern.result_schema.attributes, row, strict=True):
            assert type(value) is kinds[attribute.type] or (value is None and attribute.nullable)


@given(queries(), histories())
def test_nonoverlapping_results_follow_each_other(text: str, events: list[Event]) -> None:
    pattern = lowered(text.split(" OUTPUT ")[0] + " OUTPUT nonoverlap")
    whole = lowered(text.split(" OUTPUT ")[0])
    chosen, everything = matches(pattern, events), matches(whole, events)
    assert set(chosen) <= set(everything)
    assert bool(chosen) == bool(everything)
    if not pattern.partition:
        assert all(one[-1][-1] < other[0][0] for one, other in pairwise(chosen))
