"""A subscription's forecasts as plain data and back: counts, estimates, issued forecasts, and the state of every key.

Estimates are saved beside their counts, because they lag behind these within a tolerance, and a restored engine must
forecast the same to the last digit. Subscriptions and runs have the numbers that a caller gives them.

Here: that format. Not here: which subscriptions and runs there are (engine.forecasts.snapshot).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .combination import context_of, dumped
from .counts import Counts
from .forecaster import Forecaster
from .horizon import Gaps
from .key_state import KeyState
from .keyed_stream import KeyedStream, StreamKey
from .notifying import load_notifier
from .subscription import SubscriptionForecaster


def dump_subscription(own: SubscriptionForecaster) -> dict[str, Any]:
    """All that it has learnt and issued. O(state)."""
    return {
        **_forecaster(own.forecaster),
        "watch": own.notifier.dump(),
        "account": own.verification.dump(),
        "pace": None if own.clock is None else own.clock.dump(),
        "parts": [_forecaster(part) for part in own.forecasters()[1:]],
        "bases": [[_packed(key), count] for key, count in own.bases.items()],
    }


def _forecaster(forecaster: Forecaster) -> dict[str, Any]:
    counts = forecaster.counts
    clock = counts.clock_of(forecaster.version)
    return {
        "clock": [clock.width, clock.generation],
        "records": [[list(part) if isinstance(part, tuple) else part for part in r] for r in counts.records()],
        "horizon": forecaster.horizon,
        "forecaster": forecaster.dump(),
    }


def _packed(key: Any) -> list[Any]:
    return list(key) if isinstance(key, tuple) else [None, key]


def _unpacked(key: Sequence[Any]) -> Any:
    return key[1] if len(key) == 2 and key[0] is None else tuple(key)


def dump_gaps(gaps: Gaps) -> list[Any]:
    return [[bucket, count, str(total)] for bucket, count, total in gaps.records()]


def load_gaps(data: Sequence[Any]) -> Gaps:
    gaps = Gaps()
    for bucket, count, total in data:
        gaps.put(bucket, count, int(total))
    return gaps


def dump_key(stream: KeyedStream, key: StreamKey, numbers: Mapping[int, int], runs: Mapping[int, int]) -> list[Any]:
    """The states of a key. `numbers`: of its observers; `runs`: of each live run, by its identity."""
    contexts = {group.number: group for group in stream.groups}
    return [
        _packed(key.key),
        int(key.events),
        int(key.time),
        [_state(state, numbers, runs) for state in key.states.values()],
        [numbers[state.observer.number] for state in key.due],
        _alarms(key.count_alarms, numbers),
        _alarms(key.time_alarms, numbers),
        [
            [numbers[contexts[group].observers[0].number], list(context)]
            for group, context in key.contexts.items()
            if group in contexts
        ],
        None if key.gaps is None else dump_gaps(key.gaps),
    ]


def _alarms(alarms: list[tuple[int, int]], numbers: Mapping[int, int]) -> list[list[int]]:
    """Those of subscriptions that have not left, in an order that is a heap."""
    return sorted([when, numbers[number]] for when, number in alarms if number in numbers)


def _state(state: KeyState, numbers: Mapping[int, int], runs: Mapping[int, int]) -> list[Any]:
    return [
        numbers[state.observer.number],
        int(state.state),
        int(state.seen),
        context_of(state.chain),
        state.waiting,
        [[[until, count] for until, count in moments.items()] for moments in state.moments],
        [[[until, runs[number]] for number, (until, _) in own.items() if number in runs] for own in state.runs],
        int(state.alarm),
        int(state.wake),
        dumped(state.parts),
    ]


def load_subscription(own: SubscriptionForecaster, saved: Mapping[str, Any]) -> None:
    """The inverse of `dump_subscription`."""
    for forecaster, each in zip(own.forecasters(), [saved, *saved["parts"]], strict=True):
        _load_forecaster(forecaster, each)
    own.notifier = load_notifier(saved["watch"])
    own.verification.load(saved["account"])
    if own.clock is not None:
        own.clock.load(saved["pace"])
    own.bases = {_unpacked(key): count for key, count in saved["bases"]}


def _load_forecaster(forecaster: Forecaster, saved: Mapping[str, Any]) -> None:
    counts, version = Counts(), forecaster.version
    clock = forecaster.counts.clock_of(version)
    clock.width, clock.generation = saved["clock"]
    counts.clocks[version] = clock
    for name, context, generation, state, following, count in saved["records"]:
        counts.table(name, tuple(context)).put(generation, state, following, count)
    forecaster.absorb(counts)
    forecaster.reach(saved["horizon"])
    forecaster.load(saved["forecaster"])


def load_key(
    stream: KeyedStream, saved: Sequence[Any], known: Sequence[SubscriptionForecaster], runs: Sequence[Any]
) -> None:
    """The inverse of `dump_key`: adds the key to the stream. `known` and `runs`: by number."""
    values, events, time, states, due, counts, times, contexts, gaps = saved
    key = StreamKey(_unpacked(values))
    stream.keys[key.key] = key
    key.events, key.time = events, time
    for number, *state in states:
        key.states[known[number].number] = _load_state(known[number], key, state, runs)
    for number, *_ in states:
        known[number].begun += 1
    key.due = [key.states[known[number].number] for number in due]
    key.count_alarms = [(when, known[number].number) for when, number in counts]
    key.time_alarms = [(when, known[number].number) for when, number in times]
    for number, context in contexts:
        group = known[number].group
        assert group is not None
        key.contexts[group.number] = tuple(context)
    key.gaps = None if gaps is None else load_gaps(gaps)


def _load_state(own: SubscriptionForecaster, key: StreamKey, saved: Sequence[Any], runs: Sequence[Any]) -> KeyState:
    state, seen, context, waiting, moments, known_runs, alarm, wake, parts = saved
    chain = None if context is None else own.forecaster.chain(tuple(context))
    found = KeyState(own, key, chain, seen, len(waiting), own.verification.open.of(key.run))
    found.above, found.open = own.notifier.is_above(key.run), own.notifier.is_open(key.run)
    found.state, found.alarm, found.wake = state, alarm, wake
    found.waiting, found.moments = list(waiting), [dict(each) for each in moments]
    found.runs = [{id(runs[run]): (until, runs[run]) for until, run in each} for each in known_runs]
    if own.combination is not None:
        found.parts = own.combination.load(parts)
    return found
