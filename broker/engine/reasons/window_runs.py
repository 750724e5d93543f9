"""Windows over the events of a partition: where prefix and body matched, and what stopped those that did not close.

What is blamed for an event that a window cannot have is the least change of it with which the window would go on: the
conditions that would have to hold and do not, and those that hold and would have to fail. Not here: which events there
are (probe), the tables (automaton.windows).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple, final

from ...algebra.normal_form import Form
from ...algebra.predicate import condition, holds
from ...algebra.terms import Conjunction, Constant, Negation, Term, describe
from ...automaton.windows.window_automaton import DEAD, WindowAutomaton, WindowPart
from ...events.instant import format_distance, format_duration
from ...events.schema import Value
from ..executors.reference.run import SeenEvent
from ..match import Match
from ..matches.sources import ids
from ..subscribing.subscriber import Subscriber
from .budget import ReasonsBudget
from .conditions import JudgedCondition, conjuncts, judged, numbers
from .explaining import Candidate, Explainer, Question
from .probe import EventProbe
from .steps import Step
from .told import NEAREST_MAX, Nearest, UntakenEvent, WindowPlace

CONSECUTIVE: Final = "a window has all events between its first and its last one"


class _Letter(NamedTuple):
    """An event with what its conditions read, the conditions that it satisfies as bits, and their column."""

    event: SeenEvent
    slots: tuple[Any, ...]
    bits: int
    column: int


class _Attempt(NamedTuple):
    """A window that an event begins: the numbers of its part, of the events before it, and the states of the body
    before its first event and behind each. `ended`: why it can have no more, "" if it waits; `by` what, if an event."""

    part: int
    first: int
    prefix: int
    body: tuple[int, ...]
    ended: str
    by: _Letter | None


@final
class WindowRuns(Explainer):
    """`waiting`: the windows that are told only since the events have ended."""

    def __init__(self, subscriber: Subscriber, probe: EventProbe, budget: ReasonsBudget) -> None:
        self.budget = budget
        (self.automaton,) = subscriber.automata()
        windows = self.automaton.windows
        assert windows is not None
        self.windows: WindowAutomaton = windows
        self.probe = probe
        self._width = len(self.automaton.sources[0].schema.attributes)
        self._conditions = [condition(form) for form in windows.atoms]
        self._terms = [_term(form) for form in windows.atoms]
        self._columns = dict(windows.classes)
        self._away = [_distances(part, windows.columns) for part in windows.parts]

    def watch(self, results: Any) -> None:
        self.probe.take(results)

    # --- events -----------------------------------------------------------------------------------------------------

    def _letters(self, part: Sequence[SeenEvent]) -> list[_Letter]:
        back = self.windows.back
        nothing = (None,) * self._width
        found: list[_Letter] = []
        for at, event in enumerate(part):
            before = [part[at - k] if at >= k else None for k in range(1, back + 1)]
            rows = [nothing if each is None else each.row for each in before]
            times = [None if each is None else each.end for each in before]
            slots = (*rows, event.end, *times)
            bits = sum(1 << n for n, one in enumerate(self._conditions) if holds(one, event.row, (), slots, 0, 0))
            found.append(_Letter(event, slots, bits, self._columns[bits]))
        return found

    def _judged(self, term: Term, letter: _Letter) -> JudgedCondition:
        return judged(term, (letter.event.row, (), letter.slots, 0, 0))

    def _satisfied(self, letter: _Letter) -> tuple[JudgedCondition, ...]:
        terms = [term for n, term in enumerate(self._terms) if letter.bits >> n & 1]
        return tuple([self._judged(term, letter) for term in terms])

    def _blamed(self, letter: _Letter, number: int, state: int) -> tuple[JudgedCondition, ...]:
        """The least change of an event with which a body in this state would go on."""
        body, columns = self.windows.parts[number].body, self.windows.columns
        able = [bits for bits, column in self._columns.items() if body[state * columns + column] != DEAD]
        if not able:
            return ()
        wanted = min(able, key=lambda bits: ((bits ^ letter.bits).bit_count(), bits))
        changed = [n for n in range(len(self._terms)) if (wanted ^ letter.bits) >> n & 1]
        terms = [self._terms[n] if wanted >> n & 1 else Negation(self._terms[n]) for n in changed]
        return tuple([each for each in (self._judged(term, letter) for term in terms) if not each.holds])

    # --- a match ----------------------------------------------------------------------------------------------------

    def steps(self, match: Match) -> tuple[tuple[Step, ...], WindowPlace | None] | None:
        lineage = match.lineage or []
        for part in self.probe.partitions_with(lineage):
            letters: list[_Letter] = []
            for first, upto in _spans(part, lineage):
                letters = letters or self._letters(part)
                for place in self._places(letters, first, upto, match):
                    return tuple(self._told(letters, first, upto, place)), place
        return None

    def _places(self, letters: Sequence[_Letter], first: int, upto: int, match: Match) -> Iterator[WindowPlace]:
        clock = self.windows.clock
        if clock is not None:
            begins = range(match.end - (match.end - clock.offset) % clock.slide, match.start - clock.size, -clock.slide)
            inside = [begin for begin in begins if begin <= match.start and match.end < begin + clock.size]
            yield from [WindowPlace(clock=(begin, begin + clock.size)) for begin in inside]
            return
        for begun in [each for each in self._begun(letters) if each[1] == first]:
            attempt = self._attempt(letters, *begun)
            body = attempt.body[: upto - first + 1]
            if len(body) == upto - first + 1 and self._is_window(letters, attempt, upto):
                yield WindowPlace(attempt.part, first, attempt.prefix, body, self.windows.keep)

    def _is_window(self, letters: Sequence[_Letter], attempt: _Attempt, upto: int) -> bool:
        part = self.windows.parts[attempt.part]
        long = letters[upto - 1].event.end - letters[attempt.first].event.end
        enough = upto - attempt.first >= part.least and (part.within is None or long <= part.within)
        return enough and part.final[attempt.body[upto - attempt.first]]

    def _told(
        self, letters: Sequence[_Letter], first: int, upto: int, place: WindowPlace, whole: bool = True
    ) -> list[Step]:
        """The steps of a window; not `whole` if it may have too few events yet."""
        found: list[Step] = []
        for at in range(first, upto):
            event = letters[at].event
            conditions = [*self._satisfied(letters[at]), *self._bounds(letters, first, at, place)]
            if whole and at == upto - 1 and place.clock is None:
                conditions += self._enough(place.part, upto - first)
            name = f"event {at - first + 1}"
            found.append(
                Step(tuple(ids(event.item)), event.stream, event.end, name, tuple(conditions), (), 0, CONSECUTIVE)
            )
        return found

    def _bounds(self, letters: Sequence[_Letter], first: int, at: int, place: WindowPlace) -> list[JudgedCondition]:
        time = letters[at].event.end
        if place.clock is not None:
            begin, end = place.clock
            values = f"an event of {time}"
            return [
                numbers(f"from {begin}", values, time, ">=", begin),
                numbers(f"before {end}", values, time, "<", end),
            ]
        part = self.windows.parts[place.part]
        found: list[JudgedCondition] = []
        apart, events = time - letters[first].event.end, at - first + 1
        if part.within is not None:
            text = f"WITHIN {format_duration(part.within)}"
            values = f"{format_distance(apart)} after the first event"
            found.append(numbers(text, values, apart, "<=", part.within))
        if part.most is not None:
            found.append(numbers(f"at most {part.most} events", f"{events} events", events, "<=", part.most))
        return found

    def _enough(self, number: int, events: int) -> list[JudgedCondition]:
        least = self.windows.parts[number].least
        text = f"at least {least} events"
        return [numbers(text, f"{events} events", events, ">=", least)] if least > 1 else []

    # --- windows that did not close ---------------------------------------------------------------------------------

    def _begun(self, letters: Sequence[_Letter]) -> Iterator[tuple[int, int, int, int]]:
        """Where windows begin: the number of the part, of the first event, the state of the prefix before it, and that
        of the body."""
        columns = self.windows.columns
        for number, part in enumerate(self.windows.parts):
            prefix = 0
            for first, letter in enumerate(letters):
                start = part.starts[prefix]
                if start != DEAD:
                    yield number, first, prefix, start
                prefix = part.prefix[prefix * columns + letter.column]

    def _attempt(self, letters: Sequence[_Letter], number: int, first: int, prefix: int, start: int) -> _Attempt:
        """A window that an event begins, as far as it can go."""
        part, columns = self.windows.parts[number], self.windows.columns
        body = [start]
        for at in range(first, len(letters)):
            letter = letters[at]
            apart = letter.event.end - letters[first].event.end
            if part.within is not None and apart > part.within:
                text = f"WITHIN {format_duration(part.within)} has passed"
                return _Attempt(number, first, prefix, tuple(body), text, None)
            if part.most is not None and at - first >= part.most:
                return _Attempt(number, first, prefix, tuple(body), f"it has {part.most} events, the most", None)
            following = part.body[body[-1] * columns + letter.column]
            if following == DEAD:
                return _Attempt(number, first, prefix, tuple(body), "the next event does not fit", letter)
            body.append(following)
        return _Attempt(number, first, prefix, tuple(body), "", None)

    def candidates(self, question: Question) -> list[Candidate]:
        """O(events squared) if windows can be as long as the partition, else O(events), as far as the budget goes."""
        found: list[Candidate] = []
        begun = [
            (letters, place)
            for letters in [self._letters(part) for part in self.probe.partitions()]
            for place in self._begun(letters)
            if question.has_key(letters[place[1]].event)
        ]
        begun.sort(key=lambda each: question.first_asked(each[0][each[1][1]].event))
        for letters, place in self.budget.paid(begun):
            attempt = self._attempt(letters, *place)
            self.budget.spend(len(attempt.body))
            upto = attempt.first + len(attempt.body)
            ends = range(attempt.first + 1, upto)
            if len(attempt.body) > 1 and not any(self._is_window(letters, attempt, end) for end in ends):
                found.append(self._candidate(letters, attempt, question))
        return found

    def _candidate(self, letters: Sequence[_Letter], attempt: _Attempt, question: Question) -> Candidate:
        part, events = self.windows.parts[attempt.part], len(attempt.body) - 1
        missing = max(self._away[attempt.part][attempt.body[-1]], part.least - events)
        inside = letters[attempt.first : attempt.first + events]
        taken = [number for letter in inside for number in ids(letter.event.item)]
        near = question.near(taken, missing, letters[attempt.first].event.number)
        return Candidate(near, lambda: self._nearest(letters, attempt, missing))

    def _nearest(self, letters: Sequence[_Letter], attempt: _Attempt, missing: int) -> Nearest:
        part, state = self.windows.parts[attempt.part], attempt.body[-1]
        upto = attempt.first + len(attempt.body) - 1
        place = WindowPlace(attempt.part, attempt.first, attempt.prefix, attempt.body, self.windows.keep)
        steps = self._told(letters, attempt.first, upto, place, False)
        refused: list[UntakenEvent] = []
        if attempt.by is not None:
            blamed = self._blamed(attempt.by, attempt.part, state)
            if blamed:
                name = f"event {len(attempt.body)}"
                refused.append(UntakenEvent(tuple(ids(attempt.by.event.item)), name, blamed))
        waits = self._awaited(attempt.part, state, part.least - upto + attempt.first) if attempt.ended == "" else ()
        ended_by = () if attempt.by is None else tuple(ids(attempt.by.event.item))
        return Nearest(
            tuple(steps), missing, attempt.ended or "it still waits", ended_by, waits, tuple(refused), f"body {state}"
        )

    def _awaited(self, number: int, state: int, lacking: int) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What an event must fulfil to bring a body nearer to its end, in the fewest conditions."""
        part, columns, away = self.windows.parts[number], self.windows.columns, self._away[number]
        if part.final[state]:
            return (((f"{lacking} more events", ()),)) if lacking > 0 else ()
        nearer = {column for column in range(columns) if _is_nearer(part, columns, away, state, column)}
        found: dict[tuple[str, ...], str] = {}
        for bits in sorted([bits for bits, column in self._columns.items() if column in nearer], key=int.bit_count):
            told: list[str] = []
            for n, term in enumerate(self._terms):
                other = self._columns.get(bits ^ 1 << n)
                if other is not None and other not in nearer:
                    told.append(describe(term if bits >> n & 1 else Negation(term)))
            target = part.body[state * columns + self._columns[bits]]
            found.setdefault(tuple(told), f"body {target}")
        return tuple([(name, texts) for texts, name in found.items()][:NEAREST_MAX])

    def beginnings(self, question: Question) -> list[UntakenEvent]:
        found: list[UntakenEvent] = []
        for events in self.probe.partitions():
            letters = self._letters(events)
            for begun in self._begun(letters):
                attempt = self._attempt(letters, *begun)
                event = events[attempt.first]
                if len(attempt.body) > 1 or not (question.wants(event) and question.has_key(event)):
                    continue
                blamed = self._blamed(letters[attempt.first], attempt.part, attempt.body[0])
                if blamed:
                    found.append(UntakenEvent(tuple(ids(event.item)), "event 1", blamed))
        return found


def _term(form: Form) -> Term:
    """A condition as one term."""
    parts: list[Term] = conjuncts(form)
    value: Value = True
    if not parts:
        return Constant(value, "bool")
    return parts[0] if len(parts) == 1 else Conjunction(tuple(parts))


def _spans(part: Sequence[SeenEvent], lineage: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Where the events with these ids are, one after the other: the first position, and that behind the last."""
    for first in range(len(part)):
        at, upto = 0, first
        while at < len(lineage) and upto < len(part):
            own = ids(part[upto].item)
            if own != lineage[at : at + len(own)]:
                break
            at, upto = at + len(own), upto + 1
        if at == len(lineage):
            yield first, upto


def _distances(part: WindowPart, columns: int) -> list[int]:
    """The least number of events that lead from each state of the body to a final one. All states have a way there."""
    away = [0 if final else -1 for final in part.final]
    distance = 0
    while -1 in away:
        before = list(away)
        for state, known in enumerate(before):
            following = part.body[state * columns : (state + 1) * columns]
            if known == -1 and any(target != DEAD and before[target] == distance for target in following):
                away[state] = distance + 1
        if away == before:
            break
        distance += 1
    return away


def _is_nearer(part: WindowPart, columns: int, away: list[int], state: int, column: int) -> bool:
    target = part.body[state * columns + column]
    return target != DEAD and away[target] < away[state]
