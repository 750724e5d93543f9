"""The protocol's version, and the greatest sizes on the wire; each name ends in its unit and bound.

Client and broker share these limits, so a sender refuses what the receiver would refuse. Not here: limits of the broker
alone (broker.kernel.limits). An error caused by a limit that honest use can hit names that limit.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = 8
"""Raised with every change that an older client or broker would misread. HELLO compares it."""

FRAME_BYTES_MAX: Final = 1024 * 1024
"""One message. The values that msgpack builds from the worst frame of this size take about 75 MB, freed at once."""

ENVELOPE_BYTES: Final = 256
"""What a socket accepts beyond FRAME_BYTES_MAX: encryption, and frames slightly too large, which get an answer."""

TEXT_BYTES_MAX: Final = 256 * 1024
"""One string: a query, or a value in an event."""

RESULT_BYTES_MAX: Final = 256 * 1024
"""One encoded result; the kernel replaces a larger one by an `incomplete` that reports it."""

BATCH_EVENTS_MAX: Final = 8_192
"""Events in one Publish. Even a refusal of each of them, with reasons, fits a frame."""

ARRAY_LENGTH_MAX: Final = BATCH_EVENTS_MAX
"""Elements of any array outside of results."""

MAP_LENGTH_MAX: Final = 1_024
"""Entries of any map, among them the attributes of a stream."""

NESTING_MAX: Final = 8
"""Depth of values without a fixed shape (statistics, forecast options). msgpack itself stops at 1,024."""

NAME_LENGTH_MAX: Final = 256
"""Characters of a name on the wire; broker.events is stricter and defines the characters of a name."""

TOKEN_BYTES_MAX: Final = 64
"""The token of a session, by which it is resumed."""

NOTIFICATIONS_COUNT_MAX: Final = 1_024
"""Results in one Notifications message."""

NOTIFICATIONS_BYTES_TARGET: Final = 128 * 1024
"""A Notifications message ends with the result that reaches this size."""

PAGE_BYTES_TARGET: Final = 256 * 1024
"""A page of a listing ends with the entry that reaches about this size."""

UPDATES_SHOWN_MAX: Final = 16
"""Updates that a listing shows of a subscription: the newest."""

UPDATES_SHOWN_CHARACTERS: Final = 4_096
"""A listing shows no update that makes their arcs longer than this."""

SUBSCRIPTIONS_AT_ONCE_MAX: Final = 256
"""Subscriptions in one SubscribeMany. Nobody else is served while the broker compiles them; the answer fits a frame."""

CREDITS_MAX: Final = 1_000_000
"""Notifications that a client may have granted credits for and not received, for each subscription."""
