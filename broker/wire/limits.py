"""The protocol's version, and the largest size of everything on the wire; each name ends in its unit and bound.

Both ends know these numbers: a sender refuses what the receiver would refuse. A limit that only the broker knows
belongs to broker.kernel. Where one can be hit by honest use, whoever hits it is told by name.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = 6
"""Counts up with every change that an older end would misread. It is compared in HELLO."""

FRAME_BYTES_MAX: Final = 1024 * 1024
"""One message. What msgpack builds of the worst frame of this size takes about 75 MB, and is freed at once."""

ENVELOPE_BYTES: Final = 256
"""What a socket takes beyond FRAME_BYTES_MAX: encryption adds some, and what is little too large gets an answer."""

TEXT_BYTES_MAX: Final = 256 * 1024
"""One string: a query, or a value in an event."""

RESULT_BYTES_MAX: Final = 256 * 1024
"""One encoded result; the kernel replaces a larger one by an `incomplete` that says so."""

BATCH_EVENTS_MAX: Final = 8_192
"""Events in one publish: so that even a refusal of every one of them, with reasons, fits a frame."""

ARRAY_LENGTH_MAX: Final = BATCH_EVENTS_MAX
"""Elements of any array outside of results."""

MAP_LENGTH_MAX: Final = 1_024
"""Entries of any map, among them the attributes of a stream."""

NESTING_MAX: Final = 8
"""Depth of values without a fixed form (statistics, forecast options). msgpack itself stops at 1,024."""

NAME_LENGTH_MAX: Final = 256
"""Characters of a name on the wire; broker.events is stricter and says what a name may consist of."""

TOKEN_BYTES_MAX: Final = 64
"""What a session may be called, to be resumed."""

NOTIFICATIONS_COUNT_MAX: Final = 1_024
"""Results in one Notifications message."""

NOTIFICATIONS_BYTES_TARGET: Final = 128 * 1024
"""A Notifications message is closed when its results have reached this: at most this and one result more."""

PAGE_BYTES_TARGET: Final = 256 * 1024
"""A page of a listing is closed when its entries have reached about this."""

CREDITS_MAX: Final = 1_000_000
"""Notifications that a client may have asked for and not received, for each subscription."""
