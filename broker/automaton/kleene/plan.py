"""A pattern compiled into a flat plan (semantics 2.3): the edges of its line of states, with what each has to test.

begin: forward from a single or from the first state of a Kleene pair; take: the loop of its second state; proceed:
onwards from there, consuming nothing, which peeks at the current event: it leads on where that begins the next
component, or where it is neither taken nor ignored. Whether an event is ignored is a matter of strategy alone.

Here: what an index answers of each edge (inputs), what it does not, and the key of runs. Not here: runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from ...algebra.guard import Guard, Join
from ...algebra.kleene import Negated, Pattern
from ...algebra.normal_form import ALWAYS, Form
from ...algebra.terms import Attribute, Comparison, Side
from ...events.errors import LimitExceeded
from .keys import KeyPart, constants, covered, key_parts, narrowed

Numbering: TypeAlias = Callable[[int, Form, tuple[int, ...], tuple[int, ...]], int]

STRICT: Final = 0
PARTITION: Final = 1
NEXT: Final = 2
ANY: Final = 3
INPUTS_MAX: Final = 62  # bits of a machine number
STRATEGIES: Final = {
    "strict_contiguity": STRICT,
    "partition_contiguity": PARTITION,
    "skip_till_next_match": NEXT,
    "skip_till_any_match": ANY,
}


@dataclass(frozen=True, slots=True)
class Input:
    """What an event of a source has to be by itself to be of use: `guard`, for an index that all subscriptions share;
    and where it has the parts of the key."""

    source: int
    guard: Form
    key: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """A positive component. `begin` and `take` are inputs, `take` -1 where it is single; `begin_rest` and `take_rest`
    what input and key leave of their guards, `end` the guard of proceed; all three read registers as the run has them.
    `begin_reads` and the like are the slots in them.
    """

    strategy: int
    begin: int
    begin_rest: Form
    take: int
    take_rest: Form
    end: Form


@dataclass(frozen=True, slots=True)
class Negation:
    """A negated component. Its events are found by `input` and by those parts of the key that they share with the
    match, `parts`, ascending. Where `rest` is ALWAYS the newest of them says everything; else `rest` is tested with
    the registers of the whole match."""

    place: int
    input: int
    parts: tuple[int, ...]
    rest: Form


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole pattern. `inputs` each once; `key` are the parts of the key, of which the first `partitioned` are those
    of the equivalence attributes. `contiguous`: some component asks for adjacent events in a partition; `strict`: in
    the stream."""

    pattern: Pattern
    inputs: tuple[Input, ...]
    steps: tuple[Step, ...]
    negations: tuple[Negation, ...]
    key: tuple[KeyPart, ...]

    @property
    def within(self) -> int | None:
        return self.pattern.within

    @property
    def contiguous(self) -> bool:
        return any(step.strategy == PARTITION for step in self.steps)


def compile_kleene(pattern: Pattern, keyed: bool = True) -> Plan:
    """The plan of a pattern; with `keyed` false equality joins are tested run by run. O(its size squared). Raises
    LimitExceeded beyond INPUTS_MAX inputs."""
    parts = key_parts(pattern)
    if not keyed:
        parts = parts[: len(pattern.partition)]
    inputs: dict[Input, int] = {}
    known = constants(pattern, parts)

    def number(source: int, guard: Form, key: tuple[int, ...], shared: tuple[int, ...]) -> int:
        values = {position: known[part] for part, position in zip(shared, key) if part in known}
        return inputs.setdefault(Input(source, narrowed(guard, pattern.sources[source], values), key), len(inputs))

    every = tuple(range(len(parts)))

    steps: list[Step] = []
    for at, component in enumerate(pattern.components):
        key = tuple(part.positions[at] for part in parts)
        begin, take = component.begin, component.take
        steps.append(
            Step(
                STRATEGIES[component.strategy],
                number(component.source, begin.static, key, every),
                rest(begin, covered(pattern, parts, begin, key)),
                -1 if take is None else number(component.source, take.static, key, every),
                ALWAYS if take is None else rest(take, covered(pattern, parts, take, key)),
                ALWAYS if component.proceed is None else rest(component.proceed, ()),
            )
        )
    negations = tuple(_negation(pattern, parts, negated, number) for negated in pattern.negated)
    if len(inputs) > INPUTS_MAX:
        raise LimitExceeded(f"a pattern has {len(inputs)} different conditions on single events, at most {INPUTS_MAX}")
    return Plan(pattern, tuple(inputs), tuple(steps), negations, parts)


def _negation(pattern: Pattern, parts: tuple[KeyPart, ...], negated: Negated, number: Numbering) -> Negation:
    """Of each part of the key, where the negated events have it, if they do."""
    source = pattern.sources[negated.source]
    found: dict[int, int] = dict(enumerate(source.key))
    for at in range(len(source.key), len(parts)):
        for join in negated.guard.joins:
            if covered(pattern, (parts[at],), replace(negated.guard, joins=(join,)), (join.position,)):
                found[at] = join.position
                break
    shared = tuple(sorted(found))
    positions = tuple(found[at] for at in shared)
    told = covered(pattern, tuple(parts[at] for at in shared), negated.guard, positions)
    given = number(negated.source, negated.guard.static, positions, shared)
    return Negation(negated.place, given, shared, rest(negated.guard, told))


def rest(guard: Guard, told: tuple[Join, ...]) -> Form:
    """What has to be tested of a guard beside its static part and the joins that a key has answered."""
    atoms = tuple(
        Comparison("=", Attribute(Side.EVENT, join.position, join.register.type), join.register)
        for join in guard.joins
        if join not in told
    )
    return tuple(clause + atoms for clause in guard.residual)
