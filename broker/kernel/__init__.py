"""The decisions of the broker as a state machine: inputs and the time go in, messages to send come out.

No socket, no file, no thread and no clock: the whole broker runs under a simulated network and time. broker.server
performs the effects, and makes the records of an input durable before it sends the answers. The kernel checks
permissions where it carries a request out (admission), by the identity that the session's transport vouches for. A
session may outlive its connection (sessions).
"""

from __future__ import annotations

from .admission import Admission
from .cursors import Cursors
from .deferral import must_be_deferred
from .engine_port import EnginePort, EngineResult
from .inputs_and_effects import (
    Away,
    ContinueBatch,
    Drain,
    Effects,
    Gone,
    Input,
    MakeResults,
    Received,
    Reconfigure,
    Send,
    Stop,
    Tick,
    TooManyBatches,
    Undecodable,
)
from .intake import Work
from .kernel import Kernel
from .limits import Limits
from .permissions import Access, Quota, User, open_access
from .receipts import Receipts
from .records import Record
from .sources import Sources, flows, states, wires

__all__ = [
    "Access",
    "Admission",
    "Away",
    "Reconfigure",
    "Cursors",
    "Drain",
    "Effects",
    "TooManyBatches",
    "Undecodable",
    "Gone",
    "Input",
    "Kernel",
    "Limits",
    "EnginePort",
    "ContinueBatch",
    "Quota",
    "Received",
    "Record",
    "EngineResult",
    "Send",
    "Sources",
    "Stop",
    "Receipts",
    "Tick",
    "MakeResults",
    "User",
    "Work",
    "flows",
    "must_be_deferred",
    "open_access",
    "states",
    "wires",
]
