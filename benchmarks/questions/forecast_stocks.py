"""The question whether forecasts keep quiet where nothing can be known: four rising closes in a row.

Not here: the walk and the coin (forecasts.stocks), the measures (forecasts.scores).
"""

from __future__ import annotations

from typing import Any, Final

from ..forecasts import live, notices, scores, stocks
from ..forecasts.judging import Goal, compared, judged, measured, rounded
from ..forecasts.showing import whole
from ..forecasts.stocks import TEST_FROM
from ..forecasts.through_engine import Models, compiled, forecasts
from ..forecasts.walks import Ahead
from ..measuring import Effort, Say
from .question import Question

STEPS: Final = (1, 5, 10)
THRESHOLD: Final = 0.8
POOLED, OURS, COIN = "one chain for all", "ours", "a coin"
MODELS: Final[Models] = {POOLED: {}, OURS: {"context": ["key"]}}


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure. Raises BenchmarkError where the prices cannot be read."""
    say("reading the closes")
    walk = stocks.closes(effort.data["stocks"])
    ahead = Ahead(walk)
    asked = stocks.ALL
    rate = stocks.rise_rate(walk, TEST_FROM)
    coin = stocks.coin(rate, max(STEPS))
    say("forecasts")
    found = {
        COIN: live.told_by_table(walk, coin.curve, walk.states, STEPS, set(asked)),
        **forecasts(walk, stocks.feed(walk), MODELS, STEPS, asked, TEST_FROM, say),
    }
    drawings = scores.drawn(range(len(walk.names)), scores.DRAWINGS if effort.repetitions > 1 else 50)
    cases: list[dict[str, Any]] = []
    gains: list[dict[str, Any]] = []
    told: list[dict[str, Any]] = []
    skill: list[dict[str, Any]] = []
    for steps in STEPS:
        say(f"bootstrap, N = {steps}")
        tested = {name: each.predictions(ahead, steps, since=TEST_FROM) for name, each in found.items()}
        redrawn = {name: scores.redrawn(each, THRESHOLD, drawings) for name, each in tested.items()}
        cases += [measured(name, steps, tested[name], THRESHOLD, redrawn[name]) for name in found]
        gains += [compared(OURS, other, steps, redrawn, ("brier", "auc")) for other in (COIN, POOLED)]
        told += [cell.told() for cell in notices.once(found[OURS], ahead, steps, TEST_FROM)]
        skill += [_in_state(walk.states, found, ahead, steps, state) for state in sorted(asked)]
    return {
        "compiled": compiled(),
        "workload": {
            "events": len(walk),
            "symbols": len(walk.names),
            "matches": walk.matches(),
            "rises_in_training": rounded(rate),
            "tested_from": "2016-01-01",
            "threshold": THRESHOLD,
        },
        "cases": cases,
        "gains": gains,
        "goals": judged([Goal("true", steps, 0) for steps in STEPS], OURS, cases)
        + judged([Goal("false", steps, 0) for steps in STEPS], OURS, cases),
        "states": skill,
        "notices": told,
    }


def _in_state(
    states: list[int], found: dict[str, live.Forecasts], ahead: Ahead, steps: int, state: int
) -> dict[str, Any]:
    """Brier's skill beside the base rate of the test in one state, where the pattern itself says nothing more."""
    skill: dict[str, float] = {}
    for name, each in found.items():
        one = live.Forecasts((steps,))
        for event, probability in zip(each.events, each.by_steps[steps]):
            if states[event] == state:
                one.put(event, (probability,))
        measures = scores.scored(one.predictions(ahead, steps, since=TEST_FROM), THRESHOLD)
        skill[name] = rounded(measures["skill"])
    return {"steps": steps, "state": state, "skill": skill}


QUESTION: Final = Question(
    name="forecast_stocks",
    text="Do forecasts keep quiet where nothing can be known: four rising closes in a row?",
    bias=(
        "88 large companies, 2012 to 2017; trained before 2016, tested from then on; a time in which prices rose.",
        "All states but the final one, so that the skill beside the overall base rate is the pattern's own: a coin that"
        " rises as often has it too. Judge by what we are better than the coin, and by the skill within a state.",
        "Ours and the one chain for all: an engine fed with the closes, a day at a time, and asked after each"
        " (Engine.probability). Ours has the symbol as context, all else the defaults; both count on in the test.",
        "Intervals: symbols drawn with replacement. The market moves them together, so they are too narrow.",
    ),
    ask=ask,
    table=whole,
    needs=("stocks",),
)
