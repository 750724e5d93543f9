"""AFA subscriptions that run together change nothing: each has the results, with their ids, that it has alone.

Subscriptions that begin alike, join and leave, change their arcs, and engines that are saved and restored in between.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from strategies.afa import line_texts, related_texts

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
    texts = draw(related_texts() | line_texts())
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


def played(steps: list[Step], options: Options, most: int, others: Options | None = None) -> dict[str, list[str]]:
    """By subscription its results, those of one batch sorted, of at most so many events; and the runs that wait now and
    then. `others`: the options from the first snapshot on."""
    engine = Engine(options)
    engine.add_stream("S", SCHEMA)
    here: list[str] = []
    found: dict[str, list[str]] = {}
    batch: list[Any] = []
    for number, (kind, given_) in enumerate([*steps, ("end", None)]):
        if batch and (kind != "publish" or len(batch) == most):
            by_name: dict[str, list[str]] = {}
            for match in engine.publish("S", *map(list, zip(*batch))):
                by_name.setdefault(match.subscription, []).append(repr(match))
            for name, matches in by_name.items():
                found.setdefault(name, []).extend(sorted(matches))
            batch = []
        if kind == "publish":
            batch.append(given_)
        elif kind == "join":
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
            engine = Engine.restore(engine.snapshot(), others or options)
        engine.check_invariants()
        if kind in ("leave", "update", "save", "end"):
            for name in here:
                runs = engine.waiting_runs(name)
                found.setdefault(name, []).append(repr((sorted(runs.states.items()), sorted(map(repr, runs.runs)))))
    return found


ALONE = Options(together=False, templates=False)


@given(scripts(), st.integers(1, 4))
def test_subscriptions_together_have_what_each_has_alone(steps: list[Step], most: int) -> None:
    expected = played(steps, ALONE, most)
    assert played(steps, Options(), most) == expected
    assert played(steps, Options(), most, ALONE) == expected
    assert played(steps, ALONE, most, Options()) == expected


@st.composite
def disordered_scripts(draw: st.DrawFn) -> list[Step]:
    """As `scripts`, with events in any order, withdrawals and promises."""
    texts = draw(related_texts() | line_texts())
    steps: list[Step] = [("join", text) for text in texts]
    kinds = ("publish",) * 6 + ("retract", "retract", "promise", "promise key", "leave", "join", "update", "save")
    for _ in range(draw(st.integers(1, 18))):
        kind = draw(st.sampled_from(kinds))
        if kind == "publish":
            x = draw(st.sampled_from((None, 0.0, 0.5, 0.75, 1.0, 1.25, 2.0)))
            row = draw(st.sampled_from(("K", "L", None))), draw(st.sampled_from("ABC")), x
            steps.append((kind, (draw(st.integers(0, 12)), row)))
        elif kind in ("promise", "promise key"):
            steps.append((kind, draw(st.integers(0, 3))))
        elif kind == "join":
            steps.append((kind, draw(st.sampled_from(texts))))
        elif kind == "update":
            lifetime = draw(st.sampled_from(((None, None), (0, 5), (3, None))))
            steps.append((kind, (draw(st.integers(0, 9)), draw(st.sampled_from(UPDATES)), lifetime)))
        else:
            steps.append((kind, draw(st.integers(0, 20))))
    return steps


def revised(steps: list[Step], options: Options) -> dict[str, list[str]]:
    """By subscription what is told and withdrawn, what of one step sorted. A promise is made of times so far."""
    engine = Engine(options)
    engine.add_stream("S", SCHEMA, disorder="speculate")
    here: list[str] = []
    standing: list[int] = []
    found: dict[str, list[str]] = {}
    promised = 0

    def told(results: Any) -> None:
        by_name: dict[str, list[str]] = {}
        for match in results:
            by_name.setdefault(match.subscription, []).append(repr(match))
        for name, matches in by_name.items():
            found.setdefault(name, []).extend(sorted(matches))

    for number, (kind, given_) in enumerate(steps):
        try:
            if kind == "join":
                engine.subscribe(f"s{number}", language="afa", query=given_)
                here.append(f"s{number}")
            elif kind == "leave" and here:
                engine.unsubscribe(here.pop(given_ % len(here)))
            elif kind == "update" and here:
                which, (insert, delete), (begin, end) = given_
                told(engine.update(here[which % len(here)], insert, delete, begin, end))
            elif kind == "save":
                engine = Engine.restore(engine.snapshot(), options)
            elif kind == "publish":
                time, row = given_
                told(engine.publish("S", [time], [row], [number]))
                standing.append(number)
            elif kind == "retract" and standing:
                told(engine.retract(standing.pop(given_ % len(standing))))
            elif kind == "promise":
                promised += given_
                told(engine.punctuate(promised))
            elif kind == "promise key":
                told(engine.punctuate(promised + given_, "S", "k = 'K'"))
        except ForetellError as error:  # too late, or an arc that was deleted before
            found.setdefault("refused", []).append(f"{number} {type(error).__name__}")
        engine.check_invariants()
    told(engine.finish())
    return found


@given(disordered_scripts())
def test_subscriptions_that_revise_together_have_what_each_has_alone(steps: list[Step]) -> None:
    assert revised(steps, Options()) == revised(steps, Options(together=False))


def test_subscriptions_that_revise_run_as_one() -> None:
    engine = Engine()
    engine.add_stream("S", SCHEMA, disorder="speculate")
    text = "FROM S START a FINAL d a -> b WHEN ty = 'A' b -> c WHEN ty = 'B' c -> d WHEN ty = '{}'"
    for letter in "ABC":
        engine.subscribe(letter, "afa", text.format(letter))
    for number, (time, ty) in enumerate([(5, "C"), (1, "A"), (3, "B")]):
        found = list(engine.publish("S", [time], [("K", ty, 0.0)], [number]))
    assert [(match.subscription, match.lineage) for match in found] == [("C", [1, 2, 0])]
    assert engine.statistics()["speculative"] == 1
    assert any("as one with 2 others that begin alike" in line for line in engine.explain())
    engine = Engine.restore(engine.snapshot())
    engine.unsubscribe("C")
    found = list(engine.publish("S", [4], [("K", "A", 0.0)], [9]))
    assert [(match.subscription, match.lineage) for match in found] == [("A", [1, 2, 9])]
    engine.check_invariants()
