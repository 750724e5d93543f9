"""CEL, Cayuga's event language: parses and prints its texts.

`grammar.lark` and `parser` read a text, `syntax` has the nodes, `printer` writes them. Not here: the meaning of a query
(broker.algebra.cayuga) and its compilation (broker.engine.languages.cayuga).
"""

from __future__ import annotations

from .parser import parse
from .printer import print_query

__all__ = ["parse", "print_query"]
