"""Law: what the broker decides, as a state machine: an input and the time go in, messages to send come out.

No socket, no file, no thread and no clock: the whole broker runs under a simulated network and time. What performs the
effects is broker.server. Three seams are kept for what is not here: durability goes between taking a batch and
answering it (publishing.take), reconnection is a HELLO that names an earlier session (Kernel._hello), and permissions
are asked where a request is dispatched (Kernel._answer), by the identity that a session was opened with.
"""

from __future__ import annotations

from .boundary import Garbled, Gone, Input, Received, Send, Stop, Tick, Turn
from .kernel import Kernel
from .limits import Limits
from .matcher import Matcher, Result

__all__ = [
    "Garbled",
    "Gone",
    "Input",
    "Kernel",
    "Limits",
    "Matcher",
    "Received",
    "Result",
    "Send",
    "Stop",
    "Tick",
    "Turn",
]
