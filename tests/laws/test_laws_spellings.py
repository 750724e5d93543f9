"""What is asked alike runs alike: all spellings of one meaning have equal matches, and run as one.

Conditions are written in any way (strategies/spellings.py), in every place that a family knows. Texts of one language
and one way to part the stream are one group, or have the same states where there is none.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from strategies.spellings import SCHEMAS, Batch, Spelled, apart, batches, constants, spelled

from benchmarks.groups.shapes import Constants
from benchmarks.spellings import FAMILIES, OTHER
from benchmarks.ticks import ATTRIBUTES, STREAM
from broker.engine import Engine, Options
from broker.engine.executors.groups.machine_plan import GroupPlan
from broker.engine.inspection.costs import plans_of

WAYS: Final = (Options(), Options(), Options(columns=False), Options(batches=False))


def engine_of(schema: dict[str, str], options: Options | None = None) -> Engine:
    engine = Engine(options)
    for stream in (STREAM, OTHER):
        engine.add_stream(stream, schema)
    return engine


def matches(engine: Engine, published: Sequence[Batch], plain: bool) -> dict[str, Counter[Any]]:
    """By subscription; of `plain` streams only what all languages tell."""
    found: dict[str, Counter[Any]] = {}
    results = [engine.publish(each.stream, each.times, each.rows, starts=each.starts) for each in published]
    for result in (*(match for each in results for match in each), *engine.finish()):
        values = () if plain or result.bindings is not None else tuple(result.data.items())
        key = result.start, result.end, tuple(result.lineage or ()), values
        found.setdefault(result.subscription, Counter())[key] += 1
    return found


@settings(max_examples=6 * settings().max_examples, deadline=None)
@given(st.integers(0, 2**40))
def test_all_spellings_have_equal_matches(seed: int) -> None:
    """On points in time of all languages; on ties and events that last those of CEL, and those of the others."""
    chance = random.Random(seed)
    family = chance.choice(list(FAMILIES))
    schema, plain = chance.choice(SCHEMAS), chance.random() < 0.3
    members = [constants(chance) for _ in range(chance.choice((1, 1, 2)))]
    texts = [
        (number, spelled(chance, family, way, each)) for number, each in enumerate(members) for way in FAMILIES[family]
    ]
    note([text for _, text in texts])
    engine = engine_of(schema, chance.choice(WAYS))
    for at, (_, each) in enumerate(texts):
        engine.subscribe(f"q{at}", each.language, each.text, lineage=True)
    found = matches(engine, batches(chance, schema, plain=plain), plain)
    expected: dict[tuple[int, bool], Counter[Any]] = {}
    for at, (number, each) in enumerate(texts):
        own = found.get(f"q{at}", Counter())
        assert own == expected.setdefault((number, not plain and each.language == "cayuga"), own), each


@pytest.mark.parametrize("family", FAMILIES)
def test_families_have_matches(family: str) -> None:
    """Else their equality would say nothing."""
    chance = random.Random(1)
    found = 0
    for _ in range(10):
        engine = engine_of(SCHEMAS[0])
        each = spelled(chance, family, next(iter(FAMILIES[family])), constants(chance), adding=False)
        engine.subscribe("q", each.language, each.text, lineage=True)
        found += sum(matches(engine, batches(chance, SCHEMAS[0], 80), True).get("q", Counter()).values())
    assert found >= 10


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=max(1, settings().max_examples // 10), deadline=None)
@given(seed=st.integers(0, 2**40))
def test_all_spellings_run_as_one(family: str, seed: int) -> None:
    chance = random.Random(seed)
    texts = [spelled(chance, family, way, apart(chance, 400 + seed % 400)) for way in FAMILIES[family]]
    kinds: dict[str, list[Spelled]] = {}
    for each in texts:
        kinds.setdefault(each.kin, []).append(each)
    for kin in kinds.values():
        note(kin)
        engine = engine_of(dict(ATTRIBUTES))
        for at, each in enumerate(kin):
            engine.subscribe(f"q{at}", each.language, each.text, lineage=True)
        plans = [plan for each in engine.catalog.subscriptions.values() for plan in plans_of(each)]
        forms = {plan.form for plan in plans if isinstance(plan, GroupPlan)}
        if forms:
            assert (len(forms), len(plans)) == (1, len(kin))
            assert all(isinstance(plan, GroupPlan) for plan in plans)
        else:
            share(family, [each.way for each in kin], apart(chance, 400), seed)


def share(family: str, ways: Sequence[str], members: Constants, seed: int) -> None:
    """With equal constants all have the states of one."""
    chance = random.Random(seed)
    engine = engine_of(dict(ATTRIBUTES))
    states: set[tuple[int, int]] = set()
    for at, way in enumerate(ways):
        each = spelled(chance, family, way, members)
        engine.subscribe(f"q{at}", each.language, each.text, lineage=False)
        figures = engine.statistics()
        states.add((figures["states"], figures.get("machines", 0)))
    assert len(states) == 1, (ways, states)
