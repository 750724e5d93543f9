"""The manifest of a prepared history: values and their JSON. Not here: files.

    {"format": "foretell-history", "version": 1, "streams": {"Stock": {"attributes": {...}, "key": "name"}},
     "slices": [{"path": "slice=000000/part.parquet", "rows": 2, "first": [5, 1], "last": [6, 2], "bytes": 814,
                 "digest": "..."}],
     "rows": 2, "rejects": 0, "digest": "..."}

Slices are in order, and none is empty; `first` and `last` are (time, id). The digest covers the streams and the slices,
so it is equal for equal events, independent of where and how they were prepared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final, final

from broker.events import DefinitionError, ForetellError, Schema, StreamDefinition, shown

from .form import Key

FORMAT: Final = "foretell-history"
VERSION: Final = 1
_DIGEST_BYTES: Final = 16


@final
@dataclass(frozen=True, slots=True)
class Slice:
    """One file of a history. `path` is relative to it; `digest` is that of the file's bytes."""

    path: str
    rows: int
    first: Key
    last: Key
    bytes: int
    digest: str


@final
@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of a history. `rejects`: how many rows were not events, and are in its table of rejects."""

    streams: Mapping[str, StreamDefinition]
    slices: tuple[Slice, ...]
    rejects: int = 0

    @property
    def rows(self) -> int:
        """The number of events in all slices."""
        return sum(part.rows for part in self.slices)

    @property
    def digest(self) -> str:
        """The digest in hexadecimal; it does not cover the rejects."""
        return digest_of([VERSION, streams_written(self.streams), [asdict(part) for part in self.slices]])

    def __reduce__(self) -> tuple[Any, ...]:
        # Read-only mappings cannot be pickled for Spark's workers; their contents can.
        return _manifest, (dict(self.streams), self.slices, self.rejects)


def _manifest(streams: dict[str, StreamDefinition], slices: tuple[Slice, ...], rejects: int) -> Manifest:
    return Manifest(MappingProxyType(streams), slices, rejects)


def digest_of(value: object) -> str:
    """The digest of a JSON value, independent of the order of its keys."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def digest_of_bytes(content: bytes | memoryview) -> str:
    """The digest of a file's content."""
    return blake2b(content, digest_size=_DIGEST_BYTES).hexdigest()


def streams_written(streams: Mapping[str, StreamDefinition]) -> dict[str, dict[str, Any]]:
    """The streams as in a subscription file, without absent fields; durations are microseconds."""
    return {
        name: {"attributes": stream.schema.declared()}
        | {
            key: value
            for key, value in (
                ("key", stream.key),
                ("disorder", stream.disorder if stream.disorder != "arrival" else None),
                ("lateness", stream.lateness),
                ("speculation", stream.speculation),
                ("idle", stream.idle),
                ("sequence", stream.sequence),
            )
            if value is not None
        }
        for name, stream in streams.items()
    }


def written(manifest: Manifest) -> str:
    """The manifest as JSON."""
    return json.dumps(
        {
            "format": FORMAT,
            "version": VERSION,
            "streams": streams_written(manifest.streams),
            "slices": [asdict(part) for part in manifest.slices],
            "rows": manifest.rows,
            "rejects": manifest.rejects,
            "digest": manifest.digest,
        },
        indent=1,
    )


def read_manifest(text: str) -> Manifest:
    """The manifest that `written` wrote. Raises DefinitionError, without a place, for anything else."""
    try:
        document = json.loads(text)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise DefinitionError("expected the manifest of a prepared history, found something else")
        if document.get("version") != VERSION:
            raise DefinitionError(
                f"expected a history of version {VERSION}, found {shown(document.get('version'))}: prepare it again"
            )
        streams = {
            name: StreamDefinition(
                name,
                Schema.declare(stream["attributes"]),
                stream.get("key"),
                stream.get("disorder", "arrival"),
                stream.get("lateness"),
                stream.get("speculation"),
                stream.get("idle"),
                sequence=stream.get("sequence"),
            )
            for name, stream in document["streams"].items()
        }
        slices = tuple(_slice(part) for part in document["slices"])
        manifest = Manifest(MappingProxyType(streams), slices, int(document["rejects"]))
    except ForetellError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DefinitionError(f"expected the manifest of a prepared history, found it damaged ({error})") from None
    if manifest.digest != document.get("digest"):
        raise DefinitionError("expected the manifest of a prepared history, found it changed: its digest differs")
    return manifest


def _slice(part: Mapping[str, Any]) -> Slice:
    return Slice(
        str(part["path"]),
        int(part["rows"]),
        _key(part["first"]),
        _key(part["last"]),
        int(part["bytes"]),
        str(part["digest"]),
    )


def _key(pair: Sequence[int]) -> Key:
    time, identity = pair
    return int(time), int(identity)
