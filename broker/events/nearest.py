"""Finds the known word that a mistaken word was probably meant to be.

The answer depends on the words only, never on the order of the candidates, so that messages are the same in every run.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

_SIMILAR: Final = 0.6
_LONGEST: Final = 128


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate most similar to `word`, None if none is similar enough. Upper and lower case count as alike.

    Among equally similar ones the first in sorted order. Cost: O(candidates * length squared); for errors only.
    """
    if len(word) > _LONGEST:
        return None
    # SequenceMatcher caches what it learns of its second sequence, so that one is the fixed word.
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


def suggestion(word: str, candidates: Iterable[str]) -> str:
    """The end of an error message: `; did you mean 'price'?`, or nothing where no candidate is near."""
    found = nearest(word, candidates)
    return "" if found is None else f"; did you mean {found!r}?"
