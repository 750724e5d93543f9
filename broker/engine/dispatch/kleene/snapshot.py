"""The runs of SASE+ subscriptions as plain data and back.

Machines are not saved, but built again from the subscriptions' text; what is saved is which subscriptions shared one -
equal ones that came at different times have one each - and what machines and lanes hold.

Here: that format. Not here: the rest of a snapshot, how runs are written (machine).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ...executors.kleene.machine import Machine
from ..lanes import Lane
from .registry import Kleenes


def save(kleenes: Kleenes) -> list[Any]:
    """Which machine each subscription has, lanes, machines. O(all of it)."""
    numbers = {id(m): at for at, m in enumerate(m for lane in kleenes.all_lanes() for m in lane.matchers)}
    places = [[name, numbers[id(seat.matcher)]] for name, seat in kleenes.seats.items()]
    lanes = [_saved(lane) for lane in kleenes.all_lanes()]
    machines = [
        [bool(m.machine.taken), int(m.lost), int(m.told), cast(Machine, m.machine).dump()]
        for lane in kleenes.all_lanes()
        for m in lane.matchers
    ]
    return [places, lanes, machines]


def _saved(lane: Lane) -> list[Any]:
    places = [[list(key), place] for key, place in lane.places.items()]
    return [list(lane.streams), [list(key) for key in lane.keys], int(lane.position), places]


def seating(data: Sequence[Any]) -> dict[str, int]:
    """Which machine each subscription had: for `Kleenes.seating` while they come again."""
    return dict(data[0])


def restore(data: Sequence[Any], kleenes: Kleenes) -> None:
    """Fill lanes and machines, once all subscriptions are there. Raises KeyError, TypeError or ValueError for other
    data."""
    lanes = {(lane.streams, lane.keys): lane for lane in kleenes.all_lanes()}
    for streams, keys, position, places in data[1]:
        lane = lanes[tuple(streams), tuple(map(tuple, keys))]
        lane.position = position
        lane.places = {tuple(key): place for key, place in places}
    for number, (taken, lost, told, content) in enumerate(data[2]):
        matcher = kleenes.seated[number]
        matcher.lost, matcher.told = lost, told
        cast(Machine, matcher.machine).load(content)
        matcher.machine.taken = taken
        kleenes.clock.set(matcher)
    for lane in kleenes.all_lanes():
        for matcher in lane.matchers:
            lane.rouse(matcher)
    kleenes.seating = None
    kleenes.seated = {}
