"""Encodes sections as bytes and back: one msgpack map, in which each section has its version.

Here: reading and refusing sections, and their order. Not here: the list of sections (table), a section's content (its
file).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ...events.errors import DefinitionError
from .state import EngineState
from .table import section_of, sections

FORMAT: Final = 7
MAGIC: Final = "foretell engine"
LARGE: Final = 1  # the type of an integer that 64 bits do not hold, such as a sum of integers
WAY_ON: Final = (
    "The version that has written it reads it; where the journal is there from its first record on, this version makes"
    " the state anew from it once the files *.checkpoint are moved out of its folder"
)


def save(state: EngineState) -> bytes:
    """All state on which later results depend. O(runs)."""
    written: dict[str, Any] = {}
    for section in reversed(sections(state.program)):
        content = section.save(state)
        if content is not None or not section.may_lack:
            written[section.name] = [section.version, content]
    import msgpack  # here and below: an engine that only matches works without it

    content = {"magic": MAGIC, "format": FORMAT, "sections": written}
    packed: bytes = msgpack.packb(content, use_bin_type=True, default=_large)
    return packed


def restore(data: bytes, state: EngineState) -> None:
    """Fill an engine's empty parts.

    Raises DefinitionError if the bytes are no snapshot, or have a section that this version does not read.
    """
    found = _unpacked(data)
    known = sections(state.program)
    expected = {section.name: section.version for section in known}
    for name, (version, content) in found.items():
        empty = name in expected and content in ([], ())  # of an executor without machines: in no form
        if version != expected.get(name) and not empty:
            reads = "none of that name" if name not in expected else f"version {expected[name]}"
            raise DefinitionError(
                f"expected a snapshot that this version reads, found version {version!r} of its section {name!r}, of"
                f" which this version reads {reads}. {WAY_ON}"
            )
    try:
        for executor in state.program.machines.executors:
            _, kept = found.get(section_of(executor), (0, ()))
            state.executors |= {number: executor.executor for number, _ in kept}
        for section in known:
            if section.name in found or not section.may_lack:
                section.restore(state, found[section.name][1])
        if state.engine.disorder is not None:
            state.engine.disorder.orders.arrange()
    except (AssertionError, AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise DefinitionError(f"expected a snapshot of an engine, found one that is damaged: {error}") from None


def _large(value: object) -> Any:
    """An integer that msgpack has no form for, as its bytes. Raises TypeError for anything else."""
    import msgpack

    if type(value) is not int:
        raise TypeError(f"expected what a snapshot may hold, found {type(value).__name__}")
    return msgpack.ExtType(LARGE, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))


def _extended(code: int, data: bytes) -> int:
    if code != LARGE:
        raise ValueError(f"an unknown type {code}")
    return int.from_bytes(data, "big", signed=True)


def _unpacked(data: bytes) -> Mapping[str, Any]:
    """Version and content of each section."""
    content = _content(data)
    if content.get("format") != FORMAT:
        raise DefinitionError(
            f"expected a snapshot of format {FORMAT}, found format {content.get('format')!r}. {WAY_ON}"
        )
    found = content.get("sections")
    if not isinstance(found, dict) or not all(isinstance(each, tuple) and len(each) == 2 for each in found.values()):
        raise DefinitionError("expected a snapshot of an engine, found one that is damaged: no sections")
    return found


def _content(data: bytes) -> dict[str, Any]:
    import msgpack

    try:
        content = msgpack.unpackb(data, use_list=False, strict_map_key=False, raw=False, ext_hook=_extended)
    except (ValueError, msgpack.UnpackException) as error:
        raise DefinitionError(f"expected a snapshot of an engine, found bytes that are none: {error}") from None
    if not isinstance(content, dict) or content.get("magic") != MAGIC:
        raise DefinitionError("expected a snapshot of an engine, found something else")
    return content
