"""Answers what the console asks about the one subscription that somebody looks at: bounded looks, and reasons.

Not here: listings (consulting), the requests of clients (read_requests).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, final

from ..engine.inspection.waiting import ListedRun
from ..events import ForetellError, Unsupported
from ..wire import AskReasons, PermissionDenied
from .admission import Admission
from .consulting import Consulting
from .engine_port import EnginePort
from .inputs_and_effects import ReasonsWanted
from .permissions import User
from .recent_results import RecentResults

LOOKED_RUNS_MAX: Final = 1_000
"""Runs that one look counts."""
LISTED_RUNS_MAX: Final = 50
"""The oldest of them, which are listed."""
COMPANY_MAX: Final = 200
"""A subscription whose machine runs more has no number of runs in listings: to find its own takes too long."""
LOOKED_KEYS_MAX: Final = 20
"""Keys whose probability one look computes."""


@final
class Watching:
    """The questions. Those of a user raise PermissionDenied and UnknownSubscription."""

    def __init__(
        self, engine: EnginePort, admission: Admission, consulting: Consulting, recent: RecentResults, journalled: bool
    ) -> None:
        self._engine = engine
        self._admission = admission
        self._consulting = consulting
        self._recent = recent
        self._journalled = journalled

    @property
    def reasons_known(self) -> bool:
        """Whether there is a journal, in which reasons are found."""
        return self._journalled

    def sees_values(self, user: User, name: str) -> bool:
        """Whether this user may know values of events and results of a subscription. Raises as the class says."""
        self._consulting.definition(user, name)
        try:
            self._admission.check_values(user, name)
        except PermissionDenied:
            return False
        return True

    def sharing(self, user: User, name: str) -> list[str]:
        """How it runs now and what it shares, in lines. An administrator's, as it tells of others."""
        self._consulting.definition(user, name)
        return self._engine.sharing(name) if user.admin else []

    def program(self, user: User) -> dict[str, Any]:
        """The machines that run most subscriptions. An administrator's, as `sharing` is. O(machines)."""
        user.check_admin("program")
        found = self._engine.machines()
        listed = [{"name": m.name, "subscriptions": m.subscriptions, "lines": list(m.lines)} for m in found.listed]
        counts = {"subscriptions": len(self._engine.subscriptions), "machines": found.total, "more": found.more}
        return {**counts, "listed": listed}

    def costs(self, user: User, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        """For each of these, without those that are gone: how it runs, in lines; how many partial matches wait, and
        whether there are more, unless it runs in company of too many. An administrator's, as `sharing` is.

        O(LOOKED_RUNS_MAX + COMPANY_MAX) a name.
        """
        user.check_admin("program")
        found: dict[str, dict[str, Any]] = {}
        for name in names:
            if name in self._engine.subscriptions:
                alone = self._engine.company(name) <= COMPANY_MAX
                seen = self._engine.waiting_runs(name, LOOKED_RUNS_MAX, 0) if alone else None
                runs = None if seen is None or seen.unlisted else seen.looked
                lines = self._engine.sharing(name)
                found[name] = {"lines": lines, "runs": runs, "more": seen is not None and seen.more}
        return found

    def look(self, name: str, values: bool, now: int) -> dict[str, Any]:
        """What it does now, for a page. `values`: with values of events and results; `now`: the clock.

        O(LOOKED_RUNS_MAX), and for groups O(members).
        """
        if name not in self._engine.subscriptions:
            return {"gone": True}
        seen = self._engine.waiting_runs(name, LOOKED_RUNS_MAX, LISTED_RUNS_MAX)
        quality = self._engine.forecast_quality(name)
        return {
            **self._consulting.entry(name),
            "now": self._engine.now,
            "states": [[*place, count] for place, count in seen.states.items()],
            "arcs": [[*place, count] for place, count in seen.arcs.items()],
            "looked": seen.looked,
            "more": seen.more,
            "unlisted": seen.unlisted,
            "runs": self._runs(name, seen.runs, quality is not None) if values else [],
            "values": values,
            "forecasts": quality,
            "found": self._recent.look(name, now) if values else [],
        }

    def _runs(self, name: str, runs: Sequence[ListedRun], forecast: bool) -> list[dict[str, Any]]:
        chances: dict[str, float | None] = {}
        return [self._run(name, run, chances if forecast else None) for run in runs]

    def _run(self, name: str, run: ListedRun, chances: dict[str, float | None] | None) -> dict[str, Any]:
        line: dict[str, Any] = {
            "key": run.key, "automaton": run.automaton, "state": run.state, "begun": run.begun, "events": run.events,
        }  # fmt: skip
        if chances is not None:
            known = repr(run.key)
            if known not in chances and len(chances) < LOOKED_KEYS_MAX:
                chances[known] = self._chance(name, list(run.key.values()))
            line["probability"] = chances.get(known)
        return line

    def _chance(self, name: str, key: list[Any]) -> float | None:
        try:
            found: float = self._engine.probability(name, key).line()["probability"]
        except ForetellError:
            return None  # its forecasts are of other keys
        return found

    def reasons(self, user: User, request: AskReasons, tell: Callable[[Any], None]) -> ReasonsWanted:
        """A question for reasons, whose answer `tell` gets: Reasons with the values of events, or Failure."""
        name = request.subscription or ""
        if not self._journalled:
            raise Unsupported("reasons are found in the journal, and this broker has none")
        self._consulting.definition(user, name)
        self._admission.check_values(user, name)
        return ReasonsWanted(b"", (name,), request, tell)
