"""What the equivalence tests of a SASE+ query stand for: parts of its partition, or conditions.

`[x]` is a part of the partition: an attribute that the events of all streams have. So is `[a.x = b.y]` if it names
every variable, and no two attributes of one stream: each stream then has its own attribute for that part. Any other
test is the conditions that each of its variables equals the first one; a Kleene variable with all its events.

Here: that choice, on syntax. Not here: types (lowering), where conditions are tested (placement).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...language.sase import syntax as ss
from ...language.syntax import ComparisonExpression, MemberAccess, Name
from ..resolution import PartitionTest, refuse


def partition_tests(query: ss.SaseQuery) -> list[PartitionTest]:
    """The tests that partition the streams, in the order of the text; by stream where attributes have two names."""
    found: list[PartitionTest] = []
    for test in query.equivalence:
        part = test if isinstance(test, Name) else _by_stream(test, query.components)
        if part is not None:
            found.append(part)
    return found


def _by_stream(test: ss.EqualAttributes, components: Sequence[ss.ComponentExpression]) -> dict[str, Name] | None:
    """The attribute of each stream; None if a variable is not named, or a stream would have two."""
    named = {member.variable: member for member in test.members}
    found: dict[str, Name] = {}
    for component in components:
        member = named.get(component.variable)
        if member is None:
            return None
        name = Name(None, member.attribute, member.at)
        if found.setdefault(component.stream, name) != name:
            return None
    return found


def joining_conditions(
    query: ss.SaseQuery, absent: Collection[str], denied: Collection[str], text: str
) -> list[ComparisonExpression]:
    """The conditions that the other tests stand for, without absent variables that are not denied (variants).

    Raises QueryError for a test of negated variables only.
    """
    found: list[ComparisonExpression] = []
    for test in query.equivalence:
        if not isinstance(test, Name) and _by_stream(test, query.components) is None:
            tested = [member for member in test.members if member.variable not in absent or member.variable in denied]
            found += _conditions(test, tested, query.components, {*absent}, text)
    return found


def _conditions(
    test: ss.EqualAttributes,
    members: list[MemberAccess],
    components: Sequence[ss.ComponentExpression],
    absent: set[str],
    text: str,
) -> list[ComparisonExpression]:
    kinds = {component.variable: component.kind for component in components}
    order = {component.variable: number for number, component in enumerate(components)}
    if all(kinds[member.variable] == "negated" for member in test.members):
        message = "expected a variable that is not negated in an equivalence test, found none"
        refuse(text, test.members[0].at, message)
    negated = absent | {variable for variable, kind in kinds.items() if kind == "negated"}
    members.sort(key=lambda member: (member.variable in negated, order[member.variable]))
    if not members or members[0].variable in negated:
        return []
    first, *others = members
    anchor = _events(first, kinds)[0]
    tested = [*_events(first, kinds)[1:], *(event for other in others for event in _events(other, kinds))]
    return [ComparisonExpression("=", event, anchor, event.at) for event in tested]


def _events(member: MemberAccess, kinds: dict[str, ss.Kind]) -> list[MemberAccess]:
    """The attribute of a single event; of a Kleene variable that of the first one and of each further one."""
    subscripts = ("1", "i") if kinds[member.variable] == "kleene" else (None,)
    return [MemberAccess(member.variable, each, member.attribute, None, member.at) for each in subscripts]
