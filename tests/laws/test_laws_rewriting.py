"""Rules change nothing: whatever rules are off, matches are the same, with their ids, values, lineage and order.

Rules by which runs correspond one to one leave partial matches as they are, too. Snapshots go on equally where other
rules are off on the other side. Programs of every language, and templates aimed at the conditions under which a rule is
sound.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from strategies import composite_subscriptions, group_queries, rewritten, sase, typed_queries
from strategies.group_queries import OTHER_SCHEMA, SCHEMA, Action, Joins, Leaves, Publishes, Saves

from broker.automaton.rewriting.table import RULES
from broker.engine import Engine, Options
from broker.engine.reasons.rerun import OTHERS
from broker.events.errors import ForetellError
from broker.language.cayuga.printer import print_query

NAMES: Final = tuple(rule.name for rule in RULES)
EXACT: Final = tuple(rule.name for rule in RULES if rule.runs)
GROUPS: Final = {"S": SCHEMA, "T": OTHER_SCHEMA}
slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


def played(
    actions: Sequence[Action],
    streams: Mapping[str, Mapping[str, str]],
    options: Options,
    later: Options | None = None,
    waiting: bool = False,
) -> dict[str, list[Any]]:
    """By subscription what it has, in order. `later`: the options from the first snapshot on. `waiting`: its partial
    matches, too, after each batch."""
    engine = Engine(options)
    for stream, attributes in streams.items():
        engine.add_stream(stream, attributes)
    found: dict[str, list[Any]] = {}
    here: dict[str, Joins] = {}
    for action in actions:
        match action:
            case Joins(name, text, language, report):
                try:
                    engine.subscribe(name, language, text, lineage=True, report=report)
                except ForetellError as error:
                    found[f"{name}, refused"] = [str(error)]
                    continue
                here[name] = action
            case Leaves(which):
                if here:
                    left = list(here)[which % len(here)]
                    del here[left]
                    engine.unsubscribe(left)
            case Saves():
                options = later or options
                engine = Engine.restore(engine.snapshot(), options)
            case Publishes(times, rows, starts, stream):
                for result in engine.publish(stream, times, rows, starts=starts):
                    found.setdefault(result.subscription, []).append(result)
                for name in here if waiting else ():
                    found.setdefault(f"{name}, partial", []).append(sorted(map(repr, engine.partial_matches(name))))
    for result in engine.finish():
        found.setdefault(result.subscription, []).append(result)
    engine.check_invariants()
    return {name: each if "," in name else ordered(each) for name, each in found.items()}


def ordered(results: list[Any]) -> list[Any]:
    """Results in their order; those of one end, which are a bag, in one of their own."""
    return [each for _, same in groupby(results, lambda each: each.end) for each in sorted(same, key=repr)]


def hold(actions: Sequence[Action], streams: Mapping[str, Mapping[str, str]], seed: int) -> None:
    """On = off: with all rules off, and with one."""
    note([action for action in actions if isinstance(action, Joins)])
    expected = played(actions, streams, Options(rules_off=NAMES))
    assert played(actions, streams, Options()) == expected
    assert played(actions, streams, Options(rules_off=(NAMES[seed % len(NAMES)],))) == expected


def chosen(chance: random.Random) -> Options:
    """Some rules are off, often all or none."""
    return Options(rules_off=chance.choice(((), NAMES, tuple(name for name in NAMES if chance.random() < 0.5))))


def batched(events: Sequence[tuple[str, int, int, Any]], chance: random.Random) -> list[Action]:
    """Events with their stream, end and start, in batches, with a snapshot now and then."""
    found: list[Action] = []
    at = 0
    while at < len(events):
        upto = at + 1
        while upto < len(events) and upto < at + 3 and events[upto][0] == events[at][0]:
            upto += 1
        part = events[at:upto]
        found.append(Publishes([e[1] for e in part], [e[3] for e in part], [e[2] for e in part], part[0][0]))
        if chance.random() < 0.2:
            found.append(Saves())
        at = upto
    return found


@settings(max_examples=2 * settings().max_examples, suppress_health_check=slow)
@given(typed_queries.programs(), typed_queries.histories(), st.integers(0, 2**40))
def test_cel(programs: dict[str, Any], history: list[typed_queries.Happening], seed: int) -> None:
    joins: list[Action] = [Joins(name, print_query(query), "cayuga") for name, query in programs.items()]
    events = [(each.stream, each.time, each.start, each.row) for each in history]
    hold([*joins, *batched(events, random.Random(seed))], typed_queries.STREAMS, seed)


@settings(max_examples=2 * settings().max_examples, suppress_health_check=slow)
@given(
    st.lists(st.one_of(sase.queries(), sase.lacking()), min_size=1, max_size=2), sase.histories(), st.integers(0, 2**40)
)
def test_sase(texts: list[str], history: list[Any], seed: int) -> None:
    joins: list[Action] = [Joins(f"q{number}", text, "sase") for number, text in enumerate(texts)]
    events = [(stream, time, time, row) for stream, time, row in history]
    streams = {name: schema.declared() for name, schema in sase.SCHEMAS.items()}
    hold([*joins, *batched(events, random.Random(seed))], streams, seed)


@settings(max_examples=2 * settings().max_examples, suppress_health_check=slow)
@given(
    st.lists(composite_subscriptions.subscriptions(most=4), min_size=1, max_size=2),
    composite_subscriptions.histories(),
    st.integers(0, 2**40),
)
def test_ptopss(texts: list[str], history: list[Any], seed: int) -> None:
    joins: list[Action] = [Joins(f"q{number}", text, "ptopss") for number, text in enumerate(texts)]
    events = [(stream, time, time, row) for stream, time, row in history]
    hold([*joins, *batched(events, random.Random(seed))], composite_subscriptions.STREAMS, seed)


@settings(max_examples=settings().max_examples)
@given(st.integers(0, 2**40))
def test_groups(seed: int) -> None:
    hold(group_queries.script(seed, 20), GROUPS, seed)


@settings(max_examples=8 * settings().max_examples)
@given(st.integers(0, 2**40))
def test_aimed(seed: int) -> None:
    hold(rewritten.aimed(seed), GROUPS, seed)


@settings(max_examples=4 * settings().max_examples)
@given(st.integers(0, 2**40))
def test_rules_that_keep_runs_keep_partial_matches(seed: int) -> None:
    """By the reference, which lists all runs; other executors leave out what can have no match, each in its own way."""
    actions = rewritten.aimed(seed, languages=("sase", "ptopss"))
    note([action for action in actions if isinstance(action, Joins)])
    matches = tuple(name for name in NAMES if name not in EXACT)
    waits: list[dict[str, list[Any]]] = []
    for off in (NAMES, matches, (*matches, EXACT[seed % len(EXACT)])):
        waits.append(played(actions, GROUPS, Options(rules_off=off, executors_off=OTHERS), waiting=True))
    assert waits[1] == waits[0]
    assert waits[2] == waits[0]


@settings(max_examples=4 * settings().max_examples)
@given(st.integers(0, 2**40))
def test_snapshots_go_on_with_other_rules(seed: int) -> None:
    chance = random.Random(seed)
    actions = rewritten.aimed(seed) if seed % 4 else group_queries.script(seed, 20)
    actions.insert(len(actions) // 2, Saves())
    saving, restoring = chosen(chance), chosen(chance)
    note([[action for action in actions if isinstance(action, Joins)], saving.rules_off, restoring.rules_off])
    assert played(actions, GROUPS, saving, restoring) == played(actions, GROUPS, Options(rules_off=NAMES))
