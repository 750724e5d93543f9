"""Forecasts that are put together from parts: which parts, how close to the truth, what is kept of them."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies.forecast_chains import in_sequence

from broker.algebra.ptopss.composite import Composite
from broker.algebra.ptopss.lowering import lower
from broker.algebra.structure import Both, Chain
from broker.automaton.automaton import Automaton
from broker.automaton.constructions.composite import automaton_of as automaton_of_tree
from broker.automaton.constructions.composite import decompose
from broker.automaton.machines.tree import part_of
from broker.engine import Engine, Match
from broker.engine.forecasts.subscription import PredictiveSubscription
from broker.engine.notices import Forecast
from broker.events.errors import DefinitionError
from broker.events.instant import FOREVER
from broker.events.schema import Row, Schema
from broker.forecast import joint
from broker.forecast.calibration import load_calibration
from broker.forecast.chain import MarkovChain
from broker.forecast.chain import TransitionRow as Chances
from broker.forecast.key_state import KeyState
from broker.forecast.model_file import read_model, write_model
from broker.forecast.parts import division
from broker.forecast.passage import first_passage
from broker.forecast.series import joined
from broker.forecast.verification import Verification
from broker.language.ptopss import parse

ATTRIBUTES = {"k": "int", "u": "float", "v": "float"}
PRIMITIVES = {"a": "u < 0.3", "b": "u > 0.6", "c": "v < 0.25", "d": "v > 0.7", "e": "u < 0.3", "f": "v > 0.6"}
SEVEN = " ".join(f"s{n}: u > 0.{n}" for n in range(1, 8))
ALL_SEVEN = " AND ".join(f"s{n}" for n in range(1, 8))


def operands_of(match: str) -> str:
    """Those that the pattern names; a and b read another attribute than c and d."""
    return " ".join(f"{name}: {text}" for name, text in PRIMITIVES.items() if name in re.findall(r"\b[a-f]\b", match))


def engine_of(match: str, operands: str = "", by: str = "BY k", **forecast: Any) -> Engine:
    engine = Engine()
    engine.add_stream("S", ATTRIBUTES)
    subscribe(engine, "q", match, operands, by, **forecast)
    return engine


def subscribe(engine: Engine, name: str, match: str, operands: str = "", by: str = "BY k", **more: Any) -> None:
    told = {"within": 5, "threshold": 0, "effective": 0, **more}
    engine.subscribe(
        name, "ptopss", f"FROM S {by} {operands or operands_of(match)} MATCH {match}", None, "completions", told
    )


def rows(count: int, keys: int, seed: int, either: bool = False) -> list[tuple[int, float, float]]:
    """Independent attributes; each key has its events in a row, so that all begin anew. `either`: one of the two
    attributes satisfies nothing."""
    chance = random.Random(seed)
    found = []
    for at in range(count):
        u, v, which = chance.random(), chance.random(), chance.random() < 0.5
        found.append((at * keys // count, 0.5 if either and which else u, 0.5 if either and not which else v))
    return found


def composite_of(text: str) -> Composite:
    schema = Schema.declare(ATTRIBUTES)
    return lower(parse(text), text, {"S": schema}.get, lambda: ["S"])


def automaton_of(text: str) -> Automaton:
    return automaton_of_tree(decompose(composite_of(text)))


# --- which parts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("match", "kind", "operands"),
    [
        ("(a, b) AND c", "AND", [[0, 1], [2]]),
        ("(a, b) OR (c; d)", "OR", [[0, 1], [2, 3]]),
        ("a; b; (c AND d)", ";", [[0, 1], [2, 3]]),
        ("(a AND b), c; d", ";", [[0, 1, 2], [3]]),
        ("(a; b); (c, d)", ";", [[0, 1], [2, 3]]),
    ],
)
def test_parts_of_a_structure(match: str, kind: str, operands: list[list[int]]) -> None:
    found = division(automaton_of(f"FROM S {operands_of(match)} MATCH {match}"), False)
    assert found is not None
    assert found.kind == kind
    assert [part.operands for part in found.parts] == operands


def test_a_chain_of_leaves_has_no_parts() -> None:
    assert division(automaton_of("FROM S a: u < 1 b: u < 2 c: u < 3 MATCH a; b; c"), False) is None
    assert division(automaton_of("FROM S a: u < 1 b: u < 2 c: u < 3 MATCH a, b, c"), False) is None


def test_a_part_keeps_what_is_inside_it() -> None:
    text = """FROM S BY k a: u < 1 b: u > 0 AND v = $x c: v = $x d: u > 0.5 AND v = $y
    MATCH (a AND b) AND (c; d @(t(d) - t(c) < 5 us)) WITHIN 9 us"""
    whole = decompose(composite_of(text))
    part = part_of(whole, Chain((2, 3), (";",)))
    assert part.names == ("c", "d")
    assert part.results.names == ("x", "y")
    assert [[variable for _, variable in primitive.variables] for primitive in part.primitives] == [[0], [1]]
    assert [(each.minuend, each.subtrahend) for each in part.conditions] == [(1, 0)]
    assert (part.sources, part.within) == (whole.sources, whole.within)
    other = part_of(whole, Both((0, 1)))
    assert (other.results.names, other.conditions) == (("x",), ())


def test_large_ones_are_divided_unless_that_is_refused() -> None:
    assert engine_of(ALL_SEVEN, SEVEN).forecasts("q").combination is not None
    assert engine_of(ALL_SEVEN, SEVEN, parts=False).forecasts("q").combination is None
    assert engine_of("(a, b) AND (c, d)").forecasts("q").combination is None
    assert engine_of("(a, b) AND (c, d)", parts=True).forecasts("q").combination is not None


def test_what_has_no_parts_is_refused() -> None:
    with pytest.raises(DefinitionError, match='expected AND, OR or a group with ";" beside it'):
        engine_of("a; b; c; d", parts=True)
    with pytest.raises(DefinitionError, match="parts: expected true or false, found int 3"):
        engine_of("(a, b) AND c", parts=3)
    engine = Engine()
    engine.add_stream("S", ATTRIBUTES)
    with pytest.raises(DefinitionError, match="composite subscriptions alone"):
        engine.subscribe("q", "cayuga", "SELECT * FROM S", None, None, {"within": 5, "parts": True})


# --- chains one after the other --------------------------------------------------------------------------------------


@st.composite
def chains(draw: st.DrawFn) -> MarkovChain:
    """Two to four states, the last one final."""
    count = draw(st.integers(2, 4))
    found = []
    for _ in range(count):
        weights = draw(st.lists(st.integers(0, 5), min_size=count, max_size=count).filter(any))
        pairs = [(target, weight / sum(weights)) for target, weight in enumerate(weights) if weight]
        found.append(Chances(tuple(t for t, _ in pairs), tuple(p for _, p in pairs), float(sum(weights))))
    absorbing = Chances((count - 1,), (1.0,), 1.0)
    return MarkovChain((*found[:-1], absorbing), frozenset((count - 1,)), {count - 1: found[-1]})


@given(st.lists(chains(), min_size=1, max_size=4), st.data())
def test_one_chain_of_all_convolves_their_first_passages(several: list[MarkovChain], data: st.DataObject) -> None:
    begins, whole = joined(several)
    state = data.draw(st.integers(0, len(several[0].rows) - 1))
    curves = [first_passage(chain, 8).curve(0 if at else state) for at, chain in enumerate(several)]
    expected = in_sequence(curves)
    assert first_passage(whole, 8).curve(state) == pytest.approx(expected, abs=1e-12)
    assert len(begins) == len(several)
    assert all(abs(sum(row.chances) - 1.0) < 1e-9 for row in whole.rows)


# --- how close to the truth ------------------------------------------------------------------------------------------


def at_hand(outlook: PredictiveSubscription, key: int) -> tuple[float, tuple[float, float]]:
    """The probability for a key after its last event, and its bounds."""
    track: KeyState = outlook.stream.keys[key].states[outlook.number]
    assert track.chain is not None
    time = outlook.stream.time
    chance = outlook.probability(track, track.chain, time, FOREVER)
    if outlook.combination is None:
        return chance, (chance, chance)
    return chance, joint.bounds(outlook.combination, track, time)


@pytest.mark.parametrize(
    "match", ["(a, b) AND c", "(a, b) OR (c, d)", "(a, b); (c AND d)", "(a; b) AND c", "(a, b); d"]
)
def test_close_to_the_product_and_within_bounds(match: str) -> None:
    """The sets of the product's live states are exact: their chain is what parts approximate. With AND, events fit one
    part alone: that one event cannot be in two of them the parts do not know."""
    engine = engine_of(match, states="set", parts=True)
    subscribe(engine, "product", match, states="set", parts=False)
    either = match.endswith(" AND c")
    history = rows(8_000, 500, 7, either)
    engine.publish("S", list(range(len(history))), history)
    parts, product = engine.forecasts("q"), engine.forecasts("product")
    apart = []
    for at, row in enumerate(rows(1_500, 100, 8, either)):
        engine.publish("S", [len(history) + at], [(row[0] + 1_000, row[1], row[2])])
        track = product.stream.keys[row[0] + 1_000].states.get(product.number)
        if track is None or track.state == product.states.final:
            continue  # nothing has begun; or what is live beside a match, which the product's chain does not know
        exact, _ = at_hand(product, row[0] + 1_000)
        chance, (low, high) = at_hand(parts, row[0] + 1_000)
        assert low - 1e-9 <= chance <= high + 1e-9
        assert low - 0.1 <= exact <= high + 0.1  # both are estimates, from counts of their own
        apart.append(abs(chance - exact))
    assert len(apart) > 500
    assert sum(apart) / len(apart) < 0.03


@pytest.mark.parametrize(
    "match",
    [
        "(a, b) AND (c, d) WITHIN 60 us",
        "(a, b) OR (c, d)",
        "(a, b); (c AND d)",
        "(a, b); (c OR d); (e, f) WITHIN 40 us",
    ],
)
@pytest.mark.parametrize("within", [5, "8 us"])
def test_as_often_as_it_says(match: str, within: int | str) -> None:
    """Against what has come of it; the product of so many states knows only the furthest."""
    engine = engine_of(match, within=within, parts=True)
    subscribe(engine, "product", match, within=within, parts=False)
    history = rows(5_000, 120, 3)
    engine.publish("S", list(range(len(history))), history)
    engine.check_invariants()
    assert engine.statistics()["forecasts"]["q"]["parts"] >= 2
    quality, product = [everything(engine.forecasts(name).verification) for name in ("q", "product")]
    assert quality["predictions"] > 2_000
    assert quality["ece"] < 0.06
    assert quality["brier"] <= product["brier"] + 0.003


def everything(verification: Verification) -> dict[str, Any]:
    """The figures of what was predicted right after matches too."""
    own, other = verification.calibration.dump(), verification.after_match.dump()
    added = {name: [a + b for a, b in zip(own[name], other[name])] for name in ("counts", "hits", "said")}
    return load_calibration({**{name: own[name] + other[name] for name in own}, **added}).summary()


# --- one step after the other ----------------------------------------------------------------------------------------

A, B, C, D, NOTHING = (1, 0.1, 0.5), (1, 0.7, 0.5), (1, 0.5, 0.1), (1, 0.5, 0.9), (1, 0.5, 0.5)


def labels(engine: Engine, history: list[Row]) -> list[str]:
    found = []
    for at, row in enumerate(history):
        engine.publish("S", [at], [row])
        outlook = engine.forecasts("q")
        assert outlook.combination is not None
        track = outlook.stream.keys[1].states.get(outlook.number)
        found.append("" if track is None else outlook.combination.label(track, at))
    return found


def test_a_phase_begins_when_the_one_before_has_ended() -> None:
    engine = engine_of("(a, b); (c, d)", parts=True)
    assert labels(engine, [C, A, B, D, C, NOTHING, C, D]) == [
        "",
        "part 1: 1 of 2",
        "part 1: completed, part 2: nothing begun",
        "part 1: completed, part 2: nothing begun",
        "part 1: completed, part 2: 1 of 2",
        "part 1: completed, part 2: nothing begun",
        "part 1: completed, part 2: 1 of 2",
        "part 1: completed, part 2: match",
    ]


def test_what_has_completed_becomes_too_old() -> None:
    engine = engine_of("(a, b); (c, d) WITHIN 4 us", parts=True)
    assert labels(engine, [A, B, NOTHING, C, NOTHING, C, A, B]) == [
        "part 1: 1 of 2",
        "part 1: completed, part 2: nothing begun",
        "part 1: completed, part 2: nothing begun",
        "part 1: completed, part 2: 1 of 2",
        "part 1: completed, part 2: nothing begun",
        "part 1: nothing begun",
        "part 1: 1 of 2",
        "part 1: completed, part 2: nothing begun",
    ]
    both = engine_of("(a, b) AND d WITHIN 4 us", parts=True)
    assert labels(both, [A, B, NOTHING, NOTHING, NOTHING, NOTHING])[1:] == [
        *["part 1: completed, part 2: nothing begun"] * 4,
        "part 1: nothing begun, part 2: nothing begun",
    ]


def test_a_part_of_more_variables_is_looked_at_by_the_key() -> None:
    operands = "a: u = $x AND k = $k b: u = $x AND k = $k c: v > 0.8 AND k = $k d: v < 0.2 AND k = $k"
    engine = engine_of("(a; b) AND (c; d)", operands, "", parts=True)
    assert labels(engine, [(1, 0.3, 0.5), (2, 0.4, 0.5), (1, 0.4, 0.9), (1, 0.3, 0.5)]) == [
        "part 1: 1 of 2, part 2: nothing begun",
        "part 1: 1 of 2, part 2: nothing begun",
        "part 1: 1 of 2, part 2: 1 of 2",
        "part 1: completed, part 2: 1 of 2",
    ]
    other = engine.forecasts("q").stream.keys[2].states[engine.forecasts("q").number]
    assert [spot.state for spot in other.parts] == [1, 0]


# --- what is said ----------------------------------------------------------------------------------------------------


def test_notices_and_explanations_say_that_it_is_approximate() -> None:
    engine = engine_of("(a, b) AND (c, d)", threshold=0.3, parts=True)
    subscribe(engine, "whole", "(a, b) AND (c, d)", threshold=0.3)
    history = rows(2_000, 40, 5)
    said = [m for m in engine.publish("S", list(range(len(history))), history) if isinstance(m.notice, Forecast)]
    lines = [m.notice.line("q") for m in said if m.subscription == "q" and isinstance(m.notice, Forecast)]
    assert len(lines) > 50
    for line in lines:
        low, high = line["bounds"]
        assert line["approximate"] is True
        assert 0.0 <= low <= line["probability"] <= high <= 1.0
        assert line["label"].startswith("part 1: ")
        assert line["state"] in (0, 1, 2)
        assert line["lineage"]
    for match in said:
        if match.subscription == "whole" and isinstance(match.notice, Forecast):
            assert not {"approximate", "bounds"} & set(match.notice.line("whole"))
    text = "\n".join(engine.explain())
    assert "q: forecasts of a match within 5 events from 0.3 on; approximately, from those of 2 parts (AND)" in text
    assert "q, part 2: nothing begun: " in text
    assert "whole: nothing begun: " in text
    assert engine.statistics()["forecasts"]["q"]["parts"] == 2
    assert "parts" not in engine.statistics()["forecasts"]["whole"]


# --- what is kept ----------------------------------------------------------------------------------------------------

KEPT: list[tuple[str, dict[str, Any]]] = [
    ("(a, b) AND (c; d) WITHIN 30 us", {}),
    ("(a, b); (c OR d); (e, f) WITHIN 60 us", {"context": ["key"], "half_life": "1 ms"}),
    ("(a, b); (c AND d)", {"context": ["key", "k"], "recalibrate": True}),
    ("(a; b) OR (c, d)", {"within": "9 us", "cautious": True}),
    ("(a; b) AND (c AND d) WITHIN 25 us", {"within": "9 us", "threshold": 0.4}),
]


@pytest.mark.parametrize(("match", "forecast"), KEPT)
def test_a_snapshot_goes_on_as_if_it_had_not_been_taken(match: str, forecast: dict[str, Any]) -> None:
    plain = engine_of(match, parts=True, **forecast)
    other = engine_of(match, parts=True, **forecast)
    chance = random.Random(11)
    expected: list[Match] = []
    found: list[Match] = []
    for at in range(500):
        row = (chance.randrange(5), chance.random(), chance.random())
        expected += plain.publish("S", [at], [row])
        found += other.publish("S", [at], [row])
        if at % 97 == 41:
            other = Engine.restore(other.snapshot())
            assert Engine.restore(other.snapshot()).snapshot() == other.snapshot()
            other.check_invariants()
    assert len([m for m in found if isinstance(m.notice, Forecast)]) > 10
    assert found == expected
    assert write_model(other.model()) == write_model(plain.model())
    assert other.statistics()["forecasts"] == plain.statistics()["forecasts"]
    assert list(other.finish()) == list(plain.finish())
    other.unsubscribe("q")
    other.check_invariants()
    assert other.statistics()["machines"] == 0


@pytest.mark.parametrize(("match", "forecast"), KEPT)
def test_a_model_holds_the_parts(match: str, forecast: dict[str, Any]) -> None:
    trained = engine_of(match, parts=True, **forecast)
    history = rows(3_000, 60, 2)
    trained.publish("S", list(range(len(history))), history)
    version = trained.forecasts("q").forecaster.version
    model = read_model(write_model(trained.model()), "here")
    parts = trained.statistics()["forecasts"]["q"]["parts"]
    assert model.counts.versions() == [version, *[f"{version}/{part}" for part in range(1, parts + 1)]]
    # Each event of a key is a step of the whole, and of each part that is on: of AND and OR of all.
    steps = {name: sum(r[5] for r in model.counts.records() if r[0] == name) for name in model.counts.versions()}
    if ";" not in match.split("WITHIN")[0] or " AND (" in match or " OR (c, d)" in match:
        assert set(steps.values()) == {steps[version]}
    early, late = (engine_of(match, parts=True, **forecast) for _ in range(2))
    early.load_model(model)
    late = Engine()
    late.add_stream("S", ATTRIBUTES)
    late.load_model(model)
    subscribe(late, "q", match, parts=True, **forecast)
    for engine in (early, late):
        assert write_model(engine.model()) == write_model(model)
    split = [Engine.restore(early.snapshot()), late]
    more = rows(300, 10, 6)
    told = [list(engine.publish("S", list(range(len(more))), more)) for engine in split]
    assert told[0] == told[1]
    assert any(isinstance(m.notice, Forecast) for m in told[0])


def test_a_model_of_the_product_is_refused_for_parts() -> None:
    product = engine_of("(a, b) AND (c, d)")
    product.publish("S", list(range(100)), rows(100, 4, 1))
    with pytest.raises(DefinitionError, match="another query or other states"):
        engine_of("(a, b) AND (c, d)", parts=True).load_model(product.model())


def test_counts_are_those_of_any_split_by_key() -> None:
    match = "(a, b); (c AND d)"
    history = rows(2_000, 50, 9)
    whole = engine_of(match, parts=True)
    whole.publish("S", list(range(len(history))), history)
    merged = engine_of(match, parts=True)
    for half in range(2):
        own = [(at, row) for at, row in enumerate(history) if row[0] % 2 == half]
        engine = engine_of(match, parts=True)
        engine.publish("S", [at for at, _ in own], [row for _, row in own])
        merged.load_model(engine.model())
    assert sorted(merged.model().counts.records()) == sorted(whole.model().counts.records())
