"""The batch path: passes a batch of events that only machines read to the lanes, without cells and event objects.

If a stream's machines have few inputs, these are tried one by one; otherwise the static index finds the symbols that an
event satisfies, as for all other streams.

Here: the path of a whole batch, event by event but where a machine is alone. Hot. Not here: one machine after the other
(machine_path), batches with other readers, or that make derived events (dispatcher).
"""

from __future__ import annotations

from typing import Any, Final, final

from mypy_extensions import i64

from ...algebra.predicate import holds
from ...events.batch import Batch
from ...events.schema import Row
from ..executors.completions import Completions
from ..executors.event_ids import EventIds
from ..index.spaces import Key, Space
from ..program.account import NOT_SUSPENDED
from ..program.directory import Static
from .lanes import Lane
from .machine_path import MachinePath, machine_path
from .matchers import Clock
from .trial import Trial

FEW: Final = 8  # inputs of all machines of a stream, up to which they are tried one by one


@final
class Entry:
    """A lane, and the number of a stream in it. `trials`: its machines, if they are few."""

    def __init__(self, lane: Lane, stream: int) -> None:
        self.lane = lane
        self.stream = stream
        self.trials: list[Trial] = []


@final
class BatchPath:
    """The lanes of one stream. `few`: their machines are tried one by one. `alone`: there is one, which takes several
    events at once."""

    def __init__(
        self,
        stream: str,
        entries: list[Entry],
        spaces: list[Space],
        statics: list[dict[Key, Static]],
        clock: Clock,
        by_machine: bool,
    ) -> None:
        self.entries = entries
        self.spaces = spaces
        self.statics = statics
        self.clock = clock
        self.stream = stream
        self.symbols: list[int] = []  # those that the current event satisfies
        lanes = [entry.lane for entry in entries]
        mixed = any(lane.indexes and lane.unfiled for lane in lanes)
        machines = [matcher.machine for lane in lanes if not lane.indexes for matcher in lane.matchers]
        few = len(machines) <= FEW and sum(len(machine.inputs) for machine in machines) <= FEW
        self.few = few and not mixed and not any(machine.by_symbols for machine in machines)
        self._by_machine: MachinePath | None = None
        self._asked = not by_machine
        self.alone = self.few and len(lanes) == 1 and not lanes[0].indexes and len(machines) == 1
        self.alone = self.alone and machines[0].batches
        for entry in entries:
            tried = self.few and not entry.lane.indexes
            entry.trials = [Trial(matcher, stream) for matcher in entry.lane.matchers] if tried else []

    def by_machine(self) -> MachinePath | None:
        """Another way through the lanes, if there is one. O(machines), once."""
        if not self._asked:
            self._asked = True
            self._by_machine = machine_path([entry.lane for entry in self.entries], self.stream, self.clock)
        return self._by_machine

    def travel(self, found: Completions, times: list[int], batch: Batch, ids: EventIds, now: i64) -> i64:
        """Process a batch; `now` is the newest time before it. Returns how many events were processed.

        There are fewer than all if a machine has failed at the last one and subscriptions must be suspended, or if a
        condition raises an error at the next one, which is then not processed at all.
        """
        n: i64 = len(times)
        if self.alone:
            trial = self.entries[0].trials[0]
            if trial.matcher.follower is None and trial.matcher.watchers is None:
                done = self._pass_all(trial, found, times, batch, ids, now)
                if done == n:
                    return n
        rows = batch.rows()
        clock = self.clock
        few = self.few
        symbols = self.symbols
        faults = found.faults
        i: i64
        for i in range(n):
            row = rows[i]
            try:
                if few:
                    for entry in self.entries:
                        for trial in entry.trials:
                            trial.test(row)
                else:
                    if len(symbols) > 0:
                        symbols.clear()
                    self._satisfied(row)
            except Exception:  # any error: the index finds the condition that raised it
                return i
            time: i64 = times[i]
            found.event = i
            if time > now:
                now = time
                if clock.next < time:
                    clock.advance(time, found)
            item: Any = ids.item(i)
            for entry in self.entries:
                lane = entry.lane
                if not few or len(lane.indexes) > 0:
                    lane.take(entry.stream, symbols, row, time, item, found)
                    continue
                place = lane.count(entry.stream, row, True)
                for trial in entry.trials:
                    if trial.matcher.machine.needs(trial.mask, row) and trial.matcher.suspended == NOT_SUSPENDED:
                        lane.step(trial.matcher, trial.mask, row, time, place, item, found)
                lane.upkeep(time)
            if len(faults) > 0:
                return i + 1
        return n

    def _pass_all(
        self, trial: Trial, found: Completions, times: list[int], batch: Batch, ids: EventIds, now: i64
    ) -> i64:
        """Process a batch for the only machine, which takes several events at once. Returns how many: none if a
        condition raises an error."""
        n: i64 = len(times)
        try:
            trial.masks = trial.column(trial.masks, batch)
        except Exception:  # any error: event by event it is found again
            return 0
        masks = trial.masks
        lane = self.entries[0].lane
        clock = self.clock
        matcher = trial.matcher
        machine = matcher.machine
        machine.at = 0
        while machine.at < n:
            at = machine.at
            time: i64 = times[at]
            if time > now:
                now = time
                if clock.next < time:
                    found.event = at
                    clock.advance(time, found)
            if matcher.suspended != NOT_SUSPENDED:
                machine.at = at + 1
                continue
            lane.step_all(matcher, masks, times, batch, ids, n, clock.next_of_others(matcher), found)
            now = times[max(machine.at - 1, 0)]
        lane.position += n
        lane.upkeep(now, n)
        return n

    def _satisfied(self, row: Row) -> None:
        """The symbols that an event satisfies."""
        symbols = self.symbols
        for space in self.spaces:
            known = self.statics[space.number]
            key: Key = row[space.single] if space.single >= 0 else space.key_of(row)
            if key is None:
                continue
            static = known.get(key)
            if static is None:
                continue
            arcs = static.arcs.arcs
            if len(arcs) <= static.arcs.few:
                for arc in arcs:
                    if arc.guard is None or holds(arc.guard, row, (), (), 1, 1):
                        symbols.append(arc.symbol)
            else:
                for arc in static.arcs.satisfied(row, (), (), 1, 1):
                    symbols.append(arc.symbol)
