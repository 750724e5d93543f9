"""Law: what touches the world: the socket, the clock, signals, the configuration. It decides nothing: the kernel does.

`serve` runs a broker until it is told to stop. Security plugs in where the socket is opened (router.Router), durability
where the engine is made (serving.serve) and where the kernel answers a batch.
"""

from __future__ import annotations

from .configuration import DEFAULT_ADDRESS, ServerConfiguration, read_configuration
from .loop import Broker
from .serving import serve

__all__ = ["DEFAULT_ADDRESS", "Broker", "ServerConfiguration", "read_configuration", "serve"]
