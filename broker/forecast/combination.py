"""Where the parts of a large subscription are for each key, and what is counted of them.

Each part has a machine of its own, whose completions make no results, and a chain of its own. Of AND and OR they go on
side by side. Of a sequence one is on, and takes events, once those before it have completed one after the other: so
what it has begun before is not its. With WITHIN a completion is of use until the window of its first event ends; then
what followed it is forgotten.

Here: the parts' steps. Not here: which parts there are and their machines (broker.engine.forecasts), what their chains
say together (joint).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, final

from mypy_extensions import i64

from ..events.instant import FOREVER
from .context_chain import ContextChain
from .counts import Context
from .forecaster import Forecaster
from .inter_arrival import InterArrivals
from .key_state import NEVER, KeyState, PartState
from .keyed_stream import KeyedStream, Observer
from .progress import Progress
from .series import SeriesChain
from .settings import Settings

Connective: TypeAlias = Literal["AND", "OR", ";"]


@final
class PartForecaster:
    """The chain of one part, `number` from 1. `final`: the
    chain's final state; `least`: how many steps the part takes from its beginning at least."""

    def __init__(
        self, number: int, forecaster: Forecaster, settings: Settings, final_state: int, least: int, progress: Progress
    ) -> None:
        self.number = number
        self.forecaster = forecaster
        self.values = settings.values
        self.final: i64 = final_state
        self.least = least
        self.progress = progress


@final
class Combination:
    """The parts of one subscription. `within`: its window, FOREVER where it has none. `until`: the last moment at which
    the last answer is sure to hold."""

    def __init__(
        self,
        connective: Connective,
        within: int | None,
        parts: list[PartForecaster],
        observer: Observer,
        stream: KeyedStream,
        duration: int,
        arrivals: InterArrivals | None,
    ) -> None:
        """`duration`, `arrivals`: of a horizon in time."""
        self.connective: Connective = connective
        self.phased = connective == ";"
        self.within: i64 = FOREVER if within is None else within
        self.parts = parts
        self.observer = observer
        self.stream = stream
        self.duration = duration
        self.arrivals = arrivals
        # What is left of a window that spans several parts is an amount of time, also where the horizon is in events.
        windowed = within is not None and connective != "OR"
        self.clock: InterArrivals | None = InterArrivals(within or 1) if windowed and arrivals is None else arrivals
        self.until: i64 = FOREVER
        self.series: dict[tuple[Context, ...], SeriesChain] = {}

    # --- the parts' machines ------------------------------------------------------------------------------------

    def admits(self, number: i64, time: i64) -> bool:
        """Whether a part takes the event at hand: in a sequence when the parts before have completed."""
        if not self.phased or number == 0:
            return True
        key = self.stream.current
        state = None if key is None else key.states.get(self.observer.number)
        return state is not None and self.reached(state, time) >= number

    def completed(self, number: i64, began: i64) -> None:
        """The event at hand has completed a part by a match that began then."""
        state = self.stream.touch(self.observer)
        if state is None:
            return
        part = state.parts[number]
        part.matched = True
        part.completing = max(part.completing, FOREVER if self.within == FOREVER else began + self.within)

    # --- steps --------------------------------------------------------------------------------------------------

    def begin(self) -> list[PartState]:
        """Where parts are on a key that nothing has happened to."""
        found: list[PartState] = []
        for part in self.parts:
            chain = None if part.values else part.forecaster.chain()
            found.append(PartState(chain, not self.phased or part.number == 1))
        return found

    def reached(self, state: KeyState, time: i64) -> i64:
        """How many parts have completed and are of use, of OR none: of a sequence the phase, never beyond the last."""
        count: i64 = 0
        if self.connective == "OR":
            return 0
        for own in state.parts:
            if own.done >= time:
                count += 1
            elif self.phased:
                break
        return min(count, len(self.parts) - 1) if self.phased else count

    def step(self, state: KeyState) -> bool:
        """The event at hand has touched the key's state: a step of each part. Whether the next one ends a state
        whatever it is. O(parts)."""
        stream, key = self.stream, state.key
        row, time = stream.row, stream.time
        fleeting = False
        until: i64 = FOREVER
        reached = self.reached(state, time)
        stays: int = key.events - 1 - state.seen
        for number, part in enumerate(self.parts):
            own = state.parts[number]
            part.forecaster.clock().move(time)
            on = not self.phased or number <= reached
            following: i64 = 0
            if on:
                following, ends = part.progress.look(state, row, time)
                until = min(until, part.progress.until)
                if own.matched:
                    following, ends = part.final, True
                fleeting = fleeting or ends
            elif own.on:  # what the parts before had completed is too long ago, and what followed it with it
                part.progress.forget(row)
            if own.chain is not None and own.on and state.seen < key.events:
                if stays > 0:
                    own.chain.step(own.state, own.state, stays)
                if on:
                    own.chain.step(own.state, following, 1)
            own.state = following
        self.until = until
        for own in state.parts:
            if own.matched:
                own.matched = False
                own.done = max(own.done, own.completing)
                own.completing = NEVER
            if own.done >= time and self.connective != "OR":
                self.until = min(self.until, own.done)
        reached = self.reached(state, time)
        for number, part in enumerate(self.parts):
            own = state.parts[number]
            own.on = not self.phased or number <= reached
            if part.values:
                own.chain = part.forecaster.chain(state.context())
        return fleeting

    # --- what is forecast ---------------------------------------------------------------------------------------

    def idle(self, state: KeyState, time: i64) -> bool:
        """Whether nothing has begun."""
        if self.reached(state, time) > 0:
            return False
        return max([own.state for own in state.parts]) == 0

    def label(self, state: KeyState, time: i64) -> str:
        """Where the parts are, for people."""
        reached = self.reached(state, time)
        labels: list[str] = []
        for number, part in enumerate(self.parts):
            own = state.parts[number]
            done = number < reached if self.phased else self.connective == "AND" and own.done >= time
            if self.phased and number > reached:
                break
            where = "completed" if done else part.progress.label(int(own.state))
            labels.append(f"part {part.number}: {where}")
        return ", ".join(labels)

    def awaited(self, state: KeyState, time: i64) -> list[int]:
        """The parts that the next match waits for, in a sequence the phase at work first."""
        if self.phased:
            return list(range(self.reached(state, time), len(self.parts)))
        numbers = [number for number, own in enumerate(state.parts) if self.connective == "OR" or own.done < time]
        return numbers or list(range(len(self.parts)))

    def any_suffices(self, state: KeyState, time: i64) -> bool:
        """Whether one of the awaited parts is enough: of OR, and of AND where all have completed."""
        return self.connective == "OR" or (not self.phased and self.reached(state, time) == len(self.parts))

    def effective(self, state: KeyState, time: i64) -> float:
        """The least number of transitions that stand behind any awaited part; below 0 where none is known."""
        least = -1.0
        for number in self.awaited(state, time):
            chain = state.parts[number].chain
            if chain is None:
                return -1.0
            own = chain.effective(int(state.parts[number].state))
            least = own if least < 0.0 else min(least, own)
        return least

    def held(self, state: KeyState, time: i64) -> bool:
        """Whether something has completed that will be too old."""
        return self.within < FOREVER and self.reached(state, time) > 0

    def window(self, state: KeyState, number: i64, time: i64, held: bool) -> i64:
        """Until when a part's completion would be one with what the others have completed, if that is `held`.

        With a horizon in time its own window ends too; else its chain has learnt how it does.
        """
        until: i64 = FOREVER
        if self.arrivals is not None:
            until = self.parts[number].progress.end(self.stream.row, time, FOREVER)
        for other, own in enumerate(state.parts):
            if held and other != number and self.connective != "OR" and own.done >= time:
                until = min(until, own.done)
        return until

    # --- learning -----------------------------------------------------------------------------------------------

    def staying(self, state: KeyState | None) -> list[tuple[Forecaster, int, Context]]:
        """Whose steps events make which pass a key's state by, or a key without one: in which state and context."""
        if state is None:
            return [(part.forecaster, 0, ()) for part in self.parts if not self.phased or part.number == 1]
        found: list[tuple[Forecaster, int, Context]] = []
        for part, own in zip(self.parts, state.parts):
            if own.on and own.chain is not None:
                found.append((part.forecaster, int(own.state), own.chain.context))
        return found

    def aside(self, states: Sequence[PartState]) -> list[PartState]:
        """Copies of these, or of those of a key without any, on estimates of their own."""
        found: list[PartState] = []
        for number, part in enumerate(self.parts):
            own = states[number] if states else None
            chain = None if own is None else own.chain
            chain = part.forecaster.aside(()) if chain is None else chain.aside()
            copy = PartState(chain, not self.phased or number == 0)
            if own is not None:
                copy.state, copy.done, copy.on = own.state, own.done, own.on
            found.append(copy)
        return found

    def load(self, saved: Sequence[Any]) -> list[PartState]:
        """Load a dump."""
        found = self.begin()
        for part, own, (state, done, on, context) in zip(self.parts, found, saved, strict=True):
            own.state, own.done, own.on = state, done, on
            own.chain = None if context is None else part.forecaster.chain(tuple(context))
        return found


def dumped(states: Sequence[PartState]) -> list[list[Any]]:
    """The states of parts between two events, as plain data."""
    return [[int(own.state), int(own.done), own.on, context_of(own.chain)] for own in states]


def context_of(chain: ContextChain | None) -> list[str | int] | None:
    """A chain's context as plain data."""
    return None if chain is None else list(chain.context)
