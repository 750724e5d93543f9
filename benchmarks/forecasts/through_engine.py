"""Law: the heat waves of the archive through the engine itself, to see that it forecasts what the offline model does.

Two subscriptions, one of which has its probabilities corrected as the product does: isotonic, fitted again and again
to all that has been resolved, whatever the state. Both speak from the first count on (`effective = 0`), as the offline
model does. Days are published as batches; what is read is public: notices, the model, the correction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

from broker.engine import Engine
from broker.engine.match import Match
from broker.forecast.counts import Counts
from broker.forecast.isotonic import Correction

from .live import Forecasts
from .temperatures import LENGTH, PARTIAL, TEST_FROM
from .walks import Walk

PLAIN, CORRECTED = "plain", "corrected"
STEPS: Final = 10
THRESHOLD: Final = 0.9
QUERY: Final = "\n".join(
    [
        "FROM Weather BY station",
        *(f"hot{day}: hot = true" for day in range(1, LENGTH + 1)),
        "MATCH " + ", ".join(f"hot{day}" for day in range(1, LENGTH + 1)),
    ]
)
FORECAST: Final = {"within": STEPS, "context": ["key", "month"], "effective": 0}


@final
@dataclass(slots=True)
class Seen:
    """What the engine has told. `notices`: (event, state, probability); `resolved`: outcomes by subscription, of what
    was told from 2007 on. `correction`: the product's, when the test began."""

    counts: Counts
    matches: int = 0
    notices: list[tuple[int, int, float]] = field(default_factory=list)
    resolved: dict[str, dict[str, int]] = field(default_factory=dict)
    correction: Correction | None = None


def run(walk: Walk, threshold: float = THRESHOLD) -> Seen:
    """Publish it all. O(events)."""
    engine = Engine()
    engine.add_stream("Weather", {"station": "string", "hot": "bool"}, key="station")
    for name, more in ((PLAIN, {}), (CORRECTED, {"recalibrate": True})):
        engine.subscribe(name, language="ptopss", query=QUERY, forecast={**FORECAST, "threshold": threshold, **more})
    seen = Seen(Counts())
    for name in (PLAIN, CORRECTED):
        seen.resolved[name] = {"true": 0, "false": 0, "censored": 0, "true, partial": 0, "false, partial": 0}
    told: dict[str, int] = {}  # forecasts from 2007 on, and their states
    begin, tested = 0, False
    while begin < len(walk):
        time, end = walk.times[begin], begin
        while end < len(walk) and walk.times[end] == time:
            end += 1
        if time >= TEST_FROM and not tested:
            tested = True
            seen.correction = engine.forecasts(CORRECTED).account.correction
        rows = [(walk.names[walk.runs[event]], walk.states[event] > 0) for event in range(begin, end)]
        events = {walk.names[walk.runs[event]]: event for event in range(begin, end)}
        for match in engine.publish("Weather", [time] * len(rows), rows):
            _take(seen, match, events, told)
        begin = end
    for match in engine.finish():
        _take(seen, match, {}, told)
    seen.counts = engine.model().counts
    return seen


def _take(seen: Seen, match: Match, events: dict[str, int], told: dict[str, int]) -> None:
    notice: Any = match.notice
    if match.kind == "match":
        seen.matches += match.subscription == PLAIN
    elif match.kind == "forecast":
        if notice.time >= TEST_FROM:
            told[notice.id] = notice.state
        if match.subscription == PLAIN:
            seen.notices.append((events[notice.run], notice.state, notice.probability))
    elif notice.forecast in told:
        name = {True: "true", False: "false"}.get(notice.outcome, "censored")
        sums = seen.resolved[match.subscription]
        sums[name] += 1
        if told[notice.forecast] in PARTIAL and name != "censored":
            sums[f"{name}, partial"] += 1


def agreement(seen: Seen, offline: Forecasts, counts: Counts) -> dict[str, Any]:
    """Whether the engine counted the same, and by how much its notices differ from the offline probabilities.

    Counts are equal to the last one in the end. Probabilities need not be: the engine counts what has passed a state by
    when it is left, and estimates rows anew when they may have moved by more than a tolerance (forecaster.TOLERANCE).
    """
    versions = seen.counts.versions()
    own = [record for record in seen.counts.records() if record[0] == versions[0]]
    equal = [record[1:] for record in own] == [record[1:] for record in counts.records()]
    said = dict(zip(offline.events, offline.by_steps[STEPS]))
    gaps = [abs(p - said[event]) for event, _, p in seen.notices if event in said]
    mean = sum(gaps) / max(len(gaps), 1)
    return {"counts_equal": equal, "notices": len(gaps), "mean": mean, "largest": max(gaps, default=0.0)}


def corrected(seen: Seen, offline: Forecasts, steps: Sequence[int]) -> Forecasts:
    """The offline forecasts put right by the product's own correction of 2007."""
    return offline.corrected({each: seen.correction if each == STEPS else None for each in steps})
