"""The decisions of the broker as a state machine: inputs and the time go in, messages to send come out.

The kernel has no socket, file, thread or clock, so the whole broker runs in tests under a simulated network and time.
broker.server performs the effects, and makes the records of an input durable before it sends the answers. The kernel
checks permissions when it carries a request out (admission.py), by the identity that the transport has authenticated. A
session may outlive its connection (sessions.py).
"""

from __future__ import annotations

from .admission import Admission
from .cursors import Cursors
from .deferral import must_be_deferred
from .engine_port import EnginePort
from .inputs_and_effects import (
    Away,
    ClockDue,
    ContinueBatch,
    Drain,
    Effects,
    Gone,
    Input,
    MakeResults,
    ReasonsWanted,
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
