"""The conformance cases in process: one a line of cases.jsonl, with subscriptions, events and what must come.

`expect` has one or more of the keys of CHECKS, or `error`, a text that the refusal must contain. The same cases
pass through the command line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from doubles.read_columns import in_columns

from broker.command.batch import Control
from broker.command.run import apply_control
from broker.engine import Engine, Match
from broker.engine.results import expanded
from broker.events import Event, parse_line
from broker.events.errors import ForetellError
from broker.events.validation import row_from_mapping

CASES = [json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text().splitlines()]


def frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(sorted((key, frozen(item)) for key, item in value.items()))
    if isinstance(value, list):
        return tuple(frozen(item) for item in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(f"{value:.9g}")
    return value


def bag(items: list[Any]) -> Counter[Any]:
    return Counter(frozen(item) for item in items)


CHECKS: dict[str, Callable[[list[Match], Any], bool]] = {
    "lineages": lambda matches, want: bag([m.lineage for m in matches]) == bag(want),
    "intervals": lambda matches, want: bag([[m.start, m.end] for m in matches]) == bag(want),
    "spans": lambda matches, want: bag([[m.lineage[0], m.lineage[-1]] for m in matches if m.lineage]) == bag(want),
    "bindings": lambda matches, want: bag([m.bindings for m in matches]) == bag(want),
    "count": lambda matches, want: len(matches) == want,
    "ends": lambda matches, want: sorted({m.end for m in matches}) == want,
    "lifetimes": lambda matches, want: bag([list(m.lifetime or ()) for m in matches]) == bag(want),
    "data": lambda matches, want: bag([{k: m.data[k] for k in want[0]} for m in matches]) == bag(want),
}


def run(case: dict[str, Any], folder: Path) -> list[Match]:
    path = folder / "subscriptions.toml"
    path.write_text(case["subscriptions"])
    engine = Engine.load(path)
    found: list[Match] = []
    for event in case["events"]:
        line = parse_line(json.dumps(event), 1)
        if not isinstance(line, Event):
            found += expanded(apply_control(engine, Control(line, 1, 1)))
            continue
        assert isinstance(line.data, dict)
        row = row_from_mapping(engine.streams[line.stream], line.data)
        found += expanded(in_columns(engine.publish(line.stream, [line.time], [row], [line.id or 0], [line.start])))
        engine.check_invariants()
    found += expanded(in_columns(engine.finish()))
    engine.check_invariants()
    return found


def standing(found: list[Match]) -> list[Match]:
    """The matches that are told and not withdrawn."""
    kept: dict[str, Match] = {}
    for each in found:
        if each.kind == "match":
            assert each.id not in kept
            kept[each.id] = each
        elif each.kind == "retraction":
            assert each._replace(withdrawn=False) == kept.pop(each.id)
    return list(kept.values())


@pytest.mark.parametrize("case", CASES, ids=lambda c: c["id"])
def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    expect = dict(case["expect"])
    if "error" in expect:
        with pytest.raises(ForetellError, match=expect["error"]):
            run(case, tmp_path)
        return
    found = run(case, tmp_path)
    name = expect.pop("subscription", None)
    if name is not None:
        found = [m for m in found if m.subscription == name]
    log = expect.pop("log", None)
    if log is not None:
        told = [m for m in found if m.kind in ("match", "retraction")]
        assert log == [[m.kind, m.lineage, list(m.lifetime or ())] for m in told]
    matches = standing(found)
    for key, want in expect.items():
        assert CHECKS[key](matches, want), f"{key}: {[m.line() for m in matches]}"
