"""Law: what the broker decides, as a state machine: an input and the time go in, messages to send come out.

No socket, no file, no thread and no clock: the whole broker runs under a simulated network and time. What performs the
effects is broker.server. One seam is kept for what is not here: durability goes between taking a batch and
answering it (publishing.take). Permissions are asked where a request is carried out (admission), by the identity that
the session's transport vouches for; a session may outlive its connection (sessions).
"""

from __future__ import annotations

from .admission import Admission
from .boundary import Change, Drain, Garbled, Gone, Input, Received, Send, Stop, Tick, Turn
from .cursors import Cursors
from .kernel import Kernel
from .limits import Limits
from .matcher import Matcher, Result
from .permissions import Access, Quota, User, open_access
from .records import Record
from .sources import flows, states
from .taken import Taken

__all__ = [
    "Access",
    "Admission",
    "Change",
    "Cursors",
    "Drain",
    "Garbled",
    "Gone",
    "Input",
    "Kernel",
    "Limits",
    "Matcher",
    "Quota",
    "Received",
    "Record",
    "Result",
    "Send",
    "Stop",
    "Taken",
    "Tick",
    "Turn",
    "User",
    "flows",
    "open_access",
    "states",
]
