"""A mapping that keeps the most recently used entries, up to a number."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar, final

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@final
class Recent(Generic[_Key, _Value]):
    """At most `most` entries; a new one replaces the least recently used entry. O(1)."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._entries: OrderedDict[_Key, _Value] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: _Key) -> _Value | None:
        found = self._entries.get(key)
        if found is not None:
            self._entries.move_to_end(key)
        return found

    def clear(self) -> None:
        """Forget all entries."""
        self._entries.clear()

    def put(self, key: _Key, value: _Value) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self.most:
            self._entries.popitem(last=False)
