"""Window expressions, windows as regular expressions over a stream: parses and prints their texts.

`grammar.lark` and `parser` read a text, `regex` and `syntax` have the nodes, `printer` writes them. Not here: the
meaning of a query (broker.algebra.window).
"""

from __future__ import annotations

from .parser import parse
from .printer import print_query

__all__ = ["parse", "print_query"]
