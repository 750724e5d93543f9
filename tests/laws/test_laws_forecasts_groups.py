"""Forecasts of a group's members: with groups each subscription has, in order, the matches and notices that it has
without, to the last digit of each probability; and it has counted the same.

Chains of NEXT with the constants of several members, which come and go; ties, events that take time, nulls, batches,
snapshots that are restored with groups and without. What is learnt is packed or in objects, which says the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final
from unittest.mock import patch

from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from broker.engine import Engine, Match, Options
from broker.forecast.model_file import write_model

SCHEMA: Final = {"k": "string", "x": "float?", "n": "int"}
WITHOUT: Final = Options(executors_off=("groups",))
LEARN: Final = "learn"
ASK: Final = "ask"
EXAMPLES: Final = settings(max_examples=max(30, settings().max_examples))


@dataclass(frozen=True)
class Member:
    """A subscription's text and options."""

    query: str
    forecast: dict[str, Any]


@dataclass(frozen=True)
class Script:
    """`steps`: members that join, places of members that leave, batches of (key, x, n, time, start), None where a
    snapshot is taken, LEARN where a model is loaded, ASK where all are asked. `keyed`: whether the stream declares its
    key."""

    keyed: bool
    steps: list[Any]


@st.composite
def conditions(draw: st.DrawFn, step: int) -> str:
    """The form of a step's condition, with its constants left out."""
    kinds = ["x > {0}", "x < {0}", "x >= {0} AND n < {1}", "n > {1}"]
    if step:
        kinds += ["x > {2} * x_1", "x < {0} AND DUR < {3}", "x > {0} AND DUR <= {3}"]
    return draw(st.sampled_from(kinds))


@st.composite
def members(draw: st.DrawFn, forms: list[str], forecasts: list[dict[str, Any]]) -> Member:
    """A subscription of one of these forms with constants of its own."""
    written: list[str] = []
    for each in forms:
        x, n = draw(st.integers(0, 4)) / 2, draw(st.integers(0, 3))
        factor, duration = draw(st.sampled_from([0.5, 1.0, 1.5])), draw(st.integers(1, 6))
        written.append(each.format(x, n, factor, duration))
    text = f"FILTER{{k = '{draw(st.sampled_from('aab'))}' AND {written[0]}}} S"
    for condition in written[1:]:
        text = f"FILTER{{{condition}}}({text} NEXT{{$2.k = $1.k}} S)"
    return Member(text, draw(st.sampled_from(forecasts)))


@st.composite
def settings_of_forecasts(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {
        "within": draw(st.sampled_from([1, 2, 5, "3 us", "9 us"])),
        "threshold": draw(st.sampled_from([0.0, 0.05, 0.3, 0.5])),
        "effective": draw(st.sampled_from([1, 2])),
        "uncalibrated": True,
    }
    options = (("states", "set"), ("per", "stream"), ("cautious", True), ("recalibrate", True))
    found.update({name: value for name, value in options if draw(st.integers(0, 5)) == 0})
    if draw(st.integers(0, 4)) == 0:
        found["half_life"] = "20 us"
    if draw(st.integers(0, 3)) == 0:
        found["context"] = draw(st.sampled_from([["n"], ["k"]]))
    return found


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    first = [draw(st.sampled_from(["x > {0}", "n > {1}", "x < {0}"]))]
    forms = first + [draw(conditions(step)) for step in range(1, draw(st.integers(2, 4)))]
    others = [*first, *forms[1:2]]
    forecasts = [draw(settings_of_forecasts()) for _ in range(2)]
    member = st.one_of(members(forms, forecasts), members(forms, forecasts), members(others, forecasts))
    steps: list[Any] = [draw(member) for _ in range(draw(st.integers(1, 4)))]
    time = 0
    for _ in range(draw(st.integers(2, 10))):
        kind = draw(st.integers(-2, 9))
        if kind < 0:
            steps.append(LEARN if kind == -1 else ASK)
        elif kind == 0:
            steps.append(draw(member))
        elif kind == 1:
            steps.append(draw(st.integers(0, 9)))
        elif kind == 2:
            steps.append(None)
        else:
            batch = []
            for _ in range(draw(st.integers(1, 16))):
                time += draw(st.sampled_from([0, 1, 1, 1, 2, 4]))
                x = draw(st.one_of(st.none(), st.integers(0, 8).map(lambda n: n / 4), st.integers(0, 4).map(float)))
                start = time - draw(st.sampled_from([0, 0, 0, 0, 0, 0, 0, 2]))
                batch.append((draw(st.sampled_from("aaab")), x, draw(st.integers(0, 4)), time, start))
            steps.append(batch)
    return Script(draw(st.booleans()), steps)


EVERYBODY: Final = Member(
    "FILTER{x > 0.0}(FILTER{k = 'a' AND x > 0.0} S NEXT{$2.k = $1.k} S)",
    {"within": 1, "threshold": 0.0, "effective": 1, "uncalibrated": True, "per": "stream"},
)


def played(script: Script, options: Options, later: Options | None = None, only: str = "") -> tuple[Any, ...]:
    """What each subscription has, in order; their models, and how good forecasts were. `later`: the options from the
    first snapshot on. `only`: all but this subscription are left out."""
    engine = Engine(options)
    engine.add_stream("S", SCHEMA, key="k" if script.keyed else None)
    found: dict[str, list[str]] = {}
    here: list[str] = []
    grouped = packed = 0

    def note(matches: Any) -> None:
        each: Match
        for each in matches:
            told = each.notice if each.notice is not None else (each.start, each.end, each.data)
            found.setdefault(each.subscription, []).append(repr((each.id, told)))

    for number, step in enumerate(script.steps):
        match step:
            case Member(query, forecast):
                name = f"q{number}"
                here.append(name)
                if not only or name == only:
                    engine.subscribe(name, language="cayuga", query=query, forecast=forecast)
            case int():
                if here:
                    name = here.pop(step % len(here))
                    if not only or name == only:
                        note(engine.unsubscribe(name))
            case "learn":
                engine.load_model(engine.model())
            case "ask":
                for name in [name for name in here if only in ("", name)]:
                    keyed = bool(engine.forecasts(name).plan.positions[0][1])
                    answer = engine.probability(name, "a" if keyed else None)
                    found.setdefault(name, []).append(repr(answer))
            case None:
                options = later or options
                engine = Engine.restore(engine.snapshot(), options)
            case _:
                rows = [row[:3] for row in step]
                starts = [row[4] for row in step]
                note(engine.publish("S", [row[3] for row in step], rows, starts=starts))
        engine.check_invariants()
        if number % 3 == 0:  # reads what all have learnt
            engine.statistics()
        packed = max(packed, sum(each.page is not None for each in engine.program.forecasts.subscriptions.values()))
        grouped = max(grouped, engine.program.machines.statistics()["group_members"])
    event(f"members of groups: {grouped}")
    event(f"packed models: {packed}")
    figures = {name: repr(each) for name, each in engine.program.forecasts.statistics().items()}
    model = write_model(engine.model())
    note(engine.finish())
    return found, model, figures, grouped


@EXAMPLES
@given(scripts())
def test_a_group_tells_what_each_would_be_told_without_it(script: Script) -> None:
    found, model, figures, grouped = played(script, Options())
    expected, known, standing, none = played(script, WITHOUT)
    assert found == expected
    assert model == known
    assert figures == standing
    assert none == 0
    assert grouped > 0


@EXAMPLES
@given(scripts())
def test_packed_models_say_what_objects_say(script: Script) -> None:
    with patch("broker.forecast.plan.model_form", return_value=None):
        expected = played(script, Options())
    assert played(script, Options()) == expected
    assert played(script, WITHOUT)[:3] == expected[:3]


@EXAMPLES
@given(scripts(), st.booleans())
def test_a_snapshot_is_restored_with_groups_or_without(script: Script, first: bool) -> None:
    one, other = (Options(), WITHOUT) if first else (WITHOUT, Options())
    found, model, figures, _ = played(script, one, other)
    expected, known, standing, _ = played(script, WITHOUT)
    assert (found, model, figures) == (expected, known, standing)


@EXAMPLES
@given(scripts())
@example(Script(False, [EVERYBODY, [("a", None, 0, 5, 5)], EVERYBODY, ASK]))  # the other one has heard of the key
def test_others_in_the_group_change_nothing(script: Script) -> None:
    found, _, _, _ = played(script, Options())
    for number, step in enumerate(script.steps):
        if isinstance(step, Member) and not isinstance(step.forecast["within"], str):
            alone, _, _, _ = played(script, Options(), only=f"q{number}")
            assert alone.get(f"q{number}") == found.get(f"q{number}")
