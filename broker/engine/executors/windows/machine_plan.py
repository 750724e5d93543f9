"""The plan of a window subscription.

Here: what the dispatcher needs, and descriptions. Not here: windows (machine), which queries get this executor
(planner).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import ClassVar, Final, cast

from ....automaton.analyses.window_bounds import window_bounds
from ....automaton.analyses.window_chain import window_chain
from ....automaton.automaton import Automaton
from ....automaton.binding import MarkedParts
from ....automaton.diagram import Graph
from ....automaton.windows.drawing import bounded_line, windows_diagram, windows_lines
from ....automaton.windows.window_automaton import WindowAutomaton
from ....forecast.progress import Progress
from ....forecast.states import States
from ...options import Options
from ...program.account import Account
from ...program.target import Outcome
from ..contract import EventKey, EventPlaces, Executor, Input
from ..machine_plan import Known, MachinePlan, PlanMaker, kept_by
from ..revising import Reviser
from .machine import WindowMachine
from .pane_machine import PaneMachine, keeps_panes
from .progress import WindowProgress
from .reviser import WindowReviser
from .tables import WindowTables, tables_of
from .window_inputs import WindowInputs

LIMITS: Final = "runs_max, bindings_max or nodes_max"
SHOWN: Final = 8  # subscriptions up to which each is explained, where they share machines
GIVEN_UP: Final = "; beyond {} in a partition, the oldest are given up"


class WindowsPlan(MachinePlan):
    """Windows of the partitions of one stream. `windows`: their automata."""

    __slots__ = ("_needed", "_tables", "windows")

    executor = "windows"
    version = 5
    figures: ClassVar[tuple[str, ...]] = ("windows", "window_keys", "window_starts", "window_groups", "window_events")
    kind = "windows"

    windows: WindowAutomaton

    def __init__(self, automaton: Automaton) -> None:
        assert automaton.windows is not None
        self.automaton = automaton
        self.windows = automaton.windows
        self._tables: WindowTables | None = None
        self._needed: WindowInputs | None = None

    @property
    def tables(self) -> WindowTables:
        """Its tables, found when they are needed. O(conditions) once."""
        known = self._tables
        if known is None:
            known = self._tables = tables_of(self.automaton)
        return known

    def inputs(self) -> list[Input]:
        return self._inputs(False).all

    def wanted_inputs(self, options: Options) -> list[Input]:
        return self.needed.all

    @property
    def needed(self) -> WindowInputs:
        """The events, found once for the dispatcher and the machine."""
        known = self._needed
        if known is None:
            known = self._needed = self._inputs(self._keyed())
        return known

    def _inputs(self, keyed: bool) -> WindowInputs:
        return WindowInputs(self.tables, self.automaton, keyed)

    def _keyed(self) -> bool:
        """Whether it need not see partitions without windows, of which forecasts are told too."""
        return not self.wanted.forecast

    def filed(self, options: Options) -> EventKey | None:
        return self.needed.filed

    def streams(self) -> tuple[str, ...]:
        return (self.automaton.sources[0].stream,)

    def outcome(self) -> Outcome:
        schema = self.automaton.schema
        return Outcome(schema.names, (), [attribute.type == "float" for attribute in schema.attributes], LIMITS)

    def maker(self, parts: MarkedParts) -> PlanMaker:
        return lambda bound, automaton: WindowsPlan(automaton(bound))

    def alike(self, options: Options) -> Hashable:
        return (self.automaton, self._keyed(), self._panes(options))

    def _panes(self, options: Options) -> bool:
        """Whether a pane table keeps its windows, as the clock, the number of events or a gap decides them."""
        return keeps_panes(self.tables, options.window_columns and not self.wanted.forecast)

    def make(self, options: Options) -> Executor:
        account = Account(options.work_max, options.work_earned)
        limits = options.bindings_max, options.runs_max, options.nodes_max
        if self._panes(options):
            return PaneMachine(self.tables, self.needed, account, *limits)
        return WindowMachine(self.tables, self.needed, account, *limits, True)

    @property
    def revises(self) -> bool:
        """Windows of the clock, and the longest ones, are over when time has passed, which late events contradict."""
        return self.windows.clock is None and self.windows.keep != "longest"

    def reviser(self, options: Options) -> Reviser:
        account = Account(options.work_max, options.work_earned)
        limits = options.bindings_max, options.runs_max, options.nodes_max
        return WindowReviser(WindowMachine(self.tables, self._inputs(False), account, *limits, False))

    def progress(
        self, machine: Executor, places: EventPlaces, states: States, left: list[int], positions: tuple[int, ...]
    ) -> Progress:
        return WindowProgress(cast(WindowMachine, machine), states, window_chain(self.windows, states.cells))

    def advice(self) -> list[str]:
        """That the number of open starts is not bounded, or that this is unknown, and what bounds it at run time."""
        return [f"{bounded_line(self.windows)}{given}" for given in self._given_up()]

    def _given_up(self) -> list[str]:
        """What happens to open starts if the query does not bound them."""
        if window_bounds(self.windows).verdict == "bounded":
            return []
        return [GIVEN_UP.format("runs_max" if self.tables.starts_max(0, 1) == 0 else "nodes_max events")]

    @classmethod
    def explained(cls, known: list[Known]) -> list[str]:
        """What short forms stand for, the sizes of the automata, whether windows are bounded, how they are kept."""
        lines: list[str] = []
        for name, plan, machine in known:
            lines += [f"{name}: {line}" for line in windows_lines(plan.windows)]
            lines[-1] += "".join(plan._given_up())
            lines.append(f"{name}: {kept_by(machine)}")
        return lines

    @classmethod
    def explained_together(cls, known: list[Known], others: str) -> tuple[list[str], int]:
        """Each of the first ones as if it were alone, and how many `others` there are; the number of machines."""
        lines = WindowsPlan.explained(known[:SHOWN])
        if len(known) > SHOWN:
            lines.append(f"and {len(known) - SHOWN} more {others}")
        return lines, len({id(machine) for _, _, machine in known if machine is not None})

    @classmethod
    def drawn(cls, known: list[Known]) -> Graph:
        """The prefix automaton of each part, and the body automaton behind it."""
        graphs = [windows_diagram(name, plan.windows) for name, plan, _ in known]
        return Graph(
            "",
            tuple([node for graph in graphs for node in graph.nodes]),
            tuple([edge for graph in graphs for edge in graph.edges]),
        )
