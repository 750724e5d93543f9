"""The question how well the third late departure of an aircraft in a row is forecast: real data, no toy of ours.

Trained January to August 2013, tested September to December. Context and half-life are chosen on the training part
alone. Not here: the walk (forecasts.flights), the ceiling (forecasts.logistic), the measures (forecasts.scores).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ..forecasts import flights, live, scores
from ..forecasts.flights import TEST_FROM, Departure
from ..forecasts.judging import Goal, compared, judged, measured, rounded
from ..forecasts.logistic import Features, Logistic
from ..forecasts.showing import whole
from ..forecasts.through_engine import compiled, forecasts
from ..forecasts.walks import Ahead, Walk
from ..measuring import Effort, Say
from .question import Question

STEPS: Final = (3, 5, 10)
DECIDING: Final = 5
THRESHOLD: Final = 0.5
JUDGED_FROM: Final = int(datetime(2013, 4, 1, tzinfo=UTC).timestamp()) * 1_000_000  # candidates, after a quarter
POOLED, KEYED = "one chain for all", "context key"
OURS, CORRECTED = "ours", "ours, recalibrate"
CEILING, MONTHLY = "logistic regression", "logistic regression, monthly"
CANDIDATES: Final[tuple[tuple[tuple[str, ...], int | None], ...]] = (  # parts of the context, half-life in days
    ((), None),
    (("key",), None),
    (("hour",), None),
    (("carrier",), None),
    (("carrier",), 30),
    (("carrier",), 14),
    (("carrier",), 7),
    (("carrier", "hour"), 14),
    (("carrier", "origin"), 14),
    (("key", "carrier"), 14),
    (("key", "hour"), None),
)
HISTORY: Final = 200  # departures of a carrier whose share of late ones the ceiling knows
PRIOR: Final = (4, 20)  # late ones among so many: where a tail number begins
SHARES: Final = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.45)


def options(parts: Sequence[str], half_life: int | None) -> dict[str, Any]:
    """What a subscription asks for."""
    return {"context": [*parts]} | ({} if half_life is None else {"half_life": f"{half_life} days"})


def features(rows: Sequence[Departure], walk: Walk) -> dict[int, Features]:
    """What the ceiling knows of each departure with a partial state: more than a context can say, nothing later."""
    tails: dict[str, list[int]] = {}
    carriers: dict[str, list[bool]] = {}
    found: dict[int, Features] = {}
    for event, row in enumerate(rows):
        late, count = tails.setdefault(row.tail, list(PRIOR))
        history = carriers.setdefault(row.carrier, [])
        if walk.states[event] in flights.PARTIAL:
            found[event] = (
                f"state {walk.states[event]}",
                f"carrier {row.carrier}",
                f"origin {row.origin}",
                f"hour {row.hour}",
                f"weekday {row.weekday}",
                f"delay {bisect_right(flights.DELAYS, row.delay)}",
                f"airport {bisect_right(flights.RECENT, row.recent)}",
                f"tail {bisect_right(SHARES, late / count)}",
                f"lately {bisect_right(SHARES, sum(history) / max(len(history), 1))}",
            )
        is_late = row.delay > flights.LATE
        tails[row.tail] = [late + is_late, count + 1]
        history.append(is_late)
        del history[:-HISTORY]
    return found


def ceiling(known: dict[int, Features], ahead: Ahead, again: bool) -> live.Forecasts:
    """The regression's forecasts of the test, one model a horizon, fitted to what was known before it.

    With `again` it is fitted anew before each month of it: ours goes on learning too.
    """
    found = live.Forecasts(STEPS)
    begins = [_first_of(month) for month in ((9, 10, 11, 12) if again else (9,))]
    models = [[_fitted(known, ahead, steps, begin) for steps in STEPS] for begin in begins]
    for event, row in known.items():
        if ahead.walk.times[event] >= TEST_FROM:
            newest = models[bisect_right(begins, ahead.walk.times[event]) - 1]
            found.put(event, [model.probability(row) for model in newest])
    return found


def _first_of(month: int) -> int:
    return int(datetime(2013, month, 1, tzinfo=UTC).timestamp()) * 1_000_000


def _fitted(known: dict[int, Features], ahead: Ahead, steps: int, before: int) -> Logistic:
    fit: list[tuple[Features, bool]] = []
    for event, row in known.items():
        outcome = ahead.outcome(event, steps)
        if outcome is not None and ahead.known_at(event, steps) < before:
            fit.append((row, outcome))
    return Logistic([row for row, _ in fit], [outcome for _, outcome in fit])


def chosen(rows: Sequence[Departure], say: Say, few: bool) -> list[dict[str, Any]]:
    """The candidates by log loss of their forecasts of the training part; one of them is the best."""
    before = [row for row in rows if row.time < TEST_FROM]
    walk = flights.walk(before)
    ahead = Ahead(walk)
    named = {
        f"context {list(parts)}" + ("" if half_life is None else f", half-life {half_life} days"): (parts, half_life)
        for parts, half_life in (CANDIDATES[:1] + CANDIDATES[5:6] if few else CANDIDATES)
    }
    models = {name: options(*each) for name, each in named.items()}
    said = forecasts(walk, flights.feed(before), models, (DECIDING,), flights.PARTIAL, JUDGED_FROM, say)
    found: list[dict[str, Any]] = []
    for name, (parts, half_life) in named.items():
        tested = said[name].predictions(ahead, DECIDING, since=JUDGED_FROM)
        loss = scores.scored(tested, THRESHOLD)["log_loss"]
        found.append({"name": name, "parts": list(parts), "half_life": half_life, "log_loss": rounded(loss)})
    best = min(found, key=lambda each: float(each["log_loss"]))
    return [each | {"chosen": each is best} for each in found]


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Choose, then measure. Raises BenchmarkError where the flights are not installed."""
    say("reading the flights")
    rows = flights.departures()
    walk = flights.walk(rows)
    ahead = Ahead(walk)
    candidates = chosen(rows, say, effort.repetitions == 1)
    best = next(each for each in candidates if each["chosen"])
    best_options = options(best["parts"], best["half_life"])
    models: dict[str, dict[str, Any]] = {
        POOLED: {},
        KEYED: {"context": ["key"]},
        OURS: best_options,
        CORRECTED: {**best_options, "recalibrate": True},
    }
    found = forecasts(walk, flights.feed(rows), models, STEPS, flights.PARTIAL, TEST_FROM, say)
    say(CEILING)
    known = features(rows, walk)
    found[CEILING] = ceiling(known, ahead, again=False)
    found[MONTHLY] = ceiling(known, ahead, again=True)
    drawings = scores.drawn(range(len(walk.names)), scores.DRAWINGS if effort.repetitions > 1 else 20)
    cases: list[dict[str, Any]] = []
    gains: list[dict[str, Any]] = []
    goals: list[Goal] = []
    for steps in STEPS:
        say(f"bootstrap, N = {steps}")
        tested = {name: each.predictions(ahead, steps, since=TEST_FROM) for name, each in found.items()}
        redrawn = {name: scores.redrawn(each, THRESHOLD, drawings) for name, each in tested.items()}
        cases += [measured(name, steps, tested[name], THRESHOLD, redrawn[name]) for name in found]
        gains += [compared(OURS, other, steps, redrawn, ("brier", "log_loss")) for other in (POOLED, MONTHLY)]
        pooled = next(case for case in cases if case["model"] == POOLED and case["steps"] == steps)
        goals += [Goal("brier", steps, pooled["brier"]), Goal("log_loss", steps, pooled["log_loss"])]
        goals.append(Goal("ece", steps, 0.02))
    ours = {steps: found[OURS].predictions(ahead, steps, since=TEST_FROM) for steps in STEPS}
    return {
        "compiled": compiled(),
        "workload": {
            "events": len(walk),
            "aircraft": len(walk.names),
            "matches": walk.matches(),
            "tested_from": "2013-09-01",
            "deciding_steps": DECIDING,
            "drawings": len(drawings),
        },
        "candidates": candidates,
        "cases": cases,
        "gains": gains,
        "goals": judged(goals, OURS, cases),
        "reliability": {str(steps): scores.reliability(each) for steps, each in ours.items()},
    }


def plot(answer: dict[str, Any], folder: Path) -> list[Path]:
    """Said and happened."""
    from ..forecasts.pictures import reliability  # matplotlib is the extra `plot`

    folder.mkdir(parents=True, exist_ok=True)
    return [reliability(answer, folder / "forecast-flights-reliability.svg")]


QUESTION: Final = Question(
    name="forecast_flights",
    text="How well is the third late departure of an aircraft in a row forecast, beside a regression that knows more?",
    bias=(
        "Departures from three airports only: what an aircraft does elsewhere is not seen, so that 'in a row' is not"
        " what its crew would say.",
        "Partial states only: one or two late departures in a row. N counts departures of the aircraft. A forecast with"
        " fewer than N departures to the aircraft's last one of the year is left out, whatever became of it.",
        "Ours: an engine that is fed with the departures and asked after each (Engine.probability). Context and"
        " half-life are those with the least log loss at N = 5 from April to August. It goes on counting in the test,"
        " as 'one chain for all' does, which has neither.",
        "Delays are known at the scheduled departure here; in truth they are known some minutes later.",
        "The regression, one model a horizon, is fitted once, or before each month of the test to all that was known"
        " then; it knows state, carrier, origin, hour, weekday, delay, and late shares of airport, tail and carrier.",
        "Intervals: aircraft drawn with replacement. Storms delay many aircraft at once, so they are too narrow.",
    ),
    ask=ask,
    table=whole,
    plot=plot,
)
