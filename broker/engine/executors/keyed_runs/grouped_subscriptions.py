"""Grouped subscriptions: those without states of their own, in families.

Another subscription costs one lookup and one entry in a column; it has no other structure.

Here: which family a subscription is in, joining and leaving. Not here: whether a subscription may be grouped
(recipes), finding the members of an event (intervals).
"""

from __future__ import annotations

from collections.abc import Container
from typing import final

from ....algebra.normal_form import duration_bound
from ....automaton.automaton import State
from ....language.marked_literals import Literals
from ...compiler.recipes import GroupKind, Recipe, Structure, Way
from ...index.axis import Axis
from ...index.family import Family
from ...index.intervals import Intervals
from ...index.spaces import Key, Space
from ...program.directory import Directory
from ...program.recipient import Recipient
from ...program.target import Outcome, Target
from ...program.transition import UNBOUNDED, Place


@final
class MemberGroup:
    """A family with its place, and the cell whose events start it."""

    def __init__(self, kind: GroupKind, space: Space, key: Key, outcome: Outcome, place: Place) -> None:
        self.kind = kind
        self.space = space
        self.key = key
        self.outcome = outcome
        self.place = place

    def members(self) -> Intervals[Target]:
        assert self.place.family is not None
        return self.place.family.members


@final
class Bulk:
    """Groups by the common part of their members and the key of their cell."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self._kinds: dict[Structure, GroupKind] = {}
        self._numbers = 0
        self._groups: dict[tuple[int, Key], MemberGroup] = {}

    def join(self, recipe: Recipe, subscriber: Recipient) -> bool:
        """Add a subscription; False if it needs states of its own. O(log members), and moves of machine words."""
        literals = subscriber.literals
        bounds = recipe.bounds(literals)
        if bounds is None:
            return False
        key = recipe.key(literals)
        kind = self._kind(recipe, literals)
        group = self._groups.get((kind.number, key))
        if group is None:
            group = self._groups[(kind.number, key)] = self._group(kind, recipe, key, literals)
        members = group.members()
        target = members.get(bounds)
        if target is None:
            target = Target(group.outcome, subscriber)
            members.put(bounds, target)
        else:
            target.join(subscriber)
            members.kept = None
        if subscriber.lineage:
            group.place.lineage += 1
        return True

    def leave(self, recipe: Recipe, subscriber: Recipient, branch: int) -> None:
        """Undo one `join` of that branch; no effect if the join was refused."""
        literals = subscriber.literals
        bounds = recipe.bounds(literals)
        if bounds is None:
            return
        mark = (self._kind(recipe, literals).number, recipe.key(literals))
        group = self._groups[mark]
        members = group.members()
        target = members.get(bounds)
        assert target is not None
        rest = target.without(subscriber.name, branch)
        if rest.first is None:
            members.remove(bounds)
        else:
            members.replace(bounds, rest)
        if subscriber.lineage:
            group.place.lineage -= 1
        if not len(members):
            del self._groups[mark]
            self._withdraw(group)

    def place(self, recipe: Recipe, literals: Literals) -> Place | None:
        """The place where a member's runs wait; None for what is none."""
        if recipe.bounds(literals) is None:
            return None
        return self._groups[(self._kind(recipe, literals).number, recipe.key(literals))].place

    def company(self, recipe: Recipe, literals: Literals) -> int:
        """The number of different members of its group; 0 if it is in none."""
        if recipe.bounds(literals) is None:
            return 0
        return len(self._groups[(self._kind(recipe, literals).number, recipe.key(literals))].members())

    def _kind(self, recipe: Recipe, literals: Literals) -> GroupKind:
        kind = recipe.kind
        if kind is not None and kind.groups:
            return kind
        structure = recipe.structure(literals)
        kind = self._kinds.get(structure)
        if kind is None:
            self._numbers += 1
            kind = self._kinds[structure] = GroupKind(structure, self._numbers)
        if not recipe.varying:
            recipe.kind = kind
        return kind

    def _group(self, kind: GroupKind, recipe: Recipe, key: Key, literals: Literals) -> MemberGroup:
        kind.groups += 1
        self.directory.count(recipe.stream, 1)
        space = self.directory.space(recipe.stream, recipe.positions)
        static = self.directory.static(space, key)
        outcome = Outcome(recipe.automaton.schema.names, recipe.outputs(literals))
        theta = recipe.theta(literals)
        place = self.directory.place(-1, 1, State(recipe.state.stream, theta), recipe.stream)
        bound = duration_bound(theta)
        place.window = UNBOUNDED if bound is None else bound
        place.family = Family(_axis(recipe.first), _axis(recipe.second))
        static.places.append(place)
        return MemberGroup(kind, space, key, outcome, place)

    def _withdraw(self, group: MemberGroup) -> None:
        group.kind.groups -= 1
        self.directory.count(group.space.stream, -1)
        if not group.kind.groups:
            del self._kinds[group.kind.structure]
        static = self.directory.static(group.space, group.key)
        static.places.remove(group.place)
        self.directory.withdraw(group.place)
        self.directory.prune(group.space, group.key)

    # --- inspection ---------------------------------------------------------------------------------------------

    def places(self) -> list[Place]:
        """The places of the families."""
        return [group.place for group in self._groups.values()]

    def states(self, known: Container[str]) -> int:
        """The number of states that the groups stand for.

        Each different start is one state; so is each start state, by stream, except the `known` ones.
        """
        found = len({group.space.stream for group in self._groups.values() if group.space.stream not in known})
        for group in self._groups.values():
            members = group.members()
            found += len({members.bounds(at).low for at in range(len(members.members()))})
        return found

    def check_invariants(self) -> None:
        for group in self._groups.values():
            assert len(group.members())
            group.members().check_invariants()
            static = self.directory.statics[group.space.number][group.key]
            assert group.place in static.places
            assert not group.place.dead


def _axis(way: Way) -> Axis:
    return Axis(way.position, -1.0 if way.negated else 1.0)
