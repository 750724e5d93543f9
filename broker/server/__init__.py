"""The broker as a process: sockets, clock, signals, configuration. The kernel decides; nothing is decided here.

`serve` runs a broker until it is asked to stop. Whose key a connection has is security's. A journal plugs in where the
engine is made (serving.serve) and where effects leave the kernel (durability_gate).
"""

from __future__ import annotations

from .configuration import ServerConfiguration
from .configuration_file import read_configuration
from .loop import Broker
from .security.exposure import DEFAULT_ADDRESS
from .serving import check, serve

__all__ = ["DEFAULT_ADDRESS", "Broker", "ServerConfiguration", "check", "read_configuration", "serve"]
