"""Whose events a forecast counts: the attributes by which a subscription's runs have nothing to do with each other.

What parts the sources is the key, with the variables that all operands have in the same place; else the attribute that
the streams declare, if every run keeps to one value of it; else there is one chain for all events (forecasting 2.9).

Here: finding it, for automata of any language. Not here: counting (forecast), who else may look at a run (agreement).
"""

from __future__ import annotations

from typing import TypeAlias

from ...algebra.timed_stream import untimed
from ..automaton import Automaton
from .agreement import KeyAttributes, agrees
from .variables import variables_of

Positions: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]
"""By stream, the attributes whose values make the key; () for all the stream's events together."""


def unkeyed(streams: list[str]) -> Positions:
    """One chain for all events of these streams."""
    return tuple((stream, ()) for stream in sorted(set(streams)))


def chain_keys(automata: tuple[Automaton, ...], streams: list[str], declared: KeyAttributes) -> Positions:
    """The key of a union of automata that read these streams, of which some declare a key."""
    parted = [source for automaton in automata for source in automaton.sources]
    if len(parted) == 1:
        shared = set(variables_of(automata[0]).keys())
        joined = min(shared) if len(shared) == 1 else ()
        return ((untimed(parted[0].stream), tuple(dict.fromkeys([*parted[0].key, *joined]))),)
    if parted:
        return tuple(sorted((untimed(source.stream), source.key) for source in parted))
    if all(agrees(automaton, declared) for automaton in automata):
        read = sorted({untimed(stream) for automaton in automata for stream in automaton.streams()})
        return tuple((stream, (declared[stream],)) for stream in read)
    return unkeyed(streams)
