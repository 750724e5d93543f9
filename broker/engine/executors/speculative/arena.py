"""Records of runs, side by side in packed columns; the arena has those of the nodes of all keys of an automaton.

A node is a run that an event led to. Its record is a stretch of `words`: the time and number of the run's first event,
the state, which registers are null, the integer registers, the digest of the events that it took, and a link to these.
Float registers are in `numbers`, other ones in `objects`. In the arena records are written at the end and never
changed; what nothing refers to any more is left behind when the others are moved (compaction). Runs that wait (waiting)
and results that come and go (changes) are copies.

Here: columns and records. Hot. Not here: what is computed with them (nodes), which ones are alive (compaction).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....automaton.automaton import Automaton
from ..packed import Floats, Integers, floats, integers, integers_of, lengthened, roomy, roomy_floats

ROOM: Final = 16  # records for which there is room at first
START: Final = 0
ORDER: Final = 1
STATE: Final = 2
NULLS: Final = 3
FIRST: Final = 4  # of the integer registers
NONE: Final = -1  # the link of a run that has taken no event
MASKED_MAX: Final = 62  # registers whose nulls fit into a word
OBJECT: Final = 0
INTEGER: Final = 1
FLOAT: Final = 2


def zeros(count: i64) -> Integers:
    return lengthened(integers(), count)


def unknowns(count: i64) -> Integers:
    """A column of -1."""
    return integers_of([-1] * count)


def marks(unmarked: i64, marked: i64) -> Integers:
    """A column of zeros and then ones."""
    return integers_of([0] * unmarked + [1] * marked)


@final
class NodeLayout:
    """Where registers are: `banks` and `places` by register. The last two words of a record are digest and link."""

    def __init__(self, automaton: Automaton) -> None:
        self.banks: list[int] = []
        self.places: list[int] = []
        self.bits: list[int] = []  # in the word of nulls
        counts = [0, 0, 0]
        for at, attribute in enumerate(automaton.schema.attributes):
            bank = {"int": INTEGER, "float": FLOAT}.get(attribute.type, OBJECT) if at < MASKED_MAX else OBJECT
            self.banks.append(bank)
            self.places.append(counts[bank])
            counts[bank] += 1
            self.bits.append(0 if bank == OBJECT else 1 << at)
        self.objects: i64 = counts[OBJECT]
        self.integers: i64 = counts[INTEGER]
        self.floats: i64 = counts[FLOAT]
        self.trace: i64 = FIRST + counts[INTEGER]
        self.link: i64 = self.trace + 1
        self.stride: i64 = self.trace + 2


class Records:
    """`count` records, with room for `room`."""

    def __init__(self, layout: NodeLayout) -> None:
        self.layout = layout
        self.count: i64 = 0
        self.room: i64 = 0
        self.words: Integers = integers()
        self.numbers: Floats = floats()
        self.objects: list[object] = []

    def reserve(self, count: i64) -> None:
        """Make room for that many records in all. O(1), amortised. Columns fetched before are stale then."""
        if count <= self.room:
            return
        layout = self.layout
        self.room = max(2 * self.room, count, ROOM)
        self.words = roomy(self.words, self.room * layout.stride)
        self.numbers = roomy_floats(self.numbers, self.room * layout.floats)
        if layout.objects > 0:
            missing: list[object] = [None] * (self.room * layout.objects - len(self.objects))
            self.objects.extend(missing)

    def put(self, source: Records, at: i64, to: i64) -> None:
        """Write a copy of a record to a place that there is room for. O(its size)."""
        layout = self.layout
        stride, counted, others = layout.stride, layout.floats, layout.objects
        words, given = self.words, source.words
        i: i64
        for i in range(stride):
            words[to * stride + i] = given[at * stride + i]
        if counted > 0:
            numbers, told = self.numbers, source.numbers
            for i in range(counted):
                numbers[to * counted + i] = told[at * counted + i]
        for i in range(others):
            self.objects[to * others + i] = source.objects[at * others + i]

    def append(self, source: Records, first: i64, count: i64) -> i64:
        """Add copies of records that follow each other; return where they are. O(these), amortised."""
        to = self.count
        self.reserve(to + count)
        i: i64
        for i in range(count):
            self.put(source, first + i, to + i)
        self.count = to + count
        return to

    def start(self, at: i64) -> i64:
        """The time of the first event of the run there."""
        return self.words[at * self.layout.stride + START]

    def order(self, at: i64) -> i64:
        return self.words[at * self.layout.stride + ORDER]

    def state(self, at: i64) -> i64:
        return self.words[at * self.layout.stride + STATE]

    def digest(self, at: i64) -> i64:
        """The digest of the events that it took."""
        return self.words[at * self.layout.stride + self.layout.trace]

    def registers(self, at: i64) -> Slots:
        """The registers of a record as values."""
        found: list[object] = []
        i: i64
        for i in range(len(self.layout.banks)):
            found.append(self.register(at, i))
        return tuple(found)

    def register(self, at: i64, register: i64) -> Any:
        """One of them."""
        layout = self.layout
        bank = layout.banks[register]
        place: i64 = layout.places[register]
        if bank == OBJECT:
            return self.objects[at * layout.objects + place]
        if self.words[at * layout.stride + NULLS] & layout.bits[register]:
            return None
        if bank == INTEGER:
            return int(self.words[at * layout.stride + FIRST + place])
        return self.numbers[at * layout.floats + place]

    def store(self, at: i64, register: i64, value: Any) -> None:
        """Set a register of a record that is being written."""
        layout, words = self.layout, self.words
        bank = layout.banks[register]
        place: i64 = layout.places[register]
        if bank == OBJECT:
            self.objects[at * layout.objects + place] = value
            return
        bit: i64 = layout.bits[register]
        nulls = at * layout.stride + NULLS
        words[nulls] = words[nulls] | bit if value is None else words[nulls] & ~bit
        if bank == INTEGER:
            words[at * layout.stride + FIRST + place] = 0 if value is None else value
        else:
            self.numbers[at * layout.floats + place] = 0.0 if value is None else float(value)


@final
class Arena(Records):
    """`links` has pairs: the link before, and the id of an event; `linked` counts them."""

    def __init__(self, layout: NodeLayout) -> None:
        super().__init__(layout)
        self.links: Integers = zeros(2 * ROOM)
        self.linked: i64 = 0

    def begin(self, registers: Sequence[Any]) -> i64:
        """Add a run that has taken nothing, with these registers; return where it is."""
        at = self.count
        self.reserve(at + 1)
        first = at * self.layout.stride
        i: i64
        for i in range(self.layout.stride):
            self.words[first + i] = 0
        self.words[first + self.layout.link] = NONE
        for register, value in enumerate(registers):
            self.store(at, register, value)
        self.count = at + 1
        return at

    def link(self, before: i64, id: i64) -> i64:
        """A new link to an event. O(1), amortised."""
        at = self.linked
        links = self.links
        if 2 * at + 2 > len(links):
            links = self.links = roomy(links, 2 * at + 2)
        links[2 * at] = before
        links[2 * at + 1] = id
        self.linked = at + 1
        return at

    def merges(self, one: i64, other: i64) -> bool:
        """Whether two nodes of one first event are in one state with equal registers."""
        return self._equal(one, other, STATE, self.layout.trace)

    def same(self, one: i64, other: i64) -> bool:
        """Whether two nodes are the same run, in the same state."""
        return self._equal(one, other, START, self.layout.link)

    def _equal(self, one: i64, other: i64, begin: i64, end: i64) -> bool:
        """Whether these words and all other registers are equal."""
        layout, words = self.layout, self.words
        a, b = one * layout.stride, other * layout.stride
        i: i64
        for i in range(begin, end):
            if words[a + i] != words[b + i]:
                return False
        if layout.floats > 0:
            numbers = self.numbers
            for i in range(layout.floats):
                if numbers[one * layout.floats + i] != numbers[other * layout.floats + i]:
                    return False
        for i in range(layout.objects):
            if self.objects[one * layout.objects + i] != self.objects[other * layout.objects + i]:
                return False
        return True


def taken(links: Integers, link: i64) -> list[int]:
    """The ids of events, in their order. O(these)."""
    found: list[int] = []
    while link >= 0:
        found.append(int(links[2 * link + 1]))
        link = links[2 * link]
    found.reverse()
    return found
