"""Groups change nothing: with them each subscription has, in order, what it has without, and what it has alone.

Templates of all mechanisms with several keys, members that come and go, ties, nulls, batches, snapshots; with each
switch off, in snapshots that are restored with it on and the other way round, and for who reads results late. What is
without groups is held to the meaning by test_laws_sase_engine.
"""

from __future__ import annotations

from collections import deque
from typing import Any, Final

import pytest
from doubles.read_columns import in_columns
from hypothesis import given, note, settings
from hypothesis import strategies as st
from strategies.group_queries import OTHER_SCHEMA, SCHEMA, Action, Joins, Leaves, Publishes, Saves, script

from broker.engine import Engine, Options, Results
from broker.engine.disorder.joined import JoinedResults

WITHOUT = Options(executors_off=("groups",))
SWITCHES: Final = (  # each is off in one of so many scripts
    Options(batches=False),
    Options(batches=False, indexes=False),
    Options(templates=False),
    Options(indexes=False),
    Options(columns=False),
)
PARTS: Final = 4  # so that several processes share the scripts, which are many
SCRIPTS: Final = 6 * settings().max_examples if settings().max_examples >= 500 else 4 * settings().max_examples // 3
"""A second each: the most belong to `make search`."""


def played(
    actions: list[Action],
    options: Options,
    later: Options | None = None,
    *,
    asking: int = 0,
    behind: int = 0,
    only: str = "",
) -> dict[str, list[Any]]:
    """By subscription what it has, in order. `later`: the options from the first snapshot on. `asking`: every so many
    actions somebody asks for figures. `behind`: results are read so
    many batches after they are made. `only`: all but this subscription are left out."""
    engine = Engine(options)
    engine.add_stream("S", SCHEMA)
    engine.add_stream("T", OTHER_SCHEMA)
    found: dict[str, list[Any]] = {}
    unread: deque[tuple[Results | JoinedResults, int]] = deque()
    here: list[str] = []
    texts: dict[str, str] = {}
    for number, action in enumerate(actions):
        if asking and number % asking == 0:
            engine.statistics()
        match action:
            case Joins(name, text, language, report):
                if not only or name == only:
                    engine.subscribe(name, language=language, query=text, lineage=True, report=report)
                here.append(name)
                texts[name] = text
            case Leaves(which):
                if here:
                    left = here.pop(which % len(here))
                    if not only or left == only:
                        engine.unsubscribe(left)
            case Saves():
                options = later or options
                engine = Engine.restore(engine.snapshot(), options)
            case Publishes(times, rows, starts, stream):
                results = engine.publish(stream, times, rows, starts=starts)
                unread.append((results, len(results)))
        while len(unread) > behind:
            read(*unread.popleft(), found)
        engine.check_invariants()
    for results, counted in unread:
        read(results, counted, found)
    for name in here:
        asked = not only or name == only  # of other texts runs are listed that wait no more
        if asked and "skip_till" in texts[name] and "~" not in texts[name]:
            waiting = engine.partial_matches(name)
            found.setdefault(f"{name}, partial", []).extend(sorted(waiting, key=repr))
    return found


def read(results: Results | JoinedResults, counted: int, found: dict[str, list[Any]]) -> None:
    """Add the results by subscription; as many as were counted when they were made, by rows and by columns."""
    assert counted == len(list(in_columns(results)))
    assert counted == len(list(results))
    for match in results:
        found.setdefault(match.subscription, []).append(match)


@pytest.mark.parametrize("part", range(PARTS))
@settings(max_examples=SCRIPTS // PARTS, deadline=None)
@given(seed=st.integers(0, 2**40))
def test_groups_change_nothing(part: int, seed: int) -> None:
    actions = script(PARTS * seed + part)
    joined = [action for action in actions if isinstance(action, Joins)]
    off = SWITCHES[seed % len(SWITCHES)]
    note([joined, off])
    # The matches of one event that any match finds have no order of their own.
    unordered = {each.name for each in joined if "any_match" in each.text or each.language == "ptopss"}
    expected = played(actions, WITHOUT)
    one = joined[seed % len(joined)].name
    alone = {name: matches for name, matches in expected.items() if name.split(",")[0] == one}
    ordered = "groups" not in off.off  # the matches of one event come in another order without indexes
    for found, wanted, in_order in (
        (played(actions, Options(), behind=seed % 3), expected, True),
        (played(actions, WITHOUT, Options()), expected, True),
        (played(actions, Options(), WITHOUT), expected, True),
        (played(actions, Options(), asking=3), expected, True),
        (played(actions, off, behind=seed % 2), expected, ordered),
        (played(actions, off, Options()), expected, ordered),
        (played(actions, Options(), off), expected, ordered),
        (played(actions, Options(), only=one), alone, True),
    ):
        assert found.keys() == wanted.keys()
        for name, matches in found.items():
            if name in unordered or not in_order:
                assert sorted(matches, key=repr) == sorted(wanted[name], key=repr)
            else:
                assert matches == wanted[name]
