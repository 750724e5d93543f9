"""What the meaning of SASE+ patterns says of the order and the form of results."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from strategies.sase import SCHEMAS, histories, lowered, queries

from broker.algebra.sase.semantics import Assignment, Event, known_after, matches, returned
from broker.events.schema import Value


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


@given(histories(), st.sampled_from(["k", "p", "w"]), st.sampled_from(["k", "p", "w"]), st.sampled_from(["S", "T"]))
def test_a_test_across_names_keeps_the_matches_with_equal_values(
    events: list[Event], one: str, other: str, stream: str
) -> None:
    """Where nothing but the values decides which events are taken. If the streams differ, the test is a partition."""
    text = f"PATTERN SEQ(S a, {stream}+ b[]) WHERE skip_till_any_match(a, b[]) {{{{ {{}} }}}} WITHIN 6"
    everything = matches(lowered(text.format("TRUE")), events)

    def read(index: int, attribute: str) -> Value:
        stream, _, row = events[index]
        return row[SCHEMAS[stream].position(attribute)]

    def equal(assignment: Assignment) -> bool:
        (first,), others = assignment
        value = read(first, one)
        return value is not None and all(read(each, other) == value for each in others)

    assert matches(lowered(text.format(f"[b[].{other} = a.{one}]")), events) == list(filter(equal, everything))


@given(queries(), histories())
def test_nonoverlapping_results_follow_each_other(text: str, events: list[Event]) -> None:
    pattern = lowered(text.split(" OUTPUT ")[0] + " OUTPUT nonoverlap")
    whole = lowered(text.split(" OUTPUT ")[0])
    chosen, everything = matches(pattern, events), matches(whole, events)
    assert set(chosen) <= set(everything)
    assert bool(chosen) == bool(everything)
    if not pattern.sources[0].key:
        assert all(one[-1][-1] < other[0][0] for one, other in pairwise(chosen))
