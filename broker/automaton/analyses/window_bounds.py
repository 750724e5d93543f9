"""How many windows there can be at once (semantics 5.4): open starts, which cost memory, and windows over one position.

Two questions. `starts`: how many starts can be open together? They are unbounded exactly if there is a sequence of
events, to be repeated, that brings the prefix back to a state in which a window begins, and takes this window to a
state that it does not leave. `over`: how many windows can have one position in common? Those are unbounded as well if a
window can end again and again.

"Bounded" holds whatever the events are. "Unbounded" needs events that exist: where conditions compare an event with the
one before it, only what can follow each other counts (value_regions); where that is not known, the answer is that it is
unknown. Both numbers are the greatest if every sequence of classes can come, else upper bounds.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ..windows.window_automaton import DEAD, WindowAutomaton, WindowPart
from .value_regions import Regions, free_regions, regions_of

VERDICT_STATES_MAX: Final = 100
"""The most states of a body for which the question is answered; the search is cubic in them."""
VERDICT_VECTORS_MAX: Final = 20_000
"""The most numbers of starts by state that are looked at to find the greatest number of open starts."""
VERDICT_STEPS_MAX: Final = 1_000_000
"""The most steps of the prefix that are looked at to find how many starts a stretch of events can have."""

Verdict: TypeAlias = Literal["bounded", "unbounded", "unknown"]
Vector: TypeAlias = tuple[int, ...]
"""By state of the body, how many starts are in it."""


@dataclass(frozen=True, slots=True)
class WindowBounds:
    """`verdict` on open starts, and the most of them if that is known; `again`: whether windows of one start may end
    without bound; `over`: the most windows over one position, if they are bounded and that is known. `witness`: columns
    of events that open one start more each time they come."""

    verdict: Verdict
    starts: int | None
    again: bool
    witness: tuple[int, ...] = ()
    reason: str = ""
    over: int | None = None


def window_bounds(windows: WindowAutomaton) -> WindowBounds:
    """The verdict on all parts together: the worst of them. O(prefix times body cubed times columns)."""
    if windows.clock is not None:
        most = -(-windows.clock.size // windows.clock.slide)
        return WindowBounds("bounded", most, False, over=most)
    found = [_part(windows, part) for part in windows.parts]
    for verdict in ("unbounded", "unknown"):
        for one in found:
            if one.verdict == verdict:
                return one
    again = any(one.again for one in found)
    starts, over = _sum([one.starts for one in found]), _sum([one.over for one in found])
    return WindowBounds("bounded", starts, again, over=over)


def _sum(numbers: list[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _part(windows: WindowAutomaton, part: WindowPart) -> WindowBounds:
    columns = windows.columns
    once = windows.keep in ("shortest", "longest")
    if part.most is not None:
        within = _within_length(columns, part, part.most, once)
        return WindowBounds("bounded", within[0], False, over=within[1])
    regions = regions_of(windows)
    assumed = regions or free_regions(windows)
    again = not once and _ends_again(columns, part, assumed)
    if len(part.final) > VERDICT_STATES_MAX:
        return WindowBounds("unknown", None, again, (), f"the automaton has more than {VERDICT_STATES_MAX} states")
    witness = _witness(columns, part, assumed)
    if witness is None:
        starts, over = _counted(columns, part, assumed, windows.keep)
        return WindowBounds("bounded", starts, again, over=None if again else over)
    if part.within is not None:
        return WindowBounds("unknown", None, again, witness, "it depends on how many events come within the duration")
    if regions is None:
        return WindowBounds("unknown", None, again, witness, "conditions compare events with those before them")
    return WindowBounds("unbounded", None, again, witness)


# --- numbers of events ------------------------------------------------------------------------------------------


def _within_length(columns: int, part: WindowPart, most: int, once: bool) -> tuple[int, int]:
    """The most starts in `most` consecutive events, and the most windows over one position: of a start so many events
    before the position, one for each length that reaches it and is allowed, or one if only one is kept."""
    states = len(part.starts)
    if most * states * columns > VERDICT_STEPS_MAX:
        lengths = most * (most + 1) // 2 - part.least * (part.least - 1) // 2
        return most, most if once else lengths
    begins = [
        [
            part.starts[state] != DEAD and part.body[part.starts[state] * columns + column] != DEAD
            for column in range(columns)
        ]
        for state in range(states)
    ]
    starts, over = [0] * states, [0] * states
    for before in range(most):  # so many events before the position
        weight = 1 if once else most - max(part.least, before + 1) + 1
        ways = [
            [(part.prefix[state * columns + column], int(begins[state][column])) for column in range(columns)]
            for state in range(states)
        ]
        starts = [max(starts[target] + one for target, one in ways[state]) for state in range(states)]
        over = [max(over[target] + weight * one for target, one in ways[state]) for state in range(states)]
    return max(starts), max(over)


# --- what can be repeated ---------------------------------------------------------------------------------------


def _ends_again(columns: int, part: WindowPart, regions: Regions) -> bool:
    """Whether a window may end, go on, and end again without bound: a final state lies on a cycle."""
    starts = [(part.starts[prefix], region) for prefix, region in _reached(columns, part, regions)]
    begun = [one for one in starts if one[0] != DEAD]
    reached = _closed(columns, part.body, regions, begun)
    return any(part.final[one[0]] and one in _closed(columns, part.body, regions, [one]) for one in reached)


def _closed(
    columns: int, table: tuple[int, ...], regions: Regions, begins: list[tuple[int, int]]
) -> set[tuple[int, int]]:
    """The states, each with the regions of the last values, to which a non-empty way leads."""
    known: set[tuple[int, int]] = set()
    waiting = list(begins)
    while waiting:
        state, region = waiting.pop()
        for column, reached in regions.moves[region]:
            target = (table[state * columns + column], reached)
            if target[0] != DEAD and target not in known:
                known.add(target)
                waiting.append(target)
    return known


def _witness(columns: int, part: WindowPart, regions: Regions) -> tuple[int, ...] | None:
    """A word y with prefix -y-> prefix, begin -y-> state and state -y-> state; None if there is none."""
    for prefix, region in _reached(columns, part, regions):
        begin = part.starts[prefix]
        if begin == DEAD:
            continue
        for state in range(len(part.final)):
            found = _pumped(columns, part, regions, (prefix, begin, state, region))
            if found is not None:
                return found
    return None


def _reached(columns: int, part: WindowPart, regions: Regions) -> list[tuple[int, int]]:
    """The states of the prefix, each with the regions of the last values in it."""
    return sorted({(0, 0), *_closed(columns, part.prefix, regions, [(0, 0)])})


def _pumped(
    columns: int, part: WindowPart, regions: Regions, first: tuple[int, int, int, int]
) -> tuple[int, ...] | None:
    prefix, _, state, region = first
    wanted = (prefix, state, state, region)
    before: dict[tuple[int, int, int, int], tuple[tuple[int, int, int, int], int]] = {}
    waiting = deque([first])
    while waiting:
        now = waiting.popleft()
        for column, reached in regions.moves[now[3]]:
            one, other = part.body[now[1] * columns + column], part.body[now[2] * columns + column]
            if DEAD in (one, other):
                continue
            after = (part.prefix[now[0] * columns + column], one, other, reached)
            if after == wanted:
                word = [column]
                while now != first:
                    now, column = before[now]
                    word.append(column)
                return tuple(reversed(word))
            if after not in before and after != first:
                before[after] = (now, column)
                waiting.append(after)
    return None


# --- how many ---------------------------------------------------------------------------------------------------


def _counted(columns: int, part: WindowPart, regions: Regions, keep: str) -> tuple[int | None, int | None]:
    """The most open starts of a part in which they are bounded, and the most windows over one position where no start
    ends again and again: by exploring how many starts are in each state."""
    begin: Vector = (0,) * len(part.final)
    known = {(0, 0, begin)}
    waiting = [(0, 0, begin)]
    vectors: dict[tuple[int, Vector], None] = {}
    most = 0
    while waiting:
        prefix, region, counts = waiting.pop()
        for column, reached in regions.moves[region]:
            after = list(_moved(columns, part, counts, column, keep))
            start = part.starts[prefix]
            target = DEAD if start == DEAD else part.body[start * columns + column]
            if target != DEAD:
                after[target] += 1
            most = max(most, sum(after))
            vector = (part.prefix[prefix * columns + column], reached, tuple(after))
            vectors[reached, vector[2]] = None
            if vector not in known:
                known.add(vector)
                waiting.append(vector)
                if len(known) > VERDICT_VECTORS_MAX:
                    return None, None
    return most, most if keep == "longest" else _over(columns, part, regions, list(vectors), keep)


def _moved(columns: int, part: WindowPart, counts: Vector, column: int, keep: str) -> Vector:
    """The starts after an event, without a new one; a start whose shortest window has come is over."""
    after = [0] * len(counts)
    for state, count in enumerate(counts):
        target = part.body[state * columns + column]
        if count and target != DEAD and not (keep == "shortest" and part.final[state]):
            after[target] += count
    return tuple(after)


def _over(
    columns: int, part: WindowPart, regions: Regions, vectors: list[tuple[int, Vector]], keep: str
) -> int | None:
    """The most windows that the starts of a vector end, now or later, if no other ones begin. It is finite, since no
    window ends again and again. O(vectors that are reached times columns, times the longest way)."""
    following: dict[tuple[int, Vector], list[tuple[int, Vector]]] = {}
    waiting = list(vectors)
    while waiting:
        now = waiting.pop()
        if now in following:
            continue
        region, counts = now
        ways = [(reached, _moved(columns, part, counts, column, keep)) for column, reached in regions.moves[region]]
        following[now] = list(dict.fromkeys(ways))
        waiting += following[now]
        if len(following) > VERDICT_VECTORS_MAX:
            return None
    ends = {now: sum(count for count, final in zip(now[1], part.final) if final) for now in following}
    most = dict(ends)
    for _ in range(len(following) + 1):  # longest ways; cycles end no window
        changed = False
        for now, targets in following.items():
            found = ends[now] + max((most[target] for target in targets), default=0)
            if found > most[now]:
                most[now] = found
                changed = True
        if not changed:
            return max(most[vector] for vector in vectors)
    return None
