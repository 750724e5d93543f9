"""The models of many subscriptions at one key, in packed columns: counts, rows, numbers of the horizon, runs that wait.

A model is what SubscriptionForecaster keeps in objects, for a subscription that has one key and a form that is packed
(model_form), and a step of it is the same step, to the last digit. An event that concerns a tenth of a hundred thousand
subscriptions reads some ten cache lines of each instead of sixty objects.

Here: the step, estimates, predictions. Hot. Not here: outcomes (packed_outcomes), from objects to columns and back
(packing), which events touch a model (keyed_stream).
"""

from __future__ import annotations

from heapq import heappush
from typing import TYPE_CHECKING, Final, final

from mypy_extensions import i64

from ..events.batch import Floats, Integers, packed_floats, packed_integers
from .chain import TransitionRow, chain_of, distance
from .columns import with_room, with_room_for_floats
from .model_form import ModelForm
from .notifying import Notifier, ResolvedForecast
from .packed_outcomes import PackedOutcomes
from .passage import FEW, first_passage, reached, reached_of_few
from .uncertainty import interval, standard_error

if TYPE_CHECKING:
    from .keyed_stream import KeyedStream, StreamKey
    from .learning_observer import LearningObserver

SLOTS_MAX: Final = 256  # models of a page

# The integers of a model; the runs that wait in each elementary state follow, what was added to each row since it was
# estimated, which rows are of what was counted, and the counts.
SINCE: Final = 0
BASE: Final = 1
SEEN: Final = 2
STATE: Final = 3
WAKE: Final = 4
TOUCHED: Final = 5
MATCHED: Final = 6
ABOVE: Final = 7
ISSUED: Final = 8  # a forecast is outstanding
MOVED: Final = 9  # how many rows are to be estimated
KNOWN: Final = 10  # 1: the numbers of the horizon are those of the rows; 2: that behind a match is; 3: both are
WAITING: Final = 11
DUE: Final = -1  # instead of what was added to a row: it is to be estimated
UNKNOWN: Final = -1  # instead of the kind of a row: none was ever published


@final
class ModelPage:
    """Models of one form, by slot. `observers`: whose they are; `notifiers`: of those that have ever reported."""

    def __init__(self, form: ModelForm, stream: KeyedStream, key: StreamKey) -> None:
        self.form = form
        self.stream = stream
        self.key = key
        self.observers: list[LearningObserver | None] = []
        self.notifiers: list[Notifier | None] = []
        self.outcomes = PackedOutcomes()
        self.count: i64 = 0
        self.free: list[int] = []
        self.touched: Integers = packed_integers([])
        self.touched_upto: i64 = 0
        width = form.width
        self.to_moved: i64 = WAITING + form.states
        self.to_kinds: i64 = self.to_moved + form.states
        self.to_counts: i64 = self.to_kinds + form.states
        self.ints_each: i64 = self.to_counts + width * width
        self.to_weights: i64 = width * width
        self.to_limits: i64 = self.to_weights + form.states
        self.to_reached: i64 = self.to_limits + form.states  # of all states, that behind a match last
        self.floats_each: i64 = self.to_reached + width
        self.ints: Integers = packed_integers([])
        self.floats: Floats = packed_floats([])
        self._masses: Floats = packed_floats([0.0] * int(width))

    # --- members ------------------------------------------------------------------------------------------------

    def begin(self, observer: LearningObserver) -> int:
        """A slot for one more model, whose columns are the caller's to fill. O(1), amortised."""
        slot = self.free.pop() if len(self.free) > 0 else len(self.observers)
        if slot == len(self.observers):
            self.observers.append(None)
            self.notifiers.append(None)
            if len(self.ints) < (slot + 1) * self.ints_each:
                self.ints = with_room(self.ints, (slot + 1) * self.ints_each)
                self.floats = with_room_for_floats(self.floats, (slot + 1) * self.floats_each)
                self.touched = with_room(self.touched, slot + 1)
        self.observers[slot] = observer
        self.outcomes.begin(slot)
        self.count += 1
        return slot

    def end(self, slot: int) -> None:
        """The model leaves. O(its open predictions)."""
        self.outcomes.end(slot)
        self.observers[slot] = self.notifiers[slot] = None
        self.free.append(slot)
        self.count -= 1

    def full(self) -> bool:
        return self.count == SLOTS_MAX

    # --- reports ------------------------------------------------------------------------------------------------

    def entered(self, slot: i64, state: i64, born: i64) -> None:
        """A run that was born in this epoch starts to wait in an elementary state. O(1)."""
        at = slot * self.ints_each
        ints = self.ints
        if born > ints[at + SINCE]:
            ints[at + WAITING + state] += 1
            if ints[at + TOUCHED] == 0:
                self.touch(slot)

    def left(self, slot: i64, state: i64, born: i64) -> None:
        """Such a run stops waiting there. O(1)."""
        at = slot * self.ints_each
        ints = self.ints
        if born > ints[at + SINCE]:
            ints[at + WAITING + state] -= 1
            if ints[at + TOUCHED] == 0:
                self.touch(slot)

    def matched(self, slot: i64, born: i64) -> None:
        """A run that was born in this epoch has matched. O(1)."""
        at = slot * self.ints_each
        if born > self.ints[at + SINCE]:
            self.ints[at + MATCHED] = 1
            self.touch(slot)

    def touch(self, slot: i64) -> None:
        """The model takes a step when the event at hand is done. O(1)."""
        at = slot * self.ints_each
        if self.ints[at + TOUCHED] == 0:
            self.ints[at + TOUCHED] = 1
            self.touched[self.touched_upto] = slot
            self.touched_upto += 1

    # --- steps --------------------------------------------------------------------------------------------------

    def settle(self, time: i64) -> None:
        """Let the models that the event has touched take their step. O(these)."""
        number: i64
        for number in range(self.touched_upto):
            self._settle(self.touched[number], time)
        self.touched_upto = 0

    def _settle(self, slot: i64, time: i64) -> None:
        """As SubscriptionForecaster.settle."""
        form, key, ints, outcomes = self.form, self.key, self.ints, self.outcomes
        at = slot * self.ints_each
        matched = ints[at + MATCHED] == 1
        ints[at + TOUCHED] = ints[at + MATCHED] = 0
        following = form.final
        if not matched:
            following = 0
            place: i64
            for place in range(len(form.order)):
                state = form.order[place]
                if ints[at + WAITING + state] > 0:
                    following = state
                    break
        events = key.events
        if ints[at + SEEN] < events:
            stays = events - 1 - ints[at + SEEN]
            state = ints[at + STATE]
            if stays > 0:
                self._add(slot, state, state, stays)
            self._add(slot, state, following, 1)
            ints[at + SEEN] = events
        ints[at + STATE] = following
        clock = events - ints[at + BASE]
        outcomes.resolve(slot, clock - form.within - (1 if matched else 0), matched)
        if matched or ints[at + ISSUED] == 1:
            self._resolve(slot, clock, time, matched)
        if following == 0:
            if ints[at + ABOVE] == 1:
                ints[at + ABOVE] = 0
                self.notifier(slot).reset(key.run)
        else:
            if ints[at + MOVED] > 0:
                self._refresh(slot)
            if self.floats[slot * self.floats_each + self.to_weights + following] >= form.effective:
                self._forecast(slot, following, clock, time)
        if matched:
            key.due_models.append((self, int(slot)))
        elif ints[at + WAKE] < clock and outcomes.open(slot) > 0:
            wake = outcomes.newest(slot) + form.within
            ints[at + WAKE] = wake
            observer = self.observers[slot]
            assert observer is not None
            heappush(key.count_alarms, (int(wake + ints[at + BASE]), observer.number))

    def _resolve(self, slot: i64, clock: i64, time: i64, matched: bool) -> None:
        ints, run, rare = self.ints, self.key.run, self.outcomes.rarely(slot)
        at = slot * self.ints_each
        notifier = self.notifiers[slot]
        resolved: ResolvedForecast | None = None
        if matched:
            ints[at + ABOVE] = 0
            if notifier is not None:
                resolved = notifier.matched(run, clock)
            rare.matched(resolved is not None and resolved.outcome is True)
        elif notifier is not None:
            resolved = notifier.advance(run, clock, False)
        if resolved is not None:
            ints[at + ISSUED] = 0
            rare.resolved(resolved)
            observer = self.observers[slot]
            assert observer is not None
            observer.report_outcome(resolved, time)
            self.stream.reporting.append(observer)

    def notifier(self, slot: i64) -> Notifier:
        """The notifier of a model, made when it first reports."""
        found = self.notifiers[slot]
        if found is None:
            observer = self.observers[slot]
            assert observer is not None
            found = self.notifiers[slot] = Notifier(observer.identity, self.form.threshold, int(self.form.within))
        return found

    def _forecast(self, slot: i64, state: i64, clock: i64, time: i64) -> None:
        ints, form = self.ints, self.form
        at = slot * self.ints_each
        matched = state == form.final
        chance = self._reached(slot, state)
        self.outcomes.predict(slot, clock, chance, matched)
        if chance <= form.threshold:
            if ints[at + ABOVE] == 0:
                return
            ints[at + ABOVE] = 0
        elif ints[at + ABOVE] == 1:
            return  # the notifier knows that
        else:
            ints[at + ABOVE] = 1
        key = self.key
        number = int(key.events - ints[at + BASE])
        found = self.notifier(slot).update(key.run, clock, time, chance, int(state), number)
        if found is None:
            return
        ints[at + ISSUED] = 1
        observer = self.observers[slot]
        assert observer is not None
        heappush(key.count_alarms, (found.deadline + int(ints[at + BASE]), observer.number))
        rows, horizon = self.rows(slot), int(form.within)
        chain = chain_of(form.shape, rows)
        passage = first_passage(chain, horizon)
        around = interval(chance, standard_error(chain, passage, int(state), horizon))
        outcomes = self.outcomes
        after = outcomes.after_match[slot]
        worse = outcomes.calibration(slot).worse_than_base() if not matched else None
        if matched and after is not None:
            worse = after.worse_than_base()
        label = observer.progress.label(int(state))
        observer.report(found, chance, around, None, None if worse is None else not worse, label, None)
        self.stream.reporting.append(observer)

    # --- estimates ----------------------------------------------------------------------------------------------

    def _add(self, slot: i64, state: i64, following: i64, times: i64) -> None:
        """Count transitions, as Level.add. O(1)."""
        ints, last = self.ints, self.form.width - 1
        at = slot * self.ints_each
        final_state = self.form.final
        row = last if state == final_state else state
        column = last if following == final_state else following
        ints[at + self.to_counts + row * (last + 1) + column] += times
        moved = ints[at + self.to_moved + state]
        if moved >= 0:
            moved += times
            if float(moved) > self.floats[slot * self.floats_each + self.to_limits + state]:
                ints[at + MOVED] += 1
                moved = DUE
            ints[at + self.to_moved + state] = moved

    def _refresh(self, slot: i64) -> None:
        """Bring the rows up to date within the tolerance, as Level.refresh."""
        ints = self.ints
        at = slot * self.ints_each
        state: i64
        for state in range(self.form.states):
            if ints[at + self.to_moved + state] == DUE:
                self._estimate(slot, state)
        ints[at + MOVED] = 0

    def _estimate(self, slot: i64, state: i64) -> None:
        form, ints, floats, masses = self.form, self.ints, self.floats, self._masses
        width, final_state = form.width, form.final
        at, to = slot * self.ints_each, slot * self.floats_each
        row = width - 1 if state == final_state else state
        counts, chances = at + self.to_counts + row * width, to + row * width
        smoothing = form.smoothing
        total = weight = slack = 0.0
        target: i64
        for target in range(width):
            counted = ints[counts + target]
            if counted == 0 and form.follows[state * width + target] == 0:
                masses[target] = 0.0
                continue
            count = float(counted)
            weight += count
            mass = count + smoothing
            total += mass
            masses[target] = mass
        known: i64 = 1 if weight > 0.0 else 0
        kind = ints[at + self.to_kinds + state]
        alike = known == kind
        if known == 1:
            for target in range(width):
                masses[target] = masses[target] / total
                if masses[target] > 0.0 and floats[chances + target] == 0.0:
                    alike = False  # the first transition of its kind
        if kind == UNKNOWN:
            slack = 1.0  # whatever it is
        elif not alike:
            slack = distance(self._row_of(state, masses, 0, weight, known), self.row(slot, state))
        elif known == 1:
            for target in range(width):
                slack += abs(masses[target] - floats[chances + target])
            slack *= 0.5
        if slack > 0.5 * form.tolerance:
            slack = 0.0
            ints[at + self.to_kinds + state] = known
            ints[at + KNOWN] = 0
            for target in range(width):
                floats[chances + target] = masses[target] if known == 1 else 0.0
            if known == 0:
                floats[chances + form.fallback[state]] = 1.0
        floats[to + self.to_weights + state] = weight
        room = form.tolerance - slack
        limit = weight * room / ((1.0 - room) * (1.0 + smoothing)) if room < 1.0 else float("inf")
        floats[to + self.to_limits + state] = limit
        ints[at + self.to_moved + state] = 0

    def _reached(self, slot: i64, state: i64) -> float:
        """P(the next match comes within the horizon | state). O(1) where nothing was published since."""
        form, ints, floats = self.form, self.ints, self.floats
        at, to = slot * self.ints_each, slot * self.floats_each
        base = to + self.to_reached
        horizon = int(form.within)
        if state == form.final:
            if ints[at + KNOWN] & 2 == 0:
                passage = first_passage(chain_of(form.shape, self.rows(slot)), horizon)
                floats[base + form.width - 1] = passage.next(int(state), horizon)
                ints[at + KNOWN] |= 2
            return floats[base + form.width - 1]
        if ints[at + KNOWN] & 1 == 0:
            if form.width == FEW + 1:
                reached_of_few(floats, to, horizon, floats, base)
            else:
                for number, chance in enumerate(reached(self.rows(slot), horizon)):
                    floats[base + number] = chance
            ints[at + KNOWN] |= 1
        return floats[base + state]

    # --- rows as objects ----------------------------------------------------------------------------------------

    def rows(self, slot: i64) -> list[TransitionRow]:
        """The published rows. O(edges)."""
        return [self.row(slot, state) for state in range(self.form.states)]

    def row(self, slot: i64, state: i64) -> TransitionRow:
        """The published row of a state. O(edges)."""
        form, to = self.form, slot * self.floats_each
        at = to + form.place(int(state)) * form.width
        known = self.ints[slot * self.ints_each + self.to_kinds + state]
        return self._row_of(state, self.floats, at, self.floats[to + self.to_weights + state], known)

    def _row_of(self, state: i64, chances: Floats, at: i64, weight: float, known: i64) -> TransitionRow:
        """`known`: whether chances are of what was counted and of all that can follow; else only the fallback does."""
        form = self.form
        if known == 0:
            return TransitionRow((form.state(int(form.fallback[state])),), (1.0,), weight)
        places = [place for place in range(int(form.width)) if chances[at + place] > 0.0]
        targets = tuple([form.state(place) for place in places])
        return TransitionRow(targets, tuple([chances[at + place] for place in places]), weight)

    def check_invariants(self) -> None:
        """Raise AssertionError where columns contradict each other."""
        assert self.touched_upto == 0
        assert self.count == sum(1 for observer in self.observers if observer is not None)
        for slot, observer in enumerate(self.observers):
            if observer is None:
                continue
            at = slot * self.ints_each
            assert observer.page is self
            assert observer.slot == slot
            assert 0 <= self.ints[at + SEEN] <= self.key.events
            moved = [self.ints[at + self.to_moved + state] == DUE for state in range(self.form.states)]
            assert sum(moved) == self.ints[at + MOVED]
            if self.ints[at + self.to_kinds] != UNKNOWN:
                for row in self.rows(slot):
                    assert abs(sum(row.chances) - 1.0) < 1e-9
