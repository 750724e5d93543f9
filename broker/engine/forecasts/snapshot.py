"""The forecasts of an engine as plain data and back. Subscriptions are numbered by their order, runs by the snapshot.

Here: which subscriptions, streams and deadlines there are. Not here: the content of each (broker.forecast.saving), the
rest of a snapshot (engine.snapshot).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...forecast.model_file import read_model, write_model
from ...forecast.saving import dump_gaps, dump_key, dump_subscription, load_gaps, load_key, load_subscription
from .registry import Forecasts


def save(forecasts: Forecasts, runs: Mapping[int, int]) -> list[Any]:
    """The forecasts as plain data. `runs`: the number of each live run, by its identity. O(state)."""
    packed = forecasts.unpack()
    numbers = {own.number: at for at, own in enumerate(forecasts.subscriptions.values())}
    names = {number: name for name, number in forecasts.directory.streams.items()}
    scopes = [
        [
            [[names[number], list(positions)] for number, positions in stream.positions.items()],
            [dump_key(stream, key, numbers, runs) for key in stream.keys.values()],
            int(stream.time),
            dump_gaps(stream.gaps),
            stream.refused,
        ]
        for stream in forecasts.keyed.values()
    ]
    subscriptions = [{"name": name, **dump_subscription(own)} for name, own in forecasts.subscriptions.items()]
    heaps = {id(own.deadlines): own.deadlines for own in forecasts.subscriptions.values()}  # one an order of time
    deadlines = [[when, numbers[number]] for heap in heaps.values() for when, number in heap if number in numbers]
    forecasts.pack_again(packed)
    return [subscriptions, scopes, deadlines, write_model(forecasts.trained)]


def restore(data: Sequence[Any], forecasts: Forecasts, runs: Sequence[Any]) -> None:
    """Fill the forecasts of subscriptions that are active again.

    Raises KeyError, TypeError or ValueError for other data.
    """
    subscriptions, scopes, deadlines, trained = data
    known = list(forecasts.unpacked().values())
    if [own.subscriber.name for own in known] != [saved["name"] for saved in subscriptions]:
        raise ValueError("forecasts of other subscriptions")
    forecasts.trained = read_model(trained, "snapshot")
    for own, saved in zip(known, subscriptions):
        load_subscription(own, saved)
    by_positions = {tuple(sorted(stream.positions.items())): stream for stream in forecasts.keyed.values()}
    for positions, keys, time, gaps, refused in scopes:
        found = sorted((forecasts.directory.stream(name), tuple(attributes)) for name, attributes in positions)
        stream = by_positions[tuple(found)]
        stream.time, stream.gaps, stream.refused = time, load_gaps(gaps), refused
        for key in keys:
            load_key(stream, key, known, runs)
    forecasts.deadlines += [(when, known[number].number) for when, number in deadlines]
