"""Punctuation: promises that no earlier event follows, and the release of results that wait for time to pass.

Not here: the waiting matches (executors), the order of events (dispatcher).
"""

from __future__ import annotations

from ..results import Results, results_of_moment
from .dispatcher import Dispatcher


def punctuate(runtime: Dispatcher, time: int) -> Results:
    """Process the promise that no event before `time` follows. O(matches that have waited for it)."""
    runtime.promised = time
    results = release(runtime, time)
    if runtime.now is None or runtime.now < time - 1:
        runtime.runs.now = runtime.runs.time = time - 1  # an event at `time` itself belongs to a new epoch
    return results


def release(runtime: Dispatcher, time: int) -> Results:
    """Report the matches that wait for a moment before `time`. O(1) if there are none, else as reading the last batch's
    results: those of its last moment count where equal ones follow."""
    now = 0 if runtime.now is None else runtime.now
    runtime.runs.time = now
    program = runtime.program
    if program.machines.clock.next >= time and len(program.forecasts.scopes) == 0:
        return results_of_moment(now, {})
    results = runtime.results = results_of_moment(now, runtime.results.tally_after(now))
    runtime.runs.found = results.epochs
    runtime.wake(results, 1, 0, time)
    runtime.give_up(results, 0)
    for target, notice in program.forecasts.finish(now):
        results.notify(0, target, notice)
    return results


def newest(runtime: Dispatcher) -> int | None:
    """The time before which no event may come: the newest event's time, or the promised time."""
    now, promised = runtime.runs.now, runtime.promised
    return now if promised is None or (now is not None and now > promised) else promised
