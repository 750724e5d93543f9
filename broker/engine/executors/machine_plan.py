"""Machine plans: all facts about a compiled query that the dispatcher needs for its machine.

Here: that form. Not here: machines themselves (contract), a plan (each executor's machine_plan.py), choosing the
executor of a query (planner), sharing machines (broker.engine.dispatch.registry).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

from ...automaton.arc_updates import ChangedArcs
from ...automaton.automaton import Automaton
from ...automaton.binding import AutomatonMaker, BoundLiterals, MarkedParts
from ...automaton.diagram import Graph
from ...forecast.progress import Progress
from ...forecast.states import States
from ..options import Options
from ..program.directory import Directory
from ..program.target import Outcome, Target
from ..program.watcher import Watcher
from .contract import EventKey, EventPlaces, Executor, Input, Member
from .merged import MergedAutomata
from .revising import Reviser

NAMES_SHOWN: Final = 8  # subscriptions up to which each is named


class MachinePlan:
    """The plan for an `automaton`, before any division into parts.

    `executor` and `version` name the form in which a machine is saved, `figures` are the names of its statistics.

    `always_open`: subscriptions may join a machine even after it has taken events. `same_inputs`: alike plans have the
    same inputs, so that their subscriptions are one user of them. `pays`: what an event costs, for users, if it does
    not visit each run of the subscription. `limits`: the options that limit what it keeps, for users. `merged`: all
    automata with such a plan run in one program of the executor, so that none has a machine, and the plan has no more
    content. Plans of one `kind` count the events of their streams together, and are explained together. `passed_over`:
    the executors that the planner tried before, each with the reason against it. `wanted`: the request for which the
    plan was made, or that for other literals of its shape. `alone`: the executors that run it better as long as no plan
    is alike, the next one first; all but the last want company, too. The plan is immutable once the planner has made
    it.
    """

    __slots__ = ("alone", "automaton", "passed_over", "wanted")

    alone: tuple[str, ...]
    automaton: Automaton
    passed_over: tuple[str, ...]
    wanted: Any

    executor: ClassVar[str]
    version: ClassVar[int]
    figures: ClassVar[tuple[str, ...]]
    kind: ClassVar[str]
    same_inputs: ClassVar[bool] = False
    pays: ClassVar[str] = ""
    limits: ClassVar[str] = ""
    merged: ClassVar[bool] = False

    @property
    def always_open(self) -> bool:
        return False

    @property
    def wants_company(self) -> bool:
        """Whether the executor pays off only for several subscriptions."""
        return False

    @property
    def merges_first(self) -> bool:
        """Whether the executor that merges all automata runs it better as long as no plan is alike."""
        return False

    @property
    def revises(self) -> bool:
        """Whether the executor has a machine for events in any order, which revises its results."""
        return False

    # --- events -------------------------------------------------------------------------------------------------

    def inputs(self) -> list[Input]:
        """The events that the machine needs."""
        raise AssertionError

    def wanted_inputs(self, options: Options) -> list[Input]:
        """The inputs as the dispatcher asks for them: they may also say what else all events have that matter."""
        return self.inputs()

    def filed(self, options: Options) -> EventKey | None:
        """The key by which the dispatcher finds the machine of an event, if its events are those of one key of all its
        streams. Otherwise they are those that satisfy its inputs."""
        return None

    def streams(self) -> tuple[str, ...]:
        """The streams whose events are counted together."""
        return tuple(sorted(self.automaton.streams()))

    def keys(self) -> tuple[tuple[int, ...], ...]:
        """For each stream the attributes by which its events are counted; () if the query does not need that."""
        return ()

    def outcome(self) -> Outcome:
        """The names and values of a match."""
        return Outcome(self.automaton.schema.names, (), (), self.limits)

    # --- templates ----------------------------------------------------------------------------------------------

    def maker(self, parts: MarkedParts) -> PlanMaker:
        """A function that makes the plan of this automaton with other literals, of which the same ones are equal.

        It computes again the parts that depend on the literals' values, and makes the automaton only if it needs it. It
        does not set the planner's attributes.
        """
        raise AssertionError

    # --- the machine --------------------------------------------------------------------------------------------

    def alike(self, options: Options) -> Hashable:
        """A key that plans have in common if they may share a machine that has not taken an event or is always open;
        None if no other subscription may."""
        return self.automaton

    def make(self, options: Options) -> Executor:
        """A machine without members."""
        raise AssertionError

    def reviser(self, options: Options) -> Reviser:
        """A machine without members for events in any order, if the plan `revises`."""
        raise AssertionError

    def rewrite(self, machine: Any, member: Any, changed: ChangedArcs) -> EventKey | None:
        """Replace the arcs of a machine's member; they differ for events that are still to come. Returns the key of
        the events of its runs with these arcs, as `filed`."""
        raise AssertionError

    def join(self, machine: Executor, symbols: list[int]) -> Member:
        """Add a subscription with this plan, whose inputs have these symbols. O(its size)."""
        if machine.member is None:
            machine.member = Member(Target(self.outcome(), None))
        return machine.member

    def leave(self, machine: Executor, member: Member, symbols: list[int]) -> None:
        """Remove a subscription, after its target has changed. O(its size)."""

    def part(self, automaton: Any, operands: list[int]) -> MachinePlan:
        """The plan of a part of the query, which forecasts follow. `operands`: the numbers of the part's inputs."""
        raise AssertionError

    def progress(
        self, machine: Executor, places: EventPlaces, states: States, left: list[int], positions: tuple[int, ...]
    ) -> Progress:
        """The progress of the machine for a key, for a forecast.

        `positions` are the key's attributes. `left`: the number of steps from each elementary state of `states`.
        """
        raise AssertionError

    @property
    def reports_runs(self) -> bool:
        """Whether its machine tells watchers of the runs of each member, so that there is no progress to ask for."""
        return False

    def watch(self, machine: Executor, member: Member, watcher: Watcher, states: list[int]) -> None:
        """Tell a watcher of a member's runs, if the plan `reports_runs`. `states`: its numbers of the states."""
        raise AssertionError

    def unwatch(self, machine: Executor, member: Member) -> None:
        """Undo one `watch`."""
        raise AssertionError

    # --- snapshots ----------------------------------------------------------------------------------------------

    def saved(self, machine: Executor, member: Member, symbols: list[int]) -> Any:
        """Plain data by which the machine recognises a member when it is restored; called after `dump`."""
        return None

    def rejoin(self, machine: Executor, symbols: list[int], saved: Any) -> Member:
        """Join a machine that is loaded later."""
        return self.join(machine, symbols)

    # --- for users ----------------------------------------------------------------------------------------------

    def company(self, machine: Executor) -> str | None:
        """With how many others the subscription shares its machine, and what they have in common; None if it does not.
        """
        return None

    def advice(self) -> list[str]:
        """What users should know before they let the query run."""
        return []

    @classmethod
    def explained(cls, known: list[Known]) -> list[str]:
        """Descriptions of all queries of this kind, in lines."""
        raise AssertionError

    @classmethod
    def drawn(cls, known: list[Known]) -> Graph:
        """Their automata."""
        raise AssertionError


class MergedPlan(MachinePlan):
    """The plan of an automaton that is merged with all others. `section`: where a snapshot stores their runs."""

    __slots__ = ()

    merged = True
    section: ClassVar[str]

    @classmethod
    def automata(cls, directory: Directory) -> MergedAutomata:
        """A program without automata."""
        raise AssertionError


class Known(NamedTuple):
    """A subscription with its machine; None while it is suspended."""

    name: str
    plan: Any  # a MachinePlan of the class that is called
    machine: Executor | Reviser | None


PlanMaker: TypeAlias = Callable[[BoundLiterals, AutomatonMaker], MachinePlan | None]


def counted(number: int, one: str, more: str = "") -> str:
    """A count with its noun, for users."""
    return f"{number} {one if number == 1 else more or one + 's'}"


def kept_by(machine: Any) -> str:
    """How a subscription's machine keeps its runs, for users."""
    return "suspended" if machine is None else str(machine.method)


def stream_name(name: str) -> str:
    """The name of a stream for users, who know internal streams as operands."""
    return f"(right operand {name[1:7]})" if name.startswith("~") else name
