"""What the load of P-ToPSS's experiments comes to by the paper: its states, merged, and what fires among them.

Not here: time. The states are counted by Foretell's compiler (broker.automaton.machines). What fires, and matches, is
replayed by plain loops that know nothing of it, on merged states of their own: they check the engine, and the states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

from broker.algebra.ptopss.lowering import lower
from broker.automaton.constructions.composite import decompose
from broker.automaton.machines.decomposition import Machines, machines_of
from broker.automaton.machines.merging import Merged, merge
from broker.events.schema import Schema
from broker.language import ptopss

from .composite_workload import ATTRIBUTES, STREAM, Chain, Settings


def machines(chains: Iterable[Chain]) -> Iterator[tuple[str, Machines]]:
    """Each subscription's machines, from its text; about a millisecond each."""
    schema = Schema.declare(ATTRIBUTES)
    for number, chain in enumerate(chains):
        text = chain.ptopss()
        composite = lower(ptopss.parse(text), text, {STREAM: schema}.get, lambda: [STREAM])
        yield f"q{number}", machines_of(decompose(composite))


def merged(chains: Iterable[Chain]) -> Merged:
    """The states of all of them, merged (P-ToPSS 4.3)."""
    return merge(machines(chains))


@final
@dataclass(frozen=True, slots=True)
class Fired:
    """What events did: primary transitions, each into one merged state, and matches, each of one subscription."""

    events: int
    transitions: int
    matches: int


@final
class Replay:
    """Merged states by number, 0 the initial one, and which of them are live.

    A state that `;` follows lives on once it was entered; another only until the next event. Secondary and star links
    enter no state and are not counted.
    """

    def __init__(self, settings: Settings, chains: Sequence[Chain]) -> None:
        self.kinds = [-1]
        self.stays = [True]
        self.ends = [0]
        self.successors: list[dict[int, list[int]] | None] = [None]  # by kind
        for chain in chains:
            self._add(chain)
        self._live = [False] * len(self.kinds)
        self._fresh: list[int] = []
        self._waiting: list[list[int]] = [[] for _ in range(settings.pool + 1)]  # behind live states that stay
        self._enter(0)

    @property
    def states(self) -> int:
        return len(self.kinds)

    def _add(self, chain: Chain) -> None:
        state = 0
        final_word = len(chain.terms) - 1
        for number, word in enumerate(chain.terms):
            for place, kind in enumerate(word, 1):
                state = self._successor(state, kind, place == len(word) and number < final_word)
        self.ends[state] += 1

    def _successor(self, state: int, kind: int, stays: bool) -> int:
        known = self.successors[state]
        if known is None:
            known = self.successors[state] = {}
        among = known.setdefault(kind, [])
        for found in among:
            if self.stays[found] is stays:
                return found
        among.append(len(self.kinds))
        self.kinds.append(kind)
        self.stays.append(stays)
        self.ends.append(0)
        self.successors.append(None)
        return among[-1]

    def _enter(self, state: int) -> None:
        self._live[state] = True
        for kind, among in (self.successors[state] or {}).items():
            self._waiting[kind] += among

    def take(self, events: Iterable[int]) -> Fired:
        """O(transitions) an event, and the states that live only until it."""
        taken = transitions = matches = 0
        for kind in events:
            taken += 1
            fired = self._waiting[kind][:]
            for state in self._fresh:
                fired += (self.successors[state] or {}).get(kind, ())
            self._fresh = []
            transitions += len(fired)
            for state in fired:
                matches += self.ends[state]
                if not self.stays[state]:
                    self._fresh.append(state)
                elif not self._live[state]:
                    self._enter(state)
        return Fired(taken, transitions, matches)
