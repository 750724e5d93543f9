"""The plan of a composite subscription that is a chain of contiguous words; one trie counts all of them on the same
streams.

Here: how they join and leave. Not here: which subscriptions qualify (automaton.analyses.sequences), the effect of an
event (machine, trie).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast

from ....automaton.automaton import Automaton
from ...options import Options
from ...program.target import Target
from ..composite_plan import CompositePlan
from ..contract import Executor, Member
from .machine import Ending, SequenceTrie


class TriePlan(CompositePlan):
    """A chain of words. `words`: each as numbers of operands. It reports completions only."""

    __slots__ = ("words",)

    executor = "sequence_trie"
    pays = "a step in a trie that all subscriptions share"
    version = 1
    figures = ("terms",)

    def __init__(self, automaton: Automaton, words: list[list[int]]) -> None:
        super().__init__(automaton)
        self.words = words

    def again(self, automaton: Automaton) -> TriePlan:
        return TriePlan(automaton, self.words)

    def alike(self, options: Options) -> Hashable:
        return (self.executor, self.streams())

    def make(self, options: Options) -> Executor:
        return SequenceTrie()

    def join(self, machine: Executor, symbols: list[int]) -> Member:
        trie = cast(SequenceTrie, machine)
        term = trie.words.add([[symbols[operand] for operand in word] for word in self.words])
        if term.target is None:
            term.target = Ending(Target(self.outcome(), None), term)
        trie.count(symbols, 1)
        return cast(Ending, term.target)

    def leave(self, machine: Executor, member: Member, symbols: list[int]) -> None:
        trie, ending = cast(SequenceTrie, machine), cast(Ending, member)
        assert ending.term is not None
        if ending.target.first is None:
            ending.term.target = None
        trie.words.remove(ending.term)
        trie.count(symbols, -1)

    def saved(self, machine: Executor, member: Member, symbols: list[int]) -> Any:
        term, names = cast(Ending, member).term, cast(SequenceTrie, machine).names
        assert term is not None
        return [int(term.number), [names[symbol] for symbol in symbols]]

    def rejoin(self, machine: Executor, symbols: list[int], saved: Any) -> Member:
        trie = cast(SequenceTrie, machine)
        number, before = saved
        trie.names.update(zip(before, symbols, strict=True))
        trie.count(symbols, 1)
        if number not in trie.again:
            trie.again[number] = Ending(Target(self.outcome(), None), None)
        return trie.again[number]

    def counting(self) -> str:
        return f"counted with all others in one trie of contiguous words, {len(self.words)} of them its own"
