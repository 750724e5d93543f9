"""How many windows there can be at once (semantics 5.4): open starts, which cost memory, and windows over one position.

Two questions. `starts`: how many starts can be open together? They are unbounded exactly if there is a sequence of
events, to be repeated, that brings the prefix back to a state in which a window begins, and takes this window to a
state that it does not leave. `over`: how many windows can have one position in common? Those are unbounded as well if a
window can end again and again.

"Bounded" holds whatever the events are. "Unbounded" needs events that exist: where conditions compare an event with
those before it, a sequence of classes may be impossible, and the answer is that it is unknown.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ..windows.window_automaton import DEAD, WindowAutomaton, WindowPart

VERDICT_STATES_MAX: Final = 100
"""The most states of a body for which the question is answered; the search is cubic in them."""
VERDICT_VECTORS_MAX: Final = 20_000
"""The most numbers of starts by state that are looked at to find the greatest number of open starts."""

Verdict: TypeAlias = Literal["bounded", "unbounded", "unknown"]


@dataclass(frozen=True, slots=True)
class WindowBounds:
    """`verdict` on open starts, and the most of them if that is known; `again`: whether windows of one start may end
    without bound. `witness`: columns of events that open one start more each time they come."""

    verdict: Verdict
    starts: int | None
    again: bool
    witness: tuple[int, ...] = ()
    reason: str = ""


def window_bounds(windows: WindowAutomaton) -> WindowBounds:
    """The verdict on all parts together: the worst of them. O(prefix times body cubed times columns)."""
    if windows.clock is not None:
        most = -(-windows.clock.size // windows.clock.slide)
        return WindowBounds("bounded", most, False)
    found = [_part(windows, part) for part in windows.parts]
    for verdict in ("unbounded", "unknown"):
        for one in found:
            if one.verdict == verdict:
                return one
    known = [one.starts for one in found if one.starts is not None]
    return WindowBounds("bounded", sum(known) if len(known) == len(found) else None, any(one.again for one in found))


def _part(windows: WindowAutomaton, part: WindowPart) -> WindowBounds:
    if part.most is not None:
        return WindowBounds("bounded", part.most, False)
    again = windows.keep not in ("shortest", "longest") and _ends_again(windows.columns, part)
    if len(part.final) > VERDICT_STATES_MAX:
        return WindowBounds("unknown", None, again, (), f"the automaton has more than {VERDICT_STATES_MAX} states")
    witness = _witness(windows.columns, part)
    if witness is None:
        return WindowBounds("bounded", _most_starts(windows.columns, part), again)
    if part.within is not None:
        return WindowBounds("unknown", None, again, witness, "it depends on how many events come within the duration")
    if windows.back > 0:
        return WindowBounds("unknown", None, again, witness, "conditions compare events with those before them")
    return WindowBounds("unbounded", None, again, witness)


def _ends_again(columns: int, part: WindowPart) -> bool:
    """Whether a window may end, go on, and end again without bound: a final state lies on a cycle."""
    final = [state for state, ends in enumerate(part.final) if ends]
    return any(_path(columns, part.body, state, state) is not None for state in final)


def _path(columns: int, table: tuple[int, ...], begin: int, end: int) -> list[int] | None:
    """The columns of a shortest non-empty way between two states; None if there is none."""
    known: dict[int, list[int]] = {}
    waiting: deque[tuple[int, list[int]]] = deque([(begin, [])])
    while waiting:
        state, way = waiting.popleft()
        for column in range(columns):
            target = table[state * columns + column]
            if target == end:
                return [*way, column]
            if target != DEAD and target not in known:
                known[target] = [*way, column]
                waiting.append((target, known[target]))
    return None


def _witness(columns: int, part: WindowPart) -> tuple[int, ...] | None:
    """A word y with prefix -y-> prefix, begin -y-> state and state -y-> state; None if there is none."""
    for prefix, begin in enumerate(part.starts):
        if begin == DEAD:
            continue
        for state in range(len(part.final)):
            found = _pumped(columns, part, prefix, begin, state)
            if found is not None:
                return found
    return None


def _pumped(columns: int, part: WindowPart, prefix: int, begin: int, state: int) -> tuple[int, ...] | None:
    wanted = (prefix, state, state)
    first = (prefix, begin, state)
    before: dict[tuple[int, int, int], tuple[tuple[int, int, int], int]] = {}
    waiting = deque([first])
    while waiting:
        now = waiting.popleft()
        for column in range(columns):
            one, other = part.body[now[1] * columns + column], part.body[now[2] * columns + column]
            if DEAD in (one, other):
                continue
            after = (part.prefix[now[0] * columns + column], one, other)
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


def _most_starts(columns: int, part: WindowPart) -> int | None:
    """The most open starts of a part in which they are bounded: by exploring their numbers by state."""
    begin: tuple[int, ...] = (0, *([0] * len(part.final)))
    known = {begin}
    waiting = [begin]
    most = 0
    while waiting:
        prefix, *counts = waiting.pop()
        for column in range(columns):
            after = [0] * len(counts)
            for state, count in enumerate(counts):
                target = part.body[state * columns + column]
                if count and target != DEAD:
                    after[target] += count
            start = part.starts[prefix]
            if start != DEAD and part.body[start * columns + column] != DEAD:
                after[part.body[start * columns + column]] += 1
            most = max(most, sum(after))
            vector = (part.prefix[prefix * columns + column], *after)
            if vector not in known:
                known.add(vector)
                waiting.append(vector)
                if len(known) > VERDICT_VECTORS_MAX:
                    return None
    return most
