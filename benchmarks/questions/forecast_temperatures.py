"""The question how well heat waves are forecast on the archive that P-ToPSS used: its section 6.2, figure 11.

Not here: the walk and what is known of it (forecasts.temperatures), the measures (forecasts.scores), what the paper
says (forecasts.statements).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from ..composite_statements import Statement
from ..forecasts import live, notices, scores, statements, temperatures
from ..forecasts.bands import FullModel
from ..forecasts.judging import Goal, compared, judged, measured
from ..forecasts.showing import whole
from ..forecasts.through_engine import Models, compiled, forecasts
from ..forecasts.walks import Ahead
from ..measuring import Effort, Say
from .question import Question

STEPS: Final = (1, 2, 3, 4, 5, 7, 10)
SCORED: Final = (5, 10)
THRESHOLD: Final = 0.9
GENERATED, FULL, OURS = "generated, 6 states", "full, 1,365 states", "ours"
RECALIBRATED = "ours, recalibrate"
FIGURE: Final[Mapping[str, str]] = {GENERATED: "generated", FULL: "full", OURS: "ours"}
SAMPLED: Final = 3
"""Every so manyth station is given to the options, which are many."""
CONTEXT: Final = ["key", "month"]
FOUR_YEARS: Final = "1461 days"
OPTIONS: Final[Models] = {
    "defaults": {"context": CONTEXT},
    "no context": {},
    "context key": {"context": ["key"]},
    "context month": {"context": ["month"]},
    "half_life 4 years": {"context": CONTEXT, "half_life": FOUR_YEARS},
}
GOALS: Final = (
    Goal("auc", 5, 0.785, at_least=True),
    Goal("auc", 10, 0.8, at_least=True),
    Goal("brier", 5, 0.173),
    Goal("brier", 10, 0.179),
    Goal("ece", 5, 0.02),
    Goal("ece", 10, 0.02),
    Goal("true", 10, 300, at_least=True),
    Goal("precision", 10, 0.93, at_least=True),
)


def rivals(days: temperatures.Days, ahead: Ahead, say: Say) -> dict[str, live.Forecasts]:
    """The forecasts of the paper's models at every partial state of the archive."""
    walk, horizon, asked = days.walk, max(STEPS), set(temperatures.PARTIAL)
    say("the generated model")
    curves = temperatures.generated(walk, horizon)
    found = {GENERATED: live.told_by_table(walk, curves.__getitem__, walk.states, STEPS, asked)}
    say("the full model")
    full = FullModel()
    states = full.states(walk, days.bands)
    passage = full.trained(walk, states, temperatures.TEST_FROM, horizon)
    found[FULL] = live.told_by_table(walk, passage.curve, states, STEPS, asked)
    for name in (GENERATED, FULL):
        plain = found[name]
        found[f"{name}, corrected"] = plain.corrected(live.corrections(plain, ahead, temperatures.TEST_FROM))
    return found


def of_engine(days: temperatures.Days, models: Models, steps: Sequence[int], say: Say) -> dict[str, live.Forecasts]:
    """The forecasts of an engine in the test."""
    return forecasts(days.walk, days.feed(), models, steps, temperatures.PARTIAL, temperatures.TEST_FROM, say)


def options(days: temperatures.Days, say: Say, drawings: int) -> list[dict[str, Any]]:
    """What other options would have said, of a part of the stations."""
    part = days.sample(SAMPLED)
    ahead = Ahead(part.walk)
    found = of_engine(part, OPTIONS, SCORED, say)
    drawn = scores.drawn(range(len(part.walk.names)), drawings)
    cases: list[dict[str, Any]] = []
    for steps in SCORED:
        for name, each in found.items():
            tested = each.predictions(ahead, steps, since=temperatures.TEST_FROM)
            cases.append(measured(name, steps, tested, THRESHOLD, scores.redrawn(tested, THRESHOLD, drawn)))
    return cases


def ask(effort: Effort, say: Say) -> dict[str, Any]:
    """Measure all models. Raises BenchmarkError where the archive cannot be read."""
    say("reading the archive")
    days = temperatures.days(effort.data["temperatures"])
    say("exact figures")
    exact = temperatures.exact(days.walk)
    ahead = Ahead(days.walk)
    found = rivals(days, ahead, say)
    found |= of_engine(days, {OURS: {"context": CONTEXT}}, STEPS, say)
    corrected = of_engine(days, {RECALIBRATED: {"context": CONTEXT, "recalibrate": True}}, SCORED, say)
    since = temperatures.TEST_FROM
    drawn = scores.DRAWINGS if effort.repetitions > 1 else 50
    drawings = scores.drawn(range(len(days.walk.names)), drawn)
    cases: list[dict[str, Any]] = []
    gains: list[dict[str, Any]] = []
    for steps in SCORED:
        say(f"bootstrap, N = {steps}")
        shown = {**found, **corrected}
        tested = {name: each.predictions(ahead, steps, since=since) for name, each in shown.items()}
        redrawn = {name: scores.redrawn(each, THRESHOLD, drawings) for name, each in tested.items()}
        cases += [measured(name, steps, tested[name], THRESHOLD, redrawn[name]) for name in shown]
        gains += [compared(OURS, other, steps, redrawn, ("auc", "brier")) for other in (GENERATED, FULL)]
    figure: list[dict[str, Any]] = []
    said: list[Statement] = []
    for way, count in (("every state", notices.of_states), ("once a run", notices.once)):
        told: dict[str, list[notices.Told]] = {}
        for name in FIGURE:
            say(f"notices, {way}, {name}")
            told[name] = [cell for steps in STEPS for cell in count(found[name], ahead, steps, since)]
            figure += [{"way": way, "model": name, **cell.told()} for cell in told[name]]
        said += statements.figure_11(way, told[GENERATED], told[FULL])
    ours = {steps: found[OURS].predictions(ahead, steps, since=since) for steps in SCORED}
    return {
        "compiled": compiled(),
        "workload": {
            "events": len(days.walk),
            "stations": len(days.walk.names),
            "tested_from": "2007-01-01",
            "threshold": THRESHOLD,
            "sampled": SAMPLED,
            "drawings": len(drawings),
        },
        "exact": exact,
        "cases": cases,
        "options": options(days, say, drawn),
        "gains": gains,
        "goals": judged(GOALS, OURS, cases),
        "statements": [asdict(each) for each in said],
        "reliability": {str(steps): scores.reliability(each) for steps, each in ours.items()},
        "notices": figure,
    }


def plot(answer: dict[str, Any], folder: Path) -> list[Path]:
    """Figure 11: true and false positives and precision against the threshold, a row a model; and reliability."""
    from ..forecasts.pictures import panels, reliability

    folder.mkdir(parents=True, exist_ok=True)
    drawn = [panels(answer, FIGURE, way, folder / f"forecast-11-{way.split()[0]}.svg") for way in _ways(answer)]
    return [*drawn, reliability(answer, folder / "forecast-temperatures-reliability.svg")]


def _ways(answer: dict[str, Any]) -> list[str]:
    return list(dict.fromkeys(cell["way"] for cell in answer["notices"]))


QUESTION: Final = Question(
    name="forecast_temperatures",
    text="How well are five hot days in a row forecast, beside the models of P-ToPSS (figure 11)?",
    bias=(
        "The archive of the paper, 1995 to 2014: trained before 2007, tested from then on; the paper ended earlier and"
        " does not say how it divided.",
        "Partial states only: 1 to 4 hot days in a row. N counts days with a reading. A forecast with fewer than N days"
        " to the end of its station is left out, whatever became of it.",
        "Ours: an engine that is fed with the archive, a day at a time, and asked after each day for every station that"
        " has begun a heat wave (Engine.probability). Contexts station and month, all else the defaults; it goes on"
        " counting in the test, each answer being given before what follows is known. 'recalibrate' is that option.",
        "The paper's models are corrected chains (departures, first passage) trained once, as its own are; 'corrected':"
        " isotonic, fitted to forecasts whose outcome was known before 2007.",
        "Options: the same of every third station.",
        "'Every state' counts each day's forecast above the threshold, 'once a run' crossings until they are resolved.",
        "Intervals: stations drawn with replacement. ECE, a sum of absolute values, is biased upwards in drawings.",
    ),
    ask=ask,
    table=whole,
    plot=plot,
    needs=("temperatures",),
)
