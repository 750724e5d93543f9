"""Authenticates connections: CURVE keys, checked through ZAP (ZeroMQ RFC 27), and a test that this works.

Not here: what a user may do (broker.kernel). The handshake proves that a client owns its key.
"""

from __future__ import annotations

from .authentication import DOMAIN, Authenticator, answered
from .exposure import check_exposure
from .routing_ids import Assigned, scatter
from .trial import check_strangers_fail

__all__ = ["DOMAIN", "Assigned", "Authenticator", "answered", "check_exposure", "check_strangers_fail", "scatter"]
