"""What an event costs on up to 100,000 composite subscriptions: on which streams, in which part of them, judged.

Not here: the figures of P-ToPSS 6.1 (questions.composites), one process (composite_trial).

What follows `;` waits for ever, so that an event costs the more the longer a stream has run, and the more so the more
subscriptions there are. Hence several parts: the same number of events, the same share of the paper's stream, the worst
case from the first event on, and behind the paper's stream, where all that can be live is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

from . import targets
from .composite_statements import exponent
from .composite_trial import PAPER, Course, Figures, Slice, Stream
from .composite_workload import Settings
from .measuring import Effort, Spread

COUNTS: Final = (1_000, 10_000, 100_000)
EQUAL: Final = (15, 20)  # events a subscription: the same share of the paper's stream
CHECKED: Final = 10_000  # of the first events matches are compared with the replay's
SATURATED: Final = (10_000, 50_000)
MICRO: Final = 1e6
STREAMS: Final[Mapping[str, str]] = {
    "equal": "paper's stream, equal share: events 15 N to 20 N",
    "paper": "paper's stream, equal number: its second 100,000",
    "pool": "worst case, each event of the pool: second 100,000",
    "saturated": "worst case behind 20 N events of the paper's stream",
}
JUDGED: Final = ("equal", "paper", "pool")

Window: TypeAlias = tuple[int, int]


def streams(load: Settings, effort: Effort) -> list[Stream]:
    """The worst case has an engine of its own, by a fork; behind the paper's stream it comes once more."""
    cuts = {CHECKED, effort.events, 2 * effort.events}
    share = {part * load.count for part in EQUAL}
    return [
        Stream(name="pool", kind="relevant", cuts=sorted(cuts), fresh=True),
        Stream(name="paper", kind=PAPER, cuts=sorted(cuts | share), fresh=False),
        Stream(name="saturated", kind="relevant", cuts=list(SATURATED), fresh=False),
    ]


@dataclass(frozen=True, slots=True)
class Cost:
    """An event's: seconds, how many of them were full collections, and its matches."""

    seconds: float
    collecting: float
    matches: float


def cost(figures: Figures, name: str, window: Window) -> Cost:
    """What an event costs between two cuts."""
    taken = _within(figures["courses"][name], window)
    events = sum(each["events"] for each in taken)
    seconds, collecting = sum(each["cpu"] for each in taken), sum(each["collecting"] for each in taken)
    return Cost(seconds / events, collecting / events, sum(each["matches"] for each in taken) / events)


def _within(course: Course, window: Window) -> list[Slice]:
    first, last = window
    return [each for each in course["slices"] if first < each["upto"] <= last]


def _windows(load: Settings, effort: Effort) -> dict[str, tuple[str, Window]]:
    """By key of STREAMS: the stream, and the part of it that is measured."""
    second = (effort.events, 2 * effort.events)
    return {
        "equal": ("paper", (EQUAL[0] * load.count, EQUAL[1] * load.count)),
        "paper": ("paper", second),
        "pool": ("pool", second),
        "saturated": ("saturated", SATURATED),
    }


def rows_of(load: Settings, effort: Effort, repetitions: list[Figures]) -> Iterator[dict[str, Any]]:
    target = targets.COMPOSITES.get(load.count)
    for key, (name, window) in _windows(load, effort).items():
        costs = [cost(figures, name, window) for figures in repetitions]
        found = Spread.of(each.seconds / f["unit"] for each, f in zip(costs, repetitions))
        judged = target is not None and key in JUDGED
        last = repetitions[0]["courses"][name]["slices"][-1]
        yield {
            "stream": key,
            "count": load.count,
            "found": asdict(found),
            "in_full_collections": asdict(
                Spread.of(each.collecting / f["unit"] for each, f in zip(costs, repetitions))
            ),
            "microseconds_per_event": asdict(Spread.of(each.seconds * MICRO for each in costs)),
            "matches_per_event": float(f"{costs[0].matches:.4g}"),
            "tuples_per_match_at_the_end": float(f"{last['last_tuples'] / max(1, last['last_matches']):.4g}"),
            **(asdict(target) if target is not None and judged else {}),
            "reached": target.reached(found) if target is not None and judged else "-",
        }


@dataclass(frozen=True, slots=True)
class Growth:
    """The exponent of the time an event, from the medians; `reached` as of any target."""

    exponent: float
    reached: str


def growth(rows: list[dict[str, Any]], key: str) -> Growth:
    line = [(row["count"], row["found"]["median"]) for row in rows if row["stream"] == key]
    found = round(exponent(line), 3)
    judged = key in JUDGED and line[-1][0] == COUNTS[-1]
    return Growth(found, targets.COMPOSITE_GROWTH.reached(Spread(found, found, found)) if judged else "-")


def memory(load: Settings, repetitions: list[Figures]) -> dict[str, Any]:
    """Bytes: what the subscriptions take, and what each stream adds to what there was."""
    return {
        "count": load.count,
        "terms": repetitions[0]["terms"],
        "subscribe_seconds": asdict(Spread.of(f["subscribe"] for f in repetitions)),
        "loaded": asdict(Spread.of(f["loaded"] for f in repetitions)),
        **{
            name: asdict(Spread.of(f["courses"][name]["grown"] for f in repetitions))
            for name in repetitions[0]["courses"]
        },
    }
