"""Pairs that wait for the deadline of their start, against lists."""

from __future__ import annotations

import random
from typing import Any

import pytest

from broker.engine.executors.groups.pending_pairs import NONE, PendingPairs

Pair = tuple[Any, ...]


@pytest.mark.parametrize("seed", range(20))
def test_columns_have_what_lists_have(seed: int) -> None:
    chance = random.Random(seed)
    between = seed % 3
    columns, lists = PendingPairs(between), dict[int, list[Pair]]()
    for event in range(1, 600):
        for handle in range(chance.choice((0, 0, 1, 3))):
            start = chance.randrange(max(event - 9, 0), event)
            middle = [event - chance.randrange(2) for _ in range(between)]
            columns.add(start, 10 * start + 100, handle, event, 10 * event, middle)
            lists.setdefault(start, []).append((handle, event, 10 * event, *middle))
        if chance.random() < 0.1:
            gone = chance.randrange(3)
            columns.forget(gone)
            lists = {start: [pair for pair in pairs if pair[0] != gone] for start, pairs in lists.items()}
        while columns.upto > 0 and chance.random() < 0.6:
            start = int(columns.start())
            assert start <= min([each for each, pairs in lists.items() if pairs], default=start)
            assert columns.deadline() == 10 * start + 100
            pair_at = columns.pair()
            if pair_at != NONE:
                each = int(columns.each_pair)
                handle, last, time, _, *middle = (int(columns.pairs[pair_at * each + j]) for j in range(each))
                if handle != NONE:
                    assert (handle, last, time, *middle) == lists[start].pop(0)
            if pair_at != NONE:
                columns.drop()
            if columns.pair() == NONE:
                columns.drop_start()
                assert not lists.pop(start, ())
        columns.check_invariants()
        known = [(start, 10 * start + 100, pairs) for start, pairs in sorted(lists.items()) if pairs]
        assert list(columns.each()) == known
