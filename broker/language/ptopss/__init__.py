"""P-ToPSS, composite subscriptions: texts to syntax and back.

`grammar.lark` and `parser` read a text, `syntax` has the nodes, `printer` writes them. Not here: what a query means
(broker.algebra.ptopss), what the engine makes of it (broker.engine.languages.ptopss).
"""

from __future__ import annotations

from .parser import parse
from .printer import print_query

__all__ = ["parse", "print_query"]
