"""How good the forecasts of one subscription are at many horizons at once, by the outcome of each of them.

A judge sits beside the subscription's forecaster and receives each step. After each event of a key after which the
subscription may report - a pattern has begun, and enough stands behind the state - there is a forecast: the probability
of the next match within each horizon, in events of the key. Events that pass a key by leave its forecast as it was.
Its outcome is known at the next match, or when the horizon has passed; forecasts still open at the end are censored
(forecasting 2.13). Without a model of its own a judge takes the chain as it stands at the step, which goes on learning;
with one it takes that model, whatever the engine learns meanwhile and however keys are divided.

Forecasts right after a match announce matches as others do, but are not counted by outcome: that one match follows
another is another question, and an easy one (verification). Where nothing has begun there is none at all.

Everything is sums of integers by context, horizon and bucket, a thousandth of probability each: bucket b holds
probabilities more than (b - 1) / 1000 and at most b / 1000. So p > k / 1000 is b > k for every threshold of whole
thousandths, sums of parts add up in any order, and the measures for all thresholds come from one pass
(spark_bridge.evaluation).

A match is foretold over a threshold by the first forecast within the horizon before it that exceeds it, and not before
the last match; its lead is how many events lie between. Each forecast that exceeds all earlier ones of its match has
the thresholds between for itself: +1 in its bucket, -1 in that of the one before it.

Here: bins and their filling. Not here: when a step is (subscription), measures of bins (spark_bridge.evaluation).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, TypeAlias, final

from mypy_extensions import i64

from ..events.errors import DefinitionError
from .calibration import MILLIONTHS, surprise
from .context_chain import ContextChain
from .counts import Context
from .forecaster import Forecaster
from .key_state import KeyState
from .keyed_stream import StreamKey
from .level import Level
from .notifying import Run

BUCKETS: Final = 1_000
"""Buckets of probability above 0; bucket 0 holds what is impossible."""
JUDGED_HORIZON_MAX: Final = 10_000
"""Events ahead that forecasts are judged over."""
COLUMNS: Final = (
    "hits",
    "misses",
    "hit_rest",
    "miss_rest",
    "squares",
    "surprise",
    "censored",
    "matches",
    "foretold",
    "lead",
)
"""The sums of a bin, in the order of `Bin.sums`."""

Record: TypeAlias = tuple[Context, int, int, tuple[int, ...]]
"""Context, horizon, bucket, and the sums by COLUMNS."""


@final
class Bin:
    """`hits`, `misses`, `censored`: forecasts by outcome. `rest`: how far they are below the bucket's upper end, in
    millionths; `squares` of these; `surprise`: their log loss, millionths of a nat. Then matches."""

    __slots__ = COLUMNS

    def __init__(self) -> None:
        self.hits: i64 = 0
        self.misses: i64 = 0
        self.hit_rest: i64 = 0
        self.miss_rest: i64 = 0
        self.squares: i64 = 0
        self.surprise: i64 = 0
        self.censored: i64 = 0
        self.matches: i64 = 0
        self.foretold: i64 = 0
        self.lead: i64 = 0

    def sums(self) -> tuple[int, ...]:
        """All of them, in the order of COLUMNS."""
        first = (int(self.hits), int(self.misses), int(self.hit_rest), int(self.miss_rest), int(self.squares))
        matched = (int(self.matches), int(self.foretold), int(self.lead))
        return (*first, int(self.surprise), int(self.censored), *matched)


@final
class StateForecast:
    """What is forecast in one state and context, by horizon: bucket, bin, rest, and the surprise of either outcome.
    `counted` by outcome: not right after a match."""

    __slots__ = ("bins", "buckets", "context", "counted", "rests", "surprises")

    def __init__(
        self, context: Context, chances: list[float], bins: list[dict[int, Bin]], counted: bool = True
    ) -> None:
        self.context = context
        self.counted = counted
        self.buckets: list[int] = [bucket_of(chance) for chance in chances]
        self.bins: list[Bin] = [_bin(known, bucket) for known, bucket in zip(bins, self.buckets)]
        self.rests: list[int] = [
            bucket * (MILLIONTHS // BUCKETS) - int(chance * MILLIONTHS + 0.5)
            for chance, bucket in zip(chances, self.buckets)
        ]
        self.surprises: list[tuple[int, int]] = [
            (int(surprise(1.0 - chance)), int(surprise(chance))) for chance in chances
        ]

    def record(self, number: int, came: bool, times: i64) -> None:
        """Count the outcome of the forecast over the horizon of that number after so many events. O(1)."""
        if times <= 0 or not self.counted:
            return
        found = self.bins[number]
        rest: i64 = self.rests[number]
        if came:
            found.hits += times
            found.hit_rest += times * rest
        else:
            found.misses += times
            found.miss_rest += times * rest
        found.squares += times * rest * rest
        found.surprise += times * self.surprises[number][came]

    def censor(self, number: int, times: i64) -> None:
        """Count it as censored after so many events."""
        if self.counted:
            self.bins[number].censored += times


@final
class ForecastSpan:
    """After the events `first` to `last` of a key the same was forecast."""

    __slots__ = ("first", "forecast", "last")

    def __init__(self, first: i64, forecast: StateForecast) -> None:
        self.first: i64 = first
        self.last: i64 = first
        self.forecast = forecast


@final
class OpenForecasts:
    """Those of one key without an outcome, the oldest first. `current`: the last of them still holds."""

    __slots__ = ("current", "key", "spans")

    def __init__(self, key: StreamKey) -> None:
        self.key = key
        self.spans: deque[ForecastSpan] = deque()
        self.current = False

    def extend(self, clock: i64) -> None:
        """Let the current forecast hold for all events until then."""
        if self.current:
            self.spans[-1].last = clock


@final
class Judge:
    """Of one subscription. `own`: the forecaster to judge; None: that of the engine, as it is at each event."""

    def __init__(self, horizons: Sequence[int], effective: float, own: Forecaster | None = None) -> None:
        """`effective`: how many transitions must stand behind a state before anything is forecast from it.

        Raises DefinitionError unless the horizons are events, 1 to JUDGED_HORIZON_MAX, each once.
        """
        check_horizons(horizons)
        self.horizons: list[int] = sorted(horizons)
        self.longest: int = self.horizons[-1]
        self.effective = effective
        self.own = own
        self._open: dict[Run, OpenForecasts] = {}
        self._bins: dict[Context, list[dict[int, Bin]]] = {}
        self._forecasts: dict[Context, tuple[Level, int, dict[int, StateForecast]]] = {}

    # --- steps ----------------------------------------------------------------------------------------------------

    def settled(self, state: KeyState, begun: bool, matched: bool) -> None:
        """Record the step that the event at hand has caused: a pattern has `begun`, or has `matched`.

        O(horizons) for each forecast that it gives an outcome; where an estimate has moved, also O(longest x edges).
        """
        key, chain = state.key, state.chain
        clock: i64 = key.events
        known = self._open.get(key.run)
        if known is None:
            known = self._open[key.run] = OpenForecasts(key)
        known.extend(clock - 1)
        if matched:
            self._match(known, clock, () if chain is None else chain.context)
        else:
            self._expire(known, clock)
        forecast: StateForecast | None = None
        if (begun or matched) and chain is not None:
            forecast = self._forecast(chain, int(state.state), not matched)
        known.current = forecast is not None
        if forecast is not None:
            known.spans.append(ForecastSpan(clock, forecast))

    def _expire(self, known: OpenForecasts, clock: i64) -> None:
        """Count forecasts older than their horizon as misses: there was no match until then."""
        over: i64 = clock - self.longest
        spans = known.spans
        while len(spans) > 0 and spans[0].first <= over:
            span = spans[0]
            last = min(span.last, over)
            for number in range(len(self.horizons)):
                span.forecast.record(number, False, last - span.first + 1)
            span.first = last + 1
            if last < span.last or (known.current and len(spans) == 1):
                return
            spans.popleft()

    def _match(self, known: OpenForecasts, clock: i64, context: Context) -> None:
        for number, horizon in enumerate(self.horizons):
            newest: StateForecast | None = None
            for span in known.spans:
                begin: i64 = max(span.first, clock - horizon)
                span.forecast.record(number, True, span.last - begin + 1)
                span.forecast.record(number, False, min(begin - 1, span.last) - span.first + 1)
                if begin <= span.last:
                    newest = span.forecast
            # The match is that context's under which it was last forecast.
            own = self._of(context if newest is None else newest.context)[number]
            _bin(own, 0).matches += 1
            if newest is not None:
                _foretell(own, number, clock, horizon, known.spans)
        known.spans.clear()
        known.current = False

    def close(self) -> None:
        """Censor all forecasts without an outcome at the end."""
        for known in self._open.values():
            clock: i64 = known.key.events
            known.extend(clock)
            known.current = False
            for span in known.spans:
                for number, horizon in enumerate(self.horizons):
                    over: i64 = min(clock - horizon, span.last)
                    span.forecast.record(number, False, over - span.first + 1)
                    span.forecast.censor(number, span.last - max(span.first - 1, over))
            known.spans.clear()

    # --- forecasts --------------------------------------------------------------------------------------------------

    def _forecast(self, chain: ContextChain, state: int, counted: bool) -> StateForecast | None:
        """The forecast of a state; None where too little is known."""
        context = chain.context
        if self.own is not None:
            chain = self.own.chain(context)
        level = chain.level()
        level.refresh()
        known = self._forecasts.get(context)
        if known is None or known[0] is not level or known[1] != level.stamp:
            known = self._forecasts[context] = (level, level.stamp, {})
        if chain.effective(state) < self.effective:
            return None
        found = known[2].get(state)
        if found is None:
            passage = chain.passage(self.longest)
            chances = [passage.next(state, horizon) for horizon in self.horizons]
            found = known[2][state] = StateForecast(context, chances, self._of(context), counted)
        return found

    def _of(self, context: Context) -> list[dict[int, Bin]]:
        found = self._bins.get(context)
        if found is None:
            found = self._bins[context] = [{} for _ in self.horizons]
        return found

    # --- results ------------------------------------------------------------------------------------------------

    def records(self) -> Iterator[Record]:
        """All bins that hold anything; by context as they came, by horizon, by bucket."""
        for context, by_horizon in self._bins.items():
            for horizon, known in zip(self.horizons, by_horizon):
                for bucket in sorted(known):
                    sums = known[bucket].sums()
                    if any(sums):
                        yield context, horizon, bucket, sums

    def check_invariants(self) -> None:
        """Raise AssertionError unless open forecasts stand in order and the bins can be those of forecasts."""
        for known in self._open.values():
            spoken = [(int(span.first), int(span.last)) for span in known.spans if span.first <= span.last]
            assert all(one[1] < other[0] for one, other in pairwise(spoken))
            assert all(first <= last <= known.key.events for first, last in spoken)
        for _, _, bucket, sums in self.records():
            assert 0 <= bucket <= BUCKETS
            assert min(sums[:8]) >= 0

    def statistics(self) -> dict[str, int]:
        """Sizes, for operators."""
        return {"open": sum(len(known.spans) for known in self._open.values()), "contexts": len(self._bins)}


def check_horizons(horizons: Sequence[int]) -> None:
    """Raises DefinitionError unless they are events, 1 to JUDGED_HORIZON_MAX, each once and at least one."""
    for horizon in horizons:
        if not 1 <= horizon <= JUDGED_HORIZON_MAX:
            raise DefinitionError(f"expected horizons of 1 to {JUDGED_HORIZON_MAX:,} events, found {horizon!r}")
    if not horizons or len(set(horizons)) != len(horizons):
        raise DefinitionError(f"expected at least one horizon, each once, found {list(horizons)}")


def bucket_of(chance: float) -> int:
    """The smallest b with chance <= b / BUCKETS, as floats compare: exceeding a threshold k / BUCKETS is b > k."""
    bucket = min(max(int(chance * BUCKETS), 0), BUCKETS)
    while bucket > 0 and chance <= (bucket - 1) / BUCKETS:
        bucket -= 1
    while bucket < BUCKETS and chance > bucket / BUCKETS:
        bucket += 1
    return bucket


def _bin(known: dict[int, Bin], bucket: int) -> Bin:
    found = known.get(bucket)
    if found is None:
        found = known[bucket] = Bin()
    return found


def _foretell(own: dict[int, Bin], number: int, clock: i64, horizon: i64, spans: deque[ForecastSpan]) -> None:
    """Count the thresholds over which a match was foretold, and its leads."""
    highest = 0
    for span in spans:
        bucket: int = span.forecast.buckets[number]
        begin: i64 = max(span.first, clock - horizon)
        if begin <= span.last and bucket > highest:
            above, below = _bin(own, bucket), _bin(own, highest)
            above.foretold += 1
            above.lead += clock - begin
            below.foretold -= 1
            below.lead -= clock - begin
            highest = bucket
