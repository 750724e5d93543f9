"""Promises that nothing earlier follows: what has waited for time to pass is told.

Here: that. Not here: what waits (executors), events (ordered).
"""

from __future__ import annotations

from .dispatch.derived import tell
from .dispatch.dispatcher import Dispatcher
from .results import Results


def punctuate(runtime: Dispatcher, time: int) -> Results:
    """Nothing before that time comes any more. O(what has waited for it)."""
    runtime.promised = time
    if runtime.now is None or runtime.now < time - 1:
        runtime.runs.now = time - 1  # an event at the time itself is of a new epoch
    return release(runtime, time)


def release(runtime: Dispatcher, time: int) -> Results:
    """What waits for a moment before that time, told now."""
    now = 0 if runtime.now is None else runtime.now
    runtime.runs.time = now
    results = runtime.results = Results([now], [()], [0], [now], runtime.results.tally_after(now))
    runtime.runs.found = results.epochs
    runtime.program.machines.clock.advance(time, results.completions)
    tell(results, now)
    runtime.derive(results, 1, 0)
    runtime.give_up(results, 0)
    for target, notice in runtime.program.forecasts.finish(now):
        results.tell(0, target, notice)
    return results


def newest(runtime: Dispatcher) -> int | None:
    """The time before which no event may come: that of the newest one, or what was promised."""
    now, promised = runtime.runs.now, runtime.promised
    return now if promised is None or (now is not None and now > promised) else promised
