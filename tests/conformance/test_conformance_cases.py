"""The conformance cases in process: one a line of cases.jsonl, with subscriptions, events and what must come.

`expect` has one or more of the keys of CHECKS, or `error`, a text that the refusal must contain. A language that is not
built yet must say so. The same cases pass through the command line.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from broker.engine import Engine, Match
from broker.engine.languages.table import LANGUAGES
from broker.events.errors import ForetellError, Unsupported
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
    "data": lambda matches, want: bag([{k: m.data[k] for k in want[0]} for m in matches]) == bag(want),
}


def run(case: dict[str, Any], folder: Path) -> list[Match]:
    path = folder / "subscriptions.toml"
    path.write_text(case["subscriptions"])
    engine = Engine.load(path)
    matches: list[Match] = []
    for event in case["events"]:
        if "punctuation" in event:
            matches += engine.punctuate(event["punctuation"]).expanded()
            continue
        row = row_from_mapping(engine.streams[event["stream"]], event["data"])
        start = event.get("start", event["time"])
        matches += engine.publish(event["stream"], [event["time"]], [row], [event["id"]], [start]).expanded()
    matches += engine.finish().expanded()
    engine.check_invariants()
    return matches


@pytest.mark.parametrize("case", [c for c in CASES if c["language"] in LANGUAGES], ids=lambda c: c["id"])
def test_case(case: dict[str, Any], tmp_path: Path) -> None:
    expect = dict(case["expect"])
    if "error" in expect:
        with pytest.raises(ForetellError, match=expect["error"]):
            run(case, tmp_path)
        return
    matches = run(case, tmp_path)
    name = expect.pop("subscription", None)
    if name is not None:
        matches = [m for m in matches if m.subscription == name]
    for key, want in expect.items():
        assert CHECKS[key](matches, want), f"{key}: {[m.line() for m in matches]}"


@pytest.mark.parametrize("case", [c for c in CASES if c["language"] not in LANGUAGES], ids=lambda c: c["id"])
def test_a_language_that_is_not_built_says_so(case: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="not supported yet"):
        run(case, tmp_path)
