"""The dispatcher: passes events, in order of their end, to all that they concern; one epoch a time (semantics 1.7).

For each event it advances time for the machines that wait for it; visits the cells of the event's keys, which start and
move runs and find the symbols that the event satisfies; passes it with these symbols to the lanes of its stream; then
processes the events derived from its matches.

Here: that loop, hot and written for compilation. Not here: the effect of an event on partial matches (executors),
subscriptions (program), reading results, input checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, final

from mypy_extensions import i64

from ...algebra.timed_stream import timed_row
from ...events.batch import Batch, batch_of_rows
from ...events.schema import Row
from ..executors.event_ids import EventIds
from ..matches.batch_events import Fault
from ..matches.sources import flattened
from ..program.directory import NO_STREAM
from ..program.program import Program
from ..results import Results
from ..subscribing.subscriber import ResultIds
from .derived import in_order, report
from .foretelling import ForetoldEvents
from .lanes import Lane
from .time_order import TimeOrder

BEFORE: Final = -(1 << 62)  # earlier than any event
NO_COLUMNS: Final = -1
SOME: Final = 16  # events, until columns are tried again


@final
class Arrival:
    """A batch of the stream of that `number`, and how far it has come.

    `with_times`: the number of the stream of its rows with their times, if somebody reads that, too; the `plain` ones
    are without. `alone`: only machines read the stream; `machines`: they have still to be given its events. `now`: the
    newest epoch; `done`: so many derived events are processed; `upto`: merged automata may read columns up to there.
    `faults`: those of machines that had the whole batch.
    """

    def __init__(self, results: Results, number: int, with_times: i64, plain: list[Row], now: i64) -> None:
        found = results.found
        self.results = results
        self.times = found.times
        self.starts = found.starts
        self.batch = found.batch
        self.ids = found.ids
        self.number = number
        self.with_times: i64 = with_times
        self.plain = plain
        self.alone = False
        self.machines = False
        self.now: i64 = now
        self.done: i64 = 0
        self.upto: i64 = NO_COLUMNS
        self.faults: list[Fault] = []


@final
class Dispatcher:
    """A running program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.runs = program.merged.runs()
        self.result_ids = ResultIds()
        self._none = Results([], batch_of_rows([]), EventIds(0, 0), [], {}, self.result_ids)
        self.results = self._none  # of the last batch
        self.promised: int | None = None  # a punctuation promised that no earlier event follows
        self.later = False  # completions become results when they are read, since nothing else reads them
        self.suspend: Callable[[Results, int], None] | None = None
        self._feeding = True  # whether a stream of machines' results may have a reader
        self._known = False
        self._apart = False  # the machines have had the whole batch
        self.order = TimeOrder()  # of the streams whose events come now
        self.order_of: Callable[[str], TimeOrder] | None = None  # None: all streams share it
        program.machines.clock.orders = [self.order]

    @property
    def now(self) -> int | None:
        """The newest epoch, None before the first event."""
        return self.runs.now

    def enter(self, order: TimeOrder) -> None:
        """Go on with the streams of an order. O(1)."""
        if order is not self.order:
            self.park()
            self.resume(order)

    def park(self) -> None:
        """Note how far the current order has come."""
        order, runs = self.order, self.runs
        order.now, order.promised, order.results = runs.now, self.promised, self.results
        order.schedule, order.alarms = runs.schedule(), self.program.machines.clock.alarms
        order.deadlines = self.program.forecasts.deadlines

    def resume(self, order: TimeOrder) -> None:
        """Take up an order where it was left."""
        self.order, self.promised = order, order.promised
        self.results = self._none if order.results is None else order.results
        self.runs.resume(order.now, order.schedule)
        self.program.machines.clock.resume(order.alarms)
        self.program.forecasts.deadlines = order.deadlines

    def now_at(self, stream: str) -> int | None:
        """The newest epoch of the order of a stream."""
        order = self.order if self.order_of is None else self.order_of(stream)
        return self.runs.now if order is self.order else order.now

    def refresh(self) -> None:
        """Update the runtime after a change of the program. O(changes), plus an occasional purge."""
        self._known = False
        self.runs.refresh()

    def process(self, stream: str, times: list[int], batch: Batch, ids: EventIds, starts: list[int]) -> Results:
        """Process a batch of checked events of one stream.

        O(affected runs) for each event, plus one lookup in each key space.
        """
        arrival = self._arrived(stream, times, batch, ids, starts)
        passed = self._apart = self._pass_by_machine(arrival)
        if arrival.alone and passed:  # no cell has anything to do with the events
            self._move_to(times[-1])
        else:
            self._choose_columns(arrival)
            self._process_events(arrival)
        if passed:
            self.runs.symbols = []  # the machines have had the events
            self._give_up_machines(arrival)
        return arrival.results

    def _arrived(self, stream: str, times: list[int], batch: Batch, ids: EventIds, starts: list[int]) -> Arrival:
        """The batch with empty results, which become those of the order."""
        directory, program = self.program.directory, self.program
        number = directory.stream(stream)
        with_times: i64 = directory.timed[number]
        plain: list[Row] = []
        if with_times >= 0:
            plain = batch.rows()
            batch = batch_of_rows([timed_row(plain[at], times[at], starts[at]) for at in range(len(plain))])
            if self._unread(number):
                number = int(with_times)
                with_times = NO_STREAM
        before = self.results.tally_after(times[0] if times else None)
        results = Results(times, batch, ids, starts, before, self.result_ids)
        found = self.runs.found = results.found
        found.make_room(self.results.found)
        self.results = results
        arrival = Arrival(results, number, with_times, plain, BEFORE if self.runs.now is None else self.runs.now)
        arrival.alone = directory.others[number] == 0
        arrival.machines = number in program.machines.entries
        found.feeding = self.feeds()
        self.later = program.options.batches and not self._feeding and not program.forecasts.scopes
        if with_times >= 0 and (not arrival.alone or directory.others[with_times] > 0):
            self.later = False
        found.later = self.later
        return arrival

    def _pass_by_machine(self, arrival: Arrival) -> bool:
        """Pass a batch to one machine of the stream after the other, unless that could mix up what others do."""
        if not (arrival.machines and self.later) or arrival.with_times >= 0 or len(arrival.times) < 2:
            return False
        if self.program.directory.feeds > 0 and not arrival.alone:  # derived events come between the batch's
            return False
        path, found = self.program.machines.path(arrival.number), arrival.results.found
        if path is None or not path.travel(found, arrival.times, arrival.batch, arrival.ids):
            return False
        if path.several or not arrival.alone:
            found.unordered = True
        arrival.faults, found.faults = found.faults, []
        arrival.machines = False
        return True

    def _move_to(self, now: i64) -> None:
        """The newest epoch is this one."""
        runs = self.runs
        runs.now = runs.time = now
        if runs.due < now:
            runs.expire(now)

    def _choose_columns(self, arrival: Arrival) -> None:
        """Decide up to which event merged automata read columns, and make what is read otherwise."""
        forecasts = self.program.forecasts
        self.runs.foretold = None
        if not arrival.machines and arrival.with_times < 0 and arrival.starts is arrival.times:
            arrival.upto = self._last_epoch(arrival.times)
            if forecasts.scopes and arrival.upto != NO_COLUMNS:
                self.runs.foretold = ForetoldEvents(forecasts, arrival.number, arrival.results)
        if arrival.upto == NO_COLUMNS:
            arrival.batch.rows()

    def _process_events(self, arrival: Arrival) -> None:
        """Process the events, several by columns where that is possible."""
        times, n = arrival.times, len(arrival.times)
        again: i64 = 0
        i: i64 = 0
        while i < n:
            if i < arrival.upto and i >= again and times[i] > arrival.now:
                behind = self._process_stretch(arrival, i)
                if behind > i:
                    i = behind
                    continue
                again = i + SOME
            self._process_event(arrival, i)
            i += 1

    def _process_stretch(self, arrival: Arrival, first: i64) -> i64:
        """Have merged automata read columns from an event on; returns behind which event they stopped."""
        runs, found = self.runs, arrival.results.found
        behind = runs.stretch(arrival.number, first, arrival.upto)
        if behind == first:
            return first
        arrival.now = arrival.times[behind - 1]
        self._move_to(arrival.now)
        if arrival.done < len(found.derived):
            arrival.done = self.derive(arrival.results, len(arrival.times), arrival.done)
        if runs.foretold is not None:
            runs.foretold.ends(behind - 1)
        if len(found.faults) > 0:
            self.give_up(arrival.results, behind - 1)
        if len(found.derived) > 0 or len(found.faults) > 0:
            arrival.upto = NO_COLUMNS
        return behind

    def _process_event(self, arrival: Arrival, at: i64) -> None:
        """Process one event, and those that are derived from it."""
        runs, results, forecasts = self.runs, arrival.results, self.program.forecasts
        times, n = arrival.times, len(arrival.times)
        time: i64 = times[at]
        runs.alone = False
        if time > arrival.now:
            arrival.now = time
            if self.program.machines.clock.next < time:
                results.found.event = at
                arrival.done = self.wake(results, n, arrival.done, time)
            self._move_to(time)
            # The last event of a batch is never alone: the next batch may continue its epoch.
            runs.alone = at + 1 < n and times[at + 1] > time
        self._set_current(arrival, at)
        if forecasts.scopes:
            self._begin_forecasts(arrival.number)
        self._reach(arrival.number, arrival.machines)
        if arrival.with_times >= 0:
            runs.row = arrival.batch.row(at)
            self._reach(arrival.with_times)
        if arrival.done < len(results.found.derived):
            arrival.done = self.derive(results, n, arrival.done)
        if forecasts.scopes:
            for target, notice in forecasts.finish(time):
                results.notify(at, target, notice)
        if len(results.found.faults) > 0:
            self.give_up(results, at)

    def _set_current(self, arrival: Arrival, at: i64) -> None:
        """Set the current event of the runs."""
        runs = self.runs
        runs.index = at
        runs.time = arrival.times[at]
        runs.start = arrival.starts[at]
        runs.length = runs.time - runs.start + 1
        runs.row = arrival.plain[at] if arrival.with_times >= 0 else arrival.batch.row(at)
        runs.item = arrival.ids.at(at)
        runs.link = arrival.ids.item(at)

    def _give_up_machines(self, arrival: Arrival) -> None:
        """Suspend the subscriptions of machines that failed on the machine path, after everything else of the batch."""
        runs = self.runs
        newest = runs.time
        for fault in sorted(arrival.faults, key=_event_of):
            runs.time = arrival.times[fault.event]
            runs.found.faults.append(fault)
            self.give_up(arrival.results, fault.event)
        runs.time = newest

    def _last_epoch(self, times: list[int]) -> i64:
        """The first event of the batch's last moment, up to which it may go by columns; NO_COLUMNS if it may not."""
        upto: i64 = len(times) - 1
        if upto < 1 or not self.program.options.batches:
            return NO_COLUMNS
        newest: i64 = times[upto]
        if self.program.machines.clock.next < newest:
            return NO_COLUMNS
        while upto > 0 and times[upto - 1] == newest:
            upto -= 1
        return upto

    def give_up(self, results: Results, event: i64) -> None:
        """Suspend the subscriptions behind the errors raised at this event."""
        if len(results.found.faults) == 0 or self.suspend is None:
            return
        if not self._apart:  # otherwise what the machines found is put in order at the end
            report(results, self.runs.time)
            results.read()
        self.suspend(results, event)

    def feeds(self) -> bool:
        """Whether somebody reads a stream that is made of machines' results. O(1) unless the program has changed."""
        if not self._known:
            directory = self.program.directory
            self._known = True
            self._feeding = any(
                not self._unread(each) or directory.timed[each] != NO_STREAM for each in self.program.machines.feeding
            )
        return self._feeding

    def wake(self, results: Results, events: i64, done: i64, time: i64) -> i64:
        """Report the matches that wait for a moment before `time`; returns how many derived events are processed.

        Where others read them, each becomes an event of the moment at which its match became certain. These moments are
        processed in their order, before the event of `time`, so that results do not depend on when that comes.
        """
        clock, runs = self.program.machines.clock, self.runs
        if self.later or not self._feeding:
            runs.time = time
            clock.advance(time, results.found)
            if not self.later:
                report(results, time)
            return done
        while clock.next < time:
            moment: i64 = clock.next if runs.now is None else max(clock.next, i64(runs.now))
            self._move_to(moment)
            clock.advance(moment + 1, results.found)
            report(results, moment)
            done = self.derive(results, events, done)
        return done

    def derive(self, results: Results, events: i64, done: i64) -> i64:
        """Process the derived events from number `done` on, and those that they cause; returns how many there are."""
        directory, runs, found = self.program.directory, self.runs, results.found
        depth_ends = done
        if self.later:  # their matches follow those of the events before
            report(results, runs.time)
            self.later = found.later = False
        while done < len(found.derived):
            if done == depth_ends:
                depth_ends = len(found.derived)
                if depth_ends > done + 1:
                    found.derived[done:] = in_order(found.derived[done:], found.by_number)
            event = found.derived[done]
            runs.alone = False  # others may follow in its epoch
            runs.row, runs.start, runs.length = event.row, event.start, runs.time - event.start + 1
            runs.item, runs.link = event.trace, event.lineage
            runs.index = events + done
            done += 1
            self._begin_forecasts(event.stream)
            self._reach(event.stream)
            with_times: i64 = directory.timed[event.stream]
            if with_times >= 0:
                runs.row = event.row = timed_row(event.row, int(runs.time), event.start)
                self._reach(with_times)
        return done

    def _unread(self, number: int) -> bool:
        """Whether nothing reads a stream, its timed stream apart. O(1)."""
        program = self.program
        directory = program.directory
        return (
            len(directory.spaces[number]) == 0
            and number not in program.machines.entries
            and number not in program.forecasts.scopes
        )

    def _begin_forecasts(self, number: int) -> None:
        """Tell the forecasts of a stream of the current event."""
        forecasts, runs = self.program.forecasts, self.runs
        scopes = forecasts.scopes.get(number)
        if scopes is not None:
            forecasts.begin(scopes, number, runs.row, runs.time)

    def _reach(self, number: i64, machines: bool = True) -> None:
        """Pass the current event to the runs and the machines that read a stream. With times, nothing reads both this
        and the stream without them, so that the event is still the only one of its moment."""
        program = self.program
        self.runs.visit(program.directory.spaces[number])
        entries = program.machines.entries.get(number) if machines else None
        if entries is not None:
            self._compose(entries)

    def _compose(self, entries: list[tuple[Lane, int]]) -> None:
        """Pass the current event to the lanes of its stream."""
        runs = self.runs
        symbols = runs.symbols
        if len(symbols) > 0:
            runs.symbols = []
        item: Any = runs.link if isinstance(runs.link, int) else (int(runs.item), tuple(flattened(runs.link)))
        found = self.results.found
        found.event = runs.index
        for lane, stream in entries:
            lane.take(stream, symbols, runs.row, runs.time, item, found)
        if not self.later and found.settled < found.upto:
            report(self.results, runs.time)

    def go_back(self, time: int | None) -> None:
        """Set the newest time back. The remaining runs have seen no later time. O(runs)."""
        self.runs.go_back(time)
        self.program.machines.close_epoch()
        self.promised = None

    def check_invariants(self) -> None:
        """Raise AssertionError if runs, cells and program contradict each other. O(runs)."""
        self.runs.check_invariants()


def _event_of(fault: Fault) -> int:
    return int(fault.event)
