"""Chooses the plan of a job from what its subscriptions allow, or refuses a requested one that would change results.

Subscriptions that read what others publish form a set with these, because they need the same engine. A scheme is
admissible for a set if it is admissible for each of its subscriptions. For each set the first admissible one is chosen:

    counts    by key, else by subscription
    results   by key if events are shuffled anyway, else by time; then the other of the two; else by subscription

Here: that choice and its explanation. Not here: reading histories, execution.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, final

from broker.events import DefinitionError, StreamDefinition, shown, suggestion

from ..subscriptions import Subscriptions
from .properties import KeyOf, Properties, Purpose, properties_of
from .scheme import KEY, SCHEMES, SHARDS, SLICES, SLICES_AND_SHARDS, Part, Plan

NAMES_SHOWN: Final = 3
LOADED_MIN: Final = 2_000
"""From this many states of subscriptions cut by time on, another shard is worth reading the events once more."""


@final
class Members:
    """Subscriptions that must be in one engine: one alone, or publishers with their readers."""

    def __init__(self, members: Sequence[Properties]) -> None:
        self.members = tuple(members)
        self.weight = sum(member.weight for member in members)

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.members]

    def against_slices(self, purpose: Purpose) -> str | None:
        """Why they cannot be cut by time; None if they can."""
        if len(self.members) > 1:
            return _together(self.members)
        return self.members[0].against_slices(purpose)

    def against_key(self, keys: KeyOf, streams: Mapping[str, StreamDefinition], purpose: Purpose) -> str | None:
        """Why they cannot be divided by key; None if they can."""
        if len(self.members) > 1:
            return _together(self.members)
        return self.members[0].against_key(keys, streams, purpose)

    @property
    def window(self) -> int | None:
        """The window of a set that can be cut by time, in microseconds."""
        return self.members[0].window


def _together(members: Sequence[Properties]) -> str:
    published = next(member.publishes for member in members if member.publishes is not None)
    return f"results go on from one subscription to another (through {published!r})"


def plan_for(
    subscriptions: Subscriptions,
    purpose: Purpose,
    *,
    scheme: str | None = None,
    parallelism: int = 2,
    shuffled: bool = False,
    slices: int | None = None,
    shards: int | None = None,
    buckets: int | None = None,
) -> Plan:
    """The plan of a job: the requested scheme, or the best one for each subscription.

    `parallelism`: how many cells run at once; `shuffled`: events have to be moved to the cells. The number of cells
    keeps all workers busy. Raises ForetellError if a query is wrong, and DefinitionError, with the subscription and the
    reason,
    if the scheme would change the results.
    """
    _check_scheme(scheme)
    for what, number in (("slices", slices), ("shards", shards), ("buckets", buckets)):
        if number is not None and number < 1:
            raise DefinitionError(f"plan: expected 1 or more {what}, found {number}")
    wanted = _wanted(subscriptions, purpose)
    streams = subscriptions.streams
    keys, reasons = _keyed_by(wanted, streams, purpose)
    shard_count = shards if shards is not None else parallelism
    if scheme is None:
        parts = _chosen(wanted, keys, reasons, purpose, shuffled, shard_count)
    else:
        parts = [_asked(scheme, wanted, keys, reasons, purpose, shard_count)] if wanted else []
    return Plan(purpose, tuple(parts), buckets or parallelism, slices or 2 * parallelism)


def _check_scheme(scheme: str | None) -> None:
    if scheme is not None and scheme not in SCHEMES:
        raise DefinitionError(
            f"plan: expected one of {', '.join(SCHEMES)}, found {shown(scheme)}{suggestion(scheme, SCHEMES)}"
        )


def _wanted(subscriptions: Subscriptions, purpose: Purpose) -> list[Members]:
    """The sets of subscriptions that the job needs; for counts, those in which one makes forecasts."""
    together = _connected(list(properties_of(subscriptions.engine()).values()), subscriptions)
    if purpose == "counts":
        together = [found for found in together if any(member.foretells for member in found.members)]
    return together


def _connected(properties: list[Properties], subscriptions: Subscriptions) -> list[Members]:
    """The sets of publishers and readers of a stream, in the order of the file."""
    readers: dict[str, list[int]] = {}
    for number, own in enumerate(properties):
        for stream in own.reads:
            if stream not in subscriptions.streams:
                readers.setdefault(stream, []).append(number)
    group = list(range(len(properties)))

    def found(number: int) -> int:
        while group[number] != number:
            group[number] = group[group[number]]
            number = group[number]
        return number

    for number, own in enumerate(properties):
        for reader in readers.get(own.publishes or "", ()):
            one, other = sorted((found(number), found(reader)))
            group[other] = one
    together: dict[int, list[Properties]] = {}
    for number, own in enumerate(properties):
        together.setdefault(found(number), []).append(own)
    return [Members(members) for members in together.values()]


# --- keys -----------------------------------------------------------------------------------------------------------


def _keyed_by(
    wanted: list[Members], streams: Mapping[str, StreamDefinition], purpose: Purpose
) -> tuple[KeyOf, list[str | None]]:
    """The best key of each stream, and for each set the reason why it cannot be divided by these keys, or None.

    The declared keys if all sets allow them; otherwise those that most sets allow, among these and attributes of one
    name.
    """
    candidates: list[KeyOf] = [{name: stream.key for name, stream in streams.items() if stream.key is not None}]
    for name in dict.fromkeys(attribute for stream in streams.values() for attribute in stream.schema.names):
        candidates.append({s: name for s, stream in streams.items() if stream.schema.position(name) >= 0})
    best: KeyOf = {}
    reasons: list[str | None] = []
    for keys in candidates:
        found = [members.against_key(keys, streams, purpose) for members in wanted]
        if not best or found.count(None) > reasons.count(None):
            best, reasons = keys, found
        if found.count(None) == len(wanted):
            break
    return best, reasons


# --- choosing -------------------------------------------------------------------------------------------------------


def _chosen(
    wanted: list[Members],
    keys: KeyOf,
    reasons: list[str | None],
    purpose: Purpose,
    shuffled: bool,
    shards: int,
) -> list[Part]:
    by_key: list[Members] = []
    by_time: list[Members] = []
    rest: list[Members] = []
    why: list[str] = []
    for members, against in zip(wanted, reasons):
        divisible = against is None
        cut = members.against_slices(purpose) is None
        if divisible and (shuffled or not cut):
            by_key.append(members)
        elif cut:
            by_time.append(members)
        else:
            rest.append(members)
            why = why or list(dict.fromkeys(reason for reason in (members.against_slices(purpose), against) if reason))
    parts: list[Part] = []
    if by_key:
        parts.append(_keyed(by_key, keys, purpose, "every join keeps a match to one key"))
    if by_time:
        many = sum(members.weight for members in by_time) >= LOADED_MIN and shuffled is False
        parts.append(_cut(by_time, shards if many else 1, "a window bounds every match"))
    if rest:
        parts.append(Part(SHARDS, _shards(rest, shards), reason=f"{rest[0].names[0]}: {'; '.join(why)}"))
    return parts


def _asked(
    scheme: str,
    wanted: list[Members],
    keys: KeyOf,
    reasons: list[str | None],
    purpose: Purpose,
    shards: int,
) -> Part:
    for members, against in zip(wanted, reasons):
        reason = None
        if scheme == KEY:
            reason = against
        elif scheme != SHARDS:
            reason = members.against_slices(purpose)
        if reason is not None:
            instead = "" if scheme == SHARDS else f"; {SHARDS} is exact for all"
            raise DefinitionError(f"plan: {scheme}: subscription {members.names[0]!r}: {reason}{instead}")
    if scheme == KEY:
        return _keyed(wanted, keys, purpose, "as requested")
    if scheme == SHARDS:
        return Part(SHARDS, _shards(wanted, shards), reason="as asked for")
    return _cut(wanted, shards if scheme == SLICES_AND_SHARDS else 1, "as asked for")


def _keyed(wanted: list[Members], keys: KeyOf, purpose: Purpose, reason: str) -> Part:
    names = tuple(name for members in wanted for name in members.names)
    read = sorted({stream for members in wanted for member in members.members for stream in member.reads})
    cut = all(members.against_slices(purpose) is None for members in wanted)
    window = max((members.window or 0 for members in wanted), default=0) if cut else None
    return Part(KEY, (names,), tuple((stream, keys[stream]) for stream in read), window, reason)


def _cut(wanted: list[Members], shards: int, reason: str) -> Part:
    window = max((members.window or 0 for members in wanted), default=0)
    groups = _shards(wanted, shards)
    return Part(SLICES if len(groups) == 1 else SLICES_AND_SHARDS, groups, window=window, reason=reason)


def _shards(wanted: list[Members], shards: int) -> tuple[tuple[str, ...], ...]:
    """The names of each shard: from the heaviest on, each goes to the lightest shard. Deterministic; none is empty."""
    loads = [0] * max(1, min(shards, len(wanted)))
    names: list[list[tuple[int, list[str]]]] = [[] for _ in loads]
    for place, members in sorted(enumerate(wanted), key=lambda item: (-item[1].weight, item[0])):
        least = loads.index(min(loads))
        loads[least] += members.weight
        names[least].append((place, members.names))
    return tuple(tuple(name for _, own in sorted(shard) for name in own) for shard in names)


# --- explanation ----------------------------------------------------------------------------------------------------


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    more = len(listed) - NAMES_SHOWN
    return ", ".join(listed[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def explain_plan(plan: Plan) -> list[str]:
    """The parts of a plan and their reasons, a line each, for people."""
    lines = []
    for part in plan.parts:
        names = [name for group in part.groups for name in group]
        said = f"{part.scheme}: {len(names)} subscription{'s' if len(names) != 1 else ''} ({_listed(names)})"
        if part.scheme == KEY:
            said += f", {plan.buckets} buckets by " + ", ".join(f"{stream}.{key}" for stream, key in part.keys)
            if part.window is not None:
                said += f"; hot keys are cut into {plan.slices} slices, overlap {part.window} us"
        if part.sliced:
            said += f", {plan.slices} slices, overlap {part.window} us"
        if len(part.groups) > 1 or part.scheme == SHARDS:
            said += f", {len(part.groups)} shard{'s' if len(part.groups) != 1 else ''} of the whole stream in order"
        lines.append(f"{said}: {part.reason}")
    return lines or ["nothing to do: no subscription counts anything"]
