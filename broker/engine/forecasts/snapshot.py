"""Forecasts as plain data and back: what was counted, estimated and foretold, and where every key is.

Estimates are saved beside the counts that they come from: they lag behind these within a tolerance, and what is
restored forecasts to the last digit as what was saved. Subscriptions are numbered by their order, runs by that of the
snapshot.

Here: that format. Not here: the rest of a snapshot (engine.snapshot).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...forecast.counts import Counts
from ...forecast.forecaster import Forecaster
from ...forecast.horizon import Gaps
from ...forecast.model_file import read_model, write_model
from ...forecast.moves import marks_of
from ...forecast.notifying import load_watch
from .combination import dumped
from .outlook import Outlook
from .registry import Forecasts
from .scope import Pulse, Scope
from .track import Track


def save(forecasts: Forecasts, runs: Mapping[int, int]) -> list[Any]:
    """`runs`: the number of each live run, by its identity. O(all of it)."""
    numbers = {outlook.number: at for at, outlook in enumerate(forecasts.outlooks.values())}
    names = {number: name for name, number in forecasts.directory.streams.items()}
    scopes = [
        [
            [[names[stream], list(positions)] for stream, positions in scope.positions.items()],
            [_pulse(scope, pulse, numbers, runs) for pulse in scope.pulses.values()],
            int(scope.time),
            _gaps(scope.gaps),
            scope.refused,
        ]
        for scope in forecasts.keyed.values()
    ]
    outlooks = [_outlook(outlook) for outlook in forecasts.outlooks.values()]
    deadlines = [[when, numbers[number]] for when, number in forecasts.deadlines if number in numbers]
    return [outlooks, scopes, deadlines, write_model(forecasts.trained)]


def _outlook(outlook: Outlook) -> dict[str, Any]:
    return {
        "name": outlook.subscriber.name,
        **_book(outlook.version, outlook.counts, outlook.forecaster),
        "watch": outlook.watch.dump(),
        "account": outlook.account.dump(),
        "pace": None if outlook.clock is None else outlook.clock.dump(),
        "parts": []
        if outlook.combination is None
        else [_book(part.version, part.counts, part.forecaster) for part in outlook.combination.parts],
        "bases": [[_packed(key), count] for key, count in outlook.bases.items()],
    }


def _book(version: str, counts: Counts, forecaster: Forecaster) -> dict[str, Any]:
    clock = counts.clock_of(version)
    return {
        "clock": [clock.width, clock.generation, clock.rate],
        "records": [[list(part) if isinstance(part, tuple) else part for part in r] for r in counts.records()],
        "horizon": forecaster.horizon,
        "forecaster": forecaster.dump(),
    }


def _packed(key: Any) -> list[Any]:
    return list(key) if isinstance(key, tuple) else [None, key]


def _unpacked(key: Sequence[Any]) -> Any:
    return key[1] if len(key) == 2 and key[0] is None else tuple(key)


def _gaps(gaps: Gaps) -> list[Any]:
    return [[bucket, count, str(total)] for bucket, count, total in gaps.records()]


def _load_gaps(data: Sequence[Any]) -> Gaps:
    gaps = Gaps()
    for bucket, count, total in data:
        gaps.put(bucket, count, int(total))
    return gaps


def _pulse(scope: Scope, pulse: Pulse, numbers: Mapping[int, int], runs: Mapping[int, int]) -> list[Any]:
    contexts = {group.number: group for group in scope.groups}
    return [
        _packed(pulse.key),
        int(pulse.events),
        int(pulse.time),
        [_track(track, numbers, runs) for track in pulse.tracks.values()],
        [numbers[track.observer.number] for track in pulse.due],
        [[when, numbers[number]] for when, number in pulse.counts],
        [[when, numbers[number]] for when, number in pulse.times],
        [
            [numbers[contexts[group].observers[0].number], list(context)]
            for group, context in pulse.contexts.items()
            if group in contexts
        ],
        None if pulse.gaps is None else _gaps(pulse.gaps),
    ]


def _track(track: Track, numbers: Mapping[int, int], runs: Mapping[int, int]) -> list[Any]:
    return [
        numbers[track.observer.number],
        int(track.state),
        int(track.seen),
        None if track.place is None else list(track.place.context),
        track.waiting,
        [[[until, count] for until, count in moments.items()] for moments in track.moments],
        [[[until, runs[number]] for number, (until, _) in own.items() if number in runs] for own in track.runs],
        track.history,
        int(track.alarm),
        int(track.wake),
        dumped(track.spots),
    ]


def restore(data: Sequence[Any], forecasts: Forecasts, runs: Sequence[Any]) -> None:
    """Fill the forecasts of subscriptions that are in force again. Raises KeyError, TypeError or ValueError for other
    data."""
    outlooks, scopes, deadlines, trained = data
    known = list(forecasts.outlooks.values())
    if [outlook.subscriber.name for outlook in known] != [saved["name"] for saved in outlooks]:
        raise ValueError("forecasts of other subscriptions")
    forecasts.trained = read_model(trained, "snapshot")
    for outlook, saved in zip(known, outlooks):
        _load_outlook(outlook, saved)
    by_positions = {tuple(sorted(scope.positions.items())): scope for scope in forecasts.keyed.values()}
    for positions, pulses, time, gaps, refused in scopes:
        found = sorted((forecasts.directory.stream(stream), tuple(own)) for stream, own in positions)
        scope = by_positions[tuple(found)]
        scope.time, scope.gaps, scope.refused = time, _load_gaps(gaps), refused
        for pulse in pulses:
            _load_pulse(scope, pulse, known, runs)
    forecasts.deadlines += [(when, known[number].number) for when, number in deadlines]


def _load_outlook(outlook: Outlook, saved: Mapping[str, Any]) -> None:
    for (version, counts, forecaster), book in zip(outlook.books(), [saved, *saved["parts"]], strict=True):
        _load_book(version, counts, forecaster, book)
    outlook.watch = load_watch(saved["watch"])
    outlook.account.load(saved["account"])
    if outlook.clock is not None:
        outlook.clock.load(saved["pace"])
    outlook.bases = {_unpacked(key): count for key, count in saved["bases"]}


def _load_book(version: str, own: Counts, forecaster: Forecaster, saved: Mapping[str, Any]) -> None:
    counts = Counts()
    clock = own.clock_of(version)
    clock.width, clock.generation, clock.rate = saved["clock"]
    counts.clocks[version] = counts.clocks[marks_of(version)] = clock
    for name, context, generation, state, following, count in saved["records"]:
        counts.table(name, tuple(context)).put(generation, state, following, count)
    forecaster.absorb(counts)
    forecaster.reach(saved["horizon"])
    forecaster.load(saved["forecaster"])


def _load_pulse(scope: Scope, saved: Sequence[Any], known: Sequence[Outlook], runs: Sequence[Any]) -> None:
    key, events, time, tracks, due, counts, times, contexts, gaps = saved
    pulse = Pulse(_unpacked(key))
    scope.pulses[pulse.key] = pulse
    pulse.events, pulse.time = events, time
    for number, state, seen, context, waiting, moments, known_runs, history, alarm, wake, spots in tracks:
        outlook = known[number]
        place = None if context is None else outlook.forecaster.place(tuple(context))
        queue, computed = outlook.account.pending.of(pulse.run), outlook.account.computed_pending.of(pulse.run)
        track = Track(outlook, pulse, place, seen, len(waiting), queue, computed)
        track.above, track.told = outlook.watch.is_above(pulse.run), outlook.watch.is_open(pulse.run)
        track.state, track.alarm, track.wake, track.history = state, alarm, wake, list(history)
        track.waiting, track.moments = list(waiting), [dict(each) for each in moments]
        track.runs = [{id(runs[run]): (until, runs[run]) for until, run in own} for own in known_runs]
        if outlook.combination is not None:
            track.spots = outlook.combination.load(spots)
        pulse.tracks[outlook.number] = track
    pulse.due = [pulse.tracks[known[number].number] for number in due]
    pulse.counts = [(when, known[number].number) for when, number in counts]
    pulse.times = [(when, known[number].number) for when, number in times]
    for number, context in contexts:
        group = known[number].group
        assert group is not None
        pulse.contexts[group.number] = tuple(context)
    pulse.gaps = None if gaps is None else _load_gaps(gaps)
