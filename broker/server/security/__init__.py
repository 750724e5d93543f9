"""How the broker knows who connects: CURVE keys, asked for by ZAP (ZeroMQ RFC 27), and that this works at all.

What a user may do with its key is decided in broker.kernel; here it is only whose key it is, proved by the handshake.
"""

from __future__ import annotations

from .authentication import DOMAIN, Authenticator, answered
from .exposure import check_exposure
from .routing_ids import Assigned, scatter
from .trial import check_strangers_fail

__all__ = ["DOMAIN", "Assigned", "Authenticator", "answered", "check_exposure", "check_strangers_fail", "scatter"]
