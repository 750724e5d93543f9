"""Whether two windows of a partition can share an event: where none can, each begins after the one before has ended."""

from __future__ import annotations

from .window_automaton import DEAD, WindowAutomaton, WindowPart


def overlap(windows: WindowAutomaton) -> bool:
    """Whether windows can overlap, as far as their form tells. O((states of the prefix times those of the body)^2)."""
    if windows.clock is not None:
        return windows.clock.size > windows.clock.slide
    if len(windows.parts) != 1:
        return True
    (part,) = windows.parts
    alive, columns = _alive(part, windows.columns), windows.columns
    reached = {(state, body) for state, body in enumerate(part.starts) if body in alive}
    pairs = len(part.starts) * len(part.final) + 1
    for events in range(min(part.most or pairs, pairs)):  # that the first window has when the next event comes
        following = set()
        for state, body in reached:
            for column in range(columns):
                inside = part.body[body * columns + column]
                if inside not in alive:
                    continue
                following.add((part.prefix[state * columns + column], inside))
                begun = part.starts[state]
                if events > 0 and begun != DEAD and part.body[begun * columns + column] in alive:
                    return True
        reached = following
    return False


def _alive(part: WindowPart, columns: int) -> set[int]:
    """The states of the body of which a window can come."""
    alive = {state for state, final in enumerate(part.final) if final}
    size = 0
    while len(alive) > size:
        size = len(alive)
        alive |= {at // columns for at, following in enumerate(part.body) if following in alive}
    return alive
