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

from ...algebra.timed_stream import timed, timed_row
from ...events.batch import Batch, batch_of_rows
from ...events.schema import Row
from ..executors.batch_events import Fault
from ..executors.event_ids import EventIds
from ..executors.matches import flattened
from ..program.directory import NO_STREAM
from ..program.program import Program
from ..results import Results
from ..subscribing.subscriber import ResultIds
from .batch_path import Entry
from .derived import in_order, report
from .foretelling import ForetoldEvents
from .time_order import TimeOrder

BEFORE: Final = -(1 << 62)  # earlier than any event
NO_COLUMNS: Final = -1
SOME: Final = 16  # events, until columns are tried again


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
        self._faults: list[Fault] = []  # those on the machine path
        self._feeding = True  # whether a stream of machines' results may have a reader
        self._known = False
        self._apart = False  # the machines had their turn with the whole batch
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
        runs = self.runs
        directory = self.program.directory
        number = directory.stream(stream)
        with_times: i64 = directory.timed[number]
        rows: list[Row] = []
        if with_times >= 0:
            rows = batch.rows()
        plain = rows
        if with_times >= 0:
            rows = [timed_row(rows[at], times[at], starts[at]) for at in range(len(rows))]
            batch = batch_of_rows(rows)
            if self._unread(number):
                plain = rows
                number, stream = int(with_times), timed(stream)
                with_times = NO_STREAM
        before = self.results.tally_after(times[0] if times else None)
        results = Results(times, batch, ids, starts, before, self.result_ids)
        found = runs.found = results.found
        found.make_room(self.results.found)
        self.results = results
        spaces = directory.spaces[number]
        machines = self.program.machines
        clock = machines.clock
        entries = machines.entries.get(number)
        forecasts = self.program.forecasts
        foretold = len(forecasts.scopes) > 0
        scopes = forecasts.scopes.get(number)
        found.feeding = self.feeds()
        alone = directory.others[number] == 0
        self.later = self.program.options.batches and not self._feeding and not foretold
        if with_times >= 0 and (not alone or directory.others[with_times] > 0):
            self.later = False
        found.later = self.later
        n: i64 = len(times)
        now: i64 = BEFORE if runs.now is None else runs.now
        done: i64 = 0
        first: i64 = 0
        matching = entries is not None
        plainly = matching and self.later and with_times < 0
        apart = self._apart = plainly and n > 1 and self._pass_by_machine(stream, results, batch, alone)
        if apart:
            entries = None
            if alone:  # no cell has anything to do with the events
                first = n
                now = times[n - 1]
                runs.now = now
                if runs.due < now:
                    runs.expire(now)
                runs.time = now
        elif plainly and alone:
            first = machines.batch_path(stream).travel(found, times, batch, ids, now)
            if first > 0:
                now = times[first - 1]
                runs.now = now
                if runs.due < now:
                    runs.expire(now)
                runs.time = now
                if self.give_up(results, first - 1):
                    entries = machines.entries.get(number)
        upto: i64 = NO_COLUMNS
        if entries is None and with_times < 0 and starts is times:
            upto = self._last_epoch(times)
            runs.foretold = None
            if foretold and upto != NO_COLUMNS:
                runs.foretold = ForetoldEvents(forecasts, number, results)
        if upto == NO_COLUMNS and first < n:
            rows = batch.rows()
            if with_times < 0:
                plain = rows
        given = len(plain) > 0
        numbers = ids.all() if given and first < n else []
        again: i64 = 0
        i = first - 1
        while i + 1 < n:
            i += 1
            time: i64 = times[i]
            if i < upto and time > now and i >= again:
                behind = runs.stretch(number, i, upto)
                if behind == i:
                    again = i + SOME
                else:
                    i = behind - 1
                    now = times[i]
                    runs.now = now
                    if runs.due < now:
                        runs.expire(now)
                    if done < len(found.derived):
                        done = self.derive(results, n, done)
                    if runs.foretold is not None:
                        runs.foretold.ends(i)
                    if len(found.faults) > 0 and self.give_up(results, i):
                        spaces = directory.spaces[number]
                        entries = None if apart else machines.entries.get(number)
                        scopes = forecasts.scopes.get(number)
                        foretold = len(forecasts.scopes) > 0
                    if len(found.derived) > 0 or len(found.faults) > 0:
                        upto = NO_COLUMNS
                    continue
            runs.alone = False
            if time > now:
                now = time
                if clock.next < time:
                    found.event = i
                    done = self.wake(results, n, done, time)
                runs.now = time
                if runs.due < time:
                    runs.expire(time)
                # The last event of a batch is never alone: the next batch may continue its epoch.
                runs.alone = i + 1 < n and times[i + 1] > time
            runs.index = i
            runs.time = time
            runs.row = plain[i] if given else batch.row(i)
            runs.start = starts[i]
            runs.length = time - runs.start + 1
            if given:
                runs.item = numbers[i]
                runs.link = numbers[i]
            else:
                runs.item = ids.at(i)
                runs.link = int(runs.item)
            if scopes is not None:
                forecasts.begin(scopes, number, runs.row, time)
            runs.visit(spaces)
            if entries is not None:
                self._compose(entries)
            if with_times >= 0:
                self._read_with_times(with_times, rows[i])
            if done < len(found.derived):
                done = self.derive(results, n, done)
            if foretold:
                for target, notice in forecasts.finish(time):
                    results.notify(i, target, notice)
            if len(found.faults) > 0 and self.give_up(results, i):
                spaces = directory.spaces[number]
                entries = None if apart else machines.entries.get(number)
                scopes = forecasts.scopes.get(number)
                foretold = len(forecasts.scopes) > 0
        if apart:
            runs.symbols = []  # the machines have had the events
        if self._faults:
            self._give_up_machines(results)
        return results

    def _pass_by_machine(self, stream: str, results: Results, batch: Batch, alone: bool) -> bool:
        """Pass a batch to one machine of the stream after the other; False if that could mix up what others do, or one
        machine is all that there is."""
        machines, found, times = self.program.machines, results.found, results.found.times
        path = machines.batch_path(stream)
        if self.program.directory.feeds > 0 or (path.alone and alone):  # derived events come between the batch's
            return False
        if len(machines.entries) > 1 and machines.clock.next < times[-1]:  # machines of other streams have to wake
            return False
        by_machine = path.by_machine()
        if by_machine is None:
            return False
        if not by_machine.travel(found, times, batch, found.ids, found.starts):
            return False
        found.unordered = True
        self._faults, found.faults = found.faults, []
        return True

    def _give_up_machines(self, results: Results) -> None:
        """Suspend the subscriptions of machines that failed on the machine path, after everything else of the batch."""
        runs = self.runs
        newest = runs.time
        for fault in sorted(self._faults, key=_event_of):
            runs.time = results.found.times[fault.event]
            results.found.faults.append(fault)
            self.give_up(results, fault.event)
        runs.time = newest
        self._faults = []

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

    def give_up(self, results: Results, event: i64) -> bool:
        """Suspend the subscriptions behind the errors raised at this event; returns whether there were any."""
        if len(results.found.faults) == 0 or self.suspend is None:
            return False
        if not self._apart:  # otherwise what the machines found is put in order at the end
            report(results, self.runs.time)
            results.read()
        self.suspend(results, event)
        return True

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
            runs.now = runs.time = moment
            if runs.due < moment:
                runs.expire(moment)
            clock.advance(moment + 1, results.found)
            report(results, moment)
            done = self.derive(results, events, done)
        return done

    def derive(self, results: Results, events: i64, done: i64) -> i64:
        """Process the derived events from number `done` on, and those that they cause; returns how many there are."""
        directory, forecasts, runs = self.program.directory, self.program.forecasts, self.runs
        all_entries = self.program.machines.entries
        found = results.found
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
            number = event.stream
            scopes = forecasts.scopes.get(number)
            if scopes is not None:
                forecasts.begin(scopes, number, runs.row, runs.time)
            runs.visit(directory.spaces[number])
            entries = all_entries.get(number)
            if entries is not None:
                self._compose(entries)
            with_times: i64 = directory.timed[number]
            if with_times >= 0:
                event.row = timed_row(event.row, int(runs.time), event.start)
                self._read_with_times(with_times, event.row)
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

    def _read_with_times(self, number: i64, row: Row) -> None:
        """Pass the current event, with its times in its row, to the readers of the timed stream: nothing reads both
        this and the stream, so that the event is still the only one of its moment."""
        program, runs = self.program, self.runs
        runs.row = row
        runs.visit(program.directory.spaces[number])
        entries = program.machines.entries.get(number)
        if entries is not None:
            self._compose(entries)

    def _compose(self, entries: list[Entry]) -> None:
        """Pass the current event to the lanes of its stream."""
        runs = self.runs
        symbols = runs.symbols
        if len(symbols) > 0:
            runs.symbols = []
        item: Any = runs.link if isinstance(runs.link, int) else (int(runs.item), tuple(flattened(runs.link)))
        found = self.results.found
        found.event = runs.index
        for entry in entries:
            entry.lane.take(entry.stream, symbols, runs.row, runs.time, item, found)
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
