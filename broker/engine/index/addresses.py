"""Networks in guards: finds those that the address in a text of an event belongs to, one look-up for each length of
prefix that exists.

Not here: what an address and a network are (events/networks), which arcs are filed here (arcs).
"""

from __future__ import annotations

from typing import Generic, TypeVar, final

from ...events.networks import Network, address_of
from ...events.schema import Row

M = TypeVar("M")


@final
class Addresses(Generic[M]):
    """Members by a network that an attribute must be in."""

    def __init__(self, position: int) -> None:
        self.position = position
        self._by_free: dict[int, dict[int, list[M]]] = {}

    def add(self, network: Network, member: M) -> None:
        self._by_free.setdefault(network.free, {}).setdefault(network.prefix, []).append(member)

    def find(self, row: Row, found: list[M]) -> None:
        """Append the members whose network has the address, or one in a list. O(lengths of prefix) for each."""
        value = row[self.position]
        if isinstance(value, str):
            self._find(value, found)
        elif isinstance(value, tuple):
            several: list[M] = []
            for text in value:
                self._find(text, several)
            found += dict.fromkeys(several)

    def _find(self, text: str, found: list[M]) -> None:
        address = address_of(text)
        if address >= 0:
            for free, members in self._by_free.items():
                found += members.get(address >> free, ())
