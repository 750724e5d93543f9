"""The section of progress: the engine's counts and times, and the counts of the open epoch.

Not here: runs.
"""

from __future__ import annotations

from typing import Any

from ..results import results_of_moment
from .state import EngineState


def save(state: EngineState) -> Any:
    runtime = state.runtime
    tally = runtime.results.tally_after(runtime.now)
    return {
        "now": runtime.now,
        "promised": runtime.promised,
        "events": state.engine.events,
        "matches": state.engine.matches,
        "begun": runtime.runs.begun,
        "tally": [[*entry, count] for entry, count in tally.items()],
    }


def restore(state: EngineState, content: Any) -> None:
    runtime = state.runtime
    state.engine.events, state.engine.matches = content["events"], content["matches"]
    runtime.runs.now, runtime.promised, runtime.runs.begun = content["now"], content["promised"], content["begun"]
    if runtime.now is not None:
        tally = {(name, branch, trace): count for name, branch, trace, count in content["tally"]}
        runtime.results = results_of_moment(runtime.now, tally)
