"""The broker as a process: sockets, clock, signals, configuration. Not here: decisions, which the kernel makes.

`serve` runs a broker until it is asked to stop. security/ authenticates connections. A journal is connected where the
engine is made (serving.py) and where effects leave the kernel (durability_gate.py).
"""

from __future__ import annotations

from .configuration import ServerConfiguration
from .configuration_file import read_configuration
from .loop import Broker
from .security.exposure import DEFAULT_ADDRESS
from .serving import check, serve

__all__ = ["DEFAULT_ADDRESS", "Broker", "ServerConfiguration", "check", "read_configuration", "serve"]
