"""Which matches of events in disorder stand: told, withdrawn since, or final. Nothing is printed here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final


@final
@dataclass(slots=True)
class StandingMatches:
    """The matches of one subscription. Times are those at which flights were reported, in microseconds.

    `told`: the times at which the standing matches that are not final were told, by id, with their ends.
    """

    told: dict[str, tuple[int, int]] = field(default_factory=dict)
    matches: int = 0
    final: int = 0
    withdrawn_after: list[int] = field(default_factory=list)
    """How long each withdrawn match had stood."""
    final_after: list[int] = field(default_factory=list)
    """How long each final match had stood."""

    def take(self, line: Mapping[str, Any], now: int) -> int:
        """Take a result that came at `now`.

        Return for a retraction how long its match had stood, for a punctuation how many matches it made final, else 0.
        """
        match line["kind"]:
            case "match":
                self.matches += 1
                self.told[line["id"]] = (now, line["end"])
            case "retraction":
                stood = now - self.told.pop(line["id"])[0]
                self.withdrawn_after.append(stood)
                return stood
            case "punctuation":
                return self._finish(line["time"], now)
        return 0

    def _finish(self, until: int, now: int) -> int:
        """Make final what ends before `until`; return how many matches that are."""
        settled = [id for id, (_, end) in self.told.items() if end < until]
        self.final_after += [now - self.told.pop(id)[0] for id in settled]
        self.final += len(settled)
        return len(settled)
