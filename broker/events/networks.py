"""CIDR: whether a text is an address of a network, of IP version 4 or 6.

An address of version 6 that stands for one of version 4 (`::ffff:10.0.0.1`) is compared as that one, and so is a
network of such addresses. A text that is no address is in no network.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import AddressValueError, IPv4Network, IPv6Address, IPv6Network
from typing import Final, final

from .errors import PatternError
from .text_condition import TextCondition

_MAPPED_BITS: Final = 96  # before the address of version 4 in one of version 6
_MAPPED: Final = 0xFFFF << 32
_NO_ADDRESS: Final = -1
_VERSION_6: Final = 1 << 128  # addresses of version 6 as numbers have this bit, so that no number is of both versions


@final
class Network(TextCondition):
    """A network: its first address as a number, and how many bits behind are free."""

    def __init__(self, first: int, free: int) -> None:
        self.first = first
        self.free = free
        self.prefix = first >> free

    def fits(self, text: str) -> bool:
        address = address_of(text)
        return address >= 0 and address >> self.free == self.prefix


def network(pattern: str) -> Network:
    """The network that a pattern names. Raises PatternError for a bad prefix, and for bits behind it that are set."""
    address, slash, bits = pattern.partition("/")
    found = address_of(address)
    if found < 0:
        raise PatternError(0, f"expected a network such as 10.0.0.0/8 or 2001:db8::/32, found {pattern[:60]!r}")
    written = 32 if ":" not in address else 128
    prefix = written if not slash else int(bits) if bits.isascii() and bits.isdigit() and len(bits) <= 3 else -1
    if not 0 <= prefix <= written:
        at = len(address) + 1
        raise PatternError(at, f"expected a prefix of 0 to {written} bits behind the address, found {bits[:40]!r}")
    free = written - prefix
    if written == 128 and found < _VERSION_6 and prefix < _MAPPED_BITS:
        found |= _MAPPED | _VERSION_6
    if found & ((1 << free) - 1):
        first = found >> free << free
        written_out = IPv4Network((first, prefix)) if written == 32 else _version_6(first, prefix)
        raise PatternError(0, f"expected no bits behind the prefix, found {pattern[:60]!r}; write {str(written_out)!r}")
    return Network(found, free)


def _version_6(first: int, prefix: int) -> IPv6Network:
    number = first & (_VERSION_6 - 1) if first >= _VERSION_6 else first | _MAPPED
    return IPv6Network((number, prefix))


def address_of(text: str) -> int:
    """The number of an address, with _VERSION_6 added to one of that version; -1 for a text that is no address."""
    if ":" in text:
        return _number_of_version_6(text)
    if len(text) > 15 or not text.isascii():
        return _NO_ADDRESS
    parts = text.split(".")
    if len(parts) != 4:
        return _NO_ADDRESS
    number = 0
    for part in parts:
        if not part.isdigit() or len(part) > 3 or (part[0] == "0" and len(part) > 1):
            return _NO_ADDRESS
        byte = int(part)
        if byte > 255:
            return _NO_ADDRESS
        number = number << 8 | byte
    return number


@lru_cache(maxsize=1024)
def _number_of_version_6(text: str) -> int:
    if len(text) > 64:
        return _NO_ADDRESS
    try:
        address = IPv6Address(text)
    except AddressValueError:
        return _NO_ADDRESS
    mapped = address.ipv4_mapped
    return int(address) | _VERSION_6 if mapped is None else int(mapped)
