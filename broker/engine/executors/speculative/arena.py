"""The arena: the records of nodes, of all keys of an automaton, side by side in packed columns.

A node is a run that an event led to. Its record is a stretch of `words`: the time and number of the run's first event,
the state, which registers are null, the integer registers, the digest of the events that it took, and a link to these.
Float registers are in `numbers`, other ones in `objects`. Records are written at the end and never changed; what
nothing refers to any more is left behind when the others are moved (compaction).

Here: columns and records. Hot. Not here: what is computed with them (nodes), which ones are alive (compaction).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final, final

from mypy_extensions import i64

from ....algebra.computation import Slots
from ....automaton.automaton import Automaton
from ..packed import Floats, Integers, floats, integers, roomy, roomy_floats

with suppress(ImportError):  # interpreted code works without it
    from librt.vecs import vec

COMPILED: Final[bool] = not __file__.endswith(".py")
ROOM: Final = 32  # nodes for which a new arena has room
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

if not COMPILED:
    globals()["vec"] = {float: list, i64: list}  # `vec[float](...)` makes a list


def zeros(count: i64) -> Integers:
    return vec[i64]([0] * count)


def unknowns(count: i64) -> Integers:
    """A column of -1."""
    return vec[i64]([-1] * count)


def marks(unmarked: i64, marked: i64) -> Integers:
    """A column of zeros and then ones."""
    return vec[i64]([0] * unmarked + [1] * marked)


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


@final
class Arena:
    """`top`: the number of nodes. `links` has pairs: the link before, and the id of an event; `linked` counts them."""

    def __init__(self, layout: NodeLayout) -> None:
        self.layout = layout
        self.top: i64 = 0
        self.room: i64 = 0
        self.words: Integers = integers()
        self.numbers: Floats = floats()
        self.objects: list[object] = []
        self.links: Integers = zeros(2 * ROOM)
        self.linked: i64 = 0
        self.reserve(ROOM)

    def reserve(self, nodes: i64) -> None:
        """Make room for that many nodes in all. O(1), amortised. Columns fetched before are stale then."""
        if nodes <= self.room:
            return
        layout = self.layout
        self.room = max(2 * self.room, nodes)
        self.words = roomy(self.words, self.room * layout.stride)
        self.numbers = roomy_floats(self.numbers, self.room * layout.floats)
        if layout.objects > 0:
            missing: list[object] = [None] * (self.room * layout.objects - len(self.objects))
            self.objects.extend(missing)

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

    def registers(self, node: i64) -> Slots:
        """The registers of a node as values."""
        return read_registers(self.layout, self.words, self.numbers, self.objects, node)

    def write_registers(self, node: i64, values: Slots) -> None:
        i: i64
        for i in range(len(self.layout.banks)):
            self.store(node, i, values[i])

    def store(self, node: i64, register: i64, value: Any) -> None:
        """Set a register of a record that is being written."""
        store(self.layout, self.words, self.numbers, self.objects, node, register, value)

    def merges(self, one: i64, other: i64) -> bool:
        """Whether two nodes of one first event are in one state with equal registers."""
        layout = self.layout
        words = self.words
        a, b = one * layout.stride, other * layout.stride
        i: i64
        for i in range(STATE, layout.trace):
            if words[a + i] != words[b + i]:
                return False
        return self._equal_registers(one, other)

    def same(self, one: i64, other: i64) -> bool:
        """Whether two nodes are the same run, in the same state."""
        layout = self.layout
        words = self.words
        a, b = one * layout.stride, other * layout.stride
        i: i64
        for i in range(layout.link):
            if words[a + i] != words[b + i]:
                return False
        return self._equal_registers(one, other)

    def _equal_registers(self, one: i64, other: i64) -> bool:
        layout = self.layout
        i: i64
        if layout.floats > 0:
            numbers = self.numbers
            for i in range(layout.floats):
                if numbers[one * layout.floats + i] != numbers[other * layout.floats + i]:
                    return False
        for i in range(layout.objects):
            if self.objects[one * layout.objects + i] != self.objects[other * layout.objects + i]:
                return False
        return True

    def copy(self, first: i64, count: i64) -> None:
        """Append copies of nodes that follow each other."""
        self.reserve(self.top + count)
        layout = self.layout
        words = self.words
        numbers = self.numbers
        stride = layout.stride
        i: i64
        for i in range(count * stride):
            words[self.top * stride + i] = words[first * stride + i]
        for i in range(count * layout.floats):
            numbers[self.top * layout.floats + i] = numbers[first * layout.floats + i]
        for i in range(count * layout.objects):
            self.objects[self.top * layout.objects + i] = self.objects[first * layout.objects + i]
        self.top += count

    def take(self, words: Integers, numbers: Floats, at: i64) -> None:
        """Append a copy of a record in other columns, without other registers than numbers."""
        self.reserve(self.top + 1)
        stride, counted = self.layout.stride, self.layout.floats
        i: i64
        for i in range(stride):
            self.words[self.top * stride + i] = words[at * stride + i]
        for i in range(counted):
            self.numbers[self.top * counted + i] = numbers[at * counted + i]
        self.top += 1


def read_registers(layout: NodeLayout, words: Integers, numbers: Floats, objects: list[object], node: i64) -> Slots:
    """The registers of a record as values."""
    found: list[object] = []
    i: i64
    for i in range(len(layout.banks)):
        found.append(read_register(layout, words, numbers, objects, node, i))
    return tuple(found)


def read_register(
    layout: NodeLayout, words: Integers, numbers: Floats, objects: list[object], node: i64, register: i64
) -> Any:
    """One of them."""
    bank = layout.banks[register]
    place: i64 = layout.places[register]
    if bank == OBJECT:
        return objects[node * layout.objects + place]
    if words[node * layout.stride + NULLS] & layout.bits[register]:
        return None
    if bank == INTEGER:
        return int(words[node * layout.stride + FIRST + place])
    return numbers[node * layout.floats + place]


def store(
    layout: NodeLayout, words: Integers, numbers: Floats, objects: list[object], node: i64, register: i64, value: Any
) -> None:
    """Set a register of a record."""
    bank = layout.banks[register]
    place: i64 = layout.places[register]
    if bank == OBJECT:
        objects[node * layout.objects + place] = value
        return
    bit: i64 = layout.bits[register]
    at = node * layout.stride + NULLS
    words[at] = words[at] | bit if value is None else words[at] & ~bit
    if bank == INTEGER:
        words[at - NULLS + FIRST + place] = 0 if value is None else value
    else:
        numbers[node * layout.floats + place] = 0.0 if value is None else float(value)
