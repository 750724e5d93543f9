"""Finds the known word that the user probably meant.

The answer depends only on the words, not on the order of the candidates, so that messages are the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

_SIMILAR: Final = 0.6
_LONGEST: Final = 128


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate most similar to `word`, or None if none is similar enough. Case is ignored.

    Among equally similar candidates it is the first in sorted order. Cost: O(candidates * length squared); for errors
    only.
    """
    if len(word) > _LONGEST:
        return None
    # SequenceMatcher caches data on its second sequence, so that one is the fixed word.
    matcher = SequenceMatcher(None, "", word.lower(), autojunk=False)
    best: str | None = None
    best_ratio = 0.0
    for candidate in sorted(candidates):
        if len(candidate) > _LONGEST:
            continue
        matcher.set_seq1(candidate.lower())
        if matcher.real_quick_ratio() < _SIMILAR or matcher.quick_ratio() < _SIMILAR:
            continue
        ratio = matcher.ratio()
        if ratio >= _SIMILAR and ratio > best_ratio:
            best, best_ratio = candidate, ratio
    return best


def suggestion(word: object, candidates: Iterable[str]) -> str:
    """Return the end of an error message: `; did you mean 'price'?`, or nothing if no candidate is near, as none is to
    what is no text."""
    found = nearest(word, candidates) if isinstance(word, str) else None
    return "" if found is None else f"; did you mean {found!r}?"
