"""AFA subscriptions that run together change nothing: each has the results, with their ids, that it has alone.

Subscriptions that begin alike, join and leave, change their arcs, and engines that are saved and restored in between.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from strategies.afa import related_texts

from broker.engine import Engine, Options
from broker.events.errors import ForetellError

SCHEMA = {"k": "string?", "ty": "string", "x": "float?"}
UPDATES: tuple[tuple[list[str], list[str]], ...] = (
    (["n: b -> c WHEN x < 1"], []),
    ([], ["e0"]),
    (["n: c -> d WHEN ty = 'C'"], ["e0"]),
    ([], ["a0"]),
    (["n: a -> c WHEN x = 0"], []),
)
Step = tuple[str, Any]


@st.composite
def scripts(draw: st.DrawFn) -> list[Step]:
    texts = draw(related_texts())
    steps: list[Step] = [("join", text) for text in texts]
    time = 0
    for _ in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from(("publish", "publish", "publish", "publish", "leave", "join", "update", "save")))
        if kind == "publish":
            time += draw(st.integers(0, 2))
            x = draw(st.sampled_from((None, 0.0, 0.5, 0.75, 1.0, 1.25, 2.0)))
            steps.append((kind, (time, (draw(st.sampled_from(("K", "L", None))), draw(st.sampled_from("ABC")), x))))
        elif kind == "join":
            steps.append((kind, draw(st.sampled_from(texts))))
        elif kind == "update":
            steps.append((kind, (draw(st.integers(0, 9)), draw(st.sampled_from(UPDATES)))))
        else:
            steps.append((kind, draw(st.integers(0, 9))))
    return steps


def played(steps: list[Step], options: Options) -> dict[str, list[str]]:
    """By subscription its results, those of one event sorted."""
    engine = Engine(options)
    engine.add_stream("S", SCHEMA)
    here: list[str] = []
    found: dict[str, list[str]] = {}
    for number, (kind, given_) in enumerate(steps):
        if kind == "join":
            engine.subscribe(f"s{number}", language="afa", query=given_)
            here.append(f"s{number}")
        elif kind == "leave" and here:
            engine.unsubscribe(here.pop(given_ % len(here)))
        elif kind == "update" and here:
            which, (insert, delete) = given_
            try:
                engine.update(here[which % len(here)], insert=insert, delete=delete)
            except ForetellError as error:  # an arc that was deleted before
                found.setdefault("refused", []).append(type(error).__name__)
        elif kind == "save":
            engine = Engine.restore(engine.snapshot(), options)
        elif kind == "publish":
            time, row = given_
            by_name: dict[str, list[str]] = {}
            for match in engine.publish("S", [time], [row]):
                by_name.setdefault(match.subscription, []).append(repr(match))
            for name, matches in by_name.items():
                found.setdefault(name, []).extend(sorted(matches))
        engine.check_invariants()
    return found


@given(scripts())
def test_subscriptions_together_have_what_each_has_alone(steps: list[Step]) -> None:
    assert played(steps, Options()) == played(steps, Options(together=False))
