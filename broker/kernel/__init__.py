"""What the broker decides, as a state machine: an input and the time go in, messages to send come out.

No socket, no file, no thread and no clock: the whole broker runs under a simulated network and time. What performs the
effects is broker.server. One seam is kept for what is not here: durability goes between taking a batch and
answering it (publishing.take). Permissions are asked where a request is carried out (admission), by the identity that
the session's transport vouches for; a session may outlive its connection (sessions).
"""

from __future__ import annotations

from .admission import Admission
from .boundary import Away, Change, Drain, Excess, Garbled, Gone, Input, Piece, Received, Send, Stop, Tick, Turn
from .cursors import Cursors
from .intake import Work
from .kernel import Kernel
from .limits import Limits
from .matcher import Matcher, Result
from .permissions import Access, Quota, User, open_access
from .records import Record
from .sources import Sources, flows, states, wires
from .taken import Taken
from .waiting import must_wait

__all__ = [
    "Access",
    "Admission",
    "Away",
    "Change",
    "Cursors",
    "Drain",
    "Excess",
    "Garbled",
    "Gone",
    "Input",
    "Kernel",
    "Limits",
    "Matcher",
    "Piece",
    "Quota",
    "Received",
    "Record",
    "Result",
    "Send",
    "Sources",
    "Stop",
    "Taken",
    "Tick",
    "Turn",
    "User",
    "Work",
    "flows",
    "must_wait",
    "open_access",
    "states",
    "wires",
]
