"""Builds answers: listings as pages that fit a frame, statistics as plain values, errors as Failure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, TypeAlias, TypeVar

from ..events import DefinitionError, ForetellError, QueryError, StreamDefinition
from ..language.subscription import SubscriptionDefinition
from ..wire import (
    VERSION,
    Busy,
    DeadLetter,
    Expired,
    Failure,
    Hello,
    ListDeadLetters,
    ListStreams,
    ListSubscriptions,
    StreamEntry,
    Streams,
    SubscriptionEntry,
    Subscriptions,
)
from ..wire import DeadLetters as DeadLettersPage
from ..wire.limits import PAGE_BYTES_TARGET, UPDATES_SHOWN_CHARACTERS, UPDATES_SHOWN_MAX
from .dead_letters import DeadLetterQueue
from .durable_delivery import AnyDelivery

EXCESS_RETRY_MICROSECONDS: Final = 100_000
"""When to send a batch again that was refused because too many waited."""

Update: TypeAlias = tuple[tuple[str, ...], tuple[str, ...], int, int]

_Entry = TypeVar("_Entry", StreamEntry, SubscriptionEntry, DeadLetter)

# Estimates of an entry's bytes beside its texts, and of a character's: a page only has to be well below a frame.
_ENTRY_BYTES_EXTRA = 64
_CHARACTER_BYTES_MAX = 4

_COUNT_MAX = 2**63 - 1


def failure(correlation: int, error: ForetellError) -> Failure:
    """The Failure message for an error."""
    if isinstance(error, QueryError):
        return Failure(correlation, error.code, str(error), error.line, error.column, error.excerpt)
    retry = error.retry if isinstance(error, Busy) else None
    return Failure(
        correlation, error.code, str(error), retry=retry, clock=error.clock if isinstance(error, Expired) else None
    )


def unknown_session(correlation: int) -> Failure:
    """The answer to a request without a session."""
    reason = "the broker does not know this session (it was lost, or the broker has restarted): connect again"
    return Failure(correlation, "session", reason)


def too_many_batches(correlation: int) -> Failure:
    """The answer to a batch that was dropped because too many batches of its session wait."""
    reason = "session_batches: too many batches of this client wait to be begun; wait for answers before sending more"
    return failure(correlation, Busy(reason, EXCESS_RETRY_MICROSECONDS))


def unknown_version(hello: Hello) -> Failure:
    """The answer to a client of another version."""
    reason = f"this broker has version {VERSION} of the protocol, the client has version {hello.version}"
    return Failure(hello.correlation, "version", reason)


def contradiction(existing: StreamDefinition, wanted: StreamDefinition) -> DefinitionError:
    """The error for a declaration that differs from the existing stream, with the first difference."""
    for field in ("schema", "key", "disorder", "lateness", "speculation", "idle", "sequence"):
        if getattr(existing, field) != getattr(wanted, field):
            break
    what = "other attributes" if field == "schema" else f"another {field}"
    return DefinitionError(f"stream {wanted.name!r} exists with {what}")


def stream_entry(stream: StreamDefinition) -> StreamEntry:
    """The wire entry of a stream."""
    attributes = stream.schema.declared()
    order = stream.disorder, stream.lateness, stream.speculation, stream.idle
    return StreamEntry(stream.name, attributes, stream.key, *order, stream.time_unit, stream.added, stream.sequence)


def streams_page(streams: Mapping[str, StreamDefinition], request: ListStreams) -> Streams:
    """The page of streams whose names sort behind `after`. O(streams log streams)."""
    names = [name for name in sorted(streams) if name > request.after]
    entries, more = _page((stream_entry(streams[name]) for name in names), _stream_size)
    return Streams(request.correlation, entries, more)


def subscriptions_page(
    known: Iterable[tuple[SubscriptionDefinition, Mapping[bytes, AnyDelivery]]],
    kept: Callable[[str], dict[str, int]],
    updates: Callable[[str], Sequence[Update]],
    request: ListSubscriptions,
) -> Subscriptions:
    """The page of subscriptions behind `after`. `known` is sorted by name; `kept` returns the cursors of one."""
    entries, more = _page(
        (
            SubscriptionEntry(
                definition.name,
                definition.language,
                definition.query,
                len(deliveries),
                bounded_count(sum(delivery.waiting for delivery in deliveries.values())),
                kept(definition.name),
                1 + len(updates(definition.name)),
                _newest(updates(definition.name)),
            )
            for definition, deliveries in known
            if definition.name > request.after
        ),
        _subscription_size,
    )
    return Subscriptions(request.correlation, entries, more)


def dead_letters_page(known: DeadLetterQueue, request: ListDeadLetters) -> DeadLettersPage:
    """The page of dead letters behind position `after`, by position. O(letters log letters)."""
    behind = (each for each in known if each.position > request.after)
    letters, more = _page(sorted(behind, key=attrgetter("position")), _letter_size)
    return DeadLettersPage(request.correlation, letters, more, known.dropped)


def _page(entries: Iterable[_Entry], size_of: Callable[[_Entry], int]) -> tuple[tuple[_Entry, ...], bool]:
    page: list[_Entry] = []
    size = 0
    for entry in entries:
        if size >= PAGE_BYTES_TARGET:
            return tuple(page), True
        page.append(entry)
        size += _ENTRY_BYTES_EXTRA + size_of(entry)
    return tuple(page), False


def _newest(updates: Sequence[Update]) -> tuple[Update, ...]:
    """The newest updates, as far as they fit an entry; the oldest of them first."""
    found: list[Update] = []
    size = 0
    for update in reversed(updates):
        size += sum(map(len, (*update[0], *update[1])))
        if len(found) == UPDATES_SHOWN_MAX or size > UPDATES_SHOWN_CHARACTERS:
            break
        found.append((update[0], update[1], update[2], update[3]))
    return tuple(reversed(found))


def _subscription_size(entry: SubscriptionEntry) -> int:
    arcs = sum(map(len, [text for update in entry.updates for texts in update[:2] for text in texts]))
    cursors = sum(len(name) + 8 for name in entry.cursors)
    return _CHARACTER_BYTES_MAX * (len(entry.name) + len(entry.query) + arcs + cursors)


def _stream_size(entry: StreamEntry) -> int:
    return _CHARACTER_BYTES_MAX * (len(entry.name) + sum(len(name) + 8 for name in entry.attributes))


def _letter_size(letter: DeadLetter) -> int:
    return len(letter.result) + _CHARACTER_BYTES_MAX * len(letter.reason)


def bounded_count(count: int) -> int:
    """A count limited to 64 bits, which the wire can carry. Counts of tuples can be greater."""
    return min(count, _COUNT_MAX)


def plain_statistics(group: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of statistics that the wire can carry, with strings as keys."""
    return {str(key): _plain(value) for key, value in group.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain_statistics(value)
    return bounded_count(value) if type(value) is int else value
