"""A condition on one text, made from a pattern: the class that LIKE, MATCHES and CIDR share, and folding of case.

Not here: what each of them means (wildcards, regular_expressions, networks), and which operator has which
(text_operators).
"""

from __future__ import annotations

from typing import Final, TypeAlias

Necessary: TypeAlias = "tuple[tuple[str, str], ...]"
"""Alternatives of which one must be so where a condition holds, for an index: each is how a text has a part (STARTS,
ENDS, CONTAINS, EQUALS), and the part. Empty if none can be told."""
STARTS: Final = "starts"
ENDS: Final = "ends"
CONTAINS: Final = "contains"
EQUALS: Final = "equals"


class TextCondition:
    """A pattern, ready to be tested on texts. Immutable but for caches.

    `folded`: it ignores case, and its `necessary` parts are those of the folded text.
    """

    folded: bool = False

    def holds(self, text: str) -> bool:
        return self.fits(folded(text) if self.folded else text)

    def fits(self, text: str) -> bool:
        """As `holds`, of a text that is folded already if case is ignored."""
        return False

    def necessary(self) -> Necessary:
        return ()


def folded(text: str) -> str:
    """Return the text in lower case, each code point by itself, so that the length stays: \u0130, whose lower case is
    two code points, stays itself, and a final sigma is no other letter. O(length)."""
    if text.isascii():
        return text.lower()
    if "\u0130" in text or "\u03a3" in text:
        parts = text.replace("\u03a3", "\u03c3").split("\u0130")
        return "\u0130".join([part.lower() for part in parts])
    return text.lower()
