"""The table of sections, in the order of restoring: each section needs only what earlier ones have filled.

Saving goes in the opposite order, because sections that refer to others need the numbers that these have assigned. A
section's version is raised when the meaning of its content changes.

Here: the rows. Not here: their content.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from ..executors.machine_plan import MachinePlan
from ..forecasts import snapshot as forecasts
from ..planner import MERGED
from ..program.program import Program
from ..subscribing import suspensions
from . import definitions, disorder, epoch, machines, merged
from .state import EngineState


class Section(NamedTuple):
    """A section: how to save and restore it, and its version.

    `restore` raises KeyError, IndexError, TypeError or ValueError for invalid content. `may_lack`: a snapshot is
    restored without it; so is one of an engine for which `save` gives None.
    """

    name: str
    version: int
    save: Callable[[EngineState], Any]
    restore: Callable[[EngineState, Any], None]
    may_lack: bool = False


def section_of(executor: type[MachinePlan]) -> str:
    """The section of the state of an executor's machines."""
    return f"machines: {executor.executor}"


def sections(program: Program) -> list[Section]:
    """All sections; an executor's is named after it."""
    return [
        Section("machines", 1, machines.save, machines.begin),
        Section("forms", 2, machines.save_forms, machines.restore_forms, may_lack=True),
        Section("revising", 1, disorder.save_revising, disorder.restore_revising, may_lack=True),
        Section("definitions", 2, definitions.save, definitions.restore),
        *(
            Section(
                section_of(executor),
                executor.version,
                partial(machines.save_contents, executor.executor),
                partial(machines.restore_contents, executor.executor),
                may_lack=True,
            )
            for executor in program.machines.executors
        ),
        Section("lanes", 1, machines.save_lanes, machines.restore_lanes),
        Section("accounts", 1, _save_accounts, _restore_accounts),
        Section("epoch", 1, epoch.save, epoch.restore),
        Section(MERGED.section, MERGED.version, merged.save, merged.restore),
        Section("disorder", 3, disorder.save, disorder.restore, may_lack=True),
        Section("forecasts", 2, _save_forecasts, _restore_forecasts),
    ]


def _save_accounts(state: EngineState) -> Any:
    return suspensions.save(state.program)


def _restore_accounts(state: EngineState, content: Any) -> None:
    suspensions.restore(content, state.program)


def _save_forecasts(state: EngineState) -> Any:
    return forecasts.save(state.program.forecasts, {id(run): number for number, run in enumerate(state.runs)})


def _restore_forecasts(state: EngineState, content: Any) -> None:
    forecasts.restore(content, state.program.forecasts, state.runs)
