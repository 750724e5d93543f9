"""The subscriptions of a job as data: from a file or definitions, packed for executors, and as an engine there.

Here: definitions and their digest. Not here: how they divide a job (plan), their execution (cells).
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, final

import msgpack

from broker.engine import Engine, Options
from broker.engine.languages.table import default_lineage
from broker.engine.subscribing.loading import install_all
from broker.events import DefinitionError, StreamDefinition, UnknownSubscription, Unsupported, suggestion
from broker.events.errors import ForetellError, QueryError
from broker.events.schema import Schema
from broker.language.subscription import SubscriptionDefinition
from broker.language.subscription_file import read_subscription_file

MAGIC: Final = b"foretell subscriptions 1\n"
DIGEST_BYTES: Final = 16
_UNPACKED: dict[str, Subscriptions] = {}  # by digest, in a worker: the ones it unpacked last


@final
class Subscriptions:
    """Streams and subscriptions by name, in order. Immutable; errors begin with `place`, if it is not empty.

    Raises DefinitionError for a name that occurs twice.
    """

    def __init__(
        self, streams: Iterable[StreamDefinition], definitions: Iterable[SubscriptionDefinition], place: str = ""
    ) -> None:
        self.place = place
        self.streams = {stream.name: stream for stream in streams}
        listed = list(definitions)
        self.definitions = {definition.name: definition for definition in listed}
        if len(self.definitions) != len(listed):
            raise self._complaint(DefinitionError("expected each subscription's name once"))

    @classmethod
    def read(cls, path: str | Path) -> Subscriptions:
        """The subscriptions of a TOML file, unparsed. Raises OSError, and ForetellError with the path."""
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise DefinitionError(f"{path}: expected UTF-8 text, found byte {error.start} that is not") from None
        return cls.of_text(text, str(path))

    @classmethod
    def of_text(cls, text: str, place: str = "subscriptions") -> Subscriptions:
        """The subscriptions in the text of a TOML file. Raises ForetellError with the place."""
        file = read_subscription_file(text, place)
        check_units(file.streams, place)
        return cls(file.streams, file.subscriptions, place)

    def __len__(self) -> int:
        return len(self.definitions)

    # --- as an engine -------------------------------------------------------------------------------------------

    def engine(
        self, options: Options | None = None, only: Collection[str] | None = None, lineage: bool = False
    ) -> Engine:
        """A new engine with all streams and these subscriptions; `only`: the names of some of them.

        With `lineage` all results have a lineage, whatever the definitions say; ids do not depend on it. O(size of the
        queries). Raises ForetellError, which begins with the place, if a query is wrong.
        """
        engine = Engine(options)
        try:
            for stream in self.streams.values():
                engine.catalog.declare(stream)
            chosen = [d for name, d in self.definitions.items() if only is None or name in only]
            install_all(engine, [replace(d, lineage=True) if lineage else d for d in chosen])
        except ForetellError as error:
            raise self._complaint(error) from None
        return engine

    def wants_lineage(self, name: str) -> bool:
        """Whether results of a subscription have a lineage, by its own or its language's setting.

        Raises UnknownSubscription.
        """
        return default_lineage(self.definition(name))

    def definition(self, name: str) -> SubscriptionDefinition:
        """The definition of a subscription. Raises UnknownSubscription."""
        found = self.definitions.get(name)
        if found is None:
            near = suggestion(name, list(self.definitions))
            raise UnknownSubscription(f"unknown subscription {name!r}{near}")
        return found

    def _complaint(self, error: ForetellError) -> ForetellError:
        if not self.place:
            return error
        if isinstance(error, QueryError):
            return QueryError(f"{self.place}: {error}", error.line, error.column, error.excerpt)
        return type(error)(f"{self.place}: {error}")

    # --- as bytes -----------------------------------------------------------------------------------------------

    @cached_property
    def digest(self) -> str:
        """A digest, equal on every machine for equal streams and definitions in the same order."""
        return blake2b(self._content, digest_size=DIGEST_BYTES).hexdigest()

    @cached_property
    def _content(self) -> bytes:
        streams = [
            [s.name, list(s.schema.declared().items()), s.key, s.disorder, s.lateness, s.speculation]
            for s in self.streams.values()
        ]
        columns: Sequence[Any] = [
            [d.name for d in self.definitions.values()],
            [d.language for d in self.definitions.values()],
            [d.query for d in self.definitions.values()],
            [d.lineage for d in self.definitions.values()],
            [d.report for d in self.definitions.values()],
            [None if d.forecast is None else list(d.forecast.items()) for d in self.definitions.values()],
        ]
        packed: bytes = msgpack.packb([self.place, streams, columns], use_bin_type=True)
        return packed

    def packed(self) -> bytes:
        """A small encoding for the executors, which is quick to decode. O(size)."""
        return MAGIC + bytes.fromhex(self.digest) + zlib.compress(self._content, 1)

    @classmethod
    def unpack(cls, data: bytes) -> Subscriptions:
        """Decode `packed`. A process caches the last result. Raises DefinitionError for other bytes."""
        head = len(MAGIC) + DIGEST_BYTES
        if data[: len(MAGIC)] != MAGIC:
            raise DefinitionError("expected packed subscriptions, found something else")
        digest = data[len(MAGIC) : head].hex()
        known = _UNPACKED.get(digest)
        if known is not None:
            return known
        try:
            content = zlib.decompress(data[head:])
        except zlib.error as error:
            raise DefinitionError(f"expected packed subscriptions, found damaged ones: {error}") from None
        if blake2b(content, digest_size=DIGEST_BYTES).hexdigest() != digest:
            raise DefinitionError("expected packed subscriptions, found damaged ones")
        place, streams, columns = msgpack.unpackb(content, raw=False)
        found = cls(
            [
                StreamDefinition(name, Schema.declare(dict(attributes)), key, disorder, lateness, speculation)
                for name, attributes, key, disorder, lateness, speculation in streams
            ],
            [
                SubscriptionDefinition(
                    name, language, query, lineage, report, None if forecast is None else dict(forecast)
                )
                for name, language, query, lineage, report, forecast in zip(*columns, strict=True)
            ],
            place,
        )
        _UNPACKED.clear()
        _UNPACKED[digest] = found
        return found


def check_units(streams: Iterable[StreamDefinition], place: str) -> None:
    """Raise Unsupported for a stream whose times are neither microseconds nor text: a history would misread them."""
    for stream in streams:
        if stream.time_unit not in (None, "us", "iso"):
            unit = f"time_unit {stream.time_unit!r}"
            raise Unsupported(f"{place}: streams.{stream.name}: {unit} of a history on Spark is not supported yet")
