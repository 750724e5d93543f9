"""How many matches each query of queries has, by loops that anybody can check by reading. Not here: rivals.

Event n of the ticks has the time n, from 1 on; a window of W spans events whose times differ by W at most.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from ..ticks import Tick
from .queries import FACTOR, PAIR_WITHIN, VOLUME, A, B, Pair


def query_3(ticks: Iterable[Tick], within: int, measure: str = "avg", percents: Sequence[float] = (FACTOR,)) -> int:
    """Each start of a symbol has one run: what it has taken is decided by what came. `percents` ascend.

    An event is looked at as b before it is taken. O(ticks * runs).
    """
    runs: dict[str, list[list[float]]] = {}  # start, sum, count, highest, volume of the last
    factors = [percent / 100 for percent in percents]
    found = 0
    for time, (name, price, volume) in enumerate(ticks, 1):
        own = [run for run in runs.get(name, ()) if time - run[0] <= within]
        for run in own:
            found += len(factors) - _upto(factors, volume, run[4])
            if price > (run[1] / run[2] if measure == "avg" else run[3]):
                run[1] += price
                run[2] += 1
                run[3] = max(run[3], price)
                run[4] = volume
        if volume > VOLUME:
            own.append([time, price, 1, price, volume])
        runs[name] = own
    return found


def _upto(factors: Sequence[float], volume: float, last: float) -> int:
    """How many of the factors, times the last volume, are not above this one."""
    place = bisect_right(factors, volume / last)
    while place > 0 and volume < factors[place - 1] * last:
        place -= 1
    while place < len(factors) and not volume < factors[place] * last:
        place += 1
    return place


def letters(ticks: Sequence[Tick], within: int) -> int:
    """For each B, the non-empty sets of A's in the window before it."""
    found = 0
    for number, (_, _, kind) in enumerate(ticks):
        if kind == B:
            found += 2 ** sum(other == A for _, _, other in ticks[max(0, number - within) : number]) - 1
    return found


def climbs(ticks: Iterable[Tick], within: int) -> int:
    """Rising sequences of a symbol's prices, by their first and last tick; each as often as there are ways between.
    O(ticks * ticks of the symbol in the window ** 2)."""
    seen: dict[str, list[tuple[int, float, int, dict[int, int]]]] = {}  # time, price, volume, ways by start
    found = 0
    for time, (name, price, volume) in enumerate(ticks, 1):
        own = seen[name] = [tick for tick in seen.get(name, ()) if time - tick[0] <= within]
        ways: dict[int, int] = {time: 1}
        for _, before, last, known in own:
            live = {start: number for start, number in known.items() if time - start <= within}
            if volume < 0.1 * last:
                found += sum(live.values())
            if price > before:
                for start, number in live.items():
                    ways[start] = ways.get(start, 0) + number
        own.append((time, price, volume, ways))
    return found


def pairs(ticks: Iterable[Tick], several: Sequence[Pair]) -> int:
    """Ticks in a first box, each with the next tick of the symbol, in time, in the second one. O(ticks * pairs)."""
    of: dict[str, list[tuple[float, float, float, list[int]]]] = {}
    for pair in several:
        of.setdefault(pair.symbol, []).append((pair.low, pair.high, pair.top, []))
    found = 0
    for time, (name, price, _) in enumerate(ticks, 1):
        for low, high, top, waiting in of.get(name, ()):
            if high < price <= top:
                found += sum(time - start <= PAIR_WITHIN for start in waiting)
                waiting.clear()
            if low <= price <= high:
                waiting.append(time)
    return found
