"""The declaration of a stream: name, schema, key and order."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Final, Literal, TypeAlias, final, get_args

from .errors import DefinitionError, EventError, shown
from .file_form import USUAL_FORM, FileForm
from .instant import parse_duration
from .names import checked_name
from .nearest import suggestion
from .schema import TEXTS, Schema
from .time_unit import TIME_UNITS, TimeUnit

Disorder: TypeAlias = Literal["arrival", "buffer", "speculate"]
"""arrival: events are processed as they arrive, and late ones refused; buffer: held back until a punctuation;
speculate: results may be retracted."""

Duration: TypeAlias = int | str | timedelta
"""A duration as programs give it: microseconds, text such as `5 s`, or a timedelta."""

DISORDERS: Final[tuple[Disorder, ...]] = get_args(Disorder)


def stream_durations(
    stream: str, lateness: Duration | None, speculation: Duration | None, idle: Duration | None
) -> tuple[int | None, int | None, int | None]:
    """The durations of a stream in microseconds. Raises DefinitionError for a text that is none."""

    def read(what: str, given: Duration | None) -> int | None:
        if not isinstance(given, str | timedelta):
            return given  # judged by the definition
        try:
            return parse_duration(given)
        except EventError as error:
            raise DefinitionError(f"stream {stream!r}: {what}: {error}") from None

    return read("lateness", lateness), read("speculation", speculation), read("idle", idle)


@final
@dataclass(frozen=True, slots=True)
class StreamDefinition:
    """A declared stream. Raises DefinitionError, whose message starts with the stream's name.

    `key` names the attribute that divides the stream for forecasts and for Spark; it never changes matches. `lateness`
    (for buffer and speculate) and `speculation` (for speculate) are microseconds. `idle`, microseconds: after so long
    without an event, a broker's clock promises that no earlier one follows. `time_unit` is that of numbers which are
    times and come from outside, None: microseconds. It says how a program writes times, not what the stream is, so that
    definitions with different ones are equal. The last `added` attributes came later: a row may end before them.
    `sequence` (for buffer and speculate) names an attribute with the numbers of the events, from 1 on without gaps.
    `files`: how files of other programs write its events.
    """

    name: str
    schema: Schema
    key: str | None = None
    disorder: Disorder = "arrival"
    lateness: int | None = None
    speculation: int | None = None
    idle: int | None = None
    time_unit: TimeUnit | None = field(default=None, compare=False)
    added: int = field(default=0, compare=False)
    sequence: str | None = None
    files: FileForm = field(default=USUAL_FORM, compare=False)

    def __post_init__(self) -> None:
        checked_name(self.name, "stream")
        if not isinstance(self.schema, Schema):
            raise self._error(f"expected a schema, found {shown(self.schema)}")
        if self.key is not None and not isinstance(self.key, str):
            raise self._error(f"key: expected the name of an attribute, found {shown(self.key)}")
        if self.key is not None and self.schema.position(self.key) < 0:
            hint = suggestion(self.key, self.schema.names)
            raise self._error(f"key: expected the name of an attribute, found {shown(self.key)}{hint}")
        if self.key is not None and self.schema.attributes[self.schema.position(self.key)].type == TEXTS:
            raise self._error(f"key: expected an attribute with a single value, found the list {self.key!r}")
        if self.disorder not in DISORDERS:
            hint = suggestion(str(self.disorder), DISORDERS)
            raise self._error(f"disorder: expected arrival, buffer or speculate, found {shown(self.disorder)}{hint}")
        if self.time_unit is not None and self.time_unit not in TIME_UNITS:
            hint = suggestion(str(self.time_unit), TIME_UNITS)
            raise self._error(f"time_unit: expected s, ms, us, ns or iso, found {shown(self.time_unit)}{hint}")
        self._check_duration("lateness", self.lateness, DISORDERS[1:])
        self._check_duration("speculation", self.speculation, DISORDERS[2:])
        if self.idle is not None and (type(self.idle) is not int or self.idle < 1):
            raise self._error(f"idle: expected microseconds, 1 or more, found {shown(self.idle)}")
        self.files.check(self.schema)
        if self.sequence is not None:
            self._check_sequence(self.sequence)

    def _check_sequence(self, name: object) -> None:
        position = self.schema.position(name) if isinstance(name, str) else -1
        if position < 0:
            hint = suggestion(name, self.schema.names) if isinstance(name, str) else ""
            raise self._error(f"sequence: expected the name of an attribute, found {shown(name)}{hint}")
        attribute = self.schema.attributes[position]
        if attribute.type != "int" or attribute.nullable:
            kind = attribute.type + ("?" if attribute.nullable else "")
            raise self._error(f"sequence: expected an attribute of type int, found {name!r} of type {kind}")
        if self.disorder == "arrival":
            raise self._error("sequence: expected only with disorder buffer or speculate, found arrival")

    @classmethod
    def of(cls, said: Any) -> StreamDefinition:
        """The stream of a message or a record, which has the fields that `arguments` lists. Raises DefinitionError."""
        order = said.disorder, said.lateness, said.speculation, said.idle
        schema = Schema.declare(said.attributes)
        return cls(said.name, schema, said.key, *order, said.time_unit, sequence=said.sequence)

    def with_attribute(self, name: str, kind: str) -> StreamDefinition:
        """The same stream with another attribute, behind the others. Raises DefinitionError, also for one that may not
        be null: earlier events do not have it."""
        if self.schema.position(name) >= 0:
            raise self._error(f"expected a new attribute, found {shown(name)}, which it has already")
        if not str(kind).endswith("?"):
            raise self._error(
                f"attribute {name!r}: expected a type with ?, since events so far have null, found {shown(kind)}"
            )
        schema = Schema.declare({**self.schema.declared(), name: kind})
        return replace(self, schema=schema, added=self.added + 1)

    def arguments(self) -> tuple[Any, ...]:
        """What declares it: the arguments of `add_stream` and the fields of a record, in their order."""
        order = self.disorder, self.lateness, self.speculation, self.idle
        return self.name, self.schema.declared(), self.key, *order, self.time_unit, self.sequence

    def includes(self, declared: StreamDefinition) -> bool:
        """Whether a declaration is of this stream: equal, or without the last of the attributes that were added."""
        missing = len(self.schema) - len(declared.schema)
        if not 0 < missing <= self.added:
            return self == declared
        return replace(self, schema=self.schema.first(len(declared.schema))) == declared

    def extends_to(self, longer: StreamDefinition) -> bool:
        """Whether another definition only has further attributes, which may be null."""
        width = len(self.schema)
        further = longer.schema.attributes[width:]
        return replace(longer, schema=longer.schema.first(width)) == self and all(each.nullable for each in further)

    def _check_duration(self, what: str, duration: int | None, belongs_to: tuple[Disorder, ...]) -> None:
        if duration is None:
            return
        if type(duration) is not int or duration < 0:
            raise self._error(f"{what}: expected microseconds, 0 or more, found {shown(duration)}")
        if self.disorder not in belongs_to:
            raise self._error(f"{what}: expected only with disorder {' or '.join(belongs_to)}, found {self.disorder}")

    def _error(self, message: str) -> DefinitionError:
        return DefinitionError(f"stream {self.name!r}: {message}")
