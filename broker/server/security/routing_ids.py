"""Law: that nobody can guess or choose the routing id of another connection.

A ROUTER numbers its connections from a start that it draws with `rand()`, which libzmq does not seed: it begins at the
same number in every process. Who knows the next number can claim it first, and libzmq (4.3.5) then ends the process by
an assertion; who knows the last one of somebody who has just gone might be sent what was meant for them. So `rand()`
is seeded here, with 32 bits of the system's randomness. That makes both a matter of luck, at odds of one in 2**31 a
try, and not of knowledge; nothing that libzmq offers makes it impossible.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from typing import Final

_ASSIGNED_BYTES: Final = 5
_SEED_BYTES: Final = 4


def scatter() -> None:
    """Before a ROUTER is made: its routing ids begin where nobody can guess. Does nothing without a libc."""
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).srand(ctypes.c_uint(int.from_bytes(os.urandom(_SEED_BYTES), "little")))


def assigned(session: bytes) -> bool:
    """Whether a routing id has the form of those that libzmq assigns; one of another form was chosen by its peer."""
    return len(session) == _ASSIGNED_BYTES and session[0] == 0
