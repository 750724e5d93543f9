"""Whose events a forecast counts: the attribute by which a subscription's runs have nothing to do with each other.

It is the key that its stream declares, if every join of the subscription keeps a run to one value of it; else, in a
composite subscription, what BY and the variables that all operands join part it by; else there is one chain for the
whole stream (forecasting 2.9).

Here: finding it. Not here: counting (scope).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from ...algebra.terms import Attribute, Constant, Register, Side
from ...automaton.analyses.variables import variables_of
from ...automaton.automaton import Arc, Automaton, BoundRow, Carry, Computed, EventRow
from ...automaton.compilation import INTERNAL
from ..index.spaces import equalities

Positions: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]
"""By stream, the attributes whose values make the key; () for all the stream's events together."""

UNKEYED: Final[tuple[int, ...]] = ()


def unkeyed(streams: list[str]) -> Positions:
    """One chain for all events of these streams."""
    return tuple((stream, UNKEYED) for stream in sorted(set(streams)))


def key_of_automata(automata: tuple[Automaton, ...], streams: list[str], keys: Mapping[str, int]) -> Positions:
    """`keys`: the position of each stream's declared key, where it has one."""
    read = {state.stream for automaton in automata for state in automaton.states}
    if any(stream.startswith(INTERNAL) or stream not in keys for stream in read):
        return unkeyed(streams)
    if all(_keeps(automaton, keys) for automaton in automata):
        return tuple((stream, (keys[stream],)) for stream in sorted(read))
    return unkeyed(streams)


def _keeps(automaton: Automaton, keys: Mapping[str, int]) -> bool:
    """Whether every event that a run takes has the key of its first one."""
    for depth in range(1, len(automaton.states)):
        state = automaton.states[depth]
        found, _ = equalities(state.theta)
        source = found.get(keys[state.stream])
        if source is None or not _is_key(automaton, depth, source, keys):
            return False
    return True


def _is_key(automaton: Automaton, depth: int, source: Register | Constant, keys: Mapping[str, int]) -> bool:
    """Whether a run that waits at this depth has its key there."""
    if isinstance(source, Constant):
        first = automaton.forward(0)
        constants, _ = equalities(first.guard)
        return constants.get(keys[automaton.states[0].stream]) == source
    loop = automaton.loop(depth)
    if source.slot < 0:
        taken = [automaton.states[depth - 1].stream] + ([] if loop is None else [automaton.states[depth].stream])
        return all(keys[stream] == source.position for stream in taken)
    entered = _filled(automaton, automaton.forward(depth - 1), depth - 1, source, keys)
    return entered and (loop is None or _kept(automaton, loop, depth, source, keys))


def _filled(automaton: Automaton, arc: Arc, before: int, source: Register, keys: Mapping[str, int]) -> bool:
    """Whether the arc out of state `before` puts the key into the slot."""
    stream = automaton.states[before].stream
    match arc.update[source.slot]:
        case EventRow():
            return source.position == keys[stream]
        case Computed(Attribute(Side.EVENT, position)):
            return position == keys[stream]
        case BoundRow():
            return before > 0 and _is_key(automaton, before, Register(-1, source.position, source.type), keys)
        case Carry(slot):
            return before > 0 and _is_key(automaton, before, Register(slot, source.position, source.type), keys)
        case _:
            return False


def _kept(automaton: Automaton, loop: Arc, depth: int, source: Register, keys: Mapping[str, int]) -> bool:
    match loop.update[source.slot]:
        case Carry(slot) if slot == source.slot:
            return True
        case EventRow():
            return source.position == keys[automaton.states[depth].stream]
        case Computed(Attribute(Side.EVENT, position)):
            return position == keys[automaton.states[depth].stream]
        case _:
            return False


def key_of_composite(automaton: Automaton) -> Positions:
    """BY, and the attributes of variables that every operand has in the same place."""
    source = automaton.sources[0]
    shared = set(variables_of(automaton).keys())
    joined = min(shared) if len(shared) == 1 else ()
    return ((source.stream, tuple(dict.fromkeys([*source.key, *joined]))),)
