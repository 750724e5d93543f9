"""Groups whose members compare computed values: of one event, and of an event with an earlier one.

Hypothesis tests on common numbers are in tests/laws; here are the numbers at which floats and integers part.
"""

from __future__ import annotations

import itertools

import pytest

from broker.engine import Engine, Options

ATTRIBUTES = {"ty": "string", "k": "int?", "p": "float?"}
EDGE = 2**53
NUMBERS = (0, 1, -3, EDGE, EDGE + 1, -EDGE - 1, 2**62, 2**62 + 1, -(2**62), None)
FLOATS = (0.0, -0.0, 1.5, 1e308, -1e308, 5e-324, float(EDGE), None)
CONSTANTS = (-1, 0, 1, 2, EDGE - 1)


def found(
    language: str, pattern: str, constants: tuple[object, ...], options: Options
) -> tuple[dict[str, list[int]], int]:
    """By subscription the ends of its matches, and how many groups there were."""
    engine = Engine(options)
    engine.add_stream("S", ATTRIBUTES)
    for number, constant in enumerate(constants):
        engine.subscribe(f"s{number}", language=language, query=pattern.format(constant))
    rows = [("A", *each) for each in zip(itertools.cycle(NUMBERS), FLOATS * 12)]
    rows += [("A", number, other) for number in NUMBERS for other in (2.0, 1e308)]
    ends: dict[str, list[int]] = {}
    for match in engine.publish("S", list(range(len(rows))), rows):
        ends.setdefault(match.subscription, []).append(match.end)
    return ends, engine.statistics()["groups"]


ONE = "FILTER{{{{ty = 'A' AND {} {{}}}}}} S"
NEXT = "FILTER{{{{{} {{}}}}}}(FILTER{{{{ty = 'A'}}}} S NEXT{{{{$2.ty = $1.ty}}}} S)"
LATER = "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) {{{{ [ty] AND a.ty = 'A' AND {} {{}} }}}} WITHIN 7"


@pytest.mark.parametrize(
    ("language", "form", "compared"),
    [
        ("cayuga", ONE, "k + k >"),
        ("cayuga", ONE, "p * k <="),
        ("cayuga", ONE, "abs(p) ="),
        ("cayuga", NEXT, "k - k_1 >"),
        ("cayuga", NEXT, "k_1 - k <="),
        ("cayuga", NEXT, "p - p_1 <"),
        ("cayuga", NEXT, "p_1 - k >="),
        ("cayuga", NEXT, "p * k_1 ="),
        ("cayuga", NEXT, "k_1 + k_1 >"),
        ("sase", LATER, "b.k - a.k >"),
        ("sase", LATER, "b.p - a.p <"),
        ("sase", LATER, "a.k - b.p >="),
        ("sase", LATER, "abs(b.k - a.k) ="),
        ("sase", LATER, "b.p + b.k >"),
    ],
)
def test_numbers_at_which_floats_and_integers_part(language: str, form: str, compared: str) -> None:
    pattern = form.format(compared)
    wanted, none = found(language, pattern, CONSTANTS, Options(executors_off=("groups",)))
    grouped, groups = found(language, pattern, CONSTANTS, Options())
    assert grouped == wanted
    assert (groups, none) == (1, 0)
    assert wanted


def test_a_constant_that_floats_do_not_hold_is_no_coordinate() -> None:
    pattern = LATER.format("b.k - a.k >")
    wanted, _ = found("sase", pattern, (EDGE + 1, EDGE + 2, 2**61), Options(executors_off=("groups",)))
    grouped, groups = found("sase", pattern, (EDGE + 1, EDGE + 2, 2**61), Options())
    assert grouped == wanted
    assert groups == 0
