"""Merges automata: equal states are found by hashing and kept once (semantics 1.5, as in YFilter).

Two states merge exactly if the arcs into them, their theta, their rebind arcs and their `stay` are equal and their
parents are merged; start states merge by stream alone. The result is a forest with a tree for each stream. A state
lives while an end below it has a subscriber.

Here: nodes, insertion, removal by reference counting. Not here: runs, and the data that an engine attaches to a node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, final

from ..algebra.normal_form import Form
from ..algebra.terms import Term
from .automaton import Arc, Automaton, SlotSource, State

StateKey: TypeAlias = tuple[Form, tuple[SlotSource, ...], State, Form | None, tuple[SlotSource, ...]]
EndKey: TypeAlias = tuple[Form, tuple[Term, ...]]


@final
class SharedState:
    """One shared state. `entry` is the arc into it, `rebind` its loop; both None for a start state."""

    __slots__ = ("children", "depth", "ends", "entry", "key", "number", "parent", "rebind", "references", "state")

    def __init__(
        self,
        number: int,
        key: StateKey | None,
        parent: SharedState | None,
        state: State,
        entry: Arc | None,
        rebind: Arc | None,
    ) -> None:
        self.number = number
        self.key = key
        self.parent = parent
        self.state = state
        self.entry = entry
        self.rebind = rebind
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.references = 0
        self.children: dict[StateKey, SharedState] = {}
        self.ends: dict[EndKey, End] = {}


@final
class End:
    """One shared final arc of a state: equal guard, equal output."""

    __slots__ = ("arc", "key", "node", "number", "references")

    def __init__(self, number: int, key: EndKey, node: SharedState, arc: Arc) -> None:
        self.number = number
        self.key = key
        self.node = node
        self.arc = arc
        self.references = 0

    def path(self) -> list[SharedState]:
        """The states of an automaton that ends here, without the start state, first to last."""
        found: list[SharedState] = []
        node = self.node
        while node.parent is not None:
            found.append(node)
            node = node.parent
        return found[::-1]


@dataclass(frozen=True, slots=True)
class Change:
    """The states that an insertion created or a removal deleted, parents first; the end if it is new or deleted."""

    nodes: tuple[SharedState, ...]
    end: End | None


@final
class Forest:
    """The shared states of all automata."""

    def __init__(self) -> None:
        self.starts: dict[str, SharedState] = {}
        self._numbers = 0

    def insert(self, automaton: Automaton) -> tuple[End, Change]:
        """Insert an automaton. O(states of the automaton), independent of the size of the forest."""
        created: list[SharedState] = []
        first = automaton.states[0]
        node = self.starts.get(first.stream)
        if node is None:
            node = self.starts[first.stream] = SharedState(self._number(), None, None, first, None, None)
            created.append(node)
        node.references += 1
        for index in range(1, len(automaton.states)):
            entry, rebind, state = automaton.forward(index - 1), automaton.loop(index), automaton.states[index]
            again = (rebind.guard, rebind.update) if rebind is not None else (None, ())
            key: StateKey = (entry.guard, entry.update, state, *again)
            child = node.children.get(key)
            if child is None:
                child = node.children[key] = SharedState(self._number(), key, node, state, entry, rebind)
                created.append(child)
            child.references += 1
            node = child
        arc = automaton.forward(len(automaton.states) - 1)
        end_key: EndKey = (arc.guard, arc.output)
        end, new = node.ends.get(end_key), False
        if end is None:
            end, new = End(self._number(), end_key, node, arc), True
            node.ends[end_key] = end
        end.references += 1
        return end, Change(tuple(created), end if new else None)

    def remove(self, end: End) -> Change:
        """Undo one insertion that led to `end`. O(states of the automaton)."""
        end.references -= 1
        if end.references == 0:
            del end.node.ends[end.key]
        gone: list[SharedState] = []
        node: SharedState | None = end.node
        while node is not None:
            node.references -= 1
            if node.references == 0:
                gone.append(node)
                if node.parent is None:
                    del self.starts[node.state.stream]
                elif node.key is not None:
                    del node.parent.children[node.key]
            node = node.parent
        return Change(tuple(reversed(gone)), end if end.references == 0 else None)

    def nodes(self) -> Iterator[SharedState]:
        """All states, parents first, trees in the order of their creation."""
        for start in self.starts.values():
            stack = [start]
            while stack:
                node = stack.pop()
                yield node
                stack.extend(reversed(node.children.values()))

    def check_invariants(self) -> None:
        """Raise AssertionError if counts and structure contradict each other. O(states)."""
        for node in self.nodes():
            below = sum(c.references for c in node.children.values()) + sum(e.references for e in node.ends.values())
            assert node.references == below > 0, f"state {node.number}: {node.references} references, {below} below"
            for key, child in node.children.items():
                assert child.key == key
                assert child.parent is node

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers
