"""What a compiled query says of the machine that finds its matches: all that the dispatcher has to know of a query.

Here: that form. Not here: machines themselves (contract), a plan (each executor's plan.py), which executor a query gets
(planner), who shares a machine (broker.engine.dispatch.registry).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

from ...automaton.automaton import Automaton
from ...automaton.diagram import Graph
from ...forecast.progress import Progress
from ...forecast.states import States
from ..binding import Bound, MarkedParts
from ..directory import Directory
from ..options import Options
from ..target import Outcome, Target
from .contract import EventPlaces, Executor, Input, Member
from .merged import MergedAutomata

NAMES_SHOWN: Final = 8  # subscriptions that are named one by one


class MachinePlan:
    """The plan for an `automaton`, as it is before anybody divides it.

    `executor` and `version` name the form in which a machine is saved, `figures` are the names of its statistics.

    `always_open`: others may join a machine that has taken events, too. `merged`: all automata with such a plan run in
    one program of the executor's own, so that none has a machine, and the plan says nothing more. Plans of one `kind`
    count the events of their streams together and are explained together. `passed_over`: the executors that the planner
    tried before, each with what spoke against it. `wanted`: what it was made for. Immutable once the planner has made
    it.
    """

    __slots__ = ("automaton", "passed_over", "wanted")

    automaton: Automaton
    passed_over: tuple[str, ...]
    wanted: Any

    executor: ClassVar[str]
    version: ClassVar[int]
    figures: ClassVar[tuple[str, ...]]
    kind: ClassVar[str]
    always_open: ClassVar[bool] = False
    merged: ClassVar[bool] = False

    # --- events -------------------------------------------------------------------------------------------------

    def inputs(self) -> list[Input]:
        """What it asks of single events."""
        raise AssertionError

    def streams(self) -> tuple[str, ...]:
        """The streams whose events are counted together."""
        raise AssertionError

    def keys(self) -> tuple[tuple[int, ...], ...]:
        """For each stream the attributes by which its events are counted apart; () if nobody asks for that."""
        return ()

    def divided(self) -> bool:
        """Whether an event that has no partition concerns nobody."""
        return False

    def outcome(self) -> Outcome:
        """The names and values of a match."""
        raise AssertionError

    # --- templates ----------------------------------------------------------------------------------------------

    def maker(self, parts: MarkedParts) -> PlanMaker:
        """What makes the plan of the same automaton with other literals, of which the same ones are equal; parts of it
        that depend on what they are it finds again. The planner's two attributes are not set."""
        raise AssertionError

    # --- the machine --------------------------------------------------------------------------------------------

    def alike(self, options: Options) -> Hashable:
        """Equal for plans that may share a machine: one that has not taken an event, or is always open."""
        raise AssertionError

    def make(self, options: Options) -> Executor:
        """A machine that nobody has joined."""
        raise AssertionError

    def join(self, machine: Executor, symbols: list[int]) -> Member:
        """One more subscription with this plan, whose inputs have these symbols. O(its size)."""
        if machine.member is None:
            machine.member = Member(Target(self.outcome(), None))
        return machine.member

    def leave(self, machine: Executor, member: Member, symbols: list[int]) -> None:
        """One fewer, after its target has changed. O(its size)."""

    def part(self, automaton: Any, operands: list[int]) -> MachinePlan:
        """The plan of a part of the query, which forecasts follow: its automaton, and which inputs are its own."""
        raise AssertionError

    def progress(
        self, machine: Executor, places: EventPlaces, states: States, left: list[int], positions: tuple[int, ...]
    ) -> Progress:
        """How far the machine is for a key, whose attributes are at `positions`, for a forecast. `left`: how many steps
        from each elementary state of `states`."""
        raise AssertionError

    # --- snapshots ----------------------------------------------------------------------------------------------

    def saved(self, machine: Executor, member: Member, symbols: list[int]) -> Any:
        """What the machine needs to recognise a member, as plain data, after it was dumped."""
        return None

    def rejoin(self, machine: Executor, symbols: list[int], saved: Any) -> Member:
        """Join a machine that is yet to be loaded."""
        return self.join(machine, symbols)

    # --- for people ---------------------------------------------------------------------------------------------

    @classmethod
    def explained(cls, known: list[Known]) -> list[str]:
        """What was made of all queries of this kind, in lines."""
        raise AssertionError

    @classmethod
    def drawn(cls, known: list[Known]) -> Graph:
        """Their automata."""
        raise AssertionError


class MergedPlan(MachinePlan):
    """The plan of an automaton that is merged with all others. `section` names what a snapshot has of their runs."""

    __slots__ = ()

    merged = True
    section: ClassVar[str]

    @classmethod
    def automata(cls, directory: Directory) -> MergedAutomata:
        """A program without automata."""
        raise AssertionError


class Known(NamedTuple):
    """A subscription, and the machine that it has; None while it is suspended."""

    name: str
    plan: Any  # a MachinePlan of the class that is asked
    machine: Executor | None


PlanMaker: TypeAlias = Callable[[Bound, Automaton], MachinePlan]


def counted(number: int, one: str, more: str = "") -> str:
    """A number of things, for people."""
    return f"{number} {one if number == 1 else more or one + 's'}"


def stream_name(name: str) -> str:
    """A stream for people, who know internal ones as operands."""
    return f"(right operand {name[1:7]})" if name.startswith("~") else name
