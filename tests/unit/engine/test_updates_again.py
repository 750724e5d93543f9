"""Updates that are applied again, all at once: the arcs are those after one update after the other, at a cost that is
linear in their number."""

from __future__ import annotations

import sys
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker.automaton import arc_pieces
from broker.automaton.arc_updates import ArcUpdate, ChangingArcs
from broker.engine import Engine
from broker.engine.languages import afa
from broker.events.errors import DefinitionError
from broker.events.instant import FOREVER

QUERY = "FROM S REGISTER r INT = 0 START a FINAL c n: a -> b WHEN ty = 'A' m: b -> c WHEN ty IN ('B', 'C') b -> b"
INSERTED = ("n: a -> b WHEN ty = 'C'", "m: b -> c WHEN r > 1", "o: b -> b WHEN ty = 'D' SET r = r + 1", "a -> c")


def arcs_of_query() -> ChangingArcs:
    engine = Engine()
    engine.add_stream("S", {"ty": "string"})
    engine.subscribe("q", "afa", QUERY)
    return engine.catalog.subscriptions["q"].first_arcs()


def updates() -> st.SearchStrategy[list[ArcUpdate]]:
    times = st.integers(0, 8)
    one = st.builds(
        lambda insert, delete, begin, length: ArcUpdate(
            tuple(insert), tuple(delete), begin, FOREVER if length == 0 else begin + length
        ),
        st.lists(st.sampled_from(INSERTED), max_size=2), st.lists(st.sampled_from("nmo"), max_size=2), times, times,
    )  # fmt: skip
    return st.lists(one, max_size=8)


@given(updates(), st.integers(0, 8))
def test_all_at_once_and_one_after_the_other(made: list[ArcUpdate], cut: int) -> None:
    one, refused = arcs_of_query(), ""
    for update in made:
        try:
            one = one.updated(update)
        except DefinitionError as error:
            refused = str(error)
            break
    if refused:
        with pytest.raises(DefinitionError) as found:
            arcs_of_query().after(made[:cut]).after(made[cut:])
        assert str(found.value) == refused
        return
    assert arcs_of_query().after(made).automaton == one.automaton
    assert arcs_of_query().after(made[:cut]).after(made[cut:]).automaton == one.automaton


def steps(number: int) -> int:
    """The lines that run for so many updates, each of which exchanges an arc for another one, parsing aside."""
    names = ["n", *(f"n{at}" for at in range(number))]
    made = [
        ArcUpdate((f"{name}: a -> b WHEN ty = 'B'",), (gone,), at, FOREVER)
        for at, (gone, name) in enumerate(pairwise(names))
    ]
    counted = 0

    def line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal counted
        if frame.f_code.co_filename not in (afa.__file__, arc_pieces.__file__):
            return None
        counted += event == "line"
        return line

    changing = arcs_of_query()
    before = sys.gettrace()
    sys.settrace(line)
    try:
        changing.after(made)
    finally:
        sys.settrace(before)
    return counted


def test_their_cost_is_linear_in_their_number() -> None:
    few, many = steps(20), steps(80)
    assert few > 20
    assert many < 4.2 * few
