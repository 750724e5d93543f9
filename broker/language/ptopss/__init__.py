"""P-ToPSS, composite subscriptions: parses and prints its texts.

`grammar.lark` and `parser` read a text, `syntax` has the nodes, `printer` writes them. Not here: the meaning of a query
(broker.algebra.ptopss) and its compilation (broker.engine.languages.ptopss).
"""

from __future__ import annotations

from .parser import parse
from .printer import print_query

__all__ = ["parse", "print_query"]
