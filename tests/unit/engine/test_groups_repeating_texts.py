"""Groups of repetitions with a text of their own and another one behind them: members with any texts are one group."""

from __future__ import annotations

import random
from operator import itemgetter
from typing import Any

import pytest

from broker.engine import Engine, Options
from broker.engine.executors.groups.repeating_members import FEW

SCHEMA = {"ty": "string?", "k": "int", "w": "float", "p": "float?", "n": "int"}
WITHOUT = Options(executors_off=("groups",))
RUN = "a[1].ty = '{x}' AND a[i].ty = '{x}'"
RISING = "a[i].p > a[i-1].p AND a[1].p > {c}"
AVERAGE = "a[i].p > avg(a[..i-1].p)"
FORMS = {
    "both": f"{RUN} AND {RISING} AND b.ty = '{{y}}' AND b.w < {{d}}",
    "none behind": f"{RUN} AND {RISING} AND b.w < {{d}}",
    "only behind": f"{RISING} AND b.ty = '{{y}}' AND b.w < {{d}}",
    "the same behind": f"{RUN} AND {RISING} AND b.ty = a[1].ty AND b.w < {{d}}",
    "by another key": f"[k] AND {RUN} AND {RISING} AND b.ty = '{{y}}' AND b.w <= {{d}}",
    "a factor": f"{RUN} AND a[1].p > {{c}} AND {AVERAGE} AND b.ty = '{{y}}' AND b.p < {{f}} * a[a.LEN].p",
    "two starts": f"{RUN} AND a[1].w <= {{d}} AND a[1].p > {{c}} AND {AVERAGE} AND b.ty = '{{y}}' AND b.w < {{d}}",
    "a length": f"{RUN} AND {RISING} AND a.LEN >= {{l}} AND b.ty = '{{y}}'",
    "the last event": f"{RUN} AND {RISING} AND b.ty = '{{y}}' AND b.p < a[a.LEN].p AND b.w < {{d}}",
    "integers": f"{RUN} AND a[1].n > {{l}} AND a[i].n > a[i-1].n AND b.ty = '{{y}}' AND b.n < {{l}}",
    "other texts": "a[1].ty = '{x}' AND a[i].ty = '{y}' AND a[1].p > {c} AND b.ty = '{x}' AND b.w < {d}",
}
ONE = frozenset(FORMS) - {"other texts", "the same behind"}  # which are one group for all texts
THREE = "s.ty = '{x}' AND s.p > {c} AND a[1].ty = '{x}' AND a[i].ty = '{x}' AND b.ty = '{y}' AND b.w < {d}"


def text(block: str, parts: str = "S+ a[], S b", names: str = "a[], b", **constants: Any) -> str:
    known = {"x": "A", "y": "B", "c": 1, "d": 5, "f": 0.5, "l": 1} | constants
    return f"PATTERN SEQ({parts}) WHERE skip_till_next_match({names}) {{ {block.format(**known)} }} WITHIN 12"


def three(**constants: Any) -> str:
    return text(THREE, "S s, S+ a[], S b", "s, a[], b", **constants)


def engine_with(*texts: str, options: Options | None = None) -> Engine:
    engine = Engine(options or Options())
    engine.add_stream("S", SCHEMA)
    for number, each in enumerate(texts):
        engine.subscribe(f"s{number}", language="sase", query=each, lineage=True)
    return engine


def found(engine: Engine, times: list[int], *rows: tuple[str | None, float | None, float]) -> list[Any]:
    results = engine.publish("S", times, [(ty, 0, w, p, 0) for ty, p, w in rows])
    return [(match.subscription, match.lineage) for match in results]


def test_members_with_any_texts_are_one_group() -> None:
    block = FORMS["both"]
    engine = engine_with(text(block), text(block, y="C"), text(block, x="C", y="A", c=0), text(block, x="B", y="A"))
    assert engine.statistics()["groups"] == 1
    assert any("a kleene for 4 members, 2 constants each" in line for line in engine.explain())
    assert found(engine, [1, 2, 3], ("A", 2.0, 9.0), ("A", 3.0, 9.0), ("B", 2.0, 1.0)) == [
        ("s0", [1, 2, 3]), ("s0", [2, 3])
    ]  # fmt: skip
    assert found(engine, [4, 5], ("C", 1.0, 1.0), ("A", 1.0, 1.0)) == [
        ("s1", [1, 2, 4]), ("s1", [2, 4]), ("s2", [4, 5]), ("s3", [3, 5])
    ]  # fmt: skip
    engine.check_invariants()


def test_an_event_of_no_text_completes_nothing() -> None:
    block = FORMS["both"]
    engine = engine_with(text(block), text(block, y="C"))
    assert found(engine, [1, 2, 3], ("A", 2.0, 9.0), (None, 9.0, 0.0), ("D", 9.0, 0.0)) == []
    assert found(engine, [4], ("C", None, 0.0)) == [("s1", [1, 4])]


def test_runs_of_a_text_go_with_its_last_member() -> None:
    block = FORMS["both"]
    engine = engine_with(text(block), text(block, x="C"), text(block, x="D"))
    assert found(engine, [1, 2], ("A", 2.0, 9.0), ("C", 2.0, 9.0)) == []
    engine.unsubscribe("s1")
    engine.subscribe("s3", language="sase", query=text(block, x="C"), lineage=True)
    engine.subscribe("s4", language="sase", query=text(block, x="E"), lineage=True)
    engine.check_invariants()
    assert found(engine, [3, 4, 5], ("B", 2.0, 0.0), ("C", 7.0, 9.0), ("B", 2.0, 0.0)) == [
        ("s0", [1, 3]), ("s0", [1, 5]), ("s3", [4, 5])
    ]  # fmt: skip


def test_a_member_has_runs_of_its_text_that_began_when_it_had_come() -> None:
    block = FORMS["both"]
    engine = engine_with(text(block), text(block, y="C"))
    assert found(engine, [1], ("A", 2.0, 9.0)) == []
    engine.subscribe("s2", language="sase", query=text(block), lineage=True)
    assert found(engine, [2, 3], ("A", 3.0, 9.0), ("B", 2.0, 1.0)) == [
        ("s0", [1, 2, 3]), ("s0", [2, 3]), ("s2", [2, 3])
    ]  # fmt: skip
    assert len(list(engine.partial_matches("s0"))) == 2
    assert len(list(engine.partial_matches("s1"))) == 2
    assert len(list(engine.partial_matches("s2"))) == 1


def test_many_members_of_one_text_are_ranked_and_few_again_are_not() -> None:
    block = FORMS["both"]
    engine = engine_with(text(block, x="C"), *[text(block, c=number) for number in range(3 * FEW)])
    assert found(engine, [1, 2], ("A", FEW + 0.5, 9.0), ("B", 2.0, 1.0)) == [
        (f"s{number}", [1, 2]) for number in sorted(range(1, FEW + 2), key=str)
    ]  # fmt: skip
    for number in range(2, 3 * FEW + 1):
        engine.unsubscribe(f"s{number}")
        engine.check_invariants()
    assert found(engine, [3], ("B", 2.0, 1.0)) == [("s1", [1, 3])]


def test_a_limit_of_one_text_is_told_to_all() -> None:
    block = FORMS["both"]
    engine = engine_with(text(block), text(block, x="C"), options=Options(runs_max=1))
    results = engine.publish("S", [1, 2], [("A", 0, 9.0, 3.0, 0), ("A", 0, 9.0, 2.0, 0)])
    assert {match.subscription for match in results if match.limit == "runs_max"} == {"s0", "s1"}


def test_each_text_may_do_the_work_of_one_subscription() -> None:
    """The matches of an event cost more than one account has, and than it earns by an event."""
    texts = [text(FORMS["none behind"], x=f"X{number}") for number in range(20)]
    for off in ((), ("groups",)):
        engine = engine_with(*texts, options=Options(work_max=100, work_earned=30, executors_off=off))
        assert found(engine, [1] * 20, *[(f"X{number}", 2.0, 9.0) for number in range(20)]) == []
        for time in range(2, 9):
            assert len(found(engine, [time], ("B", 0.0, 0.0))) == len(texts)
        for number in range(19):
            engine.unsubscribe(f"s{number}")
        assert found(engine, [9], ("B", 0.0, 0.0)) == [("s19", [20, 28])]


def test_the_plan_of_other_texts_is_made_from_literals() -> None:
    """Texts that are equal by chance say nothing of the next subscription of the same shape."""
    block = FORMS["both"]
    engine = engine_with(*[text(block, x=x, y=y) for x, y in ("AA", "AB", "BB", "BA", "AC", "CA", "CB", "BC", "CC")])
    assert found(engine, [1, 2], ("A", 2.0, 9.0), ("A", 1.0, 0.0)) == [("s0", [1, 2])]
    assert found(engine, [3], ("B", 2.0, 0.0)) == [("s1", [1, 3])]
    assert engine.statistics()["groups"] <= 4  # those with one text are keyed by it


# --- what members would have alone ----------------------------------------------------------------------------------


def row(chance: random.Random, odd: float) -> tuple[Any, ...]:
    return (
        chance.choice(("A", "A", "B", "B", "C", "D", None)),
        chance.choice((0, 0, 1)),
        chance.choice((0.0, 1.0, 2.0, 6.0)),
        chance.choice((0.0, 1.0, 2.0, 3.0, 4.0, 5.0, None)),
        2**60 if chance.random() < odd else chance.randrange(5),
    )


def drawn(chance: random.Random, block: str) -> str:
    drawn: dict[str, Any] = {"x": chance.choice("ABC"), "y": chance.choice("ABC")}
    drawn |= {"c": chance.choice((0, 1, 2)), "d": chance.choice((1, 2, 3, 7)), "l": chance.choice((1, 2, 3))}
    drawn["f"] = chance.choice((0.5, 0.75, 1.5, -1.0))
    return three(**drawn) if block == THREE else text(block, **drawn)


def played(block: str, seed: int, options: Options) -> list[Any]:
    """All results with their ids, and the waiting runs: members come and go, and the engine is saved."""
    chance = random.Random(seed)
    many = chance.choice((6, 12, 30))
    engine = engine_with(*[drawn(chance, block) for _ in range(many)], options=options)
    here = [f"s{number}" for number in range(many)]
    odd = chance.choice((0.0, 0.0, 0.1))
    seen: list[Any] = []
    time = 0
    for step in range(12):
        times, rows = [], []
        for _ in range(chance.randrange(1, 9)):
            time += chance.choice((0, 1, 1, 1, 2, 9 if chance.random() < 0.1 else 1))
            times.append(time)
            rows.append(row(chance, odd))
        results = engine.publish("S", times, rows)
        counted = len(results)
        found = [(match.subscription, match, match.id, match.lineage) for match in results]
        assert counted == len(found)
        seen.append(sorted(found, key=itemgetter(0)))  # each one's matches in their order
        for name in here:
            seen.append((name, sorted(engine.partial_matches(name), key=repr)))
        for _ in range(chance.choice((0, 1, 2))):
            engine.unsubscribe(here.pop(chance.randrange(len(here))))
            here.append(f"late{step}.{len(here)}.{chance.random()}")
            engine.subscribe(here[-1], language="sase", query=drawn(chance, block), lineage=True)
        engine.check_invariants()
        if chance.random() < 0.3:
            engine = Engine.restore(engine.snapshot(), options)
            engine.check_invariants()
    return seen


@pytest.mark.parametrize("form", [*FORMS, "three"])
def test_members_have_what_they_would_have_alone(form: str) -> None:
    block = FORMS.get(form, THREE)
    matches = 0
    for seed in range(6):
        wanted = played(block, seed, WITHOUT)
        assert played(block, seed, Options()) == wanted
        matches += sum(len(each) for each in wanted if isinstance(each, list))
    assert matches > 20


@pytest.mark.parametrize("form", sorted(ONE))
def test_each_form_is_one_group(form: str) -> None:
    pairs = [(x, y) for x in "ABCD" for y in "EFGH"]
    engine = engine_with(*[text(FORMS[form], x=x, y=y, c=n, d=n, l=n, f=n) for n, (x, y) in enumerate(pairs)])
    assert engine.statistics()["groups"] == 1
    assert engine.statistics()["group_members"] == len(pairs)
