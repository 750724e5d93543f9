"""Groups change nothing: with them each subscription has, in order, what it has without.

Templates of all mechanisms, members that come and go, ties, nulls, batches, snapshots. What is without groups is held
to the meaning by test_laws_sase_engine.
"""

from __future__ import annotations

from typing import Any, Final

import pytest
from doubles.read_columns import in_columns
from hypothesis import given, note, settings
from hypothesis import strategies as st
from strategies.group_queries import SCHEMA, Action, Joins, Leaves, Publishes, Saves, script

from broker.engine import Engine, Options

WITHOUT = Options(executors_off=("groups",))
PARTS: Final = 4  # so that several processes share the scripts, which are many
SCRIPTS: Final = 10 * settings().max_examples if settings().max_examples >= 100 else 100  # a second each


def played(
    actions: list[Action], options: Options, later: Options | None = None, asking: int = 0
) -> dict[str, list[Any]]:
    """By subscription what it has, in order. `later`: the options from the first snapshot on. `asking`: every so many
    actions somebody asks for figures, for which a group that looks back makes its runs."""
    engine = Engine(options)
    engine.add_stream("S", SCHEMA)
    found: dict[str, list[Any]] = {}
    here: list[str] = []
    texts: dict[str, str] = {}
    for number, action in enumerate(actions):
        if asking and number % asking == 0:
            engine.statistics()
        match action:
            case Joins(name, text, language, report):
                engine.subscribe(name, language=language, query=text, lineage=True, report=report)
                here.append(name)
                texts[name] = text
            case Leaves(which):
                if here:
                    engine.unsubscribe(here.pop(which % len(here)))
            case Saves():
                options = later or options
                engine = Engine.restore(engine.snapshot(), options)
            case Publishes(times, rows, starts):
                results = engine.publish("S", times, rows, starts=starts)
                counted = len(results)
                assert counted == len(list(in_columns(results)))
                for match in results:
                    found.setdefault(match.subscription, []).append(match)
        engine.check_invariants()
    for name in here:
        if "skip_till" in texts[name] and "~" not in texts[name]:  # of others runs are listed that wait no more
            waiting = engine.partial_matches(name)
            found.setdefault(f"{name}, partial", []).extend(sorted(waiting, key=repr))
    return found


@pytest.mark.parametrize("part", range(PARTS))
@settings(max_examples=SCRIPTS // PARTS, deadline=None)
@given(seed=st.integers(0, 2**40))
def test_groups_change_nothing(part: int, seed: int) -> None:
    actions = script(PARTS * seed + part)
    note([action for action in actions if isinstance(action, Joins)])
    # The matches of one event that any match finds have no order of their own.
    joined = [action for action in actions if isinstance(action, Joins)]
    unordered = {each.name for each in joined if "any_match" in each.text or each.language == "ptopss"}
    expected = played(actions, WITHOUT)
    for found in (
        played(actions, Options()), played(actions, WITHOUT, Options()), played(actions, Options(), WITHOUT),
        played(actions, Options(), asking=3), played(actions, Options(lookback=False, key_path=False), Options()),
    ):  # fmt: skip
        assert found.keys() == expected.keys()
        for name, matches in found.items():
            if name in unordered:
                assert sorted(matches, key=repr) == sorted(expected[name], key=repr)
            else:
                assert matches == expected[name]
