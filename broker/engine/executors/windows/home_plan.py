"""The plan of a window subscription that needs the events of one key only, as one of many with keys of their own.

Here: what the dispatcher needs. Not here: the key of an automaton (automaton/analyses/window_key), the machine
(home_machine).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, cast, final

from ....algebra.terms import Comparison
from ....automaton.analyses.event_constants import equality
from ....automaton.analyses.window_key import window_key
from ....automaton.automaton import Automaton
from ....automaton.binding import MarkedParts
from ....events.schema import Value
from ...options import Options
from ...program.account import Account
from ..contract import EVERY_EVENT, EventKey, Executor, Input, Member
from ..machine_plan import Known, MachinePlan, PlanMaker, counted
from .home_machine import HomeMachine, HomeMember
from .home_tests import Shape, tests_of, untestable
from .machine_plan import WindowsPlan
from .tables import WindowTables, tables_of


@final
class WindowHomePlan(WindowsPlan):
    """Subscriptions whose automata are equal but for their conditions share a machine, and join at any time. `key`:
    what the events of all windows have, by position."""

    __slots__ = ("_tables", "key")

    executor = "window_homes"
    version = 1
    figures = (
        *("window_homes", "home_members", "home_keys"),
        *("home_starts", "home_groups", "home_events"),
    )
    kind = "window homes"
    same_inputs = True
    pays = "a lookup of its key, and a visit of each subscription to that key"

    def __init__(self, automaton: Automaton, key: tuple[Comparison, ...]) -> None:
        super().__init__(automaton)
        self.key = key
        self._tables: WindowTables | None = None

    def maker(self, parts: MarkedParts) -> PlanMaker:
        def made(bound: Any, automaton: Any) -> MachinePlan:
            plan = plan_of_home(automaton(bound))
            return WindowsPlan(automaton(bound)) if isinstance(plan, str) else plan

        return made

    def _inputs(self, keyed: bool) -> list[Input]:
        return []

    def filed(self, options: Options) -> EventKey | None:
        """All events: the machine looks up their keys itself."""
        return EVERY_EVENT

    @property
    def wants_company(self) -> bool:
        return True

    @property
    def always_open(self) -> bool:
        return True

    @property
    def tables(self) -> WindowTables:
        """Those of all that have it in common with this one, found when they are needed. O(conditions) once."""
        known = self._tables
        if known is None:
            known = self._tables = tables_of(self.automaton)
        return known

    def alike(self, options: Options) -> Hashable:
        return self.tables.common

    def make(self, options: Options) -> Executor:
        account = Account(options.work_max, options.work_earned)
        limits = options.bindings_max, options.runs_max, options.nodes_max
        machine = HomeMachine(self.tables, self.outcome(), account, *limits)
        machine.stepper.prolongs = machine.stepper.prolongs and options.window_columns
        return machine

    def join(self, machine: Executor, symbols: list[int]) -> Member:
        return cast(HomeMachine, machine).join(*self._values())

    def _values(self) -> tuple[list[Value], Shape, tuple[Value, ...]]:
        """Its key, and its tests with their constants."""
        shape, constants = tests_of(self.windows.atoms, self.key)
        values = {pair[0].position: pair[1].value for pair in map(equality, self.key) if pair is not None}
        return [values[position] for position in self.automaton.sources[0].key], shape, constants

    def leave(self, machine: Executor, member: Member, symbols: list[int]) -> None:
        cast(HomeMachine, machine).leave(cast(HomeMember, member))

    def saved(self, machine: Executor, member: Member, symbols: list[int]) -> Any:
        return cast(HomeMember, member).order

    def rejoin(self, machine: Executor, symbols: list[int], saved: Any) -> Member:
        return cast(HomeMachine, machine).rejoin(*self._values(), saved)

    @classmethod
    def explained(cls, known: list[Known]) -> list[str]:
        """Each subscription as if it were alone, and how many share a machine."""
        lines, machines = cls.explained_together(known, "with keys of their own")
        return [*lines, f"window homes: {counted(len(known), 'subscription')} in {counted(machines, 'machine')}"]


def plan_of_home(automaton: Automaton) -> WindowHomePlan | str:
    """The plan, or the reason against it, which does not depend on the values of constants. O(size of conditions), and
    once for all that differ in constants O(size of the tables)."""
    windows = automaton.windows
    if windows is None or windows.clock is not None:
        return "it has no conditions"
    if windows.keep == "longest":
        return "its windows wait until they are over"
    if windows.back > 0 or any(len(part.starts) != 1 for part in windows.parts):
        return "its windows need events before them"
    why = untestable(windows.atoms)
    if why:
        return why
    positions = automaton.sources[0].key
    key = window_key(windows, positions, windows.atoms)
    if not positions or len(key) < len(set(positions)):
        return "its windows are not of one key"
    return WindowHomePlan(automaton, key)
