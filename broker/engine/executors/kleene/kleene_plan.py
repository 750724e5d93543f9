"""The plan of this executor for a line of operands: the tests of each edge, and the key of runs (semantics 2.3).

begin: forward from a single operand or from the first state of a Kleene pair; take: the loop of its second state;
proceed: onwards from there without consuming an event. Proceed peeks at the current event: it applies if the event
begins the next operand, or is neither taken nor ignored. The strategy alone decides whether an event is ignored.

Here: the part of each edge that an index tests (inputs), and the rest; immutable, made once a subscription. Not here:
the definition and analyses of an automaton (broker.automaton), runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ....algebra.normal_form import ALWAYS, Form
from ....automaton.analyses.keys import KeyPart, key_parts, places, within_key
from ....automaton.analyses.line import line_of, place_of
from ....automaton.automaton import Arc, Automaton, Kind, SlotSource, Stay
from ....events.errors import LimitExceeded

STRICT: Final = 0
PARTITION: Final = 1
NEXT: Final = 2
ANY: Final = 3
INPUTS_MAX: Final = 62  # bits of a machine number
STRATEGIES: Final = {Stay.NONE: STRICT, Stay.FOREIGN: PARTITION, Stay.UNTAKEN: NEXT, Stay.ALL: ANY}


@dataclass(frozen=True, slots=True)
class KeyedInput:
    """A condition on an event of a stream alone: `guard`, for an index that all subscriptions share.

    It also says where the event has the parts of the key.
    """

    stream: str
    guard: Form
    key: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OperandStep:
    """An operand. `begin` and `take` are inputs; `take` is -1 if it is single.

    `begin_rest` and `take_rest` are the rest of their guards beside input and key, `end` the guard of proceed; all
    three read the run's registers. `begun` and `taken`, which is () for a single operand, fill the slots.
    """

    strategy: int
    begin: int
    begin_rest: Form
    begun: tuple[SlotSource, ...]
    take: int
    take_rest: Form
    taken: tuple[SlotSource, ...]
    end: Form


@dataclass(frozen=True, slots=True)
class ForbiddenEvents:
    """The events that are forbidden after `place` operands.

    `input` finds them, with the parts of the key that they share with the match, `parts`, ascending. If `rest` is
    ALWAYS, the newest of them decides; otherwise `rest` is tested with the registers of the whole match.
    """

    place: int
    input: int
    parts: tuple[int, ...]
    rest: Form


@dataclass(frozen=True, slots=True)
class KleenePlan:
    """A whole automaton; `automaton` is the rest of it within a key. `inputs` each once.

    `key` are the parts of the key, those of the partition first.
    """

    automaton: Automaton
    inputs: tuple[KeyedInput, ...]
    steps: tuple[OperandStep, ...]
    negations: tuple[ForbiddenEvents, ...]
    key: tuple[KeyPart, ...]


def compile_kleene(whole: Automaton, keyed: bool = True) -> KleenePlan:
    """The plan of an automaton that is a line. O(its size squared). Raises LimitExceeded beyond INPUTS_MAX inputs.

    With `keyed` false each run tests equality joins.
    """
    parts = key_parts(whole, keyed)
    automaton = within_key(whole, parts)
    inputs: dict[KeyedInput, int] = {}

    def number(arc: Arc, at: dict[int, int]) -> int:
        return inputs.setdefault(KeyedInput(arc.stream, arc.guard, tuple(at.values())), len(inputs))

    steps: list[OperandStep] = []
    line = line_of(automaton)
    for link in line:
        begin, take, proceed = link.begin, link.take, link.proceed
        key = places(automaton, parts, begin)
        steps.append(
            OperandStep(
                STRATEGIES[automaton.states[begin.source].stay],
                number(begin, key),
                begin.rest,
                begin.update,
                -1 if take is None else number(take, key),
                ALWAYS if take is None else take.rest,
                () if take is None else take.update,
                ALWAYS if proceed is None else proceed.guard,
            )
        )
    negations: list[ForbiddenEvents] = []
    for arc, left in zip(whole.arcs, automaton.arcs):
        if arc.kind == Kind.KILL:
            at = places(whole, parts, arc)
            negations.append(ForbiddenEvents(place_of(line, arc), number(left, at), tuple(at), left.rest))
    if len(inputs) > INPUTS_MAX:
        raise LimitExceeded(f"a pattern has {len(inputs)} different conditions on single events, at most {INPUTS_MAX}")
    return KleenePlan(automaton, tuple(inputs), tuple(steps), tuple(negations), parts)
