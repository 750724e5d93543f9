"""The partial matches of composite subscriptions as plain data and back.

Machines and words are not saved, but built again from the subscriptions' text; what is saved is where each subscription
was - equal ones that came at different times have a machine each - and what the lanes' parts hold.

Here: that format. Not here: the rest of a snapshot (snapshot), how partial matches are written (tuples, words.dump).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ...executors.sequence_trie import dump as word_dump
from ...executors.tuple_counts import TupleCounts
from ...target import Target
from ..lanes import Lane
from ..matchers import Matcher
from .registry import Composites, Seat, Seating

NOWHERE = -1


def save(composites: Composites) -> list[Any]:
    """Places of subscriptions, and the lanes with what they hold. O(all of it)."""
    matchers: dict[Matcher, int] = {}
    lanes = [_saved(lane, matchers) for lane in composites.all_lanes()]
    places = [
        [name, _matcher_number(seat, matchers), NOWHERE if seat.term is None else int(seat.term.number), seat.symbols]
        for name, seat in composites.seats.items()
    ]
    parts = [
        [name, [matchers.setdefault(matcher, len(matchers)) for matcher in seat.parts]]
        for name, seat in composites.seats.items()
        if seat.parts
    ]
    losses = [[number, int(m.lost), int(m.told)] for m, number in matchers.items() if m.lost]
    return [places, lanes, losses, parts]


def _matcher_number(seat: Seat, matchers: dict[Matcher, int]) -> int:
    return NOWHERE if seat.matcher is None else matchers.setdefault(seat.matcher, len(matchers))


def _saved(lane: Lane, matchers: dict[Matcher, int]) -> list[Any]:
    held: dict[Any, list[Any]] = {}
    for matcher in lane.matchers:
        for key, partition in _counts(matcher).partitioned.items():
            held.setdefault(key, []).append([matchers.setdefault(matcher, len(matchers)), partition.dump()])
    places = lane.places if lane.keys else {(): int(lane.position)}
    parts = [[list(key), position, held.get(key, [])] for key, position in places.items()]
    positions = list(lane.keys[0]) if lane.keys else []
    return [lane.streams[0], positions, parts, word_dump.dump(lane.words) if lane.spelled else None]


def _counts(matcher: Matcher) -> TupleCounts:
    return cast(TupleCounts, matcher.machine)


def seating(data: Sequence[Any]) -> Seating:
    """Where the subscriptions are to go: for `Composites.seating` while they come again."""
    places = {name: (matcher, term, list(symbols)) for name, matcher, term, symbols in data[0]}
    return Seating(places, {name: list(numbers) for name, numbers in data[3]})


def restore(data: Sequence[Any], composites: Composites) -> None:
    """Fill the lanes, once all subscriptions are there. Raises KeyError, TypeError or ValueError for other data."""
    seats = composites.seating
    assert seats is not None
    lanes = {(lane.streams[0], lane.keys): lane for lane in composites.all_lanes()}
    for stream, positions, parts, words in data[1]:
        lane = lanes[stream, (tuple(positions),) if positions else ()]
        for key, position, held in parts:
            if lane.keys:
                lane.places[tuple(key)] = position
            else:
                lane.position = position
            for number, partition in held:
                matcher = seats.matchers[number]
                counts = _counts(matcher)
                counts.partitioned[tuple(key)] = counts.machine.load(partition)
                counts.taken = True
                lane.rouse(matcher)
        if words is not None:
            _restore_words(lane, words, seats, composites)
    for number, lost, told in data[2]:
        seats.matchers[number].lost, seats.matchers[number].told = lost, told
    composites.seating = None


def _restore_words(lane: Lane, data: dict[str, Any], seats: Seating, composites: Composites) -> None:
    lane.words, terms = word_dump.load(data, seats.symbols.get(lane, {}))
    for own, number, subscriber, outcome, feed, symbols in seats.waiting:
        if own is lane:
            term = terms[number]
            if term.target is None:
                term.target = Target(outcome, None)
            seat = composites.seats[subscriber.name] = Seat(lane, None, term, symbols)
            seat.target().serve(subscriber, feed)
