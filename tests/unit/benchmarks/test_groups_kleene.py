"""The Kleene mechanism of groups, which no executor has yet: tickets stand for the members of a run."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.groups.kleene import KleeneCell, KleeneTemplate
from broker.engine.executors.groups.blocks import MatchBlocks
from broker.engine.executors.groups.columns import floats_from, integers_from
from broker.engine.executors.groups.coordinates import (
    ATTRIBUTE,
    REGISTER,
    CoordinateBound,
)
from broker.engine.executors.groups.steps import StepClause

MANY = settings(max_examples=6 * settings().max_examples)
Points = dict[int, tuple[list[float], int]]


@MANY
@given(st.integers(0, 2**32), st.integers(1, 2), st.booleans())
def test_tickets_stand_for_their_members(seed: int, d: int, tested: bool) -> None:
    """Runs that begin, complete and end at random; members come and go; saved and loaded."""
    chance = random.Random(seed)
    begin = StepClause([CoordinateBound(j, ATTRIBUTE, j, 1.0) for j in range(d)])
    end = StepClause([CoordinateBound(d, REGISTER, register=0)]) if tested else None
    made = KleeneTemplate(d + tested, begin, end)
    cell, event = KleeneCell(made), 0
    kept: dict[int, list[float]] = {}
    runs: dict[int, tuple[int, tuple[float, ...], set[int]]] = {}  # by ticket: first event, row, members
    handle = 0
    for _ in range(60):
        what = chance.randrange(8)
        if what <= 1:
            kept[handle] = [float(chance.randint(0, 4)) for _ in range(d + tested)]
            cell.join(handle, kept[handle], event)
            handle += 1
        elif what == 2 and kept:
            gone = chance.choice(list(kept))
            cell.leave(gone, kept.pop(gone))
            runs = {t: (first, row, who - {gone}) for t, (first, row, who) in runs.items()}
        elif what <= 4:
            row = tuple(float(chance.randint(0, 4)) for _ in range(d))
            who = {h for h, point in kept.items() if all(a <= b for a, b in zip(point, row))}
            ticket = cell.begin(row, event, event)
            assert ticket >= 0 or not who
            if ticket >= 0:
                runs[ticket] = event, row, who
            event += 1
        elif what <= 6 and runs:
            ticket = chance.choice(list(runs))
            first, row, who = runs[ticket]
            count = float(chance.randint(0, 4))
            out = MatchBlocks()
            out.event = event
            out.add_number(first)
            cell.complete(ticket, row, event, first, floats_from([count]), 0, out)
            expected = {h for h in who if not tested or kept[h][d] <= count}
            assert sorted(out.each()) == sorted((0, h, (first, event)) for h in expected)
            assert out.count() == len(expected)
            event += 1
            if chance.random() < 0.3:
                cell.forget(ticket)
                del runs[ticket]
        else:
            dumped: Any = cell.dump()
            cell = KleeneCell(made)
            for each, point in kept.items():
                cell.join(each, point, 0)
            cell.load(dumped)
            if tested:  # who joined since is kept out by `since`, which the host keeps
                runs = {}
                cell.load({"tickets": []})
        cell.check_invariants()


def test_a_ranking_that_was_handed_on_does_not_change() -> None:
    cell = KleeneCell(KleeneTemplate(1, StepClause([CoordinateBound(0, ATTRIBUTE, 0, 1.0)])))
    cell.join(1, [1.0], 0)
    ticket = cell.begin((5.0,), 0, 0)
    out = MatchBlocks()
    out.add_number(0)
    cell.complete(ticket, (5.0,), 1, 0, floats_from([]), 0, out)
    cell.join(2, [0.0], 1)
    cell.leave(1, [1.0])
    assert [match.handle for match in out.each()] == [1]
    assert list(integers_from([1])) == [1]
