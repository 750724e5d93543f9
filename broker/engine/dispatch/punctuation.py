"""Punctuation: promises that no earlier event follows, and the release of results that wait for time to pass.

Not here: the waiting matches (executors), the order of events (dispatcher).
"""

from __future__ import annotations

from ..results import Results, results_of_moment
from .dispatcher import Dispatcher


def punctuate(runtime: Dispatcher, time: int) -> Results:
    """Process the promise that no event before `time` follows. O(matches that have waited for it)."""
    runtime.promised = time
    now = runtime.now
    return _released(runtime, time, time - 1 if now is None or now < time - 1 else now)


def release(runtime: Dispatcher, time: int) -> Results:
    """Report the matches that wait for a moment before `time`, and go on at the newest epoch. O(1) if there are none,
    else as reading the last batch's results: those of its last moment count where equal ones follow."""
    return _released(runtime, time, runtime.now)


def _released(runtime: Dispatcher, time: int, now: int | None) -> Results:
    """`now`: the newest epoch behind it; an event at `time` itself belongs to a new one."""
    program, runs, moment = runtime.program, runtime.runs, 0 if now is None else now
    if program.machines.clock.next >= time and len(program.forecasts.scopes) == 0:
        runs.now, runs.time = now, moment
        return results_of_moment(moment, {})
    results = runtime.results = results_of_moment(moment, runtime.results.tally_after(now))
    runs.found = found = results.found
    runtime.later, found.feeding = False, runtime.feeds()
    runtime.wake(results, 1, 0, time)
    runs.now, runs.time = now, moment
    runtime.give_up(results, 0)
    for target, notice in program.forecasts.finish(moment):
        results.notify(0, target, notice)
    return results


def newest(runtime: Dispatcher) -> int | None:
    """The time before which no event may come: the newest event's time, or the promised time."""
    now, promised = runtime.runs.now, runtime.promised
    return now if promised is None or (now is not None and now > promised) else promised
